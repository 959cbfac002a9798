"""One statistic under examination: how far to go, and what the checks share."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import networkx as nx
import numpy as np
import numpy.typing as npt

from pdpaudit.checks.enumeration import LARGEST_LABELLED, Exhaustion, enumerate_labelled, exhaust
from pdpaudit.checks.evaluation import (
    PROPERTIES,
    RAISED,
    CheckFailed,
    Evaluate,
    Measured,
    Values,
    apart,
    evaluator,
    measure,
    raised,
    require_statistic,
    sample_of,
)
from pdpaudit.checks.graphs import Case, Edge, PairWitness, Sample
from pdpaudit.checks.own_network import require_degree
from pdpaudit.checks.search import LARGEST_DEGREE, LARGEST_NETWORK, Found, guided, shrink
from pdpaudit.core.errors import InputError, ParameterError, number, whole
from pdpaudit.core.network import Network
from pdpaudit.core.protocols import FastStatistic
from pdpaudit.core.statistic import name_of
from pdpaudit.results.results import CheckResult
from pdpaudit.sampling.guard import Limit, TooSlow

T = TypeVar("T")

LARGEST_EXHAUSTIVE = 8

#: Seconds in which an answer on a small graph must come, however short the time limit is: a
#: statistic is not called violated for the hurry of who checks it.
LEAST_S = 2.0


@dataclass(frozen=True)
class Options:
    """What ``check_sop`` looks at."""

    max_vertices: int = 6
    labelled_vertices: int = 5
    time_limit: float = 120.0
    jobs: int = 1
    seed: int = 0
    examples: int = 3000
    network: Network | None = None
    max_degree: int | None = None
    select: tuple[str, ...] | None = None
    skip: tuple[str, ...] = ()
    expected_failures: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be carried out."""
        for name in ("max_vertices", "labelled_vertices", "jobs", "seed", "examples", "max_degree"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, whole(name, given))
        object.__setattr__(self, "time_limit", number("time_limit", self.time_limit))
        every = f"every labelled network is enumerated up to 1 to {LARGEST_LABELLED} vertices"
        searched = f"exhaustive search covers 1 to {LARGEST_EXHAUSTIVE} vertices"
        seconds = "give a positive number of seconds"
        for name, least, most, remedy in (
            ("max_vertices", 1, LARGEST_EXHAUSTIVE, searched),
            ("labelled_vertices", 1, LARGEST_LABELLED, every),
            ("time_limit", math.ulp(0.0), sys.float_info.max, seconds),
            ("jobs", 1, math.inf, "give at least 1 worker process"),
            ("seed", 0, math.inf, "give a whole number, at least 0"),
            ("examples", 0, math.inf, "give 0 or more"),
            ("max_degree", 0, math.inf, "a degree bound is at least 0"),
        ):
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise ParameterError(name, value, remedy)
        for name, reason in self.expected_failures.items():
            if not reason.strip():
                raise InputError(f"expected failure of {name!r}: say why, the reason is empty")


class Examination:
    """A statistic, its declarations, how far to go, and what has been found so far."""

    #: Waits, as long as it is given, for the answers of a copy of this process; `finite` begins it.
    backwards: Callable[[float], Values]

    def __init__(self, sop: object, options: Options) -> None:
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
    def fast(self) -> bool:
        """Whether the fast path is there and may stand in for the scalar form."""
        return isinstance(self.sop, FastStatistic) and "fast-path" not in self.failed

    @property
    def evaluate(self) -> Evaluate:
        """How the searches evaluate the statistic."""
        return evaluator(self.sop, fast=self.fast)

    # Calls

    def within_call_limit(self, call: Callable[[], T], sample: Sample) -> T:
        """Return ``call()``, or blame the statistic for not returning on a small graph."""
        seconds = max(LEAST_S, min(10.0, self.options.time_limit / 4))
        start = time.monotonic()
        try:
            with Limit(seconds):
                return call()
        except TooSlow:
            if time.monotonic() - start < 0.9 * seconds:
                raise  # it was another, outer limit
            raise CheckFailed("finite", f"no answer within {seconds:g} s", sample) from None

    def call(self, graph: nx.Graph, vertex: int, targets: Iterable[int]) -> float:
        """Call the statistic once."""
        members = frozenset(targets)
        sample = sample_of(graph, members)
        try:
            return self.within_call_limit(lambda: float(self.sop(graph, vertex, members)), sample)
        except CheckFailed:
            raise
        except RAISED as error:
            raise raised("finite", error, sample, vertex) from None

    def scalar(self, n: int, edges: Sequence[Edge], targets: Sequence[int]) -> Values:
        """Evaluate the scalar form at all vertices of a graph."""
        sample = Sample(n, tuple(sorted(edges)), tuple(targets))
        evaluate = evaluator(self.sop, fast=False)
        return self.within_call_limit(lambda: evaluate(n, edges, targets), sample)

    def differing(self, sample: Sample, a: Values, b: Values) -> npt.NDArray[np.int64]:
        """Return the vertices of a sample at which two sets of values differ."""
        return np.flatnonzero(apart(a, b, self.declared.slack_at(sample.degree)))

    # Searches

    @cached_property
    def labelled(self) -> Exhaustion:
        """Exact tables over every labelled network: what is certified rests on them alone."""
        return enumerate_labelled(
            self.declared,
            max_vertices=min(self.options.max_vertices, self.options.labelled_vertices),
            jobs=self.options.jobs,
            deadline=self.deadline,
        )

    @property
    def labelled_up_to(self) -> int:
        """Vertices up to which every labelled network was enumerated."""
        return self.labelled.rows[-1].n if self.labelled.rows else 0

    @cached_property
    def exhaustion(self) -> Exhaustion:
        """Larger networks up to relabelling."""
        return exhaust(
            self.declared,
            max_vertices=self.options.max_vertices,
            fast=self.fast,
            jobs=self.options.jobs,
            deadline=self.deadline,
            min_vertices=self.labelled_up_to + 1,
        )

    @cached_property
    def beyond(self) -> Found:
        """What the search among larger networks found of what held on small ones."""
        small = {**self.labelled.cases, **self.exhaustion.cases}
        missing = [
            of for of in PROPERTIES if of not in small and max(self.declared.of(of)) < math.inf
        ]
        if not missing or not self.options.examples:
            return Found()
        return guided(
            self.evaluate,
            self.declared,
            missing,
            steps=self.options.examples,
            seed=self.options.seed,
            deadline=self.deadline,
        )

    def counterexample(self, of: str) -> Case | None:
        """Return the smallest violation found of a property, shrunk; None if there is none."""
        if of in self.labelled.cases:
            return self.labelled.cases[of]
        if of in self.exhaustion.cases:
            return self._by_scalar_form(self.exhaustion.cases[of], of)
        if of in self.beyond.cases:
            return self._smallest(self._by_scalar_form(self.beyond.cases[of], of), of)
        return None

    def _by_scalar_form(self, case: Case, of: str) -> Case:
        """Refuse a violation that only the fast path shows: it is a failure of that path."""
        if not self.fast or self.breaks(case, of):
            return case
        sample = sample_of(case.graphs()[1], frozenset(case.targets))
        raise CheckFailed("fast-path", "the fast path differs from the scalar form", sample)

    def _smallest(self, case: Case, of: str) -> Case:
        """Shrink a violation, and search anew among smaller networks while there are any."""
        # A violation found is worth a little time beyond the limit.
        until = max(self.deadline, time.time() + 5.0)
        while True:
            case = shrink(case, lambda smaller: self.breaks(smaller, of), until)
            if case.n <= max(self.options.max_vertices + 1, 3):
                return case
            smaller = guided(
                self.evaluate,
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

    # Counterexamples

    def _measured(self, case: Case, bound: int) -> Measured:
        return measure(self.scalar, case, self.declared.slack_at(bound))

    def breaks(self, case: Case, of: str, bound: int | None = None) -> bool:
        """Return whether a case violates a property by the scalar form.

        The degree bound is the smallest the case obeys, unless a larger is given.
        """
        d = case.max_degree if bound is None else bound
        if case.max_degree > d:
            return False
        try:
            return self._measured(case, d).observed(of) > self.declared.allowed(of, d)
        except CheckFailed:
            return False

    def pair_witness(self, case: Case, of: str, bound: int | None = None) -> PairWitness:
        """Return a counterexample, measured by the scalar form at a degree bound as above."""
        d = case.max_degree if bound is None else bound
        measured = self._measured(case, d)
        return PairWitness(
            property=of,
            statistic=self.name,
            **vars(case),
            at=measured.at,
            max_degree=d,
            declared=self.declared.bound(of, d),
            observed=measured.observed(of),
            values={"left": measured.left.tolist(), "right": measured.right.tolist()},
        )

    # Words

    def scope(self, of: str) -> str:
        """Say which networks were enumerated for a property, and what was searched beyond."""
        parts = [certain(self.labelled_up_to)]
        seen = [row.n for row in self.exhaustion.rows if row.values(of)]
        how = " by the fast path" if self.fast else ""
        if seen:
            parts.append(f"searched{how}: {seen[-1]} vertices up to relabelling")
        for stopped in filter(None, (self.labelled.stopped, self.exhaustion.stopped)):
            parts.append(f"{stopped} (limit {self.options.time_limit:g} s)")
        if max(self.declared.slack[: self.labelled_up_to], default=0):
            slack = self.declared.slack[self.labelled_up_to - 1]
            parts.append(f"differences up to {slack:.2g} count as rounding, as stated")
        return "; ".join(parts)

    def scope_beyond(self) -> str:
        """Say how many larger pairs were looked at."""
        text = (
            f"searched: {self.beyond.looked_at} pairs with at most {LARGEST_NETWORK} "
            f"vertices and degree {LARGEST_DEGREE}"
        )
        return text + ("; time limit reached" if self.beyond.stopped else "")


def certain(vertices: int) -> str:
    """Say what was enumerated in full."""
    degrees = f" (degree bounds up to {vertices - 1})" if vertices > 1 else ""
    return f"every labelled network up to {vertices} vertices{degrees}"
