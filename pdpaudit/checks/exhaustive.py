"""Sensitivity and impact cardinality over one network of each class up to relabelling.

As :mod:`pdpaudit.checks.labelled`, with one graph H of each class and one S of each class
under its automorphisms, and the fast path: two more vertices are within reach. What is found is
there; that nothing is found proves something only of a statistic that no numbering matters to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import joblib
import networkx as nx
import numpy as np
from scipy.sparse import csr_array

from pdpaudit.checks.atlas import Bits, graphs_on, neighbourhoods, subset_classes
from pdpaudit.checks.case import Case
from pdpaudit.checks.families import Exhaustion, Family, Row, Tally, Values, combined
from pdpaudit.checks.guard import TooSlow, fast_values, limit, scalar_values
from pdpaudit.checks.measure import PROPERTIES, Declared
from pdpaudit.core.network import adjacency_from_edges
from pdpaudit.core.protocols import FastStatistic, StatisticOfProximity

__all__ = ["exhaust"]


def exhaust(
    sop: StatisticOfProximity,
    declared: Declared,
    *,
    max_vertices: int,
    fast: bool,
    jobs: int,
    deadline: float,
    min_vertices: int = 1,
    impact_up_to: int = 7,
) -> Exhaustion:
    """Take neighbouring pairs of networks up to relabelling, every S."""
    rows: list[Row] = []
    cases: dict[str, Case] = {}
    for n in range(min_vertices, max_vertices + 1):
        count = len(graphs_on(n - 1))
        # Every batch holds graphs from all over the atlas, so that all take about as long.
        batches = min(count, 1 if jobs == 1 or n < 6 else 8 * jobs)
        wanted = [of for of in PROPERTIES if of not in cases]
        counted = n <= impact_up_to
        tasks = [
            (sop, declared, n, range(start, count, batches), fast, wanted, deadline, counted)
            for start in range(batches)
        ]
        tallies: list[Tally] = (
            [_tallied(*tasks[0])]
            if batches == 1
            else joblib.Parallel(n_jobs=jobs)(joblib.delayed(_tallied)(*task) for task in tasks)
        )
        row, found = combined(tallies, n, with_impact=counted)
        cases |= found
        if not all(tally.complete for tally in tallies):
            return Exhaustion(tuple(rows), cases, f"the time was over at {n} vertices")
        rows.append(row)
    return Exhaustion(tuple(rows), cases)


def _tallied(
    sop: StatisticOfProximity,
    declared: Declared,
    n: int,
    which: Sequence[int],
    fast: bool,
    wanted: Sequence[str],
    deadline: float,
    with_impact: bool,
) -> Tally:
    """Work through some of the graphs H on n - 1 vertices."""
    tally = Tally.empty(n)
    spokes = neighbourhoods(n - 1)
    names = tuple(range(n))
    score = _scorer(sop, fast)
    try:
        for index in which:
            if time.time() > deadline:
                tally.complete = False
                return tally
            matrix = graphs_on(n - 1)[index]
            for sets, values in _scored(score, matrix, spokes, deadline):
                family = Family(names, matrix, spokes, sets, values)
                tally.add(family, declared, wanted, with_impact=with_impact)
    except TooSlow:
        tally.complete = False
    return tally


Score = Callable[[Bits, Bits, Bits, float], Values]


def _scored(
    score: Score, matrix: Bits, spokes: Bits, deadline: float
) -> Iterator[tuple[Bits, Values]]:
    """Yield blocks of sets S with values of shape (sets, neighbourhoods, n)."""
    sets = neighbourhoods(len(matrix))[subset_classes(matrix)]
    # A block of a few million comparisons bounds the memory.
    rows = max(1, (1 << 22) // (len(spokes) ** 2 * (len(matrix) + 1)))
    for start in range(0, len(sets), rows):
        block = sets[start : start + rows]
        yield block, score(matrix, spokes, block, deadline)


def _scorer(sop: StatisticOfProximity, fast: bool) -> Score:
    """Return how to score all neighbourhoods of u and all sets S for one H."""
    if not fast or not isinstance(sop, FastStatistic):

        def one_by_one(matrix: Bits, spokes: Bits, sets: Bits, deadline: float) -> Values:
            values = np.empty((len(sets), len(spokes), len(matrix) + 1))
            targets = [frozenset(np.flatnonzero(s).tolist()) for s in sets]
            for a, neighbours in enumerate(spokes):
                graph = _networkx(matrix, neighbours)
                with limit(deadline - time.time()):
                    for s, members in enumerate(targets):
                        values[s, a] = scalar_values(sop, graph, members)
            return values

        return one_by_one

    if getattr(sop, "componentwise", False):
        return lambda matrix, spokes, sets, deadline: _as_one_graph(
            sop, matrix, spokes, sets, deadline
        )

    def graph_by_graph(matrix: Bits, spokes: Bits, sets: Bits, deadline: float) -> Values:
        values = np.empty((len(sets), len(spokes), len(matrix) + 1))
        for a in range(len(spokes)):
            adjacency = _union(matrix, spokes[a : a + 1])
            with limit(deadline - time.time()):
                for s, members in enumerate(sets):
                    values[s, a] = fast_values(sop, adjacency, np.flatnonzero(members))
        return values

    return graph_by_graph


def _as_one_graph(
    sop: FastStatistic, matrix: Bits, spokes: Bits, sets: Bits, deadline: float
) -> Values:
    """Score the disjoint union over all neighbourhoods of u, one set S at a time."""
    n = len(matrix) + 1
    adjacency = _union(matrix, spokes)
    first = np.arange(len(spokes))[:, None] * n
    with limit(deadline - time.time()):
        scored = [
            fast_values(sop, adjacency, (first + np.flatnonzero(members)).ravel())
            for members in sets
        ]
    return np.stack(scored).reshape(len(sets), len(spokes), n)


def _union(matrix: Bits, spokes: Bits) -> csr_array:
    """Return the disjoint union of H joined with each of these neighbourhoods of u."""
    n = len(matrix) + 1
    stack = np.zeros((len(spokes), n, n), dtype=bool)
    stack[:, :-1, :-1] = matrix
    stack[:, -1, :-1] = spokes
    graph, low, high = np.nonzero(stack)
    return adjacency_from_edges(len(spokes) * n, graph * n + low, graph * n + high)


def _networkx(matrix: Bits, neighbours: Bits) -> nx.Graph:
    u = len(matrix)
    graph = nx.empty_graph(u + 1)
    graph.add_edges_from(np.argwhere(np.triu(matrix)).tolist())
    graph.add_edges_from((v, u) for v in np.flatnonzero(neighbours).tolist())
    return graph
