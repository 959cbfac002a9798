"""The paper's statistics: CN, Path_k, Triangle and Flow_k, what short paths can carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Rewirer

if TYPE_CHECKING:
    import networkx as nx

Vertices = npt.NDArray[np.integer[Any]]
Arc = tuple[int, int, int]  # (step, from, to)


def impact_within(k: int, max_degree: int) -> int:
    """Bound the vertices whose paths of at most k edges a rewired vertex u can change."""
    if max_degree <= 1:
        return max(max_degree, 0)
    reach: int = sum(max_degree * (max_degree - 1) ** (j - 1) for j in range(1, k))
    return 1 + 2 * reach


class Named:
    """A statistic called what its class is, with its order if it has one."""

    #: Whether scores on a disjoint union are those on its parts: checks may batch small graphs.
    componentwise: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """What the command line calls it."""
        order = getattr(self, "k", None)
        return type(self).__name__ + ("" if order is None else f"_{order}")

    def __str__(self) -> str:
        """Return the name."""
        return self.name


@dataclass(frozen=True)
class _Ordered(Named):
    """A statistic of the paths of at most k edges."""

    k: int = 2

    def __post_init__(self) -> None:
        """Refuse an impossible order."""
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise InputError(
                f"{type(self).__name__}(k={self.k!r}): k is the longest path, a whole number of "
                "at least 1"
            )

    def impact_cardinality(self, max_degree: int) -> int:
        """Return the number of vertices u can affect, see :func:`impact_within`."""
        return impact_within(self.k, max_degree)


def indicator(adjacency: csr_array, targets: Vertices) -> npt.NDArray[np.float64]:
    """Return 1 for each member of S, 0 for all others."""
    members = np.zeros(adjacency.shape[0])
    members[targets] = 1
    return members


def degrees(adjacency: csr_array) -> npt.NDArray[np.float64]:
    """Return the degree of every vertex."""
    return np.diff(adjacency.indptr).astype(np.float64)


def _next_to(adjacency: csr_array, targets: Vertices) -> npt.NDArray[np.bool_]:
    """Return who is in N(S); O(n + m)."""
    return np.asarray(adjacency @ indicator(adjacency, targets).astype(np.int32) > 0)


@dataclass(frozen=True)
class CN(Named):
    """Common neighbours: ``|N(v) ∩ N(S)|``, N(S) the union over the members of S [1]_.

    Notes
    -----
    Write u for the rewired protected vertex, A and B for its two neighbourhoods, T for the
    targeted vertices.

    *Sensitivity*, declared 1 as in [1]_, and attained. Whether w ≠ u is in N(S) depends on edges
    between w and S, which do not touch u, as u is not in S. So N(S) changes by u at most, and so
    does N(t) for a targeted t: of the neighbours counted, only u can come or go.

    *Impact cardinality*, derived here. For v ≠ u the count changes only by u, so v is in A or
    in B, which are at most 2d vertices; u's own count changes too: ``2d + 1``. With d = 1, say
    A = {a} and B = {b}: a has no neighbour but u, so it is not in N(S), and u's own count is 0 in
    both graphs; a and b remain: 2. With d = 0 there are no edges.

    References
    ----------
    .. [1] Kearns, Roth, Wu, Yaroslavtsev, "Privacy for the Protected (Only)", 2015, section
       "Statistics of Proximity".

    Examples
    --------
    >>> import networkx as nx
    >>> sop = CN()
    >>> sop(nx.star_graph(3), 1, frozenset({2, 3})), sop.sensitivity(9), sop.impact_cardinality(9)
    (1, 1, 19)
    >>> str(sop)
    'CN'
    """

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> int:
        """Return the number of neighbours of ``vertex`` next to a member of ``targets``.

        O(sum of the degrees of the neighbours of ``vertex``).
        """
        return sum(not targets.isdisjoint(graph[middle]) for middle in graph[vertex])

    def scores(self, adjacency: csr_array, targets: Vertices) -> npt.NDArray[np.float64]:
        """Return the statistic of every vertex, shape ``(n,)``; O(n + m) for m edges."""
        near = _next_to(adjacency, targets)
        return np.asarray(adjacency @ near.astype(np.int32), dtype=np.float64)

    def rewirer(self, adjacency: csr_array, targets: Vertices) -> Rewirer:
        """Return a function: whose count changes when a vertex outside ``targets`` is rewired.

        N(S) changes by that vertex at most; so a neighbour's count changes by 1 where it comes or
        goes in N(S), and nobody else's. O(n + m) once, then O(degrees).
        """
        near, scores = _next_to(adjacency, targets), self.scores(adjacency, targets)
        is_member = indicator(adjacency, targets) > 0
        marked = np.zeros(adjacency.shape[0], dtype=bool)

        def without(some: Vertices, others: Vertices) -> Vertices:
            # marks cost the two lists alone; numpy's set routines sort, a thousand times over
            if not len(some) or not len(others):
                return some
            marked[others] = True
            left = ~marked[some]
            marked[others] = False
            return np.asarray(some[left])

        def rewired(
            vertex: int, neighbours: Vertices
        ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
            start, end = adjacency.indptr[vertex : vertex + 2]
            gone = adjacency.indices[start:end] if near[vertex] else neighbours[:0]
            come = neighbours if is_member[neighbours].any() else neighbours[:0]
            lost, won = without(gone, come), without(come, gone)
            changed = np.concatenate([lost, won, [vertex]]).astype(np.int64, copy=False)
            values = scores[changed]
            values[: len(lost)] -= 1.0
            values[len(lost) : -1] += 1.0
            values[-1] = float(near[neighbours].sum())
            return changed, values

        return rewired

    def sensitivity(self, max_degree: int) -> int:
        """Return 1 (the paper's bound)."""
        return 1

    def impact_cardinality(self, max_degree: int) -> int:
        """Return 2d + 1 for d ≥ 2, 2 for d = 1, 0 for d = 0."""
        return 2 * max_degree + 1 if max_degree >= 2 else 2 * max_degree


ROWS = 1 << 16  # paths expanded at once: bounds the memory, not the result


@dataclass(frozen=True)
class Path(_Ordered):
    """Paths: the simple paths of 1 to k edges from v to members of S [1]_.

    A path may pass through other members of S; one from v ∈ S must end elsewhere. Two paths are
    different if their vertex sequences are.

    Parameters
    ----------
    k : int
        Longest path, in edges.

    Raises
    ------
    InputError
        If ``k`` is not a whole number of at least 1.

    Notes
    -----
    Write u for the rewired protected vertex.

    *Sensitivity*, declared ``(k-1) d^(k-1)`` as in [1]_. For k = 1 it is 0: t and S are targeted,
    and edges between targeted vertices never change. In general only paths through u change, and
    a network of degree d has, with l edges and u at position j, at most ``d (d-1)^(j-2)`` ways
    from u back to the given t (1 for j = 1) and ``(d-1)^(l-j)`` on to S. Summed over
    1 ≤ j < l ≤ k that is at most ``d (k-1) (1 + (d-1) + … + (d-1)^(k-2)) ≤ (k-1) d^(k-1)``. So
    the bound holds for paths of *up to* k edges too; it is loose (for k = 2, d - 1 is right).

    *Impact cardinality*, derived in :func:`impact_within`.

    References
    ----------
    .. [1] Kearns, Roth, Wu, Yaroslavtsev, "Privacy for the Protected (Only)", 2015, section
       "Statistics of Proximity".

    Examples
    --------
    >>> import networkx as nx
    >>> sop = Path(k=2)
    >>> str(sop), sop(nx.cycle_graph(4), 0, frozenset({1, 2})), sop.sensitivity(3)
    ('Path_2', 3, 3)
    >>> Path(k=0)
    Traceback (most recent call last):
        ...
    pdpaudit.core.errors.InputError: Path(k=0): k is the longest path, a whole number of at least 1
    """

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> int:
        """Return the number of paths from ``vertex``; O(d^k)."""
        on_path = {vertex}

        def count(end: int, edges_left: int) -> int:
            total = 0
            for following in graph[end]:
                if following in on_path:
                    continue
                total += following in targets
                if edges_left > 1:
                    on_path.add(following)
                    total += count(following, edges_left - 1)
                    on_path.remove(following)
            return total

        return count(vertex, self.k)

    def scores(self, adjacency: csr_array, targets: Vertices) -> npt.NDArray[np.float64]:
        """Return the statistic of every vertex, shape ``(n,)``.

        O(k (n + m)) for k ≤ 3, plus the edges two steps around S for k = 3; for k ≥ 4 the number
        of paths of k edges that start in S.
        """
        return (_algebraic if self.k <= 3 else _enumerated)(adjacency, targets, self.k)

    def sensitivity(self, max_degree: int) -> int:
        """Return (k - 1) d^(k - 1) (the paper's bound)."""
        return (self.k - 1) * int(max_degree ** (self.k - 1))


def _algebraic(adjacency: csr_array, targets: Vertices, k: int) -> npt.NDArray[np.float64]:
    """Count the walks of up to k ≤ 3 edges and take out those that are no paths."""
    matrix, members = adjacency.astype(np.float64), indicator(adjacency, targets)
    one, degree = matrix @ members, degrees(adjacency)
    if k == 1:
        return np.asarray(one)
    # A walk of two edges that is no path returns to its start, a member of S.
    two = matrix @ one - degree * members
    if k == 2:
        return np.asarray(one + two)
    # Walks v-a-b-w of three edges with v ≠ w that are no paths have b = v (deg v of them when
    # v-w is an edge) or a = w (deg w), the walk v-w-v-w being both: A³ - DA - AD + A.
    three = matrix @ (matrix @ one) - degree * one - matrix @ (degree * members) + one
    # Closed walks of three edges, two for each triangle, count for members of S only.
    rows = matrix[targets]
    three[targets] -= np.asarray((rows @ matrix).multiply(rows).sum(axis=1)).ravel()
    return np.asarray(one + two + three)


def _enumerated(adjacency: csr_array, targets: Vertices, k: int) -> npt.NDArray[np.float64]:
    """Expand all paths that start in S, a block at a time, and count where they end."""
    n = adjacency.shape[0]
    counts = np.zeros(n)
    stack = [np.asarray(targets, dtype=np.int64).reshape(-1, 1)]
    while stack:
        paths = stack.pop()
        for block in _blocks(adjacency, paths):
            longer = _expand(adjacency, block)
            counts += np.bincount(longer[:, -1], minlength=n)
            if longer.shape[1] <= k and len(longer):
                stack.append(longer)
    return counts


def _blocks(adjacency: csr_array, paths: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    """Cut the paths where their continuations would fill more than one block."""
    cumulated = np.cumsum(np.diff(adjacency.indptr)[paths[:, -1]], dtype=np.int64)
    yield from np.split(paths, np.flatnonzero(np.diff(cumulated // ROWS)) + 1)


def _expand(adjacency: csr_array, paths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return every path continued by every neighbour of its end that is not on it."""
    start = adjacency.indptr[paths[:, -1]].astype(np.int64)
    degree = adjacency.indptr[paths[:, -1] + 1] - start
    parent = np.repeat(np.arange(len(paths)), degree)
    first = np.cumsum(degree) - degree
    following = adjacency.indices[np.arange(len(parent)) + np.repeat(start - first, degree)]
    new = (paths[parent] != following[:, None]).all(axis=1)
    return np.column_stack([paths[parent[new]], following[new]]).astype(np.int64)


@dataclass(frozen=True)
class Triangle(Named):
    """Triangles: the pairs ``{a, b} ⊆ S`` such that a, b and v are pairwise adjacent [1]_.

    Notes
    -----
    Write u for the rewired protected vertex.

    *Sensitivity*, declared d as in [1]_, "since each triangle is associated with an edge and the
    total number of edges affected is at most d". Exactly it is 0: for a targeted t all three
    corners are targeted, and edges between targeted vertices never change.

    *Impact cardinality*, derived here: 1. A triangle counted for v has its two other corners in
    S, so an edge at u is one of its sides only if v = u. With d < 2 there is no triangle: 0.

    References
    ----------
    .. [1] Kearns, Roth, Wu, Yaroslavtsev, "Privacy for the Protected (Only)", 2015, section
       "Statistics of Proximity".

    Examples
    --------
    >>> import networkx as nx
    >>> sop = Triangle()
    >>> sop(nx.complete_graph(4), 0, frozenset({1, 2, 3})), sop.sensitivity(3)
    (3, 3)
    """

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> int:
        """Return the number of triangles of ``vertex`` with two members of ``targets``.

        O(degree²).
        """
        near = [other for other in graph[vertex] if other in targets]
        return sum(graph.has_edge(a, b) for a, b in combinations(near, 2))

    def scores(self, adjacency: csr_array, targets: Vertices) -> npt.NDArray[np.float64]:
        """Return the statistic of every vertex, shape ``(n,)``.

        O(m plus the sum of ``deg(a) * |N(a) ∩ S|`` over the members a of S).
        """
        if not len(targets):
            return np.zeros(adjacency.shape[0])
        to_members = adjacency[:, targets].astype(np.float64)
        # (v, b) holds the number of a in S with v-a-b: where v-b is an edge too, a triangle.
        closed = (to_members @ to_members[targets]).multiply(to_members)
        return np.asarray(closed.sum(axis=1), dtype=np.float64).ravel() / 2

    def sensitivity(self, max_degree: int) -> int:
        """Return d (the paper's bound; exactly it is 0)."""
        return max_degree

    def impact_cardinality(self, max_degree: int) -> int:
        """Return 1, or 0 for d < 2."""
        return int(max_degree >= 2)


@dataclass(frozen=True)
class Flow(_Ordered):
    """Flow: the maximum flow from v to S over paths of at most k edges [1]_.

    Every edge carries at most 1, both directions together; the flow may be fractional. A member
    v of S sends its flow to S without v.

    Parameters
    ----------
    k : int
        Longest path, in edges.

    Raises
    ------
    InputError
        If ``k`` is not a whole number of at least 1.

    Notes
    -----
    *Method*: a linear programme over flows in time. Flow leaves v in step 1, moves by one edge in
    each step, is absorbed on its first arrival in S and may not wait. Its routes are walks of at
    most k edges, and leaving the loops out of a walk makes it a path that uses fewer edges, so
    walks carry no more than paths do.

    *Sensitivity*, declared d as in [1]_: u has at most d edges. (A path through u uses two of
    them, so d / 2 holds as well.)

    *Impact cardinality*, derived in :func:`impact_within`: flow changes only where paths do.

    References
    ----------
    .. [1] Kearns, Roth, Wu, Yaroslavtsev, "Privacy for the Protected (Only)", 2015, section
       "Statistics of Proximity".

    Examples
    --------
    >>> import networkx as nx
    >>> sop = Flow(k=3)
    >>> str(sop), sop(nx.cycle_graph(5), 0, frozenset({2})), sop.sensitivity(4)
    ('Flow_3', 2.0, 4)
    """

    componentwise = False

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> float:
        """Return the maximum flow from ``vertex``; one linear programme of O(k m) variables.

        No programme is needed where every neighbour of ``vertex`` that reaches S in time is in S
        or next to it: then each of them carries 1.
        """
        sinks = targets - {vertex}
        left = _steps_to(graph, sinks, vertex, self.k - 1)
        first = [left[w] for w in graph[vertex] if w in left]
        if all(steps <= 1 for steps in first):
            return float(len(first))
        return _maximum(_arcs(graph, vertex, sinks, left, self.k), vertex, sinks)

    def sensitivity(self, max_degree: int) -> int:
        """Return d (the paper's bound)."""
        return max_degree

    def error(self, max_degree: int) -> float:
        """Return the error of the linear programme: 0 for k < 3, where none is needed.

        The solver (HiGHS) meets every constraint, and every reduced cost, to within 1e-7. A dual
        solution has prices of at most 1, on at most as many edges and places (step, vertex) as
        lie within k - 1 steps of v; the flow uses at most d routes of k arcs. So the value is
        wrong by at most 1e-7 for each of these.
        """
        if self.k < 3:
            return 0.0
        places: int = sum(max_degree**step for step in range(1, self.k + 1))
        return 1e-7 * (2 * places + self.k * max_degree)


def _steps_to(graph: nx.Graph, sinks: frozenset[int], avoided: int, limit: int) -> dict[int, int]:
    """Return the distance to the nearest sink, where at most ``limit``, around ``avoided``."""
    distance = dict.fromkeys(sinks, 0)
    layer = list(distance)
    for steps in range(1, limit + 1):
        following = []
        for vertex in layer:
            for other in graph[vertex]:
                if other not in distance and other != avoided:
                    distance[other] = steps
                    following.append(other)
        layer = following
    return distance


def _arcs(
    graph: nx.Graph, source: int, sinks: frozenset[int], left: dict[int, int], k: int
) -> list[Arc]:
    """Return the arcs flow can use: reached from the source, and in time for a sink."""
    arcs: list[Arc] = []
    layer = {source}
    for step in range(1, k + 1):
        moves = [(v, w) for v in layer for w in graph[v] if left.get(w, k) <= k - step]
        arcs.extend((step, v, w) for v, w in moves)
        layer = {w for _, w in moves if w not in sinks}
    return arcs


def _maximum(arcs: list[Arc], source: int, sinks: frozenset[int]) -> float:
    """Maximise what leaves the source, conserving flow and sharing the edges' capacity."""
    edges: dict[frozenset[int], int] = {}
    places: dict[tuple[int, int], int] = {}  # (steps made, vertex)
    capacity: list[tuple[int, int]] = []
    balance: list[tuple[int, int, float]] = []
    for column, (step, v, w) in enumerate(arcs):
        capacity.append((edges.setdefault(frozenset((v, w)), len(edges)), column))
        if step > 1:
            balance.append((places.setdefault((step - 1, v), len(places)), column, -1.0))
        if w not in sinks:
            balance.append((places.setdefault((step, w), len(places)), column, 1.0))
    rows, columns = zip(*capacity, strict=True)
    upper = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(edges), len(arcs)))
    rows, columns, signs = zip(*balance, strict=True)
    equal = csr_array((signs, (rows, columns)), shape=(len(places), len(arcs)))
    leaving = np.array([-1.0 if step == 1 else 0.0 for step, _, _ in arcs])
    # Not above: importing it takes longer than reading a large network.
    from scipy.optimize import linprog

    # The stubs of scipy know dense constraints only.
    solved = linprog(  # type: ignore[call-overload]
        leaving, A_ub=upper, b_ub=np.ones(len(edges)), A_eq=equal, b_eq=np.zeros(len(places))
    )
    return float(-solved.fun)
