"""A real scheduler and real worker processes on this machine; one is killed in its work."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdpaudit.cli import main
from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.results.files import versions
from pdpaudit.sampling import Store, backend, draw, engine
from pdpaudit.sampling.backends import in_workers
from tests.sampling.tallies import tally

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")

pytestmark = [
    # Those of dask's own threads and of the libraries it imports.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

QUIET = {
    **os.environ,
    "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "false",
    "DASK_DISTRIBUTED__ADMIN__LOG_LENGTH": "0",
    "OMP_NUM_THREADS": "1",
}


def _start(*arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
        cwd=cwd,
        env=QUIET,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[Any] = []
        file = folder / "scheduler.json"
        self.scheduler = _start(
            "dask_scheduler",
            *("--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
            *("--scheduler-file", str(file)),
            cwd=folder,
        )
        until = time.monotonic() + 600
        while not (file.exists() and file.read_text().endswith("}")):
            assert time.monotonic() < until
            assert self.scheduler.poll() is None
            time.sleep(0.05)
        self.address = json.loads(file.read_text())["address"]

    def add(self, count: int) -> None:
        for _ in range(count):
            self.workers.append(
                _start(
                    "dask_worker",
                    self.address,
                    *("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"),
                    cwd=self.folder,
                )
            )
        with distributed.Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(self.alive, timeout=600)

    @property
    def alive(self) -> int:
        return sum(worker.poll() is None for worker in self.workers)

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.add(2)
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def eager(monkeypatch):
    monkeypatch.setattr(engine, "WORTH_WORKERS_S", -1.0)
    monkeypatch.setattr(engine, "SINGLE_CHUNK", 50)
    monkeypatch.setattr(engine, "BATCH", 1)


# Defined inside functions, so that workers are sent them by value.
def slow(seconds: float):
    class Slow:
        def run(self, instance, rng):
            import time

            if rng.random() < 0.02:
                time.sleep(seconds)
            return int(rng.integers(6)), round(float(instance.sum()))

    return Slow()


def vectors():
    class Vectors:
        def run(self, instance, rng):
            return float(rng.normal()), float(rng.normal())

    return Vectors()


def test_counts_and_rows_are_those_of_one_process(cluster, eager):
    instance = np.arange(10)
    expected = tally(slow(0.0), instance, 2_030, seed=3, key=("k",))
    rows = draw(vectors(), instance, 1_030, seed=3, key=("k",))
    with backend("dask", cluster.address) as words:
        assert words == f"2 workers with 2 threads at {cluster.address}"
        assert tally(slow(0.0), instance, 2_030, seed=3, key=("k",), jobs=-1) == expected
        drawn = draw(vectors(), instance, 1_030, seed=3, key=("k",), jobs=-1)
    assert drawn.same_as(rows)
    assert (len(drawn), drawn.counts) == (1_030, {})


def test_the_work_is_really_done_by_the_workers(cluster, eager):
    class Where:
        claim = PrivacyClaim(1.0)

        def run(self, instance, rng):
            import os

            return os.getpid()

    with backend("dask", cluster.address):
        pids = set(tally(Where(), None, 2_000, seed=1, key=(), jobs=-1))
    assert pids - {os.getpid()} <= {worker.pid for worker in cluster.workers}
    assert len(pids) >= 2  # the first chunk is drawn here


@pytest.mark.parametrize(
    "large", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["small", "large"]
)
def test_a_worker_killed_in_its_work_changes_nothing(cluster, eager, tmp_path, large):
    """A large instance travels on its own, once for each worker, and must survive as well."""
    instance = np.arange(400_000 if large else 10)
    expected = tally(slow(0.0), instance, 4_000, seed=3, key=("k",))
    cluster.add(1)
    victim = cluster.workers[-1]
    told = []

    def kill(done):
        told.append(done)
        if len(told) == 8:
            os.kill(victim.pid, signal.SIGKILL)

    with backend("dask", cluster.address), Store(tmp_path / "run.db", {}) as store:
        found = tally(
            *(slow(0.02), instance, 4_000),
            seed=3,
            key=("k",),
            jobs=-1,
            progress=kill,
            store=store,
        )
    assert victim.wait(600) == -signal.SIGKILL
    assert len(told) == 80
    assert found == expected
    with Store(tmp_path / "run.db", {}) as store:
        assert tally(slow(0.0), instance, 4_000, seed=3, key=("k",), store=store) == expected
        assert store.found == 4_000


def test_what_a_mechanism_raises_at_a_worker_arrives(cluster, eager):
    class Failing:
        claim = PrivacyClaim(1.0)

        def run(self, instance, rng):
            import os

            if os.getpid() != instance:
                raise ArithmeticError("no such vertex: 17")
            return 0

    with (
        backend("dask", cluster.address),
        pytest.raises(ArithmeticError, match="no such vertex: 17"),
    ):
        tally(Failing(), os.getpid(), 2_000, seed=1, key=(), jobs=-1)


@pytest.mark.slow
def test_the_command_gives_the_same_result_on_a_cluster(cluster, eager, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from pdpaudit.core.protocols import PrivacyClaim\n"
        "class Mine:\n"
        "    claim = PrivacyClaim(0.5, source='its author')\n"
        "    def pairs(self):\n"
        "        return [(0, 1)]\n"
        "    def run(self, instance, rng):\n"
        "        return int(rng.integers(4)) + instance\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    bodies: list[Any] = []
    for more in (["--jobs", "1"], ["--backend", "dask", "--scheduler", cluster.address]):
        command = ["audit", "mine.py:Mine", "--seed", "1", "--samples", "200", "--json", "o.json"]
        with pytest.raises(SystemExit) as caught:
            main([*command, *more])
        assert caught.value.code in (0, 1)
        body = json.loads((tmp_path / "o.json").read_text())
        del body["elapsed_s"], body["written"]
        bodies.append(body)
    assert bodies[0] == bodies[1]


@pytest.mark.slow
def test_a_scheduler_without_workers_or_none_at_all_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("pdpaudit.sampling.backends.PATIENCE_S", 1)
    with (
        pytest.raises(InputError, match="no scheduler answers"),
        backend("dask", "tcp://127.0.0.1:9"),
    ):
        pass
    idle = Cluster(tmp_path)
    try:
        with pytest.raises(InputError, match="has no workers"), backend("dask", idle.address):
            pass
    finally:
        idle.stop()


def test_workers_of_other_versions_are_refused(cluster, monkeypatch):
    class Other:
        """Versions that are others here than at the workers."""

        def __call__(self):
            return {"python": "0", "pdpaudit": "0"}

        def __reduce__(self):
            return partial, (versions,)

    monkeypatch.setattr("pdpaudit.sampling.backends.versions", Other())
    with pytest.raises(InputError, match="here is 0; the same"), backend("dask", cluster.address):
        pass


@contextmanager
def _without(monkeypatch, name):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, name, None)
        yield


def test_a_missing_package_is_reported_with_its_remedy(monkeypatch):
    with (
        _without(monkeypatch, "distributed"),
        pytest.raises(InputError, match=r"pip install 'pdpaudit\[cluster\]'"),
        backend("dask", "tcp://127.0.0.1:9"),
    ):
        pass


def test_a_worker_unpacks_a_job_once(tmp_path):
    class Work:
        def __reduce__(self):
            return _unpack, (tmp_path,)

    def _unpack(folder):
        folder.joinpath(str(len(list(folder.iterdir())))).touch()
        return lambda size: size

    work: Any = Work()
    found = list(in_workers(work, ((i, (10 * i,)) for i in range(3)), jobs=1))
    assert found == [(0, 0), (1, 10), (2, 20)]
    assert len(list(tmp_path.iterdir())) == 1
