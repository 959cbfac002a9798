"""Half-lines and single numbers of one column: events that people can check.

How rare a number is in its tail is a score like any other, so a half-line's promise is steadied by
what the whole column shows (:mod:`pdpaudit.attacks.thresholds`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt

from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Column, Range, Side

from .number_table import NumberTable, nearest
from .thresholds import DECIMALS, Choice, apart, blended, calibrated, levels, promising

Floats = npt.NDArray[np.float64]

#: Cuts tried for each ordering.
CUTS = 96

#: Cuts kept of one ordering, and half-lines kept of all columns together.
EACH, RANGES = 3, 6

#: A column of fewer cuts has single numbers that are worth a look, and the share of runs beyond
#: which a number is no rarer than any other.
FEW_CUTS, RAREST = 24, 1e-6

#: Share of a half-line's promise that is put down to its tail being no continuation of the rest:
#: what many mechanisms lose stays the same from some number on.
TAIL_MISFIT = 0.25


@dataclass(frozen=True)
class _Swept:
    """A column, where it is cut, and how many runs of each side lie between and on the cuts."""

    column: Column
    cuts: Floats
    below: Floats
    at: Floats


def best_ranges(table: NumberTable, aim: ExpectedBound, luck: float = 0.0) -> list[Choice]:
    """Return the best half-lines or single numbers of the best columns; all is swept at once.

    ``luck`` is how many standard errors more are given away while they are compared; half of them
    when a half-line is compared with what is no half-line, where other runs tell as well.
    """
    swept = []
    for column in table.ordered:
        pooled = table.pooled(column)
        if not len(pooled):
            continue
        shares, pattern = levels(CUTS), column.aspect == "pattern"
        cuts = np.unique(pooled if pattern else nearest(pooled, shares))
        swept.append(_Swept(column, cuts, *_counted(table, column, cuts)))
    ordered = [one for one in swept if one.column.aspect != "pattern"]
    lines = _half_lines(table, ordered, aim, luck) if ordered else {}
    best: list[Choice] = []
    for one in swept:
        for first in (0, 1):
            best += lines.get((one.column, first), [])
            if one.column.aspect == "pattern" or len(one.cuts) < FEW_CUTS:
                best += _numbers(table, one, first, aim, luck)
    return sorted(best, key=lambda choice: -round(choice.expected, DECIMALS))[:RANGES]


def _half_lines(
    table: NumberTable, columns: list[_Swept], aim: ExpectedBound, luck: float
) -> dict[tuple[Column, int], list[Choice]]:
    """Return the best half-lines of columns; how rare a number is, is its score.

    All are fitted at once: axes are the columns, upper and lower half-lines, and either side as the
    one where they are likelier. What a column has less than others is filled with nothing.
    """
    totals, most = table.sample.sides, max(len(one.cuts) for one in columns)
    inner = np.zeros((len(columns), 2, 2, 2 * most + 1))
    ends = np.empty((len(columns), 1, 1, most), dtype=np.intp)
    for place, one in enumerate(columns):
        # What lies below the first number, the first number, what lies between, the second, ...
        numbers = np.stack([one.below[:, :-1], one.at], 2).reshape(2, -1)
        cells = np.concatenate([numbers, one.below[:, -1:]], 1)
        inner[place, 0, :, : cells.shape[1]] = cells[:, ::-1]
        inner[place, 1, :, : cells.shape[1]] = cells
        ends[place, 0, 0] = 2 * np.minimum(np.arange(most) + 1, len(one.cuts))
    sums = inner.sum(axis=-1, keepdims=True)
    shares = (inner / np.maximum(sums, 1.0)).sum(axis=2, keepdims=True) / 2
    middle = np.cumsum(shares, axis=-1) - shares / 2
    score = -np.log(np.maximum(middle, RAREST))
    curve = calibrated(score, inner, inner[:, :, ::-1], ends)
    # What is no number in either direction lies outside.
    runs = np.array(totals, dtype=np.float64)[:, None]
    seen = np.maximum(sums, 0.5) / runs
    promised = curve.promised + np.log(seen / seen[:, :, ::-1])
    absent = np.sum((1 - seen) / (seen * runs), axis=2, keepdims=True)
    error = np.sqrt(curve.error**2 + (TAIL_MISFIT * curve.promised) ** 2 + absent)
    curve = replace(curve, promised=promised, error=error)
    sides = runs, runs[::-1]
    p, q, known = blended([curve], sides, aim.caution + luck / 2)
    compared = blended([curve], sides, aim.caution + luck)[:2]
    expected = aim.from_shares(*(shares.ravel() for shares in compared)).reshape(p.shape)
    best: dict[tuple[Column, int], list[Choice]] = {}
    for place, one in enumerate(columns):
        count = len(one.cuts)
        for first, way in product((0, 1), (0, 1)):
            at = (place, way, first)
            for pick in apart(expected[at][:count], curve.ours[at][:count], EACH):
                cut = float(one.cuts[pick if way else count - 1 - pick])
                limits = (-np.inf, cut) if way else (cut, np.inf)
                event = Range("right" if first else "left", one.column, *limits)
                found = promising(
                    event, expected[at][pick], p[at][pick], q[at][pick], known[at][pick]
                )
                best.setdefault((one.column, first), []).append(found)
    return best


def _numbers(
    table: NumberTable, swept: _Swept, first: int, aim: ExpectedBound, luck: float
) -> list[Choice]:
    """Return the best single numbers of a column."""
    side: Side = "right" if first else "left"
    totals, ours, theirs = table.sample.sides, swept.at[first], swept.at[1 - first]
    counts = ours, totals[first], theirs, totals[1 - first]
    (p, q), runs = aim.shares(*counts), totals[first]
    expected = replace(aim, caution=aim.caution + luck).expected(*counts)
    return [
        promising(
            Range(side, swept.column, float(swept.cuts[pick]), float(swept.cuts[pick])),
            expected[pick],
            p[pick],
            q[pick],
            runs,
        )
        for pick in apart(expected, ours, EACH)
    ]


def _counted(table: NumberTable, column: Column, cuts: Floats) -> tuple[Floats, Floats]:
    """Return how many runs of each side fall between cuts, and how many onto each."""
    below = np.zeros((2, len(cuts) + 1))
    at = np.zeros((2, len(cuts)))
    for part, (numbers, weights) in enumerate(
        zip(table.numbers(column), table.weights, strict=True)
    ):
        known = ~np.isnan(numbers)
        numbers, weights = numbers[known], weights[known]
        place = np.searchsorted(cuts, numbers, side="left")
        equal = (place < len(cuts)) & (cuts[np.minimum(place, len(cuts) - 1)] == numbers)
        side = part // 2
        below[side] += np.bincount(place[~equal], weights[~equal], minlength=len(cuts) + 1)
        at[side] += np.bincount(place[equal], weights[equal], minlength=len(cuts))
    return below, at
