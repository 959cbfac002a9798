"""Hypothesis strategies for networks, partitions and neighbouring pairs.

For the tests of whoever writes a statistic or a mechanism. All of them shrink towards few
vertices, few edges, few targeted vertices and a rewiring of few edges.

Examples
--------
>>> from hypothesis import given, settings
>>> @settings(max_examples=20, database=None, derandomize=True)
... @given(neighbor_pairs(max_vertices=6, max_degree=3))
... def test_edges_between_targets_never_change(pair):
...     inside = pair.left.targeted
...     left, right = (side.adjacency[inside][:, inside] for side in (pair.left, pair.right))
...     assert (left != right).nnz == 0
>>> test_edges_between_targets_never_change()
"""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pdpaudit.core.network import (
    NeighborPair,
    Network,
    adjacency_from_edges,
    adjacency_from_networkx,
)

Edges = list[tuple[int, int]]


@st.composite
def _edges(draw: st.DrawFn, n: int, max_degree: int | None) -> Edges:
    """Draw the edges of a graph on n vertices, none beyond the degree bound."""
    # In this order a pair keeps its place when the number of vertices shrinks.
    pairs = [(a, b) for b in range(n) for a in range(b)]
    if not pairs:
        return []
    # A few edges by their place; or one draw for each pair, which gives dense graphs too. Dense
    # takes many draws, so that a shrunk example is not dense for brevity.
    if draw(st.booleans()):
        chosen = [pair for pair in pairs if draw(st.integers(0, 3))]
    else:
        chosen = sorted(draw(st.sets(st.sampled_from(pairs))))
    degree = [0] * n
    edges = []
    bound = n if max_degree is None else max_degree
    for a, b in chosen:
        if degree[a] < bound and degree[b] < bound:
            degree[a] += 1
            degree[b] += 1
            edges.append((a, b))
    return edges


@st.composite
def adjacencies(
    draw: st.DrawFn, min_vertices: int = 1, max_vertices: int = 12, max_degree: int | None = None
) -> csr_array:
    """Draw the adjacency matrix of a simple graph.

    Parameters
    ----------
    draw : callable
        Given by Hypothesis.
    min_vertices, max_vertices : int
        Range of the number of vertices.
    max_degree : int, optional
        Degree bound.

    Returns
    -------
    csr_array of int8, shape (n, n)
        Symmetric, sorted indices, zero diagonal.
    """
    n = draw(st.integers(min_vertices, max_vertices))
    ends = np.array(draw(_edges(n, max_degree)), dtype=np.int64).reshape(-1, 2)
    return adjacency_from_edges(n, ends[:, 0], ends[:, 1])


@st.composite
def graphs(
    draw: st.DrawFn, min_vertices: int = 1, max_vertices: int = 12, max_degree: int | None = None
) -> nx.Graph:
    """Draw a networkx graph on vertices ``0..n-1``; parameters as for :func:`adjacencies`."""
    n = draw(st.integers(min_vertices, max_vertices))
    graph = nx.empty_graph(n)
    graph.add_edges_from(draw(_edges(n, max_degree)))
    return graph


def subsets(vertices: list[int]) -> st.SearchStrategy[frozenset[int]]:
    """Draw a set of these vertices, the empty one included.

    Examples
    --------
    >>> from hypothesis import find
    >>> sorted(find(subsets([3, 5, 8]), lambda chosen: len(chosen) == 2))
    [3, 5]
    """
    if not vertices:
        return st.just(frozenset())
    return st.frozensets(st.sampled_from(vertices))


@st.composite
def partitions(draw: st.DrawFn, n: int) -> np.ndarray:
    """Draw a partition of n ≥ 2 vertices with both kinds in it.

    Returns
    -------
    ndarray of bool, shape (n,)
        ``True`` for targeted.
    """
    first = draw(st.integers(0, n - 1))
    rest = [v for v in range(n) if v != first]
    protected = draw(st.sampled_from(rest))
    targeted = np.zeros(n, dtype=bool)
    targeted[[first, *draw(subsets([v for v in rest if v != protected]))]] = True
    return targeted


@st.composite
def networks(
    draw: st.DrawFn, min_vertices: int = 2, max_vertices: int = 12, max_degree: int | None = None
) -> Network:
    """Draw a network: graph, partition, and one public seed.

    Parameters
    ----------
    draw : callable
        Given by Hypothesis.
    min_vertices, max_vertices : int
        Range of the number of vertices, at least 2.
    max_degree : int, optional
        Degree bound.

    Returns
    -------
    Network
        At least one vertex targeted and one protected.
    """
    graph = draw(graphs(max(min_vertices, 2), max_vertices, max_degree))
    targeted = draw(partitions(len(graph)))
    seed = draw(st.sampled_from(np.flatnonzero(targeted).tolist()))
    return Network(adjacency_from_networkx(graph)[0], targeted, seeds=(seed,))


@st.composite
def neighbor_pairs(
    draw: st.DrawFn, min_vertices: int = 2, max_vertices: int = 12, max_degree: int | None = None
) -> NeighborPair:
    """Draw two networks that differ in the edges of one protected vertex.

    Parameters
    ----------
    draw : callable
        Given by Hypothesis.
    min_vertices, max_vertices : int
        Range of the number of vertices, at least 2.
    max_degree : int, optional
        Degree bound that both networks obey.

    Returns
    -------
    NeighborPair
        The two may be equal.
    """
    left = draw(networks(min_vertices, max_vertices, max_degree))
    vertex = draw(st.sampled_from(left.protected.tolist()))
    degree = np.diff(left.adjacency.indptr)
    own = set(left.neighbours(vertex).tolist())
    bound = left.n if max_degree is None else max_degree
    open_to = [v for v in range(left.n) if v != vertex and (v in own or degree[v] < bound)]
    toggled = draw(subsets(open_to))
    other = np.array(sorted(own ^ toggled)[:bound], dtype=np.int64)
    return NeighborPair(left, vertex, left.neighbours(vertex), other, "drawn")
