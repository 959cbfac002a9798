"""reports/statistics: what is committed is what the script makes, and says."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path

import pytest

from pdpaudit.core.registry import registered
from pdpaudit.report.rendering import render_markdown
from pdpaudit.report.sources import source_from_json

FOLDER = Path(__file__).parents[2] / "reports" / "statistics"


def _script():
    spec = importlib.util.spec_from_file_location("statistics_dossier", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = _script()


def entries_of(body):
    """Return from a result what ``tables`` returned."""
    entries = []
    for about, check in zip(body["context"]["statistics"], body["checks"], strict=True):
        declared = {key: _read(row) for key, row in check["declared"].items()}
        exact = {
            key: {
                n: _read(row)
                for part in (key, key + make.BEYOND)
                for n, row in check["observed"].get(part, {}).items()
            }
            for key in check["declared"]
        }
        entries.append({**about, "declared": declared, "exact": exact})
    return entries


def _read(values):
    return [None if value == "inf" else make.rounded(value) for value in values]


@pytest.fixture(scope="module")
def published():
    return json.loads((FOLDER / "tables.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def entries(published):
    return entries_of(published)


def _said(entries):
    """Return the report on these entries."""
    return render_markdown([source_from_json(make.result(entries), "tables.json")])


def _up_to(entry, vertices):
    """Return a published entry as it would be with no network larger than that."""
    return {
        **entry,
        "vertices": min(entry["vertices"], vertices),
        "labelled": min(entry["labelled"], vertices),
        "declared": {key: row[:vertices] for key, row in entry["declared"].items()},
        "exact": {
            key: {n: row for n, row in rows.items() if int(n) <= vertices}
            for key, rows in entry["exact"].items()
        },
    }


def _again(entries, name, vertices):
    [entry] = [entry for entry in entries if entry["name"] == name]
    [anew] = make.tables(vertices, 1, (name,))
    assert json.loads(json.dumps(anew)) == _up_to(entry, vertices)


# Linear programmes without a fast path take their time.
BY_PROGRAMME = pytest.param("Flow_3", marks=pytest.mark.slow)


@pytest.mark.usefixtures("few_graphs")
@pytest.mark.parametrize("name", [BY_PROGRAMME if n == "Flow_3" else n for n in make.SCOPE])
def test_the_tables_on_few_vertices_are_recomputed(entries, name, repetitions):
    """Up to four vertices by default, up to five with --slow."""
    _again(entries, name, repetitions(4, 5))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["CN", "Triangle", "Path_2"])
def test_the_tables_on_six_vertices_are_recomputed(entries, name):
    _again(entries, name, 6)


def test_the_text_is_what_the_script_makes_of_the_numbers(published, entries):
    assert make.result(entries) == published


def test_the_files_are_written_as_the_script_writes_them(published, tmp_path):
    make.write(tmp_path, published)
    for file in tmp_path.iterdir():
        assert file.read_bytes() == (FOLDER / file.name).read_bytes()


def test_every_registered_statistic_is_there(entries):
    names = {entry["name"].partition("_")[0] for entry in entries}
    assert names >= {entry.name for entry in registered("sops") if entry.dist.name == "pdpaudit"}
    assert [entry["name"] for entry in entries] == list(make.SCOPE)


def test_the_command_is_said():
    assert make.COMMAND in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_no_bound_called_proved_is_exceeded(entries):
    for entry in entries:
        if entry["name"] in make.TIGHTER:
            _, bound, _ = make.TIGHTER[entry["name"]]
            for row in entry["exact"]["sensitivity"].values():
                assert all(found <= bound(d) for d, found in enumerate(row))


def _entry(declared, exact, **more):
    """Return an entry on three vertices, as the script measures it."""
    tables = {"1": [0], "2": [0, 0], "3": exact}
    return {
        "name": "CN",
        "definition": "Something.",
        "vertices": 3,
        "labelled": 3,
        "fast_path": True,
        "violated": [],
        "declared": {"sensitivity": declared, "impact_cardinality": [0, 2, 3]},
        "exact": {"sensitivity": tables, "impact_cardinality": {**tables, "3": [0, 2, 3]}},
        **more,
    }


@pytest.mark.parametrize(
    ("declared", "exact", "said"),
    [
        (
            [0, 1, 1],
            [0, 1, 1],
            "C10 | Δ(CN) ≤ 1 | CN | labelled up to 3 vertices | holds, attained",
        ),
        ([0, 1, 1], [0, 0.5, 0.5], "| holds, nowhere attained | d = 1: 1 for 0.5; d = 2: 1"),
        ([0, 1, 2], [0, 0, 0], "CN: for degree 2, declared 2, exact 0: all noise is wasted."),
        ([0, 1, 3], [0, 0.5, 2], "declared 3, exact 2: noise is 1.5 times too wide (larger"),
        ([0, 1, 1], [0, 1, 2], "violated for d = 2"),
        ([0, None, None], [0, 1, 2], "No bound on Δ in the degree alone: CN."),
        ([0, None, None], [0, 1, 2], "| CN | 3 | none / 2 |"),
    ],
)
def test_what_is_found_is_said(declared, exact, said):
    assert said in _said([_entry(declared, exact)])


def test_a_violated_declaration_is_said():
    entry = _entry([0, 1, 1], [0, 1, 2], violated=["targeted-sensitivity"])
    text = _said([entry])
    assert "Declarations violated: CN." in text
    assert "Δ violated; IC holds" in text


def test_six_digits_and_no_infinity_are_written():
    assert make.plain_values([1 / 3, math.inf, 2.0, 12345678.9]) == [0.333333, None, 2, 12345700]
