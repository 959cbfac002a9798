"""Look for violations among random pairs, with Hypothesis climbing and shrinking."""

from __future__ import annotations

import math
import time

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings, target
from hypothesis import strategies as st

from pdpaudit.conformance.case import Case
from pdpaudit.conformance.guard import TooSlow, limit
from pdpaudit.conformance.measure import Declared, Evaluate, measure
from pdpaudit.conformance.search import LARGEST_DEGREE, LARGEST_NETWORK, Found
from pdpaudit.conformance.tolerance import exceeds
from pdpaudit.neighbors import NeighborPair
from pdpaudit.strategies import neighbor_pairs, subsets

__all__ = ["at_random"]


class _Violation(Exception):
    """A declaration is broken: what Hypothesis shrinks towards."""


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    pair: NeighborPair = draw(neighbor_pairs(2, LARGEST_NETWORK, LARGEST_DEGREE))
    vertex = pair.vertex
    rows, columns = pair.network.adjacency.nonzero()
    edges = tuple(
        (a, b)
        for a, b in zip(rows.tolist(), columns.tolist(), strict=True)
        if a < b and vertex not in (a, b)
    )
    # Every vertex but u may be a member of S: the definitions take the worst partition.
    members = draw(subsets([v for v in range(pair.network.n) if v != vertex]))
    return Case(
        pair.network.n,
        edges,
        vertex,
        tuple(pair.left_neighbours.tolist()),
        tuple(pair.right_neighbours.tolist()),
        tuple(sorted(members)),
    )


def at_random(
    evaluate: Evaluate,
    declared: Declared,
    of: str,
    *,
    examples: int,
    entropy: int,
    deadline: float,
) -> Found:
    """Draw pairs with up to 30 vertices and degree 12, climbing towards the declared bound.

    Parameters
    ----------
    evaluate : callable
        The statistic at all vertices.
    declared : Declared
        Its declarations.
    of : str
        The property to break.
    examples : int
        Pairs to draw; shrinking draws more.
    entropy : int
        Seed.
    deadline : float
        Value of ``time.time()`` to stop at.

    Returns
    -------
    Found
        With a shrunk violation, if one was met.
    """
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
    )
    @given(_cases())
    def attempt(case: Case) -> None:
        if time.time() > deadline:
            found.stopped = True
            return
        try:
            with limit(deadline - time.time()):
                measured = measure(evaluate, case)
        except TooSlow:
            found.stopped = True
            return
        found.looked_at += 1
        observed = measured.observed(of)
        bound = declared.bound(of, case.max_degree)
        if exceeds(observed, bound):
            best = found.cases.get(of)
            if best is None or case.size < best.size:
                found.cases[of] = case
            raise _Violation
        height = observed / bound if 0 < bound < math.inf else observed
        target(min(height, 1e300), label=of)

    try:
        attempt()
    except _Violation:
        pass
    except BaseException:
        # A statistic whose answer changes is reported as flaky: the case itself is what counts.
        if of not in found.cases:
            raise
    return found
