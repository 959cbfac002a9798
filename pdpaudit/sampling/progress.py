"""How far an audit or a simulation is, in lines."""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pdpaudit.sampling.engine import Silent, Watcher

#: Seconds between two lines in a pipe, and between two looks of the line in a notebook.
PIPE_S, NOTEBOOK_S = 30.0, 1.0


class Lines:
    """A watcher that writes a line now and then."""

    def __init__(self, write: Callable[[str], None], every_s: float = PIPE_S) -> None:
        self._write, self._every_s = write, every_s
        self._words, self._total, self._done = "starting", 0, 0
        self._began = self._written = time.monotonic()
        self._ends = math.inf

    def stage(self, words: str, total: int) -> None:
        """Begin a new stage."""
        self._words, self._total, self._done = words, total, 0
        self._began, self._ends = time.monotonic(), math.inf

    def advance(self, done: int) -> None:
        """Move on, and write where enough time has passed."""
        self._done += done
        now = time.monotonic()
        if now - self._written < self._every_s:
            return
        self._written = now
        line = self._words
        if 0 < self._done <= self._total:
            ahead_s = (now - self._began) * (self._total / self._done - 1)
            # What is said to be left only falls, whatever the last runs took.
            self._ends = min(self._ends, now + ahead_s)
            left = self._ends - now
            late = "longer than expected" if ahead_s >= 1 else "nearly done"
            ahead = f"about {left:,.0f} s of it left" if left >= 1 else late
            line += f": {self._done:,} of {self._total:,}, {ahead}"
        self._write(line)

    def say(self, words: str) -> None:
        """Write a line at once."""
        self._write(words)


@contextmanager
def in_notebook() -> Iterator[Watcher]:
    """Show in a notebook how far it is, in a line that is gone at the end; elsewhere nothing."""
    ipython: Any = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        yield Silent()
        return
    display = importlib.import_module("IPython.display").display
    shown: list[Any] = []

    def write(line: str) -> None:
        text = {"text/plain": line}
        if shown:
            shown[0].update(text, raw=True)
        else:
            shown.append(display(text, raw=True, display_id=True))

    try:
        yield Lines(write, NOTEBOOK_S)
    finally:
        for handle in shown:
            handle.update({"text/plain": ""}, raw=True)
