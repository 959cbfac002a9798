"""Shells complete commands, names and choices, and quickly."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import get_args

import pytest

from pdpaudit.algorithms.searches.noisy_max import NoiseName
from pdpaudit.auditing.config import SEQUENTIAL
from pdpaudit.auditing.side_channels import ALL, OBSERVABLES, REPRESENTATION
from pdpaudit.checks import check_names
from pdpaudit.cli import options
from pdpaudit.cli.app import app
from pdpaudit.core.registry import registered
from pdpaudit.experiments.generated_networks import REGIMES
from pdpaudit.inference.bounds import METHODS
from pdpaudit.sampling.backends import BACKENDS

from .conftest import Run


def completed(
    shell: str, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """Return what a shell offers for a line whose last word is half typed."""
    words = line.split(" ")
    monkeypatch.setenv("_PDPAUDIT_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    capsys.readouterr()
    with pytest.raises(SystemExit):
        app(args=[], prog_name="pdpaudit", standalone_mode=False)
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("pdpaudit re", ["replay", "report"]),
        ("pdpaudit audit Query", ["QueryEveryone"]),
        ("pdpaudit audit SF", ["SFS"]),
        ("pdpaudit audit PTarget --noise ", ["laplace", "gumbel", "exponential"]),
        ("pdpaudit audit PTarget --method b", ["betting"]),
        ("pdpaudit audit PTarget --observe t", ["truncated", "time"]),
        ("pdpaudit audit PTarget --backend m", ["multiprocessing"]),
        ("pdpaudit audit PTarget --sop Tri", ["Triangle"]),
        ("pdpaudit check Ja", ["Jaccard"]),
        ("pdpaudit simulate Query", ["QueryEveryone"]),
        ("pdpaudit simulate PTarget --regime d", ["dominant"]),
        ("pdpaudit check CN --select t", ["targeted-sensitivity", "tightness"]),
        ("pdpaudit check CN --skip own", ["own-network"]),
        ("pdpaudit claims --select C1", ["C1", "C10", "C11", "C12", "C13"]),
        (
            "pdpaudit claims --select G1",
            ["G1", *(f"G{number}" for number in range(10, 20))],
        ),
        ("pdpaudit claims --paper g", ["graph"]),
        ("pdpaudit report a.json --format ", ["html", "md", "sarif", "checklist"]),
    ],
)
def test_names_and_choices_are_offered(
    shell: str,
    line: str,
    offered: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = completed(shell, line, monkeypatch, capsys)
    places = [shown.find(name) for name in offered]
    assert -1 not in places
    assert places == sorted(places)
    if shell == "bash":
        assert shown.split() == offered


def test_every_registered_mechanism_and_statistic_is_offered() -> None:
    for group in ("mechanisms", "sops", "claims"):
        names = [one.name for one in registered(group)]
        assert sorted(options.names_of(group)("")) == sorted(names)


def test_what_is_written_down_is_what_there_is() -> None:
    assert set(options.METHODS) == {*METHODS, SEQUENTIAL}
    assert set(options.OBSERVABLES) == {*OBSERVABLES, REPRESENTATION, ALL}
    assert set(options.BACKENDS) == set(BACKENDS)
    assert set(options.REGIMES) == set(REGIMES)
    assert set(options.NOISES) == set(get_args(NoiseName))
    assert check_names() == options.CHECKS


def test_completion_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from pdpaudit.cli.app import app\n"
        "try: app(args=[], prog_name='pdpaudit', standalone_mode=False)\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'networkx', 'pandas', 'joblib', 'flint'}\n"
        "print('loaded', sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    environment = os.environ | {
        "_PDPAUDIT_COMPLETE": "complete_bash",
        "COMP_WORDS": "pdpaudit audit PT",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["PTarget", "PTarget:main-text", "PTarget:repaired"]
    assert done.stderr.strip() == "loaded []"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_shown(
    run: Run, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    """Whatever shell the tests were started from, if any."""
    monkeypatch.setattr("shellingham.detect_shell", lambda: (shell, f"/bin/{shell}"))
    ran = run("--show-completion")
    assert ran.status == 0
    assert "_PDPAUDIT_COMPLETE=complete_" in ran.out
    assert "pdpaudit" in ran.out
