"""What came out of many runs: counted records, and arrays of those that are all real numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import Misbehaviour
from pdpaudit.outputs.records import SCALAR, Leaf, Record, Structure, flatten, is_failure

Array = npt.NDArray[np.float64 | np.bool_]


class Outputs(Sequence[Hashable]):
    """Many outputs at once, coded: the distinct ones, and which of them each run gave.

    Parameters
    ----------
    distinct : sequence of hashable
        The distinct outputs.
    codes : ndarray of int, shape (size,)
        For each run the index of its output in ``distinct``.

    Examples
    --------
    >>> outputs = Outputs([(0,), (0, 3)], np.array([1, 0, 1]))
    >>> outputs[0], len(outputs), outputs.counts()
    ((0, 3), 3, {(0,): 1, (0, 3): 2})
    """

    def __init__(self, distinct: Sequence[Hashable], codes: npt.NDArray[np.integer]) -> None:
        self.distinct = distinct
        self.codes = codes

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> Hashable: ...
    @overload
    def __getitem__(self, index: slice) -> Outputs: ...
    def __getitem__(self, index: int | slice) -> Hashable | Outputs:
        """Return one output, or a slice of the outputs."""
        if isinstance(index, slice):
            return Outputs(self.distinct, self.codes[index])
        return self.distinct[int(self.codes[index])]

    def __iter__(self) -> Iterator[Hashable]:
        """Iterate over the outputs in the order they were drawn."""
        return (self.distinct[code] for code in self.codes)

    def counts(self) -> dict[Hashable, int]:
        """Return how often each output came up, those that did; O(size + distinct)."""
        tally = np.bincount(self.codes, minlength=len(self.distinct))
        counts: dict[Hashable, int] = {}
        for output, times in zip(self.distinct, tally.tolist(), strict=True):
            if times:
                counts[output] = counts.get(output, 0) + times
        return counts


@dataclass
class Draws:
    """Outputs of many runs.

    Whether an output is counted or a row of an array depends on that output alone.
    """

    counts: Counter[Record] = field(default_factory=Counter)
    arrays: dict[Structure, list[Array]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    printed: int = 0
    alone: str = ""
    form: str = ""

    def __len__(self) -> int:
        """Return the number of runs."""
        return self.counts.total() + sum(map(len, _pieces(self)))

    def same_as(self, other: Draws) -> bool:
        """Return whether these are the same outputs, in whatever order they were counted."""
        if self.counts != other.counts or self.arrays.keys() != other.arrays.keys():
            return False
        mine, theirs = ([rows_of(d.arrays[s]) for s in self.arrays] for d in (self, other))
        return all(
            np.array_equal(*rows, equal_nan=rows[0].dtype.kind == "f")
            for rows in zip(mine, theirs, strict=True)
        )

    def records(self) -> Iterator[Record]:
        """Yield the record of each run, those that were counted first."""
        yield from self.counts.elements()
        for structure, pieces in self.arrays.items():
            for row in rows_of(pieces):
                values = (row,) if np.ndim(row) == 0 else tuple(row)
                yield structure, ("float",) * len(values), tuple(map(float, values))

    def answered(self) -> bool:
        """Return whether any run gave an output and did not raise."""
        return bool(self.arrays) or not all(map(is_failure, self.counts))

    def update(self, other: Draws) -> None:
        """Add other runs, in order; O(distinct), arrays are not copied."""
        self.form = same_form(self.form, other.form)
        self.counts.update(other.counts)
        for structure, pieces in other.arrays.items():
            self.arrays.setdefault(structure, []).extend(pieces)
        self.failures = {**other.failures, **self.failures}
        self.printed += other.printed
        self.alone = self.alone or other.alone


def same_form(form: str, other: str) -> str:
    """Return the kind of array of two batches.

    numpy chooses the kind of an array by all that is in it, so where it changes from batch to
    batch, what one run gives depends on the runs beside it.
    """
    if form and other and form != other:
        raise Misbehaviour(
            f"its sample gave an array of {form} in one batch and of {other} in another, so an "
            "output depends on those beside it; give arrays of one kind, or a list"
        )
    return form or other


def _pieces(draws: Draws) -> Iterable[Array]:
    return (piece for pieces in draws.arrays.values() for piece in pieces)


def rows_of(pieces: Sequence[Array]) -> Array:
    """Return arrays as one, narrow ones filled up with nan; O(entries)."""
    if len(pieces) == 1:
        return pieces[0]
    if pieces[0].ndim == 1 or len({piece.shape[1] for piece in pieces}) == 1:
        return np.concatenate(pieces)
    rows = np.full((sum(map(len, pieces)), max(piece.shape[1] for piece in pieces)), np.nan)
    start = 0
    for piece in pieces:
        rows[start : start + len(piece), : piece.shape[1]] = piece
        start += len(piece)
    return rows


def gathered(outputs: Sequence[object] | npt.NDArray[np.generic], size: int) -> Draws:
    """Return what a mechanism's ``sample``, or many of its runs, gave."""
    found = len(outputs)
    if found != size:
        raise ValueError(f"asked for {size} outputs it gave {found}")
    if isinstance(outputs, Outputs):
        counts: Counter[Record] = Counter()
        tally = np.bincount(outputs.codes, minlength=len(outputs.distinct)).tolist()
        for output, times in zip(outputs.distinct, tally, strict=True):
            if times:
                counts[flatten(output)] += times
        return Draws(counts)
    if isinstance(outputs, np.ndarray):
        return _of_array(outputs)
    return of_records(map(flatten, outputs))


#: The structure of rows of an array that a ``sample`` gave, of whatever width.
ROWS: Structure = ("rows", None, ())

#: Integers of so few bytes are exact as float64.
EXACT_BYTES = 4


def _of_array(outputs: npt.NDArray[np.generic]) -> Draws:
    form, size = outputs.dtype.kind, outputs.dtype.itemsize
    numbers = (form in "fb" and size <= 8) or (form in "iu" and size <= EXACT_BYTES)
    if form in "iu" and not numbers and outputs.ndim == 1:
        values, times = np.unique(outputs, return_counts=True)
        records = map(flatten, values.tolist())
        draws = Draws(Counter(dict(zip(records, times.tolist(), strict=True))))
    elif not numbers:
        draws = of_records(map(flatten, _listed(outputs)))
    elif outputs.ndim == 1:
        draws = Draws(arrays={SCALAR: [_real(outputs)]} if len(outputs) else {})
    else:
        rows = outputs.reshape(len(outputs), -1)
        draws = Draws(arrays={ROWS: [_real(rows)]} if len(outputs) else {})
    draws.form = "" if form == "O" else "text" if form in "US" else outputs.dtype.name
    return draws


def _real(rows: npt.NDArray[np.generic]) -> Array:
    return rows.astype(np.bool_ if rows.dtype.kind == "b" else np.float64, copy=False)


def _listed(outputs: npt.NDArray[np.generic]) -> Sequence[object]:
    """List an array of anything but ordinary numbers, a tuple for each row."""
    rows = outputs if outputs.ndim == 1 else outputs.reshape(len(outputs), -1)
    # A list would not keep all digits of long floats.
    listed: list[Any] = list(rows) if outputs.dtype.char in "gG" else rows.tolist()
    return listed if outputs.ndim == 1 else list(map(tuple, listed))


def of_records(records: Iterable[Record]) -> Draws:
    """Return the outputs of as many runs, those that are ordinary floats as arrays."""
    draws, floats = Draws(), dict[Structure, list[tuple[Leaf, ...]]]()
    for record in records:
        structure, kinds, values = record
        if kinds and kinds.count("float") == len(kinds):
            floats.setdefault(structure, []).append(values)
        else:
            draws.counts[record] += 1
    for structure, rows in floats.items():
        array = np.array(rows, dtype=np.float64)
        draws.arrays[structure] = [array[:, 0] if structure is None else array]
    return draws
