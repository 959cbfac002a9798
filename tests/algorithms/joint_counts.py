"""Exact law of several search rounds: what is found in each, in order.

The appendix algorithm carries what its earlier rounds examined, which no output shows: between
rounds its state is the number of unexamined protected vertices in each class of vertices that
score alike now and later. Small networks only: an oracle for the sampler.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.stats import binom

from pdpaudit.algorithms.laws.noise import Laplace, Rule
from pdpaudit.algorithms.samplers.partition import (
    component_labels,
    component_members,
    neighbourhood,
    outputs_of,
    remaining,
    seed_components,
    targeted_mask,
)
from pdpaudit.algorithms.searches.rounds import score
from pdpaudit.core.errors import InputError
from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import Law, LawUnavailable, StatisticOfProximity

FloatArray = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
# Below this, mass at either end of the integral is left out.
_TAIL = 1e-16
# Binomial coefficients of larger numbers overflow.
_CHOOSABLE = 1_000
# Numbers held at once.
_CHUNK = 1_000_000


@dataclass(frozen=True)
class ListLaw:
    """Law of the list of targets found by the search rounds, in order."""

    probabilities: dict[tuple[Hashable, ...], float]
    missing: float


@dataclass(frozen=True, eq=False)
class Stage:
    """What one round of the appendix algorithm sees, as a function of what was found before."""

    targets: Sequence[Hashable]
    target_scores: FloatArray
    class_scores: FloatArray
    explored: NDArray[np.bool_]


def search_com_rounds_law(
    sizes: ArrayLike,
    stage: Callable[[tuple[Hashable, ...]], Stage],
    rounds: int,
    *,
    noise: Laplace,
    threshold: float,
    threshold_noise: Laplace,
    tolerance: float = 1e-12,
    most_work: float = 2e10,
) -> ListLaw:
    """Law of several rounds of SearchCom, hidden set of examined vertices included.

    Given the winner's noisy score x, each unexamined vertex of a class is above x independently
    with the class's probability, so the numbers left in each class are binomial. The search
    goes on iff the number examined, old total T less what is left, is at most K + nu. With N
    counts per class as axes and T as one more, thinning is one matrix product per class, and
    the stopping rule a factor on ``T - sum N``. Cost: for each beginning of a list, quadrature
    nodes (some 800) times the number T of totals times the states ``prod (N_c + 1)`` times
    ``sum (N_c + 1)``.
    """
    _check_rounds(rounds)
    counts = np.asarray(sizes, dtype=float)
    if counts.ndim != 1 or np.any(counts < 0) or np.any(counts != np.floor(counts)):
        raise InputError("sizes must be whole numbers >= 0, one per class")
    if noise.scale == 0.0:
        raise InputError("the scores must have noise")
    whole = counts.astype(int)
    start = np.zeros(tuple(whole + 1))
    start[tuple(whole)] = 1.0
    stopping = _stop_values(int(whole.sum()), threshold, threshold_noise)
    cutoff = tolerance / 10_000
    done: dict[tuple[Hashable, ...], float] = {}
    going: dict[tuple[Hashable, ...], FloatArray] = {(): start}
    missing = 0.0
    work = 0.0
    for number in range(rounds):
        longer: dict[tuple[Hashable, ...], FloatArray] = {}
        last = number == rounds - 1
        # Before anything is computed: a round that the next one makes too dear is not begun.
        work = _needed(going, stage, noise, work, most_work)
        if not last:
            _needed(_followed(going, stage), stage, noise, work, most_work)
        for found, masses in going.items():
            now = stage(found)
            left = _explored(masses, now.explored)
            if len(now.targets) == 0:
                done[found] = float(left.sum())
                continue
            winners, none = one_round(left, now, noise, stopping)
            done[found] = none
            for name, after in zip(now.targets, winners, strict=True):
                mass = float(after.sum())
                if mass < cutoff:
                    missing += mass
                elif last:
                    done[(*found, name)] = mass
                else:
                    longer[(*found, name)] = after
        going = longer
    done.update({found: float(masses.sum()) for found, masses in going.items()})
    total = sum(done.values()) + missing
    if abs(total - 1.0) > 1e-10:
        raise LawUnavailable(f"the law sums to {total!r} instead of 1: sample instead")
    return ListLaw(done, missing)


def _needed(
    going: Mapping[tuple[Hashable, ...], FloatArray],
    stage: Callable[[tuple[Hashable, ...]], Stage],
    noise: Laplace,
    work: float,
    most_work: float,
) -> float:
    """Add what a round takes; raise once it is too much."""
    for found, masses in going.items():
        now = stage(found)
        if len(now.targets):
            work += _work(_explored(masses, now.explored), now, noise)
        if work > most_work:
            raise LawUnavailable(
                f"the exact law needs more than most_work={most_work:g} multiplications: "
                "too many classes of protected vertices; ask for fewer rounds, or sample"
            )
    return work


def _followed(
    going: Mapping[tuple[Hashable, ...], FloatArray],
    stage: Callable[[tuple[Hashable, ...]], Stage],
) -> dict[tuple[Hashable, ...], FloatArray]:
    """Return who may be left once each remaining target has won: any number of every class."""
    after = {}
    for found, masses in going.items():
        now = stage(found)
        any_number = np.ones_like(_explored(masses, now.explored))
        after.update({(*found, name): any_number for name in now.targets})
    return after


def _check_rounds(rounds: int) -> None:
    if rounds < 0:
        raise InputError(f"the number of rounds must be >= 0, not {rounds}")


def _stop_values(total: int, threshold: float, noise: Laplace) -> tuple[FloatArray, FloatArray]:
    """Probability that b examined vertices pass the stopping rule, and that they fail it."""
    gaps = np.arange(total + 1) - threshold
    if noise.scale == 0.0:
        return (gaps <= 0.0).astype(float), (gaps > 0.0).astype(float)
    return np.exp(noise.logsf(gaps)), np.exp(noise.logcdf(gaps))


def _explored(masses: FloatArray, explored: NDArray[np.bool_]) -> FloatArray:
    """Nobody is left in a class that statistic-first search has examined."""
    for axis in np.flatnonzero(explored):
        masses = masses.sum(axis=int(axis), keepdims=True)
    return masses


def _panels(now: Stage, classes: FloatArray, noise: Laplace, people: float) -> FloatArray:
    """List the ends of the panels: kinks, and steps narrow enough for the count's law."""
    scale = noise.scale
    top = now.target_scores.max()
    high = top + scale * (np.log(now.target_scores.size) - np.log(_TAIL))
    grid = np.linspace(now.target_scores.min() + scale * np.log(_TAIL), high, 400)
    below = noise.logcdf(grid[:, None] - now.target_scores).sum(axis=1)
    low = grid[max(int(np.searchsorted(below, np.log(_TAIL))) - 1, 0)]
    step = scale * min(1.0, 6.0 / np.sqrt(people + 1.0))
    kinks = np.unique(np.concatenate([now.target_scores, classes]))
    ends = np.concatenate([[low], kinks[(kinks > low) & (kinks < high)], [high]])
    pieces = [np.linspace(a, b, int(np.ceil((b - a) / step)) + 1)[:-1] for a, b in pairwise(ends)]
    return np.append(np.concatenate(pieces), high)


def _alive(left: FloatArray, now: Stage) -> tuple[FloatArray, FloatArray]:
    """Drop the axes of empty classes."""
    keep = np.array([size > 1 for size in left.shape], dtype=bool)
    return left.reshape([s for s in left.shape if s > 1]), np.asarray(now.class_scores)[keep]


def _people(left: FloatArray) -> float:
    return float(sum(size - 1 for size in left.shape))


def _work(left: FloatArray, now: Stage, noise: Laplace) -> float:
    alive, classes = _alive(left, now)
    nodes = 16.0 * _panels(now, classes, noise, _people(alive)).size
    totals = np.unique(_totals(alive.shape)[alive > 0]).size
    return nodes * totals * alive.size * (sum(alive.shape) + 1.0)


def _totals(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Count the unexamined vertices at each state."""
    return np.asarray(np.indices(shape).sum(axis=0)) if shape else np.zeros((), dtype=np.int64)


def one_round(
    left: FloatArray,
    now: Stage,
    noise: Laplace,
    stopping: tuple[FloatArray, FloatArray],
) -> tuple[list[FloatArray], float]:
    """States after each target's win, weighted by their probability; and Pr[no one is found]."""
    alive, class_scores = _alive(left, now)
    totals = _totals(alive.shape)
    present = np.unique(totals[alive > 0])
    # axis 0: how many were unexamined before the round
    start = np.stack([np.where(totals == t, alive, 0.0) for t in present])
    examined = present.reshape((-1,) + (1,) * alive.ndim) - totals
    # states with more left than there were have no mass
    clipped = np.clip(examined, 0, stopping[0].size - 1)
    passing, failing = stopping[0][clipped], stopping[1][clipped]
    ends = _panels(now, class_scores, noise, _people(alive))
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    x = (middle[:, None] + half[:, None] * _NODES).ravel()
    weight = (half[:, None] * _WEIGHTS).ravel()
    levels, inverse, sizes = np.unique(now.target_scores, return_inverse=True, return_counts=True)
    centred = x[:, None] - levels
    log_cdf = noise.logcdf(centred)
    density = np.exp(noise.logpdf(centred) + (log_cdf @ sizes)[:, None] - log_cdf)
    races = density * weight[:, None]
    above = np.exp(noise.logsf(x[:, None] - class_scores))
    seen = races.max(axis=1) > 1e-30
    races, above = races[seen], above[seen]
    results = np.zeros((levels.size, *alive.shape))
    none = 0.0
    size = max(start.size, sum(n * n for n in alive.shape))
    step = max(1, _CHUNK // size)
    for begin in range(0, races.shape[0], step):
        part = slice(begin, begin + step)
        state = _thinned(start, above[part])
        lost = (state * failing).reshape(state.shape[0], -1).sum(axis=1)
        none += float((races[part] @ sizes) @ lost)
        results += np.tensordot(races[part].T, (state * passing).sum(axis=1), axes=1)
    return [results[i].reshape(left.shape) for i in inverse], none


def _thinned(start: FloatArray, above: FloatArray) -> FloatArray:
    """States after each class has lost its vertices above, for a batch of points.

    `start` has the total as axis 0, then one axis per class; the result has the batch before.
    """
    state = np.broadcast_to(start, (above.shape[0], *start.shape))
    for axis, size in enumerate(start.shape[1:]):
        # from N (rows) to how many of them stay below (columns)
        matrix = thinning(size, above[:, axis])
        # one matrix for each point of the batch, the same for all other axes
        matrix = matrix.reshape(matrix.shape[:1] + (1,) * (start.ndim - 2) + matrix.shape[1:])
        state = np.moveaxis(np.moveaxis(state, axis + 2, -1) @ matrix, -1, axis + 2)
    return np.asarray(state)


def thinning(size: int, above: FloatArray) -> FloatArray:
    """Binomial laws of how many of N < size are not above, shape (points, size, size)."""
    kept = np.arange(size)
    if size > _CHOOSABLE:
        shares = 1.0 - above[:, None, None]
        return np.asarray(binom.pmf(kept, kept[:, None], shares), dtype=float)
    lost = np.subtract.outer(kept, kept)
    choose = special.binom(kept[:, None], kept)
    stay, go = np.power.outer(1.0 - above, kept), np.power.outer(above, kept)
    return np.asarray(choose * stay[:, None, :] * go[:, np.maximum(lost, 0)])


Components = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Seen:
    """Scores of all vertices, and whom SFS has examined, once so much is found."""

    scores: NDArray[np.float64]
    near: NDArray[np.bool_]


def law_by_counts(
    instance: SearchInstance, sop: StatisticOfProximity, rule: Rule, rounds: int
) -> Law:
    """Law of statistic-first search and several rounds of SearchCom; small networks only."""
    if rule.noise.scale == 0:
        raise LawUnavailable("no noise on the scores")
    seen = _all_states(instance, sop, rounds)
    start = seed_components(instance)
    protected = np.flatnonzero(~targeted_mask(instance) & ~seen[start].near)
    columns = [state.scores[protected] for state in seen.values()]
    columns += [state.near[protected].astype(np.float64) for state in seen.values()]
    _, first, sizes = np.unique(
        np.column_stack(columns), axis=0, return_index=True, return_counts=True
    )
    if math.prod((sizes + 1).tolist()) > 2_000_000:
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
        noise=Laplace(rule.noise.scale),
        threshold=rule.limit,
        threshold_noise=Laplace(rule.limit_scale),
    )
    paths = [tuple(map(_vertex, path)) for path in law.probabilities]
    outputs = outputs_of(instance, paths)
    return Law(dict(zip(outputs, law.probabilities.values(), strict=True)), law.missing)


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
    if count > 200:
        raise LawUnavailable(f"{len(others)} components: too many sets of them may be found")
    states = {}
    for more in range(min(rounds, len(others) + 1)):
        for chosen in combinations(others, more):
            found = tuple(sorted((*start, *chosen)))
            vertices = np.concatenate([members[label] for label in found])
            scores = score(sop, instance, tuple(vertices.tolist()))
            states[found] = _Seen(scores, neighbourhood(instance, vertices))
    return states
