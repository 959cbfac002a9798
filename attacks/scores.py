"""Scores: weights of cells of several numbers, added up.

Weights are log likelihood ratios of each number by itself, which is the best there is for
independent columns [1]_. Where a list stops, each entry counts as far as it was reached, which is
the chain rule. Where little tells the sides apart, fewer weights are learnt: those of the columns
that clearly differ, or the same for all columns. Pairs of columns are cut into tables of cells.
Scores are learnt on either half of the discovery sample and their thresholds swept on the other,
where what a score promises steadies the counts (:mod:`pdpaudit.attacks.thresholds`).

References
----------
.. [1] Neyman and Pearson, "On the problem of the most efficient tests of statistical hypotheses",
   Phil. Trans. R. Soc. A 231 (1933).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Coded, Column, Crossed, Score, Side, Term
from pdpaudit.outputs.columns import Numbered, cut_at
from pdpaudit.outputs.events import SCORE_DECIMALS

from .number_table import Cells, NumberTable, nearest, thinned
from .thresholds import DECIMALS, SURE, Choice, Curve, apart, blended, calibrated, levels, promising

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

#: Cuts tried for each score, and kept, and cells for each number.
CUTS, EACH = 96, 3
CELLS = (8, 4)

#: Cells of numbers that all have the same few weights, where little tells the sides apart.
HALVES = 2

#: Groups of scores that a curve is fitted to.
BINS = 1000

#: Runs a side that thresholds of a score are read off, at most.
LEARN = 40_000

#: Each column of a score of few differs more than chance, by this many of chance's own errors.
FEW = 4.0

#: Columns whose pairs are looked at, pairs that are kept, by how many of chance's errors they must
#: differ, and where each number is cut for them.
MOST_CROSSED, CROSSED = 24, 2
APART = 5.0
RANGE_CUTS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])

#: How a score is learnt, from which columns, in how many cells each.
Kind = tuple[str, list[Numbered], int]


def score_kinds(table: NumberTable, thorough: bool) -> list[Kind]:
    """Return how to learn scores."""
    simple: list[Numbered] = [*table.simple, *table.coded]
    if len(table.columns) == 1:
        return [("entry", simple, CELLS[0])]
    steps: list[Numbered] = [column for column in table.ordered if column.aspect == "step"]
    cells = CELLS[0] if thorough else CELLS[1]
    kinds: list[Kind] = [("entry", simple, cells)]
    if any(column.aspect == "stopped" for column in table.ordered):
        kinds.append(("reached", simple, cells))
    if steps:
        kinds.append(("step", [*table.simple[:1], *steps, *table.coded], cells))
    kinds += [(f"{name}, few", many, cells) for name, many, _ in kinds if len(many) > 1]
    entries: list[Numbered] = [*table.simple]
    for alike in (entries, steps):
        if len(alike) > 1:
            kinds += [("common", alike, few) for few in (CELLS[0], HALVES)]
    kinds += [("crossed", [pair], 0) for pair in crossed_pairs(table)]
    return kinds


def crossed_pairs(table: NumberTable) -> list[Numbered]:
    """Return the pairs of columns, each cut into a few ranges, whose tables differ most."""
    some: list[Column | Coded] = [*table.coded]
    some = [*some, *table.simple][:MOST_CROSSED]
    edges = [_cuts_of(table, column) for column in some]
    weights = [np.concatenate(table.weights[2 * side : 2 * side + 2]) for side in (0, 1)]
    codes = [
        [
            cut_at(np.concatenate(table.numbers(column)[2 * side : 2 * side + 2]), cuts)
            for side in (0, 1)
        ]
        for column, cuts in zip(some, edges, strict=True)
    ]
    noise, apart = sum(1 / side.sum() for side in weights) / 2, []
    for i, j in combinations(range(len(some)), 2):
        wide = len(edges[j]) + 2
        cells = (len(edges[i]) + 2) * wide
        p, q = (
            np.bincount(codes[i][side] * wide + codes[j][side], weights[side], minlength=cells)
            / weights[side].sum()
            for side in (0, 1)
        )
        known = p + q > 0
        far = float(((p - q)[known] ** 2 / (p + q)[known]).sum())
        # The pair that looks best of hundreds must differ by more than the luckiest of them would.
        freedom = np.count_nonzero(known) - 1
        if far > (freedom + APART * np.sqrt(2 * freedom)) * noise:
            apart.append((-round(far, 9), i, j))
    return [
        Crossed((some[i], some[j]), (edges[i], edges[j])) for _, i, j in sorted(apart)[:CROSSED]
    ]


def _cuts_of(table: NumberTable, column: Column | Coded) -> tuple[float, ...]:
    """Return where a column is cut to be looked at together with another."""
    if isinstance(column, Coded):
        # Codes are 0, 1, ...: the first have cells of their own.
        return tuple(np.arange(0.5, min(len(column.values), 8) - 1).tolist())
    pooled = table.pooled(column)
    if not len(pooled):
        return ()
    return tuple(np.unique(nearest(pooled, RANGE_CUTS)).tolist())


def best_scores(table: NumberTable, kind: Kind, aim: ExpectedBound) -> list[Choice]:
    """Learn a score, and return its best thresholds in either direction."""
    name, columns, most = kind
    alike = [columns] if name == "common" else [[column] for column in columns]
    cells = [one for some in alike for one in table.cells(*some, most=most)]
    # Parts 0 and 2 are the first halves. A score is learnt on either half, judged on the other, and
    # used as both halves together have it.
    folds = [((0, 2), (1, 3)), ((1, 3), (0, 2))]
    built = _built(cells, weights := _learn(name, cells, ((0, 1), (2, 3))))
    if not built:
        return []
    learnt = [_learn(name, cells, ((first,), (second,))) for (first, second), _ in folds]
    judged = []
    for score, (_, parts) in zip(learnt, folds, strict=True):
        ours, theirs = _scores(score, cells, parts)
        judged.append(((ours, table.weights[parts[0]]), (theirs, table.weights[parts[1]])))
    finals = [(part, _scores(weights, cells, (part,))[0]) for _, parts in folds for part in parts]
    final = [thinned(score, table.weights[part], LEARN) for part, score in finals]
    ordered, shares = np.sort(np.concatenate(final)), levels(CUTS)
    at = (shares * len(ordered)).astype(int)
    turned = tuple(term.turned() for term in built)
    both: tuple[Side, Side] = ("left", "right")
    ends, ways = (ordered[::-1][at], -ordered[at]), score_curves(judged, shares)
    best, surest = [], []
    for side, terms, cuts, curves in zip(both, (built, turned), ends, ways, strict=True):
        events = [Score(side, terms, cut) for cut in (cuts - 1e-9).tolist()]
        found, sure = _promised(events, curves, table.sample.sides, aim)
        best += found
        surest.append(sure)
    kept = sorted(best, key=lambda choice: -round(choice.expected, DECIMALS))[:EACH]
    # What looks best may be rare and lucky.
    _, one = max(surest, key=lambda found: found[0])
    return kept if one in kept else [*kept, one]


def _promised(
    events: list[Score], curves: list[Curve], runs: tuple[float, float], aim: ExpectedBound
) -> tuple[list[Choice], tuple[float, Choice]]:
    """Return the best of some nested events, and the surest with what it surely promises."""
    runs = runs if events[0].side == "left" else runs[::-1]
    p, q, known = blended(curves, runs, aim.caution)
    expected = aim.from_shares(p, q)
    sure = aim.from_shares(*blended(curves, runs, aim.caution + SURE)[:2]).round(DECIMALS)
    picks = apart(expected, sum(curve.ours for curve in curves), EACH)
    *found, safe = (
        promising(events[pick], expected[pick], p[pick], q[pick], known[pick])
        for pick in (*picks, int(np.argmax(sure)))
    )
    return found, (float(sure.max()), safe)


def _built(cells: list[Cells], weights: list[Floats]) -> tuple[Term, ...]:
    """Return the terms of a score; what has no weight is left out, so that people can read it."""
    return tuple(
        Term(
            one.column,
            one.edges,
            tuple((w[: len(one.edges) + 1] + 0.0).tolist()),
            tuple(zip(one.atoms, (w[len(one.edges) + 1 : -1] + 0.0).tolist(), strict=True)),
            float(w[-1]) + 0.0,
        )
        for one, w in zip(cells, weights, strict=True)
        if w.any()
    )


def _learn(name: str, cells: list[Cells], sides: Sequence[Sequence[int]]) -> list[Floats]:
    """Learn the cells' weights from some parts of the sample on either side."""
    counts = [np.array([one.counts[[*side]].sum(axis=0) for side in sides]) for one in cells]
    return log_ratios(name, counts)


def _scores(weights: list[Floats], cells: list[Cells], parts: Sequence[int]) -> list[Floats]:
    """Return the scores of a part of the sample on either side."""
    return [
        np.asarray(
            sum(w.take(one.codes[part]) for w, one in zip(weights, cells, strict=True))
        ).round(SCORE_DECIMALS)
        for part in parts
    ]


#: Scores, and how many runs each stands for; and the scores of both sides in order, with the runs
#: of either side at each.
Weighed = tuple[Floats, Floats]
Sorted = tuple[Floats, Floats, Floats]


def score_curves(
    folds: Sequence[tuple[Weighed, Weighed]], shares: Floats
) -> tuple[list[Curve], list[Curve]]:
    """Cut scores of runs at shares of them all, from the largest on, and from the smallest.

    Of each fold. Runs with equal scores belong together. All curves are fitted at once: what one
    has less than others is filled with nothing.
    """
    ways = list[Sorted](), list[Sorted]()
    for (ours, left), (theirs, right) in folds:
        points = np.concatenate([ours, theirs])
        order = np.argsort(-points, kind="stable")
        points = points[order]
        left = np.concatenate([left, np.zeros(len(theirs))])[order]
        right = np.concatenate([np.zeros(len(ours)), right])[order]
        ways[0].append((points, left, right))
        ways[1].append((-points[::-1], right[::-1], left[::-1]))
    grouped = [_grouped(*one, shares) for way in ways for one in way]
    filled = np.zeros((3, len(grouped), max(len(means) for _, means, _, _ in grouped)))
    for place, (_, means, ours, theirs) in enumerate(grouped):
        filled[:, place, : len(means)] = means, ours, theirs
    fitted = calibrated(filled[0], filled[1], filled[2], np.array([one[0] for one in grouped]))
    parts = fitted.ours, fitted.theirs, fitted.promised, fitted.error
    curves = [Curve(*one) for one in zip(*parts, strict=True)]
    return curves[: len(folds)], curves[len(folds) :]


def _grouped(
    points: Floats, left: Floats, right: Floats, shares: Floats
) -> tuple[Ints, Floats, Floats, Floats]:
    """Return how many groups of runs lie before each cut; their scores, and runs of each side."""
    reached = np.cumsum(left + right)
    places = np.searchsorted(reached, shares * reached[-1], side="right")
    ends = points[np.minimum(places, len(points) - 1)]
    sizes = np.searchsorted(-points, -ends + 1e-9, side="right")
    # A line is fitted as well to the means of many groups, in a fraction of the time.
    starts = np.unique(np.concatenate([sizes, np.arange(0, len(points), len(points) // BINS + 1)]))
    starts = starts[starts < len(points)]
    means = np.add.reduceat(points, starts) / np.diff(starts, append=len(points))
    ours, theirs = (np.add.reduceat(side, starts) for side in (left, right))
    return np.searchsorted(starts, sizes, side="left"), means, ours, theirs


def log_ratios(name: str, counts: list[Floats]) -> list[Floats]:
    """Return log likelihood ratios of the cells, each number by itself.

    From the runs in each cell of each number, on either side.
    """
    if name == "common" and counts:
        # One law for all columns is known so much better.
        return log_ratios("entry", [np.asarray(sum(counts[1:], counts[0]))]) * len(counts)
    found = []
    for ours, theirs in counts:
        if name.startswith("reached"):
            # What is missing follows from what stopped the list, and is not to count again.
            ours, theirs = np.append(ours[:-1], 0.0), np.append(theirs[:-1], 0.0)
        logs = [np.log(count + 1.0) - np.log(count.sum() + len(count)) for count in (ours, theirs)]
        ratios = np.asarray(logs[0] - logs[1], dtype=np.float64)
        if name.startswith("reached"):
            ratios[-1] = 0.0
        kept = _kept(ratios, [ours, theirs])
        if name.endswith("few"):
            freedom = max(1, int(np.count_nonzero(ours + theirs)) - 1)
            kept *= kept > FEW / (FEW + np.sqrt(freedom))
        found.append(ratios * kept)
    return found


def _kept(ratios: Floats, counts: list[Floats]) -> float:
    """Return how much of a number's log ratios is more than chance (James and Stein, 1961)."""
    if not all(count.sum() > 0 for count in counts):  # never reached on one side
        return 0.0
    both = counts[0] / counts[0].sum() + counts[1] / counts[1].sum()
    energy = float((both / 2) @ ratios**2)
    chance = (np.count_nonzero(both) - 1) * sum(1 / float(count.sum()) for count in counts)
    return max(0.0, 1.0 - chance / energy) if energy > 0 else 0.0
