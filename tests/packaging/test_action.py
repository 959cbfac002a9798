"""The steps of the GitHub action, run in a shell as the code host runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

MECHANISM = """
from pdpaudit import PrivacyClaim

class Positives:
    claim = PrivacyClaim(1.0)
    def pairs(self):
        yield "one patient more", 10, 11
    def run(self, count, rng):
        return count + rng.laplace(scale={scale})
"""


def run(folder: Path, inputs: dict[str, str]) -> dict[str, int]:
    """Run the action's shell steps but the installation; return their exit statuses."""
    known = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()} | inputs
    output, summary = folder / "output", folder / "summary.md"
    output.touch()
    statuses: dict[str, int] = {}
    for step in ACTION["runs"]["steps"]:
        if "run" not in step or step["name"] == "Install":
            continue
        if "steps.audit.outputs.status != ''" in step.get("if", "") and not output.read_text():
            continue
        outputs = dict(line.split("=") for line in output.read_text().splitlines())

        def filled(text: str, outputs: dict[str, str] = outputs) -> str:
            text = re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: known[found[1]], text)
            return re.sub(
                r"\$\{\{ steps\.audit\.outputs\.(\w+) \}\}", lambda found: outputs[found[1]], text
            )

        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        env = {**os.environ, "PATH": path, "GITHUB_OUTPUT": str(output)}
        env |= {"GITHUB_STEP_SUMMARY": str(summary)}
        env |= {name: filled(value) for name, value in step.get("env", {}).items()}
        command = ["bash", "-e", "-o", "pipefail", "-c", filled(step["run"])]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)
        statuses[step["name"]] = done.returncode
    return statuses


@pytest.mark.parametrize(("scale", "verdict", "alerts"), [(0.3, 1, 1), (1.0, 0, 0)])
def test_a_violated_claim_fails_the_job(
    tmp_path: Path, scale: float, verdict: int, alerts: int
) -> None:
    (tmp_path / "mine.py").write_text(MECHANISM.format(scale=scale))
    asked = {"mechanism": "mine.py:Positives", "options": "--samples 2000"}
    assert run(tmp_path, asked) == {"Audit": 0, "Report": 0, "Verdict": verdict}
    body = json.loads((tmp_path / "pdpaudit-report" / "report.sarif").read_text())
    assert len(body["runs"][0]["results"]) == alerts
    assert "Positives" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_what_cannot_be_audited_fails_at_once(tmp_path: Path) -> None:
    assert run(tmp_path, {"mechanism": "nobody.py:Nothing"})["Audit"] == 1


def test_each_input_is_described() -> None:
    assert all(one["description"] for one in ACTION["inputs"].values())


def test_the_hook_names_a_command_there_is() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    done = subprocess.run(
        [sys.executable, "-m", *hook["entry"].split(), "CN", "--select", "finite"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "certified" in done.stdout
