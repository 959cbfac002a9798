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

from pdpaudit.checks.atlas import LARGEST
from pdpaudit.checks.case import Case, Edge
from pdpaudit.checks.difference import apart
from pdpaudit.checks.door import name_of, require_statistic
from pdpaudit.checks.exhaustive import exhaust
from pdpaudit.checks.families import Exhaustion
from pdpaudit.checks.guard import EvaluationFailed, TooSlow, author_trace, limit, place_of
from pdpaudit.checks.labelled import enumerate_labelled
from pdpaudit.checks.measure import (
    PROPERTIES,
    Measured,
    evaluator,
    measure,
    slack_at,
    violates,
)
from pdpaudit.checks.on_network import require_degree
from pdpaudit.checks.options import Options
from pdpaudit.checks.random_search import at_random
from pdpaudit.checks.samples import Sample
from pdpaudit.checks.search import LARGEST_DEGREE, LARGEST_NETWORK, Found, guided
from pdpaudit.checks.shrink import shrink
from pdpaudit.checks.witness import FORMAT
from pdpaudit.core.errors import described
from pdpaudit.core.protocols import FastStatistic
from pdpaudit.results.results import CheckResult

__all__ = ["Examination", "certain"]

T = TypeVar("T")


class Examination:
    """A statistic, its declarations, how far to go, and what has been found so far."""

    def __init__(self, sop: Any, options: Options) -> None:
        self.sop, self.declared = require_statistic(sop)
        self.options = options
        self.name = name_of(self.sop)
        if options.network is not None and options.max_degree is not None:
            require_degree(options.network, options.max_degree)
        self.start = time.time()
        self.failed: set[str] = set()  # names of the checks that failed so far
        self.results: dict[str, CheckResult] = {}  # of the checks that were run, by name

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
        """Return ``call()``, or blame the statistic for not returning on a small graph."""
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
        """Call the statistic once."""
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
        """Evaluate the scalar form at all vertices of a graph."""
        place = {
            "n": n,
            "edges": sorted(map(list, edges)),
            "vertex": None,
            "targets": list(targets),
        }
        evaluate = evaluator(self.sop, fast=False)
        return self.within_call_limit(lambda: evaluate(n, edges, targets), place)

    def differing(
        self, sample: Sample, a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.int64]:
        """Return the vertices of a sample at which two sets of values differ."""
        return np.flatnonzero(apart(a, b, self.declared.slack[sample.degree]))

    @cached_property
    def labelled(self) -> Exhaustion:
        """Exact tables over every labelled network: what is certified rests on them alone."""
        options = self.options
        return enumerate_labelled(
            self.sop,
            self.declared,
            max_vertices=min(options.max_vertices, options.labelled_vertices),
            jobs=options.jobs,
            deadline=time.time() + 0.5 * (self.deadline - time.time()),
        )

    @cached_property
    def exhaustion(self) -> Exhaustion:
        """Larger networks up to relabelling; a part of the time is kept for the search beyond."""
        share = 0.75 if self.options.examples else 1.0
        return exhaust(
            self.sop,
            self.declared,
            max_vertices=self.options.max_vertices,
            fast=self.fast,
            jobs=self.options.jobs,
            deadline=time.time() + share * (self.deadline - time.time()),
            min_vertices=self.labelled_up_to + 1,
            impact_up_to=LARGEST,
        )

    @cached_property
    def beyond(self) -> tuple[Found, Found]:
        """What random and guided search found of the properties that held on small networks."""
        options = self.options
        missing = tuple(
            of
            for of in PROPERTIES
            if of not in self.labelled.cases | self.exhaustion.cases
            and max(self.declared.of(of)) < math.inf
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
        if of in self.labelled.cases:
            return self.labelled.cases[of]
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

    def measured(self, case: Case, bound: int | None = None) -> Measured:
        """Measure a case by the scalar form, at the smallest degree bound it obeys or another."""
        slack = slack_at(self.sop, case.max_degree if bound is None else bound)
        return measure(self.scalar, case, slack)

    def breaks(self, case: Case, of: str) -> bool:
        """Return whether a case violates a property by the scalar form."""
        try:
            return violates(self.measured(case), case, self.declared, of)
        except (EvaluationFailed, TooSlow):
            return False

    def breaks_own(self, case: Case, bound: int, of: str) -> bool:
        """Return whether a case breaks what is declared for a given degree bound."""
        if case.max_degree > bound:
            return False
        try:
            measured = self.measured(case, bound)
        except (EvaluationFailed, TooSlow):
            return False
        if of == "impact-cardinality":
            return measured.changed > float(self.sop.impact_cardinality(bound))
        return measured.moved > float(self.sop.sensitivity(bound)) + slack_at(self.sop, bound)

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
        d = case.max_degree if bound is None else bound
        measured = self.measured(case, d)
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

    @property
    def labelled_up_to(self) -> int:
        """Vertices up to which every labelled network was enumerated."""
        return self.labelled.rows[-1].n if self.labelled.rows else 0

    def scope(self, of: str) -> str:
        """Say which networks were enumerated for a property, and what was searched beyond."""
        parts = [certain(self.labelled_up_to)]
        seen = [
            row.n
            for row in self.exhaustion.rows
            if of == "targeted-sensitivity" or row.impact_cardinality is not None
        ]
        how = " by the fast path" if self.fast else ""
        if seen:
            parts.append(f"searched{how}: {seen[-1]} vertices up to relabelling")
        for stopped in filter(None, (self.labelled.stopped, self.exhaustion.stopped)):
            parts.append(f"{stopped} (--time-limit {self.options.time_limit:g})")
        if max(self.declared.slack[: self.labelled_up_to], default=0):
            slack = self.declared.slack[self.labelled_up_to - 1]
            parts.append(f"differences up to {slack:.2g} count as rounding, as stated")
        return "; ".join(parts)

    def scope_beyond(self) -> str:
        """Say how many larger pairs were looked at."""
        drawn, climbed = self.beyond
        text = (
            f"searched: {climbed.looked_at + drawn.looked_at} pairs up to {LARGEST_NETWORK} "
            f"vertices and degree {LARGEST_DEGREE}"
        )
        return text + ("; the time was over first" if drawn.stopped or climbed.stopped else "")


def certain(vertices: int) -> str:
    """Say what was enumerated in full."""
    degrees = f" (degree bounds up to {vertices - 1})" if vertices > 1 else ""
    return f"every labelled network up to {vertices} vertices{degrees}"


def _place(case: Case) -> dict[str, Any]:
    graph = case.graphs()[1]
    edges = [list(edge) for edge in sorted(graph.edges)]
    return {"n": case.n, "edges": edges, "vertex": None, "targets": list(case.targets)}
