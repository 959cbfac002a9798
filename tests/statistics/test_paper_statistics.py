"""The paper's statistics against brute force by code of another kind."""

from __future__ import annotations

from itertools import chain, combinations, pairwise, permutations

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

from pdpaudit.algorithms.statistics import CN, Flow, Path, Triangle
from pdpaudit.core.errors import InputError
from pdpaudit.core.network import adjacency_from_networkx
from pdpaudit.core.protocols import FastStatistic, StatisticOfProximity

STATISTICS = [CN(), Triangle(), Path(1), Path(2), Path(3), Path(4), Flow(1), Flow(2), Flow(3)]
# Brute force over linear programmes takes seconds.
EXHAUSTIVE = [
    pytest.param(sop, marks=pytest.mark.slow) if isinstance(sop, Flow) else sop
    for sop in STATISTICS
]
SMALL = [graph for graph in nx.graph_atlas_g() if 1 <= len(graph) <= 5]


def subsets(items):
    items = list(items)
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def brute_cn(graph, vertex, targets):
    edges = {frozenset(edge) for edge in graph.edges}
    return len(
        {
            middle
            for middle in graph
            for member in targets
            if {vertex, middle} in edges and {middle, member} in edges
        }
    )


def brute_triangle(graph, vertex, targets):
    edges = {frozenset(edge) for edge in graph.edges}
    return sum(
        all(frozenset(side) in edges for side in combinations((a, b, vertex), 2))
        for a, b in combinations(sorted(targets - {vertex}), 2)
    )


def brute_path(k):
    def count(graph, vertex, targets):
        matrix = nx.to_numpy_array(graph, nodelist=sorted(graph))
        others = [v for v in graph if v != vertex]
        total = 0
        for length in range(1, min(k, len(others)) + 1):
            for rest in permutations(others, length):
                steps = zip((vertex, *rest), rest, strict=False)
                total += rest[-1] in targets and all(matrix[step] for step in steps)
        return total

    return count


def networkx_path(k):
    def count(graph, vertex, targets):
        ends = targets - {vertex}
        return sum(1 for end in ends for _ in nx.all_simple_paths(graph, vertex, end, cutoff=k))

    return count


def brute_flow(k):
    """Maximise over one variable for each simple path, not over arcs in time."""

    def maximum(graph, vertex, targets):
        paths = [
            {frozenset(edge) for edge in pairwise(path)}
            for end in targets - {vertex}
            for path in nx.all_simple_paths(graph, vertex, end, cutoff=k)
        ]
        if not paths:
            return 0.0
        uses = [[frozenset(edge) in path for path in paths] for edge in graph.edges]
        return -linprog([-1.0] * len(paths), A_ub=np.array(uses, float), b_ub=[1.0] * len(uses)).fun

    return maximum


def brute(sop):
    match sop:
        case CN():
            return brute_cn
        case Triangle():
            return brute_triangle
        case Path(k=k):
            return brute_path(k)
        case Flow(k=k):
            return brute_flow(k)


def fast(sop, graph, targets):
    adjacency, nodes = adjacency_from_networkx(graph)
    assert nodes == tuple(range(len(graph)))
    return sop.scores(adjacency, np.array(sorted(targets), dtype=np.int64))


@pytest.mark.parametrize("sop", EXHAUSTIVE, ids=str)
def test_every_graph_with_up_to_five_vertices(sop):
    oracle = brute(sop)
    for graph in SMALL:
        # The linear programmes are slow; two sizes of S show every way a path can end.
        chosen = [
            frozenset(s)
            for s in subsets(graph)
            if not isinstance(sop, Flow) or len(s) <= 2 or len(s) == len(graph)
        ]
        if isinstance(sop, Flow) and sop.k == 3 and len(graph) == 5:
            chosen = [s for s in chosen if len(s) != 2 or 0 in s]
        for targets in chosen:
            expected = [oracle(graph, v, targets) for v in graph]
            found = [sop(graph, v, targets) for v in graph]
            assert found == pytest.approx(expected, abs=1e-9), (list(graph.edges), targets)
            if isinstance(sop, FastStatistic):
                assert fast(sop, graph, targets).tolist() == expected


@pytest.mark.parametrize("sop", STATISTICS, ids=str)
@pytest.mark.parametrize("n", [8, 14, 40])
def test_random_larger_graphs(sop, n):
    rng = np.random.default_rng([n, 20150101])
    graph = nx.gnm_random_graph(n, 3 * n // 2 + n // 4, seed=int(rng.integers(2**31)))
    oracle = networkx_path(sop.k) if isinstance(sop, Path) else brute(sop)
    for size in (0, 1, n // 3, n):
        targets = frozenset(rng.choice(n, size, replace=False).tolist())
        expected = [oracle(graph, v, targets) for v in graph]
        assert [sop(graph, v, targets) for v in graph] == pytest.approx(expected, abs=1e-7)
        if isinstance(sop, FastStatistic):
            assert fast(sop, graph, targets).tolist() == expected


def test_long_paths_are_the_same_in_small_blocks(monkeypatch):
    # The module by its function: importing it by name would tie the test to the package's layout.
    import sys

    module = sys.modules[Path.__module__]
    graph = nx.gnp_random_graph(12, 0.5, seed=3)
    whole = fast(Path(5), graph, {0, 4, 7})
    monkeypatch.setattr(module, "ROWS", 7)
    assert fast(Path(5), graph, {0, 4, 7}).tolist() == whole.tolist()
    assert whole.tolist() == [networkx_path(5)(graph, v, frozenset({0, 4, 7})) for v in graph]


def test_counts_above_a_byte_are_right():
    # The matrix holds bytes: 300 common neighbours must not wrap around.
    graph = nx.complete_bipartite_graph(2, 300)
    assert fast(CN(), graph, {0})[1] == 300
    assert fast(Path(2), graph, {0})[1] == 300
    graph.add_edge(0, 1)
    assert fast(Triangle(), graph, set(range(302)))[0] == 300


@pytest.mark.parametrize("sop", EXHAUSTIVE, ids=str)
def test_declarations_hold_on_every_graph_with_up_to_five_vertices(sop):
    """All pairs one by one, up to relabelling of the vertices other than u."""
    for rest in [graph for graph in nx.graph_atlas_g() if len(graph) <= 4]:
        u = len(rest)
        sides = []
        for neighbours in subsets(rest):
            graph = nx.Graph(rest)
            graph.add_node(u)
            graph.add_edges_from((u, v) for v in neighbours)
            sides.append((graph, max((degree for _, degree in graph.degree), default=0)))
        for targets in map(frozenset, subsets(rest)):
            scored = [([sop(graph, v, targets) for v in range(u + 1)], d) for graph, d in sides]
            for (left, d_left), (right, d_right) in combinations(scored, 2):
                d = max(d_left, d_right)
                moved = np.abs(np.subtract(left, right))
                assert moved[:u].max(initial=0) <= sop.sensitivity(d) + 1e-9
                assert np.count_nonzero(moved > 1e-9) <= sop.impact_cardinality(d)


def test_names_say_the_order():
    assert [str(sop) for sop in (CN(), Path(), Triangle(), Flow(3))] == [
        "CN",
        "Path_2",
        "Triangle",
        "Flow_3",
    ]
    assert Path(k=2) == Path(2)
    assert hash(Path(k=2)) == hash(Path(2))


@pytest.mark.parametrize("kind", [Path, Flow])
@pytest.mark.parametrize("k", [0, -1, 2.0, "2", True, None])
def test_an_impossible_order_is_refused(kind, k):
    with pytest.raises(InputError, match="at least 1"):
        kind(k=k)


def test_they_are_what_the_contract_asks_for():
    assert all(isinstance(sop, StatisticOfProximity) for sop in STATISTICS)
    assert [isinstance(kind(), FastStatistic) for kind in (CN, Triangle, Path, Flow)] == [
        True,
        True,
        True,
        False,
    ]
