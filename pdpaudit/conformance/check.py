"""What a check is: a name, what it asks, what it needs to hold first, and how it is run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pdpaudit.conformance.examination import Examination
from pdpaudit.conformance.guard import EvaluationFailed, TooSlow, limit
from pdpaudit.conformance.samples import Sample
from pdpaudit.results import CheckResult

__all__ = ["Check", "each_sample", "failed_on_graph"]


@dataclass(frozen=True)
class Check:
    """One named check.

    Attributes
    ----------
    name : str
        Its name, for selecting and skipping.
    asks : str
        What it asks, in a few words.
    run : callable
        ``run(examination) -> CheckResult``.
    needs : tuple of str
        Checks without which this one says nothing: it is skipped where one of them failed.
    """

    name: str
    asks: str
    run: Callable[[Examination], CheckResult]
    needs: tuple[str, ...] = ()


def each_sample(examination: Examination, samples: Iterable[Sample]) -> Iterator[Sample]:
    """Yield samples until the time of the examination is over.

    Raises
    ------
    TooSlow
        If it is over before the first.
    """
    for number, sample in enumerate(samples):
        if time.time() > examination.deadline:
            if not number:
                raise TooSlow
            return
        yield sample


def within_call_limit(examination: Examination, sample: Sample, call: Callable[[], Any]) -> Any:
    """Return ``call()``, or blame the statistic for not returning on this graph.

    Raises
    ------
    EvaluationFailed
        If it takes longer than a small graph may.
    """
    seconds = examination.call_limit
    try:
        with limit(seconds):
            return call()
    except TooSlow:
        message = f"no answer within {seconds:g} s"
        raise EvaluationFailed("finite", message, place_of_sample(sample)) from None


def place_of_sample(sample: Sample, vertex: int | None = None) -> dict[str, Any]:
    """Return a sample as plain data."""
    return {
        "n": sample.n,
        "edges": [list(edge) for edge in sample.edges],
        "vertex": vertex,
        "targets": list(sample.targets),
    }


def failed_on_graph(
    examination: Examination,
    name: str,
    place: dict[str, Any],
    detail: str,
    scope: str,
    **more: Any,
) -> CheckResult:
    """Return the result of a check that failed on one graph."""
    vertex = place.get("vertex")
    at = "" if vertex is None else f", vertex {vertex}"
    where = f"on {place['n']} vertices with {len(place['edges'])} edges{at}"
    witness = examination.graph_witness(name, place, **more)
    return CheckResult(name, "violated", scope=scope, witness=witness, detail=f"{detail} ({where})")
