"""What inputs a mechanism has, and which of them are neighbours: the author writes no pair.

A domain makes candidate pairs for each of its relations from its description alone, among them the
values at which implementations break. It never leaves what its author declared: NaN, infinities
and numbers beyond a float are inputs only where the domain says so.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.graphs import (
    Graph,
    complete,
    cut_off_pairs,
    edge_pairs,
    hubs,
    last_vertex_pairs,
    small_graphs,
    star,
    wheel,
)

__all__ = ["MOST_PAIRS", "Answers", "Bounded", "Domain", "Graphs", "OneOf", "Records", "unchanged"]

#: Pairs of one relation that a domain makes at most: each costs an audit some runs or a law.
MOST_PAIRS = 200

#: One value, one record.
Value: TypeAlias = Hashable
Record: TypeAlias = object
InputPair: TypeAlias = tuple[object, object]
A = TypeVar("A")
B = TypeVar("B")


def unchanged(value: A) -> A:
    """Return an input as it is."""
    return value


@runtime_checkable
class Domain(Protocol):
    """A description of inputs: the relations it knows, the first by default, and their pairs."""

    @property
    def relations(self) -> tuple[str, ...]:
        """Names of its relations."""
        ...

    @property
    def words(self) -> str:
        """What its inputs are."""
        ...

    def pairs(self, relation: str) -> list[InputPair]:
        """Return candidate pairs, the most telling first."""
        ...

    def complete(self, relation: str) -> bool:
        """Say whether these are all pairs of the relation in the domain."""
        ...

    @property
    def form(self) -> Callable[[Any], object]:
        """What makes an input of a side of a pair."""
        ...


@dataclass(frozen=True)
class Bounded:
    """Numbers between two bounds: a column of :class:`Records`, or inputs by themselves.

    As inputs by themselves they know one relation, ``replace``: any number for any other.

    Parameters
    ----------
    low, high : float
        The bounds; default: any finite number.
    whole : bool
        Whether they are whole numbers.
    unusual : bool
        Whether NaN, both infinities and, among whole numbers, those beyond a float are inputs,
        whatever the bounds. Default: they are not, and are never tried.

    Examples
    --------
    >>> Bounded(0, 100).values()[:4]
    (0.0, 100.0, 50.0, 1.0)
    >>> Bounded(0, 1, whole=True).values()
    (0, 1)
    """

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    unusual: bool = False

    relations = ("replace",)
    form = staticmethod(unchanged)

    def __post_init__(self) -> None:
        """Refuse bounds between which there is no number."""
        numbers = isinstance(self.low, Real) and isinstance(self.high, Real)
        if not numbers or not self.low <= self.high or math.inf in (self.low, -self.high):
            raise InputError(f"Bounded({self.low!r}, {self.high!r}): give bounds low <= high")

    @property
    def words(self) -> str:
        """What its inputs are."""
        kind = "whole numbers" if self.whole else "numbers"
        ends = [f"from {self.low:g}"] if self.low > -math.inf else []
        ends += [f"to {self.high:g}"] if self.high < math.inf else []
        odd = ["with NaN and infinities"] if self.unusual else []
        return " ".join([kind, *ends, *odd])

    def values(self) -> tuple[float, ...]:
        """Return the numbers to try, the most telling first."""
        ends: list[float] = [end for end in (self.low, self.high) if math.isfinite(end)]
        wide = len(ends) < 2
        middle = [] if wide else [(self.low + self.high) / 2]
        large = [1e6, -1e6] if wide else []
        if self.whole:
            tried = [*ends, *map(math.floor, middle), 0, 1, -1, *map(int, large), 2**53 + 1]
            kept: list[float] = [
                int(x) for x in tried if self.low <= x <= self.high and x == int(x)
            ]
        else:
            most, least = sys.float_info.max, math.ulp(0.0)
            tried = [*ends, *middle, 0.0, 1.0, -1.0, *large, -0.0, least, most, -most]
            kept = [float(x) for x in tried if self.low <= x <= self.high]
        beyond: list[float] = [10**400, -(10**400)] if self.whole else []
        odd = [math.nan, math.inf, -math.inf, *beyond] if self.unusual else []
        return tuple({repr(x): x for x in (*kept[:4], *odd, *kept[4:])}.values())

    def pairs(self, relation: str) -> list[InputPair]:
        """Return pairs of different numbers."""
        return _one_for_another(self.values())

    def complete(self, relation: str) -> bool:
        """Say whether these are all: of few whole numbers."""
        return self.whole and not self.unusual and self.high - self.low < len(self.values())


@dataclass(frozen=True, init=False)
class OneOf:
    """One of a few values: a column of :class:`Records`, or inputs by themselves.

    Examples
    --------
    >>> OneOf("no", "yes").pairs("replace")
    [('no', 'yes')]
    """

    options: tuple[Value, ...]

    relations = ("replace",)
    form = staticmethod(unchanged)

    def __init__(self, *options: Value) -> None:
        if not options:
            raise InputError("OneOf(): give at least one value")
        object.__setattr__(self, "options", options)

    @property
    def words(self) -> str:
        """What its inputs are."""
        return f"{len(self.options)} values"

    def values(self) -> tuple[Value, ...]:
        """Return the values."""
        return self.options

    def pairs(self, relation: str) -> list[InputPair]:
        """Return pairs of different values."""
        return _one_for_another(self.options)

    def complete(self, relation: str) -> bool:
        """Say whether these are all."""
        return math.comb(len(self.options), 2) <= MOST_PAIRS


Column: TypeAlias = Bounded | OneOf


class Change(NamedTuple):
    """Records that stay, and one that is taken for another or for none."""

    rest: tuple[Record, ...]
    ours: tuple[Record, ...]
    theirs: tuple[Record, ...]
    front: bool


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
        least, most = self.sizes
        if not 0 <= least <= most or most < 1:
            raise InputError(f"Records(sizes={self.sizes}): give (least, most), most at least 1")
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
        return f"lists of {least} to {most} records ({', '.join(named)})"

    def _record(self, values: Sequence[Value]) -> Record:
        """Return one record; a dictionary where columns have names."""
        single = not isinstance(self.columns, Mapping)
        return values[0] if single else dict(zip(self._columns, values, strict=True))

    @cached_property
    def _records(self) -> list[Record]:
        """Records to try: all columns alike, then each column's values among typical others."""
        columns = [column.values() for column in self._columns.values()]
        widest = max(map(len, columns))
        alike = [[values[min(i, len(values) - 1)] for values in columns] for i in range(widest)]
        single = [
            [value if j == k else others[0] for k, others in enumerate(columns)]
            for i in range(1, widest)
            for j, values in enumerate(columns)
            for value in values[i : i + 1]
        ]
        return [self._record(row) for row in {repr(row): row for row in (*alike, *single)}.values()]

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
        kinds = [
            self._record(row)
            for row in itertools.product(*(c.values() for c in self._columns.values()))
        ]
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
            ends = [((one,), (other,)) for one, other in _one_for_another(self._records)]
        return [
            # At the front as well as at the end: some mechanisms look at the first record.
            Change(rest, ours, theirs, number % 2 == 1)
            for number, (rest, (ours, theirs)) in enumerate(_diagonal(rests, ends))
        ]

    def joined(self, change: Change) -> InputPair:
        """Return a change as two lists."""
        rest, (ours, theirs) = list(change.rest), map(list, (change.ours, change.theirs))
        return (ours + rest, theirs + rest) if change.front else (rest + ours, rest + theirs)

    def varied(self, change: Change, rng: np.random.Generator) -> Change:
        """Return a change near another: of a record, of one that stays, or of how many stay."""
        least, most = self.sizes
        rest, drawn = list(change.rest), self._drawn(rng)
        move = int(rng.integers(4))
        if move == 0:
            return change._replace(ours=(drawn,))
        if move == 1 and change.theirs:
            return change._replace(theirs=(drawn,))
        if move == 2 and rest and len(rest) + len(change.theirs) > least:
            del rest[int(rng.integers(len(rest)))]
        elif move == 3 and len(rest) + 1 < most:
            rest += [rest[-1] if rest and rng.random() < 0.5 else drawn]
        elif rest:
            rest[int(rng.integers(len(rest)))] = drawn
        return change._replace(rest=tuple(rest))

    def _drawn(self, rng: np.random.Generator) -> Record:
        """Return a record at random, half of the time of values that are known to be telling."""
        return self._record([_drawn(column, rng) for column in self._columns.values()])

    def _rests(self, size: int) -> list[tuple[Record, ...]]:
        """Return records that stay: alike, and of all kinds."""
        mixed = tuple(itertools.islice(itertools.cycle(self._records), size))
        found = [*((record,) * size for record in self._records[:3]), mixed]
        return list({repr(rows): rows for rows in found}.values())


@dataclass(frozen=True)
class Answers:
    """Vectors of answers, a change of the data moving them by at most their sensitivity.

    ``one`` moves one answer, ``every`` moves each of them; ``L1`` and ``L2`` move all of them
    together, by the sensitivity in that norm.

    Parameters
    ----------
    count : int
        Answers in a vector.
    sensitivity : float
        By how much one change moves them.
    norm : str
        The relation that is meant where none is asked for.
    form : callable
        Makes an input of a tuple of numbers, such as ``numpy.array``.

    Examples
    --------
    >>> Answers(2).pairs("one")[0]
    ((0.0, 0.0), (1.0, 0.0))
    """

    count: int
    sensitivity: float = 1.0
    norm: str = "every"
    form: Callable[[tuple[float, ...]], object] = field(default=tuple, compare=False)

    def __post_init__(self) -> None:
        """Refuse what describes no vector."""
        if self.count < 1 or not 0 < self.sensitivity < math.inf:
            raise InputError(
                f"Answers({self.count}, {self.sensitivity}): give at least one answer and a finite "
                "sensitivity above 0"
            )
        if self.norm not in _NORMS:
            raise ParameterError("norm", self.norm, f"give one of {', '.join(_NORMS)}")

    @property
    def relations(self) -> tuple[str, ...]:
        """Names of its relations."""
        return (self.norm, *(norm for norm in _NORMS if norm != self.norm))

    @property
    def words(self) -> str:
        """What its inputs are."""
        return f"vectors of {self.count} answers, sensitivity {self.sensitivity:g}"

    def pairs(self, relation: str) -> list[InputPair]:
        """Return pairs of vectors: from answers that are alike, that rise, and that differ."""
        n, s = self.count, self.sensitivity
        half = [s] * (n // 2) + [0.0] * (n - n // 2)
        bases = [
            [0.0] * n,
            [s] * n,
            half,
            [s * i for i in range(n)],
            [10 * s * i for i in range(n)],
        ]
        found: dict[str, InputPair] = {}
        for base, step in _diagonal(bases, _steps(relation, n, s)):
            moved = [one + change for one, change in zip(base, step, strict=True)]
            found.setdefault(repr((base, moved)), (tuple(base), tuple(moved)))
        return list(found.values())

    def complete(self, relation: str) -> bool:
        """Say whether these are all: there are infinitely many."""
        return False


#: Relations of vectors of answers.
_NORMS = ("every", "one", "L1", "L2")


def _steps(norm: str, count: int, size: float) -> list[list[float]]:
    """Return changes of a vector that a norm allows, and no larger one."""
    single = [
        [sign * size * (i == j) for i in range(count)] for j in (0, count - 1) for sign in (1, -1)
    ]
    if norm == "one" or count == 1:
        return single
    each = size / {"every": 1, "L1": count, "L2": math.sqrt(count)}[norm]
    first, half = [1, *[-1] * (count - 1)], [1] * (count // 2) + [-1] * (count - count // 2)
    signs = [[1] * count, [-1] * count, first, [-one for one in first], half]
    return [*([each * sign for sign in row] for row in signs), *single]


@dataclass(frozen=True)
class Graphs:
    """Graphs: ``edge`` adds or takes away one tie, ``vertex`` one vertex with all its ties.

    ``rewired`` gives one vertex any other ties; the number of vertices stays.

    Parameters
    ----------
    vertices : tuple of two int
        The least and the most vertices; both sides of every pair keep to it.
    form : callable
        Makes an input of a :class:`pdpaudit.core.graphs.Graph`; default: one of networkx.

    Examples
    --------
    >>> left, right = Graphs((2, 2)).pairs("edge")[0]
    >>> left.ties, right.ties, list(Graphs().form(right).edges)
    ((), ((0, 1),), [(0, 1)])
    """

    vertices: tuple[int, int] = (1, 6)
    form: Callable[[Graph], object] = field(default=Graph.networkx, compare=False)

    relations = ("edge", "vertex", "rewired")

    def __post_init__(self) -> None:
        """Refuse what describes no graph."""
        least, most = self.vertices
        if not 0 <= least <= most or most < 2:
            raise InputError(f"Graphs({self.vertices}): give (least, most), most at least 2")

    @property
    def words(self) -> str:
        """What its inputs are."""
        return f"graphs of {self.vertices[0]} to {self.vertices[1]} vertices"

    def pairs(self, relation: str) -> list[InputPair]:
        """Return pairs of known shapes, the largest first, and of all graphs of few vertices."""
        least, most = self.vertices
        shapes = [
            complete(most),
            Graph(most, complete(most).ties[1:]),
            Graph(most, ()),
            star(most - 1),
        ]
        shapes += [wheel(most - 1)] * (most > 3) + [hubs(most - 2)] * (most > 2)
        graphs = [*shapes, *small_graphs(min(SMALL, most), least)]
        makers = {"edge": edge_pairs, "vertex": last_vertex_pairs, "rewired": cut_off_pairs}
        found = makers[relation](graphs)
        sized = dict.fromkeys((one, other) for _, one, other in found if other.vertices >= least)
        return list[InputPair](sized)[:MOST_PAIRS]

    def complete(self, relation: str) -> bool:
        """Say whether these are all: of each kind of graph there is one, so they are not."""
        return False


#: Vertices up to which there is a graph of every kind.
SMALL = 4


def _drawn(column: Column, rng: np.random.Generator) -> Value:
    values = column.values()
    if isinstance(column, OneOf) or rng.random() < 0.5:
        return values[int(rng.integers(len(values)))]
    low, high = max(column.low, -1e6), min(column.high, 1e6)
    drawn = float(rng.uniform(low, high)) if low <= high else float(column.low)
    return round(drawn) if column.whole else drawn


def _column(name: str, given: object) -> Column:
    if isinstance(given, Bounded | OneOf):
        return given
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        return OneOf(*given)
    where = f"column {name}: " if name else ""
    raise InputError(f"{where}{given!r} describes no values; give Bounded(low, high) or a list")


def _one_for_another(values: Sequence[A]) -> list[tuple[A, A]]:
    """Return pairs of different values, the first ones first."""
    places = itertools.combinations(range(len(values)), 2)
    return [(values[i], values[j]) for i, j in sorted(places, key=sum)][:MOST_PAIRS]


def _diagonal(ours: Sequence[A], theirs: Sequence[B]) -> list[tuple[A, B]]:
    """Return combinations in such an order that a cut leaves something of each."""
    places = itertools.product(range(len(ours)), range(len(theirs)))
    return [(ours[i], theirs[j]) for i, j in sorted(places, key=sum)][:MOST_PAIRS]
