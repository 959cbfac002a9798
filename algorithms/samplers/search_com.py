"""Searches many times over: outputs at the cost of the score levels, not of the network.

Between two rounds SearchCom remembers more than it puts out, namely which protected vertices it
has examined; what of it matters is a count for each class of exchangeable vertices. Where rounds
depend on earlier outputs alone, the runs that have found the same components, in whatever order
and whichever of their vertices first, share one state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import Mechanism, Outputs, StatisticOfProximity

from ..laws.noise import Noise, Rule
from ..searches.rounds import score
from .partition import (
    by_label,
    component_labels,
    members,
    neighbourhood,
    outputs_of_rounds,
    remaining,
    seed_components,
    shelf,
    targeted_mask,
)
from .score_levels import (
    BLOCK,
    Classes,
    Levels,
    classes_by_score,
    count_within,
    draw_winners,
    group_by_score,
    refined,
    split,
    survival,
)

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class State:
    """What a round of SearchCom depends on, but for how many vertices were examined before."""

    targets: Levels
    classes: Classes

    def weight(self) -> int:
        """Return how many numbers it holds, about."""
        return len(self.targets.members) + 2 * len(self.classes.vertices)


#: A state met by this many runs of one batch is likely to be met by the next batch.
WORTH_KEEPING = 16


def state_at_seeds(instance: SearchInstance, sop: StatisticOfProximity) -> State:
    """Return the state of a search that has examined the seeds alone; one scoring, then kept."""

    def build() -> State:
        scores = score(sop, instance, instance.seeds)
        targeted = targeted_mask(instance)
        wanted = targeted.copy()
        wanted[list(instance.seeds)] = False
        left, protected = np.flatnonzero(wanted), np.flatnonzero(~targeted)
        return State(
            group_by_score(left, scores[left]), classes_by_score(protected, scores[protected])
        )

    return shelf(instance, "states").get(("seeds alone", sop), build, State.weight)


def state_after_sfs(instance: SearchInstance, sop: StatisticOfProximity) -> State:
    """Return the state of a search that has explored the seeds' components; kept."""

    def build() -> State:
        found = seed_components(instance)
        targets, scores = _scored(instance, sop, found)
        near = neighbourhood(instance, members(instance, found))
        unseen = np.flatnonzero(~targeted_mask(instance) & ~near)
        return State(targets, classes_by_score(unseen, scores[unseen]))

    return shelf(instance, "states").get(("seeds explored", sop), build, State.weight)


def state_after(
    instance: SearchInstance,
    sop: StatisticOfProximity,
    before: State,
    found: tuple[int, ...],
    *,
    keep: bool,
) -> State:
    """Return the state of a search that has explored one component more."""

    def build() -> State:
        targets, scores = _scored(instance, sop, found)
        seen = neighbourhood(instance, members(instance, found[-1:]))
        return State(targets, refined(before.classes, ~seen, scores))

    key = ("in order", sop, found)
    return shelf(instance, "states").get(key, build, State.weight, keep=keep)


def _scored(
    instance: SearchInstance, sop: StatisticOfProximity, found: tuple[int, ...]
) -> tuple[Levels, npt.NDArray[np.float64]]:
    """Score every vertex, and group the targets left."""
    scores = score(sop, instance, members(instance, found))
    left = remaining(instance, found)
    return group_by_score(left, scores[left]), scores


def by_running(
    search: Mechanism, instance: SearchInstance, size: int, rng: np.random.Generator
) -> Outputs:
    """Run a search again and again: one without noise on its scores, which few declare."""
    codes, distinct = pd.factorize(
        np.fromiter((search.run(instance.fresh(), rng) for _ in range(size)), object, size)
    )
    return Outputs(distinct.tolist(), codes.astype(np.int64))


def sample_search(
    instance: SearchInstance,
    sop: StatisticOfProximity,
    rule: Rule,
    size: int,
    rng: np.random.Generator,
) -> Outputs:
    """Draw outputs of one round of SearchCom that knows the seeds alone."""
    state = state_at_seeds(instance, sop)
    counts = np.broadcast_to(state.classes.sizes[:, None], (len(state.classes.sizes), size))
    winners, _ = _play(state, counts, rule, True, rng)
    codes, distinct = pd.factorize(winners)
    outputs = [(winner,) if winner >= 0 else () for winner in distinct.tolist()]
    return Outputs(outputs, codes.astype(np.int64))


def sample_searches(
    instance: SearchInstance,
    sop: StatisticOfProximity,
    rule: Rule,
    rounds: int,
    size: int,
    rng: np.random.Generator,
) -> Outputs:
    """Draw outputs of statistic-first search and ``rounds`` rounds of SearchCom."""
    labels = component_labels(instance)
    winners = np.full((rounds, size), -1)
    start = state_after_sfs(instance, sop)
    everyone = np.broadcast_to(start.classes.sizes[:, None], (len(start.classes.sizes), size))
    # Depth first: besides what is kept, only the states along one path are held at a time.
    stack = [(0, seed_components(instance), start, everyone, np.arange(size))]
    while stack and rounds:
        now, found, state, counts, runs = stack.pop()
        if now:
            state = state_after(instance, sop, state, found, keep=len(runs) >= WORTH_KEEPING)
            counts = split(state.classes, counts, rng)
        last = now == rounds - 1
        won, after = _play(state, counts, rule, last, rng)
        winners[now, runs] = won
        if not last:
            stack += [
                (now + 1, (*found, label), state, after[:, chosen], runs[chosen])
                for label, chosen in by_label(won, labels)
            ]
    return outputs_of_rounds(instance, winners)


def _play(
    state: State, counts: Ints, rule: Rule, last: bool, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Play SearchCom once for each column of ``counts``, the unexamined vertices of each class.

    Returns the vertices found, or -1, and the counts afterwards unless this is the last round.
    """
    size = counts.shape[1]
    targets, classes = state.targets, state.classes
    winners = np.full(size, -1)
    after = np.empty((0 if last else len(classes.sizes), size), dtype=np.int64)
    if not len(targets.members):
        return winners, after
    width = max(1, BLOCK // max(len(classes.sizes), 1))
    for begin in range(0, size, width):
        part = slice(begin, min(begin + width, size))
        mine = counts[:, part]
        positions, values = draw_winners(targets, rule.noise, part.stop - begin, rng)
        limits = rule.draw_limits(part.stop - begin, rng)
        above = survival(rule.noise.scale, values - classes.scores[:, None])
        if last:
            success = count_within(mine, above, limits, rng)
        else:
            ahead = rng.binomial(mine, above)
            success = ahead.sum(axis=0) <= limits
            after[:, part] = mine - ahead
        winners[part] = np.where(success, targets.members[positions], -1)
    return winners, after


def remaining_targets(
    instance: SearchInstance, sop: StatisticOfProximity, found: tuple[int, ...]
) -> Levels:
    """Return the targets outside the components ``found``, by score; one scoring, then kept."""
    return shelf(instance, "states").get(
        ("whatever order", sop, found),
        lambda: _scored(instance, sop, found)[0],
        lambda levels: len(levels.members),
    )


def sample_winners(
    instance: SearchInstance,
    sop: StatisticOfProximity,
    noise: Noise,
    rounds: int,
    size: int,
    rng: np.random.Generator,
    threshold: float | None = None,
) -> Outputs:
    """Draw outputs of a search that takes the noisy winner among the remaining targets."""
    labels = component_labels(instance)
    winners = np.full((rounds, size), -1)
    groups = {seed_components(instance): np.arange(size)}
    for winners_now in winners:
        parts: dict[tuple[int, ...], list[Ints]] = {}
        for found, runs in groups.items():
            targets = remaining_targets(instance, sop, found)
            if not len(targets.members):
                continue
            positions, _ = draw_winners(targets, noise, len(runs), rng, threshold)
            won = np.where(positions >= 0, targets.members[positions], -1)
            winners_now[runs] = won
            for label, chosen in by_label(won, labels):
                parts.setdefault(tuple(sorted((*found, label))), []).append(runs[chosen])
        groups = {found: np.concatenate(runs) for found, runs in parts.items()}
    return outputs_of_rounds(instance, winners)
