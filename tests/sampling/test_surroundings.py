"""What a mechanism does to the process is undone: after a draw it is as it was."""

from __future__ import annotations

import locale
import os
import random
import signal
import subprocess
import sys
import threading
import warnings
from contextlib import nullcontext, suppress
from pathlib import Path

import numpy as np
import pytest

from pdpaudit.core.subject import Subject
from pdpaudit.sampling import Hits, Misbehaviour, draw, engine, hits


def of(function, **more):
    """Make a mechanism of a function of instance and rng."""
    return type("Made", (), {"run": lambda self, i, r: function(i, r), **more})()


def process():
    """Return what anyone may change of the process."""
    state = {
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "locale": locale.setlocale(locale.LC_ALL),
        "filters": list(warnings.filters),
        "shown": (warnings.showwarning, vars(warnings)["_showwarnmsg_impl"]),
        "recursion": sys.getrecursionlimit(),
        "switching": sys.getswitchinterval(),
        "errors": (np.geterr(), np.geterrcall()),
        "random": random.getstate(),
        "numpy": str(np.random.get_state()),  # noqa: NPY002
        "streams": (sys.stdin, sys.stdout, sys.stderr),
    }
    if hasattr(signal, "setitimer"):
        state["timers"] = [signal.getitimer(which) for which in range(3)]
        state["mask"] = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    handlers = [signal.getsignal(number) for number in sorted(signal.valid_signals())]
    return {**state, "handlers": handlers}


def another(*_):
    """Handle a signal, or an error of numpy's."""


def takes_every_signal():
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, another)


def hardly_any_recursion():
    for limit in range(1, 10_000):
        with suppress(RecursionError):
            return sys.setrecursionlimit(limit)


CHANGES = {
    "folder": lambda: os.chdir("/"),
    "folder that is no more": lambda: (os.mkdir("gone"), os.chdir("gone"), os.rmdir("../gone")),
    "environment": lambda: (os.environ.pop("PATH"), os.environ.update(PDP_TEST="1", HOME="x")),
    "locale": lambda: locale.setlocale(locale.LC_CTYPE, "C"),
    "filters": lambda: warnings.simplefilter("ignore"),
    "filters, left open": lambda: warnings.catch_warnings(record=True).__enter__(),
    "filters, none": warnings.resetwarnings,
    "recursion": lambda: sys.setrecursionlimit(777),
    "recursion, hardly any": hardly_any_recursion,
    "switching": lambda: sys.setswitchinterval(0.1),
    "errors": lambda: (np.seterr(all="raise"), np.seterrcall(another)),
    "random": lambda: (random.seed(0), random.random()),
    "numpy": lambda: (np.random.seed(0), np.random.rand()),  # noqa: NPY002
    "numpy's generator": lambda: vars(np.random)["set_bit_generator"](np.random.PCG64(1)),
    "output": lambda: setattr(sys, "stdout", open(os.devnull, "w")),  # noqa: SIM115
    "all streams": lambda: [setattr(sys, name, None) for name in ("stdin", "stdout", "stderr")],
    "closed output": lambda: sys.stdout.close(),
}
if hasattr(signal, "setitimer"):
    CHANGES |= {
        "a signal": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        "all signals": takes_every_signal,
        "a timer": lambda: signal.alarm(1),
        "timers": lambda: [signal.setitimer(which, 100.0, 1.0) for which in range(3)],
        "mask": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM}),
    }


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("batched", [True, False])
def test_after_a_draw_the_process_is_as_it_was(change, batched):
    def run(*_):
        CHANGES[change]()
        return 0

    more = {"sample": lambda self, i, size, r: [run()] * size} if batched else {}
    before = process()
    hardly_any = pytest.raises(Misbehaviour, match="recursion")
    with hardly_any if change == "recursion, hardly any" else nullcontext():
        assert len(draw(of(run, **more), None, 3, seed=1, key=())) == 3
    after = process()
    assert {part for part in before if before[part] != after[part]} == set()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("change", CHANGES)
def test_nor_do_a_law_or_an_error_change_anything(change):
    def law(*_):
        CHANGES[change]()
        raise ValueError

    before = process()
    with pytest.raises(Misbehaviour, match="ValueError"):
        Subject(of(None, law=law)).ask("law", None)
    after = process()
    assert {part for part in before if before[part] != after[part]} == set()


def test_in_another_thread_too():
    before = process()
    thread = threading.Thread(
        target=lambda: draw(of(lambda *_: os.chdir("/")), None, 3, seed=1, key=())
    )
    thread.start()
    thread.join()
    assert process() == before


def test_events_are_counted_as_we_count():
    seen = []

    class Event:
        def count(self, draws):
            seen.append((np.geterr(), sys.getrecursionlimit()))
            return 0

    before = np.geterr(), sys.getrecursionlimit()

    def run(*_):
        np.seterr(all="raise")
        sys.setrecursionlimit(999)
        return 0

    hits(of(run), None, 1200, Event(), seed=1, key=(), total=Hits())
    assert seen == [before] * 3


@pytest.mark.parametrize("value", [random.random, np.random.rand], ids=["random", "numpy"])
def test_global_generators_give_a_sample_and_the_same_one_again(value, monkeypatch):
    # Each chunk of 100 has a seed of its own, however they are put together.
    monkeypatch.setattr(engine, "SINGLE_CHUNK", 100)
    made = of(lambda *_: round(value(), 12).hex())
    one = draw(made, None, 1000, seed=1, key=())
    assert len(one.counts) == 1000  # two of 1,000 agree in 12 digits with probability 5e-7
    monkeypatch.setattr(engine, "BATCH", 1)
    assert draw(made, None, 1000, seed=1, key=()).counts == one.counts
    assert draw(made, None, 1000, seed=2, key=()).counts != one.counts


CLOSING = """
import os, sys
from pdpaudit.sampling import Misbehaviour, draw

def run(self, instance, rng):
    for name in instance:
        (lambda: exec(name, {"os": os, "sys": sys}))()
    return 0

why = ""
try:
    draw(type("Made", (), {"run": run})(), sys.argv[1:], 3, seed=1, key=())
except Misbehaviour as error:
    why = str(error)
print("out", why, flush=True)
print("err", file=sys.stderr, flush=True)
os.write(1, b"also " + (sys.stdin.readline().encode() if sys.stdin else b"none"))
"""


@pytest.mark.parametrize(
    "closing",
    [
        ["try: os.close(1)\nexcept OSError: pass"],
        ["os.closerange(0, 3)"],
        ["sys.__stdout__.close()"],
        ["sys.__stdin__.close()", "sys.__stderr__.close()", "sys.__stdout__.close()"],
        ["os.dup2(os.open(os.devnull, os.O_RDWR), 1)"],
        ["os.closerange(0, 3)", "os.open(os.devnull, os.O_RDWR)"],
    ],
)
def test_streams_are_there_after_somebody_closed_them(closing):
    said = subprocess.run(
        [sys.executable, "-c", CLOSING, *closing],
        input="in\n",
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (said.stdout, said.stderr, said.returncode) == ("out \nalso in\n", "err\n", 0)


@pytest.mark.parametrize(
    "closing",
    [
        ["os.closerange(3, 64)"],
        ["os.closerange(3, 64)", "for _ in range(64): os.open(os.devnull, os.O_RDWR)"],
        ["os.closerange(0, 64)"],
    ],
)
def test_whoever_closes_what_is_ours_is_reported(closing):
    said = subprocess.run(
        [sys.executable, "-c", CLOSING, *closing], capture_output=True, text=True, timeout=600
    )
    if closing[0] == "os.closerange(3, 64)":
        assert said.stdout.startswith("out it closed file descriptors that are not its own")
        assert said.returncode == 0, said.stderr
    else:
        assert said.returncode != 0 or not said.stdout  # nothing is left to say it on


def test_a_draw_leaves_no_descriptor_open():
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("open descriptors cannot be listed")

    def listed():
        return len(os.listdir("/proc/self/fd"))

    draw(of(lambda *_: 0), None, 1, seed=1, key=())
    before = listed()
    for _ in range(5):
        draw(of(lambda *_: 0), None, 1, seed=1, key=())
    assert listed() == before
