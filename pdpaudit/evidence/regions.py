"""Events on vectors of real values: a range of something computed from them, or of a score.

A list of vertices is read as a vector too: where each of some vertices stands in it, and how long
it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from pdpaudit.rows import Rows, as_rows, fit_width, flag_rows, list_rows

__all__ = ["VIEWS", "Range", "Region", "Score", "Term", "View", "region_from_json"]

Floats = npt.NDArray[np.float64]
Side = Literal["left", "right"]

#: What may be computed from a row, and its words; {at} is which entry, or the level.
VIEWS = {
    "entry": "entry {at}",
    "step": "entry {at} less the one before",
    "sum": "the sum of the values",
    "least": "the smallest value",
    "greatest": "the largest value",
    "zeros": "the number of entries that are exactly 0",
    "stopped": "the number of entries that are not a number",
    "above": "the number of values above {at}",
    "pattern": "which entries are values, 0, or not a number",
}

#: Up to so many edges each is compared with.
FEW_EDGES = 32

#: Beyond so many entries patterns are not told apart; base 3 in the digits of a float64.
MOST_PATTERN = 33


@dataclass(frozen=True)
class View:
    """One number computed from a row.

    Attributes
    ----------
    kind : str
        A key of :data:`VIEWS`. A value is an entry that is a number and not exactly 0, which
        stands for "below" in mechanisms that mix answers and values.
    at : float
        Which entry, counted from 0, or the level; 0 where there is nothing to say.

    Examples
    --------
    >>> rows = np.array([[3.0, 0.0, np.nan], [1.0, 2.0, 5.0]])
    >>> View("sum").of(rows), View("above", 1.5).of(rows), View("step", 1).of(rows)
    (array([3., 8.]), array([1., 2.]), array([-3.,  1.]))
    """

    kind: str
    at: float = 0.0

    def of(self, rows: Rows) -> Floats:
        """Return the number for each row, shape ``(size,)``; nan where there is none."""
        if self.kind == "entry":
            return rows[:, int(self.at)].astype(np.float64)
        if self.kind == "step":
            place = int(self.at)
            return rows[:, place].astype(np.float64) - rows[:, place - 1]
        if self.kind == "zeros":
            return np.asarray((rows == 0).sum(axis=1), dtype=np.float64)
        if self.kind == "stopped":
            return np.asarray(np.isnan(rows).sum(axis=1), dtype=np.float64)
        values = ~((rows == 0) | np.isnan(rows))
        if self.kind == "pattern":
            digits = values[:, :MOST_PATTERN] + 2 * np.isnan(rows[:, :MOST_PATTERN])
            powers: Floats = 3.0 ** np.arange(digits.shape[1])
            return np.asarray(digits @ powers, dtype=np.float64)
        if self.kind == "sum":
            return np.asarray(np.where(values, rows, 0.0).sum(axis=1))
        if self.kind == "above":
            return np.asarray((values & (rows > self.at)).sum(axis=1), dtype=np.float64)
        worst = math.inf if self.kind == "least" else -math.inf
        filled = np.where(values, rows, worst)
        extreme = filled.min(axis=1) if self.kind == "least" else filled.max(axis=1)
        return np.where(np.isinf(extreme) & ~values.any(axis=1), np.nan, extreme)

    def words(self) -> str:
        """Say what it is; entries are counted from 1.

        Examples
        --------
        >>> View("entry", 2).words(), View("above", 0.5).words()
        ('entry 3', 'the number of values above 0.5')
        """
        place = self.kind in ("entry", "step")
        return VIEWS[self.kind].format(at=int(self.at) + 1 if place else f"{self.at:.6g}")


@dataclass(frozen=True)
class Region:
    """An event on rows; the two kinds below say which rows belong.

    Attributes
    ----------
    side : {"left", "right"}
        The input on which the event is more likely.
    width : int
        Entries that a row is cut or filled up to.
    vertices : tuple of int, optional
        Outputs are lists of vertices, read as where each of these stands; the length is the last
        entry.
    """

    side: Side
    width: int
    vertices: tuple[int, ...] | None

    def inside(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return which rows belong to the event, shape ``(size,)``."""
        raise NotImplementedError

    def __contains__(self, output: Hashable) -> bool:
        """Return whether one output belongs to the event."""
        rows = self.read([output])
        return rows is not None and bool(self.inside(rows)[0])

    def count(self, draws: Any) -> int:
        """Return how many outputs of draws, with ``counts`` and ``rows``, belong to the event."""
        total = 0
        if len(draws.rows) and self.vertices is None:
            total += int(self.inside(fit_width(draws.rows, self.width)).sum())
        outputs = list(draws.counts)
        if not outputs:
            return total
        rows = self.read(outputs)
        if rows is not None:
            times = np.fromiter(draws.counts.values(), dtype=np.int64, count=len(outputs))
            return total + int(times[self.inside(rows)].sum())
        return total + sum(int(times) for o, times in draws.counts.items() if o in self)

    def read(self, outputs: list[Hashable]) -> Rows | None:
        """Read outputs as rows; None where one of them cannot be."""
        if self.vertices is not None:
            lists = all(isinstance(output, tuple) for output in outputs)
            return list_rows(outputs, self.vertices) if lists else None
        rows = flag_rows(outputs)
        rows = as_rows(outputs) if rows is None else rows
        return None if rows is None else fit_width(rows, self.width)

    def _column_words(self, view: View, name: Callable[[int], str]) -> str:
        if self.vertices is None or view.kind != "entry":
            return view.words()
        if int(view.at) == len(self.vertices):
            return "the length of the list"
        return f"the place of {name(self.vertices[int(view.at)])} in the list"


@dataclass(frozen=True)
class Range(Region):
    """Rows of which one number lies in a range, ends included.

    Examples
    --------
    >>> event = Range("left", 1, None, View("entry"), 0.5, math.inf)
    >>> event.inside(np.array([[0.5], [0.4], [np.nan]])), 0.7 in event
    (array([ True, False, False]), True)
    >>> event.words()
    'entry 1 is at least 0.5'
    """

    view: View
    low: float
    high: float

    feature: ClassVar[str] = "range"

    def inside(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return which rows belong to the event."""
        number = self.view.of(rows)
        return (number >= self.low) & (number <= self.high)

    def words(self, name: Callable[[int], str] = str) -> str:
        """Say when an output belongs to the event; ``name`` is what a vertex is called."""
        column = self._column_words(self.view, name)
        if self.low == self.high:
            return f"{column} is {self.low:.6g}"
        ends = [f"at least {self.low:.6g}"] if self.low > -math.inf else []
        ends += [f"at most {self.high:.6g}"] if self.high < math.inf else []
        return f"{column} is {' and '.join(ends) or 'a number'}"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; an open end is null."""
        return {
            **_common(self),
            "view": [self.view.kind, self.view.at],
            "low": None if math.isinf(self.low) else self.low,
            "high": None if math.isinf(self.high) else self.high,
        }


@dataclass(frozen=True)
class Term:
    """What one number of a row adds to its score.

    Attributes
    ----------
    view : View
        The number.
    edges : tuple of float
        Increasing; a number at an edge belongs to the cell above it.
    weights : tuple of float
        One for each cell, one more than the edges.
    atoms : tuple of (float, float)
        Numbers with a weight of their own.
    missing : float
        The weight where there is no number.

    Examples
    --------
    >>> term = Term(View("entry"), (0.5,), (-1.0, 1.0), ((3.0, 7.0),), 0.25)
    >>> term.of(np.array([[0.0], [0.5], [3.0], [np.nan]]))
    array([-1.  ,  1.  ,  7.  ,  0.25])
    """

    view: View
    edges: tuple[float, ...]
    weights: tuple[float, ...]
    atoms: tuple[tuple[float, float], ...] = ()
    missing: float = 0.0

    def of(self, rows: Rows) -> Floats:
        """Return what each row is given, shape ``(size,)``."""
        cells = cells_of(self.view.of(rows), self.edges, tuple(value for value, _ in self.atoms))
        table = np.array([*self.weights, *(weight for _, weight in self.atoms), self.missing])
        return table[cells]


def cells_of(
    numbers: Floats, edges: tuple[float, ...], atoms: tuple[float, ...]
) -> npt.NDArray[np.intp]:
    """Return the cell of each number: between edges, then the atoms, then nan; O(log) each.

    Parameters
    ----------
    numbers : ndarray of float, shape (size,)
    edges, atoms : tuple of float
        Increasing.

    Returns
    -------
    ndarray of int, shape (size,)
        Of ``len(edges) + 1 + len(atoms) + 1`` cells.

    Examples
    --------
    >>> cells_of(np.array([0.0, 1.0, 2.0, np.nan]), (1.0,), (2.0,)).tolist()
    [0, 1, 2, 3]
    """
    if len(edges) <= FEW_EDGES:
        # Numbers come in no order, and then comparing with a few is quicker than searching.
        cells = np.zeros(len(numbers), dtype=np.intp)
        for edge in edges:
            cells += numbers >= edge
    else:
        cells = np.searchsorted(np.array(edges), numbers, side="right")
    if atoms:
        known = np.array(atoms)
        place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
        cells = np.where(known[place] == numbers, len(edges) + 1 + place, cells)
    return np.where(np.isnan(numbers), len(edges) + 1 + len(atoms), cells)


@dataclass(frozen=True)
class Score(Region):
    """Rows whose score, the sum of their terms, reaches a threshold.

    Examples
    --------
    >>> terms = (Term(View("entry"), (0.5,), (-1.0, 1.0)), Term(View("entry", 1), (), (0.0,)))
    >>> event = Score("left", 2, None, terms, 1.0)
    >>> event.inside(np.array([[0.7, 0.1], [0.2, 0.1]]))
    array([ True, False])
    >>> event.words()
    'a score of entry 1 and entry 2 is at least 1'
    """

    terms: tuple[Term, ...]
    threshold: float

    feature: ClassVar[str] = "score"

    def inside(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return which rows belong to the event."""
        return self.scores(rows) >= self.threshold

    def scores(self, rows: Rows) -> Floats:
        """Return the score of each row, shape ``(size,)``."""
        total = np.zeros(len(rows))
        for term in self.terms:
            total += term.of(rows)
        return total

    def words(self, name: Callable[[int], str] = str) -> str:
        """Say when an output belongs to the event; ``name`` is what a vertex is called."""
        names = list(dict.fromkeys(self._column_words(term.view, name) for term in self.terms))
        if len(names) > 4:
            names = [*names[:3], f"{len(names) - 3} more features"]
        told = ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
        return f"a score of {told} is at least {self.threshold:.6g}"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, with all that is needed to score again."""
        terms = [
            {
                "view": [term.view.kind, term.view.at],
                "edges": list(term.edges),
                "weights": list(term.weights),
                "atoms": [list(atom) for atom in term.atoms],
                "missing": term.missing,
            }
            for term in self.terms
        ]
        return {**_common(self), "terms": terms, "threshold": self.threshold}


def region_from_json(body: Mapping[str, Any]) -> Range | Score:
    """Return the event of a JSON form.

    Raises
    ------
    KeyError
        If it is of another kind, or something is missing.

    Examples
    --------
    >>> event = Range("left", 1, None, View("entry"), 0.5, math.inf)
    >>> region_from_json(event.to_json()) == event
    True
    """
    vertices = body["vertices"]
    side, width = body["side"], int(body["width"])
    known = None if vertices is None else tuple(int(v) for v in vertices)
    if body["feature"] == "range":
        low, high = body["low"], body["high"]
        return Range(
            side,
            width,
            known,
            _view(body["view"]),
            -math.inf if low is None else float(low),
            math.inf if high is None else float(high),
        )
    if body["feature"] != "score":
        raise KeyError(str(body["feature"]))
    terms = tuple(
        Term(
            _view(term["view"]),
            tuple(map(float, term["edges"])),
            tuple(map(float, term["weights"])),
            tuple((float(value), float(weight)) for value, weight in term["atoms"]),
            float(term["missing"]),
        )
        for term in body["terms"]
    )
    return Score(side, width, known, terms, float(body["threshold"]))


def _view(body: list[Any]) -> View:
    kind, at = body
    if kind not in VIEWS:
        raise KeyError(str(kind))
    return View(str(kind), float(at))


def _common(event: Range | Score) -> dict[str, Any]:
    return {
        "feature": event.feature,
        "side": event.side,
        "width": event.width,
        "vertices": None if event.vertices is None else list(event.vertices),
    }
