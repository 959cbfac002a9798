"""Edge lists: which columns are the ends, which is the weight, and is the first line a header."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from pdpaudit.core.errors import InputError
from pdpaudit.io.source import Source, show
from pdpaudit.io.table import Table, read_table
from pdpaudit.io.ties import Ties

__all__ = ["find_column", "read_edge_list"]

_ENDS = [
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("src", "dest"),
    ("source", "destination"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("ego", "alter"),
    *((f"{what}1", f"{what}2") for what in ("node", "vertex", "id", "person", "name", "actor")),
    *((f"{what}1", f"{what}2") for what in ("author", "user", "member", "individual", "v", "n")),
]
_WEIGHTS = ("weight", "weights", "w", "count", "value", "strength", "frequency", "n")
_SUFFIX = re.compile(r"(?<=.)(nodeid|vertexid|node|vertex|id|name|label)$")
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
NAMES_COLUMNS = "it names the columns"
_ENDS_HELP = "say which two columns are the ends with --source-column and --target-column"


@dataclass(frozen=True)
class _Columns:
    source: int
    target: int
    weight: int | None
    header: bool
    notes: tuple[str, ...] = ()


def read_edge_list(
    source: Source,
    *,
    source_column: str | None = None,
    target_column: str | None = None,
    weight_column: str | None = None,
) -> Ties:
    """Read an edge list.

    Parameters
    ----------
    source : Source
        The file.
    source_column, target_column : str, optional
        Names of the columns that hold the two ends, or their numbers counted from 1.
    weight_column : str, optional
        Name or number of the column that holds the weight.

    Returns
    -------
    Ties
        Vertices in order of appearance, first end before second. O(bytes).

    Raises
    ------
    InputError
        If the columns cannot be told, an end is missing or a weight is not a number.
    """
    table = read_table(source, header=False)
    columns = _choose(table, source_column, target_column, weight_column)
    first_row = 1 if columns.header else 0
    if table.size == first_row:
        raise InputError(
            f"{source.path}: holds a header and no edges; a network needs at least one edge"
        )
    ends, names, rows = table.factorize([columns.source, columns.target], first_row)
    _check_names(table, names, rows)
    weights = None
    if columns.weight is not None:
        weights = _weights(table, columns.weight, first_row)
    return Ties(
        names=names,
        ends=ends,
        weights=weights,
        where=lambda row: table.where(row + first_row),
        blank_rows=table.blank_rows,
        notes=(*source.notes, *table.notes, *columns.notes),
    )


def _check_names(table: Table, names: list[str], rows: npt.NDArray[np.int64]) -> None:
    if "" in names:
        raise InputError(
            f"{table.where(int(rows[names.index('')]))}: an end of the edge is empty; give both "
            "ends or remove the line"
        )
    for code, name in enumerate(names):
        if "\n" in name or "\r" in name:
            raise InputError(
                f"{table.where(int(rows[code]))}: the quoted name {show(name, 40)} runs over "
                "several lines; close the quotes, or double a quote that is part of a name"
            )


def _weights(table: Table, column: int, first_row: int) -> npt.NDArray[np.float64]:
    codes, values, rows = table.factorize([column], first_row)
    numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").to_numpy(np.float64)
    for code in np.flatnonzero(np.isnan(numbers)).tolist():
        raise InputError(
            f"{table.where(int(rows[code]))}: weight {show(values[code])} is not a number; "
            "correct it (decimals take a point), or name another column with --weight-column"
        )
    weights: npt.NDArray[np.float64] = numbers[codes[:, 0]]
    return weights


def _choose(
    table: Table, source_column: str | None, target_column: str | None, weight_column: str | None
) -> _Columns:
    if (source_column is None) != (target_column is None):
        raise InputError("--source-column and --target-column go together: name both or neither")
    head, shift, notes = _head(table, source_column)
    if source_column is not None and target_column is not None:
        ends = tuple(
            find_column(table, name, option, head, shift)
            for name, option in (
                (source_column, "--source-column"),
                (target_column, "--target-column"),
            )
        )
        if ends[0] == ends[1]:
            raise InputError(
                f"--source-column and --target-column are both {source_column!r}; name two columns"
            )
        named = source_column in head or _normal(source_column) in map(_normal, head)
        reason = NAMES_COLUMNS if named else _header_reason(table, ends[0], ends[1])
    else:
        known = _known_ends(head)
        if known is None:
            known = _first_two(table)
            reason = _header_reason(table, *known)
        else:
            known = (known[0] + shift, known[1] + shift)
            reason = NAMES_COLUMNS
        ends = known
    header = reason is not None
    weight, told = _weight(table, weight_column, ends, head, shift, named=header)
    notes = [*notes, *told]
    if reason is not None:
        # Only what names columns is quoted: any other line may name people.
        quoted = f" {table.head_text}" if reason == NAMES_COLUMNS else ""
        notes.insert(0, f"first line{quoted} taken as a header because {reason}")
    elif not all(_INTEGER.fullmatch(table.head[end]) for end in ends):
        notes.insert(
            0,
            f"no header recognised: first line read as an edge (if it is a header, {_ENDS_HELP})",
        )
    return _Columns(ends[0], ends[1], weight, header, tuple(notes))


def _head(table: Table, source_column: str | None) -> tuple[list[str], int, list[str]]:
    """Return the names on the first line, and by how much they stand left of their columns."""
    head = list(table.head)
    known = _known_ends(head) is not None or (source_column is not None and source_column in head)
    if known and len(head) == table.width - 1:
        return head, 1, [f"{table.head_text}: one name fewer than columns, so the first is skipped"]
    return head, 0, []


def _normal(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


def _known_ends(head: Sequence[str]) -> tuple[int, int] | None:
    names = [_normal(name) for name in head]
    stems = [_SUFFIX.sub("", name) for name in names]
    for form in (names, stems):
        for one, other in _ENDS:
            if form.count(one) == form.count(other) == 1:
                return form.index(one), form.index(other)
    return None


def find_column(table: Table, name: str, option: str, head: Sequence[str], shift: int = 0) -> int:
    """Return the index of a column given by its name, or by its number counted from 1.

    Raises
    ------
    InputError
        If there is no such column; the columns are listed.
    """
    for form in (str, _normal):
        wanted = form(name)
        found = [i for i, other in enumerate(head) if form(other) == wanted]
        if len(found) == 1 and found[0] + shift < table.width:
            return found[0] + shift
        if len(found) > 1:
            raise InputError(
                f"{table.source.path}: {len(found)} columns are called {name!r}; give the number "
                f"of the column after {option}"
            )
    if name.isascii() and name.isdigit() and 1 <= int(name) <= table.width:
        return int(name) - 1
    near = difflib.get_close_matches(name, head, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(
        f"{table.source.path}: no column {name!r} ({option}); {hint}the columns are {_listed(head)}"
    )


def _listed(names: Sequence[str], limit: int = 12) -> str:
    shown = ", ".join(show(name, 30) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown}, and {len(names) - limit} more"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _first_two(table: Table) -> tuple[int, int]:
    if {"id", "label"} <= {_normal(name) for name in table.head}:
        raise InputError(
            f"{table.source.path}: looks like a nodes file (first line: {_listed(table.head)}); "
            f"give it after --nodes and the edges after --edges, or {_ENDS_HELP}"
        )
    if table.width > 3:
        raise InputError(
            f"{table.source.path}: {table.width} columns, and the first line does not tell which "
            f"two are the ends; {_ENDS_HELP}, by name or number (first line: "
            f"{_listed(table.head)})"
        )
    rows = [list(table.head), *table.sample()]
    third = [row[2] for row in rows if len(row) == 3] if table.width == 3 else []
    if third and not any(_is_number(value) for value in third):
        raise InputError(
            f"{table.source.path}: 3 columns, the third not a weight, and the first line does not "
            f"tell which two are the ends; {_ENDS_HELP}, by name or number (first line: "
            f"{_listed(table.head)})"
        )
    return 0, 1


def _header_reason(table: Table, source: int, target: int) -> str | None:
    """Return why the first line is no edge, if it is none."""
    head, rows = table.head, table.sample()
    if len(head) != table.width:
        columns = "1 column" if len(head) == 1 else f"{len(head)} columns"
        return f"it has {columns} and the others {table.width}"
    if not rows:
        return None
    if table.width == 3 and {source, target} == {0, 1}:
        numeric = sum(_is_number(row[2]) for row in rows)
        if not _is_number(head[2]) and 2 * numeric >= len(rows):
            return "its last column is no number, unlike those below it"
    ends = (source, target)
    numbered = [end for end in ends if all(_INTEGER.fullmatch(row[end]) for row in rows)]
    if len(rows) > 1 and any(not _INTEGER.fullmatch(head[end]) for end in numbered):
        return "it has words where the others have numbers"
    if len(numbered) < 2:
        return None
    if table.width == 2 and _is_size_line(table):
        return "it says how many vertices and edges follow"
    return None


def _is_size_line(table: Table) -> bool:
    if not all(value.isdigit() for value in table.head) or int(table.head[1]) != table.size - 1:
        return False
    _, names, _ = table.factorize([0, 1], 1)
    ids = [int(name) for name in names if _INTEGER.fullmatch(name)]
    return len(ids) == len(names) and min(ids) >= 0 and max(ids) <= int(table.head[0])


def _weight(
    table: Table,
    weight_column: str | None,
    ends: tuple[int, ...],
    head: Sequence[str],
    shift: int,
    *,
    named: bool,
) -> tuple[int | None, list[str]]:
    if weight_column is not None:
        found = find_column(table, weight_column, "--weight-column", head, shift)
        if found in ends:
            raise InputError(f"--weight-column {weight_column!r} is an end; name another column")
        return found, []
    others = [i for i in range(table.width) if i not in ends]
    if named and len(head) + shift >= table.width:
        names = {i: _normal(head[i - shift]) for i in others if 0 <= i - shift < len(head)}
        for known in _WEIGHTS:
            matching = [i for i, name in names.items() if name == known]
            if len(matching) == 1:
                return matching[0], []
        if others:
            listed = _listed([head[i - shift] for i in others if i >= shift])
            return None, [
                f"no weight column recognised among {listed}: all ties count alike (name one with "
                "--weight-column)"
            ]
        return None, []
    if table.width == 3 and ends == (0, 1):
        return 2, ["third column taken as the weight"]
    return None, []
