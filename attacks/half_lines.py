"""Half-lines and single numbers of one column: events that people can check.

How rare a number is in its tail is a score like any other, so a half-line's promise is steadied by
what the whole column shows (:mod:`pdpaudit.attacks.thresholds`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Column, Range

from .number_table import NumberTable
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


def best_ranges(table: NumberTable, aim: ExpectedBound, luck: float = 0.0) -> list[Choice]:
    """Return the best half-lines or single numbers of the best columns; all is swept at once.

    ``luck`` is how many standard errors more are given away while they are compared; half of them
    when a half-line is compared with what is no half-line, where other runs tell as well.
    """
    best: list[Choice] = []
    for column in table.ordered:
        pooled = table.pooled(column)
        if not len(pooled):
            continue
        pattern = column.aspect == "pattern"
        shares = levels(CUTS)
        cuts = np.unique(pooled if pattern else np.quantile(pooled, shares, method="nearest"))
        below, at = _counted(table, column, cuts)
        for first in (0, 1):
            best += (
                [] if pattern else _half_lines(table, column, cuts, (below, at), first, aim, luck)
            )
            if pattern or len(cuts) < FEW_CUTS:
                best += _numbers(table, column, cuts, at, first, aim, luck)
    return sorted(best, key=lambda choice: -round(choice.expected, DECIMALS))[:RANGES]


def _half_lines(
    table: NumberTable,
    column: Column,
    cuts: Floats,
    counts: tuple[Floats, Floats],
    first: int,
    aim: ExpectedBound,
    luck: float,
) -> list[Choice]:
    """Return the best half-lines of a column; how rare a number is, is its score."""
    below, at = counts
    totals, best = table.sample.sides, list[Choice]()
    # What lies below the first number, the first number, what lies between, the second, ...
    cells = np.concatenate([np.stack([below[:, :-1], at], 2).reshape(2, -1), below[:, -1:]], 1)
    ends = np.arange(2, 2 * len(cuts) + 1, 2)
    for low in (True, False):
        inner = cells[:, ::-1] if low else cells
        shares = (inner / np.maximum(inner.sum(axis=1, keepdims=True), 1.0)).sum(axis=0) / 2
        middle = np.cumsum(shares) - shares / 2
        score = -np.log(np.maximum(middle, RAREST))
        curve = calibrated(score, inner[first], inner[1 - first], ends)
        # What is no number in either direction lies outside.
        seen = np.maximum(inner.sum(axis=1), 0.5) / np.array(totals)
        promised = curve.promised + np.log(seen[first] / seen[1 - first])
        absent = np.sum((1 - seen) / (seen * np.array(totals)))
        error = np.sqrt(curve.error**2 + (TAIL_MISFIT * curve.promised) ** 2 + absent)
        curve = replace(curve, promised=promised, error=error)
        sides = totals[first], totals[1 - first]
        p, q, runs = blended([curve], sides, aim.caution + luck / 2)
        expected = aim.from_shares(*blended([curve], sides, aim.caution + luck)[:2])
        for pick in apart(expected, curve.ours, EACH):
            cut = float(cuts[len(cuts) - 1 - pick if low else pick])
            limits = (cut, np.inf) if low else (-np.inf, cut)
            event = Range("right" if first else "left", column, *limits)
            best.append(promising(event, expected[pick], p[pick], q[pick], runs[pick]))
    return best


def _numbers(
    table: NumberTable,
    column: Column,
    cuts: Floats,
    at: Floats,
    first: int,
    aim: ExpectedBound,
    luck: float,
) -> list[Choice]:
    """Return the best single numbers of a column."""
    totals, ours, theirs = table.sample.sides, at[first], at[1 - first]
    counts = ours, totals[first], theirs, totals[1 - first]
    (p, q), runs = aim.shares(*counts), totals[first]
    expected = replace(aim, caution=aim.caution + luck).expected(*counts)
    return [
        promising(
            Range("right" if first else "left", column, float(cuts[pick]), float(cuts[pick])),
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
