"""Run the command line as a person does, in a folder of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pdpaudit.cli import main

EDGES = "source,target,weight\nann,bob,1\nbob,cat,2\ncat,dan,1\ndan,ann,3\neve,bob,1\n"
NODES = "id,label\nann,target\nbob,protected\ncat,target\ndan,protected\neve,target\n"


@dataclass(frozen=True)
class Ran:
    """What a command printed, and how it ended."""

    status: int
    out: str
    err: str


Run = Callable[..., Ran]


def _forget(folder: Path, before: set[str]) -> None:
    """Drop the modules that were loaded from a folder."""
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).is_relative_to(folder.resolve()):
            del sys.modules[name]


@pytest.fixture
def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Run]:
    """Give a function that runs a command in a folder with a small network."""
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "nodes.csv").write_text(NODES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    # What one test's own files brought in is no business of the next.
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)

    def ran(*arguments: str) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main(list(arguments))
        shown = capsys.readouterr()
        return Ran(int(left.value.code or 0), shown.out, shown.err)

    yield ran
    _forget(tmp_path, before)
