"""The record of mutation testing: enough was killed, and it is of the sources that are here."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
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


def test_what_is_recorded_are_modules_in_their_order(script: Any) -> None:
    assert [name for name in script.MODULES if name in RECORD] == list(RECORD)


def test_every_module_is_there_with_its_tests(script: Any) -> None:
    for source, tests in script.MODULES.values():
        assert [
            file for file in (source, *tests, *script.SHARED) if not (ROOT / file).exists()
        ] == []
    for test in script.LONG:
        file, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")


def test_every_module_is_recorded(script: Any) -> None:
    if left := [name for name in script.MODULES if name not in RECORD]:
        pytest.skip(f"not measured yet; run tests/mutation/run.py {' '.join(left)}")


@pytest.mark.parametrize("name", sorted(RECORD))
def test_the_record_is_of_the_source_that_is_here(script: Any, name: str) -> None:
    if script.digest(script.MODULES[name][0]) != RECORD[name]["source"]:
        pytest.skip(f"{name} has changed since; run tests/mutation/run.py {name}")


def test_the_table_is_made_of_the_record(script: Any) -> None:
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    assert readme.endswith(script.page(RECORD))
