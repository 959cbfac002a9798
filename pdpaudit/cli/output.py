"""Where results go: the terminal, a JSON file, a progress bar."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from pdpaudit.core.errors import InputError
from pdpaudit.report.blocks import on_terminal, visible
from pdpaudit.results.files import KEPT, save
from pdpaudit.results.results import Result
from pdpaudit.sampling.engine import Lines


class _Screen(Console):
    """A console on which names from files are text, whatever they hold."""

    #: Whether the work goes on where nobody reads any more, as something is written to a file.
    goes_on = False

    def on_broken_pipe(self) -> None:
        """End the command, or only say no more."""
        if not self.goes_on:
            super().on_broken_pipe()
        self.quiet = True

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as :class:`rich.console.Console` does, with nothing that acts on a terminal."""
        # A path is printed whole, to be copied.
        shown = visible if options.get("soft_wrap") else on_terminal
        super().print(*(_harmless(one, shown) for one in objects), **options)


def _harmless(thing: RenderableType, shown: Callable[[str], str]) -> RenderableType:
    """Return what is to be printed, its text passed through a function."""
    if isinstance(thing, str):
        return shown(thing)
    if isinstance(thing, Text):
        plain = shown(thing.plain)
        # Only text that has to change loses styles within it.
        return thing if plain == thing.plain else Text(plain, style=thing.style)
    if isinstance(thing, Padding):
        thing.renderable = _harmless(thing.renderable, shown)
    elif isinstance(thing, Table):
        for column in thing.columns:
            column._cells = [_harmless(cell, shown) for cell in column._cells]
    return thing


def console(*, quiet: bool = False, to_stderr: bool = False, goes_on: bool = False) -> Console:
    """Return the console a person reads; colour only on a terminal that wants it."""
    screen = _Screen(quiet=quiet, stderr=to_stderr, highlight=False, emoji=False, soft_wrap=False)
    screen.goes_on = goes_on
    return screen


def check_writable(path: Path | None) -> None:
    """Refuse an output path before an hour of work, not after it."""
    if path is None or str(path) == "-":
        return
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give the name of a file to write")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist; make it first")
    try:
        handle, probe = mkstemp(prefix=f".{path.name[:KEPT]}.", dir=path.parent)
        os.close(handle)
        os.unlink(probe)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror}); choose another path"
        ) from None


def write_json(path: Path | None, result: Result) -> None:
    """Write a result where it was asked for."""
    if path is None:
        return
    if str(path) == "-":
        plain = "utf" not in (sys.stdout.encoding or "").lower()
        json.dump(result.to_json(), sys.stdout, indent=1, ensure_ascii=plain, allow_nan=False)
        sys.stdout.write("\n")
    else:
        save(path, result.to_json())


class _Rate(ProgressColumn):
    """Finished units a second."""

    def render(self, task: Task) -> Text:
        """Return the rate as text."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s")


class _Bar:
    """A watcher that draws."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("starting", total=None)

    def stage(self, words: str, total: int) -> None:
        """Begin a new stage."""
        self._bar.reset(self._task, description=words, total=total)

    def advance(self, done: int) -> None:
        """Move on."""
        self._bar.advance(self._task, done)

    def say(self, words: str) -> None:
        """Write a line above the bar."""
        self._bar.console.print(f"pdpaudit: {words}", markup=False)


@contextmanager
def progress(*, quiet: bool) -> Iterator[_Bar | Lines]:
    """Show rate and time left on a terminal, a line now and then in a pipe."""
    screen = console(to_stderr=True)
    if quiet:
        yield Lines(lambda _: None)
        return
    if not screen.is_terminal:
        yield Lines(lambda line: typer.echo(f"pdpaudit: {line}", err=True))
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f}%"),
        _Rate(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as bar:
        yield _Bar(bar)
