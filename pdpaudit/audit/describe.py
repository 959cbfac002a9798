"""Turn pairs and events into JSON and into words a person understands."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from pdpaudit.evidence.event import AnyEvent, Event, Side
from pdpaudit.neighbors import NeighborPair
from pdpaudit.network import Network

__all__ = ["event_words", "list_names", "network_json", "pair_json", "pair_words"]

Name = Callable[[int], str]

#: Names shown in a sentence before the rest is counted.
SHOWN = 4

#: A network with more edges is kept out of a witness; it names the file instead.
INLINE_EDGES = 50_000


def list_names(names: Iterable[str], shown: int = SHOWN) -> str:
    """Return names as a set in a sentence, a long one cut and counted.

    Examples
    --------
    >>> list_names(["Cosette", "Marius"]), list_names("abcdefg", shown=2), list_names([])
    ('{Cosette, Marius}', '{a, b and 5 more}', '{nobody}')
    """
    known = list(names)
    if not known:
        return "{nobody}"
    if len(known) <= shown:
        return "{" + ", ".join(known) + "}"
    return "{" + ", ".join(known[:shown]) + f" and {len(known) - shown} more}}"


def pair_words(pair: NeighborPair, to: Side) -> str:
    """Say what is rewired, towards the side named."""
    name = pair.network.name
    sides = [_listed(pair.left_neighbours), _listed(pair.right_neighbours)]
    before, after = sides if to == "right" else reversed(sides)
    return (
        f"rewiring {name(pair.vertex)} from {list_names(map(name, before))} "
        f"to {list_names(map(name, after))}"
    )


def event_words(event: AnyEvent, name: Name, done: str = "found", number: str | None = None) -> str:
    """Say what happens when an output belongs to the event.

    Parameters
    ----------
    event : AnyEvent
        The event.
    name : callable
        Gives a vertex its name.
    done : str
        What happened to the people in a list.
    number : str, optional
        What an output is, where it is a single number.

    Examples
    --------
    >>> event_words(Event("first", frozenset({4}), "left"), str, "examined")
    '4 is examined first'
    >>> event_words(Event("output", frozenset({4}), "left"), str, number="the number examined")
    'the number examined is 4'
    """
    if not isinstance(event, Event):
        words = event.words(name)
        plain = number is not None and event.width == 1 and event.vertices is None
        return words.replace("entry 1", str(number)) if plain else words
    after = "" if event.prefix <= 1 else f" after the first {event.prefix}"
    values = sorted(event.values, key=_in_order)
    if event.feature in ("first", "last"):
        if any(v is not None and type(v) is not int for v in values):
            entries = [str(v) for v in values]
            few = entries[0] if len(entries) == 1 else "one of " + list_names(entries)
            return f"the {event.feature} entry{after} is {few}"
        people = [name(v) for v in values if isinstance(v, int)]
        told = [] if None not in event.values else [f"nobody more is {done}{after}"]
        if people:
            who = people[0] if len(people) == 1 else "one of " + list_names(people)
            told.insert(0, f"{who} is {done} {event.feature}{after}")
        return " or ".join(told)
    kind, *vertices = event.feature.split()
    if kind == "finds":
        return f"{name(int(vertices[0]))} is {'' if True in event.values else 'not '}{done}"
    if kind == "order":
        one, other = vertices
        return " or ".join(_order_words(value, one, other, name, done) for value in values)
    if kind == "begins":
        begins = [_output_words(value, name) for value in values]
        few = begins[0] if len(begins) == 1 else "one of " + list_names(begins, shown=2)
        return f"the first {vertices[0]} {done}{after} are {few}"
    if event.feature == "length":
        numbers = [str(v) for v in values]
        few = numbers[0] if len(numbers) == 1 else "one of " + list_names(numbers)
        return f"the number {done}{after} is {few}"
    outputs = [_output_words(value, name) for value in values]
    few = outputs[0] if len(outputs) == 1 else "one of " + list_names(outputs, shown=2)
    return f"{number or 'the output'}{after} is {few}"


def pair_json(pair: NeighborPair, to: Side, file: dict[str, Any] | None) -> dict[str, Any]:
    """Return the JSON form of a pair.

    Its words lead to the side ``to``; ``file`` says how to read a network too large to inline.
    """
    name = pair.network.name
    left, right = set(_listed(pair.left_neighbours)), set(_listed(pair.right_neighbours))
    before, after = (left, right) if to == "right" else (right, left)
    return {
        "network": pair.network.title,
        "family": pair.family,
        "vertex": pair.vertex,
        "vertex_name": name(pair.vertex),
        "left": sorted(left),
        "right": sorted(right),
        "lost": [name(v) for v in sorted(before - after)],
        "gained": [name(v) for v in sorted(after - before)],
        "words": pair_words(pair, to),
        "base": network_json(pair.network, pair.vertex, file),
    }


def network_json(network: Network, without: int, file: dict[str, Any] | None) -> dict[str, Any]:
    """Return the network in which ``without`` has no edges, whole or by reference."""
    body: dict[str, Any] = {
        "n": network.n,
        "seeds": list(network.seeds),
        "max_degree": network.max_degree,
    }
    if network.edges > INLINE_EDGES and file is not None:
        return {**body, "file": file}
    coo = network.adjacency.tocoo()
    kept = (coo.row < coo.col) & (coo.row != without) & (coo.col != without)
    return {
        **body,
        "targeted": np.flatnonzero(network.targeted).tolist(),
        "edges": np.column_stack([coo.row[kept], coo.col[kept]]).tolist(),
        "names": None if network.names is None else list(network.names),
    }


def _listed(vertices: Any) -> list[int]:
    return [int(v) for v in np.sort(np.asarray(vertices))]


def _order_words(first: Hashable, one: str, other: str, name: Name, done: str) -> str:
    if first is None:
        return f"neither {name(int(one))} nor {name(int(other))} is {done}"
    second = other if str(first) == one else one
    return f"{name(int(str(first)))} is {done} before {name(int(second))}, or without"


def _output_words(value: Hashable, name: Name) -> str:
    if isinstance(value, (tuple, frozenset)):
        entries = sorted(value, key=repr) if isinstance(value, frozenset) else value
        return list_names([name(v) if isinstance(v, int) else str(v) for v in entries])
    return str(value)


def _in_order(value: Hashable) -> str:
    """Return what outputs are sorted by: their text, the same in every process."""
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)
