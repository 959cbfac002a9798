"""Search for violations small networks cannot hold: shapes, then local moves, up to 30 vertices."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from pdpaudit.checks.evaluation import Declared, Evaluate, measure
from pdpaudit.checks.graphs import SHAPES, Bits, Case, edges_of, members_of
from pdpaudit.sampling.guard import Limit, TooSlow

LARGEST_NETWORK = 30
LARGEST_DEGREE = 12
STARTS = 6  # pairs that local moves begin from, of the best and of all


@dataclass
class Found:
    """What a search found: for each property the first violation met, and how much it saw."""

    cases: dict[str, Case] = field(default_factory=dict)
    looked_at: int = 0
    stopped: bool = False


@dataclass(frozen=True)
class _Draft:
    """A pair under construction; u is the last vertex."""

    matrix: Bits
    left: Bits
    right: Bits
    members: Bits

    def case(self) -> Case:
        sides = (members_of(bits) for bits in (self.left, self.right, self.members))
        return Case(len(self.matrix) + 1, edges_of(self.matrix), len(self.matrix), *sides)

    def degree(self) -> int:
        """Return the smallest bound both networks obey."""
        inner = (self.matrix.sum(axis=1) + (self.left | self.right)).max(initial=0)
        return max(int(inner), int(self.left.sum()), int(self.right.sum()))


def guided(
    evaluate: Evaluate,
    declared: Declared,
    properties: Sequence[str],
    *,
    steps: int,
    seed: int,
    deadline: float,
    largest: int = LARGEST_NETWORK,
) -> Found:
    """Try pairs of many shapes, then change the most promising by local moves."""
    search = _Search(evaluate=evaluate, declared=declared, properties=properties)
    try:
        with Limit(deadline - time.time()):
            search.run(steps, np.random.default_rng([seed, 0x6D]), largest)
    except TooSlow:
        search.stopped = True
    return search


@dataclass(kw_only=True)
class _Search(Found):
    """A local search for pairs that use up more and more of what is declared."""

    evaluate: Evaluate
    declared: Declared
    properties: Sequence[str]

    def run(self, steps: int, rng: np.random.Generator, largest: int) -> None:
        """Spend half of the steps on shapes and half on local moves, or end with a violation."""
        pool: list[tuple[float, int, _Draft]] = []
        for draft in _shapes(rng, steps // 2, largest):
            if not self._missing:
                return
            score = self._score(draft)
            if score is not None:
                pool.append((score, len(pool), draft))
        pool.sort(key=lambda entry: (-entry[0], entry[1]))
        # Some of the best, and some of all kinds: where nothing moves yet, a score says little.
        others = rng.permutation(max(len(pool) - STARTS, 0))[:STARTS]
        best = pool[:STARTS] + [pool[STARTS + place] for place in others.tolist()]
        for turn in range(steps - steps // 2 if best else 0):
            if not self._missing:
                return
            slot = turn % len(best)
            score, order, draft = best[slot]
            moved = _move(draft, rng, largest)
            reached = None if moved is None else self._score(moved)
            if moved is not None and reached is not None and reached >= score:
                best[slot] = (reached, order, moved)

    @property
    def _missing(self) -> list[str]:
        return [of for of in self.properties if of not in self.cases]

    def _score(self, draft: _Draft) -> float | None:
        """Return how much of what is declared a pair uses up; None if it is out of bounds.

        With the size of the values as a small slope where nothing moves yet.
        """
        degree = draft.degree()
        if degree > LARGEST_DEGREE:
            return None
        case = draft.case()
        measured = measure(self.evaluate, case, self.declared.slack_at(degree))
        self.looked_at += 1
        for of in self._missing:
            if measured.observed(of) > self.declared.allowed(of, degree):
                self.cases[of] = case
        score = 0.0
        for of in self._missing:
            bound, seen = self.declared.bound(of, degree), measured.observed(of)
            score += seen / bound if bound > 0 else seen
        size = float(np.abs(measured.left).mean() + np.abs(measured.right).mean())
        return score + 1e-3 * (math.log1p(size) + math.log1p(measured.changed + measured.moved))


def _shapes(rng: np.random.Generator, count: int, largest: int) -> Iterator[_Draft]:
    """Yield pairs on graphs of many shapes, cut to the degree bound."""
    for number in range(count):
        shape = SHAPES[number % len(SHAPES)]
        # Sizes up to the densest the degree bound allows, and up to the largest, in turn.
        top = min(largest, LARGEST_DEGREE + 1) if number % 2 else largest
        size = int(rng.integers(2, top))
        matrix = np.zeros((size, size), dtype=bool)
        for a, b in shape(size, rng):
            matrix[a, b] = matrix[b, a] = True
        _cut(matrix, LARGEST_DEGREE, rng)
        order = rng.permutation(size)
        matrix = matrix[np.ix_(order, order)]
        members = _side(matrix, rng, np.zeros(size, dtype=bool), size)
        room = matrix.sum(axis=1) < LARGEST_DEGREE
        left = _side(matrix, rng, members, LARGEST_DEGREE) & room
        right = _side(matrix, rng, members, LARGEST_DEGREE) & room
        yield _Draft(matrix, left, right, members)


def _cut(matrix: Bits, bound: int, rng: np.random.Generator) -> None:
    """Take edges away until no degree is above the bound."""
    while (degree := matrix.sum(axis=1)).max(initial=0) > bound:
        a = int(degree.argmax())
        b = int(rng.choice(np.flatnonzero(matrix[a])))
        matrix[a, b] = matrix[b, a] = False


def _side(matrix: Bits, rng: np.random.Generator, members: Bits, most: int) -> Bits:
    """Choose a set of vertices by their place in the graph, at most ``most`` of them."""
    size = len(matrix)
    degree = matrix.sum(axis=1)
    match int(rng.integers(8)):
        case 0:
            chosen = np.zeros(size, dtype=bool)
        case 1:
            chosen = np.ones(size, dtype=bool)
        case 2:
            chosen = np.arange(size) == rng.integers(size)
        case 3:
            chosen = degree == degree.max()
        case 4:
            chosen = degree == degree.min()
        case 5:
            chosen = matrix[int(rng.integers(size))].copy()
        case 6:
            chosen = members ^ (np.arange(size) == rng.integers(size))
        case _:
            chosen = rng.random(size) < rng.random()
    extra = np.flatnonzero(chosen)
    if len(extra) > most:
        chosen[rng.permutation(extra)[most:]] = False
    return chosen


def _move(draft: _Draft, rng: np.random.Generator, largest: int) -> _Draft | None:
    """Change a pair a little: an edge, a neighbour of u, a member of S, or a vertex."""
    matrix, left, right, members = (
        part.copy() for part in (draft.matrix, draft.left, draft.right, draft.members)
    )
    size = len(matrix)
    v, w = (int(x) for x in rng.integers(size, size=2))
    match int(rng.integers(9)):
        case 0 | 1:
            if v == w:
                return None
            matrix[v, w] = matrix[w, v] = not matrix[v, w]
        case 2:
            left[v] = not left[v]
        case 3:
            right[v] = not right[v]
        case 4:
            left[v] = right[v] = not left[v]
        case 5:
            members[v] = not members[v]
        case 6:
            right = members.copy()
        case 7:
            if size + 2 > largest:
                return None
            # A twin of v: what one vertex can do, two can do.
            grown = np.zeros((size + 1, size + 1), dtype=bool)
            grown[:size, :size] = matrix
            grown[size, :size] = grown[:size, size] = matrix[v]
            matrix = grown
            left, right, members = (np.append(part, part[v]) for part in (left, right, members))
        case _:
            if size <= 2:
                return None
            keep = np.arange(size) != v
            matrix = matrix[np.ix_(keep, keep)]
            left, right, members = left[keep], right[keep], members[keep]
    return _Draft(matrix, left, right, members)


# Smaller violations

PAIRS_UP_TO = 16  # vertices up to which two are left out at once


def shrink(case: Case, still: Callable[[Case], bool], deadline: float) -> Case:
    """Leave out vertices, then edges, then members of S, as long as the violation stays."""
    try:
        with Limit(deadline - time.time()):
            while (smaller := next(filter(still, _smaller(case)), None)) is not None:
                case = smaller
    except TooSlow:
        pass
    return case


def _smaller(case: Case) -> Iterator[Case]:
    others = [v for v in range(case.n) if v != case.vertex]
    yield from (_without_vertex(case, v) for v in others)
    yield from filter(None, (_smoothed(case, v) for v in range(case.n)))
    if case.n <= PAIRS_UP_TO:
        for a, b in combinations(others, 2):
            yield _without_vertex(_without_vertex(case, b), a)
    for v in sorted({*case.left, *case.right}):
        yield replace(case, left=_without(case.left, v), right=_without(case.right, v))
    for edge in case.edges:
        yield replace(case, edges=tuple(other for other in case.edges if other != edge))
    for v in sorted({*case.left} & {*case.right}):
        yield replace(case, left=_without(case.left, v))
        yield replace(case, right=_without(case.right, v))
    for v in case.targets:
        yield replace(case, targets=_without(case.targets, v))


def _without(vertices: tuple[int, ...], gone: int) -> tuple[int, ...]:
    return tuple(v for v in vertices if v != gone)


def _smoothed(case: Case, v: int) -> Case | None:
    """Leave out a vertex with two neighbours, joining these: cycles and paths get shorter."""
    around = sorted({a + b - v for a, b in case.edges if v in (a, b)})
    if len(around) != 2 or v in (case.vertex, *case.left, *case.right):
        return None
    joined = sorted({*case.edges, (around[0], around[1])})
    return _without_vertex(replace(case, edges=tuple(joined)), v)


def _without_vertex(case: Case, gone: int) -> Case:
    return case.on([v for v in range(case.n) if v != gone])
