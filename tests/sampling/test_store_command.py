"""``--store`` as a person meets it: interrupted, killed, and resumed to the same result."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

MECHANISM = """
import os, time
from pdpaudit.core.protocols import PrivacyClaim

class Slow:
    claim = PrivacyClaim(0.5, source="its author")

    def pairs(self):
        return [(0, 1)]

    def run(self, instance, rng):
        if rng.random() < SLOW:
            time.sleep(0.02)
        return int(rng.integers(4)) + instance
"""


def command(folder: Path, *more: str) -> list[str]:
    mechanism = [sys.executable, "-m", "pdpaudit", "audit", "mine.py:Slow"]
    return [*mechanism, "--samples", "2000", "--seed", "1", "--store", "run.db", *more]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(MECHANISM.replace("SLOW", "0.02"))
    return tmp_path


def start(folder, *more):
    return subprocess.Popen(
        command(folder, "--jobs", "1", *more),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Ctrl-C is heeded even where the tests themselves were started to ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def kept(folder) -> int:
    import sqlite3

    path = folder / "run.db"
    if not path.exists():
        return 0
    base = sqlite3.connect(path, timeout=600)
    try:
        return base.execute("SELECT coalesce(sum(runs), 0) FROM chunks").fetchone()[0]
    finally:
        base.close()


def wait_for(folder, runs, process):
    until = time.monotonic() + 600
    while kept(folder) < runs and time.monotonic() < until:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def body(path):
    told = json.loads(path.read_text())
    del told["elapsed_s"], told["written"]
    return told


@pytest.mark.slow
def test_interrupted_then_killed_then_resumed_to_the_same_result(folder):
    first = start(folder)
    try:
        wait_for(folder, 1000, first)
        first.send_signal(signal.SIGINT)
        _, err = first.communicate(timeout=600)
        assert first.returncode == 130
        assert "runs are kept in run.db" in err
        assert "Traceback" not in err
        had = kept(folder)
        second = start(folder)
        wait_for(folder, had + 1000, second)
        second.kill()
        second.communicate()
        assert kept(folder) >= had + 1000
    finally:
        for process in (first, second):
            if process.poll() is None:
                process.kill()
                process.communicate()
    for more in (["--json", "a.json"], ["--json", "b.json", "--store", "fresh.db"]):
        ran = subprocess.run(
            command(folder, *more), cwd=folder, capture_output=True, text=True, check=False
        )
        assert ran.returncode in (0, 1), ran.stderr
    assert body(folder / "a.json") == body(folder / "b.json")


def test_an_interrupted_confirmation_reports_what_there_is(folder, monkeypatch):
    from pdpaudit.auditing import Config, audit
    from pdpaudit.core.protocols import PrivacyClaim
    from pdpaudit.sampling import engine

    monkeypatch.setattr(engine, "BATCH", 1)

    class Mine:
        claim = PrivacyClaim(0.5, source="its author")

        def pairs(self):
            return [(0, 1)]

        def run(self, instance, rng):
            return int(rng.integers(4)) + instance

    class Impatient:
        confirming = 0

        def say(self, words): ...

        def stage(self, words, total):
            self.confirming += words.startswith("confirming")

        def advance(self, done):
            self.confirming += bool(self.confirming)
            if self.confirming == 4:
                raise KeyboardInterrupt

    told = audit(Mine(), [], Config(1, samples=4000), subject="mine", watcher=Impatient())
    assert told.status == "skipped"
    assert "interrupted before this claim was confirmed" in told.claims[0].method
    assert "of 1,500 on the left and 0 of 0 on the right" in told.claims[0].method
    assert told.claims[0].samples["confirmation"] == 1500


def test_another_mechanism_file_or_seed_is_another_run(folder):
    def run(*more):
        return subprocess.run(
            [*command(folder, *more)], cwd=folder, capture_output=True, text=True, check=False
        )

    assert run("--samples", "50").returncode in (0, 1)
    (folder / "mine.py").write_text(MECHANISM.replace("SLOW", "0.5"))
    ran = run("--samples", "50")
    assert ran.returncode == 2
    assert "was begun with mechanism (digest of its source)" in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--backend", "spark"], "--backend spark: known are loky"),
        (["--backend", "dask"], "needs --scheduler"),
        (["--scheduler", "tcp://localhost:1"], "--scheduler is for --backend dask"),
        (
            ["--backend", "dask", "--scheduler", "tcp://localhost:1", "--jobs", "2"],
            "leave --jobs out",
        ),
    ],
)
def test_backends_that_cannot_be_had(folder, monkeypatch, capsys, more, words):
    from pdpaudit.cli import main

    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as caught:
        main(["audit", "SFS", "--samples", "10", *more])
    assert caught.value.code == 2
    assert words in capsys.readouterr().err
