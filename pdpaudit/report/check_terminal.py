"""The checks of a statistic on a terminal: one line each, and a screen for a violation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pdpaudit.checks import as_listing, as_python
from pdpaudit.results.results import CheckResult, Result

__all__ = ["show_check", "show_checks_end"]

STYLE = {"violated": "bold red", "error": "bold red", "inconclusive": "yellow", "skipped": "dim"}
WORD = {
    "violated": "BROKEN",
    "error": "error",
    "inconclusive": "undecided",
    "not_rejected": "not broken",
    "certified": "holds",
    "skipped": "skipped",
}
SHOWN_EDGES = 60
SHOWN_TRACE = 12
SHOWN_DEGREES = 9


def show_check(console: Console, result: CheckResult) -> None:
    """Print one line for a check as soon as it is done."""
    line = Table.grid(padding=(0, 2, 0, 0))
    for width in (20, 10):
        line.add_column(width=width, no_wrap=True)
    line.add_column(overflow="fold")
    verdict = Text(WORD[result.status], style=STYLE.get(result.status, ""))
    line.add_row(Text(result.name), verdict, Text(result.detail or result.scope))
    console.print(Padding(line, (0, 0, 0, 2)))


def show_checks_end(console: Console, result: Result, specification: str, replay: str) -> None:
    """Print the exact tables, and for each violation the pair and how to reproduce it."""
    for check in result.checks:
        if check.name == "tightness" and isinstance(check.observed, Mapping):
            _show_table(console, check)
    broken = [check for check in result.checks if check.status == "violated"]
    for number, check in enumerate(broken):
        # One program is enough to start from, and keeps all on one screen.
        _show_violation(console, check, specification, with_program=number == 0)
    if broken:
        again = replay or f"pdpaudit check {specification} --seed {result.seed} --json result.json"
        console.print(Text(f"to replay: {again}"))


def _show_table(console: Console, check: CheckResult) -> None:
    observed: Mapping[str, Mapping[Any, Any]] = check.observed
    if not observed["sensitivity"]:
        return
    widest = max(len(row) for rows in observed.values() for row in rows.values())
    degrees = range(1, min(widest, SHOWN_DEGREES))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("maximum degree")
    for d in degrees:
        table.add_column(str(d), justify="right")

    def add(words: str, values: Sequence[float]) -> None:
        table.add_row(words, *(f"{values[d]:.5g}" for d in degrees if d < len(values)))

    for what, words in (("sensitivity", "sensitivity"), ("impact_cardinality", "impact")):
        add(f"{words}, declared", check.declared[what])
        for key, kind in ((what, "exact, up to"), (f"{what}, up to relabelling", "found,")):
            sizes = observed.get(key)
            if sizes:
                n = max(sizes, key=int)
                add(f"  {kind} {n} vertices", sizes[n])
    console.print(Padding(table, (1, 0, 1, 2)))


def _show_violation(
    console: Console, check: CheckResult, specification: str, *, with_program: bool
) -> None:
    console.print(Text(f"{check.name}: {check.detail}", style="bold"))
    witness = check.witness
    if witness is None:
        return
    trace = str(witness.get("traceback") or "").rstrip().splitlines()
    if trace:
        console.print(Padding(Text("\n".join(trace[-SHOWN_TRACE:])), (0, 0, 0, 2)))
    if len(witness["edges"]) <= SHOWN_EDGES:
        console.print(Padding(Text(as_listing(witness)), (0, 0, 0, 2)))
        if not trace and with_program:
            program = Text(as_python(witness, specification), style="dim")
            console.print(Padding(program, (1, 0, 1, 4)))
