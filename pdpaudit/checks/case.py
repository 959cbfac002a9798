"""One neighbouring pair small enough to print, with the set S: what the checks look at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import networkx as nx

__all__ = ["Case", "build"]

Edge = tuple[int, int]


def build(n: int, edges: Iterable[Edge]) -> nx.Graph:
    """Return the graph on vertices ``0..n-1``, nodes and edges inserted in index order."""
    graph = nx.empty_graph(n)
    graph.add_edges_from(sorted(edges))
    return graph


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
        left, right = (
            [*self.edges, *(_edge(self.vertex, v) for v in neighbours)]
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
        widest = max(len(self.left), len(self.right))
        for neighbours in (self.left, self.right):
            for v in neighbours:
                widest = max(widest, degree[v] + 1)
        return max(widest, *degree)

    @property
    def size(self) -> tuple[int, int, int, int]:
        """What a smaller counterexample has less of: vertices, edges, u's edges, members of S."""
        spokes = len({*self.left, *self.right})
        return (
            self.n,
            len(self.edges) + spokes,
            len(self.left) + len(self.right),
            len(self.targets),
        )


def _edge(a: int, b: int) -> Edge:
    return (a, b) if a < b else (b, a)
