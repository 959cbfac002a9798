"""What others' code may take or change of the process we share with it: time, and what is put back.

Code cannot catch the limit on its time.
"""

from __future__ import annotations

import ctypes
import importlib
import locale
import math
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Hashable, MutableMapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NoReturn, TextIO, TypeAlias, TypeVar

import numpy as np
from numpy.random.mtrand import get_bit_generator, set_bit_generator

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
OURS = frozenset(str(Path(__file__).with_name(name)) for name in ("surroundings.py", "guard.py"))

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


# What they may change


#: Looks at a part of the process, and returns what puts it back where it was changed.
Part = Callable[[], Callable[[], None]]

#: The global generator of numpy while others' code runs; ours is put aside, at no cost.
THEIRS = np.random.MT19937(0)


def _part(look: Callable[[], T], put: Callable[[T], object]) -> Part:
    def keep() -> Callable[[], None]:
        before = look()

        def put_back() -> None:
            if look() != before:
                put(before)

        return put_back

    return keep


def _environment(held: MutableMapping[T, T]) -> Part:
    # As the interpreter holds it, where that can be seen: to decode it all takes a hundred times
    # as long.
    def put(before: dict[T, T]) -> None:
        for name in held.keys() - before.keys():
            del held[name]
        held.update(before)

    return _part(lambda: dict(getattr(held, "_data", held)), put)


def _put_streams(before: tuple[TextIO, TextIO, TextIO]) -> None:
    sys.stdin, sys.stdout, sys.stderr = before


#: Attributes of the module warnings that decide what is shown.
SHOWING = ("showwarning", "_showwarnmsg_impl")


def _warnings() -> list[object]:
    return [list(warnings.filters), *(getattr(warnings, name) for name in SHOWING)]


def _put_warnings(before: list[object]) -> None:
    vars(warnings)["filters"][:] = before[0]
    vars(warnings).update(zip(SHOWING, before[1:], strict=True))
    vars(warnings)["_filters_mutated"]()


def _folder() -> str:
    with suppress(OSError):
        return os.getcwd()
    return ""


def _put_folder(before: str) -> None:
    with suppress(OSError):
        os.chdir(before)


#: signal.getsignal makes an enumeration of each handler, which takes twenty times as long.
getsignal: Callable[[int], signal.Handlers | int | None] = importlib.import_module(
    "_signal"
).getsignal

#: All that may have a handler, as numbers.
SIGNALS = tuple(map(int, signal.valid_signals()))

_TIMERS = ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF")
TIMERS = tuple(getattr(signal, name) for name in _TIMERS if hasattr(signal, name))

#: What our own code between two draws depends on.
OFTEN = (
    _part(sys.getrecursionlimit, sys.setrecursionlimit),
    _part(np.geterr, lambda before: np.seterr(**before)),
    _part(np.geterrcall, np.seterrcall),
    _part(lambda: (sys.stdin, sys.stdout, sys.stderr), _put_streams),
    _part(_warnings, _put_warnings),
)

#: Returns the locale, or sets the one named.
_locale = partial(locale.setlocale, locale.LC_ALL)

#: What takes longer to look at.
ONCE = (
    _part(sys.getswitchinterval, sys.setswitchinterval),
    _part(_locale, _locale),
    _part(_folder, _put_folder),
    _environment(os.environb) if os.supports_bytes_environ else _environment(os.environ),
    _part(random.getstate, random.setstate),
)


class Surroundings:
    """Keeps what others' code may change of the process, and puts it back.

    What concerns the whole process is put back for the whole process: where several threads run
    others' code at once, each puts back what it found.
    """

    def __enter__(self) -> Surroundings:
        """Look at everything."""
        self._often, self._once = [part() for part in OFTEN], [part() for part in ONCE]
        self._signals = _Signals()
        self._descriptors = _Descriptors()
        self._generator = get_bit_generator()
        set_bit_generator(THEIRS)
        return self

    def seed(self, rng: np.random.Generator) -> None:
        """Seed the global generators from a stream, which stays where it is.

        Were they as we found them at each draw, a mechanism that uses them would repeat itself,
        and its runs would be no sample.
        """
        with suppress(AttributeError):
            words = rng.bit_generator.seed_seq.generate_state(12)[8:]
            random.seed(words.tobytes())
            np.random.seed(words)  # noqa: NPY002 - the one they use

    @staticmethod
    def positions(rng: np.random.Generator) -> tuple[Hashable, ...]:
        """Return where a stream stands, and the global generators."""
        state, theirs = rng.bit_generator.state, THEIRS.state["state"]["pos"]
        return str(state), theirs, random.getstate()[1][-1]

    @property
    def stderr(self) -> int:
        """A descriptor of the standard error stream that was found."""
        return self._descriptors.kept.get(2, 2)

    def put_back(self) -> None:
        """Put back what our own code depends on; some microseconds."""
        for put_back in self._often:
            put_back()

    def __exit__(self, *_: object) -> None:
        """Put everything back."""
        for put_back in (*self._often, *self._once):
            put_back()
        set_bit_generator(self._generator)
        self._signals.put_back()
        self._descriptors.put_back()


class _Signals:
    """Handlers, the mask and timers; handlers can be set in the main thread only."""

    def __init__(self) -> None:
        main = threading.current_thread() is threading.main_thread()
        self._began = time.monotonic()
        self._handlers = {n: getsignal(n) for n in SIGNALS} if main else {}
        self._timers = {timer: signal.getitimer(timer) for timer in TIMERS if main}
        masks = hasattr(signal, "pthread_sigmask")
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, ()) if masks else None

    def put_back(self) -> None:
        # A timer of theirs could end the process as soon as its handler is gone.
        for timer, (left, interval) in self._timers.items():
            now = signal.getitimer(timer)[0]
            expected = max(left - (time.monotonic() - self._began), 0.0)
            if (now > 0) != (expected > 0):
                signal.setitimer(timer, expected, interval)
        for number, handler in self._handlers.items():
            # None is a handler that was not set from Python, and cannot be.
            if getsignal(number) is not handler and handler is not None:
                signal.signal(number, handler)
        if self._mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)


class _Descriptors:
    """Duplicates of the descriptors of standard input, output and error."""

    def __init__(self) -> None:
        self.kept: dict[int, int] = {}
        self._what: dict[int, tuple[int, int]] = {}
        for number in range(3):
            with suppress(OSError):  # it may be closed already
                self.kept[number] = os.dup(number)
                self._what[number] = _file(number)

    def put_back(self) -> None:
        ours = True
        for number, kept in self.kept.items():
            try:
                # Whoever closes them all may have opened something else with our number.
                if _file(kept) != self._what[number]:
                    raise OSError
                os.dup2(kept, number)
                os.close(kept)
            except OSError:
                ours = False
        if not ours:
            raise Misbehaviour(
                "it closed file descriptors that are not its own, ours among them; close what it "
                "opened, and nothing else"
            )


def _file(descriptor: int) -> tuple[int, int]:
    """Return what tells one open file from another."""
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def reopen() -> None:
    """Make anew the standard streams that were closed, on their descriptors."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if getattr(stream, "closed", False):
            with suppress(OSError):
                opened = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
                setattr(sys, name, opened)
