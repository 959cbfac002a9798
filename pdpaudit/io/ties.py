"""From rows of a file to the pairs of people who are tied, with what was left out counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError

__all__ = ["Dropped", "Ties", "collapse"]


@dataclass(frozen=True)
class Dropped:
    """Rows that are not edges of the network, and why."""

    self_loops: int = 0
    duplicates: int = 0
    below_min_weight: int = 0
    zero_weight: int = 0
    blank_rows: int = 0
    missing_ends: int = 0
    repeated_headers: int = 0
    outside_window: int = 0

    def __str__(self) -> str:
        """Return the counts that are not zero, in words."""
        words = [
            (self.self_loops, "self-loop", "self-loops"),
            (self.duplicates, "duplicate", "duplicates"),
            (self.below_min_weight, "below min weight", "below min weight"),
            (self.zero_weight, "zero-weight", "zero-weight"),
            (self.blank_rows, "blank row", "blank rows"),
            (self.missing_ends, "row with a missing end", "rows with a missing end"),
            (self.repeated_headers, "repeated header", "repeated headers"),
            (self.outside_window, "outside the time window", "outside the time window"),
        ]
        counted = [f"{n:,} {one if n == 1 else many}" for n, one, many in words if n]
        return ", ".join(counted) or "nothing"


@dataclass(frozen=True, eq=False)
class Ties:
    """The rows of an edge list or graph file, as they came; vertices in order of appearance."""

    names: list[str]
    ends: npt.NDArray[np.int64]  # (rows, 2)
    weights: npt.NDArray[np.float64] | None
    where: Callable[[int], str]  # the place of a row in the file, to begin an error with
    dropped: Dropped = Dropped()
    attributes: Mapping[str, Sequence[object]] = field(default_factory=dict)  # None where silent
    notes: tuple[str, ...] = ()
    ids: list[str] | None = None  # what a graph file calls the vertices beside their labels


def collapse(
    ties: Ties, min_weight: float | None, *, count_contacts: bool = False
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Dropped]:
    """Return the ends of each pair of tied vertices once, ``low < high``, sorted; O(m log m).

    Rows of weight 0 say that there is no tie; rows of the same two people are one tie, as heavy as
    the heaviest of them, for a tie listed from both sides must not count double; with
    ``count_contacts`` it weighs as much as it has rows. People of dropped rows remain.
    """
    if min_weight is not None and not np.isfinite(min_weight):
        raise InputError(f"--min-weight {min_weight}: not a finite number; give the least weight")
    if min_weight is not None and ties.weights is None and not count_contacts:
        raise InputError(
            "--min-weight: the file has no weight column known as such; name it with "
            "--weight-column, count rows with --count-contacts, or leave --min-weight out"
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
    if min_weight is not None and count_contacts:
        pairs, times = np.unique(key, return_counts=True)
        light = int(np.count_nonzero(times < min_weight))
        pairs = pairs[times >= min_weight]
    elif min_weight is None or weights is None:
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
    dropped = replace(
        ties.dropped,
        self_loops=loops,
        duplicates=duplicates,
        below_min_weight=light,
        zero_weight=zero,
    )
    return low, high, dropped


def _check(ties: Ties, weights: npt.NDArray[np.float64]) -> None:
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{ties.where(row)}: weight {weights[row]:g}; weights are finite and not negative: "
            "correct it, or name another column with --weight-column"
        )
