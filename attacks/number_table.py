"""Numbers that are read or computed from outputs, in all four parts of a discovery sample.

And the cells that they are cut into: many scores are learnt from the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pdpaudit.outputs import Coded, Column
from pdpaudit.outputs.columns import MOST_PATTERN, Numbered
from pdpaudit.outputs.events import cells_of

from .candidates import Sample

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

#: Entries whose differences are looked at.
MOST_STEPS = 64

#: A number that so large a share of all runs take has a cell of its own.
ATOM = 0.01

#: Rows looked at to see what is worth computing, and rows that quantiles are read off.
SEEN, POOLED = 4000, 20_000

#: Categories of one column that have a weight of their own.
MOST_CODED = 64


@dataclass(frozen=True)
class Cells:
    """A column in cells, with the cell of each output and the runs in each cell, part by part."""

    column: Numbered
    edges: tuple[float, ...]
    atoms: tuple[float, ...]
    codes: list[Ints]
    counts: Floats


class NumberTable:
    """The numbers of all columns in all four parts of the discovery sample."""

    def __init__(self, sample: Sample, numbers: list[Column], coded: list[Coded]) -> None:
        self.sample, self.simple, self.coded = sample, numbers, coded
        self.runs = sample.runs
        self.weights = [batch.weights for batch in sample.batches]
        self._some = [_thin(weights, POOLED) for weights in self.weights]
        self._pooled: dict[tuple[Numbered, ...], Floats] = {}
        self._cells: dict[tuple[tuple[Numbered, ...], int], list[Cells]] = {}
        seen = _some_rows(sample)
        more = [] if seen is None else computed(seen)
        # A pattern that never repeats tells nothing.
        more = [c for c in more if c.aspect != "pattern" or _repeats(sample.numbers(c))]
        self.ordered = [*numbers, *more]
        self.columns: list[Numbered] = [*self.ordered, *coded]

    def numbers(self, column: Numbered) -> list[Floats]:
        """Return what a column gives in each part."""
        return self.sample.numbers(column)

    def pooled(self, *columns: Numbered) -> Floats:
        """Return some numbers of columns, sorted, each run alike."""
        if columns not in self._pooled:
            parts = [
                numbers[some]
                for column in columns
                for numbers, some in zip(self.numbers(column), self._some, strict=True)
            ]
            found = np.sort(np.concatenate(parts))
            self._pooled[columns] = found[: int(np.searchsorted(found, np.nan))]
        return self._pooled[columns]

    def cells(self, *columns: Numbered, most: int) -> list[Cells]:
        """Return columns in about ``most`` cells, cut alike; nothing of what is always the same."""
        if (columns, most) not in self._cells:
            first, pooled = columns[0], self.pooled(*columns)
            if isinstance(first, Coded):
                pooled = np.arange(float(len(first.values)))
            cut = cells_between(pooled, most, ordered=isinstance(first, Column))
            self._cells[columns, most] = [self._cut(one, *cut) for one in columns if any(cut)]
        return self._cells[columns, most]

    def _cut(self, column: Numbered, edges: tuple[float, ...], atoms: tuple[float, ...]) -> Cells:
        codes = [cells_of(numbers, edges, atoms) for numbers in self.numbers(column)]
        size = len(edges) + len(atoms) + 2
        counts = [np.bincount(*one, size) for one in zip(codes, self.weights, strict=True)]
        return Cells(column, edges, atoms, codes, np.array(counts, dtype=np.float64))


def nearest(ordered: Floats, shares: Floats) -> Floats:
    """Return the quantiles of sorted numbers, each the nearest number."""
    return ordered[np.rint(shares * (len(ordered) - 1)).astype(np.intp)]


def cells_between(
    pooled: Floats, most: int, *, ordered: bool
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return edges at quantiles of sorted numbers, and those common enough for a cell each."""
    if not len(pooled):
        return (), ()
    starts = np.append(0, np.flatnonzero(pooled[1:] != pooled[:-1]) + 1)
    times, distinct = np.diff(starts, append=len(pooled)), pooled[starts]
    if not ordered:
        return (), tuple(distinct.tolist())
    common = times > max(2.0, ATOM * len(pooled))
    atoms, rest = tuple(distinct[common].tolist()), pooled[np.repeat(~common, times)]
    if len(rest) < 2 * most:
        return (), atoms
    shares = np.linspace(0, 1, most + 1)[1:-1]
    if most >= 8:
        shares = np.concatenate([[0.01, 0.04], shares, [0.96, 0.99]])
    return tuple(np.unique(nearest(rest, shares)).tolist()), atoms


def computed(rows: Floats) -> list[Column]:
    """Return the numbers worth computing from rows of numbers like these."""
    width = rows.shape[1]
    if width < 2:
        return []
    missing, zero = np.isnan(rows), rows == 0
    values = rows[~(missing | zero)].astype(np.float64)
    columns: list[Column] = []
    if missing.mean() + zero.mean() > ATOM:
        if width <= MOST_PATTERN:
            columns.append(Column("pattern", at=width))
        columns += [Column("zeros")] if zero.any() else []
        columns += [Column("stopped", at=width)] if missing.any() else []
    else:
        columns += [Column("step", at=j) for j in range(1, min(width, MOST_STEPS))]
    columns.append(Column("sum"))
    if len(np.unique(values[:1000])) > 2:
        columns += [Column("least"), Column("greatest")]
        cuts = np.quantile(values, [0.1, 0.3, 0.5, 0.7, 0.9], method="nearest").tolist()
        short = sorted({float(f"{cut:.6g}") for cut in cuts if np.isfinite(cut)})
        columns += [Column("above", at=cut) for cut in short]
    return columns


def coded_columns(sample: Sample, categories: list[Column]) -> list[Coded]:
    """Return columns of categories as numbers, the most frequent categories of each."""
    found = []
    for column in categories:
        distinct, table = sample.table(column)
        times = table.sum(axis=0)
        kept = sorted(np.argsort(-times, kind="stable")[:MOST_CODED].tolist())
        if len(distinct) > 1:
            found.append(Coded(column, tuple(distinct[i] for i in kept)))
    return found


def _some_rows(sample: Sample) -> Floats | None:
    """Return some outputs as rows of numbers, those that have most leaves; None for no numbers."""
    groups = [group for batch in sample.batches for group in batch.groups if len(group.paths) > 1]
    widest = max((len(group.paths) for group in groups), default=0)
    if widest < 2:
        return None
    rows = np.full((0, widest), np.nan)
    for group in groups:
        some = group.matrix[:SEEN].astype(np.float64)
        fill = np.full((len(some), widest - some.shape[1]), np.nan)
        rows = np.concatenate([rows, np.concatenate([some, fill], axis=1)])
    numeric = ~np.isnan(rows).all(axis=0)
    # Of one number alone there is nothing to compute, whatever stands beside it.
    return rows if numeric.sum() > 1 else None


def _repeats(parts: list[Floats]) -> bool:
    some = np.concatenate([part[:SEEN] for part in parts])
    return len(np.unique(some)) * 10 <= len(some)


def thinned(numbers: Floats, weights: Floats, most: int) -> Floats:
    """Return the numbers of some runs, evenly spaced, each row as often as it weighs."""
    return numbers[_thin(weights, most)]


def _thin(weights: Floats, most: int) -> Ints:
    """Return the rows of some runs, evenly spaced, each row as often as it weighs."""
    total = int(weights.sum())
    if len(weights) == total:
        return np.arange(0, total, max(1, -(-total // most)))
    ends = np.cumsum(weights)
    step = max(1, -(-total // most))
    return np.searchsorted(ends, np.arange(0, total, step), side="right")
