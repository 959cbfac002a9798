"""Rewiring against networkx, and a check of pairs that catches every way to be wrong."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pdpaudit.core.errors import InputError
from pdpaudit.core.network import NeighborPair, Network, adjacency_from_networkx, difference, rewire
from pdpaudit.testing.strategies import neighbor_pairs, networks, subsets

quick = settings(max_examples=settings().max_examples // 2, deadline=None)


def graph_of(network: Network) -> nx.Graph:
    return nx.from_numpy_array(network.adjacency.toarray())


@quick
@given(networks(max_vertices=9), st.data())
def test_rewiring_is_taking_all_edges_away_and_adding_the_new_ones(network, data):
    u = data.draw(st.sampled_from(network.protected.tolist()))
    new = list(data.draw(subsets([v for v in range(network.n) if v != u])))
    expected = graph_of(network)
    expected.remove_edges_from(list(expected.edges(u)))
    expected.add_edges_from((u, v) for v in new)
    before = network.adjacency.toarray()

    rewired = rewire(network, u, data.draw(st.permutations(new)))

    assert nx.utils.graphs_equal(nx.Graph(graph_of(rewired).edges), nx.Graph(expected.edges))
    canonical = adjacency_from_networkx(expected)[0]
    assert np.array_equal(rewired.adjacency.indptr, canonical.indptr)
    assert np.array_equal(rewired.adjacency.indices, canonical.indices)
    assert np.array_equal(rewired.adjacency.data, canonical.data)
    assert rewired.adjacency.dtype == np.int8
    assert (rewired.targeted is network.targeted, rewired.seeds) == (True, network.seeds)
    assert np.array_equal(network.adjacency.toarray(), before)
    assert difference(network, rewired, u) is None


@quick
@given(neighbor_pairs(max_vertices=8, max_degree=3))
def test_a_pair_is_two_neighbours_whatever_its_network_had_at_the_vertex(pair):
    assert difference(pair.left, pair.right, pair.vertex) is None
    wired_otherwise = rewire(pair.network, pair.vertex, [])
    other = NeighborPair(wired_otherwise, pair.vertex, pair.left_neighbours, pair.right_neighbours)
    assert np.array_equal(other.left.adjacency.toarray(), pair.left.adjacency.toarray())
    assert np.array_equal(other.right.adjacency.toarray(), pair.right.adjacency.toarray())


@pytest.mark.parametrize(
    ("vertex", "neighbours", "words"),
    [
        (2, [1], "vertex 2 is targeted"),
        (1, [4], "must be vertices 0..3"),
        (1, [-1], "must be vertices 0..3"),
        (1, [2**40], "must be vertices 0..3"),
        (1, [1], "other than itself"),
        (1, [0, 2, 0], "distinct"),
        (4, [0], "4 is not a vertex"),
        (-1, [0], "-1 is not a vertex"),
    ],
)
def test_what_is_no_rewiring_is_refused(path_network, vertex, neighbours, words):
    with pytest.raises(ValueError, match=words):
        rewire(path_network, vertex, neighbours)


def test_a_rewiring_beyond_the_public_degree_bound_is_refused(path_network):
    bounded = replace(path_network, max_degree=2)
    assert rewire(bounded, 3, [0, 2]).max_degree == 2
    with pytest.raises(InputError, match="max_degree = 2: '3' has degree 3"):
        rewire(rewire(bounded, 1, []), 3, [0, 1, 2])
    with pytest.raises(InputError, match="max_degree = 2: '1' has degree 3"):
        rewire(bounded, 3, [1])


def test_a_vertex_may_lose_all_its_neighbours(path_network):
    assert rewire(path_network, 1, []).neighbours(1).tolist() == []
    assert rewire(path_network, 1, np.empty(0, dtype=int)).edges == 1


def dense(network: Network, *entries: tuple[int, int, int]) -> Network:
    """The network with some entries of its matrix overwritten, symmetric or not."""
    matrix = network.adjacency.toarray()
    for row, column, value in entries:
        matrix[row, column] = value
    return network.with_adjacency(csr_array(matrix))


def edge(a: int, b: int, value: int) -> list[tuple[int, int, int]]:
    return [(a, b, value), (b, a, value)]


def test_the_check_of_pairs_passes_equal_and_rewired_networks(path_network):
    assert difference(path_network, path_network, 1) is None
    assert difference(path_network, dense(path_network, *edge(0, 1, 0), *edge(1, 3, 1)), 1) is None


def test_the_check_of_pairs_sees_every_way_to_be_wrong(path_network):
    base = path_network
    wrong = {
        "partition": replace(base, targeted=np.array([True, False, True, True])),
        "seeds": replace(base, seeds=(2,)),
        "degree bound": replace(base, max_degree=3),
        "edge 2-3": dense(base, *edge(2, 3, 0)),
        "edge 0-2": dense(base, *edge(0, 2, 1)),
        "edge 0-3": dense(base, *edge(0, 3, 1), *edge(1, 3, 1)),
        "edge 1-1": dense(base, (1, 1, 1)),
        "edge 3-3": dense(base, (3, 3, 1)),
        "edge 1-3": dense(base, (1, 3, 1)),
        "edge 3-1": dense(base, (3, 1, 1)),
        "edge 0-1": dense(base, (1, 0, 0)),
    }
    for words, other in wrong.items():
        for pair in ((base, other), (other, base)):
            found = difference(*pair, 1)
            assert found is not None, words
            assert words in found, found
    # The same loop or one-way edge on both sides is no valid network either.
    for words in ("edge 1-1", "edge 3-3", "edge 1-3", "edge 0-1"):
        found = difference(wrong[words], wrong[words], 1)
        assert found is not None, words
        assert words in found, found


def test_the_check_of_pairs_wants_a_protected_vertex_and_the_same_number_of_them(path_network):
    assert "targeted" in str(difference(path_network, path_network, 0))
    longer = Network(
        adjacency_from_networkx(nx.path_graph(5))[0], np.array([True, False] * 2 + [False]), (0,)
    )
    assert "share vertices" in str(difference(path_network, longer, 1))


def test_the_check_of_pairs_wants_every_edge_once(path_network):
    doubled = dense(path_network, *edge(2, 3, 2))
    assert "2-3" in str(difference(path_network, doubled, 1))


@quick
@given(neighbor_pairs(min_vertices=4, max_vertices=8), st.data())
def test_the_check_of_pairs_sees_any_change_away_from_the_vertex(pair, data):
    others = [v for v in range(pair.network.n) if v != pair.vertex]
    a, b = sorted(data.draw(st.permutations(others))[:2])
    now = int(pair.right.adjacency.toarray()[a, b])
    changed = dense(pair.right, *edge(a, b, 1 - now))
    assert difference(pair.left, changed, pair.vertex) == (
        f"edge {a}-{b} differs and does not touch vertex {pair.vertex}"
    )
