"""The page of released packages says what its results say."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tomllib
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "reports" / "wild"


def test_the_page_is_made_of_the_results_and_nothing_else() -> None:
    before = (FOLDER / "README.md").read_bytes()
    command = [sys.executable, str(FOLDER / "run.py"), "--environments", ".", "--page"]
    subprocess.run(command, check=True)
    assert (FOLDER / "README.md").read_bytes() == before


def test_no_bound_is_above_the_truth_more_often_than_stated() -> None:
    """Bounds of 95 % each: more than 4 of 24 above a finite truth by chance once in 160."""
    rows = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    found = [
        float(one["bound"]) > float(row["truth"])
        for row in rows
        for one in row.get("bug", ())
        if one["bound"] is not None and math.isfinite(float(row["truth"]))
    ]
    assert len(found) == 24
    assert sum(found) <= 4


def test_every_bug_has_its_truth_worked_out() -> None:
    rows = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    assert all(row["why"] for row in rows)
    assert sum(all(one["status"] == "violated" for one in row["bug"]) for row in rows) >= 12


def test_every_bug_is_caught_and_no_control_and_bounds_come_near_a_finite_truth() -> None:
    """A page made anew may fall short by chance, and then has to be looked at."""
    rows = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    listed = tomllib.loads((FOLDER / "bugs.toml").read_text(encoding="utf-8"))["bug"]
    sound = {bug["name"] for bug in listed if bug.get("sound")}
    assert len(rows) == len(listed)
    for row in rows:
        found = row["bug"] if row["name"] in sound else row.get("control", [])
        assert [one["seed"] for one in found] == [1, 2, 3]
        assert "violated" not in [one["status"] for one in found]
        if row["name"] not in sound:
            assert [one["status"] for one in row["bug"]] == ["violated"] * 3
            assert all(one["seconds"] <= 60 for one in row["bug"])
            if math.isfinite(float(row["truth"])):
                assert all(one["bound"] >= 0.9 * row["truth"] for one in row["bug"])


def test_on_other_seeds_most_are_caught_within_the_same_limits() -> None:
    listed = tomllib.loads((FOLDER / "bugs.toml").read_text(encoding="utf-8"))["bug"]
    rows = json.loads((FOLDER / "confirmation.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in rows] == [bug["name"] for bug in listed]
    for row in rows:
        for part in ("bug", *["control"] * ("control_version" in row)):
            assert [one["seed"] for one in row[part]] == [7, 8, 9]
    caught = [row for row in rows if all(one["status"] == "violated" for one in row["bug"])]
    assert len(caught) >= 12
    assert not any(one["status"] == "violated" for row in rows for one in row.get("control", []))
    assert all(one["seconds"] <= 60 for row in caught for one in row["bug"])
    before = json.loads((FOLDER / "before.json").read_text(encoding="utf-8"))
    assert all([one["seed"] for one in row["bug"]] == [4, 5, 6] for row in before)
