"""What a long run costs beside its sampler: workers, the store, the counting.

Run with ``python -m pytest tests/benchmarks/bench_sampling.py -s``.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from contextlib import nullcontext
from typing import Any

import numpy as np
import psutil
import pytest

from pdpaudit.algorithms.searches.search_com import SearchCom
from pdpaudit.algorithms.statistics import CN
from pdpaudit.core.network import Network, adjacency_from_edges, default_seeds
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.outputs import Column, Range
from pdpaudit.sampling import Store, draw, engine, hits, stream

pytestmark = [pytest.mark.benchmark, pytest.mark.slow]

SIZE = 4_000_000


class Timed:
    """A mechanism that knows how long it sampled."""

    claim = PrivacyClaim(1.0)

    def __init__(self, inner) -> None:
        self.inner, self.spent = inner, 0.0

    def run(self, instance, rng):
        return self.inner.run(instance, rng)

    def sample(self, instance, size, rng):
        start = time.process_time()
        outputs = self.inner.sample(instance, size, rng)
        self.spent += time.process_time() - start
        return outputs


@pytest.fixture(scope="module")
def instance():
    rng = np.random.default_rng(4)
    ends = rng.integers(0, 2000, (2, 10_000))
    targeted = np.zeros(2000, dtype=np.bool_)
    targeted[rng.choice(2000, 40, replace=False)] = True
    adjacency = adjacency_from_edges(2000, ends[0], ends[1])
    instance = Network(adjacency, targeted, default_seeds(adjacency, targeted)).instance()
    SearchCom(sop=CN(), max_degree=30).sample(instance, 100, rng)
    return instance


#: An event as audits count it.
LONG = Range("left", Column("length"), 5.0, np.inf)


def outside(kind: str, instance, path) -> float:
    """Return the share of processor time spent outside the sampler, of one run."""
    mechanism = Timed(SearchCom(sop=CN(), max_degree=30))
    # Opening and checking the file is paid once; a long run does not feel it.
    with nullcontext() if kind == "draw" else Store(path, {}) as store:
        start = time.process_time()
        given: Any = {"seed": 1, "key": ("b",), "store": store}
        if kind == "hits, with a store":
            hits(mechanism, instance, SIZE, LONG, **given)
        else:
            draw(mechanism, instance, SIZE, **given)
        if store is not None:
            assert store.added == SIZE
            store.commit()
        whole = time.process_time() - start
    return 1 - mechanism.spent / whole


def test_time_outside_the_sampler(instance, figure, tmp_path) -> None:
    """Shares of processor time, so other processes hardly matter; medians of five, interleaved."""
    kinds = ("draw", "draw, with a store", "hits, with a store")
    shares: dict[str, list[float]] = {kind: [] for kind in kinds}
    for i in range(5):
        for kind in kinds:
            shares[kind].append(outside(kind, instance, tmp_path / f"{kind} {i}.db"))
    for kind in kinds:
        share = float(np.median(shares[kind]))
        figure(f"share of time outside the sampler, {kind}", share, "", limit=0.02)
        assert share <= 0.02


class Spinning:
    """Costs processor time and nothing else, as any search with ``run`` alone does."""

    claim = PrivacyClaim(1.0)

    def run(self, instance, rng):
        total = 0.0
        for _ in range(60):
            total += rng.random()
        return total > 30


@pytest.mark.parametrize("kind", ["run alone", "many at once"])
def test_two_processes_are_nearly_twice_as_fast(kind, instance, figure, monkeypatch) -> None:
    """Processor time of all processes together: on an idle machine, half of it is the wall time."""
    monkeypatch.setattr(engine, "WORTH_WORKERS_S", 0.0)
    if kind == "run alone":
        mechanism, given, size = Spinning(), None, 200_000
    else:
        mechanism, given, size = SearchCom(sop=CN(), max_degree=30), instance, 16 * SIZE
    draw(mechanism, given, 5 * engine.BATCHED_CHUNK // 100, seed=1, key=("warm",), jobs=2)
    start = time.process_time()
    one = draw(mechanism, given, size, seed=1, key=("p",))
    alone = time.process_time() - start
    begun, wall = _spent(), time.perf_counter()
    two = draw(mechanism, given, size, seed=1, key=("p",), jobs=2)
    together, wall = _spent() - begun, time.perf_counter() - wall
    assert one.same_as(two)
    efficiency = alone / together
    figure(f"efficiency of two processes, {kind}", efficiency, "", least=0.9)
    figure(f"wall time of two processes, {kind}", wall, "s", baseline=alone)
    if os.getloadavg()[0] < 1:
        assert alone / wall / 2 >= 0.9
    assert efficiency >= 0.8  # what other people's work does to the caches included


def _spent() -> float:
    """Processor time of this process and its workers."""
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(sum(one.cpu_times()[:2]) for one in family if one.is_running())


def test_counting_grows_with_the_samples(instance, figure) -> None:
    mechanism = SearchCom(sop=CN(), max_degree=30)
    sizes = [1_000_000, 4_000_000, 16_000_000]
    spent = []
    for size in sizes:
        start = time.process_time()
        draw(mechanism, instance, size, seed=1, key=("s", size))
        spent.append(time.process_time() - start)
    slope = float(np.polyfit(np.log(sizes), np.log(spent), 1)[0])
    figure("slope of time against samples", slope, "", limit=1.1)
    figure("SearchCom, counted", spent[-1] / sizes[-1] * 1e9, "ns an outcome", baseline=_numbers())
    assert slope < 1.1


def _numbers() -> float:
    """Nanoseconds of the random numbers that a round cannot do without, in the same chunks."""
    rng, chunk = stream(1, "numbers"), engine.BATCHED_CHUNK
    start = time.process_time()
    for _ in range(16):
        rng.standard_exponential(chunk)
        rng.random(chunk)
        rng.laplace(size=chunk)
        rng.binomial(2000, rng.random(chunk) / 2)
    return (time.process_time() - start) / (16 * chunk) * 1e9


# An audit of its own with all threads of linear algebra, or with the one that it takes.
AUDIT = """
import contextlib, sys, time
from pdpaudit.auditing import pipeline
from pdpaudit.cli import main
if sys.argv[1] == "all threads":
    pipeline.threadpool_limits = lambda *_, **__: contextlib.nullcontext()
try:
    main(["audit", sys.argv[2], "--samples", "100000", "--seed", "1", "--jobs", "1", "-q"])
except SystemExit:
    print(time.process_time())
"""


@pytest.mark.parametrize("name", ["zoo:SVT6", "zoo:NumericalSVT", "zoo:Rappor"])
def test_one_thread_of_linear_algebra(name, figure) -> None:
    def spent(threads: str) -> float:
        command = [sys.executable, "-c", AUDIT, threads, name]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    free, one = (
        statistics.median(spent(threads) for _ in range(3)) for threads in ("all threads", "one")
    )
    figure(f"audit of {name}, one thread of linear algebra", one, "s", baseline=free)
