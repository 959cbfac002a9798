"""Who is targeted: from a nodes file, or from what a graph file says of its vertices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError
from pdpaudit.io.edgelist import find_column
from pdpaudit.io.source import read_source, show
from pdpaudit.io.table import Table, read_table

__all__ = ["People", "labels_of_vertices", "partition", "read_people"]


@dataclass(frozen=True, eq=False)
class People:
    """The rows of a nodes file.

    Attributes
    ----------
    names : list of str
        Everyone's id, in the order of the file.
    labels : list of str, optional
        Everyone's label; ``None`` where labels were not asked for.
    id_header : str
        What the file calls the column of ids.
    notes : tuple of str
        What had to be decided to read it.
    """

    names: list[str]
    labels: list[str] | None
    id_header: str
    notes: tuple[str, ...] = ()


def read_people(path: Path, *, id_column: str | None, label_column: str | None) -> People:
    """Read a nodes file: a header, then one row for each person.

    Parameters
    ----------
    path : Path
        The file.
    id_column : str, optional
        The column of ids; by default ``id``, or else the first one.
    label_column : str, optional
        The column of labels; ``None`` if labels are not wanted.

    Returns
    -------
    People
        O(bytes).

    Raises
    ------
    InputError
        If a column is not there, an id or label is missing, or one id has two labels.
    """
    source = read_source(path)
    table = read_table(source, header=True)
    if len(table.head) > table.width:
        raise InputError(
            f"{path}: the header names {len(table.head)} columns and the rows have {table.width}; "
            "make them agree"
        )
    id_at = _id_column(table, id_column)
    label_at = None
    if label_column is not None:
        label_at = find_column(table, label_column, "--label-column", table.head)
    if table.size == 1:
        raise InputError(f"{path}: holds a header and no rows; list one person a line")
    codes, names, rows = table.factorize([id_at], 1)
    for code, name in enumerate(names):
        if not name or "\n" in name or "\r" in name:
            what = f"the id {show(name, 40)} runs over several lines" if name else "the id is empty"
            raise InputError(f"{table.where(int(rows[code]))}: {what}; correct the line")
    notes = list(source.notes)
    if len(names) < len(codes):
        notes.append(f"{path}: {len(codes) - len(names):,} repeated rows of people listed before")
    labels = None
    if label_at is not None:
        labels = _labels(table, label_at, codes[:, 0], names, rows)
    return People(names, labels, table.head[id_at], tuple(notes))


def _id_column(table: Table, id_column: str | None) -> int:
    if id_column is not None:
        return find_column(table, id_column, "--id-column", table.head)
    named = [i for i, name in enumerate(table.head) if name.lower() == "id"]
    return named[0] if named else 0


def _labels(
    table: Table,
    column: int,
    person: npt.NDArray[np.int64],
    names: list[str],
    first_rows: npt.NDArray[np.int64],
) -> list[str]:
    codes, values, rows = table.factorize([column], 1)
    for code, value in enumerate(values):
        if not value:
            raise InputError(
                f"{table.where(int(rows[code]))}: the label in column {table.head[column]!r} is "
                "missing; label everyone, or name another column with --label-column"
            )
    label = codes[:, 0]
    own = label[first_rows - 1]
    wrong = np.flatnonzero(label != own[person])
    if len(wrong):
        row = int(wrong[0])
        name = names[person[row]]
        raise InputError(
            f"{table.where(row + 1)}: {show(name)} is labelled otherwise than on line "
            f"{table.line(int(first_rows[person[row]]))}; keep one of the two"
        )
    return [values[code] for code in own.tolist()]


def labels_of_vertices(
    path: Path, names: Sequence[str], values: Sequence[Any], label_column: str
) -> list[str]:
    """Return the labels a graph file gives its vertices.

    Raises
    ------
    InputError
        If a vertex has none.
    """
    for name, value in zip(names, values, strict=True):
        if value is None or value == "":
            raise InputError(
                f"{path}: vertex {show(name)} has no {label_column!r}; label everyone, or name "
                "another attribute with --label-column"
            )
    return [str(value).strip() for value in values]


def partition(
    path: Path, labels: Sequence[str], targeted_value: str, ids: Collection[str] = ()
) -> tuple[npt.NDArray[np.bool_], tuple[str, ...]]:
    """Return who is targeted, and what is worth saying about the labels.

    Labels that are people's ``ids``, as where the column of ids is taken for labels, are counted
    and not listed.

    Raises
    ------
    InputError
        If nobody or everybody has the targeted value; the values there are listed.
    """
    wanted = targeted_value.strip()
    counts = Counter(labels)
    if wanted not in counts:
        known = [
            f"{show(label, 30)} ({n:,})" for label, n in counts.most_common() if label not in ids
        ]
        raise InputError(
            f"{path}: no label is {targeted_value!r}, so nobody is targeted; give one of the "
            f"labels there with --targeted-value: {_listed(known, 8, len(counts))}"
        )
    if len(counts) == 1:
        raise InputError(
            f"{path}: every label is {targeted_value!r}, so there is no protected vertex to "
            "rewire; label the protected otherwise, or name another column with --label-column"
        )
    notes: tuple[str, ...] = ()
    if len(counts) > 2:
        others = [
            show(label, 30)
            for label, _ in counts.most_common()
            if label != wanted and label not in ids
        ]
        listed = _listed(others, 5, len(counts) - 1)
        notes = (f"everyone labelled otherwise is protected: {listed}",)
    return np.array([label == wanted for label in labels], dtype=np.bool_), notes


def _listed(words: Sequence[str], most: int, of: int) -> str:
    """Return the first words in a sentence, and how many of all are left out."""
    shown = list(words[:most])
    left = of - len(shown)
    more = [f"{left} more" if shown else f"{left} labels that are ids of people"] if left else []
    return " and ".join([", ".join(shown), *more] if shown else more)
