"""Statistic-first search: what is found, in which order, and that no protected edge shows."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pdpaudit.algorithms.samplers.partition import component_order, output_of
from pdpaudit.algorithms.searches.baselines import SFS
from pdpaudit.algorithms.searches.rounds import sfs
from pdpaudit.core.network import Network, adjacency_from_edges, targeted_components

from . import naive
from .helpers import network_of, random_network

N = 9
PAIRS = list(itertools.combinations(range(N), 2))


def networks(targeted: int, edges: int, rewirings: list[int]) -> list[Network]:
    """One network for each neighbourhood of its last protected vertex; bits say which edges."""
    mask = np.array([targeted >> v & 1 for v in range(N)], dtype=np.bool_)
    mask[0], mask[N // 2] = True, False
    u = int(np.flatnonzero(~mask)[-1])
    rest = [pair for i, pair in enumerate(PAIRS) if edges >> i & 1 and u not in pair]
    result = []
    for bits in rewirings:
        mine = rest + [(u, v) for v in range(N) if bits >> v & 1 and v != u]
        ends = np.array(mine, dtype=np.int64).reshape(-1, 2)
        result.append(Network(adjacency_from_edges(N, ends[:, 0], ends[:, 1]), mask, (0,)))
    return result


def by_insertion_order(network: Network) -> tuple[int, ...]:
    """SFS on a graph read edge by edge, ties going to the vertex the file names first."""
    read = nx.Graph()
    read.add_node(0)
    rows, columns = network.adjacency.tocoo().coords
    lines = [(int(a), int(b)) for a, b in zip(rows, columns, strict=True) if a > b]
    read.add_edges_from(sorted(lines, reverse=True))
    position = {vertex: place for place, vertex in enumerate(read.nodes)}
    found, investigated = [0], {0}
    while frontier := {x for t in found for x in read[t]} - investigated:
        best = min(frontier, key=lambda x: (-naive.path_1(read, x, found), position[x]))
        investigated.add(best)
        if network.targeted[best]:
            found.append(best)
    return tuple(found)


def assert_private(search, examples: int) -> None:
    """Compare a search on thousands of neighbouring networks."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.generate,),
    )
    @given(
        st.integers(0, 2**N - 1),
        st.integers(0, 2 ** len(PAIRS) - 1),
        st.lists(st.integers(0, 2**N - 1), min_size=6, max_size=6, unique=True),
    )
    def equal(targeted: int, edges: int, rewirings: list[int]) -> None:
        outputs = {search(network) for network in networks(targeted, edges, rewirings)}
        assert len(outputs) == 1

    equal()


def test_equal_on_thousands_of_neighbouring_pairs() -> None:
    # 400 times 6 wirings of one vertex, each two of which are a pair: 6000 pairs.
    assert_private(lambda network: sfs(network.instance(), network.seeds), 400)


def test_ties_broken_by_insertion_order_are_caught() -> None:
    with pytest.raises(AssertionError):
        assert_private(by_insertion_order, 400)


@pytest.mark.parametrize("seed", range(40))
def test_equals_the_pseudocode(seed: int) -> None:
    network = random_network(seed, n=25, degree=4.0)
    graph, start, is_target = naive.instance_of(network)
    investigated: set[int] = set()
    instance = network.instance()
    assert sfs(instance, network.seeds) == tuple(naive.sfs(graph, start, is_target, investigated))
    assert set(instance.oracle.log) == investigated - {start}


def test_finds_exactly_the_seeds_components() -> None:
    for seed in range(30):
        network = random_network(seed, n=40, degree=3.0)
        (component,) = (
            c
            for c in targeted_components(network.adjacency, network.targeted)
            if network.seeds[0] in c
        )
        assert sorted(sfs(network.instance(), network.seeds)) == component.tolist()


def test_the_vertex_with_most_found_neighbours_comes_first_then_the_smallest_index() -> None:
    # 0 finds 1 (tie with 2, 3 and 4); then 4 has two found neighbours, 2 and 3 have one.
    graph = nx.Graph([(0, 4), (0, 3), (0, 2), (0, 1), (1, 4), (5, 4)])
    network = network_of(graph, [0, 1, 2, 3, 4], (0,))
    assert sfs(network.instance(), (0,)) == (0, 1, 4, 2, 3)


def test_several_seeds_are_all_explored_and_cost_nothing() -> None:
    graph = nx.Graph([(0, 1), (2, 3), (4, 5)])
    network = network_of(graph, [0, 1, 2, 3, 4], (2, 0))
    instance = network.instance()
    assert sfs(instance, network.seeds) == (2, 0, 1, 3)
    assert instance.oracle.log == (1, 3)


def test_a_protected_hub_is_asked_about_once() -> None:
    graph = nx.star_graph(5)  # vertex 0 is the protected hub
    network = network_of(graph, [1, 2, 3], (1, 2, 3))
    instance = network.instance()
    assert sfs(instance, network.seeds) == (1, 2, 3)
    assert instance.oracle.log == (0,)


def test_mechanism_sample_and_law_ignore_what_the_instance_was_asked_before() -> None:
    network = network_of(nx.path_graph(4), [0, 1, 2], (0,))
    instance = network.instance()
    rng = np.random.default_rng(1)
    assert SFS().run(instance, rng) == (0, 1, 2)
    assert SFS().sample(instance, 3, rng).counts() == {(0, 1, 2): 3}
    assert SFS().law(instance).probabilities == {(0, 1, 2): 1.0}


@settings(max_examples=2 * settings().max_examples, deadline=None)
@given(
    targeted=st.integers(1, 2**N - 1),
    edges=st.integers(0, 2 ** len(PAIRS) - 1),
    rewiring=st.integers(0, 2**N - 1),
)
def test_the_order_among_targets_alone_is_that_of_the_search(targeted, edges, rewiring) -> None:
    (network,) = networks(targeted, edges, [rewiring])
    instance = network.instance()
    first = sfs(instance.fresh(), instance.seeds)
    assert component_order(instance, instance.seeds) == first
    for vertex in np.flatnonzero(network.targeted).tolist():
        if vertex not in first:
            mine = sfs(instance.fresh(), (vertex,))
            assert component_order(instance, (vertex,)) == mine
            assert output_of(instance, (vertex,)) == first + mine
