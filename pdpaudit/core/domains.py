"""What inputs a mechanism has, and which of them are neighbours: the author writes no pair.

A domain makes candidate pairs for each of its relations from its description alone, among them the
values at which implementations break. It never leaves what its author declared: NaN, infinities
and numbers beyond a float are inputs only where the domain says so.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from pdpaudit.core.errors import InputError, ParameterError, located, number, whole
from pdpaudit.core.graphs import (
    Graph,
    Tie,
    added,
    changed,
    complete,
    hubs,
    rooted,
    small_graphs,
    star,
    wheel,
)

#: Pairs of one relation that a domain makes at most: each costs an audit some runs or a law.
MOST_PAIRS = 200

#: Whole numbers that are so few that each is tried.
FEW = 10

#: Vertices up to which there is a graph of every kind.
SMALL = 4

#: One value.
Value: TypeAlias = Hashable
InputPair: TypeAlias = tuple[object, object]
#: From the number of vertices and the contacts of vertex 0 to sets of ties.
Secret: TypeAlias = Callable[[int, frozenset[int]], Iterable[Iterable[Tie]]]
A = TypeVar("A")
B = TypeVar("B")


class Change(NamedTuple):
    """Records that stay, and one that is taken for another or for none."""

    rest: tuple[object, ...]
    ours: tuple[object, ...]
    theirs: tuple[object, ...]
    front: bool = False


def unchanged(value: A) -> A:
    """Return an input as it is."""
    return value


@runtime_checkable
class Domain(Protocol):
    """A description of inputs: the relations it knows, the first by default, and their pairs."""

    @property
    def relations(self) -> tuple[str, ...]:
        """Names of its relations."""

    @property
    def words(self) -> str:
        """What its inputs are."""

    def pairs(self, relation: str) -> list[InputPair]:
        """Return candidate pairs, the most telling first."""

    def complete(self, relation: str) -> bool:
        """Say whether these are all pairs of the relation in the domain."""

    @property
    def form(self) -> Callable[..., object]:
        """What makes an input of a side of a pair."""


@runtime_checkable
class Movable(Domain, Protocol):
    """A domain of which each pair is a change, near which there are others."""

    def changes(self, relation: str) -> list[Change]:
        """Return the changes that its pairs are, in the same order."""

    def joined(self, change: Change) -> InputPair:
        """Return a change as two inputs."""

    def varied(self, change: Change, rng: np.random.Generator) -> Change:
        """Return a change near another."""

    def neighbours(self, relation: str, left: object, right: object) -> bool:
        """Say whether two inputs are of this domain, and neighbours by definition."""


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
        Whether NaN, both infinities and the largest floats, or whole numbers beyond a float, are
        inputs, whatever the bounds. Default: they are not, and are never tried.

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
        if self.whole and self.high - self.low < FEW and not self.unusual:
            return tuple(range(math.ceil(self.low), math.floor(self.high) + 1))
        middle = [] if wide else [(self.low + self.high) / 2]
        large = [1e6, -1e6] if wide else []
        most, least = sys.float_info.max, math.ulp(0.0)
        if self.whole:
            tried = [*ends, *map(math.floor, middle), 0, 1, -1, *map(int, large), 2**53 + 1]
            tried = [int(x) for x in tried if x == int(x)]
        else:
            tried = [*ends, *middle, 0.0, 1.0, -1.0, *large, -0.0, least, most, -most]
        kept = [x if self.whole else float(x) for x in tried if self.low <= x <= self.high]
        beyond: list[float] = [10**400, -(10**400)] if self.whole else [most, -most]
        odd = [math.nan, math.inf, -math.inf, *beyond] if self.unusual else []
        return tuple({repr(x): x for x in (*kept[:4], *odd, *kept[4:])}.values())

    def admits(self, value: Value) -> bool:
        """Say whether a value is one of these numbers."""
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        inside = self.low <= value <= self.high and (not self.whole or value % 1 == 0)
        return inside or (self.unusual and repr(value) in map(repr, self.values()))

    def pairs(self, relation: str) -> list[InputPair]:
        """Return pairs of different numbers."""
        return one_for_another(self.values())

    def changes(self, relation: str) -> list[Change]:
        """Return the pairs as changes of the one number there is."""
        return [Change((), (ours,), (theirs,)) for ours, theirs in self.pairs(relation)]

    def joined(self, change: Change) -> InputPair:
        """Return a change as two numbers."""
        return change.ours[0], change.theirs[0]

    def varied(self, change: Change, rng: np.random.Generator) -> Change:
        """Return a change near another, with another number on one side."""
        drawn = (self.drawn(rng),)
        return change._replace(ours=drawn) if rng.random() < 0.5 else change._replace(theirs=drawn)

    def drawn(self, rng: np.random.Generator) -> float:
        """Return a number at random, half of the time one of those to try."""
        values = self.values()
        if rng.random() < 0.5:
            return values[int(rng.integers(len(values)))]
        low, high = max(self.low, -1e6), min(self.high, 1e6)
        drawn = float(rng.uniform(low, high)) if low <= high else float(self.low)
        return round(drawn) if self.whole else drawn

    def neighbours(self, relation: str, left: object, right: object) -> bool:
        """Say whether two inputs are different numbers of these."""
        sides: tuple[Any, Any] = (left, right)
        return repr(left) != repr(right) and all(map(self.admits, sides))

    def complete(self, relation: str) -> bool:
        """Say whether these are all: of few whole numbers."""
        return self.whole and not self.unusual and self.high - self.low < FEW


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

    def admits(self, value: Value) -> bool:
        """Say whether a value is one of these."""
        return repr(value) in map(repr, self.options)

    def drawn(self, rng: np.random.Generator) -> Value:
        """Return one of the values at random."""
        return self.options[int(rng.integers(len(self.options)))]

    def pairs(self, relation: str) -> list[InputPair]:
        """Return pairs of different values."""
        return one_for_another(self.options)

    def complete(self, relation: str) -> bool:
        """Say whether these are all."""
        return math.comb(len(self.options), 2) <= MOST_PAIRS


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
        object.__setattr__(self, "count", whole("count", self.count))
        object.__setattr__(self, "sensitivity", number("sensitivity", self.sensitivity))
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
        rising = ([step * i for i in range(n)] for step in (s, 10 * s))
        bases = [[0.0] * n, [s] * n, half, *rising]
        found: dict[str, InputPair] = {}
        for base, step in diagonal(bases, _steps(relation, n, s)):
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

    Where one vanishes later ones move up by one.

    ``rewired`` gives one vertex any other ties; the number of vertices stays. Where vertex 0 is
    served, as by a recommendation, none of these adds or takes away a tie of its own. ``secret``
    replaces the ties in one of the sets that the domain says are secret by any others in it.

    Parameters
    ----------
    vertices : tuple of two int
        The least and the most vertices; both sides of every pair keep to it.
    form : callable
        Makes an input of a :class:`pdpaudit.core.graphs.Graph`; default: one of networkx.
    served : bool
        Whether vertex 0 knows its ties, so that they are the same on both sides.
    secret : callable, optional
        From the number of vertices and the contacts of vertex 0, which is served, to sets of ties
        ``(a, b)`` of others.

    Examples
    --------
    >>> left, right = Graphs((3, 3), served=True).pairs("edge")[0]
    >>> {*right.ties} - {*left.ties}
    {(1, 2)}
    >>> left, right = Graphs((2, 2)).pairs("edge")[0]
    >>> left.ties, right.ties, list(Graphs().form(right).edges)
    ((), ((0, 1),), [(0, 1)])
    """

    vertices: tuple[int, int] = (1, 6)
    form: Callable[[Graph], object] = field(default=Graph.networkx, compare=False)
    served: bool = False
    secret: Secret | None = None

    def __post_init__(self) -> None:
        """Refuse what describes no graph."""
        try:
            least, most = (whole("vertices", one) for one in self.vertices)
        except (TypeError, ValueError):
            least = most = -1
        if not 0 <= least <= most or most < 2:
            raise InputError(f"Graphs({self.vertices!r}): give (least, most), most at least 2")
        object.__setattr__(self, "vertices", (least, most))
        if not isinstance(self.served, bool):
            raise ParameterError("served", self.served, "give True where vertex 0 knows its ties")
        object.__setattr__(self, "served", self.served or self.secret is not None)

    @property
    def relations(self) -> tuple[str, ...]:
        """Names of its relations."""
        return (*["secret"] * (self.secret is not None), "edge", "vertex", "rewired")

    @property
    def public(self) -> str:
        """What is the same on both sides, to end a description with."""
        return ", ties of vertex 0 public" if self.served else ""

    @property
    def words(self) -> str:
        """What its inputs are."""
        return f"graphs of {self.vertices[0]} to {self.vertices[1]} vertices{self.public}"

    def groups(
        self, relation: str, vertices: int, contacts: AbstractSet[int]
    ) -> Sequence[Sequence[Tie]]:
        """Return sets of ties, one of which neighbours differ in, by the contacts of vertex 0."""
        if relation == "secret":
            return self._secret(vertices, frozenset(contacts))
        ties = itertools.combinations(range(vertices), 2)
        places = [tie for tie in ties if not (self.served and 0 in tie)]
        if relation == "edge":
            return [[tie] for tie in places]
        last = vertices - 1
        stays = self.served and last in {0, *contacts}
        people = range(vertices) if relation == "rewired" else [last] * (not stays)
        return [[tie for tie in places if one in tie] for one in people]

    def _secret(self, vertices: int, contacts: frozenset[int]) -> list[list[Tie]]:
        """Return what is secret, looked at."""
        assert self.secret is not None, "the relation is offered"
        try:
            given = [
                [(min(tie), max(tie)) for tie in one] for one in self.secret(vertices, contacts)
            ]
        except Exception as error:
            raise ParameterError("secret", f"{vertices} vertices", located(error)) from None
        for one, other in itertools.chain(*given):
            if not 0 < one < other < vertices:
                remedy = f"give ties of vertices 1 to {vertices - 1}"
                raise ParameterError("secret", f"{one}-{other} of {vertices} vertices", remedy)
        return [sorted({*group}) for group in given]

    def roles(self, relation: str, vertices: int) -> list[int]:
        """Return a role for each vertex: which are neighbours does not depend on who has one.

        Whoever is served has one alone. What is secret is looked at for all contacts: two have one
        role if it stays the same where they change places.
        """
        if relation != "secret":
            return [0] * self.served + [1] * (vertices - self.served)
        people = range(1, vertices)
        sides = itertools.product((False, True), repeat=len(people))
        known = [frozenset(itertools.compress(people, side)) for side in sides]
        secret = {one: {frozenset(group) for group in self._secret(vertices, one)} for one in known}

        def alike(a: int, b: int) -> bool:
            place = {a: b, b: a}

            def moved(ties: Iterable[Tie]) -> frozenset[Tie]:
                ends = (sorted(place.get(v, v) for v in tie) for tie in ties)
                return frozenset((one, other) for one, other in ends)

            return all(
                {moved(group) for group in groups}
                == secret[frozenset(place.get(v, v) for v in contacts)]
                for contacts, groups in secret.items()
            )

        roles = [0]
        for b in people:
            roles.append(next((a for a in people[: b - 1] if alike(a, b)), b))
        return roles

    def near(self, relation: str, graph: Graph, *, few: bool = False) -> Iterator[Graph]:
        """Yield the neighbours of a graph, with one tie more under ``edge``; a few, or all."""
        contacts = graph.contacts()[0] if graph.vertices else set[int]()
        for places in self.groups(relation, graph.vertices, contacts):
            if relation == "vertex":
                yield graph.without_last()
            elif relation == "edge":
                yield from added(graph, places[0])
            else:
                yield from changed(graph, places, few=few)

    def pairs(self, relation: str) -> list[InputPair]:
        """Return pairs of known shapes, the largest first, and of all graphs of few vertices."""
        least, most = self.vertices
        whole = complete(most)
        shapes = [whole, Graph(most, whole.ties[1:]), Graph(most, ()), star(most - 1)]
        shapes += [wheel(most - 1)] * (most > 3) + [hubs(most - 2)] * (most > 2)
        graphs = [*shapes, *small_graphs(min(SMALL, most), least)]
        if self.served:  # whoever may be served; of those of one degree, one
            graphs = [
                other
                for graph in graphs
                for other in rooted(graph, {d: v for v, d in enumerate(graph.degrees())}.values())
            ]
        if relation == "vertex":
            graphs = [graph.with_last(gone) for graph in graphs for gone in range(graph.vertices)]
        found = ((one, other) for one in graphs for other in self.near(relation, one, few=True))
        sized = dict.fromkeys(pair for pair in found if pair[1].vertices >= least)
        return list[InputPair](sized)[:MOST_PAIRS]

    def complete(self, relation: str) -> bool:
        """Say whether these are all: of each kind of graph there is one, so they are not."""
        return False


def one_for_another(values: Sequence[A]) -> list[tuple[A, A]]:
    """Return pairs of different values, the first ones first."""
    places = itertools.combinations(range(len(values)), 2)
    return [(values[i], values[j]) for i, j in sorted(places, key=sum)][:MOST_PAIRS]


def diagonal(ours: Sequence[A], theirs: Sequence[B]) -> list[tuple[A, B]]:
    """Return combinations in such an order that a cut leaves something of each."""
    places = itertools.product(range(len(ours)), range(len(theirs)))
    return [(ours[i], theirs[j]) for i, j in sorted(places, key=sum)][:MOST_PAIRS]
