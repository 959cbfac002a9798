"""A stranger with the README gets to a red test, and to a report, in five minutes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from .five_minutes import README, SHELL, SHOWN, WORKFLOW, Step, failures, follow, section_of

TEXT = README.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Step]]:
    folder: Path = tmp_path_factory.mktemp("stranger")
    return folder, follow(TEXT, folder)


@pytest.mark.slow
def test_from_nothing_to_a_red_test_and_a_report(followed: tuple[Path, list[Step]]) -> None:
    folder, steps = followed
    tests, report = steps
    assert tests.status == 1, tests.printed  # red, and not an error of usage
    assert "my_sop.py:closeness is not what it declares" in tests.printed
    assert "my_search.py:Popular is not private as claimed" in tests.printed
    assert "2 failed" in tests.printed
    assert report.status == 0, report.printed
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "closeness" in page
    assert "Popular" in page
    assert sum(step.seconds for step in steps) < 300


@pytest.mark.slow
def test_what_the_readme_shows_of_it_is_what_is_printed(
    followed: tuple[Path, list[Step]],
) -> None:
    shown = SHOWN.search(TEXT)
    assert shown is not None
    assert failures(followed[1][0].printed) == shown[1]


@pytest.mark.slow
def test_each_failure_is_seen_again_by_its_own_command(
    followed: tuple[Path, list[Step]],
) -> None:
    folder, steps = followed
    commands = re.findall(r"^E +replay  (.*)$", steps[0].printed, re.MULTILINE)
    assert len(commands) == 2
    text = "## In your tests\n```sh\n" + "\n".join(commands) + "\n```\n## More\n"
    check, replay = follow(text, folder)
    assert check.status == 1, check.printed
    assert "violated" in check.printed
    assert replay.status == 0, replay.printed
    assert "reproduced" in replay.printed


def test_the_workflow_runs_the_same_commands() -> None:
    section = section_of(TEXT)
    workflow = WORKFLOW.search(section)
    assert workflow is not None
    runs = [shlex.split(run, comments=True) for run in re.findall(r"run: (.*)", workflow[1])]
    typed = [shlex.split(line) for block in SHELL.findall(section) for line in block.splitlines()]
    assert runs[0][:2] == ["pip", "install"]
    for run, line in zip(runs[1:], typed, strict=True):
        assert run[: len(line) - 1] == line[:-1]
    assert "\t" not in workflow[1]
