"""What the benchmark's dossier says first is what its script makes of its rows."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from pdpaudit.report.sources import read_source

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "reports" / "benchmark"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "benchmarks"))
    return importlib.import_module("bench_auditor")


@pytest.fixture
def body() -> Any:
    return json.loads((FOLDER / "auditor.json").read_text(encoding="utf-8"))


def test_the_table_is_made_of_the_rows(script: Any, body: Any) -> None:
    rows = body["context"]["rows"]
    assert script.dossier(rows, body["context"]["machine"]) == body["context"]["dossier"]
    assert [(row["mechanism"], row["epsilon"]) for row in rows] == script.rows()
    # The verdicts are those of the rows, one by one.
    bounds = [round(claim["lower_bound"], 4) for claim in body["claims"]]
    assert bounds == [row["bounds"][0] for row in rows]
    assert [claim["id"] for claim in body["claims"]] == [script.row_name(row) for row in rows]


def test_the_files_are_written_as_the_script_writes_them(
    script: Any, body: Any, tmp_path: Path
) -> None:
    claims, kept = list(read_source(FOLDER / "auditor.json").result.claims), body["context"]
    again = script.result(claims, kept["rows"], kept["machine"], kept.get("measured"))
    script.write(tmp_path, again)
    for file in tmp_path.iterdir():
        assert file.read_bytes() == (FOLDER / file.name).read_bytes(), file.name


def test_what_is_missed_is_shown(script: Any) -> None:
    row = {
        "mechanism": "SVT1", "epsilon": 0.1, "true": None, "bound": 0.1, "to_beat": 0.2,
        "same_draws": 0.15, "pair_given": 0.3,
        "oracle": 0.5, "oracle_pair": "a", "share": 0.2, "draws": 1000, "pairs": ["b"],
        "above_truth": 0, "best_on_pairs": [0.25],
    }  # fmt: skip
    shown = script.dossier([row], [])["sections"][0]
    assert shown["tables"][0]["rows"][0][-1] == "missed"
    [point] = shown["points"]
    assert point.startswith("SVT1 at ε = 0.1: bound below the one to beat; 20% of the oracle")
    met = script.dossier([row | {"bound": 0.5, "share": 1.0}], [])["sections"][0]
    assert "points" not in met


@pytest.mark.parametrize(
    ("name", "epsilon"),
    [
        ("Laplace", 0.1),
        *(
            pytest.param(name, epsilon, marks=pytest.mark.slow)
            for name, epsilon in (("ReportNoisyMax3", 1.0), ("SVT4", 1.0), ("Rappor", None))
        ),
    ],
)
def test_published_rows_come_out_again(
    script: Any, body: Any, name: str, epsilon: float | None
) -> None:
    _, row, _ = script.row_of(name, epsilon)
    published = {(row["mechanism"], row["epsilon"]): row for row in body["context"]["rows"]}
    assert row == published[name, epsilon]
