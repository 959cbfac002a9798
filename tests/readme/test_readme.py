"""Every output the README shows is what its command prints, and its two commands are CI's."""

from __future__ import annotations

import re

import pytest

from .examples import EXAMPLE, README, folder_of, printed

TEXT = README.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("command", "shown"), EXAMPLE.findall(TEXT), ids=lambda text: text[:40])
def test_what_is_shown_is_what_is_printed(command: str, shown: str) -> None:
    with folder_of(TEXT):
        assert printed(command) == shown


def test_it_opens_with_one_sentence_and_two_commands() -> None:
    title, sentence, commands = TEXT.split("\n\n")[:3]
    assert title == "# pdpaudit"
    assert sentence.count(".") == 1
    assert len(commands.strip("`sh\n").splitlines()) == 2


def test_ci_runs_the_commands_it_gives() -> None:
    ci = (README.parent / ".ci" / "run").read_text(encoding="utf-8")
    commands = re.findall(r"pip install [^&\n]+|python -m pytest[^&\n]*", TEXT.split("\n\n")[2])
    assert [command.split()[0] for command in commands] == ["pip", "pip", "python"]
    for command in commands:
        assert command.strip() in ci
