"""What the commands print, as it was when it was last looked at: narrow, wide and in colour.

To accept a change: PDPAUDIT_UPDATE_SNAPSHOTS=1 python -m pytest tests/cli/test_snapshots.py
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.text import Text

from .conftest import Ran, Run

FOLDER = Path(__file__).parent / "snapshots"

MINE = """
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.core.statistic import statistic


@statistic(sensitivity=0, impact_cardinality=lambda d: 2 * d + 1)
def closeness(graph, vertex, targets):
    around = {other for target in targets for other in graph[target]}
    return len(around & set(graph[vertex]))


class Popular:
    claim = PrivacyClaim(0.0, source="its author, in a note that is longer than most notes are")

    def run(self, instance, rng):
        ranked = sorted(instance.graph, key=instance.graph.degree, reverse=True)
        return tuple(v for v in ranked if instance.oracle(v))


class Careless:
    claim = PrivacyClaim(1.0)

    def run(self, instance, rng):
        return instance.nothing
"""

ON_NETWORK = ("--edges", "edges.csv", "--nodes", "nodes.csv")
SEEDED = ("--seed", "1")
CHECKED = ("finite", "targeted-sensitivity", "impact-cardinality", "tightness", "own-network")
FEW_CHECKS = (
    *(word for name in CHECKED for word in ("--select", name)),
    *("--max-vertices", "4", "--examples", "40", "--jobs", "1"),
)

#: Whole commands, by the name of their snapshot; the status each ends with.
CASES: dict[str, tuple[int, tuple[str, ...]]] = {
    "audit-violated": (1, ("audit", "PTarget:main-text", *ON_NETWORK, *SEEDED)),
    "audit-proved": (1, ("audit", "PTarget:main-text", *ON_NETWORK, "--prove", *SEEDED)),
    "audit-sampled": (
        1,
        ("audit", "mine.py:Popular", *ON_NETWORK, "--samples", "2000", "--jobs", "1", *SEEDED),
    ),
    "audit-not-rejected": (0, ("audit", "PTarget:repaired", *ON_NETWORK, *SEEDED)),
    "audit-inconclusive": (
        0,
        ("audit", "PTarget:repaired", *ON_NETWORK, "--samples", "60", "--jobs", "1", *SEEDED),
    ),
    "audit-exposure": (
        0,
        ("audit", "PTarget:repaired", *ON_NETWORK, "--max-degree", "4", "--exposure", *SEEDED),
    ),
    "audit-own-pairs": (0, ("audit", "zoo:Laplace", "--samples", "500", "--jobs", "1", *SEEDED)),
    "check-holds": (0, ("check", "CN", *FEW_CHECKS, *SEEDED)),
    "check-broken": (1, ("check", "mine.py:closeness", *FEW_CHECKS, *SEEDED)),
    "claims": (1, ("claims", "--select", "C6", *SEEDED)),
    "simulate": (
        0,
        ("simulate", "PTarget:repaired", *ON_NETWORK, "--runs", "20", "--jobs", "1", *SEEDED),
    ),
    "list": (0, ("list",)),
}

COMMANDS = ("audit", "check", "claims", "simulate", "replay", "report", "list")
HELPS = ((), *((name,) for name in COMMANDS))

ERRORS = (
    ("audit",),
    ("adit", "SFS"),
    ("audit", "PTargt"),
    ("audit", "Quantum"),
    ("audit", "CN"),
    ("audit", "mine.py"),
    ("audit", "mine.py:Populr"),
    ("audit", "mine.py:Careless", *ON_NETWORK, "--samples", "20"),
    ("audit", "SFS", "--edges", "missing.csv"),
    ("audit", "SFS", "--edges", "."),
    ("audit", "SFS", "--edges", "edges.csv"),
    ("audit", "SFS", "--nodes", "nodes.csv"),
    ("audit", "SFS", *ON_NETWORK, "--targeted-value", "enemy"),
    ("audit", "SFS", "--json", "no/such/out.json"),
    ("audit", "SFS", "--samples", "many"),
    ("audit", "SFS", "--sampels", "100"),
    ("audit", "SFS", "--observe", "memory"),
    ("audit", "SFS", "--exposure"),
    ("check", "CNN"),
    ("check", "PTarget"),
    ("check", "mine.py:"),
    ("check", "CN", "--select", "sensitivity"),
    ("check", "CN", "--max-vertices", "12"),
    ("check", "CN", "--expect-failure", "tightness"),
    ("claims", "--select", "C77"),
    ("replay",),
    ("replay", "missing.json"),
    ("replay", "nodes.csv"),
    ("replay", "."),
    ("report", "missing.json"),
    ("report", "nodes.csv"),
    ("report", "out.json", "-o", "out.pdf"),
    ("report", "out.json", "-o", "no/such/out.html"),
)


def masked(text: str) -> str:
    """Take out what differs from one machine to the next, and the blanks that end a line."""
    text = text.replace(str(Path.cwd()), "HERE")
    text = re.sub(r"(?<=, seed )\d{2,}$", "DRAWN", text, flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in text.splitlines())


UPDATING = bool(os.environ.get("PDPAUDIT_UPDATE_SNAPSHOTS"))
WIDTHS = (80, 140)


def compare(name: str, text: str, *, narrow_only: bool = False) -> None:
    path = FOLDER / f"{name}.txt"
    if UPDATING:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    assert text == (kept.partition(f"\n{WIDTHS[1]} columns\n")[0] if narrow_only else kept)


def check_width(text: str, width: int) -> None:
    """Refuse a line that a terminal of this width would break; help is never wider than 80."""
    for line in text.splitlines():
        assert cell_len(Text.from_ansi(line).plain) <= width, line


def shown(arguments: tuple[str, ...], ran: Ran) -> str:
    said = masked(ran.out) + ("\n" if ran.out and ran.err else "") + masked(ran.err)
    return f"$ pdpaudit {' '.join(arguments)}\n{said}\n[{ran.status}]\n"


@pytest.fixture
def mine(run: Run) -> Run:
    Path("mine.py").write_text(MINE)
    return run


@pytest.mark.parametrize("name", CASES)
def test_a_command_prints_what_it_did(
    name: str,
    mine: Run,
    monkeypatch: pytest.MonkeyPatch,
    repetitions: Callable[[int, int], int],
) -> None:
    """Each command is run once by default, on a narrow terminal; with --slow on a wide one too."""
    status, arguments = CASES[name]
    texts = []
    widths = WIDTHS if UPDATING else WIDTHS[: repetitions(1, 2)]
    for width in widths:
        monkeypatch.setenv("COLUMNS", str(width))
        ran = mine(*arguments)
        assert ran.status == status, ran.err
        assert ran.err == ""
        assert "\x1b" not in ran.out
        check_width(ran.out, width)
        texts.append(f"{width} columns\n{shown(arguments, ran)}")
    compare(name, "\n".join(texts), narrow_only=len(widths) == 1)


def test_a_table_uses_the_width_there_is(mine: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _, arguments = CASES["audit-exposure"]
    whole = "tied to a target found and 1 left to find"
    assert whole not in mine(*arguments).out
    monkeypatch.setenv("COLUMNS", "140")
    [row] = [line for line in mine(*arguments).out.splitlines() if line.startswith("person 3")]
    assert whole in row


def test_a_result_is_written_replayed_and_reported(mine: Run) -> None:
    texts = []
    for arguments, status in (
        (("audit", "PTarget:main-text", *ON_NETWORK, *SEEDED, "--json", "out.json"), 1),
        (("replay", "out.json"), 0),
        (("report", "out.json"), 0),
        (("report", "out.json", "-o", "out.md", "--quiet"), 0),
    ):
        ran = mine(*arguments)
        assert ran.status == status, ran.err
        check_width(ran.out, 80)
        texts.append(shown(arguments, ran))
    compare("written", "\n".join(texts))


def test_every_help_is_what_it_was(mine: Run) -> None:
    texts = []
    for command in HELPS:
        ran = mine(*command, "--help")
        assert ran.status == 0
        check_width(ran.out, 80)
        texts.append(shown((*command, "--help"), ran))
    compare("help", "\n".join(texts))


def test_every_complaint_is_what_it_was(mine: Run) -> None:
    Path("out.json").write_text('{"format": "pdpaudit-result/1", "command": "audit", "seed": 1}')
    texts = []
    for arguments in ERRORS:
        ran = mine(*arguments)
        assert ran.status == 2, arguments
        assert ran.err.startswith("pdpaudit: ") or "Careless" in str(arguments)
        texts.append(shown(arguments, ran))
    compare("errors", "\n".join(texts))


@pytest.fixture
def coloured(mine: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("COLORTERM", raising=False)
    return mine


def test_colour_says_what_is_broken_and_nothing_else(coloured: Run) -> None:
    _, arguments = CASES["audit-violated"]
    text = coloured(*arguments).out
    compare("coloured", masked(text).replace("\x1b", "ESC") + "\n")
    colours = set(re.findall(r"\x1b\[([\d;]*3\d)m", text))
    assert colours == {"1;31"}
    assert re.findall(r"\x1b\[1;31m(.*?)\x1b", text) == ["violated"]
    _, holds = CASES["audit-not-rejected"]
    assert not re.search(r"\x1b\[[\d;]*3\dm", coloured(*holds).out)


def test_no_colour_where_none_is_wanted(coloured: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    _, arguments = CASES["audit-violated"]
    assert not re.search(r"\x1b\[[\d;]*3\dm", coloured(*arguments).out)
