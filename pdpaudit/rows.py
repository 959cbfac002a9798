"""Outputs as rows of numbers: what is not a number becomes nan, short rows are filled up."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Rows", "array_rows", "as_rows", "fit_width", "flag_rows", "list_rows"]

#: Float64, or bool where all entries are.
Rows = npt.NDArray[Any]

#: What makes a value real, and what may stand beside it in a vector.
REAL = (float, np.floating)
NUMERIC = (float, int, np.number, np.bool_, type(None))


def array_rows(outputs: npt.NDArray[Any]) -> Rows | None:
    """Return an array of outputs as rows, or None where its entries are no real numbers.

    Parameters
    ----------
    outputs : ndarray, shape (size,) or (size, k)
        One output each row; whole numbers in one dimension are categories, not values.

    Examples
    --------
    >>> array_rows(np.array([0.5, 1.5])).shape, array_rows(np.array([1, 2])) is None
    ((2, 1), True)
    """
    if outputs.ndim not in (1, 2) or (outputs.ndim == 1 and outputs.dtype.kind != "f"):
        return None
    if outputs.dtype.kind not in "fiub":
        return None
    rows = outputs if outputs.ndim == 2 else outputs[:, None]
    return rows if rows.dtype.kind == "b" else rows.astype(np.float64, copy=False)


def as_rows(outputs: Sequence[Hashable]) -> Rows | None:
    """Return outputs as rows, or None where they are not vectors of real values.

    Real values are numbers, or tuples of numbers, truth values and None of which at least one is a
    ``float``: a tuple of whole numbers is a list of vertices, one of truth values a category.

    Parameters
    ----------
    outputs : sequence of hashable
        O(entries).

    Returns
    -------
    ndarray of float, shape (size, longest), or None

    Examples
    --------
    >>> as_rows([(0.5, None), (1.5, True, 2)])
    array([[0.5, nan, nan],
           [1.5, 1. , 2. ]])
    >>> as_rows([(1, 2), (3,)]) is None, as_rows([1.5, 2.5]).tolist()
    (True, [[1.5], [2.5]])
    """
    if not outputs:
        return None
    listed = [output if isinstance(output, tuple) else (output,) for output in outputs]
    kinds: set[type] = set()
    for entries in listed:  # the types of entries are few, and looked at once
        kinds.update(map(type, entries))
    if not any(issubclass(kind, REAL) for kind in kinds):
        return None
    if not all(issubclass(kind, NUMERIC) for kind in kinds):
        return None
    rows = np.full((len(listed), max(map(len, listed))), np.nan)
    for row, entries in zip(rows, listed, strict=True):
        row[: len(entries)] = [np.nan if entry is None else entry for entry in entries]
    return rows


def flag_rows(outputs: Sequence[Hashable]) -> npt.NDArray[np.float64] | None:
    """Return tuples of truth values and None as rows of 1, 0 and nan; None for anything else.

    Parameters
    ----------
    outputs : sequence of hashable
        Tuples of one length, at least 2.

    Returns
    -------
    ndarray of float, shape (size, length), or None

    Examples
    --------
    >>> flag_rows([(True, None), (False, True)])
    array([[ 1., nan],
           [ 0.,  1.]])
    >>> flag_rows([(1, 0)]) is None, flag_rows([(True, False), (True,)]) is None
    (True, True)
    """
    lengths = {len(output) if isinstance(output, tuple) else -1 for output in outputs}
    if len(lengths) != 1 or lengths.pop() < 2:
        return None
    meaning = {True: 1.0, False: 0.0, None: np.nan}
    kinds = (bool, type(None))
    if not all(type(entry) in kinds for output in outputs for entry in output):  # type: ignore[attr-defined]
        return None
    return np.array([[meaning[entry] for entry in output] for output in outputs])  # type: ignore[attr-defined]


def fit_width(rows: Rows, width: int) -> Rows:
    """Return rows of the given width: cut, or filled up with nan.

    Examples
    --------
    >>> fit_width(np.array([[1.0]]), 2)
    array([[ 1., nan]])
    """
    if rows.shape[1] == width:
        return rows
    if rows.shape[1] > width:
        return rows[:, :width]
    fitted = np.full((rows.shape[0], width), np.nan)
    fitted[:, : rows.shape[1]] = rows
    return fitted


def list_rows(outputs: Sequence[Hashable], vertices: Sequence[int]) -> npt.NDArray[np.float64]:
    """Return where each vertex stands in each list, nan where it does not, and the length last.

    Parameters
    ----------
    outputs : sequence of tuple
        Lists of vertices; anything else is a list without any.
    vertices : sequence of int
        The columns.

    Returns
    -------
    ndarray of float, shape (size, vertices + 1)
        O(size · (vertices + length)).

    Examples
    --------
    >>> list_rows([(5, 7), (7,), ()], [7, 5])
    array([[ 1.,  0.,  2.],
           [ 0., nan,  1.],
           [nan, nan,  0.]])
    """
    column = {vertex: place for place, vertex in enumerate(vertices)}
    rows = np.full((len(outputs), len(column) + 1), np.nan)
    for row, output in zip(rows, outputs, strict=True):
        entries = output if isinstance(output, tuple) else ()
        row[-1] = len(entries)
        for place, entry in enumerate(entries):
            found = column.get(entry)
            if found is not None:
                row[found] = place
    return rows
