"""How fast the declarations are exhausted, beside a plain loop over labelled pairs.

Run with ``python -m pytest tests/benchmarks/bench_check.py -s``.
"""

from __future__ import annotations

import time
from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest

from pdpaudit.algorithms.statistics import CN
from pdpaudit.checks import Options, check_sop, exhaust, require_statistic
from pdpaudit.core.statistic import statistic

pytestmark = pytest.mark.benchmark


def say(text):
    """Print a line of the report."""
    print(f"\n{text}")  # noqa: T201 - a benchmark speaks


def timed(call):
    """Return what a call gives, and the seconds it took."""
    start = time.perf_counter()
    value = call()
    return value, time.perf_counter() - start


def table(sop, max_vertices, *, fast, jobs):
    """Return the exact tables."""
    _, declared = require_statistic(sop)
    return exhaust(
        declared,
        max_vertices=max_vertices,
        fast=fast,
        jobs=jobs,
        deadline=time.time() + 600,
    )


def labelled_loop(sop, n, budget):
    """Evaluate labelled networks on n vertices one by one, S by S; return the rate of the work.

    The straightforward way takes every labelled graph, every u, every S and every two
    neighbourhoods of u. It is far too slow to finish, so a part of it is timed.
    """
    others = list(range(n - 1))
    rest = list(combinations(others, 2))
    start, done, worst = time.perf_counter(), 0, 0.0
    rng = np.random.default_rng(1)
    while time.perf_counter() - start < budget:
        common = [edge for edge in rest if rng.random() < 0.5]
        targets = frozenset(v for v in others if rng.random() < 0.5)
        scored = []
        for around in product([False, True], repeat=n - 1):
            graph = nx.empty_graph(n)
            graph.add_edges_from(common)
            graph.add_edges_from((v, n - 1) for v, there in enumerate(around) if there)
            scored.append([sop(graph, v, targets) for v in range(n)])
        for left, right in combinations(scored, 2):
            worst = max(worst, max(abs(a - b) for a, b in zip(left, right, strict=True)))
        done += 1
    # Each labelled graph on the others, each S; the choice of u is a relabelling.
    return (time.perf_counter() - start) / done * 2 ** len(rest) * 2 ** (n - 1)


def test_common_neighbours_to_seven_vertices(figure):
    found, seconds = timed(lambda: table(CN(), 7, fast=True, jobs=1))
    whole = labelled_loop(CN(), 7, 3.0)
    assert found.rows[-1].sensitivity[-1] == 1
    say(
        f"CN, all networks with up to 7 vertices: {seconds:.2f} s on one core; "
        f"a loop over labelled pairs, from a part: {whole:,.0f} s, "
        f"{whole / seconds:,.0f} times as long"
    )
    figure("CN exhausted to 7 vertices", seconds, "s", baseline=whole, limit=10)
    assert seconds <= 10


def test_a_networkx_statistic_to_six_vertices(figure):
    @statistic(sensitivity=99, impact_cardinality=99)
    def written_in_networkx(graph, vertex, targets):
        return sum(len(list(nx.common_neighbors(graph, vertex, s))) for s in targets - {vertex})

    found, seconds = timed(lambda: table(written_in_networkx, 6, fast=False, jobs=2))
    whole = labelled_loop(written_in_networkx, 6, 3.0)
    assert found.rows[-1].n == 6
    say(
        f"a networkx statistic, all networks with up to 6 vertices: {seconds:.2f} s on two cores; "
        f"a loop over labelled pairs, from a part: {whole:,.0f} s, "
        f"{whole / seconds:,.0f} times as long"
    )
    figure("a networkx statistic to 6 vertices", seconds, "s", baseline=whole, limit=30)
    assert seconds <= 30


def test_check_of_common_neighbours_as_a_whole(figure):
    results, seconds = timed(lambda: check_sop(CN(), Options(jobs=2)))
    assert not any(result.status == "violated" for result in results)
    say(f"check CN, all checks: {seconds:.2f} s")
    figure("check CN, all checks", seconds, "s", limit=20)
    assert seconds <= 20
