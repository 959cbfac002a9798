"""Every wrong request gets one line that says what to do, and exit status 2."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import EDGES, NODES, Run

ON_NETWORK = ("--edges", "edges.csv", "--nodes", "nodes.csv")
FEW = ("--samples", "100", "--seed", "1")


def refused(run: Run, *arguments: str, words: tuple[str, ...]) -> None:
    """Check that a request ends with status 2 and one line that has these words."""
    ran = run("audit", *arguments)
    assert ran.status == 2
    assert ran.err.count("\n") == 1, ran.err
    assert "Traceback" not in ran.err
    for word in words:
        assert word in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("Nonesuch",), ("unknown mechanism 'Nonesuch'", "pdpaudit list")),
        (("PTargt",), ("did you mean PTarget",)),
        (("PTarget:maintext",), ("PTarget:main-text",)),
        (("nowhere.py:Thing",), ("nowhere.py", "no such file")),
        (("PTarget", "--epsilon", "0"), ("epsilon",)),
        (("PTarget", "--epsilon", "-1"), ("epsilon",)),
        (("PTarget", "--epsilon", "nan"), ("epsilon",)),
        (("PTarget", "--epsilon", "inf"), ("epsilon",)),
        (("PTarget", "--epsilon", "much"), ("--epsilon", "valid number", "pdpaudit audit --help")),
        (("PTarget", "--components", "0"), ("components",)),
        (("PTarget", "--stop", "-1"), ("stop",)),
        (("PTarget", "--delta", "1"), ("delta",)),
        (("PTarget", "--sop", "CM"), ("statistic 'CM'", "CN")),
        (("PTarget", "--max-degree", "0"), ("--max-degree 0",)),
        (("SFS", "--epsilon", "1"), ("SFS takes no --epsilon", "--claim, such as eps=1")),
        (("SFS", "--sop", "CN"), ("SFS takes no --sop; leave it out",)),
        (("json:dumps",), ("a function has no pairs to try", "pdpaudit.audit(")),
        (("SFS", "--with", "eps=1"), ("--with eps", "SFS takes no eps; it takes none")),
        (("PTarget", "--with", "depth=1"), ("PTarget takes no depth; it takes sop, epsilon",)),
        (("PTarget", "--with", "epsilon"), ("--with epsilon", "NAME=VALUE")),
        (("PTarget", "--with", "a b=1"), ("--with a b=1", "NAME=VALUE")),
        (("PTarget", "--with", "epsilon={1}"), ("--with epsilon={1}", "a number, a text")),
        (("PTarget", "--with", "epsilon=1", "--epsilon", "2"), ("--epsilon is given too",)),
        (("SFS", "--confidence", "0"), ("--confidence 0",)),
        (("SFS", "--confidence", "1"), ("--confidence 1",)),
        (("SFS", "--confidence", "nan"), ("--confidence nan",)),
        (("SFS", "--samples", "0"), ("--samples 0",)),
        (("SFS", "--samples", "-5"), ("--samples -5",)),
        (("SFS", "--samples", "many"), ("--samples", "valid integer")),
        (("SFS", "--seed", "-1"), ("--seed -1",)),
        (("SFS", "--jobs", "0"), ("--jobs 0",)),
        (("SFS", "--method", "guess"), ("guess", "clopper-pearson")),
        (("SFS", "--nonsense"), ("--nonsense", "--help")),
        (("SFS", "--nodes", "nodes.csv"), ("--edges",)),
        (("SFS", "--json", "no/such/folder/out.json"), ("no/such/folder", "does not exist")),
        (("SFS", "--json", "."), (".", "is a folder")),
        (("SFS", "--edges", "missing.csv"), ("missing.csv",)),
        (("SFS", "--edges", "."), (".",)),
        (("SFS", "--edges", "edges.csv"), ("--nodes", "--infect")),
        (("SFS", "--edges", "edges.csv", "--infect", "1,2"), ("--infect 1,2", "0.3,0.3,4")),
        (("SFS", "--edges", "edges.csv", "--infect-from", "ann"), ("--infect-from",)),
        (
            ("SFS", "--edges", "edges.csv", "--infect", ".5,.5,2", "--infect-from", "zoe"),
            ("zoe",),
        ),
        (("SFS", *ON_NETWORK, "--label-column", "rank"), ("rank", "label")),
        (
            ("SFS", *ON_NETWORK, "--infect", ".5,.5,2", "--label-column", "rank"),
            ("--infect", "--label-column"),
        ),
        (("SFS", *ON_NETWORK, "--targeted-value", "enemy"), ("enemy", "target")),
        (("SFS", *ON_NETWORK, "--seeds", "bob"), ("'bob'", "protected")),
        (("SFS", *ON_NETWORK, "--seeds", "zoe"), ("zoe",)),
        (("SFS", *ON_NETWORK, "--max-degree", "2"), ("--max-degree 2", "'person 1'")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_wrong_arguments(run: Run, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    refused(run, *arguments, words=words)


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (b"", ("edges.csv",)),
        (b"# nothing\n", ("edges.csv",)),
        (bytes(range(256)) * 9, ("edges.csv",)),
        (gzip.compress(EDGES.encode() * 99)[:-40], ("edges.csv", "gzip")),
        (EDGES.encode() + b"fred\n", ("edges.csv", "line 7")),
        (EDGES.replace("bob,cat,2", "bob,cat,lots").encode(), ("line 3", "lots")),
        (EDGES.replace("bob,cat,2", "bob,cat,nan").encode(), ("line 3",)),
        (EDGES.replace("bob,cat,2", "bob,cat,-2").encode(), ("line 3",)),
        (EDGES.encode() + b"fred,ann,1\n", ("fred", "nodes.csv")),
    ],
    ids=[
        "empty",
        "only comments",
        "binary",
        "truncated gzip",
        "one column",
        "text weight",
        "nan weight",
        "negative weight",
        "unknown vertex",
    ],
)
def test_wrong_edges(run: Run, edges: bytes, words: tuple[str, ...]) -> None:
    Path("edges.csv").write_bytes(edges)
    refused(run, "SFS", *ON_NETWORK, words=words)


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (NODES.replace("target", "protected"), ("target",)),
        (NODES.replace("protected", "target"), ("nodes.csv", "no protected vertex to rewire")),
        (NODES.replace("bob,protected\n", "bob,\n"), ("line 3",)),
        (NODES + "bob,target\n", ("bob",)),
        ("id,label\nx,target\ny,protected\n", ("nodes.csv",)),
    ],
    ids=["nobody targeted", "all targeted", "no label", "two labels", "other people"],
)
def test_wrong_nodes(run: Run, nodes: str, words: tuple[str, ...]) -> None:
    Path("nodes.csv").write_text(nodes)
    refused(run, "SFS", *ON_NETWORK, words=words)


def test_a_mechanism_that_claims_nothing(run: Run) -> None:
    Path("mine.py").write_text(
        "class Mine:\n    def run(self, instance, rng):\n        return ()\n"
    )
    refused(run, "mine.py:Mine", words=("mine.py:Mine", "claim"))


def test_a_thing_that_is_no_mechanism(run: Run) -> None:
    Path("mine.py").write_text("Mine = 3\n")
    refused(run, "mine.py:Mine", words=("mine.py:Mine", "run"))


def test_a_file_that_fails_on_import_shows_its_own_traceback(run: Run) -> None:
    Path("broken.py").write_text("import math\n\nmath.nonsense()\n")
    ran = run("audit", "broken.py:Mine")
    assert ran.status == 2
    assert "math.nonsense()" in ran.err
    assert "broken.py" in ran.err.splitlines()[-1]
    assert "pdpaudit/" not in ran.err


def test_nothing_is_written_when_the_request_fails(run: Run) -> None:
    refused(run, "SFS", *ON_NETWORK, *FEW, "--seeds", "bob", "--json", "out.json", words=("bob",))
    assert not list(Path().glob("*out.json*"))


def test_a_result_that_cannot_be_written_is_refused_before_the_work(run: Run) -> None:
    Path("kept.json").write_text("{}")
    refused(run, "SFS", "--json", "kept.json/x.json", words=("kept.json",))
    assert Path("kept.json").read_text() == "{}"


def test_a_package_that_is_missing_is_to_be_installed(run: Run) -> None:
    Path("broken.py").write_text("import yaml_of_nobody.loader\n")
    last = run("audit", "broken.py:Mine").err.splitlines()[-1]
    assert "yaml_of_nobody is not installed: run `pip install yaml_of_nobody`" in last
    assert "fix the file" not in last
    Path("wrong.py").write_text("import math.nothing\n")
    assert "fix the file" in run("audit", "wrong.py:Mine").err.splitlines()[-1]


def test_a_statistic_without_parentheses_is_shown_its_declarations(run: Run) -> None:
    Path("mine.py").write_text("from pdpaudit import statistic\n@statistic\ndef f(g, v, t): ...\n")
    last = run("check", "mine.py:f").err.splitlines()[-1]
    assert "@statistic(sensitivity=..., impact_cardinality=...)" in last


def test_a_run_that_always_fails_is_shown_with_its_line_once(run: Run) -> None:
    Path("mine.py").write_text(
        "from pdpaudit import PrivacyClaim\n"
        "class Mine:\n"
        "    claim = PrivacyClaim(1.0)\n"
        "    def pairs(self):\n"
        "        return [(1, 2)]\n"
        "    def run(self, instance, rng):\n"
        "        return instance.nothing\n"
    )
    ran = run("audit", "mine.py:Mine", *FEW)
    shown = " ".join(ran.out.split())
    assert ran.status == 2
    assert shown.count("AttributeError") == 1
    assert "has no attribute 'nothing' (mine.py:7, `return instance.nothing`)" in shown


def test_a_mistyped_file_is_refused_before_anything_else_is_imported() -> None:
    program = (
        "import sys; from pdpaudit.cli import main\n"
        "try: main(['audit', 'nowhere.py:Mine'])\n"
        "except SystemExit as left: print(left.code, {'numpy', 'typer', 'rich'} & {*sys.modules})"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == "2 set()\n"
    assert ran.stderr == "pdpaudit: nowhere.py: no such file; check the path before the colon\n"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("0.5", 0.5),
        ("[1, 2]", [1, 2]),
        ("(1, 2)", [1, 2]),
        ("True", True),
        ("false", False),
        ("much", "much"),
        ("1e999", "1e999"),
        ("a=b", "a=b"),
        ("'3'", "3"),
    ],
)
def test_any_argument_can_be_given_and_is_kept(run: Run, given: str, kept: object) -> None:
    Path("mine.py").write_text(
        "from pdpaudit import PrivacyClaim\n"
        "class Mine:\n"
        "    claim = PrivacyClaim(1.0)\n"
        "    def __init__(self, level=None):\n"
        "        self.level = level\n"
        "    def pairs(self):\n"
        "        return [(1, 2)]\n"
        "    def run(self, instance, rng):\n"
        "        return instance, str(self.level)\n"
    )
    options = ("--with", f"level={given}", *FEW, "--json", "out.json")
    assert run("audit", "mine.py:Mine", *options).status == 1
    [claim] = json.loads(Path("out.json").read_text())["claims"]
    assert claim["witness"]["mechanism"]["parameters"] == {"level": kept}
    assert run("replay", "out.json", "--trust").status == 0


LONG = "n" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", f"{LONG}.py:Thing"),
        ("check", f"{LONG}.py:thing"),
        ("audit", "SFS", "--json", f"{LONG}.json"),
        ("audit", "SFS", *ON_NETWORK, "--store", LONG),
        ("simulate", *ON_NETWORK, "--csv", LONG),
        ("simulate", *ON_NETWORK, "--figures", LONG),
        ("claims", "--output", LONG),
        ("report", LONG),
        ("replay", LONG),
    ],
)
def test_a_name_that_no_file_can_have_is_refused_in_a_line(run: Run, arguments: tuple[str]) -> None:
    ran = run(*arguments, *FEW[2:] * (arguments[0] == "audit"))
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert f"{'n' * 60}… (30" in ran.err
    assert os.strerror(errno.ENAMETOOLONG) in ran.err
    assert "choose another" in ran.err or "check the path" in ran.err


def test_the_longest_names_that_a_file_can_have_are_written(run: Run) -> None:
    name = f"{'n' * 240}.json"
    assert run("audit", "SFS", *ON_NETWORK, *FEW, "--json", name, "--store", "n" * 240).status < 2
    assert run("report", name, "--output", f"{'n' * 240}.html").status == 0
    assert "; choose another path" in run("report", name, "--output", f"{LONG}.md").err


def test_a_folder_that_was_deleted_is_named_as_the_cause(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    ran = run("check", "CN")
    said = "pdpaudit: the current folder no longer exists; change to another\n"
    assert (ran.status, ran.err) == (2, said)
