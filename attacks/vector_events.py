"""Choose an event on vectors of real values: half-lines of simple numbers, and learnt scores.

Simple numbers are every entry, every entry less the one before, sum, smallest, largest, and counts
of values above a level, of zeros and of what is no number. A score adds up weights of cells of
these: log likelihood ratios of each by itself, which is the best there is for independent entries
[1]_, or the weights of a logistic regression on the cells of all, which also sees what depends on
what. Scores are learnt on one half of the discovery sample and their thresholds swept on the other,
where what a score promises steadies the counts (:mod:`pdpaudit.attacks.calibrating`).

References
----------
.. [1] Neyman and Pearson, "On the problem of the most efficient tests of statistical hypotheses",
   Phil. Trans. R. Soc. A 231 (1933).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse, special

from pdpaudit.evidence.aim import Aim
from pdpaudit.evidence.event import Side
from pdpaudit.evidence.regions import Range, Score, Term, View, cells_of
from pdpaudit.rows import Rows, fit_width

from .calibrating import Curve, blended, calibrated
from .sweeping import Choice, apart, levels

__all__ = ["choose_regions", "views_of"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

#: Cuts tried for each ordering, cells for each number of a score, entries looked at one by one.
CUTS = 96
CELLS = (8, 4)
MOST_ENTRIES = 64

#: Standard errors given away beyond those asked for. There are hundreds of half-lines, counted on
#: both sides, and in the tails their errors have little to do with each other; a score's events
#: share what is known of its slope.
MANY, SOME = 2.0, 1.0

#: Cells of a number whose weights lie on a line.
RAMP = 24

#: Cuts kept of one ordering, and half-lines kept of all views together.
EACH, RANGES = 3, 6

#: Runs a side that a score is learnt from, at most, and steps of a regression.
LEARN, STEPS = 40_000, 25

#: A number that so large a share of all runs take has a cell of its own.
ATOM = 0.01

#: Shrinks the weights of a logistic regression, as a precision.
RIDGE = 3.0


@dataclass(frozen=True)
class Halves:
    """The two halves of the discovery sample on one side: to learn from, and to sweep on."""

    learn: Rows
    sweep: Rows


def choose_regions(
    left: tuple[Rows, Rows],
    right: tuple[Rows, Rows],
    runs: tuple[int, int],
    aim: Aim,
    vertices: tuple[int, ...] | None = None,
    *,
    thorough: bool = True,
) -> list[Choice]:
    """Return the events whose lower bounds at the planned sample size look largest.

    Parameters
    ----------
    left, right : pair of ndarray, shape (m, k)
        The two halves of the discovery sample on each side; not both empty.
    runs : pair of int
        Runs behind the second halves: as many rows, or more where some runs gave something else.
    aim : Aim
        What will be confirmed.
    vertices : tuple of int, optional
        What the columns stand for, where outputs are lists of vertices.
    thorough : bool
        Whether to learn scores by regression too, which takes most of the time.

    Returns
    -------
    list of Choice
        For each ordering its best cuts, from the simplest ordering to the least. O(m k log m).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> ours, theirs = (tuple(rng.laplace(at, size=(2, 2000, 1))) for at in (1.0, 0.0))
    >>> choice = choose_regions(ours, theirs, (2000, 2000), Aim(10_000, 0.05))[0]
    >>> choice.event.view, -0.5 < choice.event.low < 1.5
    (View(kind='entry', at=0), True)
    """
    width = max(part.shape[1] for part in (*left, *right))
    one, other = (Halves(*(fit_width(part, width) for part in side)) for side in (left, right))
    views = views_of(np.concatenate([part[:4000] for part in (one.learn, other.learn)]))
    table = _Table(views, one, other)
    many, some = (replace(aim, caution=aim.caution + more) for more in (MANY, SOME))
    found = _best_ranges(table, runs, many, width, vertices)
    for kind in _kinds(table, thorough):
        found += _best_scores(table, kind, runs, some, width, vertices)
    return found


def views_of(rows: Rows) -> list[View]:
    """Return the numbers worth computing from rows like these.

    Parameters
    ----------
    rows : ndarray, shape (m, k)
        Some outputs of both sides.

    Examples
    --------
    >>> [view.kind for view in views_of(np.array([[0.5], [1.5]]))]
    ['entry']
    """
    width = rows.shape[1]
    missing, zero = np.isnan(rows), rows == 0
    values = rows[~(missing | zero)].astype(np.float64)
    views = [View("entry", j) for j in range(min(width, MOST_ENTRIES))]
    if width == 1:
        return views
    mixed = missing.mean() + zero.mean() > ATOM
    if mixed:
        patterns = View("pattern").of(rows)
        if width <= 33 and len(np.unique(patterns)) * 10 <= len(rows):
            views.append(View("pattern"))
        views += [View("zeros")] if zero.any() else []
        views += [View("stopped")] if missing.any() else []
    else:
        views += [View("step", j) for j in range(1, min(width, MOST_ENTRIES))]
    views.append(View("sum"))
    if len(np.unique(values[:1000])) > 2:
        views += [View("least"), View("greatest")]
        cuts = np.unique(np.quantile(values, [0.1, 0.3, 0.5, 0.7, 0.9]).round(6))
        views += [View("above", float(cut)) for cut in cuts]
    return views


class _Table:
    """The numbers of all views for all four parts of the discovery sample, computed once."""

    def __init__(self, views: Sequence[View], one: Halves, other: Halves) -> None:
        self.views = views
        self.learn = [part[:LEARN] for part in (one.learn, other.learn)]
        self.parts = [one.learn, one.sweep, other.learn, other.sweep]
        self.numbers = [[view.of(part) for part in self.parts] for view in views]


def _best_ranges(
    table: _Table,
    runs: tuple[int, int],
    aim: Aim,
    width: int,
    vertices: tuple[int, ...] | None,
) -> list[Choice]:
    """Return the best half-lines or single numbers of the best views; all is swept at once."""
    shares = levels(CUTS)
    # Nothing is learnt, so both halves are swept. Runs that gave no row count too.
    totals = [
        runs[side] * (1.0 + len(table.parts[2 * side]) / max(len(table.parts[2 * side + 1]), 1))
        for side in (0, 1)
    ]
    best: list[Choice] = []
    for view, numbers in zip(table.views, table.numbers, strict=True):
        sides = [np.sort(np.concatenate(numbers[2 * side : 2 * side + 2])) for side in (0, 1)]
        sides = [side[: int(np.searchsorted(side, np.nan))] for side in sides]
        pooled = np.sort(np.concatenate([side[:: max(1, len(side) // 20_000)] for side in sides]))
        if not len(pooled):
            continue
        cuts = np.unique(np.quantile(pooled, shares, method="nearest"))
        if view.kind == "pattern":
            cuts = np.unique(pooled)
        below = [np.searchsorted(side, cuts, side="left") for side in sides]
        upto = [np.searchsorted(side, cuts, side="right") for side in sides]
        counts = {
            "low": [len(side) - b for side, b in zip(sides, below, strict=True)],
            "high": upto,
            "both": [u - b for u, b in zip(upto, below, strict=True)],
        }
        kinds = ["both"] if view.kind == "pattern" else ["low", "high"]
        if view.kind != "pattern" and len(cuts) < 24:
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
                    event = Range(side, width, vertices, view, low, high)
                    best.append(Choice(event, float(expected[pick])))
    return sorted(best, key=lambda choice: -choice.expected)[:RANGES]


def _kinds(table: _Table, thorough: bool) -> list[tuple[str, int]]:
    """Return how to learn scores: from which numbers and in how many cells each."""
    if len(table.views) == 1:
        return [("entry", CELLS[0])]
    steps = any(view.kind == "step" for view in table.views)
    cells = CELLS[0] if thorough else CELLS[1]
    kinds = [("entry", cells), *([("step", cells)] if steps else [])]
    return [*kinds, ("cells", CELLS[0]), ("ramps", RAMP)] if thorough else kinds


def _best_scores(
    table: _Table,
    kind: tuple[str, int],
    runs: tuple[int, int],
    aim: Aim,
    width: int,
    vertices: tuple[int, ...] | None,
) -> list[Choice]:
    """Learn a score, and return its best thresholds in either direction."""
    name, cells = kind
    chosen = [
        i
        for i, view in enumerate(table.views)
        if name in ("cells", "ramps")
        or view.kind == name
        or (name == "step" and view == View("entry"))
    ]
    terms, coded = [], []
    for i in chosen:
        pooled = np.concatenate([table.numbers[i][part][:LEARN] for part in (0, 2)])
        edges, atoms = _cells(pooled, cells)
        if len(edges) + len(atoms) == 0:
            continue
        terms.append((table.views[i], edges, atoms))
        coded.append([cells_of(numbers, edges, atoms) for numbers in table.numbers[i]])
    if not terms:
        return []
    sizes = [len(edges) + len(atoms) + 2 for _, edges, atoms in terms]
    # Parts 0 and 2 are the first halves. What is cheap to learn is learnt on either half, judged on
    # the other, and used as both halves together have it.
    folds = [((0, 2), (1, 3))]
    if name not in ("cells", "ramps"):
        folds.append(((1, 3), (0, 2)))
    learnt = [_learn(name, coded, terms, sizes, parts) for parts, _ in folds]
    weights = learnt[0] if len(folds) == 1 else _learn(name, coded, terms, sizes, None)
    built = tuple(
        Term(
            view,
            edges,
            tuple(w[: len(edges) + 1].tolist()),
            tuple(zip(atoms, w[len(edges) + 1 : -1].tolist(), strict=True)),
            float(w[-1]),
        )
        for (view, edges, atoms), w in zip(terms, weights, strict=True)
    )
    turned = tuple(
        Term(
            t.view,
            t.edges,
            tuple(-w for w in t.weights),
            tuple((value, -w) for value, w in t.atoms),
            -t.missing,
        )
        for t in built
    )
    judged = [_scores(w, coded, parts) for w, (_, parts) in zip(learnt, folds, strict=True)]
    final = np.concatenate([part for _, parts in folds for part in _scores(weights, coded, parts)])
    totals = [
        sum(runs[side] * len(fold[side]) / max(len(judged[0][side]), 1) for fold in judged)
        for side in (0, 1)
    ]
    shares = levels(CUTS)
    best: list[Choice] = []
    for sign, first, second in ((1.0, 0, 1), (-1.0, 1, 0)):
        cuts = np.sort(-sign * final)
        cuts = -cuts[(shares * len(cuts)).astype(int)] - 1e-9
        curves = [_curve(sign * fold[first], sign * fold[second], shares) for fold in judged]
        p, q = blended(curves, (totals[first], totals[second]), aim.caution)
        expected = aim.from_shares(p, q)
        side: Side = "left" if first == 0 else "right"
        for pick in apart(expected, sum(curve.ours for curve in curves), EACH):
            event = Score(side, width, vertices, built if first == 0 else turned, float(cuts[pick]))
            best.append(Choice(event, float(expected[pick])))
    return sorted(best, key=lambda choice: -choice.expected)[:EACH]


def _learn(
    name: str,
    coded: list[list[Ints]],
    terms: list[tuple[View, tuple[float, ...], tuple[float, ...]]],
    sizes: list[int],
    parts: tuple[int, int] | None,
) -> list[Floats]:
    """Learn the cells' weights from a part of the sample on either side; None: from all of it."""
    if parts is None:
        learn = [[np.concatenate(codes[2 * i : 2 * i + 2]) for codes in coded] for i in (0, 1)]
    else:
        learn = [[codes[part] for codes in coded] for part in parts]
    if name not in ("cells", "ramps"):
        return _ratios(learn, sizes)
    learn = [[codes[:LEARN] for codes in side] for side in learn]
    bases = [
        np.eye(cells) if name == "cells" else _ramp(len(edges) + 1, len(atoms) + 1)
        for cells, (_, edges, atoms) in zip(sizes, terms, strict=True)
    ]
    return _regression(learn, sizes, bases)


def _scores(weights: list[Floats], coded: list[list[Ints]], parts: tuple[int, int]) -> list[Floats]:
    """Return the scores of a part of the sample on either side."""
    return [
        np.asarray(sum(np.take(w, codes[part]) for w, codes in zip(weights, coded, strict=True)))
        for part in parts
    ]


def _curve(ours: Floats, theirs: Floats, shares: Floats) -> Curve:
    """Cut scores of runs at shares of them all; runs with equal scores belong together."""
    points = np.concatenate([ours, theirs])
    order = np.argsort(-points, kind="stable")
    known = (order < len(ours)).astype(np.float64)
    points = points[order]
    ends = points[(shares * len(points)).astype(int)]
    sizes = np.searchsorted(-points, -ends + 1e-9, side="right")
    return calibrated(points, known, 1.0 - known, sizes)


def _cells(numbers: Floats, cells: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return edges at quantiles, and the numbers common enough to stand for themselves."""
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return (), ()
    some = known[:: max(1, len(known) // 5000)]
    distinct, times = np.unique(some, return_counts=True)
    atoms = distinct[times > max(2.0, ATOM * len(some))]
    rest = known[~np.isin(known, atoms)] if len(atoms) else known
    if len(rest) < 2 * cells:
        return (), tuple(atoms.tolist())
    shares = np.linspace(0, 1, cells + 1)[1:-1]
    if cells >= 8:
        shares = np.concatenate([[0.01, 0.04], shares, [0.96, 0.99]])
    edges = np.unique(np.quantile(rest, shares))
    return tuple(edges.tolist()), tuple(atoms.tolist())


def _ratios(learn: list[list[Ints]], sizes: list[int]) -> list[Floats]:
    """Return log likelihood ratios of the cells, each number by itself."""
    weights = []
    for i, cells in enumerate(sizes):
        logs = [
            np.log(np.bincount(side[i], minlength=cells) + 1.0) - np.log(len(side[i]) + cells)
            for side in learn
        ]
        ratios = np.asarray(logs[0] - logs[1], dtype=np.float64)
        weights.append(ratios * _kept(ratios, [side[i] for side in learn]))
    return weights


def _kept(ratios: Floats, learn: list[Ints]) -> float:
    """Return how much of a number's log ratios is more than chance (James and Stein, 1961)."""
    counts = sum(np.bincount(side, minlength=len(ratios)) / len(side) for side in learn)
    energy = float((counts / 2) @ ratios**2)
    chance = (np.count_nonzero(counts) - 1) * sum(1 / len(side) for side in learn)
    return max(0.0, 1.0 - chance / energy) if energy > 0 else 0.0


def _ramp(cells: int, others: int) -> Floats:
    """Return a basis in which the weights of ordered cells lie on a line, the others are free."""
    basis = np.zeros((cells + others, 1 + others))
    if cells > 1:
        basis[:cells, 0] = np.linspace(-1.0, 1.0, cells)
    basis[cells:, 1:] = np.eye(others)
    return basis


def _regression(learn: list[list[Ints]], sizes: list[int], bases: Sequence[Floats]) -> list[Floats]:
    """Return the cells' weights by ridge-penalised logistic regression, in the given bases."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    codes = np.concatenate(
        [np.stack([c + s for c, s in zip(side, starts, strict=False)], axis=1) for side in learn]
    )
    rows, columns = codes.shape
    design = sparse.csr_array(
        (np.ones(codes.size), codes.ravel(), np.arange(rows + 1) * columns),
        shape=(rows, int(starts[-1])),
    )
    basis: Any = sparse.block_diag(bases, format="csr")
    back = design.T.tocsr()
    labels = np.concatenate([np.ones(len(learn[0][0])), np.zeros(len(learn[1][0]))])

    def loss(w: Floats) -> tuple[float, Floats]:
        z = design @ (basis @ w)
        value = float(np.logaddexp(0.0, z).sum() - labels @ z + RIDGE / 2 * (w @ w))
        return value, basis.T @ (back @ (special.expit(z) - labels)) + RIDGE * w

    found = optimize.minimize(
        loss,
        np.zeros(basis.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": STEPS},
    )
    return np.split(np.asarray(basis @ found.x, dtype=np.float64), starts[1:-1])
