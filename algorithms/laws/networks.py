"""Exact output laws of the searches on a network, and one round in exact rational numbers.

Laws come from the exact laws of single rounds. What a round knows comes from the fast path, or by
definition: the proof groups the targets as the sampler does, from the fast path's scores, and
integrates in closed form (`closed_form`). The check recomputes every score by the statistic itself
on the networkx graph, finds out who has been examined from the definitions, and integrates by
verified quadrature (`verify`). The two share no code but the statement of the round.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError
from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import (
    CodedOutputs,
    Law,
    LawUnavailable,
    StatisticOfProximity,
)

from ..samplers.partition import (
    coding_of,
    component_labels,
    component_members,
    component_order,
    members,
    output_of,
    outputs_of,
    remaining,
    seed_components,
    written_out,
)
from ..samplers.search_com import (
    State,
    remaining_targets,
    state_after_sfs,
    state_at_seeds,
)
from .noise import Noise, Rule
from .one_round import RoundLaw, RoundScores, first_target_law, law_of_rule

#: Lists of found targets beyond which a law is not written out.
MOST_OUTPUTS = 200_000

#: Paths less likely than this are left out, and their probability declared missing.
NEGLIGIBLE = 1e-16

#: Targets that all outputs of a law may list together for it to hold them as they are.
MOST_WRITTEN = 100_000


def law_of_search(instance: SearchInstance, sop: StatisticOfProximity, rule: Rule) -> Law:
    """Return the law of one round of SearchCom that knows the seeds alone."""
    return _law(_search_com(state_at_seeds(instance, sop), rule))


def law_of_searches(
    instance: SearchInstance, sop: StatisticOfProximity, rule: Rule, rounds: int
) -> Law:
    """Return the law of statistic-first search and at most one round of SearchCom."""
    if rounds == 0:
        return Law({output_of(instance, ()): 1.0})
    if rounds > 1:
        raise LawUnavailable(
            f"whom {rounds} search rounds examined stays hidden between them, so only the first "
            "round has an exact law: ask for 2 components, or give `samples`"
        )
    return _law_of_paths(instance, _search_com(state_after_sfs(instance, sop), rule))


def _search_com(state: State, rule: Rule) -> list[tuple[tuple[int, ...], float]]:
    """Return who may be found, if anybody, with the probabilities."""
    targets, classes = state.targets, state.classes
    scores = RoundScores.from_vertices(
        targets.each(), classes.scores[classes.labels], targets.members, classes.vertices
    )
    law = law_of_rule(scores, rule)
    found = ((target,) for target in targets.members.tolist())
    return [*zip(found, law.found.tolist(), strict=True), ((), law.none)]


def law_of_winners(
    instance: SearchInstance,
    sop: StatisticOfProximity,
    noise: Noise,
    rounds: int,
    threshold: float | None = None,
) -> Law:
    """Return the law of a search that takes the noisy winner among the remaining targets."""
    labels = component_labels(instance)
    known: dict[tuple[int, ...], tuple[list[int], RoundLaw]] = {}

    def one_round(found: tuple[int, ...]) -> tuple[list[int], RoundLaw]:
        if found not in known:
            targets = remaining_targets(instance, sop, found)
            scores, vertices = targets.each(), targets.members
            law = first_target_law(scores, noise, vertices, stop_score=threshold)
            known[found] = vertices.tolist(), law
        return known[found]

    ended: list[tuple[tuple[int, ...], float]] = []
    going: list[tuple[tuple[int, ...], tuple[int, ...], float]]
    going = [((), seed_components(instance), 1.0)]
    for _ in range(rounds):
        longer: list[tuple[tuple[int, ...], tuple[int, ...], float]] = []
        for path, found, mass in going:
            targets, law = one_round(found)
            if law.none > 0:
                ended.append((path, mass * law.none))
            for target, probability in zip(targets, law.found.tolist(), strict=True):
                if mass * probability > NEGLIGIBLE:
                    more = tuple(sorted((*found, int(labels[target]))))
                    longer.append(((*path, target), more, mass * probability))
            if len(longer) + len(ended) > MOST_OUTPUTS:
                raise LawUnavailable(
                    f"more than {MOST_OUTPUTS} outputs: ask for fewer components, or sample"
                )
        going = longer
    ended += [(path, mass) for path, _, mass in going]
    return _law_of_paths(instance, ended)


def _law_of_paths(instance: SearchInstance, masses: Sequence[tuple[tuple[int, ...], float]]) -> Law:
    """Return the law of the lists found on paths, which stay unwritten where they are long."""
    length = sum(len(component_members(instance)[label]) for label in seed_components(instance))
    if length * len(masses) <= MOST_WRITTEN:
        outputs = outputs_of(instance, (path for path, _ in masses))
        return _law(zip(outputs, (mass for _, mass in masses), strict=True))
    law = _law(masses)

    def write(path: Hashable) -> tuple[int, ...]:
        assert isinstance(path, tuple)
        return written_out(instance, path)

    coded = CodedOutputs(law.probabilities, coding_of(instance), write, shared=length)
    return replace(law, probabilities=coded)


def _law(masses: Iterable[tuple[tuple[int, ...], float]]) -> Law:
    """Return the law, and what it misses of 1 as its error; equal outputs do not occur."""
    probabilities: dict[Hashable, float] = dict(masses)
    return Law(probabilities, missing=abs(1 - math.fsum(probabilities.values())))


# One round in exact rational numbers


Ball = Any  # python-flint has no type information
Interval = tuple[Fraction, Fraction]
Number = int | float | Fraction
Levels = list[tuple[Fraction, int]]


@dataclass(frozen=True)
class ExactRound:
    """One round with rational scores by level; events are named by the found target's score."""

    targets: Levels
    scale: Fraction
    protected: Levels
    threshold: Fraction | None
    threshold_scale: Fraction
    stop_score: Fraction | None

    @classmethod
    def of(
        cls,
        targets: Iterable[Number],
        scale: Number,
        *,
        protected: Iterable[tuple[Number, int]] = (),
        threshold: Number | None = None,
        threshold_scale: Number = 0,
        stop_score: Number | None = None,
    ) -> ExactRound:
        """State a round of SearchCom by its threshold, or one with a public score to beat."""
        if not scale > 0:
            raise LawUnavailable("there is no noise on the scores, so nothing to integrate")
        counted: Counter[Fraction] = Counter()
        for score, count in protected:
            counted[Fraction(score)] += count
        return cls(
            sorted(Counter(Fraction(score) for score in targets).items()),
            Fraction(scale),
            sorted((score, count) for score, count in counted.items() if count),
            None if threshold is None else Fraction(threshold),
            Fraction(threshold_scale),
            None if stop_score is None else Fraction(stop_score),
        )

    @property
    def hidden(self) -> Levels:
        """The levels of the protected vertices that count, in units of the scale."""
        if self.threshold is None:
            return []
        return [(score / self.scale, count) for score, count in self.protected]

    def race(self, event: Number | None) -> tuple[Levels, Levels]:
        """Return who takes part, and who may win in an event, in units of the scale."""
        taking_part = Counter({score / self.scale: count for score, count in self.targets})
        if event is not None and Fraction(event) / self.scale not in taking_part:
            raise InputError(f"no remaining target has score {event}")
        if self.stop_score is not None:
            taking_part[self.stop_score / self.scale] += 1
            event = self.stop_score if event is None else event
        everybody = sorted(taking_part.items())
        return everybody, everybody if event is None else [(Fraction(event) / self.scale, 1)]

    def certain(self, event: Number | None) -> int | None:
        """Return the probability of the empty answer where it is 0 or 1 for certain."""
        if not self.targets:
            return 1
        return 0 if self.threshold is None and self.stop_score is None and event is None else None


def ends_of(ball: Ball) -> Interval:
    """Return the ends of a flint ball."""
    low, high = (end.fmpq() for end in (ball.lower(), ball.upper()))
    return Fraction(int(low.p), int(low.q)), Fraction(int(high.p), int(high.q))


#: State a round exactly: from the targets' scores, and the protected vertices' by level.
Question = Callable[[list[Number], list[tuple[Number, int]]], ExactRound]

#: Enclose the probability of an event of a round.
Enclose = Callable[[ExactRound, "Number | None"], Interval]


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
    labels = seed_components(instance)
    return np.sort(members(instance, labels)), remaining(instance, labels)


def enclose_winners(
    view: RoundView, question: Question, outputs: Iterable[Hashable], enclose: Enclose
) -> Interval:
    """Enclose the probability that a round puts out one of ``outputs``."""
    winners = [view.winner(output) for output in outputs]
    unknown = [t for t in winners if t is not None and t not in view.targets]
    if unknown:
        raise LawUnavailable(f"vertex {unknown[0]} is not left to be found")
    stated = question(list(view.targets.values()), list(view.protected.items()))
    low, high = Fraction(0), Fraction(0)
    for event, times in Counter(None if t is None else view.targets[t] for t in winners).items():
        part = enclose(stated, event)
        low, high = low + times * part[0], high + times * part[1]
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


def _winner(instance: SearchInstance, output: Hashable) -> int | None:
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
