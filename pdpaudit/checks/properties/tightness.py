"""Say how much of a declaration is used: a loose one costs utility, though it is no violation."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pdpaudit.checks.check import Check
from pdpaudit.checks.examination import Examination, certain
from pdpaudit.checks.families import Row
from pdpaudit.checks.measure import PROPERTIES
from pdpaudit.results.results import CheckResult, Status

__all__ = ["TIGHTNESS"]


def _run(examination: Examination) -> CheckResult:
    rows = examination.labelled.rows
    if not rows:
        return CheckResult("tightness", "inconclusive", detail="the time was over too soon")
    n, exact = rows[-1].n, rows[-1].sensitivity
    declared = examination.declared
    known = [d for d in range(1, n) if math.isfinite(declared.sensitivity[d])]
    notes = _exceeded(examination)
    status: Status = "skipped" if notes else "certified"
    if not notes:
        loose = [d for d in known if exact[d] < declared.sensitivity[d] - declared.slack[d]]
        if known and loose == known:
            # Only a bound that is not attained for any degree is called loose: a larger network
            # might attain it for the largest degrees.
            d = known[-1]
            notes.append(
                f"loose: for degree {d}, declared {declared.sensitivity[d]:g}, exact {exact[d]:g} "
                f"on {certain(n)}; noise is wasted unless larger ones need it"
            )
        elif known:
            tight = [d for d in known if d not in loose]
            notes.append(f"sensitivity attained for degree {', '.join(map(str, tight))}")
        notes.extend(_impact(examination, n, rows[-1].impact_cardinality or ()))
        if any(note.startswith("loose") for note in notes):
            status = "not_rejected"
    widest = max(row.n for row in (*rows, *examination.exhaustion.rows))
    return CheckResult(
        "tightness",
        status,
        declared={
            "sensitivity": list(declared.sensitivity[:widest]),
            "impact_cardinality": list(declared.impact_cardinality[:widest]),
        },
        observed=_tables(examination),
        exact=True,
        scope=certain(n),
        detail="; ".join(notes),
    )


def _exceeded(examination: Examination) -> list[str]:
    """Say where a declaration is exceeded: it is then neither attained nor loose."""
    notes = []
    for of, words in zip(PROPERTIES, ("sensitivity", "impact"), strict=True):
        bound = examination.declared
        found = {
            d
            for row in (*examination.labelled.rows, *examination.exhaustion.rows)
            for d, value in enumerate(_values(row, of))
            if value > bound.allowed(of, d)
        }
        if found:
            notes.append(f"{words} exceeded for degree {', '.join(map(str, sorted(found)))}")
    return notes


def _values(row: Row, of: str) -> Sequence[float]:
    return row.sensitivity if of == "targeted-sensitivity" else row.impact_cardinality or ()


def _tables(examination: Examination) -> dict[str, dict[int, list[float]]]:
    """Return all values found, those over every labelled network apart from those searched."""
    tables = {}
    for of, key in zip(PROPERTIES, ("sensitivity", "impact_cardinality"), strict=True):
        tables[key] = {row.n: list(_values(row, of)) for row in examination.labelled.rows}
        searched = {
            row.n: list(_values(row, of)) for row in examination.exhaustion.rows if _values(row, of)
        }
        if searched:
            tables[f"{key}, up to relabelling"] = searched
    return tables


def _impact(examination: Examination, n: int, exact: tuple[int, ...]) -> list[str]:
    """Judge the impact cardinality for the degrees whose bound these networks can hold."""
    declared = examination.declared.impact_cardinality
    judged = [d for d in range(1, n) if declared[d] <= n]
    loose = [d for d in judged if declared[d] > exact[d]]
    if judged and loose == judged:
        d = judged[-1]
        return [f"loose: for degree {d}, declared impact {declared[d]:g}, exact {exact[d]}"]
    return []


TIGHTNESS = Check(
    "tightness",
    "how much of the declaration is used",
    _run,
    ("finite", "deterministic", "graph-unchanged", "order-independent"),
    ("fast-path",),
)
