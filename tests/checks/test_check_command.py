"""``pdpaudit check``: exit statuses, what is said, and how naming a statistic goes wrong."""

from __future__ import annotations

import json

import pytest

from pdpaudit.checks import check_names
from pdpaudit.cli import main

MINE = """
from pdpaudit.core.statistic import statistic

@statistic(sensitivity=0, impact_cardinality=99)
def degree(graph, vertex, targets):
    return graph.degree(vertex)

@statistic(sensitivity=0, impact_cardinality=1)
def friends(graph, vertex, targets):
    return sum(other in targets for other in graph[vertex])

def plain(graph, vertex, targets):
    return 0

@statistic(sensitivity="many", impact_cardinality=1)
def nonsense(graph, vertex, targets):
    return 0

number = 3
"""
QUICK = ["--seed", "1", "--jobs", "1", "--max-vertices", "4", "--examples", "100"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "torn.py").write_text("import no_such_module_anywhere\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(["check", *arguments])
    out, err = capsys.readouterr()
    return left.value.code, out, err


def test_a_violation_exits_1_and_fits_a_screen(here, capsys):
    code, out, _ = run(["mine.py:degree", *QUICK, "--json", "r.json"], capsys)
    assert code == 1
    assert "declared 0, but vertex 0 moves by 1" in " ".join(out.split())
    assert "rewired: 1" in out
    assert "pdpaudit replay r.json" in out
    assert len(out.splitlines()) <= 50
    body = json.loads((here / "r.json").read_text())
    assert body["status"] == "violated"
    assert [check["name"] for check in body["checks"]] == list(check_names())
    for check in body["checks"]:
        assert {"declared", "observed", "exact", "scope", "detail", "witness"} <= set(check)
    with pytest.raises(SystemExit) as left:
        main(["replay", "r.json", "--trust"])
    assert left.value.code == 0
    assert "targeted-sensitivity: reproduced: declared 0, found 1" in capsys.readouterr().out


def test_a_statistic_whose_bounds_hold_exits_0(here, capsys):
    code, out, _ = run(["mine.py:friends", *QUICK], capsys)
    assert code == 0
    assert "certified" in out
    assert "every labelled network up to 4 vertices" in " ".join(out.split())


def test_select_skip_and_expect(here, capsys):
    arguments = ["--select", "targeted-sensitivity", "--select", "finite", "--skip", "finite"]
    reason = ["--expect-failure", "targeted-sensitivity=on purpose"]
    code, out, _ = run(["mine.py:degree", *QUICK, *arguments, *reason], capsys)
    assert code == 0
    assert "skipped by name" in out
    assert "expected failure (on purpose)" in out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent.py:degree", "no such file"),
        ("mine.py:degre", "did you mean degree"),
        ("torn.py:anything", "no_such_module_anywhere"),
        ("mine.py:number", "cannot be called"),
        ("mine.py:plain", "declares no sensitivity"),
        ("mine.py:nonsense", "declare a number"),
    ],
)
def test_what_goes_wrong_exits_2_and_says_what_to_do(here, capsys, name, words):
    code, _, err = run([name, *QUICK], capsys)
    assert code == 2
    assert words in err
    # The traceback is the user's own, and only where their file failed.
    assert ("Traceback" in err) == (name == "torn.py:anything")


@pytest.mark.parametrize(
    "wrong",
    [
        ["--select", "nonsense"],
        ["--max-vertices", "9"],
        ["--time-limit", "0"],
        ["--expect-failure", "finite"],
        ["--edges", "absent.csv"],
        ["--nodes", "absent.csv"],
        ["--json", "no/such/folder/r.json"],
    ],
)
def test_impossible_options_exit_2(here, capsys, wrong):
    code, _, err = run(["mine.py:friends", *QUICK, *wrong], capsys)
    assert code == 2
    assert err.startswith("pdpaudit: ")
    assert "Traceback" not in err


def test_on_ones_own_network(here, capsys):
    (here / "edges.csv").write_text("a,b\nb,c\nc,d\nd,a\na,e\n")
    (here / "nodes.csv").write_text("id,label\na,target\nb,other\nc,target\nd,other\ne,other\n")
    network = ["--edges", "edges.csv", "--nodes", "nodes.csv", "--max-degree", "3"]
    code, out, _ = run(["CN", *QUICK, *network, "--select", "own-network"], capsys)
    assert code == 0
    assert "rewiring" in out
    code, _, err = run(["CN", *QUICK, *network[:-1], "1"], capsys)
    assert code == 2
    assert "--max-degree 1: the network has a vertex of degree 3; give 3 or more" in err
