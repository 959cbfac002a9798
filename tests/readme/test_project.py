"""The project in ``examples``: copied, its gate is green; with the noise halved it is red."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .examples import ROOT


@pytest.fixture
def project(pytester: pytest.Pytester) -> Path:
    shutil.copytree(ROOT / "examples" / "project", pytester.path, dirs_exist_ok=True)
    return pytester.path


def test_its_gate_is_green(pytester: pytest.Pytester, project: Path) -> None:
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--pdp-report", "results")
    result.assert_outcomes(passed=1)
    (written,) = (project / "results").glob("*.json")
    done = pytester.run("pdpaudit", "report", str(written), "-o", "report.html")
    assert done.ret == 0
    assert (project / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_with_half_the_noise_it_is_red(pytester: pytest.Pytester, project: Path) -> None:
    source = project / "positives.py"
    source.write_text(source.read_text(encoding="utf-8").replace("scale=1 /", "scale=0.5 /"))
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*is not private as claimed*", "*one patient more*"])


def test_the_outbreak_is_what_its_script_makes(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "outbreak", tmp_path, dirs_exist_ok=True)
    made: dict[str, object] = {"__name__": "make", "__file__": str(tmp_path / "make.py")}
    exec((tmp_path / "make.py").read_text(encoding="utf-8"), made)
    kept = {file.name: file.read_bytes() for file in tmp_path.glob("*.csv")}
    made["main"](tmp_path)  # type: ignore[operator]
    assert len(kept) == 2
    assert {file.name: file.read_bytes() for file in tmp_path.glob("*.csv")} == kept
