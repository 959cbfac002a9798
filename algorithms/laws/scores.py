"""What one search round knows: the targets' scores, and the protected ones by level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdpaudit.core.errors import InputError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RoundScores:
    """Scores of the vertices a round may still examine.

    Build it with `from_vertices` or `from_levels`.
    """

    targets: FloatArray
    levels: FloatArray
    counts: FloatArray
    first: int
    ahead: int | None

    @classmethod
    def from_vertices(
        cls,
        targets: ArrayLike,
        protected: ArrayLike,
        target_vertices: ArrayLike | None = None,
        protected_vertices: ArrayLike | None = None,
    ) -> RoundScores:
        """Group the scores of single vertices.

        Cost: O((m + n) log n).
        """
        target_scores = _vector("targets", targets)
        protected_scores = _vector("protected", protected)
        levels, counts = np.unique(protected_scores, return_counts=True)
        first, vertex = _first(target_scores, target_vertices)
        ahead: int | None = 0
        if first >= 0:
            best = target_scores[first]
            tied = protected_scores == best
            ahead = int((protected_scores > best).sum())
            if tied.any():
                if target_vertices is None or protected_vertices is None:
                    ahead = None
                else:
                    numbers = _numbers(protected_vertices, protected_scores)
                    ahead += int((numbers[tied] < vertex).sum())
        return cls(target_scores, levels, counts.astype(float), first, ahead)

    @classmethod
    def from_levels(
        cls,
        targets: ArrayLike,
        levels: ArrayLike,
        counts: ArrayLike,
        target_vertices: ArrayLike | None = None,
    ) -> RoundScores:
        """Take the protected vertices as levels with multiplicities, in any order.

        Equal levels are merged and empty ones dropped.
        """
        target_scores = _vector("targets", targets)
        given = _vector("levels", levels)
        sizes = _vector("counts", counts)
        if given.shape != sizes.shape:
            raise InputError(f"levels and counts differ in length: {given.size} and {sizes.size}")
        if np.any(sizes < 0) or np.any(sizes != np.floor(sizes)):
            raise InputError("counts must be whole numbers >= 0")
        distinct, inverse = np.unique(given[sizes > 0], return_inverse=True)
        merged = np.bincount(inverse, weights=sizes[sizes > 0], minlength=distinct.size).astype(
            float
        )
        first, _ = _first(target_scores, target_vertices)
        ahead: int | None = 0
        if first >= 0:
            best = target_scores[first]
            ahead = None if np.any(distinct == best) else int(merged[distinct > best].sum())
        return cls(target_scores, distinct, merged, first, ahead)


def _vector(name: str, values: ArrayLike) -> FloatArray:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, not of shape {array.shape}")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{name} must be finite numbers")
    return array


def _numbers(vertices: ArrayLike, scores: FloatArray) -> NDArray[np.int64]:
    numbers = np.asarray(vertices, dtype=np.int64)
    if numbers.shape != scores.shape:
        raise InputError(f"{scores.size} scores but vertex numbers of shape {numbers.shape}")
    return numbers


def _first(scores: FloatArray, vertices: ArrayLike | None) -> tuple[int, int]:
    """Position and number of the noiseless winner: largest score, then smallest number."""
    if scores.size == 0:
        return -1, -1
    numbers = np.arange(scores.size) if vertices is None else _numbers(vertices, scores)
    best = np.flatnonzero(scores == scores.max())
    position = int(best[np.argmin(numbers[best])])
    return position, int(numbers[position])
