"""Check a declared bound, sensitivity or impact cardinality, against what is found."""

from __future__ import annotations

import math
from functools import partial

from pdpaudit.conformance.check import Check
from pdpaudit.conformance.examination import Examination
from pdpaudit.results import CheckResult

__all__ = ["IMPACT_CARDINALITY", "TARGETED_SENSITIVITY"]

NEEDS = ("finite", "deterministic", "graph-unchanged", "order-independent")


def _run(of: str, examination: Examination) -> CheckResult:
    declared = examination.declared.of(of)
    rows = examination.exhaustion.rows
    case = examination.counterexample(of)
    scope = examination.scope()
    if case is not None:
        witness = examination.pair_witness(case, of)
        exhaustive = of in examination.exhaustion.cases
        if not exhaustive:
            scope += "; " + examination.scope_beyond()
        what = (
            f"vertex {witness['at']} moves by {witness['observed']:.6g}"
            if of == "targeted-sensitivity"
            else f"{witness['observed']:g} vertices change"
        )
        smallest = "no smaller network breaks it" if exhaustive else "nothing can be left out of it"
        return CheckResult(
            of,
            "violated",
            declared=witness["declared"],
            observed=witness["observed"],
            exact=True,
            scope=scope,
            witness=witness,
            detail=f"degree {case.max_degree}, {case.n} vertices: declared "
            f"{witness['declared']:g}, but {what}; {smallest}",
        )
    table = _last_table(of, examination)
    if math.isinf(max(declared)):
        return _undeclared(of, examination, declared, table)
    if examination.options.examples:
        scope += "; " + examination.scope_beyond()
    if not rows:
        return CheckResult(of, "inconclusive", scope=scope, detail="the time was over too soon")
    by_label = "label-independent" in examination.failed
    return CheckResult(
        of,
        "not_rejected" if by_label else "certified",
        declared=list(declared[: len(table)]),
        observed=table,
        exact=not by_label,
        scope=scope,
        detail="values depend on the vertices' numbers, so not all networks were seen"
        if by_label
        else "",
    )


def _undeclared(
    of: str, examination: Examination, declared: tuple[float, ...], table: list[float]
) -> CheckResult:
    """Return the exact values as the finding, where no bound is declared from some degree on."""
    first = next(d for d, bound in enumerate(declared) if math.isinf(bound))
    detail = f"no bound is declared from degree {first} on"
    if len(table) > 1:
        values = ", ".join(f"{value:.6g}" for value in table[1:])
        detail += f"; exact on {len(table)} vertices for degree 1, 2, …: {values}"
    return CheckResult(
        of,
        "skipped",
        declared=list(declared[: len(table)]),
        observed=table,
        exact=True,
        scope=examination.scope(),
        detail=detail,
    )


def _last_table(of: str, examination: Examination) -> list[float]:
    """Return the exact values on the largest number of vertices completed, index d."""
    for row in reversed(examination.exhaustion.rows):
        values = row.sensitivity if of == "targeted-sensitivity" else row.impact_cardinality
        if values is not None:
            return list(values)
    return []


TARGETED_SENSITIVITY = Check(
    "targeted-sensitivity",
    "the declared sensitivity holds",
    partial(_run, "targeted-sensitivity"),
    NEEDS,
)

IMPACT_CARDINALITY = Check(
    "impact-cardinality",
    "the declared impact cardinality holds",
    partial(_run, "impact-cardinality"),
    NEEDS,
)
