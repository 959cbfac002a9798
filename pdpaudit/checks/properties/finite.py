"""Check that there is a finite real value for every vertex of every graph."""

from __future__ import annotations

import math
from functools import partial
from itertools import chain
from numbers import Real

import numpy as np

from pdpaudit.checks.case import build
from pdpaudit.checks.check import (
    Check,
    Samples,
    failed_on_graph,
    place_of_sample,
)
from pdpaudit.checks.examination import Examination
from pdpaudit.checks.guard import author_trace
from pdpaudit.checks.samples import Sample, large_samples, shapes, small_samples
from pdpaudit.core.errors import described
from pdpaudit.results.results import CheckResult

__all__ = ["FINITE"]

SMALL = 4


def _wrong(examination: Examination, sample: Sample) -> tuple[int, str, str] | None:
    """Return the first vertex without a proper value, what is wrong, and the traceback."""
    targets = frozenset(sample.targets)
    graph = build(sample.n, sample.edges)
    for vertex in range(sample.n):
        try:
            # A copy each: what the statistic does to a graph is another check's business.
            value = examination.sop(graph.copy(), vertex, targets)
        except Exception as error:
            return vertex, described(error), author_trace(error)
        if not isinstance(value, Real | np.bool_):
            return vertex, f"the value is {value!r}, not a real number", ""
        if not math.isfinite(value):
            return vertex, f"the value is {value!r}, not finite", ""
    return None


def _run(examination: Examination) -> CheckResult:
    samples = Samples(
        examination,
        chain(small_samples(SMALL), shapes(SMALL + 1), large_samples(examination.options.seed)),
        f"all labelled graphs up to {SMALL} vertices, "
        f"one of each shape on {SMALL + 1}, 30 up to 30",
    )
    for sample in samples:
        wrong = examination.within_call_limit(
            partial(_wrong, examination, sample), place_of_sample(sample)
        )
        if wrong is not None:
            vertex, detail, trace = wrong
            place = place_of_sample(sample, vertex)
            return failed_on_graph(
                examination, "finite", place, detail, samples.meant, message=detail, traceback=trace
            )
    return samples.passed("finite", exhaustive=True)


FINITE = Check("finite", "a finite real value for every vertex of every graph, S empty too", _run)
