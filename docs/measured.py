"""The figures of the front page, from the files that the benchmarks write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["write"]

ROOT = Path(__file__).parent.parent

#: Figures of the history that are shown: their name there, and what they are.
SHOWN = {
    "staged, broken, median": "six leaking Python classes of about 1 ms a run: median until red",
    "staged, first red test of the gate": "one of them through pytest, whole process: until red",
    "read DBLP": "reading a network of 956,000 people and 3,740,000 ties",
    "read DBLP, peak": "memory for that, at most",
    "audit of PTarget, DBLP size": "auditing a search on it",
    "audit of PTarget, DBLP size, peak": "memory for that, at most",
}


def write(file: Path) -> None:
    """Write the table of figures, each with the day it was measured on."""
    lines = ["| measured | figure | on |", "|---|---|---|", *_classic(), *_history()]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _classic() -> list[str]:
    """Return what the bounds on classic mechanisms come to."""
    result = json.loads((ROOT / "reports/benchmark/auditor.json").read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = result["context"]["rows"]
    day = result["context"].get("measured", "")
    near = sum(row["share"] >= 0.9 for row in rows)
    beaten = sum(row["bound"] >= row["to_beat"] for row in rows)
    above, bounds = sum(row["above_truth"] for row in rows), sum(len(row["bounds"]) for row in rows)
    found = {
        "classic mechanisms on which the bound to beat is reached": (beaten, len(rows)),
        "of them with nine tenths of what the best event could show": (near, len(rows)),
        "lower bounds above the true loss, of which 5 % may be": (above, bounds),
    }
    return [f"| {words} | {many} of {all_} | {day} |" for words, (many, all_) in found.items()]


def _history() -> list[str]:
    """Return the last of each figure that is shown."""
    text = (ROOT / "tests/benchmarks/history/figures.jsonl").read_text(encoding="utf-8")
    last = {}
    for run in map(json.loads, text.splitlines()):
        for figure in run["figures"]:
            last[figure["name"]] = (figure, run["when"][:10], run["machine"])
    found = [(words, *last[name]) for name, words in SHOWN.items() if name in last]
    return [
        f"| {words} | {figure['value']:,.3g} {figure['unit']} | {day}, {machine} |"
        for words, figure, day, machine in found
    ]
