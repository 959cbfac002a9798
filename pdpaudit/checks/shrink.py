"""Make a counterexample as small as it gets by leaving things out one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations

from pdpaudit.checks.case import Case

__all__ = ["shrink"]

PAIRS_UP_TO = 16  # vertices up to which two are left out at once


def shrink(case: Case, still: Callable[[Case], bool], deadline: float) -> Case:
    """Leave out vertices, then edges, then members of S, as long as the violation stays."""
    smaller = True
    while smaller and time.time() < deadline:
        smaller = False
        for candidate in _smaller(case):
            if time.time() > deadline:
                break
            if still(candidate):
                case, smaller = candidate, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    for v in range(case.n):
        if v != case.vertex:
            yield _without_vertex(case, v)
    for v in range(case.n):
        smoothed = _smoothed(case, v)
        if smoothed is not None:
            yield smoothed
    if case.n <= PAIRS_UP_TO:
        others = [v for v in range(case.n) if v != case.vertex]
        for a, b in combinations(others, 2):
            yield _without_vertex(_without_vertex(case, b), a)
    both = set(case.left) & set(case.right)
    for v in sorted({*case.left, *case.right}):
        yield replace(
            case,
            left=tuple(x for x in case.left if x != v),
            right=tuple(x for x in case.right if x != v),
        )
    for edge in case.edges:
        yield replace(case, edges=tuple(other for other in case.edges if other != edge))
    for v in sorted(both):
        yield replace(case, left=tuple(x for x in case.left if x != v))
        yield replace(case, right=tuple(x for x in case.right if x != v))
    for v in case.targets:
        yield replace(case, targets=tuple(x for x in case.targets if x != v))


def _smoothed(case: Case, v: int) -> Case | None:
    """Leave out a vertex with two neighbours, joining these: cycles and paths get shorter."""
    if v in (case.vertex, *case.left, *case.right):
        return None
    around = sorted({a + b - v for a, b in case.edges if v in (a, b)})
    if len(around) != 2:
        return None
    joined = sorted({*case.edges, (around[0], around[1])})
    return _without_vertex(replace(case, edges=tuple(joined)), v)


def _without_vertex(case: Case, gone: int) -> Case:
    """Leave a vertex out and close the gap in the numbering."""

    def kept(vertices: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(v - (v > gone) for v in vertices if v != gone)

    edges = tuple((a - (a > gone), b - (b > gone)) for a, b in case.edges if gone not in (a, b))
    return Case(
        case.n - 1,
        edges,
        case.vertex - (case.vertex > gone),
        kept(case.left),
        kept(case.right),
        kept(case.targets),
    )
