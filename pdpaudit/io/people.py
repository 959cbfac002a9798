"""People: their ids and labels in a table or graph file, and what they are called instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from pdpaudit.core.errors import InputError
from pdpaudit.io.columns import find_column, find_id_column
from pdpaudit.io.source import gaps, is_missing, read_source, show, unify, whole
from pdpaudit.io.table import read_table
from pdpaudit.io.text_formats import read_partition


@dataclass(frozen=True, eq=False)
class People:
    """The rows of a people table; a label is ``None`` where it is missing."""

    names: list[str]
    labels: list[str | None] | None
    id_header: str
    notes: tuple[str, ...]
    where: tuple[str, ...] = ()  # the first row without a label


class PeopleTable:
    """A people table before it is known which column holds the ids."""

    def __init__(self, path: Path) -> None:
        self.path = path
        source = read_source(path)
        self._partition = read_partition(source)
        if self._partition is not None:
            source = replace(source, data=b"id,label\n1,1\n")
        self._table = table = read_table(source, header=True)
        self._notes = [*source.notes, *table.notes]
        if len(table.head) > table.width:
            raise InputError(
                f"{path}: the header names {len(table.head)} columns and the rows have "
                f"{table.width}; make them agree"
            )

    def candidates(self, id_column: str | None) -> set[str]:
        """Return what may be ids, to find the ends of ties by."""
        if self._table.size == 1 or self._partition is not None:
            return set()
        at = find_id_column(self._table, id_column, (), None)
        return set(unify(self._table.factorize([at], 1)[1], str(self.path))[0])

    def read(
        self,
        id_column: str | None,
        label_column: str | None,
        ends: Sequence[str],
        *,
        keep_missing: bool = False,
    ) -> People:
        """Return people and labels, ids from the column asked for, or named so, or in ``ends``."""
        table = self._table
        if self._partition is not None:
            return self._by_order(self._partition, ends)
        label_at = None
        if label_column is not None:
            label_at = find_column(table, label_column, "label_column")
        id_at = find_id_column(table, id_column, set(ends), label_column)
        if table.size == 1:
            raise InputError(f"{self.path}: holds a header and no rows; list one person a line")
        codes, values, rows = table.factorize([id_at], 1)
        names, unified = unify(values, str(self.path))
        merged, distinct = pd.factorize(np.array(names, dtype=object))
        person = merged[codes[:, 0]]
        names = distinct.tolist()
        first = np.full(len(names), table.size)
        np.minimum.at(first, merged, rows)
        notes = [*self._notes, self._described(id_at, label_at), *unified]
        for code, name in enumerate(names):
            if "\n" in name or (is_missing(name) and not keep_missing) or not name:
                what = "runs over several lines" if "\n" in name else "is missing"
                shown = f" {show(name, 40)}" if name else ""
                what = f"the id{shown} {what}" if name else "the id is empty"
                literal = ", or take it for a name with `keep_missing`" if name.strip() else ""
                raise InputError(
                    f"{table.where(int(first[code]))}: {what}; correct the line{literal}"
                )
        if len(names) < len(person):
            count = len(person) - len(names)
            notes.append(f"{self.path}: {count:,} repeated rows of people listed before")
        labels = None
        if label_at is not None:
            labels = self._labels(label_at, person, names, first, keep_missing)
        lacking = () if labels is None else tuple(
            table.where(int(first[i])) for i, label in enumerate(labels) if label is None
        )[:1]  # fmt: skip
        return People(names, labels, table.head[id_at], tuple(notes), lacking)

    def _by_order(self, values: list[str], names: Sequence[str]) -> People:
        """Return the values of a Pajek partition as the labels of the vertices, in their order."""
        if len(values) != len(names):
            raise InputError(
                f"{self.path}: a partition of {len(values):,} vertices beside a network of "
                f"{len(names):,}; give the one that belongs to it"
            )
        note = f"{self.path} read as a Pajek partition: labels in the order of the vertices"
        return People(list(names), list(values), "", (note,))

    def _described(self, id_at: int, label_at: int | None) -> str:
        head = self._table.head
        labels = "" if label_at is None else f", labels column {show(head[label_at], 30)}"
        return f"{self.path}: ids are column {show(head[id_at], 30)}{labels}"

    def _labels(
        self,
        column: int,
        person: npt.NDArray[np.int64],
        names: Sequence[str],
        first_rows: npt.NDArray[np.int64],
        keep_missing: bool,
    ) -> list[str | None]:
        codes, values, _ = self._table.factorize([column], 1)
        merged, distinct = pd.factorize(np.array([whole(value) for value in values], dtype=object))
        forms: list[str] = distinct.tolist()
        label = merged[codes[:, 0]]
        own = label[first_rows - 1]
        wrong = np.flatnonzero(label != own[person])
        if len(wrong):
            row = int(wrong[0])
            raise InputError(
                f"{self._table.where(row + 1)}: {show(names[person[row]])} is labelled otherwise "
                f"than on line {self._table.line(int(first_rows[person[row]]))}; keep one of them"
            )
        missing = gaps(forms, *[("",)] * keep_missing)
        given = [None if gap else value for value, gap in zip(forms, missing, strict=True)]
        return [given[code] for code in own.tolist()]


def read_labels(values: Sequence[object]) -> list[str | None]:
    """Return the labels a graph file gives its vertices."""
    texts = ["" if value is None else str(value).strip() for value in values]
    return [None if gap else whole(text) for text, gap in zip(texts, gaps(texts), strict=True)]


def partition(
    path: Path, labels: Sequence[str | None], targeted_value: str, ids: Collection[str] = ()
) -> tuple[npt.NDArray[np.bool_], tuple[str, ...]]:
    """Return who is targeted, and what is worth saying about the labels.

    One label in several cases is one label: line lists are typed by hand. Labels that are people's
    ``ids``, as where the column of ids is taken for labels, are counted and not listed.
    """
    wanted = whole(targeted_value.strip().casefold())
    counts = Counter(label for label in labels if label is not None)
    spellings = [label for label in counts if label.casefold() == wanted]
    others = [label for label, _ in counts.most_common() if label not in spellings]
    shown = [show(label, 30) for label in others if label not in ids]
    if not spellings:
        known = [f"{show(label, 30)} ({counts[label]:,})" for label in others if label not in ids]
        raise InputError(
            f"{path}: no label is {targeted_value!r}, so nobody is targeted; give one of the "
            f"labels there with `targeted_value`: {_listed(known, 8, len(counts))}"
        )
    if not others and None not in labels:
        raise InputError(
            f"{path}: every label is {targeted_value!r}, so there is no protected vertex to "
            "rewire; label the protected otherwise, or name another column with `label_column`"
        )
    notes: list[str] = []
    if spellings != [targeted_value.strip()]:
        listed = _listed([show(label, 30) for label in spellings], 5, len(spellings))
        notes.append(f"taken for {targeted_value.strip()!r}, whatever the case: {listed}")
    if len(others) > 1:
        notes.append(f"everyone labelled otherwise is protected: {_listed(shown, 5, len(others))}")
    targeted = np.array([label in spellings for label in labels], dtype=np.bool_)
    return targeted, tuple(notes)


def _listed(words: Sequence[str], most: int, of: int) -> str:
    """Return the first words in a sentence, and how many of all are left out."""
    shown = list(words[:most])
    left = of - len(shown)
    more = [f"{left} more" if shown else f"{left} labels that are ids of people"] if left else []
    return " and ".join([", ".join(shown), *more] if shown else more)


def pseudonyms(names: Sequence[str]) -> tuple[str, ...]:
    """Return what to call people instead: ``person 17`` for vertex 17; O(n).

    A pseudonym is the vertex's number, the one a witness counts by, so that whoever holds the file
    can look a person up, with or without this program. Numbers drawn at random would hide no more:
    a witness lists the vertices in the order of the file.
    """
    word = "person"
    listed = "\n" + "\n".join(names)
    while f"\n{word}" in listed:
        word += "*"
    return tuple(f"{word} {vertex}" for vertex in range(len(names)))


def find_people(asked: Sequence[str], names: Sequence[str]) -> list[int | None]:
    """Return the vertex with each name or pseudonym, None where nobody has it; O(n)."""
    index = {name: vertex for vertex, name in enumerate(names)}
    if not index.keys() >= set(asked):
        index.update({name: vertex for vertex, name in enumerate(pseudonyms(names))})
    return [index.get(one) for one in asked]
