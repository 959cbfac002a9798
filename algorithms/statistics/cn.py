"""CN: the neighbours of a vertex that are also neighbours of the set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.core.protocols import Rewirer

__all__ = ["CN"]


@dataclass(frozen=True)
class CN:
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
    >>> sop = CN()
    >>> sop(nx.star_graph(3), 1, frozenset({2, 3})), sop.sensitivity(9), sop.impact_cardinality(9)
    (1, 1, 19)
    >>> str(sop)
    'CN'
    """

    # Scores on a disjoint union are the scores on its parts: the checks may batch small graphs.
    componentwise: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return "CN"

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> int:
        """Return the number of neighbours of ``vertex`` next to a member of ``targets``.

        O(sum of the degrees of the neighbours of ``vertex``).
        """
        return sum(not targets.isdisjoint(graph[middle]) for middle in graph[vertex])

    def scores(
        self, adjacency: csr_array, targets: npt.NDArray[np.integer[Any]]
    ) -> npt.NDArray[np.float64]:
        """Return the statistic of every vertex, shape ``(n,)``; O(n + m) for m edges."""
        members = np.zeros(adjacency.shape[0], dtype=np.int32)
        members[targets] = 1
        near: npt.NDArray[np.int32] = (adjacency @ members > 0).astype(np.int32)
        return np.asarray(adjacency @ near, dtype=np.float64)

    def rewirer(self, adjacency: csr_array, targets: npt.NDArray[np.integer[Any]]) -> Rewirer:
        """Return what tells whose count changes when a vertex outside ``targets`` is rewired.

        N(S) changes by that vertex at most; so a neighbour's count changes by 1 where it comes or
        goes in N(S), and nobody else's. O(n + m) once, then O(degrees).
        """
        members = np.zeros(adjacency.shape[0], dtype=np.int32)
        members[targets] = 1
        near = adjacency @ members > 0
        scores = np.asarray(adjacency @ near.astype(np.int32), dtype=np.float64)

        marked = np.zeros(adjacency.shape[0], dtype=bool)

        def _without(
            some: npt.NDArray[np.integer[Any]], others: npt.NDArray[np.integer[Any]]
        ) -> npt.NDArray[np.integer[Any]]:
            # marks cost the two lists alone; numpy's set routines sort, a thousand times over
            if not len(some) or not len(others):
                return some
            marked[others] = True
            left = ~marked[some]
            marked[others] = False
            return np.asarray(some[left])

        def rewired(
            vertex: int, neighbours: npt.NDArray[np.integer[Any]]
        ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
            start, end = adjacency.indptr[vertex : vertex + 2]
            gone = adjacency.indices[start:end] if near[vertex] else neighbours[:0]
            come = neighbours if members[neighbours].any() else neighbours[:0]
            lost, won = _without(gone, come), _without(come, gone)
            changed = np.concatenate([lost, won]).astype(np.int64)
            change = np.repeat([-1.0, 1.0], [len(lost), len(won)])
            own = float(near[neighbours].sum())
            return (
                np.append(changed, vertex),
                np.append(scores[changed] + change, own),
            )

        return rewired

    def sensitivity(self, max_degree: int) -> int:
        """Return 1 (the paper's bound)."""
        return 1

    def impact_cardinality(self, max_degree: int) -> int:
        """Return 2d + 1 for d ≥ 2, 2 for d = 1, 0 for d = 0."""
        return 2 * max_degree + 1 if max_degree >= 2 else 2 * max_degree
