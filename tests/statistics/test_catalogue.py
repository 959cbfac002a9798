"""The catalogue against networkx's own functions, and its declarations against exact tables."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

from pdpaudit.algorithms.statistics import (
    AdamicAdar,
    CommonNeighboursPerMember,
    InverseDistance,
    Jaccard,
    Katz3,
    PersonalisedPageRank,
    PreferentialAttachment,
    ResourceAllocation,
)
from pdpaudit.checks import Options, check_sop
from pdpaudit.core.network import adjacency_from_networkx

CATALOGUE = [
    CommonNeighboursPerMember(),
    AdamicAdar(),
    ResourceAllocation(),
    Jaccard(),
    PreferentialAttachment(),
    Katz3(),
    InverseDistance(),
    PersonalisedPageRank(),
]


def of_pair(function):
    """Return networkx's value for one v and one s."""
    return lambda graph, v, s: next(iter(function(graph, [(v, s)])))[2]


PAIRS = {
    AdamicAdar(): of_pair(nx.adamic_adar_index),
    ResourceAllocation(): of_pair(nx.resource_allocation_index),
    Jaccard(): of_pair(nx.jaccard_coefficient),
    PreferentialAttachment(): of_pair(nx.preferential_attachment),
    CommonNeighboursPerMember(): lambda graph, v, s: len(list(nx.common_neighbors(graph, v, s))),
    InverseDistance(): lambda graph, v, s: (
        1 / nx.shortest_path_length(graph, v, s) if nx.has_path(graph, v, s) else 0.0
    ),
}


@pytest.mark.parametrize("sop", PAIRS, ids=str)
def test_for_a_single_member_it_is_networkx(sop):
    for seed in range(5):
        graph = nx.gnp_random_graph(9, 0.1 + 0.15 * seed, seed=seed)
        for v in graph:
            for s in graph:
                if v != s:
                    expected = PAIRS[sop](graph, v, s)
                    assert sop(graph, v, frozenset({s})) == pytest.approx(expected)


def test_pagerank_is_networkx():
    for seed in range(4):
        graph = nx.gnp_random_graph(10, 0.12 + 0.1 * seed, seed=seed)
        for targets in ({0}, {1, 5}, set(range(10))):
            chances = {v: float(v in targets) for v in graph}
            expected = nx.pagerank(graph, personalization=chances, tol=1e-13, max_iter=1000)
            found = {v: PersonalisedPageRank()(graph, v, frozenset(targets)) for v in graph}
            assert found == pytest.approx(expected, abs=1e-9)


def test_katz_is_a_sum_of_matrix_powers():
    graph = nx.gnp_random_graph(10, 0.4, seed=1)
    matrix = nx.to_numpy_array(graph)
    total = np.sum([0.1**k * np.linalg.matrix_power(matrix, k) for k in (1, 2, 3)], axis=0)
    targets = frozenset({0, 3, 4})
    expected = total[:, sorted(targets)].sum(axis=1)
    assert [Katz3()(graph, v, targets) for v in graph] == pytest.approx(expected.tolist())


def test_sums_over_several_members():
    graph = nx.gnp_random_graph(9, 0.5, seed=2)
    targets = frozenset({1, 2, 6})
    for v in graph:
        others = targets - {v}
        common = sum(len(list(nx.common_neighbors(graph, v, s))) for s in others)
        assert CommonNeighboursPerMember()(graph, v, targets) == common
        degrees = graph.degree(v) * sum(graph.degree(s) for s in others)
        assert PreferentialAttachment()(graph, v, targets) == degrees
        middles = {w for s in others for w in nx.common_neighbors(graph, v, s)}
        expected = sum(1 / math.log(graph.degree(w)) for w in middles)
        assert AdamicAdar()(graph, v, targets) == pytest.approx(expected)
        steps = nx.single_source_shortest_path_length(graph, v)
        assert InverseDistance()(graph, v, targets) == 1 / min(steps[s] for s in others)


@pytest.mark.parametrize("sop", CATALOGUE, ids=str)
def test_the_fast_path_on_larger_graphs(sop):
    rng = np.random.default_rng(11)
    # The last is beyond the dense systems, and in many pieces.
    for graph in (
        nx.gnm_random_graph(60, 90, seed=3),
        nx.path_graph(25),
        nx.gnm_random_graph(600, 500, seed=4),
    ):
        n = len(graph)
        adjacency, _ = adjacency_from_networkx(graph)
        for size in (0, 1, n // 3, n):
            targets = np.sort(rng.choice(n, size, replace=False))
            fast = sop.scores(adjacency, targets)
            some = range(n) if n < 100 else rng.choice(n, 4).tolist()
            members = frozenset(targets.tolist())
            slow = [sop(graph, v, members) for v in some]
            assert fast[list(some)].tolist() == pytest.approx(slow, abs=1e-10)


@pytest.mark.usefixtures("few_graphs")
@pytest.mark.parametrize("sop", CATALOGUE, ids=str)
def test_what_is_declared_holds_and_what_is_not_is_reported(sop, repetitions):
    vertices = repetitions(4, 5)
    options = Options(max_vertices=vertices, examples=repetitions(20, 100))
    results = {r.name: r for r in check_sop(sop, options)}
    assert {r.status for r in results.values()} <= {"certified", "not_rejected", "skipped"}
    for name, declare in (
        ("targeted-sensitivity", sop.sensitivity),
        ("impact-cardinality", sop.impact_cardinality),
    ):
        unknown = math.isinf(declare(3))
        assert (results[name].status == "skipped") == unknown
        observed = results[name].observed
        assert isinstance(observed, list)
        assert len(observed) == vertices
        assert ("no bound is declared" in results[name].detail) == unknown
