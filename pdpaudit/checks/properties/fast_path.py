"""Check that the fast path gives what the scalar form gives."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain, islice

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.checks.atlas import graphs_on, neighbourhoods
from pdpaudit.checks.check import Check, Samples, advice, failed_on_graph, place_of_sample
from pdpaudit.checks.examination import Examination
from pdpaudit.checks.guard import EvaluationFailed, fast_values
from pdpaudit.checks.samples import Sample, large_samples, shapes, small_samples
from pdpaudit.core.network import adjacency_from_edges
from pdpaudit.core.protocols import FastStatistic
from pdpaudit.results.results import CheckResult

__all__ = ["FAST_PATH"]

SMALL = 4
UNION = 64  # samples in one disjoint union


def _medium_samples(seed: int) -> Iterator[Sample]:
    """Yield random graphs of the sizes that are exhausted next, with random sets S."""
    rng = np.random.default_rng([seed, 0xFA])
    for size in (6, 7):
        for index in rng.integers(len(graphs_on(size)), size=100).tolist():
            edges = tuple((int(a), int(b)) for a, b in np.argwhere(np.triu(graphs_on(size)[index])))
            members = neighbourhoods(size)[int(rng.integers(1 << size))]
            yield Sample(size, edges, tuple(np.flatnonzero(members).tolist()))


def _union(samples: list[Sample]) -> tuple[csr_array, npt.NDArray[np.int64]]:
    """Return the disjoint union of several samples."""
    edges: list[tuple[int, int]] = []
    targets: list[int] = []
    first = 0
    for sample in samples:
        edges.extend((first + a, first + b) for a, b in sample.edges)
        targets.extend(first + v for v in sample.targets)
        first += sample.n
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return (
        adjacency_from_edges(first, ends[:, 0], ends[:, 1]),
        np.array(targets, dtype=np.int64),
    )


def _run(examination: Examination) -> CheckResult:
    sop = examination.sop
    if not isinstance(sop, FastStatistic):
        return CheckResult("fast-path", "skipped", detail="there is no fast path")
    together = bool(getattr(sop, "componentwise", False))
    seed = examination.options.seed
    samples = Samples(
        examination,
        chain(small_samples(SMALL), shapes(SMALL + 1), _medium_samples(seed), large_samples(seed)),
        (
            f"all labelled graphs up to {SMALL} vertices, "
            f"one of each shape on {SMALL + 1}, 230 up to 30"
            + (", in disjoint unions as well" if together else "")
        ),
    )
    remaining = iter(samples)
    while batch := list(islice(remaining, UNION)):
        slow = []
        for sample in batch:
            slow.append(examination.scalar(*sample))
            adjacency, targets = _union([sample])
            kept = adjacency.copy()
            try:
                fast = examination.within_call_limit(
                    partial(fast_values, sop, adjacency, targets), place_of_sample(sample)
                )
            except EvaluationFailed as failure:
                return failed_on_graph(
                    examination,
                    "fast-path",
                    failure.place,
                    failure.message,
                    samples.meant,
                    traceback=failure.trace,
                )
            wrong = examination.differing(sample, slow[-1], fast)
            same = _equal(adjacency, kept)
            if len(wrong) or not same:
                v = int(wrong[0]) if len(wrong) else 0
                detail = (
                    f"scalar form {slow[-1][v]:g}, fast path {fast[v]:g}"
                    + advice(slow[-1][v], fast[v])
                    if same
                    else "the fast path changed the matrix it was given"
                )
                place = place_of_sample(sample, v)
                return failed_on_graph(examination, "fast-path", place, detail, samples.meant)
        if together:
            fast = fast_values(sop, *_union(batch))
            parts = np.split(fast, np.cumsum([sample.n for sample in batch])[:-1])
            if any(
                len(examination.differing(*each)) for each in zip(batch, slow, parts, strict=True)
            ):
                place = place_of_sample(batch[0])
                detail = "declared componentwise, but a disjoint union has other values"
                return failed_on_graph(examination, "fast-path", place, detail, samples.meant)
    return samples.passed("fast-path", exhaustive=True)


def _equal(a: csr_array, b: csr_array) -> bool:
    """Return whether two matrices are the same arrays."""
    return all(
        np.array_equal(getattr(a, part), getattr(b, part)) for part in ("indptr", "indices", "data")
    )


FAST_PATH = Check(
    "fast-path",
    "the fast path equals the scalar form",
    _run,
    ("finite", "deterministic", "graph-unchanged", "order-independent"),
)
