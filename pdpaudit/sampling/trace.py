"""What an author's code does in one run: its statements, random draws, oracle calls and values."""

from __future__ import annotations

import ast
import hashlib
import linecache
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType
from typing import Literal, NamedTuple, TypeAlias

#: Steps that are kept of a run, and events looked at: what comes later is not compared.
MOST_STEPS, MOST_EVENTS = 5_000, 50_000

#: Entries of a container that are compared where it is a local variable, and characters shown.
MOST_ENTRIES, LONGEST = 32, 60

#: Code that is part of the statement it stands in. Python 3.12 has no frames for some of it.
LAMBDA = "<lambda>"
FOLDED = {LAMBDA, "<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>"}


class Place(NamedTuple):
    """A statement, by the line it begins on."""

    file: str
    line: int


class Value(NamedTuple):
    """A value that a statement made: of a variable, or returned where there is no name.

    ``steps`` are those of the function that computed it.
    """

    at: Place | None
    name: str
    text: str
    steps: tuple[Step, ...] = ()


Kind: TypeAlias = Literal["line", "draw", "oracle", "decision", "raised"]


class Step(NamedTuple):
    """What happened next, the statement that led to it, and the values new since the step before.

    ``what`` is a place, the text of a call, a decision that a function returned, or an exception.
    """

    kind: Kind
    what: Hashable
    at: Place | None
    values: tuple[Value, ...]


@dataclass
class _Called:
    """A function of the author's that is running."""

    frame: int
    name: str
    at: Place | None
    start: int
    calls: int
    before: list[Value]
    known: dict[str, str] = field(default_factory=dict)


class Recorder:
    """Keeps the steps of one run; ``authored`` says whose code counts.

    A function that returns numbers, and neither draws nor asks, counts as a value: how it was
    computed does not part two runs.
    """

    def __init__(self, authored: Callable[[CodeType], bool]) -> None:
        self.authored = authored
        self.steps: list[Step] = []
        self.returned: Value | None = None
        self.full = False
        self._stack: list[_Called] = []
        self._new: list[Value] = []
        self._calls = self._events = 0

    def enter(self, frame: FrameType) -> None:
        """Begin a function."""
        if self._stopped():
            return
        name, outer = frame.f_code.co_name, self._stack[-1].at if self._stack else None
        folded = name in FOLDED and bool(self._stack)
        # A statement may hold several functions without a name, each on a line of its own.
        at = Place(frame.f_code.co_filename, frame.f_code.co_firstlineno) if folded else outer
        called = _Called(
            id(frame), name if folded else "", at, len(self.steps), self._calls, list(self._new)
        )
        if not self._stack:
            called.known = _simple(frame)  # what it is given differs on purpose
        self._stack.append(called)

    def line(self, frame: FrameType, number: int) -> None:
        """Begin a line."""
        if self._stopped() or not self._stack or self._stack[-1].frame != id(frame):
            return
        called = self._stack[-1]
        file = frame.f_code.co_filename
        place = Place(file, _statements(file).get(number, number))
        if called.name or place == called.at:
            return
        self._changes(called, frame)
        self._step("line", place)
        called.at = place

    def leave(
        self, frame: FrameType, value: object, error: type[BaseException] | None = None
    ) -> None:
        """End a function, by an exception where one is given."""
        if self._stopped() or not self._stack or self._stack[-1].frame != id(frame):
            return
        called = self._stack[-1]
        if error is not None:
            self._step("raised", error.__name__)
            self._stack.pop()
            return
        shown = text(value)
        made = Value(called.at, "", shown or "")
        if len(self._stack) == 1:
            self.returned = made
        elif called.name:
            if called.name == LAMBDA and shown is not None:
                self._new.append(made)
        elif _is_numeric(value) and self._calls == called.calls:
            self._new = [*called.before, made._replace(steps=tuple(self.steps[called.start :]))]
            del self.steps[called.start :]
        elif value is None or isinstance(value, bool | str):
            self._step("decision", shown)
        elif shown is not None:
            self._new.append(made)
        self._stack.pop()

    def call(self, kind: Literal["draw", "oracle"], words: str) -> None:
        """Note a random draw or an oracle call."""
        if self._stack and not self._stopped():
            self._calls += 1
            self._step(kind, words)

    def _stopped(self) -> bool:
        self._events += 1
        self.full = self.full or len(self.steps) >= MOST_STEPS or self._events >= MOST_EVENTS
        return self.full

    def _step(self, kind: Kind, what: Hashable) -> None:
        self.steps.append(Step(kind, what, self._stack[-1].at, tuple(self._new)))
        self._new.clear()

    def _changes(self, called: _Called, frame: FrameType) -> None:
        """Note the variables that the last statement changed."""
        now = _simple(frame)
        new = ((name, shown) for name, shown in now.items() if called.known.get(name) != shown)
        self._new += [Value(called.at, name, shown) for name, shown in new]
        called.known = now


#: What ``sys.settrace`` calls in a frame, and what it is to call there next.
Follow: TypeAlias = "Callable[[FrameType, str, object], Follow | None]"


@contextmanager
def tracing(recorder: Recorder) -> Iterator[None]:
    """Let a recorder follow the author's code in this thread."""

    def entered(frame: FrameType, event: str, _: object) -> Follow | None:
        if event != "call" or recorder.full or not recorder.authored(frame.f_code):
            return None
        error: type[BaseException] | None = None

        def inside(frame: FrameType, event: str, given: object) -> Follow:
            nonlocal error
            if event == "line":
                error = None
                recorder.line(frame, frame.f_lineno)
            elif event == "exception" and isinstance(given, tuple):
                error = given[0]
            elif event == "return":
                recorder.leave(frame, given, error)
            return inside

        recorder.enter(frame)
        return inside

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        yield
    finally:
        sys.settrace(before)


def recorded(
    kind: type, recorder: Recorder, what: Literal["draw", "oracle"], names: Sequence[str]
) -> type:
    """Return a subclass whose methods are noted when they are called, but not by each other."""
    busy = False

    def noted(name: str) -> Callable[..., object]:
        inner = getattr(kind, name)
        called = what if name == "__call__" else name

        def method(self: object, *arguments: object, **more: object) -> object:
            nonlocal busy
            if busy:
                return inner(self, *arguments, **more)
            given = [*map(_argument, arguments)]
            given += [f"{key}={_argument(value)}" for key, value in more.items()]
            recorder.call(what, f"{called}({', '.join(given)})")
            busy = True
            try:
                return inner(self, *arguments, **more)
            finally:
                busy = False

        return method

    return type(kind.__name__, (kind,), {name: noted(name) for name in names})


def recorded_oracle(oracle: object, recorder: Recorder) -> None:
    """Let an oracle note what it is asked, where its class allows it."""
    kind = type(oracle)
    public = [name for name in dir(kind) if name == "__call__" or name[0] != "_"]
    names = [name for name in public if callable(getattr(kind, name))]
    try:
        oracle.__class__ = recorded(kind, recorder, "oracle", names)
    except TypeError:  # a class of its own layout, or no class of Python's
        return


def text(value: object, most: int = MOST_ENTRIES) -> str | None:
    """Return a value of numbers and texts as it is compared; None for what is not, or too long."""
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, float):
        return float.__repr__(value)  # numpy's are floats, and would name their type
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, str):
        return repr(value) if len(value) <= LONGEST else _digest(value.encode("utf-8", "replace"))
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return text(value.tolist(), most) if getattr(value, "size", 1) <= most else None
    if isinstance(value, list | tuple | set | frozenset | dict):
        if len(value) > most:
            return None
        entries = value.items() if isinstance(value, dict) else value
        shown = [text(entry, most) for entry in islice(entries, most)]
        if None in shown:
            return None
        begin, end = {list: ("[", "]"), tuple: ("(", ")")}.get(type(value), ("{", "}"))
        return f"{begin}{', '.join(map(str, shown))}{end}"
    return None


def _argument(value: object) -> str:
    shown = text(value, 1_000)
    if shown is None:
        return _array(value) or type(value).__name__
    return shown if len(shown) <= LONGEST else f"{shown[:20]}... {_digest(shown.encode())}"


def _array(value: object) -> str | None:
    if not (hasattr(value, "dtype") and hasattr(value, "size") and hasattr(value, "tobytes")):
        return None
    try:
        return f"array of {value.size} numbers {_digest(value.tobytes())}"
    except ValueError:
        return None


def _digest(data: bytes) -> str:
    return f"#{hashlib.blake2b(data, digest_size=4).hexdigest()}"


def _simple(frame: FrameType) -> dict[str, str]:
    """Return the local variables of a frame that can be compared."""
    found = {name: text(value) for name, value in frame.f_locals.items()}
    return {name: shown for name, shown in found.items() if shown is not None}


def _is_numeric(value: object) -> bool:
    """Say whether a value is a number or made of floats: a score, and no decision."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return True
    if hasattr(value, "dtype"):
        return getattr(value.dtype, "kind", "") in "iuf"
    if isinstance(value, dict):
        return _is_numeric(list(value.values()))
    return isinstance(value, list | tuple) and bool(value) and isinstance(value[0], float)


@lru_cache(maxsize=64)
def _statements(file: str) -> dict[int, int]:
    """Return the first line of the statement that each line of a file belongs to."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return {}
    first: dict[int, int] = {}
    for node in ast.walk(tree):  # outer statements come before inner ones
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno
            for line in range(node.lineno, max(last or 0, node.lineno) + 1):
                first[line] = node.lineno
    return first
