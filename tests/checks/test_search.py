"""Violations that small networks cannot hold are found without a hint where they are."""

from __future__ import annotations

import math
from math import comb

import networkx as nx
import pytest

from pdpaudit.algorithms.statistics import CN
from pdpaudit.checks import Options, check_sop, read_witness, require_statistic
from pdpaudit.checks.evaluation import evaluator
from pdpaudit.checks.graphs import Case
from pdpaudit.checks.search import guided, shrink
from pdpaudit.core.statistic import statistic
from pdpaudit.replay.checks import verify_witness

FOREVER = math.inf


def many_common_neighbours(k):
    """Need k common neighbours, so k + 1 vertices: a centre and its leaves."""
    return lambda graph, vertex, targets: 2.0 * (CN()(graph, vertex, targets) >= k)


def far_from_targets(k):
    """Need a shortest path of k edges, so k + 1 vertices."""

    def far(graph, vertex, targets):
        steps = nx.single_source_shortest_path_length(graph, vertex)
        near = min((steps[s] for s in targets - {vertex} if s in steps), default=0)
        return 2.0 * (near >= k)

    return far


def in_many_triangles(k):
    """Need comb(k, 2) triangles at one vertex, so k + 1 vertices."""
    return lambda graph, vertex, targets: 2.0 * (nx.triangles(graph, vertex) >= comb(k, 2))


def in_a_component_of(k):
    """Need a component of k + 1 vertices, no more and no less."""
    return lambda graph, vertex, targets: (
        2.0 * (len(nx.node_connected_component(graph, vertex)) == k + 1)
    )


@pytest.mark.parametrize(
    ("kind", "vertices"),
    [
        (many_common_neighbours, 8),
        pytest.param(far_from_targets, 8, marks=pytest.mark.slow),
        pytest.param(in_many_triangles, 10, marks=pytest.mark.slow),
        pytest.param(in_a_component_of, 10, marks=pytest.mark.slow),
        pytest.param(many_common_neighbours, 12, marks=pytest.mark.slow),
        pytest.param(in_a_component_of, 12, marks=pytest.mark.slow),
    ],
)
def test_violations_that_need_many_vertices(kind, vertices):
    sop = statistic(sensitivity=1, impact_cardinality=10**6)(kind(vertices - 1))
    options = Options(max_vertices=4, examples=1500, select=("targeted-sensitivity",))
    (result,) = check_sop(sop, options)
    assert result.status == "violated"
    # Shrunk to what is needed, or within a vertex of it: a local minimum.
    assert vertices <= result.witness["n"] <= vertices + 1
    assert verify_witness(read_witness(result.witness), sop).reproduced


@pytest.mark.parametrize(
    "function",
    [
        lambda graph, vertex, targets: 2.0 * any(graph.degree(w) >= 10 for w in graph[vertex]),
        lambda graph, vertex, targets: graph.degree(vertex) * (1 + (graph.degree(vertex) == 10)),
    ],
)
def test_a_violation_that_needs_degree_ten(function):
    sop = statistic(sensitivity=1, impact_cardinality=10**6)(function)
    (result,) = check_sop(
        sop, Options(max_vertices=4, examples=1500, select=("targeted-sensitivity",))
    )
    assert result.status == "violated"
    assert result.witness["max_degree"] >= 10
    assert verify_witness(read_witness(result.witness), sop).reproduced


def test_an_impact_that_needs_more_vertices():
    # All vertices change at once where there are nine edges.
    sop = statistic(sensitivity=1, impact_cardinality=8)(lambda g, v, s: float(len(g.edges) >= 9))
    (result,) = check_sop(
        sop, Options(max_vertices=4, examples=1500, select=("impact-cardinality",))
    )
    assert result.status == "violated"
    assert 9 <= result.witness["n"] <= 10


def test_the_search_is_a_function_of_its_seed():
    sop, declared = require_statistic(
        statistic(sensitivity=1, impact_cardinality=99)(in_many_triangles(7))
    )

    def once(seed):
        return guided(
            evaluator(sop, fast=False),
            declared,
            ("targeted-sensitivity",),
            steps=1000,
            seed=seed,
            deadline=FOREVER,
        ).cases

    assert once(1) == once(1) != once(2)


def test_no_larger_case_is_left_than_needed():
    def has_triangle(case):
        return any(nx.triangles(graph, v) for graph in case.graphs() for v in graph)

    big = Case(
        9,
        tuple((a, b) for a in range(8) for b in range(a + 1, 8)),
        8,
        tuple(range(8)),
        (1, 2),
        (0, 5),
    )
    assert shrink(big, has_triangle, FOREVER).size == (3, 3, 2, 0)


def test_a_case_knows_its_degree():
    case = Case(5, ((0, 1), (0, 2)), 4, (0, 3), (1,), ())
    left, right = case.graphs()
    degrees = [max(dict(graph.degree).values()) for graph in (left, right)]
    assert case.max_degree == max(degrees) == 3
