"""Runs in another Python beside runs in this one, and what it costs to listen for warnings.

Run with ``python -m pytest tests/benchmarks/bench_elsewhere.py -s``.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import pytest

from pdpaudit.adapters.elsewhere import Elsewhere
from pdpaudit.core.registry import make_mechanism
from pdpaudit.core.subject import Subject
from pdpaudit.sampling import draw

pytestmark = [pytest.mark.benchmark, pytest.mark.slow]

RUNS = 2000

MECHANISMS = """
import time, warnings

class Slow:
    claim = None
    def run(self, x, rng):
        until = time.perf_counter() + 1e-4
        while time.perf_counter() < until:
            pass
        return x + rng.random()

class Quick(Slow):
    def run(self, x, rng):
        return x + rng.integers(10)

class Warns(Slow):
    def run(self, x, rng):
        warnings.warn("again")
        return x + rng.integers(10)
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "timed.py").write_text(MECHANISMS, encoding="utf-8")
    return str(tmp_path / "timed.py")


def seconds(subject: Subject) -> float:
    """Return the median time of a run, once everything is there."""
    draw(subject, 0, 10, seed=1, key=())
    took = []
    for _ in range(7):
        began = time.perf_counter()
        draw(subject, 0, RUNS, seed=1, key=())
        took.append((time.perf_counter() - began) / RUNS)
    return statistics.median(took)


def test_a_run_of_a_tenth_of_a_millisecond_elsewhere(file, figure):
    """The limit is twice the time of a run here."""
    here = seconds(Subject(make_mechanism(f"{file}:Slow", {})[0]))
    there = seconds(Subject(Elsewhere(sys.executable, f"{file}:Slow")))
    figure("0.1 ms a run, --python", there * 1e6, "µs", baseline=here * 1e6, limit=2 * here * 1e6)


def test_a_run_that_warns_and_one_that_does_not(file, figure):
    quick, warns = (
        seconds(Subject(make_mechanism(f"{file}:{name}", {})[0])) for name in ("Quick", "Warns")
    )
    figure("a run that warns", warns * 1e6, "µs", baseline=quick * 1e6)
