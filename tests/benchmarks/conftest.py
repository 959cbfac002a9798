"""What benchmarks measure, gathered for the table and the history of ``run_all.py``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

#: Programs, not tests.
collect_ignore = [
    "bench_auditor.py",
    "bench_dp_sniper.py",
    "bench_utility.py",
    "billion.py",
    "oracle.py",
    "run_all.py",
    "utility.py",
]

FIGURES = pytest.StashKey[list[Any]]()


def pytest_configure(config):
    """Begin with nothing measured."""
    config.stash[FIGURES] = []


@pytest.fixture
def figure(request):
    """Return ``figure(name, value, unit, baseline=..., limit=..., least=...)``, which keeps one.

    ``limit`` is what the value should not exceed, ``least`` what it should reach.

    Where there is a baseline, measured in the same run, the ratio of the two is what the history
    compares: machines differ, ratios hardly.
    """

    def keep(name, value, unit, *, baseline=None, limit=None, least=None):
        ratio = None if baseline is None else value / baseline
        request.config.stash[FIGURES].append(
            {
                **{"name": name, "value": float(value), "unit": unit, "ratio": ratio},
                **{"limit": limit, "least": least},
            }
        )
        beside = "" if ratio is None else f", {ratio:.3g} times its baseline"
        bound = "" if limit is None else f" (at most {limit:g})"
        bound += "" if least is None else f" (at least {least:g})"
        print(f"\n{name}: {value:.4g} {unit}{beside}{bound}", end="")  # noqa: T201

    return keep


def pytest_runtest_logreport(report):
    """Keep how long each benchmark took."""
    if report.when == "call" and "benchmarks" in report.nodeid:
        name = report.nodeid.rpartition("/")[2]
        DURATIONS.append({"name": name, "passed": report.passed, "seconds": report.duration})


DURATIONS: list[dict[str, Any]] = []


def pytest_sessionfinish(session):
    """Write everything down where ``run_all.py`` wants it."""
    path = os.environ.get("PDPAUDIT_FIGURES")
    if path:
        body = {"figures": session.config.stash[FIGURES], "durations": DURATIONS}
        Path(path).write_text(json.dumps(body))
