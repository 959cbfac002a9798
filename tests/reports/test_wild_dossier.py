"""The page of released packages says what its results say."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    ("file", "seeds", "fewest"),
    [("results.json", [1, 2, 3], 17), ("confirmation.json", [7, 8, 9], 12)],
)
def test_bugs_are_caught_in_a_minute_and_no_control(
    file: str, seeds: list[int], fewest: int
) -> None:
    """All on the seeds that were looked at, and on the others as many as are asked for."""
    listed = tomllib.loads((FOLDER / "bugs.toml").read_text(encoding="utf-8"))["bug"]
    sound = {bug["name"] for bug in listed if bug.get("sound")}
    rows = json.loads((FOLDER / file).read_text(encoding="utf-8"))
    assert [row["name"] for row in rows] == [bug["name"] for bug in listed]
    caught = 0
    for row in rows:
        control = row["bug"] if row["name"] in sound else row["control"]
        assert "violated" not in [one["status"] for one in control]
        for found in (row["bug"], control):
            assert [one["seed"] for one in found] == seeds
        if row["name"] not in sound:
            caught += all(
                one["status"] == "violated" and one["seconds"] <= 60 for one in row["bug"]
            )
    assert caught >= fewest


def test_bounds_on_a_finite_truth_are_nine_tenths_of_it_but_for_few() -> None:
    """Few runs of DataSynthesizer fit into a minute, so that one in ten may fall short."""
    near = [
        (row["name"], one["bound"] >= 0.9 * row["truth"])
        for file in ("results.json", "confirmation.json")
        for row in json.loads((FOLDER / file).read_text(encoding="utf-8"))
        if math.isfinite(float(row["truth"])) and "a control" not in row["name"]
        for one in row["bug"]
    ]
    assert len(near) == 42
    assert sum(enough for _, enough in near) >= 40
    assert all(enough for name, enough in near if not name.startswith("DataSynthesizer"))


def test_seeds_that_were_looked_at_before_a_change_stay_on_the_page() -> None:
    before = json.loads((FOLDER / "before.json").read_text(encoding="utf-8"))
    assert all([one["seed"] for one in row["bug"]] == [4, 5, 6] for row in before)
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(one["words"][:100] in page for row in before for one in row["bug"]
               if one["status"] == "inconclusive")  # fmt: skip
