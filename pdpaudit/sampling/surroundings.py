"""What others' code may change of the process we share with it, and how it is put back."""

from __future__ import annotations

import importlib
import locale
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Hashable, MutableMapping
from contextlib import suppress
from typing import TextIO, TypeVar

import numpy as np
from numpy.random.mtrand import get_bit_generator, set_bit_generator

from pdpaudit.core.errors import Misbehaviour

T = TypeVar("T")

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

TIMERS = tuple(
    getattr(signal, name)
    for name in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF")
    if hasattr(signal, name)
)

#: What our own code between two draws depends on.
OFTEN = (
    _part(sys.getrecursionlimit, sys.setrecursionlimit),
    _part(np.geterr, lambda before: np.seterr(**before)),
    _part(np.geterrcall, np.seterrcall),
    _part(lambda: (sys.stdin, sys.stdout, sys.stderr), _put_streams),
    _part(_warnings, _put_warnings),
)

#: What takes longer to look at.
ONCE = (
    _part(sys.getswitchinterval, sys.setswitchinterval),
    _part(
        lambda: locale.setlocale(locale.LC_ALL), lambda name: locale.setlocale(locale.LC_ALL, name)
    ),
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
