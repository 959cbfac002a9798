"""Calls that take too long are ended or not taken, whatever they catch."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import pytest

from pdpaudit.core.errors import OutOfTime
from pdpaudit.core.subject import Subject
from pdpaudit.outputs import flatten
from pdpaudit.sampling import Misbehaviour, draw, surroundings
from pdpaudit.sampling.surroundings import in_time

LATE = "did not end within 0.2 s"


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Do not end this process: on a busy machine what takes a second may take more than ten."""
    monkeypatch.setattr(surroundings, "GRACE_S", 600.0)


def of(function, **more):
    """Make a mechanism of a function of instance and rng."""
    return type("Made", (), {"run": lambda self, i, r: function(i, r), **more})()


def waits(caught):
    """Return a run that catches what ends its waiting, and gives an output all the same."""

    def run(*_):
        with suppress(caught):
            time.sleep(5)
        return 0

    return run


def works(*_):
    """Compute for some seconds, whatever is raised."""
    until = time.monotonic() + 0.6
    while time.monotonic() < until:
        with suppress(BaseException):
            sum(range(1000))
    return 0


def stays_in_c(*_):
    """Compute 0.6 s long within one call of C, where no signal is handled, on any processor."""
    until = time.monotonic() + 0.6
    any(map(until.__lt__, iter(time.monotonic, None)))
    return 0


def takes_signals(*_):
    for number in (signal.SIGURG, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    while True:
        sum(range(1000))


def raises_another(*_):
    try:
        time.sleep(5)
    except BaseException:
        raise ValueError("too bad") from None


RUNS = {
    "waits, catching Exception": waits(Exception),
    "waits, catching BaseException": waits(BaseException),
    "works, catching everything": works,
    "raises another": raises_another,
    "does not come back to Python": stays_in_c,
}
if hasattr(signal, "SIGURG"):
    RUNS["takes signals"] = takes_signals


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("batched", [True, False])
def test_no_call_gets_round_its_limit(run, batched):
    made = of(RUNS[run], **({"sample": RUNS[run]} if batched else {}))
    began = time.monotonic()
    with pytest.raises(Misbehaviour, match=LATE):
        draw(made, None, 5, seed=1, key=(), limit=0.2)
    assert time.monotonic() - began < 300  # some would go on for ever


def test_a_call_after_the_time_limit_is_not_begun_and_ends_no_process(monkeypatch):
    monkeypatch.setattr(surroundings, "GRACE_S", 0.0)
    until = time.monotonic() - 100  # others worked on until long after it
    for made in (of(lambda *_: 1 / 0), of(None, sample=lambda *_: 1 / 0)):
        with pytest.raises(OutOfTime):
            draw(made, None, 5, seed=1, key=(), until=until)
    with pytest.raises(OutOfTime):
        in_time(until, "it", lambda: 1 / 0)


@pytest.mark.parametrize("function", [stays_in_c, works])
def test_what_takes_longer_than_there_is_time_is_out_of_time(function):
    with pytest.raises(OutOfTime):
        in_time(time.monotonic() + 0.1, "it", function)


def test_what_ends_in_time_is_returned_and_errors_are_let_through():
    assert [in_time(until, "it", lambda: 3) for until in (math.inf, time.monotonic() + 600)] == [
        3
    ] * 2
    with pytest.raises(ZeroDivisionError):
        in_time(time.monotonic() + 600, "it", lambda: 1 / 0)


@pytest.mark.parametrize("run", RUNS)
def test_nor_does_a_law(run):
    with pytest.raises(Misbehaviour, match=f"its law {LATE}"):
        Subject(of(None, law=RUNS[run])).ask("law", None, limit=0.2)


@pytest.mark.parametrize("run", [works, waits(BaseException)])
def test_a_limit_holds_in_another_thread(run):
    said: list[Any] = []

    def work():
        for limit in (0.2, 600):
            try:
                said.append(draw(of(run), None, 1, seed=1, key=(), limit=limit).counts)
            except Misbehaviour as error:
                said.append(str(error))

    # What waits in a thread cannot be interrupted, but is not taken either.
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(600)
    assert LATE in said[0]
    assert said[1] == {flatten(0): 1}


def test_nothing_is_raised_later():
    for _ in range(10):
        with pytest.raises(Misbehaviour):
            draw(of(lambda *_: time.sleep(0.11)), None, 1, seed=1, key=(), limit=0.1)
        until = time.monotonic() + 0.06  # another look at the time
        while time.monotonic() < until:
            pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_a_timer_around_a_draw_goes_on():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        draw(of(lambda *_: time.sleep(0.01)), None, 5, seed=1, key=(), limit=60)
        time.sleep(0.3)
        assert rung == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("caught", [Exception, BaseException])
def test_ending_the_process_cannot_be_kept_from_us(caught):
    def run(instance, rng):
        with suppress(caught):
            os._exit(3)
        return 0

    with pytest.raises(Misbehaviour, match=r"it called os\._exit\(3\)"):
        draw(of(run), None, 2, seed=1, key=())


STUBBORN = """
import multiprocessing, sys, time
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.sampling import draw, engine, surroundings

class Stubborn:
    claim = PrivacyClaim(1.0)

    def run(self, instance, rng):
        surroundings.GRACE_S = 0.5
        while multiprocessing.parent_process() or instance == "here":
            try:
                time.sleep(0.01)
            except BaseException:
                pass
        return int(rng.integers(2))
"""


def test_what_catches_everything_forever_ends_the_process_with_its_name():
    code = STUBBORN + "draw(Stubborn(), 'here', 5, seed=1, key=(), limit=0.2); print('on')"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.startswith("pdpaudit: Stubborn: one run did not end within 0.2 s")
    assert said.stderr.count("\n") == 1


def test_a_worker_is_ended_and_the_command_says_so(tmp_path):
    (tmp_path / "mine.py").write_text(STUBBORN)
    code = """
from pdpaudit.sampling import engine
engine.WORTH_WORKERS_S = -1.0
engine.LIMIT_S = 2.0  # this process, which is honest, may have to wait for a processor
from pdpaudit.cli import main
main(["audit", "mine.py:Stubborn", "--samples", "3000", "--jobs", "2", "--try", "3"])
"""
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, cwd=tmp_path
    )
    assert said.returncode == 2, said.stderr
    assert "pdpaudit: Stubborn: one run did not end" in said.stderr
    assert "a worker process ended" in said.stderr
    assert "Traceback" not in said.stderr


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of threads, from 3.12 on
def test_a_forked_process_keeps_time_too():
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no forks")
    draw(of(lambda *_: 0), None, 1, seed=1, key=())  # whoever watches is at work
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert LATE in pool.apply(_in_a_fork)


def _in_a_fork():
    try:
        return str(draw(of(works), None, 1, seed=1, key=(), limit=0.2).counts)
    except Misbehaviour as error:
        return str(error)
