"""Files of the current folder named like a library's shadow nothing, and can be audited."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import pdpaudit

MECHANISM = """
import os
from fractions import Fraction

from pdpaudit.core.protocols import PrivacyClaim

class Mine:
    claim = PrivacyClaim(1.0)

    def pairs(self):
        yield (0,), (1,)

    def run(self, instance, rng):
        return int(rng.integers(4)), os.environ.get("PYTHONSAFEPATH"), str(Fraction(1, 2))
"""

# Lies in another folder, as the command `pdpaudit` does.
WITH_WORKERS = """
import sys
from collections import Counter
from pdpaudit.core.registry import resolve
from pdpaudit.sampling import backend, draw, engine

if __name__ == "__main__":
    engine.WORTH_WORKERS_S, engine.SINGLE_CHUNK = -1.0, 50
    name, file = sys.argv[1:]
    mechanism = resolve("mechanisms", f"{file}:Mine")()
    with backend(name):
        there = draw(mechanism, (0,), 400, seed=1, key=("k",), jobs=2)
    here = draw(mechanism, (0,), 400, seed=1, key=("k",), jobs=1)
    assert there.same_as(here), there
    assert {values[1:] for _, _, values in there.counts} == {(None, "1/2")}, there
    print(len(there), "runs")
"""


IMPORTED_FIRST = "import runpy, sys; print(*sys.modules)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder where every name of Python's, of installed libraries and of ours is taken."""
    ours = {path.stem for path in Path(pdpaudit.__file__).parent.rglob("*.py")}
    folder = tmp_path / "theirs"
    folder.mkdir()
    for name in {*sys.stdlib_module_names, *packages_distributions(), *ours, "sitecustomize"}:
        if name.isidentifier() and name not in ("__init__", "__main__", "pdpaudit"):
            text = f"raise RuntimeError('{name}.py of the current folder was imported')"
            (folder / f"{name}.py").write_text(text)
    return folder


def run(folder: Path, *command: str | Path) -> str:
    environment = {**os.environ, "NO_COLOR": "1"}
    for name in ("PYTHONSAFEPATH", "PYTHONPATH"):
        environment.pop(name, None)
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        ("loky", "random"),
        ("multiprocessing", "results"),
        *(
            pytest.param(backend, name, marks=pytest.mark.slow)
            for backend, name in (
                ("loky", "results"),
                ("loky", "mine"),
                ("multiprocessing", "random"),
                ("multiprocessing", "mine"),
            )
        ),
    ],
)
def test_workers_run_a_file_among_such_files(folder: Path, backend: str, name: str) -> None:
    (folder / f"{name}.py").write_text(MECHANISM)
    driver = folder.parent / "driver.py"
    driver.write_text(WITH_WORKERS)
    assert run(folder, sys.executable, driver, backend, f"{name}.py") == "400 runs\n"


@pytest.mark.parametrize(
    "name",
    [
        "random",
        "results",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("platform", "mine")),
    ],
)
def test_the_module_is_run_among_such_files(folder: Path, name: str) -> None:
    # What Python itself imports to run a module comes before any line of ours.
    for module in run(folder, sys.executable, "-ISc", IMPORTED_FIRST).split():
        (folder / f"{module}.py").unlink(missing_ok=True)
    (folder / f"{name}.py").write_text(MECHANISM)
    command = (sys.executable, "-m", "pdpaudit", "audit", f"{name}.py:Mine", "--seed", "1")
    assert "not rejected" in run(folder, *command, "--samples", "2000", "--jobs", "1")
