"""Small graphs and pairs of them, samples on which a statistic is checked, and counterexamples.

A counterexample, a graph or a pair of graphs, and a set S, is written as JSON and as text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from itertools import chain, combinations, permutations
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import networkx as nx
import numpy as np
import numpy.typing as npt

from pdpaudit.core.domains import Graphs, InputPair
from pdpaudit.core.errors import InputError
from pdpaudit.core.graphs import (
    Graph,
    added,
    adjacencies,
    graph_of,
    labelled_graphs,
    number_of,
    placed,
    rows,
    small_graphs,
    ties_at,
)
from pdpaudit.results.files import Fields

if TYPE_CHECKING:
    from pdpaudit.checks.evaluation import CheckFailed

LARGEST = 7  # vertices in the atlas

Bits = npt.NDArray[np.bool_]
Edge = tuple[int, int]


def build(n: int, edges: Iterable[Edge]) -> nx.Graph:
    """Return the graph on vertices ``0..n-1``, nodes and edges inserted in index order."""
    graph = nx.empty_graph(n)
    graph.add_edges_from(sorted(edges))
    return graph


def edges_of(matrix: Bits) -> tuple[Edge, ...]:
    """Return the edges of an adjacency matrix, each once."""
    return graph_of(matrix).ties


def members_of(bits: Bits) -> tuple[int, ...]:
    """Return the vertices of a set given as bits."""
    return tuple(np.flatnonzero(bits).tolist())


class Sample(NamedTuple):
    """A graph as plain data, and a set S."""

    n: int
    edges: tuple[Edge, ...]
    targets: tuple[int, ...]

    @property
    def degree(self) -> int:
        """The largest degree."""
        return max(Counter(chain(*self.edges)).values(), default=0)

    def graph(self) -> nx.Graph:
        """Return it newly built."""
        return build(self.n, self.edges)

    def relabelled(self, order: list[int]) -> Sample:
        """Return the sample in which vertex v is called ``order[v]``."""
        edges = Graph(self.n, self.edges).renumbered(order).ties
        return Sample(self.n, edges, tuple(sorted(order[v] for v in self.targets)))


@dataclass(frozen=True)
class Case:
    """Two networks that differ in the edges of one protected vertex, and a set S.

    Every vertex outside S but ``vertex`` may be targeted or protected: the definitions take the
    worst, so all of them count as targeted.
    """

    n: int
    edges: tuple[Edge, ...]
    vertex: int
    left: tuple[int, ...]
    right: tuple[int, ...]
    targets: tuple[int, ...]

    def sides(self) -> tuple[list[Edge], list[Edge]]:
        """Return the edges of the two networks."""
        u = self.vertex
        left, right = (
            [*self.edges, *((min(u, v), max(u, v)) for v in neighbours)]
            for neighbours in (self.left, self.right)
        )
        return left, right

    def graphs(self) -> tuple[nx.Graph, nx.Graph]:
        """Return the two networks, newly built."""
        left, right = (build(self.n, edges) for edges in self.sides())
        return left, right

    def on(self, kept: Sequence[int]) -> Case:
        """Return the pair on some vertices, ``vertex`` among them, numbered in this order."""
        index = {v: i for i, v in enumerate(kept)}
        edges = tuple((index[a], index[b]) for a, b in self.edges if a in index and b in index)
        left, right, targets = (
            tuple(index[v] for v in part if v in index)
            for part in (self.left, self.right, self.targets)
        )
        return Case(len(kept), edges, index[self.vertex], left, right, targets)

    @property
    def max_degree(self) -> int:
        """The smallest degree bound both networks obey."""
        return max(Sample(self.n, tuple(side), ()).degree for side in self.sides())

    @property
    def size(self) -> tuple[int, int, int, int]:
        """What a smaller counterexample has less of: vertices, edges, u's edges, members of S."""
        spokes = len({*self.left, *self.right})
        own = len(self.left) + len(self.right)
        return (self.n, len(self.edges) + spokes, own, len(self.targets))

    @property
    def order(self) -> tuple[object, ...]:
        """Orders counterexamples by size, then by themselves, so that the smallest is unique."""
        last = self.n - self.vertex
        return (self.size, last, self.edges, self.left, self.right, self.targets)


# Up to relabelling


@lru_cache(maxsize=LARGEST + 1)
def graphs_on(size: int) -> Bits:
    """Return the adjacency matrices of all graphs on ``size`` vertices, one per class.

    They are in the order of the atlas of Read and Wilson, by number of edges.
    """
    numbers = [*map(number_of, small_graphs(size, size))] or [0]
    return adjacencies(size, np.array(numbers))


def neighbourhoods(size: int) -> Bits:
    """Return all subsets of ``size`` vertices as rows, shape ``(2**size, size)``."""
    bits = (np.arange(1 << size)[:, None] >> np.arange(size)) & 1
    return np.asarray(bits, dtype=bool)


@lru_cache(maxsize=LARGEST + 1)
def _permutations(size: int) -> npt.NDArray[np.int8]:
    return np.array(list(permutations(range(size))), dtype=np.int8)


def subset_classes(matrix: Bits) -> npt.NDArray[np.int64]:
    """Return one subset of each class under the automorphisms of a graph, as bit masks.

    An automorphism of H carries a pair of neighbourhoods and a set S to another pair and set with
    the same values, so one set of each class is enough while the neighbourhoods take all values.
    """
    size = len(matrix)
    orders = _permutations(size).astype(np.int64)
    # Compare one vertex's row at a time, so that few of the orders are compared in full.
    for vertex in range(size):
        row = matrix[orders[:, vertex, None], orders]
        orders = orders[(row == matrix[vertex]).all(axis=1)]
    masks = neighbourhoods(size).astype(np.int64)
    smallest = np.arange(1 << size)
    for block in np.array_split(orders, max(1, len(orders) // 256)):
        images = masks @ (1 << block).T
        smallest = np.minimum(smallest, images.min(axis=1))
    return np.unique(smallest)


# Neighbours under a relation


def labelled_pairs(
    domain: Graphs, relation: str, n: int, *, anyone: bool = False
) -> Iterator[InputPair]:
    """Yield all pairs on n vertices, in all numberings.

    Who vanishes has the last number; or any, and later ones move up by one.
    """
    for graph in labelled_graphs(n):
        if relation == "vertex":
            for gone in range(domain.served, n) if anyone else [n - 1]:
                yield from ((graph, rest) for rest in domain.near(relation, graph.with_last(gone)))
        elif relation == "edge":
            yield from ((graph, other) for other in domain.near(relation, graph))
        else:
            for row in rows(graph, domain.groups(relation, n, graph.contacts()[0])):
                yield from permutations(row, 2)


def kinds_of_pairs(domain: Graphs, relation: str, n: int) -> Iterator[InputPair]:
    """Yield pairs on n vertices, one of each kind: what differs is a tie, or the last vertex.

    Each vertex of each graph in turn has each role in the domain, as vertex 0 where it is served.
    """
    last, fixed = n - 1, n - (relation in ("vertex", "rewired"))
    roles, own = domain.roles(relation, fixed), [ties_at(n, last)[domain.served :]]
    for rest in chain(*(placed(one, roles) for one in small_graphs(fixed, fixed))):
        graph = rest._replace(vertices=n)
        if relation == "edge":
            yield from ((graph, other) for other in domain.near(relation, graph))
            continue
        groups = domain.groups(relation, n, graph.contacts()[0]) if relation == "secret" else own
        # Who is served has the tie on both sides, or has not.
        tied = added(graph, (0, last)) if domain.served and relation == "rewired" else ()
        for row in chain(*(rows(one, groups) for one in (graph, *tied))):
            if relation == "vertex":
                yield from ((one, rest) for one in row)
            else:
                yield from combinations(row, 2)


def renumbered_pair(pair: InputPair, rng: Random, roles: Sequence[int]) -> InputPair:
    """Return a pair with vertices of one role in another order, the same on both sides.

    Who vanishes had the last number; later ones move up.
    """
    left, right = cast(tuple[Graph, Graph], pair)
    order = list(range(left.vertices))
    for role in {*roles}:
        members = [one for one in order if roles[one] == role]
        for one, other in zip(members, rng.sample(members, len(members)), strict=True):
            order[one] = other
    gone = order[-1] if right.vertices < left.vertices else left.vertices
    return left.renumbered(order), right.renumbered([v - (v > gone) for v in order])


# Samples


def small_samples(max_vertices: int) -> Iterator[Sample]:
    """Yield every labelled graph with up to ``max_vertices`` vertices, with every S."""
    for size in range(1, max_vertices + 1):
        pairs = list(combinations(range(size), 2))
        for edges in chain.from_iterable(combinations(pairs, m) for m in range(len(pairs) + 1)):
            for members in neighbourhoods(size):
                yield Sample(size, edges, members_of(members))


def class_samples(size: int) -> Iterator[Sample]:
    """Yield one graph on ``size`` vertices of each class up to relabelling, with every S."""
    for matrix in graphs_on(size):
        for members in neighbourhoods(size):
            yield Sample(size, edges_of(matrix), members_of(members))


def medium_samples(seed: int) -> Iterator[Sample]:
    """Yield random graphs on 6 and 7 vertices, with random sets S."""
    rng = np.random.default_rng([seed, 0xFA])
    for size in (6, 7):
        for index in rng.integers(len(graphs_on(size)), size=100).tolist():
            members = neighbourhoods(size)[int(rng.integers(1 << size))]
            yield Sample(size, edges_of(graphs_on(size)[index]), members_of(members))


def large_samples(seed: int) -> Iterator[Sample]:
    """Yield one graph of each shape and of three sizes up to 30 vertices, with a random set S."""
    rng = np.random.default_rng([seed, 0x5A])
    for n in (7, 13, 30):
        for shape in SHAPES:
            edges = tuple(sorted(shape(n, rng)))
            members = rng.random(n) < rng.choice([0.1, 0.4, 1.0])
            yield Sample(n, edges, members_of(members))


# Shapes in which small graphs differ from large ones


def _path(n: int) -> set[Edge]:
    return {(v, v + 1) for v in range(n - 1)}


def _bipartite(n: int, rng: np.random.Generator) -> set[Edge]:
    half = int(rng.integers(1, n)) if n > 1 else 1
    return {(a, b) for a in range(half) for b in range(half, n)}


def _cliques(n: int, rng: np.random.Generator) -> set[Edge]:
    size = int(rng.integers(2, max(3, n // 2 + 1)))
    return {(a, b) for a, b in combinations(range(n), 2) if a // size == b // size}


def _random(n: int, rng: np.random.Generator) -> set[Edge]:
    density = rng.choice([1.5 / max(n, 2), 0.2, 0.5, 0.8])
    return {edge for edge in combinations(range(n), 2) if rng.random() < density}


def _ring(n: int, rng: np.random.Generator) -> set[Edge]:
    reach = int(rng.integers(2, max(3, n // 3 + 1)))
    pairs = ((v, (v + step) % n) for v in range(n) for step in range(1, reach + 1))
    return {(min(a, b), max(a, b)) for a, b in pairs if a != b}


#: No edge, all edges, a star, a path, a cycle, two sides, a tree, cliques, random ones, a ring.
SHAPES: tuple[Callable[[int, np.random.Generator], set[Edge]], ...] = (
    lambda n, rng: set(),
    lambda n, rng: set(combinations(range(n), 2)),
    lambda n, rng: {(0, v) for v in range(1, n)},
    lambda n, rng: _path(n),
    lambda n, rng: _path(n) | ({(0, n - 1)} if n > 2 else set()),
    _bipartite,
    lambda n, rng: {(int(rng.integers(v)), v) for v in range(1, n)},
    _cliques,
    _random,
    _ring,
)


# Counterexamples


FORMAT = "pdpaudit-statistic-witness/1"

#: What is left out of the JSON form where it is optional, and the lists that are.
EMPTY: tuple[object, ...] = ("", ())
OPTIONAL = ("names", "node_order", "edge_order")

PAIR_PROPERTIES = ("targeted-sensitivity", "impact-cardinality", "own-network")

Vertices = tuple[int, ...]
Edges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True)
class Witness:
    """What both kinds of counterexample hold: the property that fails, a graph and a set S."""

    property: str
    statistic: str = ""
    n: int
    edges: Edges
    targets: Vertices
    specification: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the JSON form; what is optional and empty is left out."""
        body: dict[str, object] = {"format": FORMAT}
        for each in fields(self):
            value = getattr(self, each.name)
            if value or each.default not in EMPTY:
                body[each.name] = _plain(value)
        return body


@dataclass(frozen=True, kw_only=True)
class PairWitness(Witness):
    """Two networks that differ in the edges of one vertex and break a declared bound."""

    vertex: int
    left: Vertices
    right: Vertices
    max_degree: int
    at: int = 0
    declared: float = math.nan
    observed: float = math.nan
    values: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GraphWitness(Witness):
    """One graph on which a statistic does not behave."""

    vertex: int | None = None
    message: str = ""
    traceback: str = ""
    names: Vertices = ()
    node_order: Vertices = ()
    edge_order: Edges = ()

    @classmethod
    def of(cls, failure: CheckFailed, statistic: str) -> GraphWitness:
        """Return the counterexample of a failed check."""
        kept = ("vertex", "message", "traceback", *OPTIONAL)
        known = {name: getattr(failure, name) for name in kept}
        return cls(property=failure.check, statistic=statistic, **failure.sample._asdict(), **known)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


class _Read(Fields):
    """The fields of a counterexample: whatever is called a vertex is one of its graph."""

    def real(self, key: str) -> float:
        """Return a number, NaN where none is known."""
        found = self.number(key)
        return math.nan if found is None else found

    def sides(self, key: str) -> dict[str, tuple[float, ...]]:
        """Return the values on both sides."""
        return {side: self.inner(key).numbers(side) for side in ("left", "right")}

    def vertex(self, key: str) -> int:
        """Return a vertex."""
        if not 0 <= self.whole(key) < self.count("n"):
            raise self.fail(key, "a vertex")
        return self.whole(key)

    def vertices(self, key: str) -> Vertices:
        """Return vertices; none where an optional field is left out."""
        return self._vertices(key, self._rows(key))

    def edges(self, key: str) -> Edges:
        """Return edges; none where an optional field is left out."""
        rows = self._rows(key)
        pairs = [self._vertices(key, row) for row in rows if isinstance(row, list)]
        if len(pairs) < len(rows) or not all(len(pair) == 2 for pair in pairs):
            raise self.fail(key, "a list of pairs of vertices")
        return tuple((a, b) for a, b in pairs)

    def _rows(self, key: str) -> list[object]:
        if key not in self.body and key not in OPTIONAL:
            raise self.fail(key, "a list")
        return self.listed(key)

    def _vertices(self, key: str, found: Sequence[object]) -> Vertices:
        n = self.count("n")
        known = tuple(v for v in found if type(v) is int and 0 <= v < n)
        if len(known) < len(found):
            raise self.fail(key, "a list of vertices")
        return known


#: How each field is read that is no text.
READ: dict[str, Callable[[_Read, str], object]] = {
    **dict.fromkeys(("n", "max_degree"), _Read.count),
    **dict.fromkeys(("vertex", "at"), _Read.vertex),
    **dict.fromkeys(("targets", "left", "right", "names", "node_order"), _Read.vertices),
    **dict.fromkeys(("edges", "edge_order"), _Read.edges),
    **dict.fromkeys(("declared", "observed"), _Read.real),
    "values": _Read.sides,
}


def read_witness(body: Mapping[str, object]) -> PairWitness | GraphWitness:
    """Return the counterexample of a JSON form, every field looked at."""
    if body.get("format") != FORMAT:
        raise InputError(f"not a witness of the form {FORMAT}; give a result file of `check`")
    read = _Read(body, "it", "witness.")
    kind = PairWitness if body.get("property") in PAIR_PROPERTIES else GraphWitness
    given = [each.name for each in fields(kind)]
    if kind is GraphWitness and body.get("vertex") is None:
        given.remove("vertex")
    known: dict[str, Any] = {name: READ.get(name, _Read.text)(read, name) for name in given}
    return kind(**known)


# Text


def as_listing(body: Mapping[str, object]) -> str:
    """Return a counterexample as a few lines to draw from."""
    witness = read_witness(body)
    members = ", ".join(map(str, witness.targets))
    edges = "  ".join(f"{a}-{b}" for a, b in witness.edges) or "none"
    head = f"vertices   0..{witness.n - 1}, S = {{{members}}} (the targets found so far)"
    if not isinstance(witness, PairWitness):
        return f"{head}\nedges      {edges}"
    lines = [f"{head}, rewired: {witness.vertex}", f"edges      {edges}"]
    left, right = ([f"{x:g}" for x in witness.values[side]] for side in ("left", "right"))
    whole = [[repr(x) for x in witness.values[side]] for side in ("left", "right")]
    if any(a != b and x == y for a, b, x, y in zip(*whole, left, right, strict=True)):
        left, right = whole
    for side, own, shown in (("left", witness.left, left), ("right", witness.right, right)):
        around = " ".join(map(str, own)) or "-"
        lines.append(f"{side:<10} {witness.vertex}: {around:<10} values {' '.join(shown)}")
    return "\n".join(lines)


def as_python(body: Mapping[str, object], specification: str) -> str:
    """Return Python that reproduces a counterexample."""
    witness = read_witness(body)
    edges, targets = list(witness.edges), list(witness.targets)
    lines = [
        "import networkx as nx",
        "from pdpaudit.checks import require_statistic",
        "from pdpaudit.core.registry import resolve",
        f'sop, _ = require_statistic(resolve("sops", {specification!r}))',
    ]
    values = f"print([sop(graph, v, frozenset({targets!r})) for v in range({witness.n})])"
    made = f"graph = nx.empty_graph({witness.n})"
    if not isinstance(witness, PairWitness):
        return "\n".join([*lines, made, f"graph.add_edges_from({edges!r})", values])
    return "\n".join(
        [
            *lines,
            f"for around in {list(witness.left)!r}, {list(witness.right)!r}:",
            f"    {made}",
            f"    graph.add_edges_from([*{edges!r}, *(({witness.vertex}, v) for v in around)])",
            f"    {values}",
        ]
    )
