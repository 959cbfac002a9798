"""However a command ends, status 1 means a violation and nothing else."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pdpaudit.cli import app
from pdpaudit.core.errors import described
from pdpaudit.face import load

from .conftest import Run

MECHANISM = """
import os, sys
from pdpaudit.core.protocols import PrivacyClaim

class Silent(Exception):
    def __str__(self):
        raise RuntimeError("says nothing")

class Base(BaseException):
    pass

class Mine:
    claim = PrivacyClaim(1.0)

    def pairs(self):
        yield (0,), (1,)

    def run(self, instance, rng):
        {code}
        return int(rng.integers(2))
"""


class Silent(Exception):
    def __str__(self) -> str:
        raise RuntimeError("says nothing")


RAISED = [
    ZeroDivisionError("division by zero"),
    RuntimeError("one\nline\x1b[2J"),
    MemoryError(),
    RecursionError("maximum recursion depth exceeded"),
    SystemExit(1),
    SystemExit("a word"),
    SystemExit(None),
    GeneratorExit(),
    Silent(),
    OSError(5, "Input/output error"),
    UnicodeEncodeError("ascii", "é", 0, 1, "ordinal not in range"),
]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("asked", [False, True])
def test_what_nobody_expected_is_one_line_and_status_2(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, asked: bool
) -> None:
    def fails(**_: object) -> None:
        raise error

    monkeypatch.setattr(app, "app", fails)
    monkeypatch.setenv("PDPAUDIT_TRACEBACK", "1" if asked else "")
    ran = run("audit", "PTarget")
    assert (ran.status, ran.out) == (2, "")
    assert ("Traceback" in ran.err) == asked
    last = ran.err.splitlines()[-1]
    assert last.startswith("pdpaudit: ")
    assert "report" in last or "out of memory" in last
    assert asked or (ran.err.count("\n") == 1 and "\x1b" not in ran.err)


def test_a_deep_recursion_of_ours_ends_like_any_other_error(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deeper() -> None:
        deeper()

    def fails(**_: object) -> None:
        deeper()  # Python 3.13.0 does not stop a function that takes keywords

    monkeypatch.setattr(app, "app", fails)
    ran = run("list")
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "RecursionError" in ran.err


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_an_error_is_described_whatever_it_does(error: BaseException) -> None:
    assert described(error).startswith(type(error).__name__)
    assert "\n" not in described(error)


def process(folder: Path, shell: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command through a shell, ``"$@"`` in it; return how that command itself ended."""
    script = f"set -o pipefail; {shell}"
    command = ["bash", "-c", script, "bash", sys.executable, "-m", "pdpaudit", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )


#: What takes a standard stream away, for a command that succeeds.
STREAMS = {
    "reader gone": '"$@" | true',
    "closed output": '"$@" >&-',
    "closed error stream": '"$@" 2>&-',
    "both closed": '"$@" >&- 2>&-',
    "full disk": '"$@" >/dev/full',
    "full disk for both": '"$@" >/dev/full 2>&1',
}


COMMANDS = {
    "version": ("--version",),
    "list": ("list",),
    "refused": ("audit", "no-such-mechanism"),
    "check": ("check", "CN", "--select", "finite", "--max-vertices", "3"),
    "audit": ("audit", "zoo:Laplace", "--seed", "1", "--samples", "500", "--json", "-"),
}


def _endings() -> Iterator[Any]:
    """Yield every command with every stream; by default with two of them, each in turn."""
    for i, command in enumerate(COMMANDS):
        for j, stream in enumerate(STREAMS):
            marks: Any = [] if (i - j) % 3 == 0 else pytest.mark.slow
            yield pytest.param(COMMANDS[command], stream, id=f"{command}-{stream}", marks=marks)


@pytest.mark.parametrize(("arguments", "stream"), list(_endings()))
def test_a_stream_that_takes_nothing_is_no_violation(
    tmp_path: Path, stream: str, arguments: tuple[str, ...]
) -> None:
    ran = process(tmp_path, STREAMS[stream], *arguments)
    assert ran.returncode in (0, 2)
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr
    assert len(ran.stderr.splitlines()) <= 1
    if stream == "full disk":
        assert ran.returncode == 2


WRITTEN = {
    "check": ("check", "CN", "--select", "finite", "--max-vertices", "3"),
    "audit": ("audit", "zoo:Laplace", "--seed", "1", "--samples", "500"),
    "claims": ("claims", "--select", "C9", "--seed", "1"),
    "simulate": ("simulate", "--runs", "2", "--budget", "100", "--seed", "1"),
}


@pytest.mark.parametrize("command", WRITTEN)
def test_a_result_is_kept_though_nobody_reads_on(tmp_path: Path, command: str) -> None:
    process(tmp_path, '"$@" | head -1', *WRITTEN[command], "--json", "result.json")
    assert load(tmp_path / "result.json").command == command


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("audit", "show_audit"),
        ("check", "show_checks_end"),
        pytest.param("claims", "show_blocks", marks=pytest.mark.slow),
        pytest.param("simulate", "show_simulation", marks=pytest.mark.slow),
    ],
)
def test_a_result_is_kept_before_it_is_shown(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str, shown: str
) -> None:
    """A disk that is full by then takes the words, and not the result."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(f"pdpaudit.report.terminal.{shown}", full)
    ran = run(*WRITTEN[command], "--json", "result.json")
    assert ran.status == 2
    assert load(tmp_path / "result.json").command == command


CODES = {
    "closes output": "os.close(1)",
    "closes both": "os.close(1); os.close(2)",
    "closes sys.stdout": "sys.stdout.close()",
    "no sys.stdout": "sys.stdout = None",
    "leaves": "sys.exit(1)",
    "leaves without a word": "sys.exit()",
    "raises what is no Exception": "raise Base()",
    "raises what cannot be said": "raise Silent()",
    "recurses": "self.run(instance, rng)",
    "out of memory": "raise MemoryError()",
}


#: Runs the command in a copy of this process in each folder given: what is imported is so once.
COPIES = """
import os, runpy, sys
import pdpaudit.algorithms.graph.claims, pdpaudit.attacks.events, pdpaudit.auditing.pipeline
import pdpaudit.cli.app, pdpaudit.report.terminal, pdpaudit.core.privacy_loss, rich.progress

for folder in sys.argv[2:]:
    if os.fork() == 0:
        os.chdir(folder)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
        sys.argv = ["pdpaudit", *sys.argv[1].split()]
        runpy.run_module("pdpaudit", run_name="__main__", alter_sys=True)
        os._exit(99)
    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_the_code_of_others_brings_no_status_1(tmp_path: Path, jobs: str) -> None:
    for name, code in CODES.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(MECHANISM.format(code=code))
    command = f"audit mine.py:Mine --seed 1 --samples 100 --jobs {jobs}"
    folders = [str(tmp_path / name) for name in CODES]
    ran = subprocess.run(
        [sys.executable, "-c", COPIES, command, *folders],
        capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    statuses = dict(zip(CODES, map(int, ran.stdout.split()), strict=True))
    assert set(statuses.values()) <= {0, 2}, statuses
    for name in CODES:
        said = (tmp_path / name / "err").read_text()
        assert "Traceback" not in said, name
        assert len(said.splitlines()) <= 1, name


def test_an_installation_that_cannot_start_is_named(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise ImportError('broken by hand')")
    ran = subprocess.run(
        [sys.executable, "-m", "pdpaudit", "list"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.count("\n") == 1
    assert "ImportError: broken by hand" in ran.stderr


def test_a_violation_is_still_status_1(run: Run) -> None:
    ran = run("audit", "zoo:SVT5", "--seed", "1", "--json", "out.json")
    assert ran.status == 1
    assert json.loads(Path("out.json").read_text())["status"] == "violated"
