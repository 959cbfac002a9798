"""Lists of records as inputs: one more or less, or one changed; or all that one person gave."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from pdpaudit.core.domains import (
    MOST_PAIRS,
    Bounded,
    Change,
    InputPair,
    OneOf,
    Value,
    diagonal,
    one_for_another,
)
from pdpaudit.core.errors import InputError

#: How often a record that is put in is like one that is there: duplicates break things.
ALIKE = 0.25

#: Records that are tried alone, and many times.
TRIED = 4

#: One record, with the name of its person.
Row = dict[str, Value]

Record: TypeAlias = object
Column: TypeAlias = Bounded | OneOf


@dataclass(frozen=True)
class Records:
    """Lists of records: ``add-remove`` adds or takes away one, ``replace`` changes one at will.

    Parameters
    ----------
    columns : mapping from str, Bounded, OneOf or sequence
        What each column holds; a sequence stands for one of its values. Of a mapping each record
        is a dictionary; of anything else each record is one value.
    sizes : tuple of two int
        The least and the most records; both sides of every pair keep to it.
    form : callable
        Makes an input of a list of records, such as ``numpy.array`` or ``pandas.DataFrame``.

    Examples
    --------
    >>> ages = Records({"age": Bounded(0, 100)}, sizes=(1, 5))
    >>> ages.pairs("add-remove")[0]
    ([{'age': 0.0}, {'age': 0.0}], [{'age': 0.0}])
    >>> Records(["yes", "no"], sizes=(1, 1)).pairs("replace")
    [(['yes'], ['no'])]
    """

    columns: Column | Mapping[str, Column | Sequence[Value]] | Sequence[Value]
    sizes: tuple[int, int] = (0, 10)
    form: Callable[[list[Record]], object] = field(default=list, compare=False)

    def __post_init__(self) -> None:
        """Refuse what describes no list."""
        match self.sizes:
            case (int(least), int(most)) if 0 <= least <= most and most >= 1:
                pass
            case given:
                raise InputError(f"Records(sizes={given!r}): give (least, most), most at least 1")
        if not self._columns:
            raise InputError("Records({}): give at least one column")

    @property
    def relations(self) -> tuple[str, ...]:
        """Names of its relations: nothing is added where the number of records is fixed."""
        least, most = self.sizes
        return ("replace",) if least == most else ("add-remove", "replace")

    @cached_property
    def _columns(self) -> dict[str, Column]:
        given = self.columns if isinstance(self.columns, Mapping) else {"": self.columns}
        return {name: _column(name, column) for name, column in given.items()}

    @property
    def words(self) -> str:
        """What its inputs are."""
        least, most = self.sizes
        columns = self._columns.items()
        named = [f"{name}: {one.words}" if name else one.words for name, one in columns]
        many = str(least) if least == most else f"{least} to {most}"
        return f"lists of {many} record{'s' * (most > 1)} ({', '.join(named)})"

    def _record(self, values: Sequence[Value]) -> Record:
        """Return one record; a dictionary where columns have names."""
        single = not isinstance(self.columns, Mapping)
        return values[0] if single else dict(zip(self._columns, values, strict=True))

    def tried(self) -> list[list[Value]]:
        """Return records to try: all columns alike, then each column's values among others."""
        columns = [column.values() for column in self._columns.values()]
        widest = max(map(len, columns))
        alike = [[values[min(i, len(values) - 1)] for values in columns] for i in range(widest)]
        single = [
            [value if j == k else others[0] for k, others in enumerate(columns)]
            for i in range(1, widest)
            for j, values in enumerate(columns)
            for value in values[i : i + 1]
        ]
        return list({repr(row): row for row in (*alike, *single)}.values())

    @cached_property
    def _records(self) -> list[Record]:
        return [self._record(row) for row in self.tried()]

    def admits(self, record: Record) -> bool:
        """Say whether a record is one of this domain."""
        values = record if isinstance(self.columns, Mapping) else {"": record}
        if not isinstance(values, Mapping) or values.keys() != self._columns.keys():
            return False
        return all(column.admits(values[name]) for name, column in self._columns.items())

    def pairs(self, relation: str) -> list[InputPair]:
        """Return pairs of lists that differ in one record."""
        if self.complete(relation):
            return list(self._all(relation))
        return [self.joined(change) for change in self.changes(relation)]

    def complete(self, relation: str) -> bool:
        """Say whether these are all pairs: of few values and few records."""
        columns, most = self._columns.values(), self.sizes[1]
        kinds = math.prod(len(one.values()) for one in columns)
        others = 2 if relation == "add-remove" else kinds - 1
        counted = (kinds**n * n * others // 2 for n in range(most + 1))
        few = most <= MOST_PAIRS and sum(counted) <= MOST_PAIRS
        return few and all(isinstance(one, OneOf) for one in columns)

    def _all(self, relation: str) -> list[tuple[list[Record], list[Record]]]:
        values = (column.values() for column in self._columns.values())
        kinds = list(map(self._record, itertools.product(*values)))
        found: dict[frozenset[str], tuple[list[Record], list[Record]]] = {}
        least, most = self.sizes
        for size in range(max(least, 1), most + 1):
            for rows in map(list, itertools.product(kinds, repeat=size)):
                for i in range(size):
                    before, after = rows[:i], rows[i + 1 :]
                    if relation == "replace":
                        others = [[*before, kind, *after] for kind in kinds]
                    else:
                        others = [[*before, *after]] if size > least else []
                    for other in others:
                        if repr(other) != repr(rows):
                            found.setdefault(frozenset(map(repr, (rows, other))), (rows, other))
        return list(found.values())

    def changes(self, relation: str) -> list[Change]:
        """Return changes of one record among few and many others, alike and mixed."""
        least, most = self.sizes
        replaced = relation == "replace"
        first = max(least - replaced, 0)
        sizes = sorted({first, min(first + 1, most - 1), (first + most) // 2, most - 1})
        rests = [rest for size in sizes if first <= size < most for rest in self._rests(size)]
        ends: list[tuple[tuple[Record, ...], ...]] = [((one,), ()) for one in self._records]
        if replaced:
            ends = [((one,), (other,)) for one, other in one_for_another(self._records)]
        return [
            # At the front as well as at the end: some mechanisms look at the first record.
            Change(rest, ours, theirs, number % 2 == 1)
            for number, (rest, (ours, theirs)) in enumerate(diagonal(rests, ends))
        ]

    def joined(self, change: Change) -> InputPair:
        """Return a change as two lists."""
        rest, (ours, theirs) = list(change.rest), map(list, (change.ours, change.theirs))
        return (ours + rest, theirs + rest) if change.front else (rest + ours, rest + theirs)

    def varied(self, change: Change, rng: np.random.Generator) -> Change:
        """Return a change near another: of a record, of one that stays, or of how many stay."""
        least, most = self.sizes
        rest, drawn = list(change.rest), self._drawn(rng)
        if rng.random() < ALIKE:
            drawn = [*change.ours, *rest][int(rng.integers(1 + len(rest)))]
        move = int(rng.integers(5))
        if move == 0:
            return change._replace(ours=(drawn,))
        if move == 1 and change.theirs:
            return change._replace(theirs=(drawn,))
        if move == 2 and rest and len(rest) + len(change.theirs) > least:
            del rest[int(rng.integers(len(rest)))]
        elif move == 3 and len(rest) + 1 < most:
            rest.append(drawn)
        elif rest and rng.random() < 0.5:
            rest[int(rng.integers(len(rest)))] = drawn
        else:
            return change._replace(front=not change.front)
        return change._replace(rest=tuple(rest))

    def neighbours(self, relation: str, left: object, right: object) -> bool:
        """Say whether two inputs are lists of this domain that differ in one record."""
        if not (isinstance(left, list) and isinstance(right, list)):
            return False
        ours, theirs = (list(map(repr, side)) for side in (left, right))
        if relation == "replace":
            one = len(ours) == len(theirs) and sum(map(str.__ne__, ours, theirs)) == 1
        else:
            longer, shorter = sorted((ours, theirs), key=len, reverse=True)
            one = shorter in (longer[:i] + longer[i + 1 :] for i in range(len(longer)))
        least, most = self.sizes
        sized = all(least <= len(side) <= most for side in (left, right))
        return one and sized and all(map(self.admits, (*left, *right)))

    def _drawn(self, rng: np.random.Generator) -> Record:
        """Return a record at random, half of the time of values that are known to be telling."""
        return self._record([column.drawn(rng) for column in self._columns.values()])

    def _rests(self, size: int) -> list[tuple[Record, ...]]:
        """Return records that stay: alike, and of all kinds."""
        mixed = tuple(itertools.islice(itertools.cycle(self._records), size))
        found = [*((record,) * size for record in self._records[:3]), mixed]
        return list({repr(rows): rows for rows in found}.values())


def _column(name: str, given: object) -> Column:
    if isinstance(given, Bounded | OneOf):
        return given
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        return OneOf(*given)
    where = f"column {name}: " if name else ""
    raise InputError(f"{where}{given!r} describes no values; give Bounded(low, high) or a list")


@dataclass(frozen=True)
class People:
    """Tables of people with several records each: ``add-remove`` adds or takes away one person.

    ``replace`` gives one person any other records. Each record is a dictionary that names its
    person, by a number, in a column of its own.

    Parameters
    ----------
    columns : mapping from str to Bounded, OneOf or sequence
        What each column of a record holds, as of :class:`Records`.
    sizes : tuple of two int
        The least and the most people; both sides of every pair keep to it.
    records : int
        The most records of one person.
    person : str
        The column that says whose a record is.
    form : callable
        Makes an input of a list of records, such as ``pandas.DataFrame``.

    Examples
    --------
    >>> visits = People({"shop": ["a", "b"]}, sizes=(0, 2), records=2)
    >>> visits.pairs("add-remove")[0]
    ([{'person': 0, 'shop': 'a'}], [])
    >>> len(visits.pairs("add-remove"))
    20
    """

    columns: Mapping[str, Bounded | OneOf | Sequence[Value]]
    sizes: tuple[int, int] = (0, 10)
    records: int = 3
    person: str = "person"
    form: Callable[[list[object]], object] = field(default=list, compare=False)

    def __post_init__(self) -> None:
        """Refuse what describes no table."""
        whole = isinstance(self.records, int) and self.records >= 1
        if not whole or not isinstance(self.columns, Mapping) or self.person in self.columns:
            raise InputError(
                f"People(records={self.records!r}): give columns by name, none of them "
                f"{self.person}, and how many records a person has at most, 1 or more"
            )
        _ = self._people

    @cached_property
    def _record(self) -> Records:
        return Records(self.columns, (1, 1))

    @cached_property
    def _people(self) -> Records:
        """People as records of their own, each of which is all that one person gave."""
        tried = [tuple(values) for values in self._record.tried()]
        most = range(self.records, 0, -1)
        alike = [(one,) * n for n in (1, self.records) for one in tried[:TRIED]]
        mixed = [tuple(itertools.islice(itertools.cycle(tried), n)) for n in most]
        single = [(one,) for one in tried]
        return Records(OneOf(*dict.fromkeys([*alike, *mixed, *single])), self.sizes)

    @property
    def relations(self) -> tuple[str, ...]:
        """Names of its relations: nobody is added where the number of people is fixed."""
        return self._people.relations

    @property
    def words(self) -> str:
        """What its inputs are."""
        inside = self._record.words.partition("(")[2]
        (least, most), each = self.sizes, self.records
        many = str(least) if least == most else f"{least} to {most}"
        return f"tables of {many} people with up to {each} records each ({inside}"

    def changes(self, relation: str) -> list[Change]:
        """Return changes of one person among few and many others."""
        return self._people.changes(relation)

    def pairs(self, relation: str) -> list[InputPair]:
        """Return pairs of tables that differ in one person."""
        return [self.joined(change) for change in self.changes(relation)]

    def complete(self, relation: str) -> bool:
        """Say whether these are all pairs: there are too many."""
        return False

    def joined(self, change: Change) -> InputPair:
        """Return a change as two tables; who stays has the same number in both."""
        rest = [row for i, one in enumerate(change.rest, 1) for row in self._rows(i, one)]
        ours = [row for one in change.ours for row in self._rows(0, one)]
        theirs = [row for one in change.theirs for row in self._rows(0, one)]
        return (ours + rest, theirs + rest) if change.front else (rest + ours, rest + theirs)

    def _rows(self, number: int, given: object) -> list[Row]:
        assert isinstance(given, tuple)
        return [{self.person: number, **dict(zip(self.columns, row, strict=True))} for row in given]

    def varied(self, change: Change, rng: np.random.Generator) -> Change:
        """Return a change near another: of a person, of one who stays, or of how many stay."""
        return self._people.varied(change, rng)

    def neighbours(self, relation: str, left: object, right: object) -> bool:
        """Say whether two inputs are tables of this domain that differ in one person."""
        ours, theirs = self._by_person(left), self._by_person(right)
        if ours is None or theirs is None:
            return False
        least, most = self.sizes
        changed = {key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)}
        alone = relation != "replace"
        one = len(changed) == 1 and (ours.keys() != theirs.keys()) is alone
        return one and all(least <= len(side) <= most for side in (ours, theirs))

    def _by_person(self, rows: object) -> dict[str, list[str]] | None:
        """Return what each person gave; None where that is no table of this domain."""
        found: dict[str, list[str]] = {}
        for row in rows if isinstance(rows, list) else [None]:
            if not isinstance(row, dict) or self.person not in row:
                return None
            record = {key: value for key, value in row.items() if key != self.person}
            if not self._record.admits(record):
                return None
            found.setdefault(repr(row[self.person]), []).append(repr(record))
        fits = all(len(given) <= self.records for given in found.values())
        return found if fits else None
