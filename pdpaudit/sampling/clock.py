"""A time limit on others' code, which that code cannot catch."""

from __future__ import annotations

import ctypes
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn, TypeAlias, TypeVar

from pdpaudit.core.errors import Exhausted, Misbehaviour, OutOfTime

T = TypeVar("T")

#: Seconds between two looks at the time, and between two attempts to end a call.
AGAIN_S = 0.05

#: Seconds of attempts after which the process is ended, for nothing else would end the call.
GRACE_S = 10.0

#: Seconds after which a run that has not come back is named, and what is a run.
NAMED_S, RUNS = 10.0, frozenset({"one run"})

#: Hardly anyone uses it, unlike SIGALRM, and without a handler it is ignored: one that comes late
#: does no harm.
SIGNAL: signal.Signals | None = (
    getattr(signal, "SIGURG", None) if hasattr(signal, "pthread_kill") else None
)

#: Where nothing is to be raised, for it is not others' code.
OURS = frozenset(str(Path(__file__).with_name(name)) for name in ("clock.py", "guard.py"))

#: What ``signal.signal`` takes and gives.
Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None

_exit = os._exit


class Ended(BaseException):
    """Ends a call from within: no ``Exception``, so that ``except Exception`` lets it through."""


class Clock:
    """Ends a call that takes too long, and remembers that it did."""

    def __init__(self, limit: float, name: str, until: float = math.inf) -> None:
        self.limit, self.what, self.stderr = limit, "", 2
        self._name, self._deadline, self._until = name, math.inf, until
        self._lock = threading.Lock()
        self._attempts = 0
        self._since, self._named = math.inf, False
        self._before: Handler = None

    def __enter__(self) -> Clock:
        """Begin to be looked at."""
        self._thread = threading.get_ident()
        self._main = threading.current_thread() is threading.main_thread()
        if self.limit < math.inf:
            if SIGNAL is not None and self._main:
                self._before = signal.signal(SIGNAL, self._ring)
            _watch(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing that could be raised later."""
        self._settle()
        if self.limit < math.inf:
            _watched.discard(self)
            if SIGNAL is not None and self._main:
                signal.signal(SIGNAL, self._before)

    def wind(self, what: str) -> None:
        """Begin a call; raises Misbehaviour if the one before it took too long, or time is up."""
        now = time.monotonic()
        if now > min(self._deadline, self._until):
            self._late()
        self._since, self._named = now, False
        self.what, self._deadline = what, min(now + self.limit, self._until)

    def stop(self) -> None:
        """End the last call; raises Misbehaviour if it took too long."""
        deadline, self._deadline = self._deadline, math.inf
        if time.monotonic() > deadline:
            self._late()

    def error(self) -> Misbehaviour:
        """Return what to raise where something took too long."""
        if time.monotonic() >= self._until:
            return OutOfTime("the time limit ended it")
        return Exhausted(self.words())

    def words(self) -> str:
        """Say what took too long."""
        return f"{self.what} did not end within {self.limit:g} s; correct it, or give it less to do"

    def look(self) -> None:
        """Try to end the call if it is late; from the thread that watches."""
        with self._lock:
            if self._deadline < math.inf and time.monotonic() - self._since > NAMED_S:
                self._name_it()
            late = time.monotonic() - self._deadline
            if late > GRACE_S:
                self._end_process()
            if late > 0 and _theirs(sys._current_frames().get(self._thread)):
                # In turn, for a mechanism may have taken the signal for itself.
                if SIGNAL is not None and self._main and self._attempts % 2 == 0:
                    signal.pthread_kill(self._thread, SIGNAL)
                else:
                    _raise(self._thread, Ended)
                self._attempts += 1

    def _name_it(self) -> None:
        """Say once that a run has not come back: whoever waits cannot see it otherwise."""
        if not self._named and self.what in RUNS:
            self._named = True
            words = f"pdpaudit: {self._name}: {self.what} has not come back for {NAMED_S:g} s\n"
            with suppress(OSError):
                os.write(self.stderr, words.encode())

    def _late(self) -> NoReturn:
        self._settle()
        raise self.error() from None

    def _settle(self) -> None:
        """Attempt nothing more, and take what is still to be raised: it cannot be taken back."""
        while True:
            try:
                with self._lock:
                    self._deadline = math.inf
                for _ in range(3):  # a loop is where it would be raised
                    pass
            except Ended:
                continue
            return

    def _ring(self, signum: int, frame: FrameType | None) -> None:
        if callable(self._before):
            self._before(signum, frame)
        if time.monotonic() > self._deadline and _theirs(frame):
            raise Ended

    def _end_process(self) -> None:
        """End a command or a worker; a thread of somebody's program goes on being raised in."""
        if not (self._main or multiprocessing.parent_process()):
            return
        shown = "\x1b[?25h" if os.isatty(self.stderr) else ""  # a progress bar hides the cursor
        words = (
            f"{shown}pdpaudit: {self._name}: {self.what} did not end within {self.limit:g} s, and "
            f"caught what was raised to end it for {GRACE_S:g} s more; correct it: let pass what "
            "it did not raise itself\n"
        )
        try:
            os.write(self.stderr, words.encode())
        finally:
            _exit(2)


def in_time(until: float, what: str, function: Callable[[], T]) -> T:
    """Return what a function of ours answers; raises OutOfTime where it takes longer than that."""
    if until == math.inf:
        return function()
    try:
        with Clock(max(until - time.monotonic(), 0.0), what, until) as clock:
            clock.wind(what)
            try:
                return function()
            finally:
                clock.stop()
    except Ended:
        raise clock.error() from None


#: Clocks at work, and the thread that looks at them as long as there are any.
_watched: set[Clock] = set()
_wanted = threading.Event()
_watcher: threading.Thread | None = None


def _forget() -> None:
    """Begin anew in a forked process, which has no thread that watches."""
    global _wanted, _watcher
    _wanted, _watcher = threading.Event(), None
    _watched.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _watch(clock: Clock) -> None:
    """Have a clock looked at; one thread does it for all, for a new one costs more than a batch."""
    global _watcher
    _watched.add(clock)
    if _watcher is None:
        _watcher = threading.Thread(target=_look, name="time limits", daemon=True)
        _watcher.start()
    _wanted.set()


def _look() -> None:
    while True:
        _wanted.wait()
        time.sleep(AGAIN_S)
        for clock in _watched.copy():
            clock.look()
        if not _watched:
            _wanted.clear()
            if _watched:  # one that came in between
                _wanted.set()


def _theirs(frame: FrameType | None) -> bool:
    return frame is not None and frame.f_code.co_filename not in OURS


def _raise(thread: int, error: type[BaseException]) -> None:
    """Raise in another thread as soon as it runs Python code."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))
