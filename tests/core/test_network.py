"""The compact network against networkx, and what a search is shown of it."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpaudit.core.errors import InputError
from pdpaudit.core.network import (
    IdentityOracle,
    Network,
    adjacency_from_edges,
    adjacency_from_networkx,
    default_seeds,
    targeted_components,
)
from pdpaudit.testing.strategies import graphs, networks

quick = settings(max_examples=settings().max_examples // 2, deadline=None)


@st.composite
def edge_lists(draw):
    """A vertex count and any ends: repeated, reversed and looping edges included."""
    n = draw(st.integers(1, 9))
    vertex = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(vertex, vertex), max_size=25))


def matrix_of(n, edges):
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return adjacency_from_edges(n, ends[:, 0], ends[:, 1])


@quick
@given(edge_lists())
def test_any_edge_list_becomes_the_simple_graph_networkx_makes_of_it(drawn):
    n, edges = drawn
    simple = nx.empty_graph(n)
    simple.add_edges_from((a, b) for a, b in edges if a != b)
    expected = nx.to_numpy_array(simple, nodelist=range(n))
    assert np.array_equal(matrix_of(n, edges).toarray(), expected)


@quick
@given(edge_lists(), st.randoms(use_true_random=False))
def test_equal_graphs_are_equal_arrays(drawn, random):
    n, edges = drawn
    other = [pair[::-1] if random.random() < 0.5 else pair for pair in edges + edges[:3]]
    random.shuffle(other)
    one, two = matrix_of(n, edges), matrix_of(n, other)
    for array in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(one, array), getattr(two, array))
    for row in range(n):
        columns = one.indices[one.indptr[row] : one.indptr[row + 1]]
        assert (np.diff(columns) > 0).all()
    assert one.data.dtype == np.int8
    assert (one.data == 1).all()


def test_keys_of_edges_do_not_overflow_small_integers():
    n = 70_000  # n * n does not fit 32 bits
    ends = np.array([[n - 2, n - 1]], dtype=np.int32)
    matrix = adjacency_from_edges(n, ends[:, 0], ends[:, 1])
    assert sorted(zip(*map(np.ndarray.tolist, matrix.nonzero()), strict=True)) == [
        (n - 2, n - 1),
        (n - 1, n - 2),
    ]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_graphs_of_every_kind_become_simple(kind):
    graph = kind()
    graph.add_nodes_from(["z", "lonely", ("a", 1)])
    graph.add_edges_from([("z", ("a", 1)), (("a", 1), "z"), ("z", "z"), ("z", "new")])
    adjacency, nodes = adjacency_from_networkx(graph)
    assert nodes == ("z", "lonely", ("a", 1), "new")
    assert adjacency.toarray().tolist() == [[0, 0, 1, 1], [0] * 4, [1, 0, 0, 0], [1, 0, 0, 0]]


@quick
@given(networks())
def test_the_graph_a_search_sees_is_the_matrix_with_neighbours_in_index_order(network):
    graph = network.instance().graph
    assert np.array_equal(nx.to_numpy_array(graph, range(network.n)), network.adjacency.toarray())
    assert list(graph) == list(range(network.n))
    for v in graph:
        assert list(graph[v]) == sorted(graph[v]) == network.neighbours(v).tolist()


def test_the_graph_a_search_sees_is_frozen_and_built_once(path_network):
    instance = path_network.instance()
    with pytest.raises(nx.NetworkXError, match="Frozen"):
        instance.graph.add_edge(0, 2)
    with pytest.raises(nx.NetworkXError, match="Frozen"):
        instance.graph.remove_node(0)
    assert instance.graph is instance.graph is instance.fresh().graph


@quick
@given(networks(max_vertices=10))
def test_targeted_components_are_those_of_networkx_largest_first(network):
    members = np.flatnonzero(network.targeted)
    whole = nx.from_numpy_array(network.adjacency.toarray())
    expected = [sorted(part) for part in nx.connected_components(whole.subgraph(members))]
    expected.sort(key=lambda part: (-len(part), part[0]))
    found = targeted_components(network.adjacency, network.targeted)
    assert [part.tolist() for part in found] == expected
    assert default_seeds(network.adjacency, network.targeted) == (expected[0][0],)


def test_without_targets_there_are_no_components_and_no_seed(path_network):
    nobody = np.zeros(path_network.n, dtype=bool)
    assert targeted_components(path_network.adjacency, nobody) == []
    with pytest.raises(InputError, match="no targeted vertex"):
        default_seeds(path_network.adjacency, nobody)


@quick
@given(vertex=st.integers() | st.floats() | st.booleans() | st.just([1]) | st.none())
@pytest.mark.parametrize("asked", [False, True])
def test_the_oracle_answers_for_vertices_alone(vertex, asked):
    oracle: Any = IdentityOracle(np.array([True, False, True]), seeds=[0])
    if asked:
        oracle(1)
    if type(vertex) is int and 0 <= vertex < 3:
        assert oracle(vertex) == oracle(np.uint8(vertex)) == (vertex != 1)
        assert all(type(one) is int for one in oracle.log)
    else:
        known = oracle.log
        for form in (vertex, np.array(vertex)):
            with pytest.raises((IndexError, TypeError), match=r"oracle\(vertex\): vertex = "):
                oracle(form)
        assert oracle.log == known


@quick
@given(st.lists(st.integers(0, 5), max_size=30))
def test_the_oracle_is_paid_once_for_each_vertex_but_the_seeds(questions):
    targeted = np.array([True, False, True, True, False, False])
    oracle = IdentityOracle(targeted, seeds=(0, 3))
    assert [oracle.examined(v) for v in range(6)] == [True, False, False, True, False, False]
    assert [oracle(v) for v in questions] == [bool(targeted[v]) for v in questions]
    paid = [v for v in dict.fromkeys(questions) if v not in (0, 3)]
    assert list(oracle.log) == paid
    assert oracle.count == len(paid)
    assert all(oracle.examined(v) == (v in questions or v in (0, 3)) for v in range(6))


def test_a_search_cannot_change_the_log(path_network):
    oracle = path_network.instance().oracle
    oracle(1)
    assert isinstance(oracle.log, tuple)


def test_a_fresh_instance_shares_the_network_and_not_the_answers(path_network):
    instance = path_network.instance()
    instance.oracle(1)
    fresh = instance.fresh()
    assert (instance.oracle.count, fresh.oracle.count) == (1, 0)
    assert not fresh.oracle.examined(1)
    fresh.oracle(2)
    assert instance.oracle.log == (1,)
    assert fresh.adjacency is instance.adjacency
    assert fresh.seeds == instance.seeds


def test_what_is_remembered_is_worked_out_once_for_all_fresh_instances(path_network):
    instance, calls = path_network.instance(), []

    def build():
        calls.append(1)
        return "answer"

    assert instance.remember("key", build) == "answer"
    assert instance.fresh().remember("key", build) == "answer"
    assert instance.remember("other", build) == "answer"
    assert len(calls) == 2


def test_an_instance_travels_without_its_memory(path_network):
    instance = path_network.instance()
    instance.remember("ballast", lambda: lambda: None)  # cannot be pickled at all
    instance.oracle(1)
    arrived = pickle.loads(pickle.dumps(instance))
    assert arrived.remember("ballast", lambda: "anew") == "anew"
    assert nx.utils.graphs_equal(arrived.graph, instance.graph)
    assert arrived.oracle.log == (1,)
    assert instance.remember("ballast", lambda: "kept")() is None


def test_an_instance_does_not_show_the_partition(path_network):
    instance = path_network.instance()
    shown = {name for name in vars(instance) if not name.startswith("_")}
    assert shown == {"adjacency", "seeds", "oracle", "max_degree"}


@quick
@given(graphs(min_vertices=2), st.data())
def test_counts_names_and_protected(graph, data):
    n = len(graph)
    targeted = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    targeted[:2] = [True, False]
    adjacency, _ = adjacency_from_networkx(graph)
    network = Network(adjacency, targeted, (0,), names=[f"v{i}" for i in range(n)])
    assert (network.n, network.edges) == (n, graph.number_of_edges())
    assert network.protected.tolist() == [v for v in range(n) if not targeted[v]]
    assert network.name(1) == "v1"
    assert Network(adjacency, targeted, (0,)).name(1) == "1"


MASK = [True, False, True, False]


@pytest.mark.parametrize(
    ("mask", "seeds", "words"),
    [
        ([False] * 4, (0,), ["no targeted vertex", "`targeted_value`"]),
        ([True] * 4, (0,), ["every vertex is targeted", "`targeted_value`"]),
        (MASK, (), ["no seed", "`seeds`"]),
        (MASK, (0, 1), ["seed 'b' is protected", "`seeds`"]),
        (MASK, (4,), ["seed 4 is not a vertex", "0..3"]),
        (MASK, (-1,), ["seed -1 is not a vertex", "0..3"]),
        (MASK[:3], (0,), ["partition has shape (3,), not (4,)"]),
        ([1, 0, 1, 0], (0,), ["partition", "bool"]),
    ],
)
def test_a_network_nothing_can_be_audited_on_is_refused_in_one_line(mask, seeds, words):
    adjacency, _ = adjacency_from_networkx(nx.path_graph(4))
    with pytest.raises(InputError) as caught:
        Network(adjacency, np.array(mask), seeds, names=list("abcd"))
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_a_network_beyond_its_public_degree_bound_is_refused(path_network):
    bounded = replace(path_network, max_degree=2)
    assert bounded.instance().max_degree == bounded.instance().fresh().max_degree == 2
    assert path_network.instance().max_degree is None
    with pytest.raises(InputError, match=r"max_degree = 1: '1' has degree 2; .*raise it"):
        replace(path_network, max_degree=1)


def test_names_must_be_as_many_as_vertices():
    adjacency, _ = adjacency_from_networkx(nx.path_graph(4))
    with pytest.raises(InputError, match="3 names for 4 vertices"):
        Network(adjacency, np.array(MASK), (0,), names=list("abc"))
