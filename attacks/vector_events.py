"""Choose an event on numbers: half-lines of simple ones, and learnt scores.

Simple numbers are every column, every entry less the one before, sum, smallest, largest, and counts
of values above a level, of zeros and of what is no number. A score adds up weights of cells of
these, and of categories: log likelihood ratios of each by itself, which is the best there is for
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
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Coded, Column, Crossed, Range, Score, Side, Term
from pdpaudit.outputs.columns import MOST_PATTERN, Numbered, cut_at
from pdpaudit.outputs.events import SCORE_DECIMALS, cells_of

from .candidates import Sample
from .thresholds import Choice, Curve, apart, blended, calibrated, levels

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

#: Cuts tried for each ordering, and cells for each number of a score.
CUTS = 96
CELLS = (8, 4)

#: Cells of numbers that all have the same few weights, where little tells the sides apart.
HALVES = 2

#: Standard errors given away beyond those asked for. There are hundreds of half-lines, counted on
#: both sides, and in the tails their errors have little to do with each other; a score's events
#: share what is known of its slope.
MANY, SOME = 2.0, 0.5

#: Groups of scores that a line is fitted to.
BINS = 1000

#: Cuts kept of one ordering, and half-lines kept of all columns together.
EACH, RANGES = 3, 6

#: Runs a side that thresholds of a score are read off, at most.
LEARN = 40_000

#: Entries whose differences are looked at.
MOST_STEPS = 64

#: A number that so large a share of all runs take has a cell of its own.
ATOM = 0.01

#: Each column of a score of few differs more than chance, by this many of chance's own errors.
FEW = 4.0

#: Rows looked at to see what is worth computing, and rows that quantiles are read off.
SEEN, POOLED = 4000, 20_000

#: Categories of one column that have a weight of their own, columns whose pairs are looked at,
#: pairs that are kept, and where each number is cut for them.
MOST_CODED, MOST_CROSSED, CROSSED = 64, 24, 2
APART = 5.0
RANGE_CUTS = (0.05, 0.25, 0.5, 0.75, 0.95)


def choose_regions(
    sample: Sample,
    numbers: list[Column],
    categories: list[Column],
    aim: ExpectedBound,
    *,
    thorough: bool = True,
) -> list[Choice]:
    """Return the events whose lower bounds at the planned sample size look largest."""
    table = _Table(sample, numbers, _coded(sample, categories))
    many, some = (replace(aim, caution=aim.caution + more) for more in (MANY, SOME))
    found = _best_ranges(table, many)
    # A score learnt on one half is judged on the other.
    for kind in _kinds(table, thorough) if all(sample.runs) else ():
        # Tables are the best of hundreds too.
        found += _best_scores(table, kind, many if kind[0] == "crossed" else some)
    return found


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


def _coded(sample: Sample, categories: list[Column]) -> list[Coded]:
    """Return columns of categories as numbers, the most frequent categories of each."""
    found = []
    for column in categories:
        distinct, table = sample.table(column)
        times = table.sum(axis=0)
        kept = sorted(np.argsort(-times, kind="stable")[:MOST_CODED].tolist())
        if len(distinct) > 1:
            found.append(Coded(column, tuple(distinct[i] for i in kept)))
    return found


class _Table:
    """The numbers of all columns in all four parts of the discovery sample."""

    def __init__(self, sample: Sample, numbers: list[Column], coded: list[Coded]) -> None:
        self.sample, self.simple, self.coded = sample, numbers, coded
        self.runs = sample.runs
        self.weights = [batch.weights for batch in sample.batches]
        seen = _some_rows(sample)
        more = [] if seen is None else computed(seen)
        # A pattern that never repeats tells nothing.
        more = [c for c in more if c.aspect != "pattern" or _repeats(sample.numbers(c))]
        self.ordered = [*numbers, *more]
        self.columns: list[Numbered] = [*self.ordered, *coded]

    def numbers(self, column: Numbered) -> list[Floats]:
        """Return what a column gives in each part."""
        return self.sample.numbers(column)

    def pooled(self, column: Numbered, parts: Sequence[int] = (0, 1, 2, 3)) -> Floats:
        """Return some numbers of a column, sorted, each run alike."""
        numbers = self.numbers(column)
        some = [_thinned(numbers[part], self.weights[part], POOLED) for part in parts]
        found = np.sort(np.concatenate(some))
        return found[: int(np.searchsorted(found, np.nan))]


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


def _thinned(numbers: Floats, weights: Floats, most: int) -> Floats:
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


def _best_ranges(table: _Table, aim: ExpectedBound) -> list[Choice]:
    """Return the best half-lines or single numbers of the best columns; all is swept at once."""
    shares = levels(CUTS)
    totals = table.sample.sides
    best: list[Choice] = []
    for column in table.ordered:
        pooled = table.pooled(column)
        if not len(pooled):
            continue
        pattern = column.aspect == "pattern"
        cuts = np.unique(pooled if pattern else np.quantile(pooled, shares, method="nearest"))
        below, at = _counted(table, column, cuts)
        counts = {
            "low": np.cumsum(at[:, ::-1] + below[:, :0:-1], axis=1)[:, ::-1],
            "high": np.cumsum(at + below[:, :-1], axis=1),
            "both": at,
        }
        kinds = ["both"] if pattern else ["low", "high"]
        if not pattern and len(cuts) < 24:
            kinds.append("both")
        for kind in kinds:
            for first, second in ((0, 1), (1, 0)):
                ours, theirs = counts[kind][first], counts[kind][second]
                expected = aim.expected(ours, totals[first], theirs, totals[second])
                side: Side = "left" if first == 0 else "right"
                for pick in apart(expected, ours, EACH):
                    cut = float(cuts[pick])
                    low = cut if kind != "high" else -np.inf
                    high = cut if kind != "low" else np.inf
                    best.append(Choice(Range(side, column, low, high), float(expected[pick])))
    return sorted(best, key=lambda choice: -choice.expected)[:RANGES]


def _counted(table: _Table, column: Column, cuts: Floats) -> tuple[Floats, Floats]:
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


#: How a score is learnt, from which columns, in how many cells each.
Kind = tuple[str, list[Numbered], int]


def _kinds(table: _Table, thorough: bool) -> list[Kind]:
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
    kinds += [("crossed", [pair], 0) for pair in _pairs(table)]
    return kinds


def _pairs(table: _Table) -> list[Numbered]:
    """Return the pairs of columns, each cut into a few ranges, whose tables differ most."""
    some: list[Column | Coded] = [*table.coded]
    some = [*some, *table.simple][:MOST_CROSSED]
    edges = [_ranges(table, column) for column in some]
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


def _ranges(table: _Table, column: Column | Coded) -> tuple[float, ...]:
    """Return where a column is cut to be looked at together with another."""
    if isinstance(column, Coded):
        # Codes are 0, 1, ...: the first have cells of their own.
        return tuple(np.arange(0.5, min(len(column.values), 8) - 1).tolist())
    pooled = table.pooled(column)
    if not len(pooled):
        return ()
    cuts = np.unique(np.quantile(pooled, RANGE_CUTS, method="nearest"))
    return tuple(cuts.tolist())


#: A column, with edges and numbers that have cells of their own.
Cut = tuple[Numbered, tuple[float, ...], tuple[float, ...]]


def _best_scores(table: _Table, kind: Kind, aim: ExpectedBound) -> list[Choice]:
    """Learn a score, and return its best thresholds in either direction."""
    name, columns, cells = kind
    terms: list[Cut] = []
    coded: list[list[Ints]] = []
    shared = _shared(table, columns, cells) if name == "common" else None
    for column in columns:
        pooled = table.pooled(column)
        if isinstance(column, Coded):
            pooled = np.arange(float(len(column.values)))
        edges, atoms = shared or _cells(pooled, cells, ordered=isinstance(column, Column))
        if len(edges) + len(atoms) == 0:
            continue
        terms.append((column, edges, atoms))
        coded.append([cells_of(numbers, edges, atoms) for numbers in table.numbers(column)])
    if not terms:
        return []
    return _judged(table, name, terms, coded, aim)


def _shared(
    table: _Table, columns: list[Numbered], cells: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return cells that serve several columns alike."""
    pooled = np.sort(np.concatenate([table.pooled(column) for column in columns]))
    return _cells(pooled, cells, ordered=True)


def _judged(
    table: _Table, name: str, terms: list[Cut], coded: list[list[Ints]], aim: ExpectedBound
) -> list[Choice]:
    """Return the best thresholds of one score."""
    sizes = [len(edges) + len(atoms) + 2 for _, edges, atoms in terms]
    # Parts 0 and 2 are the first halves. A score is learnt on either half, judged on the other, and
    # used as both halves together have it.
    folds = [((0, 2), (1, 3)), ((1, 3), (0, 2))]
    learnt = [_learn(table, name, coded, sizes, parts) for parts, _ in folds]
    weights = _learn(table, name, coded, sizes, None)
    built = _built(terms, weights)
    if not built:
        return []
    turned = tuple(term.turned() for term in built)
    judged = [
        (_scores(w, coded, parts), [table.weights[part] for part in parts])
        for w, (_, parts) in zip(learnt, folds, strict=True)
    ]
    finals = [(part, _scores(weights, coded, (part,))[0]) for _, parts in folds for part in parts]
    final = np.concatenate([_thinned(score, table.weights[part], LEARN) for part, score in finals])
    totals = [float(sum(table.runs[parts[side]] for _, parts in folds)) for side in (0, 1)]
    shares = levels(CUTS)
    best: list[Choice] = []
    for sign, first, second in ((1.0, 0, 1), (-1.0, 1, 0)):
        cuts = np.sort(-sign * final)
        cuts = -cuts[(shares * len(cuts)).astype(int)] - 1e-9
        curves = [
            _curve((sign * s[first], w[first]), (sign * s[second], w[second]), shares)
            for s, w in judged
        ]
        p, q = blended(curves, (totals[first], totals[second]), aim.caution)
        expected = aim.from_shares(p, q)
        side: Side = "left" if first == 0 else "right"
        for pick in apart(expected, sum(curve.ours for curve in curves), EACH):
            event = Score(side, built if first == 0 else turned, float(cuts[pick]))
            best.append(Choice(event, float(expected[pick])))
    return sorted(best, key=lambda choice: -choice.expected)[:EACH]


def _built(terms: list[Cut], weights: list[Floats]) -> tuple[Term, ...]:
    """Return the terms of a score; what has no weight is left out, so that people can read it."""
    return tuple(
        Term(
            column,
            edges,
            tuple((w[: len(edges) + 1] + 0.0).tolist()),
            tuple(zip(atoms, (w[len(edges) + 1 : -1] + 0.0).tolist(), strict=True)),
            float(w[-1]) + 0.0,
        )
        for (column, edges, atoms), w in zip(terms, weights, strict=True)
        if w.any()
    )


def _learn(
    table: _Table,
    name: str,
    coded: list[list[Ints]],
    sizes: list[int],
    parts: tuple[int, int] | None,
) -> list[Floats]:
    """Learn the cells' weights from a part of the sample on either side; None: from all of it."""
    sides = [(0, 1), (2, 3)] if parts is None else [(parts[0],), (parts[1],)]
    weights = [np.concatenate([table.weights[part] for part in side]) for side in sides]
    learn = [[np.concatenate([codes[part] for part in side]) for codes in coded] for side in sides]
    return _ratios(name, learn, weights, sizes)


def _scores(weights: list[Floats], coded: list[list[Ints]], parts: Sequence[int]) -> list[Floats]:
    """Return the scores of a part of the sample on either side."""
    return [
        np.asarray(
            sum(np.take(w, codes[part]) for w, codes in zip(weights, coded, strict=True))
        ).round(SCORE_DECIMALS)
        for part in parts
    ]


#: Scores, and how many runs each stands for.
Weighed = tuple[Floats, Floats]


def _curve(ours: Weighed, theirs: Weighed, shares: Floats) -> Curve:
    """Cut scores of runs at shares of them all; runs with equal scores belong together."""
    points = np.concatenate([ours[0], theirs[0]])
    order = np.argsort(-points, kind="stable")
    left = np.concatenate([ours[1], np.zeros(len(theirs[1]))])[order]
    right = np.concatenate([np.zeros(len(ours[1])), theirs[1]])[order]
    points = points[order]
    reached = np.cumsum(left + right)
    places = np.searchsorted(reached, shares * reached[-1], side="right")
    ends = points[np.minimum(places, len(points) - 1)]
    sizes = np.searchsorted(-points, -ends + 1e-9, side="right")
    # A line is fitted as well to the means of many groups, in a fraction of the time.
    starts = np.unique(np.concatenate([sizes, np.arange(0, len(points), len(points) // BINS + 1)]))
    starts = starts[starts < len(points)]
    ours_in, theirs_in, of = (np.add.reduceat(x, starts) for x in (left, right, np.ones(len(left))))
    means = np.add.reduceat(points, starts) / of
    return calibrated(means, ours_in, theirs_in, np.searchsorted(starts, sizes, side="left"))


def _cells(
    pooled: Floats, cells: int, *, ordered: bool
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return edges at quantiles, and the numbers common enough to stand for themselves."""
    if not len(pooled):
        return (), ()
    distinct, times = np.unique(pooled, return_counts=True)
    if not ordered:
        return (), tuple(distinct.tolist())
    atoms = distinct[times > max(2.0, ATOM * len(pooled))]
    rest = pooled[~np.isin(pooled, atoms)] if len(atoms) else pooled
    if len(rest) < 2 * cells:
        return (), tuple(atoms.tolist())
    shares = np.linspace(0, 1, cells + 1)[1:-1]
    if cells >= 8:
        shares = np.concatenate([[0.01, 0.04], shares, [0.96, 0.99]])
    edges = np.unique(np.quantile(rest, shares, method="nearest"))
    return tuple(edges.tolist()), tuple(atoms.tolist())


def _ratios(
    name: str, learn: list[list[Ints]], weights: list[Floats], sizes: list[int]
) -> list[Floats]:
    """Return log likelihood ratios of the cells, each number by itself."""
    found = []
    counts = [
        np.array(
            [
                np.bincount(side[i], w, minlength=cells)
                for side, w in zip(learn, weights, strict=True)
            ]
        )
        for i, cells in enumerate(sizes)
    ]
    if name == "common":
        # One law for all columns is known so much better.
        counts = [np.asarray(sum(counts[1:], counts[0]))] * len(counts)
    for ours, theirs in counts:
        if name.startswith("reached"):
            # What is missing follows from what stopped the list, and is not to count again.
            ours[-1] = theirs[-1] = 0.0
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
