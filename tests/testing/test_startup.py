"""Where nothing is audited the plugin costs nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

#: What importing the plugin costs a session that has pytest already, beside what importing pytest
#: cost: both in processor time of one process, so that a busy machine does not matter.
PROGRAM = """
import sys, time
began = time.process_time()
import pytest, _pytest.config, _pytest.python
start = time.process_time()
import pdpaudit.testing.pytest_plugin, pdpaudit.testing.session
imported = (time.process_time() - start) / (start - began)
status = pytest.main(["-q", "-p", "no:cacheprovider"])
heavy = {"numpy", "scipy", "networkx", "pandas", "joblib", "rich", "typer", "flint"}
print("loaded", sorted(heavy & set(sys.modules)), status == 0)
print("ours", sorted(name for name in sys.modules if name.startswith("pdpaudit")))
print("share", imported)
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder: Path = tmp_path_factory.mktemp("unused")
    (folder / "test_a.py").write_text("import pdpaudit.testing\ndef test_a(): pass\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=folder, capture_output=True, text=True, check=True
    )
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)


def test_an_unused_session_loads_nothing_heavy(shown: dict[str, str]) -> None:
    assert shown["loaded"] == "[] True"
    ours = ["core", "core.errors", "testing"]
    ours += [f"testing.{name}" for name in ("pytest_plugin", "session")]
    assert shown["ours"] == str(["pdpaudit", *(f"pdpaudit.{name}" for name in ours)])


def test_importing_costs_less_than_a_quarter_of_pytest(shown: dict[str, str]) -> None:
    """Some 50 ms; the whole of it, hooks included, is measured in the benchmarks."""
    assert float(shown["share"]) < 0.25
