"""Run the command line as a person does, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

EDGES = "source,target,weight\nann,bob,1\nbob,cat,2\ncat,dan,1\ndan,ann,3\neve,bob,1\n"
NODES = "id,label\nann,target\nbob,protected\ncat,target\ndan,protected\neve,target\n"


@pytest.fixture
def pdpaudit(tmp_path: Path) -> Run:
    """Return a function that runs ``python -m pdpaudit`` in a folder with a small network."""
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "nodes.csv").write_text(NODES)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pdpaudit", *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"},
            timeout=300,
            check=False,
        )

    return run
