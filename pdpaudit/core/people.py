"""Tables in which a person has several records: neighbours differ in all that one person gave."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pdpaudit.core.domains import Bounded, Change, InputPair, OneOf, Value
from pdpaudit.core.errors import InputError
from pdpaudit.core.records import Records

#: Records that are tried alone, and many times.
ALIKE = 4

#: One record, with the name of its person.
Row = dict[str, Value]


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
        alike = [(one,) * n for n in (1, self.records) for one in tried[:ALIKE]]
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
        ours, theirs = (
            [row for one in side for row in self._rows(0, one)]
            for side in (change.ours, change.theirs)
        )
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
