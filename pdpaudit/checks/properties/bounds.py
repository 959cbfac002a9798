"""Check a declared bound, sensitivity or impact cardinality, against what is found."""

from __future__ import annotations

import math
from functools import partial

from pdpaudit.checks.case import Case
from pdpaudit.checks.check import Check, advice
from pdpaudit.checks.difference import distinct
from pdpaudit.checks.examination import Examination
from pdpaudit.results.results import CheckResult

__all__ = ["IMPACT_CARDINALITY", "TARGETED_SENSITIVITY"]

NEEDS = ("finite", "deterministic", "graph-unchanged", "order-independent")
HEEDS = ("fast-path",)


def _run(of: str, examination: Examination) -> CheckResult:
    declared = examination.declared.of(of)
    case = examination.counterexample(of)
    if case is not None:
        return _violated(of, examination, case)
    table = _last_table(of, examination)
    if math.isinf(max(declared)):
        return _undeclared(of, examination, declared, table)
    scope = examination.scope(of)
    if examination.options.examples:
        scope += "; " + examination.scope_beyond()
    if not table:
        return CheckResult(of, "inconclusive", scope=scope, detail="the time was over too soon")
    return CheckResult(
        of,
        "certified",
        declared=list(declared[: len(table)]),
        observed=table,
        exact=True,
        scope=scope,
    )


def _violated(of: str, examination: Examination, case: Case) -> CheckResult:
    """Return the violation, and how small it is known to be."""
    witness = examination.pair_witness(case, of)
    scope = examination.scope(of)
    if of in examination.labelled.cases:
        smallest = "no smaller network breaks it"
    elif of in examination.exhaustion.cases:
        smallest = f"none with up to {examination.labelled_up_to} vertices breaks it"
    else:
        smallest = "nothing can be left out of it"
        scope += "; " + examination.scope_beyond()
    declared, observed = distinct(witness["declared"], witness["observed"])
    what = (
        f"vertex {witness['at']} moves by {observed}"
        if of == "targeted-sensitivity"
        else f"{observed} vertices change"
    )
    return CheckResult(
        of,
        "violated",
        declared=witness["declared"],
        observed=witness["observed"],
        exact=True,
        scope=scope,
        witness=witness,
        detail=f"degree {case.max_degree}, {case.n} vertices: declared {declared}, but {what}"
        f"{advice(witness['declared'], witness['observed'])}; {smallest}",
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
        scope=examination.scope(of),
        detail=detail,
    )


def _last_table(of: str, examination: Examination) -> list[float]:
    """Return the exact values on the most vertices that were enumerated in full, index d."""
    rows = examination.labelled.rows
    if not rows:
        return []
    return list(
        rows[-1].sensitivity if of == "targeted-sensitivity" else rows[-1].impact_cardinality or ()
    )


TARGETED_SENSITIVITY = Check(
    "targeted-sensitivity",
    "the declared sensitivity holds",
    partial(_run, "targeted-sensitivity"),
    NEEDS,
    HEEDS,
)

IMPACT_CARDINALITY = Check(
    "impact-cardinality",
    "the declared impact cardinality holds",
    partial(_run, "impact-cardinality"),
    NEEDS,
    HEEDS,
)
