"""One neighbouring pair small enough to print, with the set S, and how to make it smaller."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import networkx as nx

from pdpaudit.checks.graphs import Edge, build

PAIRS_UP_TO = 16  # vertices up to which two are left out at once


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

    @property
    def max_degree(self) -> int:
        """The smallest degree bound both networks obey."""
        degree = [0] * self.n
        for a, b in self.edges:
            degree[a] += 1
            degree[b] += 1
        near = max((degree[v] + 1 for v in (*self.left, *self.right)), default=0)
        return max(len(self.left), len(self.right), near, *degree)

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


def shrink(case: Case, still: Callable[[Case], bool], deadline: float) -> Case:
    """Leave out vertices, then edges, then members of S, as long as the violation stays."""
    smaller = True
    while smaller and time.time() < deadline:
        smaller = False
        for candidate in _smaller(case):
            if time.time() > deadline:
                break
            if still(candidate):
                case, smaller = candidate, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    others = [v for v in range(case.n) if v != case.vertex]
    yield from (_without_vertex(case, v) for v in others)
    for v in range(case.n):
        smoothed = _smoothed(case, v)
        if smoothed is not None:
            yield smoothed
    if case.n <= PAIRS_UP_TO:
        for a, b in combinations(others, 2):
            yield _without_vertex(_without_vertex(case, b), a)
    for v in sorted({*case.left, *case.right}):
        yield replace(case, left=_without(case.left, v), right=_without(case.right, v))
    for edge in case.edges:
        yield replace(case, edges=tuple(other for other in case.edges if other != edge))
    for v in sorted({*case.left} & {*case.right}):
        yield replace(case, left=_without(case.left, v))
        yield replace(case, right=_without(case.right, v))
    for v in case.targets:
        yield replace(case, targets=_without(case.targets, v))


def _without(vertices: tuple[int, ...], gone: int) -> tuple[int, ...]:
    return tuple(v for v in vertices if v != gone)


def _smoothed(case: Case, v: int) -> Case | None:
    """Leave out a vertex with two neighbours, joining these: cycles and paths get shorter."""
    if v in (case.vertex, *case.left, *case.right):
        return None
    around = sorted({a + b - v for a, b in case.edges if v in (a, b)})
    if len(around) != 2:
        return None
    joined = sorted({*case.edges, (around[0], around[1])})
    return _without_vertex(replace(case, edges=tuple(joined)), v)


def _without_vertex(case: Case, gone: int) -> Case:
    """Leave a vertex out and close the gap in the numbering."""
    kept = [v for v in range(case.n) if v != gone]
    return restricted(case, kept)


def restricted(case: Case, kept: list[int]) -> Case:
    """Return the pair on some of its vertices, numbered anew in their order."""
    index = {v: i for i, v in enumerate(kept)}
    edges = tuple((index[a], index[b]) for a, b in case.edges if a in index and b in index)
    left, right, targets = (
        tuple(index[v] for v in part if v in index)
        for part in (case.left, case.right, case.targets)
    )
    return Case(len(kept), edges, index[case.vertex], left, right, targets)
