"""Searches many times over: outputs at the cost of the score levels, not of the network.

Vertices of equal score are drawn from together. Between two rounds SearchCom remembers more than
it puts out, namely which protected vertices it has examined; what of it matters is a count for each
class of exchangeable vertices. Where rounds depend on earlier outputs alone, the runs that have
found the same components, in whatever order and whichever of their vertices first, share one state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

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

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Noisy values held at once; small enough to stay in the processor's cache.
BLOCK = 1 << 17


@dataclass(frozen=True)
class Levels:
    """Vertices in groups of equal score."""

    members: Ints
    scores: Floats
    sizes: Ints
    starts: Ints

    def each(self) -> Floats:
        """Return the score of every member, shape ``(m,)``."""
        return np.repeat(self.scores, self.sizes)


def group_by_score(vertices: Ints, scores: Floats) -> Levels:
    """Group ascending ``vertices`` by their ``scores``; O(m log m)."""
    distinct, sizes = np.unique(scores, return_counts=True)
    members = np.asarray(vertices, dtype=np.int64)[np.argsort(scores, kind="stable")]
    return Levels(members, distinct, sizes, np.cumsum(sizes) - sizes)


def draw_winners(
    levels: Levels,
    noise: Noise,
    size: int,
    rng: np.random.Generator,
    rival: float | None = None,
) -> tuple[Ints, Floats]:
    """Draw the vertex with the largest noisy score, and that score, ``size`` times.

    The largest of m independent noises is one draw: its distribution is the m-th power of one
    noise's, so it is the quantile at U^(1/m), that is at e^(-E/m) with E standard exponential.
    Which of the m it was is uniform.
    """
    if noise.scale == 0:
        lost = rival is not None and rival > levels.scores[-1]
        first = -1 if lost else int(levels.starts[-1])
        return np.full(size, first), np.full(size, levels.scores[-1])
    scores, sizes, starts = levels.scores, levels.sizes, levels.starts
    if rival is not None:
        scores, sizes = np.append(scores, rival), np.append(sizes, 1)
        starts = np.append(starts, -1)
    winners = np.empty(size, dtype=np.int64)
    values = np.empty(size)
    width = max(1, BLOCK // len(scores))
    for begin in range(0, size, width):
        part = slice(begin, min(begin + width, size))
        winners[part], values[part] = _draw(scores, sizes, starts, noise, part.stop - begin, rng)
    return winners, values


def _draw(
    scores: Floats, sizes: Ints, starts: Ints, noise: Noise, size: int, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    log_u = rng.standard_exponential((len(scores), size))
    log_u /= -sizes[:, None]
    noisy = noise.quantile_log(log_u)
    noisy += scores[:, None]
    if len(scores) == 1:
        return int(starts[0]) + _uniform(int(sizes[0]), size, rng), noisy[0]
    level = np.argmax(noisy, axis=0)
    values = noisy[level, np.arange(size)]
    return starts[level] + _uniform(sizes[level], size, rng), values


def _uniform(below: int | Ints, size: int, rng: np.random.Generator) -> Ints:
    """Whole numbers from 0 to ``below`` - 1, uniform but for the 53 bits of a float."""
    if isinstance(below, int) and below == 1:
        return np.zeros(size, dtype=np.int64)
    return (rng.random(size) * below).astype(np.int64)


Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True)
class Classes:
    """Protected vertices no search has examined for certain, in exchangeable classes."""

    vertices: Ints
    labels: Ints
    scores: Floats
    sizes: Ints
    parents: Ints
    parent_sizes: Ints


def classes_by_score(vertices: Ints, scores: Floats) -> Classes:
    """Return the classes of a first round; O(p)."""
    labels, distinct = _coded(scores)
    sizes = np.bincount(labels, minlength=len(distinct))
    parents = np.zeros(len(distinct), dtype=np.int64)
    return Classes(vertices, labels, distinct, sizes, parents, np.array([len(vertices)]))


def refined(before: Classes, alive: npt.NDArray[np.bool_], scores: Floats) -> Classes:
    """Return the classes of the next round; O(p)."""
    stays = alive[before.vertices]
    vertices, old = before.vertices[stays], before.labels[stays]
    level, distinct = _coded(scores[vertices])
    width = max(len(distinct), 1)
    labels, keys = _coded(old * width + level)
    sizes = np.bincount(labels, minlength=len(keys))
    return Classes(vertices, labels, distinct[keys % width], sizes, keys // width, before.sizes)


def _coded(values: npt.NDArray[Number]) -> tuple[Ints, npt.NDArray[Number]]:
    """Return the index of each value among the distinct ones, and these in ascending order.

    Few values are distinct, so hashing all and sorting those is faster than sorting all.
    """
    codes, distinct = pd.factorize(values)
    order = np.argsort(distinct)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[codes], distinct[order]


def split(classes: Classes, remaining: Ints, rng: np.random.Generator) -> Ints:
    """Draw how many of each class are unexamined, given how many were of the class before."""
    # A class that came through whole keeps its count: most do, and nothing is drawn for them.
    counts = remaining[classes.parents]
    parts = np.flatnonzero(classes.sizes != classes.parent_sizes[classes.parents])
    alone = remaining.shape[1] == 1
    parent, pool = -1, 0
    left: int | Ints = 0
    for c, size, its_parent in zip(
        parts.tolist(), classes.sizes[parts].tolist(), classes.parents[parts].tolist(), strict=True
    ):
        if its_parent != parent:
            parent, pool = its_parent, int(classes.parent_sizes[its_parent])
            # numpy draws the same from a plain number, without the checks an array needs.
            left = int(remaining[parent, 0]) if alone else remaining[parent]
        drawn = left if pool == size else rng.hypergeometric(size, pool - size, left)
        counts[c] = drawn
        left = left - drawn
        pool -= size
    return counts


#: A count this many nats away from the limit is not drawn: e^-50 is far below what the 53 bits of
#: a uniform number can distinguish.
CERTAIN_NATS = 50.0


def count_within(
    sizes: Ints, above: Floats, limit: Floats, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Draw whether a sum of independent binomials is at most a limit.

    Bernstein's inequality settles most draws: where the limit is so far from the mean that the
    other answer has probability below e^-50, nothing is drawn.
    """
    expected = sizes * above
    mean = expected.sum(axis=0)
    variance = mean - (expected * above).sum(axis=0)
    third = CERTAIN_NATS / 3
    reach = third + np.sqrt(third**2 + 2 * CERTAIN_NATS * variance)
    distance = limit - mean
    within = distance >= 0
    total = sizes.sum(axis=0)
    open_ = np.flatnonzero((np.abs(distance) <= reach) & (limit >= 0) & (limit < total))
    within[limit < 0] = False
    within |= limit >= total
    if len(open_):
        successes = rng.binomial(sizes[:, open_], above[:, open_]).sum(axis=0)
        within[open_] = successes <= limit[open_]
    return np.asarray(within)


def survival(scale: float, x: Floats) -> Floats:
    """Return the probability that Laplace noise is above x; one exponential each."""
    tail = 0.5 * np.exp(-np.abs(x) / scale)
    return np.where(x > 0, tail, 1 - tail)


# Searches


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
