"""The benchmark table: a figure that became slower says so."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "benchmarks" / "run_all.py"


@pytest.fixture(scope="module")
def run_all():
    spec = importlib.util.spec_from_file_location("run_all", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(ratio, seconds, passed=True):
    figure = {"name": "reading", "value": 7.0, "unit": "s", "ratio": ratio, "limit": 6}
    return {
        "figures": [figure],
        "durations": [{"name": "bench", "passed": passed, "seconds": seconds}],
    }


@pytest.mark.parametrize(
    ("ratio", "seconds", "slower"), [(1.1, 1.0, 0), (1.7, 1.0, 1), (1.0, 1.6, 1), (4.0, 9.0, 2)]
)
def test_what_became_slower_is_marked(run_all, ratio, seconds, slower):
    past = [measured(old, 1.0) for old in (0.9, 1.0, 1.1, 50.0, 1.0)]  # one bad day does not count
    told = run_all.table(measured(ratio, seconds), past)
    assert told.count("SLOWER") == slower
    assert "7 s" in told


@pytest.mark.parametrize(
    ("value", "most", "least", "told"),
    [
        (6, 6, None, "at most 6: holds"),
        (6.01, 6, None, "at most 6: MISSED"),
        (0.9, None, 0.9, "at least 0.9: holds"),
        (0.89, None, 0.9, "at least 0.9: MISSED"),
        (1, None, None, ""),
    ],
)
def test_limits_are_kept_or_missed(run_all, value, most, least, told):
    assert run_all.held(value, most, least) == told


def test_less_of_what_should_be_much_is_slower(run_all):
    assert run_all.told(1.0, 1.6, more_is_better=True) == "SLOWER, 1.6 times"
    assert run_all.told(1.6, 1.0, more_is_better=True) == ""
    assert run_all.told(1.6, 1.0) == "SLOWER, 1.6 times"


def test_a_first_run_and_a_failed_one_are_reported(run_all):
    told = run_all.table(measured(1.0, 1.0, passed=False), [])
    assert "SLOWER" not in told
    assert "FAILED" in told
