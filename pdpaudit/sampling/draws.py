"""What came out of many runs: counted outputs, or rows of real values, or some of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pdpaudit.contracts import Outputs
from pdpaudit.rows import Rows, array_rows, as_rows, fit_width

__all__ = ["Draws", "Unhashable", "gathered"]


class Unhashable(TypeError):
    """An output that cannot be counted."""


@dataclass
class Draws:
    """Outputs of many runs, order forgotten.

    Attributes
    ----------
    counts : Counter
        How often each output came up, of those that are no vectors of real values; a run that
        failed counts as an output that names the error.
    rows : ndarray, shape (m, k)
        The vectors of real values, nan for what is not a number.
    failures : dict of str to str
        What the first run that gave each error said.
    printed : int
        Characters written to standard output.
    alone : str
        Why runs were drawn one by one though the mechanism has a ``sample``; else empty.
    """

    counts: Counter[Hashable] = field(default_factory=Counter)
    pieces: list[Rows] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    printed: int = 0
    alone: str = ""

    @property
    def rows(self) -> Rows:
        """All rows in one array; joined once."""
        if len(self.pieces) != 1:
            width = max((piece.shape[1] for piece in self.pieces), default=0)
            fitted = [fit_width(piece, width) for piece in self.pieces]
            self.pieces = [np.concatenate(fitted) if fitted else np.empty((0, 0))]
        return self.pieces[0]

    def __len__(self) -> int:
        """Return the number of runs."""
        return self.counts.total() + sum(len(piece) for piece in self.pieces)

    def update(self, other: Draws) -> None:
        """Add other runs; O(distinct), rows are not copied."""
        self.counts.update(other.counts)
        self.pieces.extend(piece for piece in other.pieces if len(piece))
        self.failures = {**other.failures, **self.failures}
        self.printed += other.printed
        self.alone = self.alone or other.alone


def gathered(outputs: Any, size: int) -> Draws:
    """Return what a mechanism's ``sample`` or many of its runs gave.

    Parameters
    ----------
    outputs : Outputs, ndarray or sequence of hashable
        One output for each run. Arrays stay arrays: no object is made for each run.
    size : int
        How many there must be.

    Raises
    ------
    Unhashable
        If an output cannot be counted.
    ValueError
        If there are not ``size`` of them.

    Examples
    --------
    >>> gathered([1, 1, 2], 3).counts
    Counter({1: 2, 2: 1})
    >>> gathered(np.zeros((4, 2)), 4).rows.shape
    (4, 2)
    """
    found = len(outputs)
    if found != size:
        raise ValueError(f"asked for {size} outputs it gave {found}")
    if isinstance(outputs, Outputs):
        return Draws(Counter(outputs.counts()))
    if isinstance(outputs, np.ndarray):
        rows = array_rows(outputs)
        if rows is not None:
            return Draws(pieces=[rows])
        outputs = _listed(outputs)
    return _told_apart(outputs)


def _listed(outputs: Any) -> Sequence[Hashable]:
    """List an array that holds categories."""
    if outputs.ndim == 1:
        return outputs.tolist()  # type: ignore[no-any-return]
    return [tuple(row) for row in outputs.reshape(len(outputs), -1).tolist()]


def _told_apart(outputs: Sequence[Hashable]) -> Draws:
    rows = as_rows(outputs)
    if rows is not None:
        return Draws(pieces=[rows])
    try:
        return Draws(Counter(outputs))
    except TypeError:
        for output in outputs:
            try:
                hash(output)
            except TypeError:
                raise Unhashable(
                    f"it returned a {type(output).__name__}, which cannot be hashed and so not be "
                    "counted; return a tuple"
                ) from None
        raise
