"""Flow_k: the flow that short paths can carry between a vertex and the set."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from .paper import impact_within, require_order

__all__ = ["Flow"]

Arc = tuple[int, int, int]  # (step, from, to)


@dataclass(frozen=True)
class Flow:
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
    >>> sop = Flow(k=3)
    >>> str(sop), sop(nx.cycle_graph(5), 0, frozenset({2})), sop.sensitivity(4)
    ('Flow_3', 2.0, 4)
    """

    k: int = 2

    def __post_init__(self) -> None:
        """Refuse an impossible order."""
        require_order("Flow", self.k)

    @property
    def name(self) -> str:
        """What the paper calls it."""
        return f"Flow_{self.k}"

    def __str__(self) -> str:
        """Return the name."""
        return self.name

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

    def impact_cardinality(self, max_degree: int) -> int:
        """Return the number of vertices u can affect, see :func:`impact_within`."""
        return impact_within(self.k, max_degree)


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
    # The stubs of scipy know dense constraints only.
    solved = linprog(  # type: ignore[call-overload]
        leaving, A_ub=upper, b_ub=np.ones(len(edges)), A_eq=equal, b_eq=np.zeros(len(places))
    )
    return float(-solved.fun)
