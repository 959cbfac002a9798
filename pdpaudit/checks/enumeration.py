"""Exact sensitivity and impact cardinality over all small networks.

Fix a vertex u, the graph H on the other vertices, and a set S without u; let A run over all
neighbourhoods of u. The largest change of a vertex t over all pairs whose networks both obey a
degree bound is the largest minus the smallest value of t over the admissible A: linear in the
number of networks. Every vertex but u may be targeted, as more targets only allow more. How many
vertices change at once does need the pairs; they are compared on arrays.

There are two enumerations. `enumerate_labelled` assumes nothing of the statistic but that it is a
function of its arguments, and is what may be certified. `exhaust` takes one H of each class up to
relabelling, one S of each class under the automorphisms of H, and the fast path: two more vertices
are within reach, but that nothing is found proves something only where no numbering matters.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, combinations
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pdpaudit.checks.evaluation import (
    PROPERTIES,
    Declared,
    Values,
    change,
    fast_values,
    scalar_values,
)
from pdpaudit.checks.graphs import (
    LARGEST,
    Bits,
    Case,
    build,
    edges_of,
    graphs_on,
    members_of,
    neighbourhoods,
    subset_classes,
)
from pdpaudit.core.network import adjacency_from_edges
from pdpaudit.core.protocols import FastStatistic, StatisticOfProximity
from pdpaudit.sampling.backends import in_workers
from pdpaudit.sampling.guard import Limit, TooSlow

LARGEST_LABELLED = 6  # 32,768 graphs, 12 million values; on 7 vertices it would be 2 billion

Counts = npt.NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """The largest values over networks on n vertices, for every degree bound d = 0..n-1."""

    n: int
    sensitivity: tuple[float, ...]
    impact_cardinality: tuple[int, ...] | None

    def values(self, of: str) -> tuple[float, ...]:
        """Return those of a property; none where they were not counted."""
        return self.sensitivity if of == "targeted-sensitivity" else self.impact_cardinality or ()


@dataclass(frozen=True)
class Exhaustion:
    """What an enumeration found, and where it stopped."""

    rows: tuple[Row, ...]
    cases: dict[str, Case] = field(default_factory=dict)
    stopped: str = ""


@dataclass(frozen=True)
class Family:
    """The networks of one u and H, with some sets S and the values of all vertices.

    ``values`` has the shape (sets, neighbourhoods of u, n); u is the last of ``names``.
    """

    names: tuple[int, ...]
    matrix: Bits
    spokes: Bits
    sets: Bits
    values: Values

    def case(self, members: Bits, left: Bits, right: Bits) -> Case:
        """Return two of the networks, with a set S, as a pair."""
        edges = tuple((self.names[a], self.names[b]) for a, b in edges_of(self.matrix))
        sides = (tuple(self.names[v] for v in members_of(x)) for x in (left, right, members))
        return Case(len(self.names), edges, self.names[-1], *sides)

    def degrees(self) -> Counts:
        """Return the maximum degree of H joined with each neighbourhood of u."""
        others = (self.matrix.sum(axis=1) + self.spokes).max(axis=1, initial=0)
        return np.asarray(np.maximum(others, self.spokes.sum(axis=1)), dtype=np.int64)

    def changes(self) -> Values:
        """Return the largest change of a vertex but u, for each S and each two neighbourhoods."""
        others = self.values[:, :, :-1]
        return np.asarray(change(others[:, :, None], others[:, None]).max(axis=3, initial=0))

    def counts(self, slack: Values) -> Counts:
        """Count the vertices that differ, for each S and each two neighbourhoods."""
        left, right = self.values[:, :, None], self.values[:, None]
        if not slack.any():
            return np.asarray((left != right).sum(axis=3))
        return np.asarray((change(left, right) > slack[None, :, :, None]).sum(axis=3))


@dataclass
class Tally:
    """What some families contribute; combined by maxima and minima only."""

    sensitivity: Values
    impact: Counts
    cases: dict[str, Case] = field(default_factory=dict)
    complete: bool = True

    @classmethod
    def empty(cls, n: int) -> Tally:
        """Return what no network on n vertices contributes."""
        return cls(np.zeros(n), np.zeros(n, dtype=np.int64))

    def add(
        self, family: Family, declared: Declared, wanted: Sequence[str], *, with_impact: bool
    ) -> None:
        """Take in one family: largest changes, counts, and the smallest violations wanted."""
        degree = family.degrees()
        both = np.maximum.outer(degree, degree)
        others = family.values[:, :, :-1]
        for d in np.unique(degree).tolist() if others.size else ():
            admitted = others[:, degree <= d]
            spread = change(admitted.max(axis=1), admitted.min(axis=1)).max()
            self.sensitivity[d] = max(self.sensitivity[d], float(spread))
        counts = family.counts(np.array(declared.slack)[both]) if with_impact else None
        if counts is not None:
            np.maximum.at(self.impact, both, counts.max(axis=0))
        for of in wanted:
            worst = self.sensitivity if of == "targeted-sensitivity" else self.impact
            allowed = np.array([declared.allowed(of, d) for d in range(len(family.names))])
            if (worst > allowed).any():
                seen = family.changes() if of == "targeted-sensitivity" else counts
                if seen is not None:
                    self._smallest(family, of, seen, allowed[both])

    def _smallest(self, family: Family, of: str, seen: Values | Counts, allowed: Values) -> None:
        """Keep the smallest pair that breaks a declaration, if this family has one."""
        spokes = family.spokes
        together = (spokes[:, None] | spokes[None]).sum(axis=2)
        both = np.add.outer(spokes.sum(axis=1), spokes.sum(axis=1))
        for members, found in zip(family.sets, seen, strict=True):
            bad = np.argwhere(np.triu(found > allowed))
            for a, b in bad[np.lexsort((both[*bad.T], together[*bad.T]))][:1].tolist():
                case = family.case(members, spokes[a], spokes[b])
                if of not in self.cases or case.order < self.cases[of].order:
                    self.cases[of] = case


def _combined(tallies: Sequence[Tally], n: int, with_impact: bool) -> tuple[Row, dict[str, Case]]:
    """Return the row of all families together, and the smallest violation of each property."""
    moved = np.maximum.accumulate(np.max([tally.sensitivity for tally in tallies], axis=0))
    impact = np.maximum.accumulate(np.max([tally.impact for tally in tallies], axis=0))
    counted = tuple(int(x) for x in impact) if with_impact else None
    cases: dict[str, Case] = {}
    for of, case in chain(*(tally.cases.items() for tally in tallies)):
        cases[of] = min(cases.get(of, case), case, key=lambda one: one.order)
    return Row(n, tuple(float(x) for x in moved), counted), cases


def _in_batches(work: Callable[[range], T], count: int, batches: int, jobs: int) -> list[T]:
    """Share ``count`` graphs out; every batch has some from all over, so that none takes longer."""
    parts = [range(start, count, batches) for start in range(batches)]
    if batches == 1:
        return [work(parts[0])]
    done = dict(in_workers(work, ((part.start, (part,)) for part in parts), jobs))
    return [done[part.start] for part in parts]


# Every labelled network


def enumerate_labelled(
    declared: Declared, *, max_vertices: int, jobs: int, deadline: float
) -> Exhaustion:
    """Take every neighbouring pair of labelled networks, every S: 2, 8, 64, 1024 networks, ..."""
    rows: list[Row] = []
    cases: dict[str, Case] = {}
    for n in range(1, max_vertices + 1):
        graphs = 1 << (n * (n - 1) // 2)
        batches = 1 if jobs == 1 or n < 5 else min(graphs, 8 * jobs)
        values = np.empty((graphs, (1 << n) - 1, n))
        scored = partial(_labelled_values, declared, n, deadline)
        for start, part in enumerate(_in_batches(scored, graphs, batches, jobs)):
            if part is None:
                stopped = f"time limit reached at {n} labelled vertices"
                return Exhaustion(tuple(rows), cases, stopped)
            values[start::batches] = part
        tally = Tally.empty(n)
        wanted = [of for of in PROPERTIES if of not in cases]
        for family in _labelled_families(n, values):
            tally.add(family, declared, wanted, with_impact=True)
        row, found = _combined([tally], n, True)
        cases |= found
        rows.append(row)
    return Exhaustion(tuple(rows), cases)


def _labelled_values(
    declared: Declared, n: int, deadline: float, graphs: Sequence[int]
) -> Values | None:
    """Evaluate the statistic on some of the graphs, every S but all of V; None if time is over.

    Every graph is built in index order, as a search gets it, and the scalar form is called.
    """
    pairs = list(combinations(range(n), 2))
    sets = [frozenset(v for v in range(n) if mask >> v & 1) for mask in range((1 << n) - 1)]
    values = np.empty((len(graphs), len(sets), n))
    try:
        with Limit(deadline - time.time()):
            for place, code in enumerate(graphs):
                graph = build(n, [pair for i, pair in enumerate(pairs) if code >> i & 1])
                for s, members in enumerate(sets):
                    values[place, s] = scalar_values(declared.sop, graph, members)
    except TooSlow:
        return None
    return values


def _labelled_families(n: int, values: Values) -> Iterator[Family]:
    """Yield the families of every u and H, with the values already there."""
    places = {pair: i for i, pair in enumerate(combinations(range(n), 2))}
    spokes = neighbourhoods(n - 1)
    inner = list(combinations(range(n - 1), 2))
    for u in range(n):
        others = [v for v in range(n) if v != u]
        around = _codes([places[min(u, v), max(u, v)] for v in others])
        sets = _codes(others)
        names = (*others, u)
        rest = [places[others[a], others[b]] for a, b in inner]
        for h, code in enumerate(_codes(rest).tolist()):
            matrix = np.zeros((n - 1, n - 1), dtype=bool)
            for i, (a, b) in enumerate(inner):
                matrix[a, b] = matrix[b, a] = bool(h >> i & 1)
            block = values[code + around][:, sets][:, :, names]
            yield Family(names, matrix, spokes, spokes, block.transpose(1, 0, 2))


def _codes(bits: Sequence[int]) -> Counts:
    """Return every sum of these powers of two, in the order of ``neighbourhoods``."""
    chosen = neighbourhoods(len(bits)).astype(np.int64)
    return np.asarray(chosen @ (1 << np.array(bits, dtype=np.int64)), dtype=np.int64)


# Networks up to relabelling


def exhaust(
    declared: Declared,
    *,
    max_vertices: int,
    fast: bool,
    jobs: int,
    deadline: float,
    min_vertices: int = 1,
    impact_up_to: int = LARGEST,
) -> Exhaustion:
    """Take neighbouring pairs of networks up to relabelling, every S."""
    rows: list[Row] = []
    cases: dict[str, Case] = {}
    for n in range(min_vertices, max_vertices + 1):
        count = len(graphs_on(n - 1))
        counted = n <= impact_up_to
        wanted = [of for of in PROPERTIES if of not in cases]
        batches = min(count, 1 if jobs == 1 or n < 6 else 8 * jobs)
        work = partial(_tallied, declared, n, fast, wanted, deadline, counted)
        tallies = _in_batches(work, count, batches, jobs)
        row, found = _combined(tallies, n, counted)
        cases |= found
        if not all(tally.complete for tally in tallies):
            return Exhaustion(tuple(rows), cases, f"time limit reached at {n} vertices")
        rows.append(row)
    return Exhaustion(tuple(rows), cases)


def _tallied(
    declared: Declared,
    n: int,
    fast: bool,
    wanted: Sequence[str],
    deadline: float,
    with_impact: bool,
    which: Sequence[int],
) -> Tally:
    """Work through some of the graphs H on n - 1 vertices."""
    tally = Tally.empty(n)
    spokes = neighbourhoods(n - 1)
    # A block of a few million comparisons bounds the memory.
    size = max(1, (1 << 22) // (len(spokes) ** 2 * n))
    sop = declared.sop
    score = partial(_fast_block, sop) if fast and isinstance(sop, FastStatistic) else None
    score = score or partial(_scalar_block, sop)
    try:
        with Limit(deadline - time.time()):
            for index in which:
                matrix = graphs_on(n - 1)[index]
                sets = neighbourhoods(n - 1)[subset_classes(matrix)]
                for start in range(0, len(sets), size):
                    block = sets[start : start + size]
                    values = score(matrix, spokes, block)
                    family = Family(tuple(range(n)), matrix, spokes, block, values)
                    tally.add(family, declared, wanted, with_impact=with_impact)
    except TooSlow:
        tally.complete = False
    return tally


def _scalar_block(sop: StatisticOfProximity, matrix: Bits, spokes: Bits, sets: Bits) -> Values:
    """Score all neighbourhoods of u and some sets S for one H by the scalar form."""
    u = len(matrix)
    values = np.empty((len(sets), len(spokes), u + 1))
    targets = [frozenset(members_of(members)) for members in sets]
    for a, neighbours in enumerate(spokes):
        graph = build(u + 1, edges_of(matrix))
        graph.add_edges_from((v, u) for v in members_of(neighbours))
        for s, members in enumerate(targets):
            values[s, a] = scalar_values(sop, graph, members)
    return values


def _fast_block(sop: FastStatistic, matrix: Bits, spokes: Bits, sets: Bits) -> Values:
    """Score them by the fast path, as one disjoint union where components are independent."""
    n = len(matrix) + 1
    values = np.empty((len(sets), len(spokes), n))
    together = len(spokes) if getattr(sop, "componentwise", False) else 1
    for start in range(0, len(spokes), together):
        part = spokes[start : start + together]
        stack = np.zeros((len(part), n, n), dtype=bool)
        stack[:, :-1, :-1] = matrix
        stack[:, -1, :-1] = part
        graph, low, high = np.nonzero(stack)
        adjacency = adjacency_from_edges(len(part) * n, graph * n + low, graph * n + high)
        first = np.arange(len(part))[:, None] * n
        for s, members in enumerate(sets):
            targets = (first + np.flatnonzero(members)).ravel()
            scored = fast_values(sop, adjacency, targets)
            values[s, start : start + together] = scored.reshape(len(part), n)
    return values
