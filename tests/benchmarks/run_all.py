"""Run every benchmark, print one table, and say what became slower since last time.

``python tests/benchmarks/run_all.py`` runs all of them, ``... sampling scale`` those of these
names. Figures are added to ``history/figures.jsonl``, a line each run; ``--dry`` leaves it alone.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HISTORY = HERE / "history" / "figures.jsonl"

#: Runs of the past that a figure is held against, and from where on it is called slower.
LAST, SLOWER = 5, 1.5


def main(arguments: list[str]) -> int:
    names = [name for name in arguments if not name.startswith("-")]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        ran = subprocess.run(
            command(names),
            env={**os.environ, "PDPAUDIT_FIGURES": str(out)},
            check=False,
        )
        measured = json.loads(out.read_text())
    past = read_history()
    print("\n\n" + table(measured, past))  # noqa: T201 - a benchmark speaks
    if "--dry" not in arguments and measured["figures"]:
        line = {
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
            **measured,
        }
        HISTORY.parent.mkdir(exist_ok=True)
        with HISTORY.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    return ran.returncode


def command(names: list[str]) -> list[str]:
    """Return what runs the benchmarks of these names, or all."""
    named = [str(HERE / f"bench_{name}.py") for name in names]
    # Of a folder pytest leaves out what conftest.py says are programs; what is named it takes.
    files = named or ["-o", "python_files=bench_*.py", str(HERE)]
    return [sys.executable, "-m", "pytest", *files, "-s", "-q", "--slow"]


def read_history() -> list[dict[str, Any]]:
    if not HISTORY.exists():
        return []
    return [json.loads(line) for line in HISTORY.read_text(encoding="utf-8").splitlines()]


def of_the_past(past: list[dict[str, Any]], kind: str, name: str, what: str) -> float | None:
    """Return the median of a figure over the last runs that have it."""
    values = [
        one[what]
        for line in past
        for one in line[kind]
        if one["name"] == name and one.get(what) is not None
    ]
    return statistics.median(values[-LAST:]) if values else None


def table(measured: dict[str, Any], past: list[dict[str, Any]]) -> str:
    """Return the table: each figure, its ratio, its limit, and how it was before.

    A value is held against its limit; what is compared with the past is the ratio where there is
    one, for machines differ.
    """
    rows = [("figure", "value", "ratio", "limit", "before", "")]
    for one in measured["figures"]:
        what = "value" if one["ratio"] is None else "ratio"
        before = of_the_past(past, "figures", one["name"], what)
        rows.append(
            (
                one["name"],
                f"{one['value']:.4g} {one['unit']}",
                "" if one["ratio"] is None else f"{one['ratio']:.3g}",
                held(one["value"], one["limit"], one.get("least")),
                "" if before is None else f"{before:.3g}",
                told(one[what], before, more_is_better=one.get("least") is not None),
            )
        )
    for one in measured["durations"]:
        before = of_the_past(past, "durations", one["name"], "seconds")
        slow = told(one["seconds"], before) if one["passed"] else "FAILED"
        earlier = "" if before is None else f"{before:.3g}"
        rows.append((one["name"], f"{one['seconds']:.3g} s in all", "", "", earlier, slow))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def held(value: float, most: float | None, least: float | None) -> str:
    """Return the limit and whether it is kept."""
    if most is None and least is None:
        return ""
    holds = (most is None or value <= most) and (least is None or value >= least)
    limit = f"at most {most:g}" if least is None else f"at least {least:g}"
    return f"{limit}: {'holds' if holds else 'MISSED'}"


def told(now: float, before: float | None, *, more_is_better: bool = False) -> str:
    if before is None or min(now, before) <= 0:
        return ""
    worse = before / now if more_is_better else now / before
    return f"SLOWER, {worse:.1f} times" if worse > SLOWER else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
