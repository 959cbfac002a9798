"""From the rows of an edge list to ties: missing ends, repeated headers, weights, times."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from pdpaudit.core.errors import InputError
from pdpaudit.io.columns import EdgeOptions, choose_columns
from pdpaudit.io.matrices import read_matrix_table
from pdpaudit.io.source import Source, show
from pdpaudit.io.table import Table, read_table
from pdpaudit.io.ties import Dropped, Ties
from pdpaudit.io.values import is_missing, times_of, unify

__all__ = ["read_edge_list"]

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_edge_list(source: Source, options: EdgeOptions, ids: Collection[str] = ()) -> Ties:
    """Read an edge list; ``ids`` of a people table help to find the ends."""
    table = read_table(source, header=False)
    if options.source_column is None and options.weight_column is None:
        matrix = read_matrix_table(table)
        if matrix is not None:
            return replace(matrix, notes=(*source.notes, *matrix.notes))
    columns = choose_columns(table, options, ids)
    first_row = 1 if columns.header else 0
    if table.size == first_row:
        raise InputError(
            f"{source.path}: holds a header and no edges; a network needs at least one edge"
        )
    ends, values, rows = table.factorize([columns.source, columns.target], first_row)
    for code, name in enumerate(values):
        if "\n" in name or "\r" in name:
            raise InputError(
                f"{table.where(int(rows[code]))}: the quoted name {show(name, 40)} runs over "
                "several lines; close the quotes, or double a quote that is part of a name"
            )
    names, changed = unify(values)
    absent = np.array(
        [not options.keep_missing and len(name) < 5 and is_missing(name) for name in names]
    )
    if options.keep_missing and "" in names:
        raise InputError(
            f"{table.where(int(rows[names.index('')]))}: an end of the edge is empty; give both "
            "ends or remove the line"
        )
    missing = absent[ends].any(axis=1)
    header = np.zeros(len(ends), dtype=np.bool_)
    if columns.header and len(table.head) > max(columns.source, columns.target):
        pair = [table.head[columns.source], table.head[columns.target]]
        if all(name in values for name in pair):
            header = (ends == [values.index(name) for name in pair]).all(axis=1)
    inside = ~(missing | header)
    outside = 0
    if columns.time is not None and (options.since or options.until):
        window = _in_window(table, columns.time, first_row, options, inside)
        outside = int(np.count_nonzero(inside & ~window))
        inside &= window
    elif options.since or options.until:
        raise InputError("--from and --until need the column of times: name it with --time-column")
    weights = None
    if columns.weight is not None:
        weights = _weights(table, columns.weight, first_row, inside)
    # People of rows that are left out stay people, but not what a header or a gap is called.
    known = ends[~header].ravel()
    known = known[~absent[known]]
    people, distinct = pd.factorize(np.array(names, dtype=object))
    order = pd.unique(people[known])
    number = np.full(len(distinct), -1, dtype=np.int64)
    number[order] = np.arange(len(order))
    where = np.flatnonzero(inside) + first_row
    notes = [*source.notes, *table.notes, *columns.notes]
    if changed:
        notes.append(f"{source.path}: {changed:,} whole numbers written like 2.0 are read as 2")
    if missing.any():
        notes.append(
            f"{source.path}: rows without one or both ends (blank, NA, null, …) are dropped; "
            "--keep-missing takes such words for names"
        )
    return Ties(
        names=distinct[order].tolist(),
        ends=number[people[ends[inside]]],
        weights=weights,
        where=lambda row: table.where(int(where[row])),
        dropped=Dropped(
            blank_rows=table.blank_rows,
            missing_ends=int(missing.sum()),
            repeated_headers=int(header.sum()),
            outside_window=outside,
        ),
        notes=tuple(notes),
    )


def _in_window(
    table: Table, column: int, first_row: int, options: EdgeOptions, inside: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return which rows lie between ``--from`` and ``--until``, both included."""
    codes, values, _ = table.factorize([column], first_row)
    used = sorted(set(codes[inside, 0].tolist()))
    place = f"{table.source.path}, column {column + 1}"
    times = np.full(len(values), np.nan)
    times[used] = times_of([values[code] for code in used], place)
    row_times = times[codes[:, 0]]
    window: npt.NDArray[np.bool_] = ~np.isnan(row_times)
    if options.since:
        window &= row_times >= times_of([options.since], "--from")[0]
    if options.until:
        end = times_of([options.until], "--until")[0]
        if _DAY.fullmatch(options.until):
            end += 86_399.999_999  # a day ends with its last second
        window &= row_times <= end
    return window


def _weights(
    table: Table, column: int, first_row: int, inside: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    codes, values, _ = table.factorize([column], first_row)
    numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").to_numpy(float)
    weights: npt.NDArray[np.float64] = numbers[codes[inside, 0]]
    if np.isnan(weights).any():
        row = int(np.flatnonzero(inside)[np.isnan(weights)][0])
        raise InputError(
            f"{table.where(row + first_row)}: weight {show(values[codes[row, 0]])} is not a "
            "number; correct it (decimals take a point), or name another column with "
            "--weight-column"
        )
    return weights
