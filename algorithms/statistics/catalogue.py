"""Statistics people really use, adapted to a set S of vertices, with what can be declared of them.

The definitions are networkx's for two vertices; where S has several members they are summed over,
or S counts as one vertex whose neighbourhood is the union N(S). ``math.inf`` declares that no bound
in the degree alone exists: such a statistic needs noise that grows with the network or with S.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from .paper import Named, degrees, indicator

if TYPE_CHECKING:
    import networkx as nx

Members = npt.NDArray[np.integer[Any]]
Scores = npt.NDArray[np.float64]


def _two_steps(max_degree: int) -> int:
    """Bound the vertices within two steps of u in one of two graphs, u included: 1 + 2d²."""
    return 1 + 2 * max_degree**2 if max_degree else 0


def _within_1(_: object, max_degree: int) -> float:
    """Return 1, or 0 for d = 0: of values between 0 and 1."""
    return float(max_degree > 0)


def _unbounded(_: object, max_degree: int) -> float:
    """Return infinity, or 0 for d = 0: no bound in the degree alone."""
    return math.inf if max_degree else 0


class _WeightedMiddles(Named):
    """The sum of weights of those w ∈ N(v) that are next to a member of S other than v."""

    #: Weight of a vertex of degree 2, and what it loses by one neighbour more.
    largest: ClassVar[float]
    shift: ClassVar[float]

    def weight(self, degree: Scores) -> Scores:
        """Return the weights of vertices of these degrees."""
        raise NotImplementedError

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> float:
        """Return the statistic of ``vertex``; O(d²)."""
        others = targets - {vertex}
        counted = [w for w in graph[vertex] if not others.isdisjoint(graph[w])]
        degrees = np.array([graph.degree(w) for w in counted], dtype=np.float64)
        return math.fsum(self.weight(degrees).tolist())

    def scores(self, adjacency: csr_array, targets: Members) -> Scores:
        """Return the statistic of every vertex, shape ``(n,)``; O(n + m)."""
        members, weight = indicator(adjacency, targets), self.weight(degrees(adjacency))
        around = adjacency @ members
        scores = adjacency @ (weight * (around > 0))
        # For a member v, a neighbour whose only member is v itself does not count.
        scores[targets] -= (adjacency @ (weight * (around == 1)))[targets]
        return np.asarray(scores)

    def sensitivity(self, max_degree: int) -> float:
        """Return the bound derived in the notes."""
        if max_degree < 2:
            return 0.0
        return self.largest + ((max_degree - 1) * self.shift if max_degree >= 3 else 0.0)

    def error(self, max_degree: int) -> float:
        """Return the rounding of a sum of d of the largest terms, each correct to 4 last units.

        Every one of the additions, and of the subtraction of some of the terms again, rounds a
        result of at most ``d * largest`` by half a unit, 2⁻⁵³ of it.
        """
        return (2 * max_degree + 8) * max_degree * self.largest * 2.0**-53

    def impact_cardinality(self, max_degree: int) -> int:
        """Return 1 + 2d², or 0 for d < 2."""
        return _two_steps(max_degree) if max_degree >= 2 else 0


@dataclass(frozen=True)
class CommonNeighboursPerMember(Named):
    """Common neighbours, counted once for each member: ``Σ_{s ∈ S, s ≠ v} |N(v) ∩ N(s)|``.

    Notes
    -----
    It counts the paths v-w-s of two edges. *Sensitivity* d - 1: of a targeted t only the paths
    t-u-s change, and u next to t has d - 1 other neighbours. *Impact cardinality* 2d + 1 for
    d ≥ 2: v changes only if it is next to u in one of the graphs, or u; with d = 1 there is no
    path of two edges.

    Examples
    --------
    >>> import networkx as nx
    >>> CommonNeighboursPerMember()(nx.star_graph(3), 1, frozenset({2, 3}))
    2
    """

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> int:
        """Return the statistic of ``vertex``; O(d²)."""
        return sum(
            end in targets and end != vertex for middle in graph[vertex] for end in graph[middle]
        )

    def scores(self, adjacency: csr_array, targets: Members) -> Scores:
        """Return the statistic of every vertex, shape ``(n,)``; O(n + m)."""
        members = indicator(adjacency, targets)
        return np.asarray(adjacency @ (adjacency @ members) - degrees(adjacency) * members)

    def sensitivity(self, max_degree: int) -> int:
        """Return d - 1, at least 0."""
        return max(max_degree - 1, 0)

    def impact_cardinality(self, max_degree: int) -> int:
        """Return 2d + 1, or 0 for d < 2."""
        return 2 * max_degree + 1 if max_degree >= 2 else 0


@dataclass(frozen=True)
class AdamicAdar(_WeightedMiddles):
    """Adamic and Adar: ``Σ 1 / ln deg(w)`` over w ∈ N(v) next to a member of S other than v.

    Notes
    -----
    Such a w has degree at least 2. *Sensitivity*: for d ≥ 3 at most
    ``1 / ln 2 + (d - 1) (1 / ln 2 - 1 / ln 3)``. For a targeted t, u itself comes or goes, by
    1 / ln 2 at most; and each other w ∈ N(t), at most d - 1 beside u, changes degree by 1, from 2
    to 3 at worst. Where u is next to t in neither graph there are d such w, which is less, as
    1 / ln 2 is the larger. For d = 2, w of degree 2 has no room for u, so 1 / ln 2 is left; for
    d ≤ 1 it is 0. *Impact cardinality*: v changes only if it is u, next to u, or next to one whose
    degree changed, so it lies within two steps of u in one of the graphs: ``1 + 2 d²``.

    Examples
    --------
    >>> import networkx as nx
    >>> round(AdamicAdar()(nx.path_graph(3), 0, frozenset({2})), 4)  # 1 / ln 2
    1.4427
    """

    largest, shift = 1 / math.log(2), 1 / math.log(2) - 1 / math.log(3)

    def weight(self, degree: Scores) -> Scores:
        """Return 1 / ln deg; one of degree 1 is never counted: any weight will do for it."""
        return np.asarray(1 / np.log(np.maximum(degree, 2)))


@dataclass(frozen=True)
class ResourceAllocation(_WeightedMiddles):
    """Resource allocation: ``Σ 1 / deg(w)`` over w ∈ N(v) next to a member of S other than v.

    Notes
    -----
    As for :class:`AdamicAdar` with 1/2 for 1 / ln 2 and 1/2 - 1/3 for the shift: *sensitivity*
    ``1/2 + (d - 1) / 6`` for d ≥ 3, 1/2 for d = 2, 0 below; *impact cardinality* ``1 + 2 d²``.

    Examples
    --------
    >>> import networkx as nx
    >>> ResourceAllocation()(nx.path_graph(3), 0, frozenset({2}))
    0.5
    """

    largest, shift = 0.5, 1 / 6

    def weight(self, degree: Scores) -> Scores:
        """Return 1 / deg."""
        return np.asarray(1 / np.maximum(degree, 1))


@dataclass(frozen=True)
class Jaccard(Named):
    """Jaccard's coefficient with S as one vertex: the neighbours in common over those of either.

    It is 0 where neither has a neighbour.

    Notes
    -----
    *Sensitivity* 1, as for any value between 0 and 1. *Impact cardinality*: none in d alone. When
    u joins N(S) the denominator of every vertex changes, however far away.

    Examples
    --------
    >>> import networkx as nx
    >>> Jaccard()(nx.path_graph(4), 0, frozenset({2}))
    0.5
    """

    componentwise = False

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> float:
        """Return the statistic of ``vertex``; O(d |S|)."""
        around = set(graph[vertex])
        near = {middle for member in targets for middle in graph[member]}
        return len(around & near) / len(around | near) if around or near else 0.0

    def scores(self, adjacency: csr_array, targets: Members) -> Scores:
        """Return the statistic of every vertex, shape ``(n,)``; O(n + m)."""
        near = (adjacency @ indicator(adjacency, targets) > 0).astype(np.float64)
        common = adjacency @ near
        either = degrees(adjacency) + near.sum() - common
        return np.asarray(common / np.maximum(either, 1))

    sensitivity = _within_1
    impact_cardinality = _unbounded


@dataclass(frozen=True)
class PreferentialAttachment(Named):
    """Preferential attachment: ``deg(v) Σ_{s ∈ S, s ≠ v} deg(s)``.

    Notes
    -----
    No bound in d alone: one new neighbour of v multiplies the degrees of all of S.

    Examples
    --------
    >>> import networkx as nx
    >>> PreferentialAttachment()(nx.path_graph(4), 1, frozenset({0, 2}))
    6
    """

    componentwise = False

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> int:
        """Return the statistic of ``vertex``; O(|S|)."""
        others = sum(graph.degree(member) for member in targets if member != vertex)
        return int(graph.degree(vertex) * others)

    def scores(self, adjacency: csr_array, targets: Members) -> Scores:
        """Return the statistic of every vertex, shape ``(n,)``; O(n)."""
        degree = degrees(adjacency)
        own = degree * indicator(adjacency, targets)
        return np.asarray(degree * (degree[targets].sum() - own))

    sensitivity = _unbounded
    impact_cardinality = _unbounded


@dataclass(frozen=True)
class Katz3(Named):
    """Katz's index truncated: ``Σ_{l ≤ 3} β^l`` times the walks of l edges from v to S, β = 0.1.

    A walk may come back to v where v ∈ S.

    Notes
    -----
    *Sensitivity*: for a targeted t and S ⊆ T only walks through u change. With two edges they are
    t-u-s, at most d. With three edges: t-u-a-s with a ∈ N(u), which has at most d - 1 members of
    S beside u, so d (d - 1); and t-a-u-s, where a is next to t and to u: at most d - 1 such a if
    u is next to t too, d otherwise, with d choices of s each. So ``β² d + 2 β³ d (d - 1)`` where u
    is next to t and ``β³ d²`` where it is not: the larger of the two, as all terms of the one
    graph are positive and the other graph's too. *Impact cardinality*: the start lies within two
    steps of u: ``1 + 2 d²``. With d = 1 it is 2: u's one neighbour, a in the one graph and b in
    the other, changes only if it is in S itself, and if both are, u's own value stays.

    Examples
    --------
    >>> import networkx as nx
    >>> round(Katz3()(nx.path_graph(3), 0, frozenset({1})), 6)  # 0-1, and back and forth once
    0.102
    """

    beta: ClassVar[float] = 0.1

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> float:
        """Return the statistic of ``vertex``; O(d³)."""
        one = sum(a in targets for a in graph[vertex])
        two = sum(b in targets for a in graph[vertex] for b in graph[a])
        three = sum(c in targets for a in graph[vertex] for b in graph[a] for c in graph[b])
        return self.beta * one + self.beta**2 * two + self.beta**3 * three

    def scores(self, adjacency: csr_array, targets: Members) -> Scores:
        """Return the statistic of every vertex, shape ``(n,)``; O(n + m)."""
        one = adjacency @ indicator(adjacency, targets)
        two = adjacency @ one
        return np.asarray(self.beta * one + self.beta**2 * two + self.beta**3 * (adjacency @ two))

    def sensitivity(self, max_degree: int) -> float:
        """Return the bound derived above."""
        d, beta = max_degree, self.beta
        return max(beta**2 * d + 2 * beta**3 * d * (d - 1), beta**3 * d**2)

    def error(self, max_degree: int) -> float:
        """Return the rounding of three products: each power, product and sum by half a unit."""
        d, beta = max_degree, self.beta
        return 8 * 2.0**-53 * (beta * d + beta**2 * d**2 + beta**3 * d**3)

    def impact_cardinality(self, max_degree: int) -> int:
        """Return 1 + 2d²; 2 for d = 1 and 0 for d = 0."""
        return _two_steps(max_degree) if max_degree >= 2 else 2 * max_degree


@dataclass(frozen=True)
class InverseDistance(Named):
    """One over the number of steps from v to the nearest other member of S; 0 if there is none.

    Notes
    -----
    *Sensitivity* 1/2: the edges between targeted vertices never change, so a value of 1 stays and
    the others lie between 0 and 1/2. With d = 1 there is no way through u: 0. *Impact
    cardinality*: none in d alone, as u may be the only bridge to any number of vertices.

    Examples
    --------
    >>> import networkx as nx
    >>> InverseDistance()(nx.path_graph(4), 0, frozenset({0, 2, 3}))
    0.5
    """

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> float:
        """Return the statistic of ``vertex``; O(n + m)."""
        import networkx as nx

        others = targets - {vertex}
        layers = enumerate(nx.bfs_layers(graph, vertex))
        return next((1 / steps for steps, layer in layers if not others.isdisjoint(layer)), 0.0)

    def scores(self, adjacency: csr_array, targets: Members) -> Scores:
        """Return the statistic of every vertex, shape ``(n,)``; O(levels (n + m))."""
        if not len(targets):
            return np.zeros(adjacency.shape[0])
        from scipy.sparse.csgraph import dijkstra

        steps, _, source = dijkstra(
            adjacency, indices=targets, unweighted=True, min_only=True, return_predecessors=True
        )
        # From a member the first other one is reached over an edge between two members' parts.
        rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
        between = source[rows] != source[adjacency.indices]
        ways = (steps[rows] + 1 + steps[adjacency.indices])[between]
        steps[targets] = np.inf
        np.minimum.at(steps, source[rows[between]], ways)
        return np.asarray(1 / steps)

    def sensitivity(self, max_degree: int) -> float:
        """Return 1/2, or 0 for d < 2."""
        return 0.5 if max_degree >= 2 else 0.0

    def impact_cardinality(self, max_degree: int) -> float:
        """Return infinity; 1 for d = 1 and 0 for d = 0."""
        return math.inf if max_degree >= 2 else max_degree


@dataclass(frozen=True)
class PersonalisedPageRank(Named):
    """PageRank with restarts in S: the chance to be at v, damping 0.85; 0 for empty S.

    A vertex without neighbours hands its share back to S.

    Notes
    -----
    *Sensitivity* 1, as for any probability; the exact values are far below. *Impact cardinality*:
    none in d alone, as a change anywhere is felt in all of its component. *Error*: the inverse of
    the system has 1-norm at most 1 / 0.15 and the system at most 1.85; elimination on one that
    is dominated by its diagonal, column by column, lets no entry grow by more than 2, so n ≤ 500
    unknowns are solved to 3 n² · 2 · 2⁻⁵³ · 1.85 / 0.15 < 3e-9. Where the iteration stops, n
    values move by less than 1e-15 each, so they lie within n · 1e-15 / 0.15 of the solution:
    1e-8 holds for networks of up to a million vertices.

    Examples
    --------
    >>> import networkx as nx
    >>> round(PersonalisedPageRank()(nx.path_graph(2), 0, frozenset({0})), 4)  # 1 / 1.85
    0.5405
    """

    componentwise = False

    damping: ClassVar[float] = 0.85
    error: ClassVar[float] = 1e-8

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> float:
        """Return the statistic of ``vertex``; O(n³), a dense linear system."""
        if not targets:
            return 0.0
        order = sorted(graph)
        place = {v: i for i, v in enumerate(order)}
        n = len(order)
        restart = np.array([v in targets for v in order]) / len(targets)
        system = np.eye(n)
        for v in order:
            if not graph[v]:
                system[:, place[v]] -= self.damping * restart
            for other in graph[v]:
                system[place[other], place[v]] -= self.damping / len(graph[v])
        return float(np.linalg.solve(system, (1 - self.damping) * restart)[place[vertex]])

    def scores(self, adjacency: csr_array, targets: Members) -> Scores:
        """Return the statistic of every vertex, shape ``(n,)``.

        Up to 500 vertices by a linear system, beyond by iteration until nothing moves by 1e-15.
        """
        n = adjacency.shape[0]
        if not len(targets):
            return np.zeros(n)
        degree = degrees(adjacency)
        restart = indicator(adjacency, targets) / len(targets)
        share = self.damping / np.maximum(degree, 1)
        if n <= 500:
            system = np.eye(n) - adjacency.toarray() * share
            system -= self.damping * np.outer(restart, degree == 0)
            return np.asarray(np.linalg.solve(system, (1 - self.damping) * restart))
        rank = restart
        while True:
            moved = adjacency @ (share * rank)
            moved += self.damping * rank[degree == 0].sum() * restart
            following = moved + (1 - self.damping) * restart
            if np.abs(following - rank).max() < 1e-15:
                return np.asarray(following)
            rank = following

    sensitivity = _within_1
    impact_cardinality = _unbounded
