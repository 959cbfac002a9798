"""From the rows of an edge list or a matrix to pairs of people, with what is left out counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.network import distinct
from pdpaudit.io.columns import EdgeOptions, Ends, choose_columns, is_number
from pdpaudit.io.source import NOBODY, Source, folded, gaps, is_missing, named_ends, show, unify
from pdpaudit.io.table import Table, read_table

_MOST_ROWS = 20_000


#: What is said in the singular of one row that is left out.
_PLURAL = re.compile(r"\b(self-loop|duplicate|row|header)s\b")


def dropped_words(dropped: Mapping[str, int]) -> str:
    """Return the counts that are not zero, in words."""
    one = {what: _PLURAL.sub(r"\1", what) for what in dropped}
    counted = [f"{n:,} {one[what] if n == 1 else what}" for what, n in dropped.items() if n]
    return ", ".join(counted) or "nothing"


@dataclass(frozen=True, eq=False)
class Ties:
    """The rows of an edge list or graph file, as they came; vertices in order of appearance."""

    names: list[str]
    ends: npt.NDArray[np.int64]  # (rows, 2)
    weights: npt.NDArray[np.float64] | None
    where: Callable[[int], str]  # the place of a row in the file, to begin an error with
    dropped: Mapping[str, int] = field(default_factory=dict)  # how many rows, by why
    attributes: Mapping[str, Sequence[object]] = field(default_factory=dict)  # None where silent
    notes: tuple[str, ...] = ()
    ids: list[str] | None = None  # what a graph file calls the vertices beside their labels


def collapse(
    ties: Ties, min_weight: float | None, *, count_contacts: bool = False
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], dict[str, int]]:
    """Return the ends of each pair of tied vertices once, ``low < high``, sorted; O(m log m).

    Rows of weight 0 say that there is no tie; rows of the same two people are one tie, as heavy as
    the heaviest of them, for a tie listed from both sides must not count double; with
    ``count_contacts`` it weighs as much as it has rows. People of dropped rows remain.
    """
    if min_weight is not None and not np.isfinite(min_weight):
        raise ParameterError("min_weight", min_weight, "not a finite number; give the least weight")
    if min_weight is not None and ties.weights is None and not count_contacts:
        raise InputError(
            "`min_weight`: the file has no weight column known as such; name it with "
            "`weight_column`, count rows with `count_contacts`, or leave `min_weight` out"
        )
    n, ends, weights = len(ties.names), ties.ends, ties.weights
    if weights is not None:
        _check(ties, weights)
        ends, weights = ends[weights > 0], weights[weights > 0]
    low, high = np.minimum(ends[:, 0], ends[:, 1]), np.maximum(ends[:, 0], ends[:, 1])
    apart = low != high
    key, weights = (low * n + high)[apart], weights if weights is None else weights[apart]
    light = 0
    if min_weight is None:
        pairs = distinct(key)
    else:
        rows = pd.Series(key if weights is None else weights).groupby(key)
        heaviest = rows.size() if count_contacts else rows.max()
        pairs = heaviest.index[heaviest >= min_weight].to_numpy()
        light = len(heaviest) - len(pairs)
    dropped = {
        "self-loops": len(ends) - len(key),
        "duplicates": len(key) - len(pairs) - light,
        "below min weight": light,
        "zero-weight": len(ties.ends) - len(ends),
        **ties.dropped,
    }
    low, high = np.divmod(pairs, max(n, 1))
    return low, high, dropped


def _check(ties: Ties, weights: npt.NDArray[np.float64]) -> None:
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{ties.where(row)}: weight {weights[row]:g}; weights are finite and not negative: "
            "correct it, or name another column with `weight_column`"
        )


Row = tuple[int | None, str, str, object]  # line, both ends, weight

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_WORD = re.compile(rf"^(?!{_INTEGER.pattern}$).*$", re.ASCII | re.MULTILINE)
#: Names of a file of whole numbers, and how many words among them are taken for slips.
MANY, ODD = 100, 3
_DATE = re.compile(r"\d{4}-\d{2}")
_EPOCH_2000 = 946_684_800  # seconds since 1970, as a column of times may count them
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


#: What is said of rows that name one person or nobody.
DROPPED_ENDS = (
    "rows without one or both ends (blank, NA, unknown, …) are dropped; `keep_missing` takes such "
    "words for names"
)


def read_edge_list(source: Source, options: EdgeOptions, ids: Collection[str] = ()) -> Ties:
    """Read an edge list; ``ids`` of a people table help to find the ends."""
    table = read_table(source, header=False)
    if options.get("source_column") is None and options.get("weight_column") is None:
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
    _refuse_open_quotes(table, values, rows)
    names, unified = unify(values, str(source.path))
    absent = np.array(gaps(names, () if options.get("keep_missing") else NOBODY))
    if options.get("keep_missing") and "" in names:
        raise InputError(
            f"{table.where(int(rows[names.index('')]))}: an end of the edge is empty; give both "
            "ends or remove the line"
        )
    missing = absent[ends].any(axis=1)
    header = _repeated_headers(table, columns, ends, values)
    if names[0] not in ids:
        _refuse_second_header(table, columns, ends, names)
    inside = ~(missing | header)
    outside = 0
    if options.get("since") or options.get("until"):
        window = _in_window(table, columns.time, first_row, options, inside)
        outside = int(np.count_nonzero(inside & ~window))
        inside &= window
    kept = np.flatnonzero(inside) + first_row

    def where(row: int) -> str:
        return table.where(int(kept[row]))

    weights = None
    if columns.weight is not None:
        weights = _weights(table, columns.weight, first_row, inside, where)
    if unified or absent.any() or header.any() or not inside.all():
        # People of rows that are left out stay people, but not what a header or a gap is called.
        known = ends[~header].ravel()
        known = known[~absent[known]]
        people, distinct = pd.factorize(np.array(names, dtype=object))
        order = pd.unique(people[known])
        number = np.full(len(distinct), -1, dtype=np.int64)
        number[order] = np.arange(len(order))
        names, ends = distinct[order].tolist(), number[people[ends[inside]]]
    notes = [*source.notes, *table.notes, *columns.notes, *unified]
    notes += [f"{source.path}: {DROPPED_ENDS}"] if missing.any() else []
    dropped = {
        "blank rows": table.blank_rows,
        "rows with a missing end": int(missing.sum()),
        "repeated headers": int(header.sum()),
        "outside the time window": outside,
    }
    notes += _doubts(str(source.path), names, ends, where)
    return Ties(names, ends, weights, where, dropped, notes=tuple(notes))


def _weights(
    table: Table,
    column: int,
    first_row: int,
    inside: npt.NDArray[np.bool_],
    where: Callable[[int], str],
) -> npt.NDArray[np.float64]:
    """Return the weights of the rows that count."""
    numbers = table.floats(column) if first_row else None
    if numbers is not None:
        return numbers[inside]
    codes, given, _ = table.factorize([column], first_row)
    return numbers_of(given, where, codes[inside, 0])


def _doubts(
    place: str, names: Sequence[str], ends: npt.NDArray[np.int64], where: Callable[[int], str]
) -> list[str]:
    """Say what may be two names of one person, and columns that may be of two kinds."""
    said, forms = [], folded(names)

    def doubt(what: str, number: int, count: int) -> None:
        # The place and not the name, for it may be a person's.
        rows = np.flatnonzero((ends == number).any(axis=1))
        more = f" ({count - 1:,} more like it)" if count > 1 else ""
        said.append(
            f"{where(int(rows[0])) if len(rows) else place}: a name is {what}{more}, and is read "
            "as another person; write them alike if they are one"
        )

    if len(set(forms)) < len(names):
        spelled = dict(zip(forms, names, strict=True))
        pairs = zip(names, map(spelled.__getitem__, forms), strict=True)
        apart = [pair for pair in pairs if pair[0] != pair[1]]
        what = "that of another but for case, blanks or leading zeros"
        doubt(what, names.index(apart[0][0]), len(apart))
    text = "\n".join(names)
    odd = [] if text.replace("\n", "").isdigit() else list(islice(_WORD.finditer(text), ODD + 1))
    if 0 < len(odd) <= ODD and len(names) >= MANY:
        at = text.count("\n", 0, odd[0].start())
        doubt("no whole number, as the others are", at, len(odd))
    first = np.zeros(len(names), dtype=np.bool_)
    first[ends[:, 0]] = True
    if len(ends) > 2 and not first[ends[:, 1]].any():
        said.append(
            f"{place}: no name is in both columns of ends; if one of them holds places or events, "
            "these are read as people"
        )
    return said


def _refuse_open_quotes(table: Table, values: Sequence[str], rows: npt.NDArray[np.int64]) -> None:
    if not table.quoted:
        return
    for code, name in enumerate(values):
        if "\n" in name or "\r" in name:
            raise InputError(
                f"{table.where(int(rows[code]))}: the quoted name {show(name, 40)} runs over "
                "several lines; close the quotes, or double a quote that is part of a name"
            )


def _repeated_headers(
    table: Table, columns: Ends, ends: npt.NDArray[np.int64], values: Sequence[str]
) -> npt.NDArray[np.bool_]:
    """Return which rows are the header once more."""
    if columns.header and len(table.head) > max(columns.source, columns.target):
        lengths = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
        alike = []
        for name in (table.head[end].lower() for end in (columns.source, columns.target)):
            close = np.flatnonzero(lengths == len(name)).tolist()
            same = [code for code in close if values[code].lower() == name]
            alike.append(np.isin(np.arange(len(values)), same))
        return np.asarray(alike[0][ends[:, 0]] & alike[1][ends[:, 1]])
    return np.zeros(len(ends), dtype=np.bool_)


def _refuse_second_header(
    table: Table, columns: Ends, ends: npt.NDArray[np.int64], names: Sequence[str]
) -> None:
    """Refuse words below the header where all other ends are whole numbers: they describe it."""
    if not columns.header or len(ends) < 3:
        return
    most = 4  # words in two rows
    first = next((i for i, name in enumerate(names[: most + 1]) if _INTEGER.fullmatch(name)), 0)
    if first > 1 and all(map(_INTEGER.fullmatch, names[first:])):
        rows = int((ends < first).all(axis=1).sum())
        if rows <= 2 and (ends[:rows] < first).all() and (ends[rows:] >= first).all():
            raise InputError(
                f"{table.where(1)}: words below the header where the other lines have whole "
                "numbers; remove the line if it describes the columns, or put it last if not"
            )


def _times(values: Sequence[str], place: str) -> npt.NDArray[np.float64]:
    """Return times as numbers: as they are, or dates as seconds; missing ones as NaN."""
    texts = pd.Series([None if is_missing(value) else value for value in values], dtype=object)
    numbers: npt.NDArray[np.float64] = pd.to_numeric(texts, errors="coerce").to_numpy(np.float64)
    given = texts.notna().to_numpy()
    if not np.isnan(numbers[given]).any():
        return numbers
    dates = pd.to_datetime(texts, errors="coerce", format="ISO8601", utc=True)
    wrong = given & dates.isna().to_numpy()
    if wrong.any():
        raise InputError(
            f"{place}: {values[int(np.flatnonzero(wrong)[0])]!r} is neither a number nor a date "
            "like 2020-03-01; correct it, or name another column with `time_column`"
        )
    seconds = (dates - pd.Timestamp("1970-01-01", tz="UTC")) / pd.Timedelta(seconds=1)
    return np.asarray(seconds.to_numpy(np.float64))


def _in_window(
    table: Table,
    column: int | None,
    first_row: int,
    options: EdgeOptions,
    inside: npt.NDArray[np.bool_],
) -> npt.NDArray[np.bool_]:
    """Return which rows lie between the times of a window, both included."""
    if column is None:
        raise InputError("`since` and `until` need the column of times: name it with `time_column`")
    codes, values, _ = table.factorize([column], first_row)
    used = sorted(set(codes[inside, 0].tolist()))
    place = f"{table.source.path}, column {column + 1}"
    times = np.full(len(values), np.nan)
    times[used] = _times([values[code] for code in used], place)
    since, until = options.get("since"), options.get("until")
    dates = any(_DATE.match(values[code]) for code in used)
    dated = {bool(_DATE.match(limit)) for limit in (since, until) if limit}
    if dated - {dates, dates or bool((times[used] > _EPOCH_2000).any())}:
        raise InputError(
            f"{place}: times are {'dates' if dates else 'numbers'}, and the window is not; give "
            "`since` and `until` in the same form"
        )
    begin = _times([since], "`since`")[0] if since else -np.inf
    end = _times([until], "`until`")[0] if until else np.inf
    if until and _DAY.fullmatch(until):
        end += 86_399.999_999  # a day ends with its last second
    row_times = times[codes[:, 0]]
    return np.asarray((row_times >= begin) & (row_times <= end))


def numbers_of(
    values: Sequence[object],
    where: Callable[[int], str],
    codes: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.float64]:
    """Return weights as numbers: the values, or where there are ``codes`` the value of each."""
    codes = np.arange(len(values)) if codes is None else codes
    given = pd.Series(np.array(values, dtype=object))
    numbers: npt.NDArray[np.float64] = pd.to_numeric(given, errors="coerce").to_numpy(float)[codes]
    for row in np.flatnonzero(np.isnan(numbers))[:1].tolist():
        weight = str(values[codes[row]])
        wrong = f"weight {show(weight)} is not a number; correct it (decimals take a point)"
        wrong = "the weight is missing; fill it in" if is_missing(weight) else wrong
        raise InputError(f"{where(row)}: {wrong}, or name another column with `weight_column`")
    return numbers


def listed_ties(
    path: Path,
    rows: Sequence[Row],
    names: Sequence[str] = (),
    attributes: Mapping[str, Sequence[object]] | None = None,
) -> Ties:
    """Return ties from rows of names; people listed in ``names`` come first."""

    def where(row: int) -> str:
        line, one, other, _ = rows[row]
        edge = f"edge {show(one, 30)} - {show(other, 30)}"
        return f"{path}, {edge if line is None else f'line {line}'}"

    index = {name: i for i, name in enumerate(names)}
    ends = [[index.setdefault(name, len(index)) for name in row[1:3]] for row in rows]
    weights = None
    if any(row[3] is not None for row in rows):
        weights = numbers_of([1 if row[3] is None else row[3] for row in rows], where)
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return Ties(list(index), pairs, weights, where, attributes=attributes or {})


def matrix_ties(
    place: Callable[[int], str], names: Sequence[str], matrix: npt.NDArray[np.float64]
) -> Ties:
    """Return the ties of a square matrix; one that is symmetric says each of them once."""
    symmetric = bool((matrix == matrix.T).all())
    one, other = np.nonzero(np.triu(matrix) if symmetric else matrix)
    ends = np.stack([one, other], axis=1).astype(np.int64)
    return Ties(list(names), ends, matrix[one, other], lambda row: place(int(one[row])))


def read_matrix_table(table: Table) -> Ties | None:
    """Return the ties of a table that is an adjacency matrix, ``None`` of any other."""
    if table.width < 3 or table.size > _MOST_ROWS or named_ends(table.head):
        return None
    rows, head, n = table.rows(), list(table.head), table.width
    first = [row[0] for row in rows]
    columns = head[1:] if len(head) == n and not is_number(head[0]) else head
    if table.size == n and len({*first}) == len(first) and sorted(columns) == sorted(first):
        order = [1 + columns.index(name) for name in first]
        names, body, start = first, [[row[i] for i in order] for row in rows], 1
    elif table.size == n and len(head) == n:
        names, body, start = [str(i) for i in range(1, n + 1)], [head, *rows], 0
    elif table.size == n + 1 and len(head) == n == len(set(head)):
        names, body, start = head, rows, 1
    else:
        return None
    try:
        filled = [["0" if is_missing(field) else field for field in row] for row in body]
        matrix = np.array(filled, dtype=np.float64)
    except ValueError:
        return None
    plain = bool((matrix == matrix.T).all()) and not matrix.diagonal().any()
    if start == 0 and n == 3 and plain:
        raise InputError(
            f"{table.source.path}: three edges with weights or the matrix of three people; give "
            "edges a header, or the matrix names"
        )
    # Rows without names may be ties with an index and a weight; a matrix has an empty diagonal.
    unlike = matrix.diagonal().any() or (n == 3 and not plain)
    if (names != first and unlike) or len(matrix) != len(matrix.T):
        return None
    said = f"{table.source.path} read as an adjacency matrix of {len(matrix)} people"
    ties = matrix_ties(lambda row: table.where(row + start), names, matrix)
    return replace(ties, notes=(*table.notes, said))
