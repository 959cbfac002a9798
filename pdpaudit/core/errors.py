"""The errors a person at the terminal is meant to read."""

import linecache
import operator
import os
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from itertools import islice
from numbers import Number
from pathlib import Path
from traceback import walk_tb
from typing import SupportsFloat, SupportsIndex

#: Folders whose code is not the author's: this package, Python's library, and installed packages.
OURS, STANDARD = Path(__file__).resolve().parents[1], Path(os.__file__).resolve().parent
INSTALLED = {"site-packages", "dist-packages"}

#: Characters of a line of code that are shown, and frames of a traceback that are looked at.
LONGEST, MOST_FRAMES = 80, 2_000


class InputError(ValueError):
    """A request that could not be carried out: one line that names the cause and the remedy.

    The command line prints it and exits with status 2, without a traceback.
    """


class ParameterError(InputError):
    """A parameter's value that cannot be used; the command line names its option instead."""

    def __init__(self, parameter: str, value: object, remedy: str) -> None:
        super().__init__(f"{parameter} = {value}: {remedy}")
        self.parameter, self.value, self.remedy = parameter, value, remedy


def number(parameter: str, value: object) -> float:
    """Return a number of any type as one of Python's; a text is none."""
    if isinstance(value, int | float) and type(value) in (int, float):
        return value
    if isinstance(value, Number) and isinstance(value, SupportsFloat):
        with suppress(TypeError, ValueError, OverflowError):
            return float(value)
    raise ParameterError(parameter, repr(value), "give a number")


def whole(parameter: str, value: object) -> int:
    """Return a whole number of any type, such as numpy's or 1e4, as one of Python's."""
    if isinstance(value, SupportsIndex):
        with suppress(TypeError):  # an array has the method, and is no number
            return operator.index(value)
    if isinstance(value, Number) and (plain := number(parameter, value)) % 1 == 0:
        return int(plain)
    raise ParameterError(parameter, repr(value), "give a whole number")


def refuse_unknown(function: str, given: Collection[str], known: Collection[str]) -> None:
    """Refuse arguments that a function has not, and that nothing would look at."""
    if unknown := [name for name in given if name not in known]:
        raise TypeError(
            f"{function}() has no argument {unknown[0]!r}; it has {', '.join(sorted(known))}"
        )


class Misbehaviour(Exception):
    """What others' code did that makes it useless; one line that says what and the remedy."""


class Exhausted(Misbehaviour):
    """A call that took more time or memory than there is: what it was asked for was too large."""


class OutOfTime(Misbehaviour):
    """The time limit of the whole command ended a run: no fault of whoever wrote it."""


def described(error: BaseException) -> str:
    """Return what an error is and says, in one line."""
    try:
        words = " ".join(str(error).split())
    except Exception:  # their own code says what an error says
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def located(error: BaseException) -> str:
    """Return what an error is and says, and the last line of its author's code that it came from.

    An error of ours is meant to be read as it is.
    """
    if isinstance(error, InputError | Misbehaviour):
        return described(error)
    # An error that is raised again and again has a traceback that grows.
    frames = islice(walk_tb(error.__traceback__), MOST_FRAMES)
    places = [(frame.f_code.co_filename, line) for frame, line in frames]
    theirs = [(file, line) for file, line in places if _is_authors(file)]
    if not theirs:
        return described(error)
    file, line = theirs[-1]
    code = linecache.getline(file, line).strip()[:LONGEST]
    return f"{described(error)} ({Path(file).name}:{line}{f', `{code}`' if code else ''})"


@cache
def _is_authors(file: str) -> bool:
    path = Path(file)
    if not path.is_file():
        return bool(linecache.getline(file, 1))  # a cell of a notebook
    path = path.resolve()
    library = path.is_relative_to(OURS) or path.is_relative_to(STANDARD)
    return not (library or INSTALLED & {*path.parts})
