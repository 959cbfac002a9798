"""Exact sensitivity and impact cardinality over every neighbouring pair of small networks.

Fix the graph H on the vertices other than u, up to relabelling, and the set S. Let A run over all
neighbourhoods of u. The largest change of a vertex t over all pairs whose networks both obey a
degree bound is the largest minus the smallest value of t over the admissible A: linear in the
number of networks. Every vertex but u may be targeted, as more targets only allow more. How many
vertices change at once does need the pairs; they are compared on arrays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import joblib
import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.conformance.atlas import Bits, graphs_on, neighbourhoods, subset_classes
from pdpaudit.conformance.case import Case
from pdpaudit.conformance.guard import TooSlow, fast_values, limit, scalar_values
from pdpaudit.conformance.measure import Declared
from pdpaudit.conformance.tolerance import RELATIVE, exceeds
from pdpaudit.contracts import FastStatistic, StatisticOfProximity
from pdpaudit.network import adjacency_from_edges

__all__ = ["Exhaustion", "Row", "exhaust"]

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """Exact values over all networks on n vertices, for every degree bound d = 0..n-1.

    Attributes
    ----------
    n : int
        Number of vertices.
    sensitivity : tuple of float
        Exact Δ, index d.
    impact_cardinality : tuple of int, optional
        Exact IC, index d; None where it was not asked for.
    """

    n: int
    sensitivity: tuple[float, ...]
    impact_cardinality: tuple[int, ...] | None


@dataclass(frozen=True)
class Exhaustion:
    """What an exhaustive search found.

    Attributes
    ----------
    rows : tuple of Row
        One for each number of vertices that was completed.
    cases : dict
        For each property its smallest counterexample, where there is one.
    stopped : str
        Why it ended before the number of vertices asked for; empty if it did not.
    """

    rows: tuple[Row, ...]
    cases: dict[str, Case] = field(default_factory=dict)
    stopped: str = ""


@dataclass
class _Part:
    """What one batch of graphs H contributes; combined by maxima and minima only."""

    sensitivity: Values
    impact: npt.NDArray[np.int64]
    cases: dict[str, Case]
    complete: bool = True


def exhaust(
    sop: StatisticOfProximity,
    declared: Declared,
    *,
    max_vertices: int,
    fast: bool,
    jobs: int,
    deadline: float,
    impact_up_to: int = 7,
) -> Exhaustion:
    """Take every neighbouring pair of networks with up to ``max_vertices`` vertices, every S.

    Parameters
    ----------
    sop : StatisticOfProximity
        A statistic that does not depend on the labels of the vertices.
    declared : Declared
        Its declarations.
    max_vertices : int
        At most 8.
    fast : bool
        Whether to use the fast path.
    jobs : int
        Worker processes; the result does not depend on their number.
    deadline : float
        Value of ``time.time()`` to stop at.
    impact_up_to : int
        Largest number of vertices for which the impact cardinality is worked out.

    Returns
    -------
    Exhaustion
        Networks are ``2**(n-1)`` for each of the classes of (H, S): 2, 6, 20, 90, 544, 5096,
        79264 of them for n = 2..8.

    Raises
    ------
    EvaluationFailed
        If the statistic fails on one of the networks.
    """
    rows: list[Row] = []
    cases: dict[str, Case] = {}
    for n in range(1, max_vertices + 1):
        count = len(graphs_on(n - 1))
        # Every batch holds graphs from all over the atlas, so that all take about as long.
        batches = min(count, 1 if jobs == 1 or n < 6 else 8 * jobs)
        wanted = [of for of in ("targeted-sensitivity", "impact-cardinality") if of not in cases]
        tasks = (
            joblib.delayed(_tabulate)(
                sop,
                declared,
                n,
                range(start, count, batches),
                fast,
                wanted,
                deadline,
                n <= impact_up_to,
            )
            for start in range(batches)
        )
        parts: list[_Part] = (
            [function(*args) for function, args, _ in tasks]
            if batches == 1
            else joblib.Parallel(n_jobs=jobs)(tasks)
        )
        for of in wanted:
            found = [part.cases[of] for part in parts if of in part.cases]
            if found:
                cases[of] = min(found, key=_order)
        if not all(part.complete for part in parts):
            return Exhaustion(tuple(rows), cases, f"the time was over at {n} vertices")
        moved = np.maximum.accumulate(np.max([part.sensitivity for part in parts], axis=0))
        impact = np.maximum.accumulate(np.max([part.impact for part in parts], axis=0))
        known = tuple(int(x) for x in impact) if n <= impact_up_to else None
        rows.append(Row(n, tuple(_tidy(x) for x in moved), known))
    return Exhaustion(tuple(rows), cases)


def _order(case: Case) -> tuple[object, ...]:
    """Order counterexamples by size, then by themselves, so that the smallest is unique."""
    return (case.size, case.edges, case.left, case.right, case.targets)


def _tidy(value: float) -> float:
    """Take rounding out of a value that is a whole number."""
    return float(round(value)) if abs(value - round(value)) <= RELATIVE else float(value)


def _tabulate(
    sop: StatisticOfProximity,
    declared: Declared,
    n: int,
    which: Sequence[int],
    fast: bool,
    wanted: Sequence[str],
    deadline: float,
    with_impact: bool,
) -> _Part:
    """Work through some of the graphs H on n - 1 vertices."""
    part = _Part(np.zeros(n), np.zeros(n, dtype=np.int64), {})
    spokes = neighbourhoods(n - 1)
    score = _scorer(sop, fast)
    try:
        for index in which:
            if time.time() > deadline:
                part.complete = False
                return part
            matrix = graphs_on(n - 1)[index]
            degree = _degrees(matrix, spokes)
            for sets, values in _scored(score, matrix, spokes, deadline):
                _largest_change(part, values, degree)
                if with_impact:
                    _most_changed(part, values, degree)
                for of in wanted:
                    _smallest_violation(part, of, declared, matrix, spokes, degree, sets, values)
    except TooSlow:
        part.complete = False
    return part


def _degrees(matrix: Bits, spokes: Bits) -> npt.NDArray[np.int64]:
    """Return the maximum degree of H joined with each neighbourhood of u."""
    others = (matrix.sum(axis=1) + spokes).max(axis=1, initial=0)
    return np.asarray(np.maximum(others, spokes.sum(axis=1)), dtype=np.int64)


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


def _largest_change(part: _Part, values: Values, degree: npt.NDArray[np.int64]) -> None:
    """Take the largest minus the smallest value over the neighbourhoods each bound admits."""
    others = values[:, :, :-1]
    if not others.size:
        return
    for d in np.unique(degree).tolist():
        admitted = others[:, degree <= d]
        spread = float((admitted.max(axis=1) - admitted.min(axis=1)).max())
        part.sensitivity[d] = max(part.sensitivity[d], spread)


def _different(values: Values) -> npt.NDArray[np.int64]:
    """Count the vertices that differ, for each S and each two neighbourhoods."""
    left, right = values[:, :, None], values[:, None]
    if (values == np.rint(values)).all():
        return np.asarray((left != right).sum(axis=3))
    scale = np.maximum(1.0, np.maximum(np.abs(left), np.abs(right)))
    return np.asarray((np.abs(left - right) > RELATIVE * scale).sum(axis=3))


def _most_changed(part: _Part, values: Values, degree: npt.NDArray[np.int64]) -> None:
    """Count the vertices that change between any two neighbourhoods, by the pair's degree."""
    most = _different(values).max(axis=0)
    np.maximum.at(part.impact, np.maximum.outer(degree, degree), most)


def _smallest_violation(
    part: _Part,
    of: str,
    declared: Declared,
    matrix: Bits,
    spokes: Bits,
    degree: npt.NDArray[np.int64],
    sets: Bits,
    values: Values,
) -> None:
    """Keep the smallest pair that breaks a declaration, if this H has one."""
    n = len(matrix) + 1
    bounds = np.array([declared.bound(of, d) for d in range(n)])
    worst = part.sensitivity if of == "targeted-sensitivity" else part.impact
    if not any(exceeds(worst[d], bounds[d]) for d in range(n)):
        return
    allowed = bounds[np.maximum.outer(degree, degree)]
    allowed = allowed + RELATIVE * np.maximum(1.0, np.abs(allowed))
    together = (spokes[:, None] | spokes[None]).sum(axis=2)
    apart = np.add.outer(spokes.sum(axis=1), spokes.sum(axis=1))
    edges = tuple((int(a), int(b)) for a, b in np.argwhere(np.triu(matrix)))
    for members, scores in zip(sets, values, strict=True):
        if of == "targeted-sensitivity":
            others = scores[:, :-1]
            seen = np.abs(others[:, None] - others[None]).max(axis=2, initial=0)
        else:
            seen = _different(scores[None])[0]
        bad = np.argwhere(np.triu(seen > allowed))
        for a, b in bad[np.lexsort((apart[*bad.T], together[*bad.T]))][:1].tolist():
            left, right = (tuple(np.flatnonzero(spokes[side]).tolist()) for side in (a, b))
            targets = tuple(np.flatnonzero(members).tolist())
            case = Case(n, edges, n - 1, left, right, targets)
            if of not in part.cases or _order(case) < _order(part.cases[of]):
                part.cases[of] = case
