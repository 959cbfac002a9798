"""One statistic under examination: what the checks share, worked out when first asked for."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import networkx as nx
import numpy as np
import numpy.typing as npt

from pdpaudit.conformance.atlas import LARGEST
from pdpaudit.conformance.case import Case, Edge
from pdpaudit.conformance.door import name_of, require_statistic
from pdpaudit.conformance.exhaustive import Exhaustion, exhaust
from pdpaudit.conformance.guard import EvaluationFailed, TooSlow, author_trace, limit, place_of
from pdpaudit.conformance.measure import evaluator, measure, violates
from pdpaudit.conformance.on_network import require_degree
from pdpaudit.conformance.options import Options
from pdpaudit.conformance.random_search import at_random
from pdpaudit.conformance.search import LARGEST_DEGREE, LARGEST_NETWORK, Found, guided
from pdpaudit.conformance.shrink import shrink
from pdpaudit.conformance.tolerance import exceeds
from pdpaudit.conformance.witness import FORMAT
from pdpaudit.contracts import FastStatistic
from pdpaudit.errors import described

__all__ = ["PROPERTIES", "Examination"]

T = TypeVar("T")

PROPERTIES = ("targeted-sensitivity", "impact-cardinality")


class Examination:
    """A statistic, its declarations, how far to go, and what has been found so far.

    Parameters
    ----------
    sop : object
        The statistic, or a class that makes one without arguments.
    options : Options
        How far to go.

    Raises
    ------
    InputError
        If it is not a statistic.
    """

    def __init__(self, sop: Any, options: Options) -> None:
        self.sop, self.declared = require_statistic(sop)
        self.options = options
        self.name = name_of(self.sop)
        if options.network is not None and options.max_degree is not None:
            require_degree(options.network, options.max_degree)
        self.start = time.time()
        self.failed: set[str] = set()  # names of the checks that failed so far

    @property
    def deadline(self) -> float:
        """When all checks must be done, as ``time.time()``."""
        return self.start + self.options.time_limit

    @property
    def call_limit(self) -> float:
        """Seconds one small graph may take before the statistic counts as hanging."""
        return min(10.0, self.options.time_limit / 4)

    @property
    def fast(self) -> bool:
        """Whether the fast path is there and may stand in for the scalar form."""
        return isinstance(self.sop, FastStatistic) and "fast-path" not in self.failed

    def within_call_limit(self, call: Callable[[], T], place: dict[str, Any]) -> T:
        """Return ``call()``, or blame the statistic for not returning on a small graph.

        Raises
        ------
        EvaluationFailed
            If it takes longer than a small graph may.
        """
        start = time.monotonic()
        try:
            with limit(self.call_limit):
                return call()
        except TooSlow:
            if time.monotonic() - start < 0.9 * self.call_limit:
                raise  # it was another, outer limit
            message = f"no answer within {self.call_limit:g} s"
            raise EvaluationFailed("finite", message, place) from None

    def ask(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> float:
        """Call the statistic once.

        Raises
        ------
        EvaluationFailed
            If it raises, does not return a number, or does not return.
        """
        place = place_of(graph, vertex, targets)
        try:
            return self.within_call_limit(lambda: float(self.sop(graph, vertex, targets)), place)
        except EvaluationFailed:
            raise
        except Exception as error:
            message = described(error)
            raise EvaluationFailed("finite", message, place, author_trace(error)) from None

    def scalar(
        self, n: int, edges: Sequence[Edge], targets: Sequence[int]
    ) -> npt.NDArray[np.float64]:
        """Evaluate the scalar form at all vertices of a graph.

        Raises
        ------
        EvaluationFailed
            As :meth:`ask`.
        """
        place = {
            "n": n,
            "edges": sorted(map(list, edges)),
            "vertex": None,
            "targets": list(targets),
        }
        evaluate = evaluator(self.sop, fast=False)
        return self.within_call_limit(lambda: evaluate(n, edges, targets), place)

    @cached_property
    def exhaustion(self) -> Exhaustion:
        """Exact tables; a part of the time is kept for the search beyond."""
        share = 0.75 if self.options.examples else 1.0
        return exhaust(
            self.sop,
            self.declared,
            max_vertices=self.options.max_vertices,
            fast=self.fast,
            jobs=self.options.jobs,
            deadline=time.time() + share * (self.deadline - time.time()),
            impact_up_to=LARGEST,
        )

    @cached_property
    def beyond(self) -> tuple[Found, Found]:
        """What random and guided search found of the properties that held on small networks."""
        options = self.options
        missing = tuple(
            of
            for of in PROPERTIES
            if of not in self.exhaustion.cases and max(self.declared.of(of)) < math.inf
        )
        drawn, climbed = Found(), Found()
        if not missing or not options.examples:
            return drawn, climbed
        evaluate = evaluator(self.sop, fast=self.fast)
        remaining = self.deadline - time.time()
        climbed = guided(
            evaluate,
            self.declared,
            missing,
            steps=options.examples,
            seed=options.seed,
            deadline=time.time() + 0.5 * remaining,
        )
        missing = tuple(of for of in missing if of not in climbed.cases)
        if missing:
            drawn = at_random(
                evaluate,
                self.declared,
                missing,
                examples=options.examples // 20,
                entropy=options.seed,
                deadline=time.time() + 0.8 * (self.deadline - time.time()),
            )
        return drawn, climbed

    def counterexample(self, of: str) -> Case | None:
        """Return the smallest violation found of a property, shrunk; None if there is none."""
        if of in self.exhaustion.cases:
            return self._if_scalar_agrees(self.exhaustion.cases[of], of)
        for found in self.beyond:
            if of in found.cases:
                return self._smallest(self._if_scalar_agrees(found.cases[of], of), of)
        return None

    def _smallest(self, case: Case, of: str) -> Case:
        """Shrink a violation, and search anew among smaller networks while there are any."""
        # A violation in hand is worth a little time beyond the limit.
        until = max(self.deadline, time.time() + 5.0)
        while True:
            case = shrink(case, lambda smaller: self.breaks(smaller, of), until)
            if case.n <= max(self.options.max_vertices + 1, 3):
                return case
            smaller = guided(
                evaluator(self.sop, fast=self.fast),
                self.declared,
                (of,),
                steps=self.options.examples // 3,
                seed=self.options.seed + case.n,
                deadline=until,
                largest=case.n - 1,
            )
            if of not in smaller.cases or not self.breaks(smaller.cases[of], of):
                return case
            case = smaller.cases[of]

    def breaks(self, case: Case, of: str) -> bool:
        """Return whether a case violates a property by the scalar form."""
        try:
            return violates(measure(self.scalar, case), case, self.declared, of)
        except (EvaluationFailed, TooSlow):
            return False

    def breaks_own(self, case: Case, bound: int, of: str) -> bool:
        """Return whether a case breaks what is declared for a given degree bound."""
        if case.max_degree > bound:
            return False
        try:
            measured = measure(self.scalar, case)
        except (EvaluationFailed, TooSlow):
            return False
        if of == "impact-cardinality":
            return exceeds(measured.changed, float(self.sop.impact_cardinality(bound)))
        return exceeds(measured.moved, float(self.sop.sensitivity(bound)))

    def _if_scalar_agrees(self, case: Case, of: str) -> Case:
        """Refuse a violation that only the fast path shows: it is a failure of that path."""
        if not self.fast or self.breaks(case, of):
            return case
        place = _place(case)
        raise EvaluationFailed("fast-path", "the fast path differs from the scalar form", place)

    def pair_witness(self, case: Case, of: str, bound: int | None = None) -> dict[str, Any]:
        """Return a counterexample as plain data, measured by the scalar form.

        The degree bound is the smallest the case obeys, unless another is given.
        """
        measured = measure(self.scalar, case)
        d = case.max_degree if bound is None else bound
        declare = (
            self.sop.impact_cardinality if of == "impact-cardinality" else self.sop.sensitivity
        )
        return {
            "format": FORMAT,
            "property": of,
            "statistic": self.name,
            "n": case.n,
            "edges": [list(edge) for edge in case.edges],
            "vertex": case.vertex,
            "left": list(case.left),
            "right": list(case.right),
            "targets": list(case.targets),
            "at": measured.at,
            "max_degree": d,
            "declared": float(declare(d)),
            "observed": measured.observed(of),
            "values": {"left": measured.left.tolist(), "right": measured.right.tolist()},
        }

    def graph_witness(self, of: str, place: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Return a failure on one graph as plain data."""
        return {"format": FORMAT, "property": of, "statistic": self.name, **place, **more}

    def scope(self) -> str:
        """Say what exhaustion and search went through."""
        done = self.exhaustion.rows[-1].n if self.exhaustion.rows else 0
        how = " by the fast path" if self.fast else ""
        parts = [f"all networks up to {done} vertices{how}"]
        if self.exhaustion.stopped:
            parts.append(f"{self.exhaustion.stopped} (--time-limit {self.options.time_limit:g})")
        return "; ".join(parts)

    def scope_beyond(self) -> str:
        """Say how many larger pairs were looked at."""
        drawn, climbed = self.beyond
        text = (
            f"{climbed.looked_at + drawn.looked_at} pairs up to {LARGEST_NETWORK} vertices and "
            f"degree {LARGEST_DEGREE}"
        )
        return text + ("; the time was over first" if drawn.stopped or climbed.stopped else "")


def _place(case: Case) -> dict[str, Any]:
    graph = case.graphs()[1]
    edges = [list(edge) for edge in sorted(graph.edges)]
    return {"n": case.n, "edges": edges, "vertex": None, "targets": list(case.targets)}
