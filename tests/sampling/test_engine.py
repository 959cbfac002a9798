"""Monte Carlo: the same counts however the work is split, and failures that say what failed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import traceback
from collections import Counter
from contextlib import suppress
from typing import Any

import numpy as np
import psutil
import pytest

from pdpaudit.core.protocols import Outputs, PrivacyClaim
from pdpaudit.core.registry import resolve
from pdpaudit.sampling import backends, engine, stream
from tests.sampling.tallies import tally


@pytest.fixture
def eager(monkeypatch):
    """Start workers after the first chunk, however little there is to do."""
    monkeypatch.setattr(engine, "WORTH_WORKERS_S", -1.0)
    monkeypatch.setattr(engine, "SINGLE_CHUNK", 50)
    monkeypatch.setattr(engine, "BATCHED_CHUNK", 1000)
    monkeypatch.setattr(engine, "BATCH", 1)


# Defined inside functions, so that worker processes are sent them by value.
def single():
    class Single:
        def run(self, instance, rng):
            return int(rng.integers(4)), instance

    return Single()


def batched(coded: bool):
    class Batched:
        def run(self, instance, rng):
            raise AssertionError("one at a time, although many at once were offered")

        def sample(self, instance, size, rng):
            drawn = rng.integers(4, size=size)
            if coded:
                return Outputs([0, 1, 2, 3, 3], drawn)
            return drawn.tolist()

    return Batched()


MECHANISMS = {"single": single, "list": lambda: batched(False), "coded": lambda: batched(True)}


@pytest.mark.parametrize("kind", MECHANISMS)
def test_counts_do_not_depend_on_the_number_of_workers(eager, kind):
    size = 230 if kind == "single" else 4300
    counts = [
        tally(MECHANISMS[kind](), "x", size, seed=3, key=("k", 1), jobs=jobs) for jobs in (1, 2)
    ]
    assert counts[0] == counts[1]
    assert counts[0].total() == size
    assert len(counts[0]) == 4


def test_a_search_has_the_same_counts_with_one_worker_and_two(eager, path_of_five):
    from pdpaudit.algorithms.searches.noisy_max import PTargetMainText
    from pdpaudit.algorithms.statistics import CN

    mechanism = PTargetMainText(sop=CN())
    instance = path_of_five.instance()
    instance.remember("what cannot travel", lambda: lambda: None)
    counts = [tally(mechanism, instance, 2500, seed=3, key=("k",), jobs=jobs) for jobs in (1, 2)]
    assert counts[0] == counts[1]
    assert counts[0].total() == 2500


def test_workers_run_the_users_file_and_not_another_of_its_name(eager, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    names = []
    for where in ("a", "b", "c"):
        (tmp_path / where).mkdir()
        file = tmp_path / where / "some_search.py"
        file.write_text(f"HERE = {where!r}\nclass Mine:\n    def run(self, i, r): return HERE\n")
        names.append(f"{where}/some_search.py:Mine")
    for name in names:
        mechanism = resolve("mechanisms", name)()
        assert tally(mechanism, None, 200, seed=1, key=(), jobs=2) == {name[0]: 200}
    sys.modules.pop("some_search")


@pytest.mark.parametrize("size", [0, 1, 49, 50, 51, 100, 199])
def test_every_chunk_is_drawn_once_from_its_own_stream(eager, size):
    told: list[int] = []
    counts = tally(single(), 7, size, seed=9, key=("a", 2), progress=told.append)
    expected: Counter[Any] = Counter()
    for chunk, start in enumerate(range(0, size, 50)):
        rng = stream(9, "a", 2, chunk)
        expected.update((int(rng.integers(4)), 7) for _ in range(min(50, size - start)))
    assert counts == expected
    assert sum(told) == counts.total() == size
    assert len(told) == -(-size // 50)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("batch", [1, 3, 100])
def test_counts_do_not_depend_on_how_many_chunks_are_drawn_in_one_go(
    eager, monkeypatch, batch, jobs
):
    expected = tally(single(), "x", 730, seed=3, key=("k",))
    monkeypatch.setattr(engine, "BATCH", batch)
    monkeypatch.setattr(engine, "BATCH_S", 1e9)
    told: list[int] = []
    assert tally(single(), "x", 730, seed=3, key=("k",), jobs=jobs, progress=told.append) == (
        expected
    )
    assert sum(told) == 730
    in_workers = -(-14 // 16)  # no more than leaves something for everybody
    largest = 50 * min(batch, in_workers if jobs == 2 else 13)
    assert max(told) == largest


def test_chunks_before_one_that_fails_are_counted(eager, monkeypatch):
    monkeypatch.setattr(engine, "BATCH", 16)
    monkeypatch.setattr(engine, "BATCH_S", 1e9)
    told: list[int] = []
    with pytest.raises(ArithmeticError, match="no such vertex: 17") as caught:
        tally(failing("one process"), {"calls": -100}, 900, seed=1, key=(), progress=told.append)
    assert told == [50, 100]  # the first alone, then the two drawn with the one that fails
    assert "the_line_that_fails" in "".join(traceback.format_exception(caught.value))


def test_slow_chunks_are_drawn_one_by_one(eager, monkeypatch):
    asked: list[int] = []
    monkeypatch.setattr(engine, "BATCH", 16)
    monkeypatch.setattr(engine, "BATCH_S", 0.0)
    tally(single(), 7, 230, seed=9, key=(), progress=asked.append)
    assert asked == [50, 50, 50, 50, 30]
    monkeypatch.setattr(engine, "BATCH_S", 1e9)
    tally(single(), 7, 1200, seed=9, key=(), progress=asked.append)
    assert asked[5:] == [50, 16 * 50, 7 * 50]


def test_progress_with_workers_adds_up(eager):
    told: list[int] = []
    tally(single(), 7, 230, seed=9, key=(), jobs=2, progress=told.append)
    assert sorted(told) == [30, 50, 50, 50, 50]


def test_each_run_has_an_oracle_of_its_own(path_of_five):
    class Paid:
        claim = PrivacyClaim(1.0)

        def run(self, instance, rng):
            before = instance.oracle.count
            instance.oracle(1)
            return before, instance.oracle.count

    instance = path_of_five.instance()
    assert tally(Paid(), instance, 20, seed=1, key=()) == {(0, 1): 20}
    assert instance.oracle.count == 0


def test_little_work_starts_no_workers(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("workers were started")

    monkeypatch.setattr(engine, "in_workers", refuse)
    assert tally(single(), None, 1200, seed=1, key=(), jobs=2).total() == 1200
    monkeypatch.setattr(engine, "WORTH_WORKERS_S", -1.0)
    assert tally(single(), None, 1200, seed=1, key=(), jobs=1).total() == 1200
    with pytest.raises(AssertionError, match="workers were started"):
        tally(single(), None, 1200, seed=1, key=(), jobs=2)


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_global_random_state_is_neither_read_nor_written(eager, jobs):
    before = random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002
    one = tally(single(), None, 150, seed=1, key=(), jobs=jobs)
    assert random.getstate() == before[0]
    np.testing.assert_equal(np.random.get_state(legacy=False), before[1])  # noqa: NPY002
    random.seed(99)
    np.random.seed(99)  # noqa: NPY002
    try:
        assert tally(single(), None, 150, seed=1, key=(), jobs=jobs) == one
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


def failing(where: str):
    class Failing:
        def run(self, instance, rng):
            if where == "first chunk" or instance["calls"] >= 60:
                return self.the_line_that_fails(instance)
            instance["calls"] += where == "one process"
            return 0

        def the_line_that_fails(self, instance):
            raise ArithmeticError("no such vertex: 17")

    return Failing()


@pytest.mark.parametrize(
    ("where", "jobs", "calls"),
    [("first chunk", 1, 0), ("first chunk", 2, 0), ("one process", 1, 0)],
)
def test_what_a_mechanism_raises_arrives_with_its_own_traceback(eager, where, jobs, calls):
    with pytest.raises(ArithmeticError, match="no such vertex: 17") as caught:
        tally(failing(where), {"calls": calls}, 300, seed=1, key=(), jobs=jobs)
    assert "the_line_that_fails" in "".join(traceback.format_exception(caught.value))


def test_what_a_mechanism_raises_in_a_worker_arrives_with_its_own_traceback(eager):
    class FailingLater:
        claim = PrivacyClaim(1.0)

        def run(self, instance, rng):
            import multiprocessing

            if multiprocessing.parent_process() is not None or instance is None:
                return self.the_line_that_fails()
            return 0

        def the_line_that_fails(self):
            raise ArithmeticError("no such vertex: 17")

    with pytest.raises(ArithmeticError, match="no such vertex: 17") as caught:
        tally(FailingLater(), "x", 300, seed=1, key=(), jobs=2)
    assert "the_line_that_fails" in "".join(traceback.format_exception(caught.value))
    # The workers are fit for the next job.
    assert tally(single(), "x", 300, seed=1, key=(), jobs=2).total() == 300


def test_what_cannot_be_sent_to_a_worker_is_drawn_here(eager):
    class Locked:
        claim = PrivacyClaim(1.0)

        def __init__(self):
            self.lock = threading.Lock()

        def run(self, instance, rng):
            with self.lock:
                return int(rng.integers(4)), instance

    here = tally(single(), "x", 300, seed=1, key=(), jobs=1)
    assert tally(Locked(), "x", 300, seed=1, key=(), jobs=2) == here
    assert backends.obstacle(Locked()) == "cannot pickle '_thread.lock' object"
    assert backends.obstacle(single()) == ""


# A thread of joblib may still look for work that its interruption has taken away.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interruption_is_passed_on_and_the_next_job_is_whole(eager, jobs):
    told = []

    def interrupt(done):
        told.append(done)
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tally(single(), "x", 1000, seed=1, key=(), jobs=jobs, progress=interrupt)
    assert told == [50, 50, 50]
    expected = tally(single(), "x", 300, seed=1, key=())
    assert tally(single(), "x", 300, seed=1, key=(), jobs=jobs) == expected


SCRIPT = """
import sys, time
from pdpaudit.sampling import draw, engine

class Slow:
    def run(self, instance, rng):
        time.sleep(0.002)
        return 0

engine.WORTH_WORKERS_S = -1.0
engine.SINGLE_CHUNK = 100

def told(done):
    print("ready", flush=True)

try:
    draw(Slow(), None, 1_000_000, seed=1, key=(), jobs=2, progress=told)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(130)
"""


#: Seconds that an end is waited for on a machine that is busy with other things.
PATIENCE_S = 600


def heeding():
    """Heed Ctrl-C in a child even where the tests themselves were started to ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("whom", [pytest.param("parent", marks=pytest.mark.slow), "terminal"])
def test_control_c_ends_the_command_and_its_workers(tmp_path, whom):
    """A terminal sends the signal to all processes in front; a scheduler to the parent alone."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heeding,
    )
    try:
        for _ in range(4):  # the first chunk is the parent's, the others its workers'
            assert process.stdout.readline() == "ready\n"
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 2
        # What a terminal does: the whole group at once, whoever of it is still there.
        (os.killpg if whom == "terminal" else os.kill)(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130, err
        assert out.splitlines()[-1] == "interrupted"
        assert "Warning" not in err
        _, alive = psutil.wait_procs(family, timeout=PATIENCE_S)
        assert alive == []
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_coded_outputs_are_counted_without_being_listed(monkeypatch):
    def refuse(self):
        raise AssertionError("one Python object was made for each run")

    monkeypatch.setattr(Outputs, "__iter__", refuse)
    monkeypatch.setattr(Outputs, "__getitem__", refuse)
    assert tally(batched(True), None, 1000, seed=1, key=()).total() == 1000
