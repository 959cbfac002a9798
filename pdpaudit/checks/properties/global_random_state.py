"""Check that the global random state of Python and NumPy is left alone."""

from __future__ import annotations

import random
from itertools import chain

import numpy as np

from pdpaudit.checks.case import build
from pdpaudit.checks.check import Check, Samples, failed_on_graph, place_of_sample
from pdpaudit.checks.examination import Examination
from pdpaudit.checks.samples import large_samples, small_samples
from pdpaudit.results.results import CheckResult

__all__ = ["GLOBAL_RANDOM_STATE"]

SMALL = 3


def _state() -> tuple[object, ...]:
    _, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002
    return random.getstate(), np.asarray(keys).tobytes(), *rest


def _run(examination: Examination) -> CheckResult:
    samples = Samples(
        examination,
        chain(small_samples(SMALL), large_samples(examination.options.seed)),
        f"all labelled graphs up to {SMALL} vertices, 30 up to 30",
    )
    # A state nobody would set, so that a statistic that seeds cannot happen to restore it; the
    # suite puts the old one back.
    random.seed(f"pdpaudit {examination.options.seed}")
    np.random.seed(0x5EED ^ examination.options.seed & 0xFFFF)  # noqa: NPY002
    before = _state()
    for sample in samples:
        graph = build(sample.n, sample.edges)
        for vertex in range(sample.n):
            examination.ask(graph, vertex, frozenset(sample.targets))
            if _state() != before:
                return failed_on_graph(
                    examination,
                    "global-random-state",
                    place_of_sample(sample, vertex),
                    "the global random state is not what it was before the call",
                    samples.meant,
                )
    return samples.passed("global-random-state", exhaustive=True)


GLOBAL_RANDOM_STATE = Check(
    "global-random-state", "global random state untouched", _run, ("finite",)
)
