"""Search for violations small networks cannot hold: shapes, then local moves, up to 30 vertices."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pdpaudit.checks.declaration import Declared
from pdpaudit.checks.evaluation import Evaluate, Measured, TooSlow, limit, measure
from pdpaudit.checks.graphs import SHAPES, Bits, edges_of, members_of
from pdpaudit.checks.pairs import Case

LARGEST_NETWORK = 30
LARGEST_DEGREE = 12
CLIMBERS = 6


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
        inner = self.matrix.sum(axis=1)
        widest = max(int(self.left.sum()), int(self.right.sum()))
        return max(widest, int((inner + (self.left | self.right)).max(initial=0)))


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
    """Try pairs of many shapes, then climb from the most promising by local moves.

    The height climbed is how much of the declaration a pair uses up; with the size of the values
    as a small slope where nothing moves yet.
    """
    rng = np.random.default_rng([seed, 0x6D])
    found = Found()
    pool: list[tuple[float, int, _Draft]] = []

    def look(draft: _Draft) -> float | None:
        """Evaluate a pair and return its height; None if it is out of bounds."""
        degree = draft.degree()
        if degree > LARGEST_DEGREE:
            return None
        case = draft.case()
        with limit(deadline - time.time()):
            measured = measure(evaluate, case, declared.slack_at(degree))
        found.looked_at += 1
        for of in properties:
            allowed = declared.allowed(of, degree)
            if of not in found.cases and measured.observed(of) > allowed:
                found.cases[of] = case
        return _height(measured, degree, declared, [p for p in properties if p not in found.cases])

    def over() -> bool:
        found.stopped = time.time() > deadline
        return found.stopped or all(of in found.cases for of in properties)

    try:
        for draft in _shapes(rng, steps // 2, largest):
            if over():
                return found
            height = look(draft)
            if height is not None:
                pool.append((height, len(pool), draft))
        pool.sort(key=lambda entry: (-entry[0], entry[1]))
        # Some of the highest, and some of all kinds: where nothing moves yet, height says little.
        others = rng.permutation(max(len(pool) - CLIMBERS, 0))[:CLIMBERS]
        climbers = pool[:CLIMBERS] + [pool[CLIMBERS + place] for place in others.tolist()]
        for turn in range(steps - steps // 2):
            if over() or not climbers:
                return found
            slot = turn % len(climbers)
            height, order, draft = climbers[slot]
            moved = _move(draft, rng, largest)
            reached = look(moved) if moved is not None else None
            if reached is not None and reached >= height:
                climbers[slot] = (reached, order, moved if moved is not None else draft)
    except TooSlow:
        found.stopped = True
    return found


def _height(
    measured: Measured, degree: int, declared: Declared, properties: Sequence[str]
) -> float:
    height = 0.0
    for of in properties:
        bound = declared.bound(of, degree)
        seen = measured.observed(of)
        height += seen / bound if bound > 0 else seen
    size = float(np.abs(measured.left).mean() + np.abs(measured.right).mean())
    return height + 1e-3 * (math.log1p(size) + math.log1p(measured.changed + measured.moved))


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
            left, right = left, members.copy()
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
