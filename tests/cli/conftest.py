"""Run the command line as a person does, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
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


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command in a folder with a small network."""
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "nodes.csv").write_text(NODES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")

    def ran(*arguments: str) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main(list(arguments))
        told = capsys.readouterr()
        return Ran(int(left.value.code or 0), told.out, told.err)

    return ran
