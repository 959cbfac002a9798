"""Exact output laws of the searches on a network, from the exact laws of single rounds."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import CodedOutputs, Law, LawUnavailable, StatisticOfProximity

from ..samplers.partition import (
    coding_of,
    component_labels,
    component_members,
    output_of,
    outputs_of,
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
    targets, law = _search_com(state_at_seeds(instance, sop), rule)
    found = ((target,) for target in targets)
    return _law([*zip(found, law.found.tolist(), strict=True), ((), law.none)])


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
    state = state_after_sfs(instance, sop)
    targets, law = _search_com(state, rule)
    found = ((target,) for target in targets)
    return _law_of_paths(instance, [*zip(found, law.found.tolist(), strict=True), ((), law.none)])


def _search_com(state: State, rule: Rule) -> tuple[list[int], RoundLaw]:
    targets, classes = state.targets, state.classes
    scores = RoundScores.from_vertices(
        targets.each(), classes.scores[classes.labels], targets.members, classes.vertices
    )
    return targets.members.tolist(), law_of_rule(scores, rule)


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
