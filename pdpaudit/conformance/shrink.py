"""Make a counterexample as small as it gets by leaving things out one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from pdpaudit.conformance.case import Case

__all__ = ["shrink"]


def shrink(case: Case, still: Callable[[Case], bool], deadline: float) -> Case:
    """Leave out vertices, then edges, then members of S, as long as the violation stays.

    Parameters
    ----------
    case : Case
        A counterexample.
    still : callable
        Whether a case is one.
    deadline : float
        Value of ``time.time()`` to stop at.

    Returns
    -------
    Case
        A counterexample from which no single vertex, edge or member can be left out, unless the
        time was over. O(size²) calls of ``still``.

    Examples
    --------
    >>> case = Case(4, ((0, 1), (1, 2)), 3, (0, 1), (), (0, 2))
    >>> shrink(case, lambda smaller: 1 in smaller.left + smaller.targets, deadline=2e9).size
    (3, 0, 0, 1)
    """
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
