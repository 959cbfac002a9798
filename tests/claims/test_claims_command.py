"""The command, and the dossier that is published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pdpaudit.auditing.published_claims import audit_claims, catalogue
from pdpaudit.cli import main
from pdpaudit.replay import Terms, replay_result
from pdpaudit.report.sources import dossier, published
from pdpaudit.results.results import Result

REPORTS = Path(__file__).resolve().parents[2] / "reports"
PAPER = REPORTS / "paper"
GRAPH = [f"G{i}" for i in range(1, 41)]
#: The smaller part of the dossier, which is made again each time.
FEW = ("G3", "G8", "G13", "G19", "G33")


def _run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    return int(left.value.code or 0)


def _never(*_: Any) -> Any:
    raise AssertionError("the networks are written out")


@pytest.mark.usefixtures("few_graphs")
def test_the_same_command_writes_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written = []
    for _ in range(2):
        arguments = ["--select", "C11", "--select", "C6", "--seed", "4", "--output", "out"]
        assert _run("claims", *arguments, "--json", "result.json") == 1
        written.append([(tmp_path / "out" / name).read_bytes() for name in _files()])
    assert written[0] == written[1]
    shown = capsys.readouterr().out
    assert "C6  violated" in shown
    assert "C11 certified" in shown
    whole = json.loads((tmp_path / "result.json").read_text())
    assert whole["format"] == "pdpaudit-result/1"
    assert whole["elapsed_s"] > 0
    assert "--select C11 --select C6 --output out" in (tmp_path / "out/README.md").read_text()
    told = whole["context"]["dossier"]["made"]
    assert told == "pdpaudit claims --seed 4 --select C11 --select C6 --json result.json"
    assert _run("replay", "out/claims.json") == 0


def test_what_cannot_be_carried_out_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run("claims", "--select", "C77") == 2
    assert "no claim 'C77'" in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert _run("claims", "--select", "C11", "--output", str(tmp_path / "file")) == 2
    assert "choose another folder" in capsys.readouterr().err


def test_a_paper_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("claims", "--paper", "nobody") == 2
    assert "no paper 'nobody'; known: graph, kearns" in capsys.readouterr().err
    assert _run("claims", "--paper", "graph", "--select", "C6") == 2
    assert "no claim 'C6'; known: G1, G2" in capsys.readouterr().err


def test_another_paper_says_how_its_dossier_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["--paper", "graph", "--select", "G13", "--seed", "1", "--output", "out"]
    assert _run("claims", *arguments) == 1
    assert "composition" not in capsys.readouterr().out
    page = (tmp_path / "out/README.md").read_text()
    assert "python -m pdpaudit claims --paper graph --seed 1 --select G13 --output out" in page
    assert "Published graph mechanisms" in page
    assert "Composition of m" not in page
    assert _run("replay", "out/claims.json") == 0


def test_the_page_of_graph_mechanisms_is_made_of_the_published_numbers() -> None:
    body = json.loads((REPORTS / "graph" / "claims.json").read_text(encoding="utf-8"))
    assert published(body) == body
    said = dossier(
        Result.from_json(body, "claims.json"),
        "python -m pdpaudit claims --paper graph --seed 1 --output reports/graph",
        "python -m pdpaudit replay reports/graph/claims.json",
    )
    assert said == body["context"]["dossier"]
    assert [entry["id"] for entry in body["context"]["catalogue"]] == GRAPH


@pytest.mark.parametrize(
    "name",
    [one if one in FEW else pytest.param(one, marks=pytest.mark.slow) for one in GRAPH],
)
def test_published_numbers_of_graph_mechanisms_come_out_again(name: str) -> None:
    body = json.loads((REPORTS / "graph" / "claims.json").read_text(encoding="utf-8"))
    claims = catalogue([name], "graph")
    again = published(audit_claims(claims, body["seed"], paper="graph").to_json())
    for kind, ours in (("claims", again["claims"]), ("catalogue", again["context"]["catalogue"])):
        where = body if kind == "claims" else body["context"]
        theirs = [one for one in where[kind] if one["id"] == name]
        assert json.dumps(ours) == json.dumps(theirs)
        assert len(ours) == 1


def test_what_the_page_says_first_is_made_of_the_published_numbers() -> None:
    body = json.loads((PAPER / "claims.json").read_text(encoding="utf-8"))
    assert published(body) == body
    told = dossier(
        Result.from_json(body, "claims.json"),
        "python -m pdpaudit claims --seed 1 --output reports/paper",
        "python -m pdpaudit replay reports/paper/claims.json",
    )
    assert told == body["context"]["dossier"]
    assert [entry["id"] for entry in body["context"]["catalogue"]] == [
        f"C{i}" for i in range(1, 14)
    ]


@pytest.mark.slow
def test_published_witnesses_are_reproduced() -> None:
    body = json.loads((PAPER / "claims.json").read_text(encoding="utf-8"))
    claims = [claim for claim in body["claims"] if claim["witness"]]
    assert {claim["id"] for claim in claims} >= {"C2", "C5"}
    terms = Terms(body["seed"], "unknown", _never, complete=False)
    replays = [
        one for one in replay_result(body, "claims.json", terms) if one.reproduced is not None
    ]
    assert len(replays) >= len(claims)
    for replay in replays:
        assert replay.reproduced, f"{replay.subject}: {replay.why}"


@pytest.mark.parametrize(
    "name",
    ["C6", *(pytest.param(f"C{i}", marks=pytest.mark.slow) for i in range(1, 14) if i != 6)],
)
def test_published_numbers_come_out_again(name: str) -> None:
    body = json.loads((PAPER / "claims.json").read_text(encoding="utf-8"))
    again = published(audit_claims(catalogue([name]), body["seed"]).to_json())
    compared = 0
    for kind, key in (("claims", "id"), ("checks", "name")):
        ours = {one[key]: one for one in again.get(kind, [])}
        theirs = {one[key]: one for one in body[kind] if one[key].split()[0] == name}
        assert ours == theirs
        compared += len(ours)
    assert compared > 0


def _files() -> list[str]:
    return ["claims.json", "README.md", "index.html"]
