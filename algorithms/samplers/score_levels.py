"""Vertices grouped by equal score: noisy winners and who is above, at the cost of the groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..laws.noise import Noise

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
        values = noisy[0]
        m, start = int(sizes[0]), int(starts[0])
        return start + _uniform(m, size, rng), values
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
