"""The exact tables: against known values, and against a loop over labelled pairs."""

from __future__ import annotations

import threading
import time
from itertools import combinations, product

import networkx as nx
import pytest

from pdpaudit.algorithms.statistics import CN, Path, Triangle
from pdpaudit.checks import exhaust, require_statistic
from pdpaudit.checks.enumeration import _in_batches
from pdpaudit.checks.evaluation import apart as differ
from pdpaudit.checks.graphs import graphs_on, subset_classes
from pdpaudit.core.statistic import statistic


def table(sop, max_vertices, *, fast=True, jobs=1, seconds=120.0, **more):
    _, declared = require_statistic(sop)
    return exhaust(
        declared,
        max_vertices=max_vertices,
        fast=fast,
        jobs=jobs,
        deadline=time.time() + seconds,
        **more,
    )


# Found before by an enumeration of every graph on 6 vertices that shares no code with this
# project; degree bounds 1 to 5.
SIX = {
    CN(): ([1, 1, 1, 1, 1], [2, 5, 6, 6, 6]),
    Triangle(): ([0, 0, 0, 0, 0], [0, 1, 1, 1, 1]),
    Path(1): ([0, 0, 0, 0, 0], [1, 1, 1, 1, 1]),
    Path(2): ([0, 1, 2, 3, 4], [1, 5, 6, 6, 6]),
    Path(3): ([0, 2, 6, 15, 28], [1, 6, 6, 6, 6]),
}


@pytest.mark.parametrize("sop", SIX, ids=str)
def test_the_table_on_six_vertices(sop):
    row = table(sop, 6).rows[-1]
    sensitivity, impact = SIX[sop]
    assert list(row.sensitivity[1:]) == sensitivity
    assert list(row.impact_cardinality[1:]) == impact


@pytest.mark.slow
def test_the_tables_go_to_seven_vertices_and_agree_with_the_scalar_form_on_six():
    rows = table(CN(), 7).rows
    assert rows[-1].sensitivity == (0, 1, 1, 1, 1, 1, 1)
    assert rows[-1].impact_cardinality == (0, 2, 5, 7, 7, 7, 7)
    assert table(CN(), 6, fast=False).rows == rows[:6]


def ragged(graph, vertex, targets):
    """Return values that are no whole numbers, and all sorts of changes."""
    return sum(
        1 / (graph.degree(middle) + 1)
        for middle in graph[vertex]
        for end in graph[middle]
        if end in targets
    ) + 0.25 * nx.triangles(graph, vertex)


SOPS = {
    "ragged": statistic(sensitivity=9, impact_cardinality=9)(ragged),
    "degree": statistic(sensitivity=9, impact_cardinality=9)(lambda g, v, s: g.degree(v)),
    "members": statistic(sensitivity=9, impact_cardinality=9)(
        lambda g, v, s: len(s) * nx.number_connected_components(g)
    ),
}


def labelled_pairs(sop, n):
    """Work the definitions out literally: every labelled graph, every u, every two networks."""
    everyone = range(n)
    sensitivity, impact = [0.0] * n, [0] * n
    possible = list(combinations(everyone, 2))
    for u in everyone:
        rest = [edge for edge in possible if u not in edge]
        spokes = [edge for edge in possible if u in edge]
        for common in product([False, True], repeat=len(rest)):
            sides = []
            for mine in product([False, True], repeat=len(spokes)):
                graph = nx.empty_graph(n)
                graph.add_edges_from(e for e, there in zip(rest, common, strict=True) if there)
                graph.add_edges_from(e for e, there in zip(spokes, mine, strict=True) if there)
                sides.append((graph, max(dict(graph.degree).values())))
            others = [v for v in everyone if v != u]
            for chosen in product([False, True], repeat=n - 1):
                targets = frozenset(v for v, there in zip(others, chosen, strict=True) if there)
                values = [[sop(graph, v, targets) for v in everyone] for graph, _ in sides]
                for (i, (_, d)), (j, (_, e)) in combinations(enumerate(sides), 2):
                    change = [abs(a - b) for a, b in zip(values[i], values[j], strict=True)]
                    most = max((c for v, c in enumerate(change) if v != u), default=0)
                    count = sum(map(bool, map(differ, values[i], values[j])))
                    for bound in range(max(d, e), n):
                        sensitivity[bound] = max(sensitivity[bound], most)
                        impact[bound] = max(impact[bound], count)
    return sensitivity, impact


@pytest.mark.parametrize("name", SOPS)
def test_equal_to_every_labelled_pair(name):
    for n in (1, 2, 3, 4):
        row = table(SOPS[name], n).rows[-1]
        sensitivity, impact = labelled_pairs(SOPS[name], n)
        assert list(row.sensitivity) == pytest.approx(sensitivity, abs=1e-12)
        assert list(row.impact_cardinality) == impact


def test_one_set_of_each_class_under_the_automorphisms():
    # Graphs with some vertices marked, up to relabelling: as many as symmetric relations.
    counts = [sum(len(subset_classes(matrix)) for matrix in graphs_on(size)) for size in range(6)]
    assert counts == [1, 2, 6, 20, 90, 544]


@pytest.mark.slow
def test_the_same_whatever_the_number_of_workers():
    low = statistic(sensitivity=2, impact_cardinality=5)(ragged)
    one, two = table(low, 6, jobs=1), table(low, 6, jobs=2)
    assert one == two
    assert one.cases


def test_the_counterexample_is_the_smallest_there_is():
    # A vertex of degree 3 next to u is needed, and nothing else.
    sop = statistic(sensitivity=0, impact_cardinality=9)(
        lambda g, v, s: float(g.degree(v) >= 3 and v in s)
    )
    found = table(sop, 5).cases["targeted-sensitivity"]
    assert found.size == (4, 3, 1, 1)
    # 3 edges, not 2: no pair with fewer edges has a vertex of degree 3 on one side.
    assert found.max_degree == 3


def test_the_time_limit_says_what_was_completed():
    def slow(graph, vertex, targets):
        time.sleep(0.0005)
        return 0.0

    found = table(statistic(sensitivity=0, impact_cardinality=0)(slow), 6, seconds=1.0)
    assert 1 <= len(found.rows) < 6
    assert f"{len(found.rows) + 1} vertices" in found.stopped


def test_eight_vertices_are_within_reach_for_the_sensitivity():
    # All of them take half a minute: here the time runs out, with seven complete.
    found = table(Path(1), 8, seconds=6.0, impact_up_to=3)
    assert [row.impact_cardinality is None for row in found.rows[:5]] == [False] * 3 + [True] * 2
    assert all(set(row.sensitivity) == {0} for row in found.rows)


class Locked:
    """Cannot be sent to another process."""

    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, part):
        with self.lock:
            return list(part)


@pytest.mark.parametrize("work", [list, Locked()])
def test_what_cannot_travel_is_done_here_in_the_same_order(work):
    assert _in_batches(work, 7, 3, 2) == [[0, 3, 6], [1, 4], [2, 5]]
