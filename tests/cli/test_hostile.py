"""Names from a file are text on a terminal: they move nothing, colour nothing, fill nothing."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from pdpaudit.cli.output import console

from .conftest import Ran, Run

pytestmark = pytest.mark.usefixtures("few_graphs", "few_moves")

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "override": "gpj.\u202eexe",
    "isolate": "a\u2066b\u2069\u200f",
    "hebrew": "\u05d3\u05e0\u05d9",
    "emoji": "\U0001f469\u200d\U0001f52c",
    "long": "x" * 10_000,
    "words": "y " * 5_000,
    "formula": '=HYPERLINK("http://x.example","a")',
    "colour": "ann\x1b[31m red",
    "clear": "\x1b[2J\x1b[H\x9b2J\x07",
    "title": "\x1b]0;owned\x07",
    "markup": "[bold red]b[/] [link=http://x.example]c[/link] :tada:",
    "surrogates": "\ufeff\u2028line",
}


def harmless(ran: Ran) -> None:
    """Refuse what acts on a terminal, and lines that are endless."""
    for text in (ran.out, ran.err):
        for one in text:
            assert one == "\n" or (ord(one) >= 0x20 and not 0x7F <= ord(one) <= 0x9F), repr(one)
        for mark in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u2028":
            assert mark not in text
        assert "x" * 200 not in text
        assert len(text) < 20_000
    for line in ran.out.splitlines():
        assert cell_len(line) <= 80, line
    assert "\U0001f389" not in ran.out, "a name is not markup"
    assert "Traceback" not in ran.err


def write(names: list[str]) -> None:
    """Write a ring of people, with these names for targeted and protected ones."""
    people = [*names, "p", "q", "r", "s", "t"][:5]
    kinds = ["target", "protected", "target", "protected", "target"]
    with Path("edges.csv").open("w", newline="", encoding="utf-8") as file:
        ties = [[one, people[i - 1]] for i, one in enumerate(people)]
        csv.writer(file).writerows([["source", "target"], *ties])
    with Path("nodes.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "label"], *zip(people, kinds, strict=True)])


ON_NETWORK = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--seed", "1")


#: What acts in more than one way is tried in every command by default, the others with --slow.
ALWAYS = ("override", "long", "colour", "markup", "surrogates")


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[] if kind in ALWAYS else pytest.mark.slow) for kind in HOSTILE],
)
def test_a_person_with_such_a_name(run: Run, kind: str) -> None:
    name = HOSTILE[kind]
    write([name, f"{name} again"])  # targeted, and a seed; protected, and rewired
    ran = run("audit", "PTarget:main-text", *ON_NETWORK, "--exposure", "--json", "out.json")
    harmless(ran)
    if ran.status == 2:  # a reader may refuse the file, in one clear line
        assert ran.err.count("\n") == 1
        return
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["claims"]
    harmless(run("replay", "out.json"))
    harmless(run("check", "CN", "--select", "own-network", *ON_NETWORK))
    harmless(run("simulate", "PTarget", *ON_NETWORK, "--runs", "2", "--jobs", "1"))


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_request_with_such_a_name(run: Run, kind: str) -> None:
    name = HOSTILE[kind]
    for arguments in (
        ("audit", name),
        ("audit", "SFS", "--observe", name),
        ("audit", "SFS", *ON_NETWORK, "--seeds", name),
        ("audit", "SFS", *ON_NETWORK, "--label-column", name),
        ("check", name),
        ("check", "CN", "--select", name),
        ("claims", "--select", name),
        ("replay", name[:200]),
        ("report", name[:200]),
        ("report", "nodes.csv", "--format", name),
    ):
        ran = run(*arguments)
        assert ran.status == 2
        harmless(ran)


#: The audit whose result is poisoned, run once.
RESULT: list[str] = []


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_result_that_holds_such_a_name(run: Run, kind: str) -> None:
    """Somebody else's file, replayed."""
    if not RESULT:
        write(["a"])
        run("audit", "PTarget:main-text", *ON_NETWORK, "--json", "out.json", "-q")
        RESULT.append(Path("out.json").read_text(encoding="utf-8"))

    def poisoned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: poisoned(one) for key, one in value.items()}
        if isinstance(value, list):
            return [poisoned(one) for one in value]
        return HOSTILE[kind] if isinstance(value, str) and value != body["format"] else value

    body = json.loads(RESULT[0])
    Path("bad.json").write_text(json.dumps(poisoned(body)), encoding="utf-8")
    harmless(run("replay", "bad.json"))


def test_a_path_is_printed_whole_to_be_copied(capsys: pytest.CaptureFixture[str]) -> None:
    path = "folder/" * 30 + "a\x1b.json"
    console().print(f"written to {path}", markup=False, soft_wrap=True)
    assert capsys.readouterr().out == f"written to {'folder/' * 30}a\u241b.json\n"
