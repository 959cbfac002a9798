"""Check that the numbers of the vertices do not matter: exhaustion up to relabelling needs it."""

from __future__ import annotations

from itertools import chain

import numpy as np

from pdpaudit.checks.check import Check, Samples, advice, failed_on_graph, place_of_sample
from pdpaudit.checks.difference import apart
from pdpaudit.checks.examination import Examination
from pdpaudit.checks.samples import large_samples, relabelled, small_samples
from pdpaudit.core.statistic import stated_error
from pdpaudit.results.results import CheckResult

__all__ = ["LABEL_INDEPENDENT"]

SMALL = 4


def _run(examination: Examination) -> CheckResult:
    rng = np.random.default_rng([examination.options.seed, 0x1A])
    samples = Samples(
        examination,
        chain(small_samples(SMALL), large_samples(examination.options.seed)),
        f"all labelled graphs up to {SMALL} vertices, 30 up to 30, renumbered",
    )
    for sample in samples:
        straight = examination.scalar(*sample)
        backwards = list(reversed(range(sample.n)))
        for order in (backwards, *(rng.permutation(sample.n).tolist() for _ in range(2))):
            renamed = examination.scalar(*relabelled(sample, order))
            other = renamed[order]
            # Here every stated error is one: nothing rests on the numbers not mattering.
            slack = 2 * stated_error(examination.sop, sample.degree)
            wrong = np.flatnonzero(apart(straight, other, slack))
            if len(wrong):
                return failed_on_graph(
                    examination,
                    "label-independent",
                    place_of_sample(sample, int(wrong[0])),
                    "the same graph with its vertices renumbered has another value"
                    + advice(straight[wrong[0]], other[wrong[0]]),
                    samples.meant,
                    names=order,
                )
    return samples.passed("label-independent", exhaustive=False)


LABEL_INDEPENDENT = Check(
    "label-independent",
    "independent of how the vertices are numbered",
    _run,
    ("finite", "deterministic", "graph-unchanged", "order-independent"),
)
