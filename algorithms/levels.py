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
    """Vertices in groups of equal score."""

    members: Ints
    scores: Floats
    sizes: Ints
    starts: Ints

    def each(self) -> Floats:
        """Return the score of every member, shape ``(m,)``."""
        return np.repeat(self.scores, self.sizes)


def group_by_score(vertices: npt.NDArray[np.integer[Any]], scores: Floats) -> Levels:
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
