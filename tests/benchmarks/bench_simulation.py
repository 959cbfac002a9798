"""What a run of ``simulate`` costs, beside the plain reference implementation in the same process.

Run with ``python -m pytest tests/benchmarks/bench_simulation.py -s``.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import pytest

from pdpaudit.core.registry import make_mechanism
from pdpaudit.experiments.simulation import Contestant, trajectories

pytestmark = pytest.mark.benchmark

FOLDER = Path(__file__).parents[2] / "reports" / "experiments"
RUNS, PLAIN, REPEATS = 200, 6, 5
EPSILON, COMPONENTS = 0.05, 1 << 30


class RunOnly:
    """A search without its shortcut to trajectories."""

    def __init__(self, mechanism):
        self.claim, self.run = mechanism.claim, mechanism.run


@pytest.mark.parametrize("regime", ["dominant", "several", "fragmented"])
def test_a_run_against_the_reference(shared_data, figure, monkeypatch, regime):
    """Processor time of a run on movie_costars, everything that runs share included."""
    monkeypatch.syspath_prepend(str(FOLDER))
    import make

    record = next(
        one
        for one in make.records()
        if (one["network"], one["regime"]) == ("movie_costars", regime)
    )
    mechanism, _ = make_mechanism(
        "PTarget:main-text", {"epsilon": EPSILON, "components": COMPONENTS}
    )
    searches = {
        name: Contestant("PTarget:main-text", search, "PTarget:main-text")
        for name, search in (("plain", RunOnly(mechanism)), ("drawn", mechanism))
    }
    times: dict[str, list[float]] = {"plain": [], "drawn": []}
    for _ in range(REPEATS):
        for name, runs in (("plain", PLAIN), ("drawn", RUNS)):
            afresh = make.network_of(record, shared_data)
            began = time.process_time()
            trajectories(searches[name], afresh, record["budget"], runs, 1)
            times[name].append((time.process_time() - began) / runs)
    sys.modules.pop("make", None)
    spent = {name: statistics.median(some) for name, some in times.items()}
    figure(f"a run, {regime}", 1e3 * spent["drawn"], "ms", baseline=1e3 * spent["plain"])
    ratio = spent["plain"] / spent["drawn"]
    # A third of 18.7, which several implementations of a search had where there is one now.
    figure(f"a run, {regime}, beside the reference", ratio, "times as fast", least=6.2)
    figure(f"200 runs, {regime}", RUNS * spent["drawn"], "s", limit=300)
    assert spent["drawn"] < spent["plain"]
    assert RUNS * spent["drawn"] < 300
