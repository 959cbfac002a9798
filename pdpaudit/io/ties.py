"""From rows of a file to the pairs of people who are tied, with what was left out counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError

__all__ = ["Dropped", "Ties", "collapse"]


@dataclass(frozen=True, eq=False)
class Ties:
    """The rows of an edge list or graph file, as they came.

    Attributes
    ----------
    names : list of str
        The vertices, in order of appearance.
    ends : ndarray of int64, shape (m, 2)
        The two ends of each row.
    weights : ndarray of float, shape (m,), optional
        Its weight; ``None`` where the file has none.
    where : callable
        The place of a row in the file, to begin an error with.
    blank_rows : int
        Rows left out because there was nothing in them.
    attributes : mapping of str to list
        What the file says of each vertex, if anything, ``None`` where it is silent.
    notes : tuple of str
        What had to be decided to read it.
    """

    names: list[str]
    ends: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64] | None
    where: Callable[[int], str]
    blank_rows: int = 0
    attributes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dropped:
    """Rows that are not edges of the network, and why."""

    self_loops: int = 0
    duplicates: int = 0
    below_min_weight: int = 0
    zero_weight: int = 0
    blank_rows: int = 0

    def __str__(self) -> str:
        """Return the counts that are not zero, in words."""
        words = [
            (self.self_loops, "self-loop", "self-loops"),
            (self.duplicates, "duplicate", "duplicates"),
            (self.below_min_weight, "below min weight", "below min weight"),
            (self.zero_weight, "zero-weight", "zero-weight"),
            (self.blank_rows, "blank row", "blank rows"),
        ]
        told = [f"{n:,} {one if n == 1 else many}" for n, one, many in words if n]
        return ", ".join(told) or "nothing"


def collapse(
    ties: Ties, min_weight: float | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Dropped]:
    """Return each pair of tied vertices once.

    In this order: rows of weight 0 say that there is no tie and are dropped; self-loops are
    dropped; rows of the same two people, in either direction, are one tie. It weighs as much as the
    heaviest of them: a tie listed from both sides must not count double. A tie lighter than
    ``min_weight`` is dropped. The people of dropped rows remain in the network.

    Parameters
    ----------
    ties : Ties
        The rows.
    min_weight : float, optional
        The least weight of a tie that counts.

    Returns
    -------
    low, high : ndarray of int64, shape (edges,)
        The ends of each edge, ``low < high``, sorted. O(m log m).
    dropped : Dropped
        The rows left out; below the minimal weight, pairs are counted.

    Raises
    ------
    InputError
        If a weight is negative or not finite, or ``min_weight`` is not a finite number or there
        are no weights to compare with it.
    """
    if min_weight is not None and not np.isfinite(min_weight):
        raise InputError(f"--min-weight {min_weight}: not a finite number; give the least weight")
    if min_weight is not None and ties.weights is None:
        raise InputError(
            "--min-weight: the file has no weight column known as such; name it with "
            "--weight-column, or leave --min-weight out"
        )
    n = len(ties.names)
    ends, weights = ties.ends, ties.weights
    zero = 0
    if weights is not None:
        _check(ties, weights)
        if not weights.all():
            ends, weights = ends[weights > 0], weights[weights > 0]
            zero = len(ties.ends) - len(ends)
    low, high = np.minimum(ends[:, 0], ends[:, 1]), np.maximum(ends[:, 0], ends[:, 1])
    key = low * n + high
    proper = low != high
    if not proper.all():
        key = key[proper]
        weights = None if weights is None else weights[proper]
    loops = len(ends) - len(key)
    light = 0
    if min_weight is None or weights is None:
        key = np.sort(key)  # numpy's unique hashes, which these keys make very slow
        pairs = key[np.diff(key, prepend=-1) != 0]
    else:
        pairs, pair = np.unique(key, return_inverse=True)
        heaviest = np.zeros(len(pairs))
        np.maximum.at(heaviest, pair, weights)
        light = int(np.count_nonzero(heaviest < min_weight))
        pairs = pairs[heaviest >= min_weight]
    low, high = np.divmod(pairs, max(n, 1))
    duplicates = len(key) - len(pairs) - light
    return low, high, Dropped(loops, duplicates, light, zero, ties.blank_rows)


def _check(ties: Ties, weights: npt.NDArray[np.float64]) -> None:
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{ties.where(row)}: weight {weights[row]:g}; weights are finite and not negative: "
            "correct it, or name another column with --weight-column"
        )
