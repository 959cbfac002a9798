"""What a check is: a name, what it asks, what it needs to hold first, and how it is run."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pdpaudit.checks.examination import Examination
from pdpaudit.checks.samples import Sample
from pdpaudit.results.results import CheckResult, Status

__all__ = ["Check", "Samples", "advice", "failed_on_graph", "place_of_sample"]


@dataclass(frozen=True)
class Check:
    """One named check."""

    name: str
    asks: str
    run: Callable[[Examination], CheckResult]
    needs: tuple[str, ...] = ()
    heeds: tuple[str, ...] = ()


class Samples:
    """Samples to look at, for a tenth of the time at most; it knows how far it came."""

    def __init__(self, examination: Examination, samples: Iterable[Sample], meant: str) -> None:
        self._samples = samples
        self._until = time.time() + max(1.0, 0.1 * examination.options.time_limit)
        self.meant = meant
        self._seen = 0
        self.complete = False

    def __iter__(self) -> Iterator[Sample]:
        """Yield the samples until the time is over."""
        for sample in self._samples:
            if time.time() > self._until:
                return
            self._seen += 1
            yield sample
        self.complete = True

    @property
    def scope(self) -> str:
        """What was looked at, in words."""
        if self.complete:
            return self.meant
        return f"the first {self._seen} of {self.meant}; the time for more was over"

    def passed(self, name: str, *, exhaustive: bool) -> CheckResult:
        """Return the result of a check that found nothing.

        ``exhaustive`` says whether a sample without a finding settles it.
        """
        certain = exhaustive and self.complete
        status: Status = "certified" if certain else "not_rejected"
        return CheckResult(name, status, exact=certain, scope=self.scope)


def advice(a: float, b: float) -> str:
    """Return what to do where two values look like one, rounded in two ways; else nothing."""
    if math.isclose(a, b, rel_tol=1e-9):
        return f", by {abs(a - b):.2g}: if that is rounding, use math.fsum or state it as `error`"
    return ""


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
