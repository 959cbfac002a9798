"""The record of mutation testing: enough was killed, and it is of the sources that are here."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
RECORD = json.loads((HERE / "result.json").read_text(encoding="utf-8"))


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(HERE))
    return importlib.import_module("run")


@pytest.mark.parametrize("name", sorted(RECORD))
def test_all_are_tried_nine_tenths_are_killed_and_the_rest_has_a_reason(
    script: Any, name: str
) -> None:
    row = RECORD[name]
    assert row["killed"] + len(row["survivors"]) == row["tried"] == row["mutants"]
    assert row["killed"] >= 0.9 * row["tried"]
    assert [key for key, change in row["survivors"].items() if script.reason(change) is None] == []
    told = script.page({name: row})
    assert all(f"`{key}`" in told for key in row["survivors"])


def test_every_module_is_recorded(script: Any) -> None:
    assert set(RECORD) == set(script.MODULES)


@pytest.mark.parametrize("name", sorted(RECORD))
def test_the_record_is_of_the_source_that_is_here(script: Any, name: str) -> None:
    if script.digest(script.MODULES[name][0]) != RECORD[name]["source"]:
        pytest.skip(f"{name} has changed since; run tests/mutation/run.py {name}")


def test_the_table_is_made_of_the_record(script: Any) -> None:
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    assert readme.endswith(script.page(RECORD))
