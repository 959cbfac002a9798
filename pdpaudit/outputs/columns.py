"""Columns: what may be read off an output, as a number or a category.

A column is named by a path into the output and an aspect of what is there. Its value depends on
that output alone, and two outputs that differ differ in a column.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pdpaudit.outputs.draws import ROWS, Array, Draws, rows_of
from pdpaudit.outputs.records import (
    NUMERIC,
    SCALAR,
    WARNINGS,
    Leaf,
    Path,
    Record,
    Structure,
    flatten,
    layout,
    number_of,
    rest_of,
    sort_key,
    unwarned,
)

Floats = npt.NDArray[np.float64]

#: Numbers of any kind.
Matrix = npt.NDArray[np.float64 | np.bool_]

#: The kind of what is not there, and of a row of an array beyond its end.
ABSENT = "absent"

#: Kinds of containers that have entries and no order.
SETS = frozenset({"set", "frozenset", "dict_keys"})

#: A number in a text.
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")

#: Bits of a float64's significand.
DIGITS_2 = 53

#: Entries of a pattern, at most: its digits in base 3 fit a float64.
MOST_PATTERN = 33


@dataclass(frozen=True, slots=True)
class Atom:
    """An entry of an output as a category, where it is no whole number and no text."""

    kind: str
    value: Hashable


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole output as a category, where it is no flat tuple and no single entry."""

    record: Record


def atom_of(kind: str, value: Hashable) -> Hashable:
    """Return an entry as a category: whole numbers and texts stand for themselves."""
    plain = type(value) is int if kind == "int" else kind == "str"
    return value if plain else Atom(kind, value)


def entries_of(record: Record) -> tuple[Hashable, ...] | None:
    """Return the entries of a flat sequence as categories; None for anything else."""
    structure, kinds, values = record
    if structure is None or structure[1] is not None or len(structure[2]) != len(values):
        return None
    if structure[2].count(None) < len(values):
        return None
    if kinds and {"float"}.issuperset(kinds):  # numbers, and no list of anything
        return None
    return values if {int}.issuperset(map(type, values)) else tuple(map(atom_of, kinds, values))


def whole_of(record: Record, prefix: int = 0) -> Hashable:
    """Return an output as a category, without the first entries of a flat sequence."""
    structure, kinds, values = record
    if structure is None:
        return atom_of(kinds[0], values[0])
    entries = entries_of(record)
    if entries is None:
        return Whole(record)
    if structure[0] == "tuple":
        return entries[prefix:]
    if structure[0] in SETS:
        return Whole(record)
    return Whole(((structure[0], None, structure[2][prefix:]), kinds[prefix:], values[prefix:]))


class Group:
    """Outputs of one structure: records, or the rows of an array.

    What was warned of beside them is no part of the structure, and a column of its own.
    """

    def __init__(
        self,
        structure: Structure,
        records: list[Record] | None,
        array: Array | None,
        weights: npt.NDArray[np.int64] | None = None,
    ) -> None:
        self.known_as, self.array, self.weights = structure, array, weights
        self.warned, self.structure = unwarned(structure)
        if self.warned and records is not None:
            records = [(self.structure, *record[1:]) for record in records]
        self._records = records
        self.size = len(array) if array is not None else len(records or ())

    @cached_property
    def paths(self) -> dict[Path, int]:
        """Number of each leaf."""
        if self.structure == ROWS and self.array is not None:
            return {(j,): j for j in range(self.array.shape[1])}
        return layout(self.structure).leaves

    @cached_property
    def _leaves(self) -> tuple[list[tuple[str, ...]], list[tuple[Leaf, ...]]]:
        """Kinds and values, leaf by leaf."""
        records = self._records or []
        return (
            list(zip(*(record[1] for record in records), strict=True)),
            list(zip(*(record[2] for record in records), strict=True)),
        )

    def kinds(self, path: Path) -> Sequence[str]:
        """Return what kind of thing is there in each output."""
        place = self.paths.get(path)
        if path == (WARNINGS,):
            return [self.warned or ABSENT] * self.size
        if place is None:
            inner = layout(self.structure).containers.get(path)
            absent = "nan" if self.structure == ROWS else ABSENT
            return [absent if inner is None else inner[0]] * self.size
        if self.array is None:
            return self._leaves[0][place]
        column = self._column(place)
        if column.dtype.kind == "b":
            return ["bool"] * self.size
        return [KINDS[code] for code in _kind_codes(column).tolist()]

    def values(self, path: Path) -> Sequence[Leaf]:
        """Return what is there in each output, None where nothing is."""
        place = self.paths.get(path)
        if place is None:
            return [None] * self.size
        if self.array is None:
            return self._leaves[1][place]
        # As in records, where nan, which is not equal to itself, has no value.
        return [None if value != value else value for value in self._column(place).tolist()]

    def numbers(self, path: Path) -> Floats:
        """Return the number that is there in each output, nan where there is none."""
        place = self.paths.get(path)
        if place is None:
            return np.full(self.size, np.nan)
        if self.array is not None:
            return self._column(place).astype(np.float64, copy=False)
        kinds, values = self._leaves[0][place], self._leaves[1][place]
        if NUMERIC.issuperset(kinds):
            try:
                return np.array(values, dtype=np.float64)
            except (OverflowError, ValueError):
                pass
        return np.array([number_of(k, v) for k, v in zip(kinds, values, strict=True)])

    def _column(self, place: int) -> Array:
        assert self.array is not None
        return self.array if self.array.ndim == 1 else self.array[:, place]

    @cached_property
    def matrix(self) -> Matrix:
        """All numbers, leaf by leaf, shape ``(size, leaves)``."""
        if self.array is not None:
            return self.array[:, None] if self.array.ndim == 1 else self.array
        if not self.paths:
            return np.empty((self.size, 0))
        return np.stack([self.numbers(path) for path in self.paths], axis=1)

    @cached_property
    def records(self) -> list[Record]:
        """All outputs as records."""
        if self._records is not None:
            return self._records
        rows = self.matrix.tolist()
        if self.structure is SCALAR:
            return [flatten(row[0]) for row in rows]
        if self.structure == ROWS:
            return [flatten(_ended(row)) for row in rows]
        records = [flatten(tuple(row)) for row in rows]
        return [(self.structure, kinds, values) for _, kinds, values in records]

    def kind_set(self, path: Path) -> set[str]:
        """Return which kinds of things are there."""
        place = self.paths.get(path)
        if self.array is None or place is None or not self.size:
            return set(self.kinds(path)[:1]) if place is None else set(self.kinds(path))
        if self._all_plain:
            return {"float"}
        column = self._column(place)
        if column.dtype.kind == "b":
            return {"bool"}
        return {KINDS[code] for code in np.flatnonzero(np.bincount(_kind_codes(column)))}

    @cached_property
    def _all_plain(self) -> bool:
        """Whether an array holds finite numbers only, and no zero with a sign."""
        array = self.array
        if array is None or array.dtype.kind != "f" or not np.isfinite(array).all():
            return False
        return not ((array == 0) & np.signbit(array)).any()

    def kind_codes(self, path: Path) -> npt.NDArray[np.intp] | None:
        """Return places in KINDS of what is there, None where it is no number of an array."""
        place = self.paths.get(path)
        if self.array is None or place is None or self.array.dtype.kind == "b":
            return None
        return _kind_codes(self._column(place))

    @property
    def shape(self) -> list[tuple[Structure, tuple[str, ...]]]:
        """Structure and kinds of each output."""
        return [record[:2] for record in self.records]

    @property
    def ordered(self) -> bool:
        """Whether what is in these outputs has an order."""
        return self.structure is None or self.structure[0] not in SETS

    @cached_property
    def entries(self) -> list[tuple[Hashable, ...] | None]:
        """The entries of flat sequences, None for anything else."""
        if self.structure is None or self.array is not None:
            return [None] * self.size
        return [entries_of(record) for record in self.records]


def _ended(row: list[object]) -> tuple[object, ...]:
    """Return a row of an array up to its last number: what follows may be there for wider rows."""
    end = len(row)
    while end and row[end - 1] != row[end - 1]:
        end -= 1
    return tuple(row[:end])


#: Kinds of floating-point numbers.
KINDS = ("float", "nan", "inf", "-inf", "-0.0")


def _kind_codes(column: Array) -> npt.NDArray[np.intp]:
    codes = np.zeros(len(column), dtype=np.intp)
    if not np.isfinite(column).all():
        codes[np.isnan(column)] = 1
        codes[np.isposinf(column)], codes[np.isneginf(column)] = 2, 3
    codes[(column == 0) & np.signbit(column)] = 4
    return codes


@dataclass(frozen=True)
class Batch:
    """Outputs of many runs, group by group, in an order that does not depend on arrival."""

    groups: tuple[Group, ...]

    @cached_property
    def size(self) -> int:
        """Number of rows: records and rows of arrays."""
        return sum(group.size for group in self.groups)

    @property
    def width(self) -> int:
        """Most leaves that an output has, at least 1."""
        return max((len(group.paths) for group in self.groups), default=1) or 1

    @cached_property
    def weights(self) -> Floats:
        """How many runs each row stands for."""
        parts = [np.ones(g.size) if g.weights is None else g.weights for g in self.groups]
        return np.concatenate([np.empty(0), *parts])

    @property
    def runs(self) -> int:
        """Number of runs."""
        return int(self.weights.sum())

    def read(self, column: Numbered) -> Floats:
        """Return the numbers of a column, row by row."""
        return np.concatenate([np.empty(0), *(column.numbers(group) for group in self.groups)])

    def categories(self, column: Column) -> list[Hashable]:
        """Return the categories of a column, row by row."""
        return [value for group in self.groups for value in column.categories(group)]


def batch_of(draws: Draws) -> Batch:
    """Return outputs group by group; O(distinct log distinct)."""
    found: list[tuple[str, Group]] = []
    parts: dict[Structure, list[Record]] = {}
    for record in draws.counts:
        parts.setdefault(record[0], []).append(record)
    for structure, records in parts.items():
        records.sort(key=sort_key)
        weights = np.array([draws.counts[record] for record in records], dtype=np.int64)
        found.append((repr(structure), Group(structure, records, None, weights)))
    for structure, pieces in draws.arrays.items():
        found.append((f"{structure!r} array", Group(structure, None, rows_of(pieces))))
    return Batch(tuple(group for _, group in sorted(found, key=lambda item: item[0])))


def batch_of_outputs(outputs: Iterable[object]) -> Batch:
    """Return a few outputs as they are, one row each, in their order."""
    records = [flatten(output) for output in outputs]
    return Batch(tuple(Group(record[0], [record], None) for record in records))


#: Aspects whose values are numbers, and their words; {it} is the part, {at} which one.
ORDERED = {
    "number": "{it}",
    "rest": "the digits of {it} beyond double precision",
    "length": "the length of {it}",
    "embedded": "number {at} in {it}",
    "byte": "the code of character {at} of {it}",
    "place": "the place of {at} in the list",
    "step": "entry {at} less the one before",
    "sum": "the sum of the values",
    "least": "the smallest value",
    "greatest": "the largest value",
    "zeros": "the number of entries that are exactly 0",
    "stopped": "the number of entries that are not a number",
    "above": "the number of values above {at}",
    "pattern": "which entries are values, 0, or not a number",
    "exponent": "the binary exponent of {it}",
    "multiple": "the largest k such that {it} is a multiple of 2^k",
    "bits": "the number of significant bits of {it}",
    "digits": "the number of significant decimal digits of {it}",
}

#: Aspects of the exact form of a number, as a floating-point number has it.
EXACT = ("exponent", "multiple", "bits", "digits")


@dataclass(frozen=True)
class Column:
    """One thing that may be read off an output."""

    aspect: str
    path: Path = ()
    at: Hashable = 0
    prefix: int = 0

    @property
    def amount(self) -> float:
        """``at``, where it is a number."""
        if isinstance(self.at, int | float):
            return self.at
        raise TypeError(f"{self.aspect} at {self.at!r}: no number")

    @property
    def place(self) -> int:
        """``at``, where it counts something."""
        return int(self.amount)

    @property
    def both(self) -> tuple[Hashable, Hashable]:
        """``at``, where it is two entries."""
        match self.at:
            case (one, other):
                return one, other
        raise TypeError(f"{self.aspect} at {self.at!r}: not two entries")

    def numbers(self, group: Group) -> Floats:
        """Return the number of each output, nan where there is none."""
        return READERS[self.aspect](self, group)

    def categories(self, group: Group) -> list[Hashable]:
        """Return the category of each output."""
        return CATEGORIES[self.aspect](self, group)

    def numbered(self, group: Group, number: Callable[[Hashable], float]) -> Floats:
        """Return a number for the category of each output; where all are of a kind, at once."""
        if self.aspect == "kind":
            codes = group.kind_codes(self.path)
            if codes is not None:
                return np.array([number(kind) for kind in KINDS], dtype=np.float64)[codes]
            if len(kinds := group.kind_set(self.path)) == 1:
                return np.full(group.size, number(kinds.pop()))
        return np.array([number(value) for value in self.categories(group)], dtype=np.float64)


@dataclass(frozen=True)
class Coded:
    """A column of categories as numbers: the place of each in a list, nan for any other."""

    column: Column
    values: tuple[Hashable, ...]

    def numbers(self, group: Group) -> Floats:
        """Return the number of each output."""
        place = {value: float(i) for i, value in enumerate(self.values)}
        return self.column.numbered(group, lambda value: place.get(value, math.nan))


@dataclass(frozen=True)
class Crossed:
    """Two columns at once: which cell of a table of ranges an output falls into."""

    columns: tuple[Column | Coded, Column | Coded]
    edges: tuple[tuple[float, ...], tuple[float, ...]]

    def numbers(self, group: Group) -> Floats:
        """Return the number of the cell of each output."""
        first, second = (
            cut_at(column.numbers(group), edges)
            for column, edges in zip(self.columns, self.edges, strict=True)
        )
        return np.asarray(first * (len(self.edges[1]) + 2) + second, dtype=np.float64)


def cut_at(numbers: Floats, edges: tuple[float, ...]) -> npt.NDArray[np.intp]:
    """Return which range each number is in: it belongs above an edge it equals; nan comes last."""
    cells = np.searchsorted(np.array(edges), numbers, side="right")
    return np.where(np.isnan(numbers), len(edges) + 1, cells)


Numbered: TypeAlias = Column | Coded | Crossed


def _rest(column: Column, group: Group) -> Floats:
    pairs = zip(group.kinds(column.path), group.values(column.path), strict=True)
    return np.array([rest_of(kind, value) for kind, value in pairs], dtype=np.float64)


def _listed(numbers: Callable[[object], Sequence[float]]) -> Callable[[Column, Group], Floats]:
    """Return a reader of one of the numbers that each leaf has."""

    def read(column: Column, group: Group) -> Floats:
        at = column.place
        listed = map(numbers, group.values(column.path))
        found = [each[at] if at < len(each) else math.nan for each in listed]
        return np.array(found, dtype=np.float64)

    return read


def _length(column: Column, group: Group) -> Floats:
    inner = layout(group.structure).containers.get(column.path)
    if inner is not None and group.structure != ROWS:
        return np.full(group.size, float(inner[1] - column.prefix * group.ordered))
    values = group.values(column.path) if group.array is None else [None] * group.size
    sizes = [len(v) if isinstance(v, (str, bytes)) else math.nan for v in values]
    return np.array(sizes, dtype=np.float64)


def text_of(value: object) -> str | None:
    """Return a leaf's text, bytes as Latin-1; None where it is neither."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if isinstance(value, str) else None


def embedded_numbers(value: object) -> list[float]:
    """Return the numbers written in a text."""
    text = text_of(value)
    return [] if text is None else [float(found) for found in NUMBER.findall(text)]


def template_of(value: object) -> str | None:
    """Return a text without its numbers."""
    text = text_of(value)
    return None if text is None else NUMBER.sub("#", text)


def _place(column: Column, group: Group) -> Floats:
    found = np.full(group.size, np.nan)
    for i, entries in enumerate(group.entries):
        if entries is not None and column.at in entries:
            found[i] = entries.index(column.at)
    return found


def _of_matrix(
    function: Callable[[Matrix, float], Floats],
) -> Callable[[Column, Group], Floats]:
    """Return a reader of all numbers of an output together."""

    def read(column: Column, group: Group) -> Floats:
        return np.asarray(function(group.matrix, column.amount), dtype=np.float64)

    return read


def _values(rows: Matrix) -> npt.NDArray[np.bool_]:
    """Return which entries are numbers and not exactly 0, which may stand for "below"."""
    return np.asarray(~((rows == 0) | np.isnan(rows)), dtype=np.bool_)


def _step(rows: Matrix, place: float) -> Floats:
    at = int(place)
    if at >= rows.shape[1]:
        return np.full(len(rows), np.nan)
    with np.errstate(invalid="ignore"):
        return np.asarray(rows[:, at].astype(np.float64) - rows[:, at - 1])


def _sum(rows: Matrix, _: object) -> Floats:
    if not rows.shape[1]:
        return np.zeros(len(rows))
    # One after the other: how numpy's sum rounds depends on how wide and how stored the rows are.
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.cumsum(np.where(_values(rows), rows, 0.0), axis=1)[:, -1])


def _extreme(rows: Matrix, worst: float) -> Floats:
    values = _values(rows)
    filled = np.where(values, rows, worst)
    extreme = (np.min if worst > 0 else np.max)(filled, axis=1, initial=worst)
    return np.where(values.any(axis=1), extreme, np.nan)


def _fitted(rows: Matrix, size: float) -> Matrix:
    """Return rows of a width: cut, or filled up with nan."""
    width = int(size)
    if rows.shape[1] >= width:
        return rows[:, :width]
    fill = np.full((len(rows), width - rows.shape[1]), np.nan)
    return np.concatenate([rows.astype(np.float64), fill], axis=1)


def _pattern(rows: Matrix, width: float) -> Floats:
    rows = _fitted(rows, min(width, MOST_PATTERN))
    digits = _values(rows) + 2 * np.isnan(rows)
    return np.asarray(digits @ 3.0 ** np.arange(digits.shape[1]))


def _of_form(function: Callable[[Floats], Floats]) -> Callable[[Column, Group], Floats]:
    """Return a reader of the exact form of numbers, nan for 0 and for what is not finite."""

    def read(column: Column, group: Group) -> Floats:
        numbers = group.numbers(column.path)
        plain = np.isfinite(numbers) & (numbers != 0)
        found = np.full(len(numbers), np.nan)
        found[plain] = function(numbers[plain])
        return found

    return read


def _exponent(numbers: Floats) -> Floats:
    return np.frexp(numbers)[1] - 1.0


def _multiple(numbers: Floats) -> Floats:
    mantissas, exponents = np.frexp(numbers)
    whole = np.abs(mantissas * 2.0**DIGITS_2).astype(np.int64)
    return np.log2((whole & -whole).astype(np.float64)) + exponents - DIGITS_2


def _digits(numbers: Floats) -> Floats:
    texts = (repr(number).partition("e")[0] for number in numbers.tolist())
    lengths = [len(re.sub(r"[-.]", "", text).strip("0")) for text in texts]
    return np.array(lengths, dtype=np.float64)


READERS: dict[str, Callable[[Column, Group], Floats]] = {
    "number": lambda column, group: group.numbers(column.path),
    "rest": _rest,
    "length": _length,
    "embedded": _listed(embedded_numbers),
    "byte": _listed(lambda value: [*map(ord, text_of(value) or "")]),
    "place": _place,
    "step": _of_matrix(_step),
    "sum": _of_matrix(_sum),
    "least": _of_matrix(lambda rows, _: _extreme(rows, math.inf)),
    "greatest": _of_matrix(lambda rows, _: _extreme(rows, -math.inf)),
    "zeros": _of_matrix(lambda rows, _: np.asarray((rows == 0).sum(axis=1), dtype=np.float64)),
    "stopped": _of_matrix(lambda rows, width: np.isnan(_fitted(rows, width)).sum(axis=1) * 1.0),
    "above": _of_matrix(lambda rows, at: (_values(rows) & (rows > at)).sum(axis=1) * 1.0),
    "pattern": _of_matrix(_pattern),
    "exponent": _of_form(_exponent),
    "multiple": _of_form(_multiple),
    "bits": _of_form(lambda numbers: _exponent(numbers) - _multiple(numbers) + 1.0),
    "digits": _of_form(_digits),
}


def _of_entries(
    function: Callable[[tuple[Hashable, ...], Column], Hashable],
    *,
    of_sets: bool = False,
) -> Callable[[Column, Group], list[Hashable]]:
    """Return a reader of the entries of a list, or of a set; None for what is none."""

    def read(column: Column, group: Group) -> list[Hashable]:
        if not (group.ordered or of_sets):
            return [None] * group.size
        prefix = column.prefix if group.ordered else 0
        return [
            None if entries is None else function(entries[prefix:], column)
            for entries in group.entries
        ]

    return read


def _earlier(entries: tuple[Hashable, ...], column: Column) -> Hashable:
    return next((entry for entry in entries if entry in column.both), None)


def _keys(column: Column, group: Group) -> list[Hashable]:
    inner = layout(group.structure).containers.get(column.path)
    return [inner and inner[2]] * group.size


def _texts(column: Column, group: Group) -> list[Hashable]:
    pairs = zip(group.kinds(column.path), group.values(column.path), strict=True)
    return [atom_of(kind, value) for kind, value in pairs]


CATEGORIES: dict[str, Callable[[Column, Group], list[Hashable]]] = {
    "kind": lambda column, group: list(group.kinds(column.path)),
    "first": _of_entries(lambda entries, _: entries[0] if entries else None),
    "last": _of_entries(lambda entries, _: entries[-1] if entries else None),
    "length": _of_entries(lambda entries, _: len(entries), of_sets=True),
    "begins": _of_entries(lambda entries, column: entries[: column.place]),
    "finds": _of_entries(lambda entries, column: column.at in entries, of_sets=True),
    "order": _of_entries(_earlier),
    "value": _texts,
    "template": lambda column, group: [template_of(v) for v in group.values(column.path)],
    "keys": _keys,
    "structure": lambda _, group: list(group.shape),
    "output": lambda column, group: [whole_of(r, column.prefix) for r in group.records],
}
