"""Vertices grouped by equal score, and the noisy winner among them at the cost of the groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .laws.noise import Noise

__all__ = ["Levels", "draw_winners", "group_by_score"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Noisy values held at once; small enough to stay in the processor's cache.
BLOCK = 1 << 17


@dataclass(frozen=True)
class Levels:
    """Vertices in groups of equal score.

    Attributes
    ----------
    members : ndarray of int, shape (m,)
        The vertices, group by group, ascending within each.
    scores : ndarray of float, shape (L,)
        The groups' scores, ascending.
    sizes, starts : ndarray of int, shape (L,)
        How many members each group has, and where in ``members`` they begin.
    """

    members: Ints
    scores: Floats
    sizes: Ints
    starts: Ints

    def each(self) -> Floats:
        """Return the score of every member, shape ``(m,)``."""
        return np.repeat(self.scores, self.sizes)


def group_by_score(vertices: npt.NDArray[np.integer[Any]], scores: Floats) -> Levels:
    """Group ascending ``vertices`` by their ``scores``; O(m log m).

    Examples
    --------
    >>> levels = group_by_score(np.array([2, 5, 7]), np.array([1.0, 0.0, 1.0]))
    >>> levels.members.tolist(), levels.scores.tolist(), levels.sizes.tolist()
    ([5, 2, 7], [0.0, 1.0], [1, 2])
    """
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

    Parameters
    ----------
    levels : Levels
        The candidates; at least one.
    noise : Noise
        What is added to each score; without noise ties go to the smallest index.
    size : int
        Number of draws.
    rng : Generator
        Source of all randomness.
    rival : float, optional
        Score of a candidate that is no vertex and gets the same noise. Without noise a vertex
        that ties with it wins.

    Returns
    -------
    winners : ndarray of int, shape (size,)
        Positions in ``levels.members``; -1 where the rival won.
    values : ndarray of float, shape (size,)
        The winning noisy scores. O(size · L), whatever the number of vertices.

    Examples
    --------
    >>> from pdpaudit.algorithms.laws.noise import Laplace
    >>> levels = group_by_score(np.arange(1000), np.zeros(1000))
    >>> winners, values = draw_winners(levels, Laplace(1.0), 4000, np.random.default_rng(1))
    >>> bool(abs(np.median(values) - 6.58) < 0.2)  # ln(1000 / (2 ln 2))
    True
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
