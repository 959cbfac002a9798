"""Look for violations among random pairs, with Hypothesis climbing and shrinking."""

from __future__ import annotations

import math
import time

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings, target
from hypothesis import strategies as st

from pdpaudit.checks.case import Case
from pdpaudit.checks.guard import TooSlow, limit
from pdpaudit.checks.measure import Declared, Evaluate, measure
from pdpaudit.checks.samples import FAMILIES
from pdpaudit.checks.search import LARGEST_DEGREE, LARGEST_NETWORK, Found, cut

__all__ = ["at_random"]


class _Violation(Exception):
    """A declaration is broken: what Hypothesis shrinks towards."""


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    """Draw a shape, a few edges to toggle in it, two neighbourhoods of u and a set S.

    A set is one drawn number, bit by bit, so that a pair takes few draws and shrinks quickly.
    """
    size = draw(st.integers(1, LARGEST_NETWORK - 1))
    family = FAMILIES[draw(st.sampled_from(list(FAMILIES)))]
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    matrix = np.zeros((size, size), dtype=bool)
    for a, b in family(size, rng):
        matrix[a, b] = matrix[b, a] = True
    for code in draw(st.sets(st.integers(0, size * size - 1), max_size=6)):
        a, b = divmod(code, size)
        if a != b:
            matrix[a, b] = matrix[b, a] = not matrix[a, b]
    cut(matrix, LARGEST_DEGREE, rng)
    room = matrix.sum(axis=1) < LARGEST_DEGREE
    subset = st.one_of(st.just(0), st.integers(0, (1 << size) - 1), st.just((1 << size) - 1))
    left, right, members = (_bits(draw(subset), size) for _ in range(3))
    return Case(
        size + 1,
        tuple((int(a), int(b)) for a, b in np.argwhere(np.triu(matrix))),
        size,
        tuple(np.flatnonzero(left & room)[:LARGEST_DEGREE].tolist()),
        tuple(np.flatnonzero(right & room)[:LARGEST_DEGREE].tolist()),
        tuple(np.flatnonzero(members).tolist()),
    )


def _bits(number: int, size: int) -> npt.NDArray[np.bool_]:
    return np.array([number >> place & 1 for place in range(size)], dtype=bool)


def at_random(
    evaluate: Evaluate,
    declared: Declared,
    properties: tuple[str, ...],
    *,
    examples: int,
    entropy: int,
    deadline: float,
) -> Found:
    """Draw pairs with up to 30 vertices and degree 12, climbing towards the declared bounds."""
    found = Found()

    @seed(entropy)
    @settings(
        max_examples=max(examples, 1),
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.target, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
        report_multiple_bugs=False,
    )
    @given(_cases())
    def attempt(case: Case) -> None:
        if time.time() > deadline:
            found.stopped = True
            return
        try:
            with limit(deadline - time.time()):
                measured = measure(evaluate, case, declared.slack[case.max_degree])
        except TooSlow:
            found.stopped = True
            return
        found.looked_at += 1
        broken = False
        for of in properties:
            observed = measured.observed(of)
            bound = declared.bound(of, case.max_degree)
            height = observed / bound if 0 < bound < math.inf else observed
            target(min(height, 1e300), label=of)
            if observed > declared.allowed(of, case.max_degree):
                broken = True
                if of not in found.cases or case.size < found.cases[of].size:
                    found.cases[of] = case
        if broken:
            raise _Violation

    try:
        attempt()
    except _Violation:
        pass
    except Exception:
        # An answer that changes from call to call is flaky to Hypothesis: what was met counts.
        if not found.cases:
            raise
    return found
