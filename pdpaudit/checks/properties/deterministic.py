"""Check that the same question gets the same answer."""

from __future__ import annotations

from itertools import chain

from pdpaudit.checks.case import build
from pdpaudit.checks.check import Check, Samples, failed_on_graph, place_of_sample
from pdpaudit.checks.examination import Examination
from pdpaudit.checks.samples import Sample, large_samples, small_samples
from pdpaudit.results.results import CheckResult

__all__ = ["DETERMINISTIC"]

SMALL = 4


def _answers(examination: Examination, sample: Sample) -> list[float]:
    targets = frozenset(sample.targets)
    graph = build(sample.n, sample.edges)
    return [examination.ask(graph.copy(), v, targets) for v in range(sample.n)]


def _run(examination: Examination) -> CheckResult:
    samples = Samples(
        examination,
        chain(small_samples(SMALL), large_samples(examination.options.seed)),
        f"all labelled graphs up to {SMALL} vertices, 30 up to 30",
    )
    first = [(sample, _answers(examination, sample)) for sample in samples]
    # Backwards the second time: what was asked in between must not matter either.
    for sample, before in reversed(first):
        after = _answers(examination, sample)
        changed = [v for v in range(sample.n) if before[v] != after[v]]
        if changed:
            v = changed[0]
            detail = f"asked twice, it answers {before[v]:g} and {after[v]:g}"
            place = place_of_sample(sample, v)
            return failed_on_graph(examination, "deterministic", place, detail, samples.meant)
    return samples.passed("deterministic", exhaustive=False)


DETERMINISTIC = Check("deterministic", "the same answer twice", _run, ("finite",))
