"""Enclosures of what one search round puts out, in two ways that share no code.

The proof groups the targets as the sampler does, from the fast path's scores, and integrates in
closed form. The check recomputes every score by the statistic itself on the networkx graph, finds
out who has been examined from the definitions, and integrates by verified quadrature. Both state
the round in the same exact rational numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import networkx as nx
import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import Instance, LawUnavailable, StatisticOfProximity

from ..samplers.noisy_max import remaining_targets
from ..samplers.partition import component_members, component_order, remaining, seed_components
from ..samplers.search_com import state_after_sfs, state_at_seeds
from .closed_form import enclose_round
from .exact_round import ExactRound, Number
from .verify import enclose_by_quadrature

__all__ = [
    "RoundView",
    "enclose_winners",
    "found_and_left",
    "round_view",
    "view_again",
    "view_of_round",
]

#: Relative width asked of an enclosure in closed form, far below the digits that are printed.
NARROW = 1e-20

#: The same of the quadrature, whose values are sums in double precision.
NARROW_AGAIN = 1e-11

#: State a round exactly: from the targets' scores, and the protected vertices' by level.
Question = Callable[[list[Number], list[tuple[Number, int]]], ExactRound]


@dataclass(frozen=True)
class RoundView:
    """What a round knows, and how its outputs name who was found."""

    targets: Mapping[int, Fraction]
    protected: Mapping[Fraction, int]
    winner: Callable[[Hashable], int | None]


def view_of_round(
    instance: SearchInstance, sop: StatisticOfProximity, *, explored: bool, hidden: bool
) -> RoundView:
    """Return what a round knows, from the fast path's scores; O(n) beside one scoring."""
    if hidden:
        state = (state_after_sfs if explored else state_at_seeds)(instance, sop)
        levels = state.targets
        scores, sizes = state.classes.scores.tolist(), state.classes.sizes.tolist()
    else:
        levels, scores, sizes = remaining_targets(instance, sop, seed_components(instance)), [], []
    return RoundView(
        dict(zip(levels.members.tolist(), map(_whole, levels.each().tolist()), strict=True)),
        dict(zip(map(_whole, scores), sizes, strict=True)),
        lambda output: _winner(instance, output) if explored else _only(output),
    )


def view_again(
    instance: SearchInstance, sop: StatisticOfProximity, *, explored: bool, hidden: bool
) -> RoundView:
    """Return the same from the definitions alone, one vertex at a time; O(n) evaluations."""
    graph, oracle = instance.graph, instance.fresh().oracle
    targeted = [v for v in graph if oracle(v)]
    inside = graph.subgraph(targeted)
    known = set(instance.seeds)
    if explored:
        for seed in instance.seeds:
            known |= nx.node_connected_component(inside, seed)
    met = {x for v in known for x in graph[v]} if explored else set()
    members = frozenset(known)

    def score(vertex: int) -> Fraction:
        return _whole(sop(graph, vertex, members))

    protected: Counter[Fraction] = Counter()
    if hidden:
        everybody = set(targeted)
        protected.update(score(v) for v in graph if v not in everybody and v not in met)
    start = _explore(inside, instance.seeds)

    def winner(output: Hashable) -> int | None:
        if not explored:
            return _only(output)
        if output == start:
            return None
        if isinstance(output, tuple) and len(output) > len(start):
            found = output[len(start)]
            if found in inside and output == start + _explore(inside, (found,)):
                return int(found)
        raise LawUnavailable(f"{output!r} is no output of this search")

    return RoundView({v: score(v) for v in targeted if v not in known}, protected, winner)


def found_and_left(
    instance: SearchInstance,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return what statistic-first search finds from the seeds, and the targets left; ascending."""
    members, labels = component_members(instance), seed_components(instance)
    found = np.sort(np.concatenate([members[label] for label in labels]))
    return found, remaining(instance, labels)


def round_view(
    instance: SearchInstance,
    sop: StatisticOfProximity,
    *,
    explored: bool,
    hidden: bool,
    again: bool,
) -> RoundView:
    """Return what a round knows: from the fast path's scores, or again from the definitions."""
    view = view_again if again else view_of_round
    return view(instance, sop, explored=explored, hidden=hidden)


def enclose_winners(
    view: RoundView, question: Question, outputs: Iterable[Hashable], *, again: bool
) -> tuple[Fraction, Fraction]:
    """Enclose the probability that a round puts out one of ``outputs``."""
    winners = [view.winner(output) for output in outputs]
    unknown = [t for t in winners if t is not None and t not in view.targets]
    if unknown:
        raise LawUnavailable(f"vertex {unknown[0]} is not left to be found")
    stated = question(list(view.targets.values()), list(view.protected.items()))
    if not stated.scale:
        raise LawUnavailable("there is no noise on the scores, so nothing to integrate")
    events = Counter(None if t is None else view.targets[t] for t in winners)
    low, high = Fraction(0), Fraction(0)
    for event, times in events.items():
        part = (
            enclose_by_quadrature(stated, event, relative=NARROW_AGAIN)
            if again
            else enclose_round(stated, event, relative=NARROW)
        )
        low, high = low + times * part.lower, high + times * part.upper
    return max(low, Fraction(0)), min(high, Fraction(1))


def _whole(score: float) -> Fraction:
    value = Fraction(score)
    if value.denominator != 1:
        raise LawUnavailable(
            f"a score is {float(score):g}: only whole numbers are certain not to be rounded"
        )
    return value


def _only(output: Hashable) -> int | None:
    if isinstance(output, tuple) and len(output) <= 1:
        return int(output[0]) if output else None
    raise LawUnavailable(f"{output!r} is no output of one round")


def _winner(instance: Instance, output: Hashable) -> int | None:
    assert isinstance(instance, SearchInstance)
    start = component_order(instance, instance.seeds)
    if output == start:
        return None
    if isinstance(output, tuple) and len(output) > len(start):
        found = int(output[len(start)])
        if output == start + component_order(instance, (found,)):
            return found
    raise LawUnavailable(f"{output!r} is no output of this search")


def _explore(inside: nx.Graph, start: tuple[int, ...]) -> tuple[int, ...]:
    """Statistic-first search among the targeted alone, by its definition."""
    found = list(start)
    count = Counter(x for v in start for x in inside[v] if x not in start)
    while count:
        best = min(count, key=lambda v: (-count[v], v))
        del count[best]
        found.append(best)
        count.update(x for x in inside[best] if x not in found)
    return tuple(found)
