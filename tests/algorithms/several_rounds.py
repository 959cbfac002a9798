"""The exact law of the appendix search over several rounds.

Between rounds the search remembers which protected vertices it has examined, and no output tells.
What of it matters is how many are left of each class of vertices that score alike whatever is
found, and that statistic-first search examines together or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import Law, LawUnavailable, StatisticOfProximity

from .hidden import Calibration
from .hidden_paths import law_by_paths
from .laws import Laplace, Stage, search_com_rounds_law
from .outputs import outputs_of
from .searching import score
from .simulation import (
    component_labels,
    component_members,
    neighbourhood,
    remaining,
    seed_components,
    targeted_mask,
)

__all__ = ["law_of_many_rounds"]

#: Sets of components a search may have found before its last round.
MOST_STATES = 200

#: Joint counts of unexamined vertices, over all classes.
MOST_COUNTS = 2_000_000

#: Multiplications up to which joint counts are followed, about a second; beyond, path by path is
#: faster.
QUICK_WORK = 3e8

#: Seconds that the quick ones take, about.
SECONDS_QUICK = 0.1

#: Multiplications up to which they are followed where path by path costs too much.
MOST_WORK = 2e10

Components = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Seen:
    """Scores of all vertices, and whom SFS has examined, once so much is found."""

    scores: npt.NDArray[np.float64]
    near: npt.NDArray[np.bool_]


def law_of_many_rounds(
    instance: SearchInstance, sop: StatisticOfProximity, calibration: Calibration, rounds: int
) -> Law:
    """Return the law of statistic-first search and several rounds of SearchCom."""
    try:
        return _law_by_counts(instance, sop, calibration, rounds, QUICK_WORK)
    except LawUnavailable:
        pass
    try:
        return law_by_paths(instance, sop, calibration, rounds)
    except LawUnavailable as refused:
        # Many rounds over few vertices: slow, but possible.
        try:
            return _law_by_counts(instance, sop, calibration, rounds, MOST_WORK)
        except LawUnavailable:
            raise refused from None


def _law_by_counts(
    instance: SearchInstance,
    sop: StatisticOfProximity,
    calibration: Calibration,
    rounds: int,
    most_work: float,
) -> Law:
    """Return the law with nothing left out, by joint counts of unexamined vertices."""
    if calibration.score_scale == 0:
        raise LawUnavailable("no noise on the scores")
    seen = _all_states(instance, sop, rounds)
    start = seed_components(instance)
    protected = np.flatnonzero(~targeted_mask(instance) & ~seen[start].near)
    columns = [state.scores[protected] for state in seen.values()]
    columns += [state.near[protected].astype(np.float64) for state in seen.values()]
    _, first, sizes = np.unique(
        np.column_stack(columns), axis=0, return_index=True, return_counts=True
    )
    if math.prod((sizes + 1).tolist()) > MOST_COUNTS:
        raise LawUnavailable(f"{len(sizes)} classes of protected vertices: too many joint counts")
    members = protected[first]
    labels = component_labels(instance)

    def stage(found: tuple[Hashable, ...]) -> Stage:
        key = tuple(sorted({*start, *(int(labels[_vertex(v)]) for v in found)}))
        state, targets = seen[key], remaining(instance, key)
        return Stage(
            targets.tolist(), state.scores[targets], state.scores[members], state.near[members]
        )

    law = search_com_rounds_law(
        sizes,
        stage,
        rounds,
        noise=Laplace(calibration.score_scale),
        threshold=calibration.limit,
        threshold_noise=Laplace(calibration.limit_scale),
        most_work=most_work,
    )
    paths = [tuple(map(_vertex, path)) for path in law.probabilities]
    outputs = outputs_of(instance, paths)
    work = SECONDS_QUICK * (1 if most_work == QUICK_WORK else MOST_WORK / QUICK_WORK)
    return Law(dict(zip(outputs, law.probabilities.values(), strict=True)), law.missing, work=work)


def _vertex(name: Hashable) -> int:
    assert isinstance(name, int)
    return name


def _all_states(
    instance: SearchInstance, sop: StatisticOfProximity, rounds: int
) -> dict[Components, _Seen]:
    """Score every set of components that may have been found before some round."""
    members = component_members(instance)
    start = seed_components(instance)
    others = [label for label in range(len(members)) if label not in start]
    count = sum(math.comb(len(others), more) for more in range(rounds))
    if count > MOST_STATES:
        raise LawUnavailable(f"{len(others)} components: too many sets of them may be found")
    states = {}
    for more in range(min(rounds, len(others) + 1)):
        for chosen in combinations(others, more):
            found = tuple(sorted((*start, *chosen)))
            vertices = np.concatenate([members[label] for label in found])
            scores = score(sop, instance, tuple(vertices.tolist()))
            states[found] = _Seen(scores, neighbourhood(instance, vertices))
    return states
