"""The examples below each command's help run, as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pdpaudit.cli.app import app

from .conftest import Run

COMMANDS = sorted(str(command.name) for command in app.registered_commands)

#: Audits all claims of the paper, which takes minutes; the claims have tests of their own.
LONG = {"pdpaudit claims --seed 1 --output reports/paper"}

FILES = {
    "my_sop.py": """
from pdpaudit.core.statistic import statistic


@statistic(sensitivity=1, impact_cardinality=lambda d: 2 * d + 1)
def closeness(graph, vertex, targets):
    around = {other for target in targets for other in graph[target]}
    return len(around & set(graph[vertex]))
""",
    "my_search.py": """
from pdpaudit.core.protocols import PrivacyClaim


class Search:
    claim = PrivacyClaim(0.0, source="its author")

    def run(self, instance, rng):
        return tuple(v for v in sorted(instance.graph) if instance.oracle(v))
""",
}


def examples(text: str) -> list[str]:
    """Return the commands a help text shows at its end."""
    return re.findall(r"^\s*(pdpaudit .*)$", text.partition("Examples:")[2], re.MULTILINE)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=[] if name in ("list", "replay", "report") else pytest.mark.slow)
        for name in COMMANDS
    ],
)
def test_the_examples_of_a_command_run(command: str, run: Run) -> None:
    for name, text in FILES.items():
        Path(name).write_text(text)
    small = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--seed", "1", "-q")
    for name in ("result.json", "a.json", "b.json"):
        assert run("audit", "PTarget:main-text", *small, "--json", name).status == 1
    shown = examples(run(command, "--help").out)
    assert shown
    for example in shown:
        if example not in LONG:
            ran = run(*shlex.split(example)[1:])
            # Nothing violated, or a violation found.
            assert ran.status in (0, 1), f"{example}: {ran.err}"
            assert ran.out


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=" ".join)
def test_help_tells_all_and_promises_nothing_else(command: tuple[str, ...], run: Run) -> None:
    ran = run(*command, "-h")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == run(*command, "--help").out
    # Every option has words of its own.
    said = ran.out.partition("\nOptions:\n")[2].partition("\n\n")[0]
    lines = said.split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if re.match(r"  -", line):
            assert re.search(r"\S  +\S", line) or following.startswith(" " * 8), line


def test_the_list_of_commands_cuts_no_sentence(run: Run) -> None:
    assert "..." not in run("--help").out.partition("Commands:")[2]
