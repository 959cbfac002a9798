"""What goes to standard output, what to a terminal, and what nowhere."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest
from rich.cells import cell_len

from .conftest import Run

ON_NETWORK = ("--edges", "edges.csv", "--nodes", "nodes.csv")
QUICK = {
    "audit": ("audit", "PTarget:main-text", *ON_NETWORK),
    "check": ("check", "CN", "--select", "finite", "--max-vertices", "3"),
    "claims": ("claims", "--select", "C11"),
    "simulate": ("simulate", "PTarget:repaired", *ON_NETWORK, "--runs", "5", "--jobs", "1"),
}


@pytest.mark.parametrize("command", QUICK)
def test_json_to_standard_output_is_nothing_but_json(run: Run, command: str) -> None:
    ran = run(*QUICK[command], "--json", "-")
    assert json.loads(ran.out)["command"] == command
    assert ran.err == ""


def test_a_terminal_that_has_no_greek_letters_gets_words() -> None:
    def printed(*arguments: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-m", "pdpaudit", *arguments],
            env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "400"},
            capture_output=True,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, b"")
        return ran.stdout.decode("ascii")

    text = printed("audit", "zoo:Laplace", "--samples", "400", "--seed", "1")
    assert "declared eps" in text
    assert "(eps, delta) allows" in text
    assert "?" not in text
    assert "graphs on <= 4 vertices" in printed(*QUICK["check"])
    assert "graphs on ≤ 4 vertices" in str(json.loads(printed(*QUICK["check"], "--json", "-")))


@pytest.mark.parametrize("command", QUICK)
def test_quiet_commands_say_nothing(run: Run, command: str) -> None:
    ran = run(*QUICK[command], "--quiet")
    assert (ran.out, ran.err) == ("", "")


def test_replay_and_report_are_quiet_too(run: Run) -> None:
    run(*QUICK["audit"], "--json", "out.json")
    for arguments in (("replay", "out.json", "-q"), ("report", "out.json", "-q")):
        ran = run(*arguments)
        assert (ran.status, ran.out, ran.err) == (0, "", "")


def on_a_terminal(*arguments: str) -> str:
    """Run a command as a process whose error stream is a terminal, and return what is drawn."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    for name in ("NO_COLOR", "FORCE_COLOR"):
        environment.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-m", "pdpaudit", *arguments],
        stdout=subprocess.PIPE, stderr=theirs, stdin=theirs, env=environment,
    )  # fmt: skip
    os.close(theirs)
    drawn, until = b"", time.monotonic() + 600
    while time.monotonic() < until:
        if not select.select([ours], [], [], 1.0)[0]:
            continue
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        drawn += piece
    os.close(ours)
    out, _ = process.communicate(timeout=600)
    assert b"\x1b" not in out, "what is piped is not coloured"
    return drawn.decode()


def test_progress_is_drawn_on_a_terminal_and_taken_away(run: Run) -> None:
    # Enough runs for a rate to be known.
    command = ("audit", "PTarget", *ON_NETWORK, "--samples", "12000", "--jobs", "1", "--seed", "1")
    drawn = on_a_terminal(*command)
    assert re.search(r"\d+%", drawn)
    assert re.search(r"[\d,]+/s", drawn), "the rate"
    assert re.search(r"\d:\d\d:\d\d", drawn), "the time left"
    assert drawn.rstrip().endswith(("\x1b[2K", "\x1b[?25h")), "nothing is left behind"
    for line in re.split(r"[\r\n]", re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", drawn)):
        assert cell_len(line) <= 80
    command = ("audit", "PTarget", *ON_NETWORK, "--samples", "300", "--jobs", "1", "--seed", "1")
    assert on_a_terminal(*command, "--quiet") == ""


def test_no_progress_in_a_pipe(run: Run) -> None:
    ran = run("audit", "PTarget", *ON_NETWORK, "--samples", "300", "--seed", "1")
    assert ran.err == ""
    assert "/s" not in ran.out
    assert "\r" not in ran.out
