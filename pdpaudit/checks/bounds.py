"""Check the declared sensitivity and impact cardinality, and how much of them is used."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pdpaudit.checks.declaration import PROPERTIES
from pdpaudit.checks.evaluation import advice, distinct
from pdpaudit.checks.examination import Examination, certain
from pdpaudit.checks.graphs import Case
from pdpaudit.results.results import CheckResult

KEYS = dict(zip(PROPERTIES, ("sensitivity", "impact_cardinality"), strict=True))


def bound_holds(of: str, examination: Examination) -> CheckResult:
    """Check a declared bound against every labelled network, and what the searches find."""
    declared = examination.declared.of(of)
    case = examination.counterexample(of)
    if case is not None:
        return _violated(of, examination, case)
    rows = examination.labelled.rows
    table = list(rows[-1].values(of)) if rows else []
    scope = examination.scope(of)
    undeclared = math.isinf(max(declared))
    if undeclared:
        # The exact values are the finding.
        first = next(d for d, bound in enumerate(declared) if math.isinf(bound))
        detail = f"no bound is declared from degree {first} on"
        if len(table) > 1:
            values = ", ".join(f"{value:.6g}" for value in table[1:])
            detail += f"; exact on {len(table)} vertices for degree 1, 2, …: {values}"
    else:
        detail = ""
        if examination.options.examples:
            scope += "; " + examination.scope_beyond()
        if not table:
            return CheckResult(of, "inconclusive", scope=scope, detail="time limit reached")
    return CheckResult(
        of,
        "skipped" if undeclared else "certified",
        declared=list(declared[: len(table)]),
        observed=table,
        exact=True,
        scope=scope,
        detail=detail,
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
    declared, observed = distinct(witness.declared, witness.observed)
    what = (
        f"vertex {witness.at} moves by {observed}"
        if of == "targeted-sensitivity"
        else f"{observed} vertices change"
    )
    return CheckResult(
        of,
        "violated",
        declared=witness.declared,
        observed=witness.observed,
        exact=True,
        scope=scope,
        witness=witness.to_json(),
        detail=f"degree {case.max_degree}, {case.n} vertices: declared {declared}, but {what}"
        f"{advice(witness.declared, witness.observed)}; {smallest}",
    )


def tightness(examination: Examination) -> CheckResult:
    """Say how much of a declaration is used: a loose one costs utility, but is no violation."""
    rows = examination.labelled.rows
    if not rows:
        return CheckResult("tightness", "inconclusive", detail="time limit reached")
    exceeded = list(_exceeded(examination))
    loose = [] if exceeded else list(_loose(examination))
    attained = [] if exceeded else list(_attained(examination))
    declared = examination.declared
    widest = max(row.n for row in (*rows, *examination.exhaustion.rows))
    return CheckResult(
        "tightness",
        "skipped" if exceeded else "not_rejected" if loose else "certified",
        declared={key: list(declared.of(of)[:widest]) for of, key in KEYS.items()},
        observed=_tables(examination),
        exact=True,
        scope=certain(rows[-1].n),
        detail="; ".join(exceeded + attained + loose),
    )


def _exceeded(examination: Examination) -> Iterator[str]:
    """Say where a declaration is exceeded: it is then neither attained nor loose."""
    for of, words in zip(PROPERTIES, ("sensitivity", "impact"), strict=True):
        found = {
            d
            for row in (*examination.labelled.rows, *examination.exhaustion.rows)
            for d, value in enumerate(row.values(of))
            if value > examination.declared.allowed(of, d)
        }
        if found:
            yield f"{words} exceeded for degree {', '.join(map(str, sorted(found)))}"


def _unused(of: str, examination: Examination) -> tuple[list[int], list[int]]:
    """Return the degrees that can be judged, and those whose bound is not attained."""
    row, declared = examination.labelled.rows[-1], examination.declared
    exact, bound = row.values(of), declared.of(of)
    if of == "targeted-sensitivity":
        known = [d for d in range(1, row.n) if math.isfinite(bound[d])]
        return known, [d for d in known if exact[d] < bound[d] - declared.slack[d]]
    # Larger counts than these networks have vertices cannot be judged.
    known = [d for d in range(1, row.n) if bound[d] <= row.n]
    return known, [d for d in known if exact[d] < bound[d]]


def _attained(examination: Examination) -> Iterator[str]:
    known, loose = _unused("targeted-sensitivity", examination)
    if known != loose:
        tight = ", ".join(str(d) for d in known if d not in loose)
        yield f"sensitivity attained for degree {tight}"


def _loose(examination: Examination) -> Iterator[str]:
    """Say which bounds are attained for no degree: larger networks might attain the largest."""
    row = examination.labelled.rows[-1]
    for of in PROPERTIES:
        known, loose = _unused(of, examination)
        if known and loose == known:
            d = known[-1]
            bound, exact = examination.declared.of(of)[d], row.values(of)[d]
            yield (
                f"loose: for degree {d}, declared {bound:g}, exact {exact:g} "
                f"on {certain(row.n)}; noise is wasted unless larger ones need it"
                if of == "targeted-sensitivity"
                else f"loose: for degree {d}, declared impact {bound:g}, exact {exact}"
            )


def _tables(examination: Examination) -> dict[str, dict[int, list[float]]]:
    """Return all values found, those over every labelled network apart from those searched."""
    tables = {}
    for of, key in KEYS.items():
        tables[key] = {row.n: list(row.values(of)) for row in examination.labelled.rows}
        searched = {
            row.n: list(row.values(of)) for row in examination.exhaustion.rows if row.values(of)
        }
        if searched:
            tables[f"{key}, up to relabelling"] = searched
    return tables
