"""Triangle: the triangles a vertex forms with two members of the set."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

__all__ = ["Triangle"]


@dataclass(frozen=True)
class Triangle:
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
    >>> sop = Triangle()
    >>> sop(nx.complete_graph(4), 0, frozenset({1, 2, 3})), sop.sensitivity(3)
    (3, 3)
    """

    # Scores on a disjoint union are the scores on its parts: the checks may batch small graphs.
    componentwise: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return "Triangle"

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> int:
        """Return the number of triangles of ``vertex`` with two members of ``targets``.

        O(degree²).
        """
        near = [other for other in graph[vertex] if other in targets]
        return sum(graph.has_edge(a, b) for a, b in combinations(near, 2))

    def scores(
        self, adjacency: csr_array, targets: npt.NDArray[np.integer[Any]]
    ) -> npt.NDArray[np.float64]:
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
