"""Say how much of a declaration is used: a loose one costs utility, though it is no violation."""

from __future__ import annotations

import math

from pdpaudit.conformance.check import Check
from pdpaudit.conformance.examination import Examination
from pdpaudit.conformance.tolerance import differ, exceeds
from pdpaudit.results import CheckResult

__all__ = ["TIGHTNESS"]


def _run(examination: Examination) -> CheckResult:
    rows = examination.exhaustion.rows
    if not rows:
        return CheckResult("tightness", "inconclusive", detail="the time was over too soon")
    n = rows[-1].n
    degrees = range(1, n)
    exact = rows[-1].sensitivity
    declared = examination.declared.sensitivity
    counted = [row for row in rows if row.impact_cardinality is not None]
    observed = {
        "sensitivity": {row.n: list(row.sensitivity) for row in rows},
        "impact_cardinality": {row.n: list(row.impact_cardinality or ()) for row in counted},
    }
    notes = []
    known = [d for d in degrees if math.isfinite(declared[d])]
    loose = [d for d in known if declared[d] > exact[d] and differ(declared[d], exact[d])]
    exceeded = [d for d in known if exceeds(exact[d], declared[d])]
    if exceeded:
        notes.append(f"exceeded for degree {', '.join(map(str, exceeded))}")
    elif known and loose == known:
        # Only a bound that is not attained for any degree is called loose: a larger network
        # might attain it for the largest degrees.
        d = known[-1]
        notes.append(
            f"loose: for degree {d}, declared {declared[d]:g}, exact {exact[d]:g} on all networks "
            f"with up to {n} vertices; noise is wasted unless larger ones need it"
        )
    elif known:
        tight = [d for d in known if d not in loose]
        notes.append(f"sensitivity attained for degree {', '.join(map(str, tight))}")
    notes.extend(_impact(examination, counted[-1].n, counted[-1].impact_cardinality or ()))
    return CheckResult(
        "tightness",
        "not_rejected" if any(note.startswith("loose") for note in notes) else "certified",
        declared={
            "sensitivity": list(declared[:n]),
            "impact_cardinality": list(examination.declared.impact_cardinality[:n]),
        },
        observed=observed,
        exact="label-independent" not in examination.failed,
        scope=examination.scope(),
        detail="; ".join(notes),
    )


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
)
