"""Path_k: the short simple paths between a vertex and the set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ._order import impact_within, require_order

__all__ = ["Path"]

_ROWS = 1 << 16  # paths expanded at once: bounds the memory, not the result


@dataclass(frozen=True)
class Path:
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
    >>> sop = Path(k=2)
    >>> str(sop), sop(nx.cycle_graph(4), 0, frozenset({1, 2})), sop.sensitivity(3)
    ('Path_2', 3, 3)
    >>> Path(k=0)
    Traceback (most recent call last):
        ...
    pdpaudit.core.errors.InputError: Path(k=0): k is the longest path, a whole number of at least 1
    """

    k: int = 2

    # Scores on a disjoint union are the scores on its parts: the checks may batch small graphs.
    componentwise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse an impossible order."""
        require_order("Path", self.k)

    @property
    def name(self) -> str:
        """What the paper calls it."""
        return f"Path_{self.k}"

    def __str__(self) -> str:
        """Return the name."""
        return self.name

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

    def scores(
        self, adjacency: csr_array, targets: npt.NDArray[np.integer[Any]]
    ) -> npt.NDArray[np.float64]:
        """Return the statistic of every vertex, shape ``(n,)``.

        O(k (n + m)) for k ≤ 3, plus the edges two steps around S for k = 3; for k ≥ 4 the number
        of paths of k edges that start in S.
        """
        return (
            _algebraic(adjacency, targets, self.k)
            if self.k <= 3
            else _enumerated(adjacency, targets, self.k)
        )

    def sensitivity(self, max_degree: int) -> int:
        """Return (k - 1) d^(k - 1) (the paper's bound)."""
        return (self.k - 1) * int(max_degree ** (self.k - 1))

    def impact_cardinality(self, max_degree: int) -> int:
        """Return the number of vertices u can affect, see :func:`impact_within`."""
        return impact_within(self.k, max_degree)


def _algebraic(
    adjacency: csr_array, targets: npt.NDArray[np.integer[Any]], k: int
) -> npt.NDArray[np.float64]:
    """Count the walks of up to k ≤ 3 edges and take out those that are no paths."""
    matrix = adjacency.astype(np.float64)
    members = np.zeros(adjacency.shape[0])
    members[targets] = 1
    one = matrix @ members
    if k == 1:
        return np.asarray(one)
    degree = np.diff(adjacency.indptr).astype(np.float64)
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


def _enumerated(
    adjacency: csr_array, targets: npt.NDArray[np.integer[Any]], k: int
) -> npt.NDArray[np.float64]:
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
    yield from np.split(paths, np.flatnonzero(np.diff(cumulated // _ROWS)) + 1)


def _expand(adjacency: csr_array, paths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return every path continued by every neighbour of its end that is not on it."""
    start = adjacency.indptr[paths[:, -1]].astype(np.int64)
    degree = adjacency.indptr[paths[:, -1] + 1] - start
    parent = np.repeat(np.arange(len(paths)), degree)
    first = np.cumsum(degree) - degree
    following = adjacency.indices[np.arange(len(parent)) + np.repeat(start - first, degree)]
    new = (paths[parent] != following[:, None]).all(axis=1)
    return np.column_stack([paths[parent[new]], following[new]]).astype(np.int64)
