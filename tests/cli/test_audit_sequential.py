"""Stopping early, and by-products all at once, as a person meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run

ON_NETWORK = ("--edges", "edges.csv", "--nodes", "nodes.csv")


def test_it_says_why_it_stopped_and_how_well_an_attacker_does_and_replays(run: Run) -> None:
    command = ("audit", "zoo:SVT6", "--sequential", "--samples", "20000", "--seed", "1")
    ran = run(*command, "--json", "out.json")
    assert ran.status == 1
    shown = " ".join(ran.out.split())
    assert "of at most 20,000 runs a side: the violation was certain." in shown
    assert "Best attacker tried" in shown
    assert run("replay", "out.json").status == 0
    body = json.loads(Path("out.json").read_text())
    assert body["claims"][0]["method"] == "sequential"
    assert body["claims"][0]["samples"]["confirmation"] < 40_000
    assert set(body["claims"][0]["inference"]) >= {"advantage", "tpr_at_low_fpr", "roc"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--sequential", "--method", "betting"), "leave out --method betting"),
        (("--detect", "1.5", "--samples", "100"), "--sequential"),
        (("--quick", "--thorough"), "give one of them"),
        (("--quick", "--samples", "100"), "leave out --samples"),
        (("--method", "magic"), "clopper-pearson"),
        (("--observe", "all", "--store", "kept.db"), "name one observable"),
        (("--observe", "smell"), "queries, examined, truncated, time, representation; or all"),
    ],
)
def test_what_does_not_go_together_is_refused(
    run: Run, arguments: tuple[str, ...], words: str
) -> None:
    ran = run("audit", "SFS", *ON_NETWORK, *arguments)
    assert ran.status == 2
    assert words in " ".join(ran.err.split())


@pytest.mark.slow
def test_everything_a_search_lets_out_in_one_table(run: Run) -> None:
    """Whether the time tells is left to the machine: three other leaks are certain."""
    command = ("audit", "SFS", *ON_NETWORK, "--observe", "all", "--seed", "1")
    ran = run(*command, "--json", "out.json")
    assert ran.status == 1
    lines: dict[str, str] = {}
    for line in filter(str.strip, ran.out.splitlines()):
        lines.setdefault(line.split()[0], line)
    assert "0.000 (exact" in lines["list"]
    for what in ("queries", "examined"):
        assert "∞" in lines[what]
        assert "violated" in lines[what]
    assert "time" in lines
    assert "whatever the seed" in " ".join(ran.out.split())
    assert run("replay", "out.json").status == 0
    assert run("report", "out.json", "--output", "out.html").status == 0
    page = Path("out.html").read_text()
    assert "--observe all" in page
    assert "released" in page
