"""Every wrong request gets one line that says what to do, and exit status 2."""

from __future__ import annotations

import gzip
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
        (("SFS", "--epsilon", "1"), ("SFS takes no --epsilon",)),
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
