"""``pdpaudit simulate``: what it writes and what it refuses."""

from __future__ import annotations

import importlib.util
import json

import pytest

from pdpaudit.cli.app import main

EDGES = "source,target\n" + "\n".join(f"{a},{b}" for a in range(24) for b in (a + 1, a + 2, a + 5))
NODES = "id,label\n" + "\n".join(f"{v},{'target' if v % 7 < 2 else 'protected'}" for v in range(29))


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "nodes.csv").write_text(NODES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["simulate", *arguments])
    return ended.value.code


OWN = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--runs", "6", "--seed", "1")


def test_the_same_bytes_again_whatever_the_workers(here, capsys):
    assert run(*OWN, "--csv", "one.csv", "--json", "one.json", "--jobs", "1") == 0
    assert run(*OWN, "--csv", "two.csv", "--json", "two.json", "--jobs", "2") == 0
    assert (here / "one.csv").read_bytes() == (here / "two.csv").read_bytes()
    one, two = (json.loads((here / f"{name}.json").read_text()) for name in ("one", "two"))
    assert one["context"] == two["context"]
    assert (one["command"], one["subject"]) == ("simulate", "PTarget:main-text against Target")
    told = one["context"]["simulation"]
    assert set(told) == {
        "network", "population", "regime", "budget", "runs", "searches", "drawing",
    }  # fmt: skip
    assert [search["name"] for search in told["searches"]] == ["Target", "PTarget:main-text"]
    assert told["searches"][1]["epsilon"] == 0.05
    said = capsys.readouterr().out
    assert all(len(line) <= 80 for line in said.splitlines())
    assert "risk" in said


def test_another_variant_and_statistic_with_planted_people(here):
    asked = ("--infect", "0.5,0.3,3", "--sop", "Path_2", "--max-degree", "9", "--noise", "gumbel")
    assert run(
        "PTarget:repaired", "--edges", "edges.csv", *asked, "--runs", "3", "--seed", "2",
        "--json", "r.json", "--quiet", "--budget", "20",
    ) == 0  # fmt: skip
    told = json.loads((here / "r.json").read_text())["context"]["simulation"]
    assert told["population"] == {
        "process": "infect", "p": 0.5, "q": 0.3, "rounds": 3, "first": "whoever has most contacts",
    }  # fmt: skip
    assert told["budget"] == 20


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*OWN, "--regime", "several"), "--regime chooses the population of the embedded"),
        (("--regime", "none"), "--regime none: choose one of"),
        (("--nodes", "nodes.csv"), "give that too"),
        ((*OWN, "--budget", "0"), "--budget 0"),
        ((*OWN, "--runs", "0"), "--runs 0"),
        ((*OWN, "--epsilon", "0"), "epsilon = 0"),
        ((*OWN, "--threshold", "1"), "takes no --threshold"),
        (("Target", *OWN), "two searches are called"),
        ((*OWN, "--csv", "no/such.csv"), "does not exist"),
        ((*OWN, "--figures", "edges.csv"), "is a file"),
        ((*OWN, "--figures", "no/such"), "does not exist"),
        (("Nobody",), "unknown mechanism"),
    ],
)
def test_bad_requests_end_with_one_line(here, capsys, arguments, words):
    assert run(*arguments) == 2
    said = capsys.readouterr().err
    assert words in said
    assert len(said.strip().splitlines()) == 1


def test_figures_without_matplotlib_are_refused_before_the_work(here, capsys, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert run(*OWN, "--figures", "figures") == 2
    assert "matplotlib is not installed" in capsys.readouterr().err
    assert not (here / "figures").exists()


def test_figures_are_written_where_asked(here):
    pytest.importorskip("matplotlib")
    assert run(*OWN, "--figures", "figures", "--quiet") == 0
    assert {path.suffix for path in (here / "figures").iterdir()} == {".svg", ".png"}
