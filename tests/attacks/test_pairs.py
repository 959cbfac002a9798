"""Every pair an attack makes is two neighbouring networks, on every ground and within the bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpaudit.attacks import pair_families
from pdpaudit.attacks.pair_families import (
    admissible,
    contacts,
    exposed,
    look,
    planted,
    planted_network,
    sizes,
)
from pdpaudit.core.network import NeighborPair, Network, difference
from pdpaudit.core.registry import registered
from pdpaudit.sampling import stream
from pdpaudit.testing.strategies import networks

quick = settings(max_examples=40, deadline=None)
few = settings(max_examples=10, deadline=None)  # many pairs in each
FAMILIES = {item.name: item.load() for item in registered("attacks")}
REFINEMENTS = {item.name: item.load() for item in registered("refinements")}


def graph_of(network: Network) -> nx.Graph:
    return nx.from_scipy_sparse_array(network.adjacency, edge_attribute=None)


def assert_valid(pair: NeighborPair, base: Network) -> None:
    """By the harness's own check, and again by networkx."""
    u, left, right = pair.vertex, pair.left, pair.right
    assert difference(left, right, u) is None
    assert difference(base, left, u) is None
    assert not base.targeted[u]
    graphs = [graph_of(side) for side in (base, left, right)]
    assert set(graphs[1].edges) != set(graphs[2].edges)
    for graph in graphs:
        if base.max_degree is not None:
            assert max(degree for _, degree in graph.degree) <= base.max_degree
        graph.remove_node(u)
    assert set(graphs[0].edges) == set(graphs[1].edges) == set(graphs[2].edges)
    assert left.targeted is right.targeted is base.targeted
    assert left.seeds == right.seeds == base.seeds
    assert left.max_degree == right.max_degree == base.max_degree


def test_all_families_and_refinements_are_tested():
    assert set(FAMILIES) == {"isolate", "random", "saturate", "squeeze", "swap", "toggle"}
    assert set(REFINEMENTS) == {"contacts", "sizes"}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_pair_on_every_network_is_valid(benchmark_networks, family):
    for title, network in benchmark_networks.items():
        pairs = list(FAMILIES[family](network, stream(1, family)))
        for pair in pairs:
            assert_valid(pair, network)
            assert pair.family == family
        if title.startswith(("planted, ", "karate")):
            continue
        # Where nobody has contacts there are none to take away.
        if not (family == "isolate" and title.startswith("planted")):
            assert pairs, title


@few
@given(networks(min_vertices=2, max_vertices=9), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_every_pair_on_any_network_is_valid(network, more, seed):
    degree = int(np.diff(network.adjacency.indptr).max())
    bounded = replace(network, max_degree=seed % 2 * max(1, degree + more) or None)
    for name, family in FAMILIES.items():
        for number, pair in enumerate(family(bounded, stream(seed, name))):
            assert_valid(pair, bounded)
            for refinement in REFINEMENTS.values() if number == 0 else ():
                for moved in refinement(pair, stream(seed, name)):
                    assert_valid(moved, bounded)


def sides(pair: NeighborPair) -> tuple[int, set[int], set[int]]:
    return pair.vertex, set(pair.left_neighbours.tolist()), set(pair.right_neighbours.tolist())


@pytest.mark.parametrize("family", FAMILIES)
def test_the_pairs_are_a_function_of_network_and_stream(benchmark_networks, family):
    for network in benchmark_networks.values():
        one, two = ([sides(p) for p in FAMILIES[family](network, stream(4, "x"))] for _ in range(2))
        assert one == two


def test_families_do_what_they_say(benchmark_networks):
    for network in benchmark_networks.values():
        view = look(network)
        found, remaining = set(view.found.tolist()), set(view.remaining.tolist())

        def pairs(family, network=network):
            return [sides(pair) for pair in family(network, stream(2, "x"))]

        for u, left, right in pairs(pair_families.isolate):
            assert (left, right) == (set(network.neighbours(u).tolist()), set())
        for u, left, right in pairs(pair_families.toggle):
            assert left == set(network.neighbours(u).tolist())
            assert len(left ^ right) == 1
        for u, left, right in pairs(pair_families.saturate):
            assert left == set(network.neighbours(u).tolist())
            if network.max_degree is None:
                assert right == set(range(network.n)) - {u}
        for _, left, right in pairs(pair_families.swap):
            assert (left | right) <= found | remaining
            assert len((left - right) & remaining) <= 1
            if network.max_degree is None:
                assert (left | right) & remaining == remaining
                assert not left & right & remaining
        for _, left, right in pairs(pair_families.squeeze):
            assert right <= found
            assert left - right <= remaining
            assert left - right


def test_the_planted_bound_lets_the_sharpest_pairs_be():
    for network in planted():
        remaining = set(look(network).remaining.tolist())
        (first, *_) = map(sides, pair_families.squeeze(network, stream(1, "x")))
        assert first[1:] == ({0} | remaining, {0})
        (first, *_) = map(sides, pair_families.swap(network, stream(1, "x")))
        assert first[1] | first[2] == {0} | remaining
        assert first[1] & first[2] == {0}


@quick
@given(networks(max_vertices=12))
def test_who_is_found_at_once_is_who_targets_lead_to_from_the_seeds(network):
    targeted = graph_of(network).subgraph(np.flatnonzero(network.targeted))
    found = set().union(*(nx.node_connected_component(targeted, s) for s in network.seeds))
    view = look(network)
    assert sorted(view.found.tolist()) == sorted(found)
    assert view.remaining.tolist() == sorted(set(targeted) - found)


@quick
@given(networks(max_vertices=12), st.integers(1, 5), st.integers(0, 100))
def test_who_is_rewired_is_protected_and_the_best_placed_is_among_them(network, count, seed):
    view = look(network)
    chosen = exposed(network, view, count, np.random.default_rng(seed))
    assert len(set(chosen)) == len(chosen) <= count
    assert not network.targeted[chosen].any()
    assert chosen
    graph = graph_of(network)

    def merit(u):
        near = set(graph[u])
        return (
            bool(near & set(view.found.tolist())),
            len(near & set(view.remaining.tolist())),
            len(near),
        )

    if len(network.protected) > count and max(map(graph.degree, network.protected)) > 0:
        assert max(map(merit, chosen)) == max(map(merit, network.protected.tolist()))


@quick
@given(networks(max_vertices=9), st.data())
def test_admissible_neighbours_are_those_with_room_in_the_order_wanted(network, data):
    degree = int(np.diff(network.adjacency.indptr).max())
    bound = data.draw(st.none() | st.integers(max(degree, 1), degree + 2))
    bounded = replace(network, max_degree=bound)
    u = data.draw(st.sampled_from(network.protected.tolist()))
    wanted = data.draw(st.lists(st.integers(0, network.n - 1), max_size=12))
    without = graph_of(network)
    without.remove_edges_from(list(without.edges(u)))
    expected: list[Any] = []
    for v in wanted:
        if v == u or v in expected:
            continue
        if bound is not None and (without.degree(v) >= bound or len(expected) == bound):
            continue
        expected.append(v)
    assert admissible(bounded, u, wanted).tolist() == expected


def test_every_network_is_valid_deterministic_and_leaves_something_to_search_for():
    titles = []
    for item in registered("networks"):
        one, two = list(item.load()()), list(item.load()())
        assert one
        for network, again in zip(one, two, strict=True):
            assert (network.adjacency != again.adjacency).nnz == 0
            assert np.array_equal(network.targeted, again.targeted)
            assert network.seeds == again.seeds
            assert len(look(network).remaining)
            assert len(set(network.names)) == network.n
            titles.append(network.title)
    assert len(set(titles)) == len(titles)


def test_the_embedded_networks_are_the_published_ones(benchmark_networks):
    miserables, karate = (
        benchmark_networks["Les Misérables, free"],
        benchmark_networks["karate club, free"],
    )
    whole = nx.les_miserables_graph()
    strong = {frozenset(e[:2]) for e in whole.edges(data="weight") if e[2] >= 2}
    names = miserables.names
    assert {frozenset(names[v] for v in e) for e in graph_of(miserables).edges} == strong
    assert set(names) == set(whole)
    hi = {v for v, club in nx.karate_club_graph().nodes(data="club") if club == "Mr. Hi"}
    assert set(np.flatnonzero(karate.targeted).tolist()) == hi


@pytest.mark.parametrize("family", FAMILIES)
def test_a_changed_contact_is_one_contact_on_one_side(benchmark_networks, family):
    for network in benchmark_networks.values():
        for pair in list(FAMILIES[family](network, stream(3, "x")))[:1]:
            moved = list(contacts(pair, stream(3, "y")))
            assert [sides(m) for m in moved] == [sides(m) for m in contacts(pair, stream(3, "y"))]
            for one in moved:
                assert_valid(one, network)
                assert (one.vertex, one.family) == (pair.vertex, family)
                left = sides(pair)[1] ^ sides(one)[1]
                right = sides(pair)[2] ^ sides(one)[2]
                if network.max_degree is None:
                    assert sorted([len(left), len(right)]) == [0, 1]


def shape(pair: NeighborPair) -> tuple[object, ...]:
    """What all, none, one or all but one of the remaining targets do on each side."""
    view = look(pair.network)
    told = []
    for neighbours in (pair.left_neighbours, pair.right_neighbours):
        inside = int(np.isin(view.remaining, neighbours).sum())
        m = len(view.remaining)
        words = {0: "none", 1: "one", m - 1: "all but one", m: "all"}
        told += [bool(np.isin(view.found, neighbours).any()), words.get(inside, "some")]
    return tuple(told)


@pytest.mark.parametrize("family", ["swap", "squeeze"])
@pytest.mark.parametrize("targets", [5, 8, 20])
def test_a_planted_pair_of_another_size_keeps_its_shape(family, targets):
    network = planted_network(targets, 30)
    pair = next(iter(FAMILIES[family](network, stream(5, "x"))))
    seen = set()
    for other in sizes(pair, stream(5, "y")):
        assert_valid(other, other.network)
        m, n = len(look(other.network).remaining), len(other.network.protected)
        assert (m, n) != (targets, 30)
        assert other.network.max_degree == m + 1  # the planted bound moves along
        assert other.family == family
        lonely = max(pair.left_neighbours) if family == "swap" else 0
        if lonely <= m:  # the one target of a swap may be among those taken away
            assert shape(other) == shape(pair)
        seen.add((m, n))
    step = targets // 4
    assert seen == {(targets, 42), (targets, 21), (targets + step, 30), (targets - step, 30)}


def test_a_bound_of_the_users_own_does_not_move_with_the_size():
    network = planted_network(5, 30, max_degree=3)
    pair = next(iter(pair_families.squeeze(network, stream(5, "x"))))
    for other in sizes(pair, stream(5, "y")):
        assert other.network.max_degree == 3


def test_sizes_end_and_leave_other_networks_alone(benchmark_networks):
    for title, network in benchmark_networks.items():
        if not title.startswith("planted"):
            for pair in pair_families.toggle(network, stream(1, "x")):
                assert list(sizes(pair, stream(1, "y"))) == []
    largest = next(iter(pair_families.squeeze(planted_network(20, 3000), stream(1, "x"))))
    assert all(other.network.n <= 4000 for other in sizes(largest, stream(1, "y")))
    smallest = next(iter(pair_families.squeeze(planted_network(1, 2), stream(1, "x"))))
    for other in sizes(smallest, stream(1, "y")):
        assert_valid(other, other.network)


def test_a_network_whose_title_begins_like_ours_is_left_alone(benchmark_networks):
    mine = replace(benchmark_networks["random 1, free"], title="planted trees of my town")
    for pair in pair_families.toggle(mine, stream(1, "x")):
        assert list(sizes(pair, stream(1, "y"))) == []
