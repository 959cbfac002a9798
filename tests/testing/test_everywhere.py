"""However pytest is started, and in a project that is not ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import MECHANISM, Project, out

BODY = """
def test_fine(): assert_private(Coin(), samples=2000)
def test_leaks(): assert_private(Coin(1.0, 3.0), samples=2000)
def test_last(pdp): pdp.assert_private(Coin(2.0, 1.0), samples=2000)
"""


def events(result: pytest.RunResult) -> list[str]:
    """Return the failures' bounds and events, by which two runs are distinguished."""
    return sorted(
        line for line in result.outlines if line.startswith(("E     bound", "E     event"))
    )


#: The events of a run without options.
PLAIN: list[str] = []


@pytest.mark.parametrize(
    ("options", "outcomes"),
    [
        (["-k", "leaks"], {"failed": 1, "deselected": 2}),
        (["-x"], {"passed": 1, "failed": 1}),
        (["--import-mode=importlib", "--strict-markers"], {"passed": 2, "failed": 1}),
        *(
            pytest.param(options, {"passed": 2, "failed": 1}, marks=pytest.mark.slow)
            for options in (["-p", "no:randomly"], ["-p", "no:cacheprovider"])
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_change_no_verdict(
    project: Project, options: list[str], outcomes: dict[str, int]
) -> None:
    it = project(BODY)
    # What it says without options, found once: a test's seed is a function of its name alone.
    if not PLAIN:
        PLAIN.extend(events(it.runpytest_inprocess("-W", "ignore")))
    result = it.runpytest_inprocess("-W", "ignore", *options)
    result.assert_outcomes(**outcomes)
    assert events(result) == PLAIN
    assert len(PLAIN) == 2


def test_what_failed_last_fails_again_alike(project: Project) -> None:
    """Whole files are skipped by --lf, and the test's share must not grow by that."""
    it = project(BODY)
    project("def test_more(pdp): pass\ndef test_still(pdp): pass", name="test_other")
    first = it.runpytest_inprocess("-W", "ignore")
    again = it.runpytest_inprocess("-W", "ignore", "--lf")
    again.assert_outcomes(failed=1)
    assert events(again) == events(first)
    assert "over 10 tests, 0.5% each" in out(again)


def test_collecting_alone_writes_nothing(project: Project) -> None:
    it = project(BODY)
    it.runpytest_inprocess("--collect-only", "--pdp-baseline=b.json", "--pdp-update-baseline")
    assert not (it.path / "b.json").exists()


def test_an_interrupted_audit_interrupts_the_session(project: Project) -> None:
    it = project(
        """
        class Stopped(Coin):
            def sample(self, instance, size, rng):
                raise KeyboardInterrupt

        def test_it(): assert_private(Stopped(), samples=10)
        """
    )
    result = it.runpytest_inprocess(no_reraise_ctrlc=True)
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_a_doctest_may_audit(project: Project) -> None:
    it = project("")
    it.makepyfile(
        documented='''
        def f():
            """
            >>> from coins import ExactCoin
            >>> from pdpaudit.testing import assert_private
            >>> assert_private(ExactCoin()).status
            'not_rejected'
            """
        '''
    )
    it.runpytest_inprocess("--doctest-modules", "documented.py").assert_outcomes(passed=1)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project of its own: a package in src, tests in a folder with the same file names."""
    root = tmp_path_factory.mktemp("other")
    files = {
        "pyproject.toml": """
            [tool.pytest.ini_options]
            pythonpath = ["src"]
            addopts = ["--import-mode=importlib", "--strict-markers", "--strict-config"]
            filterwarnings = ["error"]
            pdp_confidence = "0.9"
            pdp_baseline = "losses.json"
        """,
        "src/theirs/__init__.py": "",
        "src/theirs/coins.py": MECHANISM,
        "tests/unit/test_same.py": """
            from theirs.coins import Coin, ExactCoin
            from pdpaudit.testing import assert_private
            def test_fine(): assert_private(ExactCoin(2.0, 1.0))
        """,
        "tests/privacy/test_same.py": """
            import pytest
            from theirs.coins import Coin
            from pdpaudit.testing import assert_private
            @pytest.mark.xdist_group("one")
            def test_coin(): assert_private(Coin(3.0, 0.5), samples=2000)
            @pytest.mark.parametrize("real", [0.6, 2.0])
            def test_many(pdp, real): pdp.assert_private(Coin(1.0, real), samples=2000)
        """,
        "losses.json": '{"format": "pdpaudit-baseline/1", "losses": {}}',
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = text.strip("\n").splitlines()
        shift = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
        path.write_text("\n".join(line[shift:] for line in lines) + "\n")
    return root


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", *options]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )


def failures(done: subprocess.CompletedProcess[str]) -> list[str]:
    lines = done.stdout.splitlines()
    return sorted(line for line in lines if line.startswith(("E     bound", "E     event")))


@pytest.mark.slow
def test_another_project_with_and_without_workers_and_from_below(other: Path) -> None:
    recorded = run(other, "--pdp-update-baseline")
    assert "1 failed, 3 passed" in recorded.stdout, recorded.stdout + recorded.stderr
    losses = (other / "losses.json").read_text()
    assert losses.count('"loss"') == 3

    alone = run(other)
    assert "at most 10% over 10 tests, 1% each; the 1 exact one" in alone.stdout, alone.stdout
    assert "baseline losses.json: 3 compared, none grew; 1 not in it" in alone.stdout
    shared = run(other, "-n", "2", "--dist", "loadgroup", "--junitxml=out.xml")
    assert "1 failed, 3 passed" in shared.stdout, shared.stdout + shared.stderr
    assert failures(shared) == failures(alone) != []
    assert "4 claims audited: 1 violated, 3 not rejected" in shared.stdout
    assert "3 compared, none grew; 1 not in it" in shared.stdout
    assert 'name="pdp_bound"' in (other / "out.xml").read_text()

    below = run(other / "tests" / "privacy")
    assert "1 failed, 2 passed" in below.stdout, below.stdout
    assert failures(below) == failures(alone)
    assert "replay  pytest 'test_same.py::test_many[2.0]'" in below.stdout or (
        "replay  pdpaudit replay " in below.stdout
    )

    again = run(other, "-n", "2", "--pdp-update-baseline")
    assert "1 failed, 3 passed" in again.stdout, again.stdout + again.stderr
    assert (other / "losses.json").read_text() == losses
