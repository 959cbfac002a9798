"""Small graphs, and their neighbours under the relations of the literature.

*Edge*: one tie more or less. *Vertex*: one person with all ties more or less. *Rewired*: one person
has any other contacts, and people stay the same, as in Kearns et al.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import networkx as nx

Tie = tuple[int, int]
#: Graphs of the same vertices, shape ``(graphs, n, n)``.
Adjacencies = npt.NDArray[np.bool_]
T = TypeVar("T")


class Graph(NamedTuple):
    """An undirected graph on vertices ``0..vertices-1``; ties ascending, each ``(low, high)``."""

    vertices: int
    ties: tuple[Tie, ...]

    def contacts(self) -> list[set[int]]:
        """Return the neighbours of every vertex."""
        found: list[set[int]] = [set() for _ in range(self.vertices)]
        for one, other in self.ties:
            found[one].add(other)
            found[other].add(one)
        return found

    def degrees(self) -> list[int]:
        """Return the degree of every vertex."""
        return [len(contacts) for contacts in self.contacts()]

    def renumbered(self, order: Sequence[int]) -> Graph:
        """Return the graph in which vertex i is called ``order[i]``."""
        return _graph(self.vertices, ((order[one], order[other]) for one, other in self.ties))

    def with_last(self, vertex: int) -> Graph:
        """Return the graph in which a vertex has the last number, and later ones move up by one."""
        order = [v - (v > vertex) for v in range(self.vertices)]
        return self.renumbered([*order[:vertex], self.vertices - 1, *order[vertex + 1 :]])

    def without_last(self) -> Graph:
        """Return the graph without its last vertex."""
        last = self.vertices - 1
        return Graph(last, tuple(tie for tie in self.ties if last not in tie))

    def networkx(self) -> nx.Graph:
        """Return the graph as authors write against it."""
        from networkx import empty_graph

        graph = empty_graph(self.vertices)
        graph.add_edges_from(self.ties)
        return graph


class Batched(Generic[T]):
    """A function of one graph, or a method, made of one of many at once: its fast path ``values``.

    ``form`` makes a value of what comes of one graph.
    """

    def __init__(self, values: Callable[..., npt.NDArray[Any]], form: Callable[[Any], T]) -> None:
        self.values, self.form, self.__doc__ = values, form, values.__doc__

    def __get__(self, owner: object, kind: type | None = None) -> Batched[T]:
        """Return the method of an object."""
        return Batched(self.values.__get__(owner, kind), self.form)

    def __call__(self, graph: Graph) -> T:
        """Return the value of one graph."""
        made = np.zeros((1, graph.vertices, graph.vertices), dtype=bool)
        for one, other in graph.ties:
            made[0, one, other] = made[0, other, one] = True
        return self.form(self.values(made)[0])


def batched(
    form: Callable[[Any], T],
) -> Callable[[Callable[..., npt.NDArray[Any]]], Batched[T]]:
    """Return what makes a method of one graph of one of many; see :class:`Batched`."""
    return lambda values: Batched(values, form)


class GraphPair(NamedTuple):
    """Two neighbouring graphs."""

    name: str
    left: Graph
    right: Graph


def _graph(vertices: int, ties: Iterable[Tie]) -> Graph:
    return Graph(vertices, tuple(sorted((min(tie), max(tie)) for tie in ties)))


@cache
def _atlas() -> tuple[Graph, ...]:
    from networkx import graph_atlas_g  # a fifth of a second, and few look at small graphs

    graphs = graph_atlas_g()
    return tuple(_graph(len(graph), graph.edges) for graph in graphs[1:])


def small_graphs(most: int, least: int = 1) -> Iterator[Graph]:
    """Yield one graph of each isomorphism class, up to 7 vertices."""
    return (graph for graph in _atlas() if least <= graph.vertices <= most)


def labelled_graphs(most: int, least: int | None = None) -> Iterator[Graph]:
    """Yield every graph of a size, for mechanisms to which not all people are alike."""
    for vertices in range(most if least is None else least, most + 1):
        places = list(itertools.combinations(range(vertices), 2))
        for chosen in itertools.product((False, True), repeat=len(places)):
            yield Graph(vertices, tuple(itertools.compress(places, chosen)))


def numbered_graph(vertices: int, number: int) -> Graph:
    """Return the graph that :func:`labelled_graphs` yields at this place, from 0."""
    return graph_of(adjacencies(vertices, np.array([number]))[0])


def number_of(graph: Graph) -> int:
    """Return the place at which :func:`labelled_graphs` yields a graph, from 0."""
    places = itertools.combinations(range(graph.vertices), 2)
    bits = {tie: 1 << i for i, tie in enumerate(reversed([*places]))}
    return sum(bits[tie] for tie in graph.ties)


def adjacencies(vertices: int, numbers: npt.NDArray[np.int64]) -> Adjacencies:
    """Return graphs by their numbers, in which the first tie is the highest bit."""
    one, other = np.triu_indices(vertices, 1)
    found = np.zeros((len(numbers), vertices, vertices), dtype=bool)
    present = numbers[:, None] >> np.arange(len(one))[::-1] & 1
    found[:, one, other] = found[:, other, one] = present
    return found


def graph_of(adjacency: npt.NDArray[np.bool_]) -> Graph:
    """Return a graph by its matrix, of which the part above the diagonal counts."""
    ends = np.argwhere(np.triu(adjacency, 1)).tolist()
    return Graph(len(adjacency), tuple((one, other) for one, other in ends))


def coloured_graphs(colours: Sequence[int]) -> Iterator[Graph]:
    """Yield one graph of each class under renumberings that keep every vertex's colour.

    Those who have the same role in a mechanism have one colour; O(2^(n(n-1)/2) n!), for n <= 6.
    """
    vertices = len(colours)
    places = list(itertools.combinations(range(vertices), 2))
    number: dict[tuple[int, ...], int] = {place: i for i, place in enumerate(places)}
    every = np.arange(1 << len(places))
    present = [every >> i & 1 for i in range(len(places))]
    least = every.copy()
    for order in itertools.permutations(range(vertices)):
        if all(colours[order[v]] == colours[v] for v in range(vertices)):
            moved = (tuple(sorted((order[a], order[b]))) for a, b in places)
            bits = (has << number[tie] for has, tie in zip(present, moved, strict=True))
            np.minimum(least, sum(bits, 0 * every), out=least)
    for chosen in np.flatnonzero(least == every).tolist():
        yield Graph(vertices, tuple(place for i, place in enumerate(places) if chosen >> i & 1))


def ways(roles: Sequence[int]) -> int:
    """Return in how many ways vertices can have these roles."""
    counts = Counter(roles).values()
    return math.factorial(len(roles)) // math.prod(map(math.factorial, counts))


def placed(graph: Graph, roles: Sequence[int]) -> Iterator[Graph]:
    """Yield a graph in one numbering for each way in which its vertices have these roles.

    Those of one role have one number each of those that have it; up to them each graph is there.
    """
    members = [[v for v, one in enumerate(roles) if one == role] for role in sorted({*roles})]
    numbers = list(itertools.chain(*members))

    def chosen(free: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
        if not sizes:
            yield ()
            return
        for some in itertools.combinations(free, sizes[0]):
            rest = [one for one in free if one not in some]
            yield from ((*some, *others) for others in chosen(rest, sizes[1:]))

    for people in chosen(range(graph.vertices), [*map(len, members)]):
        order = dict(zip(people, numbers, strict=True))
        yield graph.renumbered([order[one] for one in range(graph.vertices)])


def star(leaves: int) -> Graph:
    """Return a star around vertex 0."""
    return _graph(leaves + 1, ((0, leaf) for leaf in range(1, leaves + 1)))


def complete(vertices: int) -> Graph:
    """Return the complete graph."""
    return _graph(vertices, itertools.combinations(range(vertices), 2))


def wheel(rim: int) -> Graph:
    """Return a cycle of ``rim`` vertices, all of them tied to vertex 0."""
    around = ((i, i % rim + 1) for i in range(1, rim + 1))
    return _graph(rim + 1, [*star(rim).ties, *around])


def hubs(shared: int) -> Graph:
    """Return vertices 0 and 1 without a tie, both tied to all of ``shared`` others."""
    return _graph(shared + 2, itertools.product((0, 1), range(2, shared + 2)))


def edge_pairs(graphs: Iterable[Graph], *, spared: int | None = None) -> Iterator[GraphPair]:
    """Yield each graph with each tie added that it lacks; none at the vertex ``spared``.

    A pair has no order, so with one graph of each isomorphism class this is every pair up to
    isomorphism.
    """
    for graph in graphs:
        for one, other in itertools.combinations(range(graph.vertices), 2):
            if spared not in (one, other):
                for more in added(graph, (one, other)):
                    yield GraphPair(f"{graph_words(graph)}; tie {one}-{other} added", graph, more)


def rooted(graph: Graph, vertices: Iterable[int]) -> Iterator[Graph]:
    """Yield the graph in which each of these vertices has changed its number with vertex 0."""
    for one in vertices:
        order = list(range(graph.vertices))
        order[0], order[one] = one, 0
        yield graph.renumbered(order)


def added(graph: Graph, tie: Tie) -> Iterator[Graph]:
    """Yield the graph with a tie, if it lacks it."""
    if tie not in graph.ties:
        yield _graph(graph.vertices, (*graph.ties, tie))


def rows(graph: Graph, groups: Iterable[Sequence[Tie]]) -> Iterator[list[Graph]]:
    """Yield all graphs that differ in the ties of one of these sets, of which a graph has none."""
    for places in groups:
        if not set(places).intersection(graph.ties):
            yield [graph, *changed(graph, places)]


def ties_at(vertices: int, person: int) -> list[Tie]:
    """Return the places of a person's ties, by the other end."""
    others = (one for one in range(vertices) if one != person)
    return [(min(person, one), max(person, one)) for one in others]


def changed(graph: Graph, places: Sequence[Tie], *, few: bool = False) -> Iterator[Graph]:
    """Yield the graph with any other ties in these places; few: none, all, and those it lacks."""
    own = set(places).intersection(graph.ties)
    rest = set(graph.ties) - own
    flags = itertools.product((False, True), repeat=0 if few else len(places))
    every = (itertools.compress(places, chosen) for chosen in flags)
    for ties in ((), places, set(places) - own) if few else every:
        other = Graph(graph.vertices, tuple(sorted(rest.union(ties))))
        if other != graph:
            yield other


def vertex_pairs(graphs: Iterable[Graph]) -> Iterator[GraphPair]:
    """Yield each graph without each of its vertices; the later ones move up by one."""
    for graph in graphs:
        for gone in range(graph.vertices):
            fewer = graph.with_last(gone).without_last()
            yield GraphPair(f"{graph_words(graph)}; vertex {gone} removed", graph, fewer)


def rewired_pairs(graphs: Iterable[Graph], *, spared: int | None = None) -> Iterator[GraphPair]:
    """Yield each graph with every other set of contacts of each vertex but ``spared``."""
    for graph in graphs:
        for person in set(range(graph.vertices)) - {spared}:
            for rewired in changed(graph, ties_at(graph.vertices, person)):
                contacts = sorted(rewired.contacts()[person])
                name = f"{graph_words(graph)}; contacts of {person} now {contacts}"
                yield GraphPair(name, graph, rewired)


def graph_words(graph: Graph) -> str:
    """Return a graph in a line, all its ties."""
    ties = ", ".join(f"{one}-{other}" for one, other in graph.ties) or "no ties"
    return f"{graph.vertices} vertices with {ties}"
