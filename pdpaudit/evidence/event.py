"""Events: what an attacker looks at in an output, and which values point to one side."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pdpaudit.evidence.regions import Range, Score, Term, region_from_json
from pdpaudit.rows import fit_width

__all__ = [
    "FEATURES",
    "AnyEvent",
    "Event",
    "Several",
    "Side",
    "common_prefix",
    "count_inside",
    "event_from_json",
    "feature_of",
    "features_for",
    "simplest",
]

Floats = npt.NDArray[np.float64]
Side = Literal["left", "right"]


def _whole(output: Hashable) -> Hashable:
    return output


def _first(output: Hashable) -> Hashable:
    return output[0] if isinstance(output, tuple) and output else None


def _last(output: Hashable) -> Hashable:
    return output[-1] if isinstance(output, tuple) and output else None


def _length(output: Hashable) -> Hashable:
    return len(output) if isinstance(output, tuple) else None


#: What may be looked at, the simplest first. Each sees a list without what all runs begin with.
FEATURES: dict[str, Callable[[Hashable], Hashable]] = {
    "first": _first,
    "last": _last,
    "length": _length,
    "output": _whole,
}


def features_for(outputs: Iterable[Hashable]) -> list[str]:
    """Return the features worth a look at such outputs: of what is no list, there is only all.

    Examples
    --------
    >>> features_for([(1, 2), ()]), features_for([3, "error KeyError"])
    (['first', 'last', 'length', 'output'], ['output'])
    """
    return [*FEATURES] if any(isinstance(output, tuple) for output in outputs) else ["output"]


def feature_of(name: str) -> Callable[[Hashable], Hashable]:
    """Return the feature of a name: those above, and those that name vertices.

    ``"begins 2"`` is the first two entries of a list, ``"finds 5"`` whether 5 is in it, and
    ``"order 5 7"`` which of the two stands first, None where neither is in it.

    Raises
    ------
    KeyError
        If there is none of that name.

    Examples
    --------
    >>> feature_of("finds 5")((3, 5)), feature_of("order 5 7")((3, 7)), feature_of("begins 2")((3,))
    (True, 7, (3,))
    """
    if name in FEATURES:
        return FEATURES[name]
    kind, *numbers = name.split()
    match kind, [int(number) for number in numbers]:
        case "begins", [length]:
            return lambda output: output[:length] if isinstance(output, tuple) else None
        case "finds", [vertex]:
            return lambda output: vertex in output if isinstance(output, tuple) else None
        case "order", [one, other]:
            return lambda output: _earlier(output, one, other)
    raise KeyError(name)


def _earlier(output: Hashable, one: int, other: int) -> Hashable:
    for entry in output if isinstance(output, tuple) else ():
        if entry in (one, other):
            return entry  # type: ignore[no-any-return]
    return None


@dataclass(frozen=True)
class Event:
    """A set of outputs, described by the values of one feature.

    Attributes
    ----------
    feature : str
        A name that :func:`feature_of` knows.
    values : frozenset
        The values of the feature that belong to the event.
    side : {"left", "right"}
        The network on which the event is more likely.
    prefix : int
        Number of leading entries of an output list that the feature does not see.

    Examples
    --------
    >>> event = Event("first", frozenset({4}), "left", prefix=2)
    >>> (0, 1, 4, 5) in event, (0, 1, 5, 4) in event, (0, 1) in event
    (True, False, False)
    """

    feature: str
    values: frozenset[Hashable]
    side: Side
    prefix: int = 0

    def __contains__(self, output: Hashable) -> bool:
        """Return whether an output belongs to the event."""
        seen = output[self.prefix :] if isinstance(output, tuple) else output
        return feature_of(self.feature)(seen) in self.values

    def count(self, draws: Any) -> int:
        """Return how many outputs of draws, with ``counts`` and ``rows``, belong to the event."""
        inside = count_inside(self, draws.counts)
        return inside + sum(tuple(row) in self for row in draws.rows.tolist())

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; values in a stable order."""
        return {
            "feature": self.feature,
            "values": sorted((_listed(value) for value in self.values), key=repr),
            "side": self.side,
            "prefix": self.prefix,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Event:
        """Return the event of a JSON form.

        Raises
        ------
        KeyError
            If something is missing or the feature is unknown.
        """
        values = frozenset(_hashable(value) for value in body["values"])
        feature_of(body["feature"])
        return cls(body["feature"], values, body["side"], int(body["prefix"]))


#: An event of any kind: values of a feature, or a region of real vectors.
AnyEvent = Event | Range | Score


@dataclass(frozen=True)
class Several:
    """Several events counted on the same draws.

    Attributes
    ----------
    events : tuple
        Of any kinds.

    Examples
    --------
    >>> from collections import Counter
    >>> from types import SimpleNamespace
    >>> ends = [Event("last", frozenset({v}), "left") for v in (4, 3)]
    >>> draws = SimpleNamespace(counts=Counter({(3, 4): 5, (4, 3): 7}), rows=np.empty((0, 0)))
    >>> Several(tuple(ends)).count(draws)
    array([5, 7])
    """

    events: tuple[AnyEvent, ...]

    def count(self, draws: Any) -> npt.NDArray[np.int64]:
        """Return how many outputs of draws belong to each event, shape ``(events,)``."""
        # Scores that differ in their thresholds alone are computed once.
        known: dict[tuple[Term, ...], Floats] = {}
        found = []
        for event in self.events:
            if isinstance(event, Score) and len(draws.rows) and not draws.counts:
                if event.terms not in known:
                    known[event.terms] = event.scores(fit_width(draws.rows, event.width))
                found.append(int((known[event.terms] >= event.threshold).sum()))
            else:
                found.append(event.count(draws))
        return np.array(found, dtype=np.int64)


def event_from_json(body: Mapping[str, Any]) -> AnyEvent:
    """Return the event of a JSON form, of whatever kind.

    Raises
    ------
    KeyError
        If something is missing or its kind is unknown.

    Examples
    --------
    >>> event = Event("first", frozenset({4}), "left", prefix=2)
    >>> event_from_json(event.to_json()) == event
    True
    """
    return Event.from_json(body) if "values" in body else region_from_json(body)


def simplest(outputs: Iterable[Hashable], inside: frozenset[Hashable], side: Side) -> Event:
    """Return the simplest description of a set of outputs among all that can occur.

    Parameters
    ----------
    outputs : iterable of hashable
        All outputs that can occur on either side.
    inside : frozenset
        Those that belong to the event.
    side : {"left", "right"}
        Where it is more likely.

    Examples
    --------
    >>> simplest([(0, 1), (0, 2), (0, 2, 3)], frozenset({(0, 2), (0, 2, 3)}), "left")
    Event(feature='first', values=frozenset({2}), side='left', prefix=1)
    """
    known = list(outputs)
    prefix = common_prefix(known)
    for feature in features_for(known):
        value_of = FEATURES[feature]
        split: tuple[set[Hashable], set[Hashable]] = (set(), set())
        for output in known:
            seen = output[prefix:] if isinstance(output, tuple) else output
            split[output in inside].add(value_of(seen))
        if split[0].isdisjoint(split[1]):
            return Event(feature, frozenset(split[1]), side, prefix)
    raise AssertionError("the whole output tells outputs apart")


def common_prefix(outputs: Sequence[Hashable]) -> int:
    """Return how many leading entries all output lists share.

    Examples
    --------
    >>> common_prefix([(0, 1, 2), (0, 1), (0, 1, 3)]), common_prefix([1, 2])
    (2, 0)
    """
    lists = [output for output in outputs if isinstance(output, tuple)]
    if not lists or len(lists) < len(outputs):
        return 0
    shared = 0
    for entries in zip(*lists, strict=False):
        if any(entry != entries[0] for entry in entries):
            break
        shared += 1
    return shared


def count_inside(event: Event | Range | Score, counts: Mapping[Hashable, int]) -> int:
    """Return how many of the counted outputs belong to the event.

    Examples
    --------
    >>> count_inside(Event("last", frozenset({4}), "left"), {(3, 4): 5, (4, 3): 7})
    5
    """
    return sum(times for output, times in counts.items() if output in event)


def _listed(value: Hashable) -> Any:
    """Return the JSON form of an output: tuples as lists, what JSON lacks under its kind's name."""
    if isinstance(value, tuple):
        return [_listed(item) for item in value]
    if isinstance(value, frozenset):
        return {"frozenset": sorted((_listed(item) for item in value), key=repr)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    return value


def _hashable(value: Any) -> Hashable:
    """Return the output of a JSON form."""
    if isinstance(value, list):
        return tuple(_hashable(item) for item in value)
    if isinstance(value, dict):
        if "bytes" in value:
            return bytes.fromhex(value["bytes"])
        return frozenset(map(_hashable, value["frozenset"]))
    return value  # type: ignore[no-any-return]
