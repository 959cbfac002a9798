"""Everything a search might let out beside its list: what each costs, in one table."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pdpaudit.auditing.config import Config, Watcher
from pdpaudit.auditing.pipeline import audit
from pdpaudit.auditing.provenance import origin_of
from pdpaudit.auditing.side_channels import ALL, OBSERVABLES, SAMPLES, WORDS, Observed
from pdpaudit.core.network import Network
from pdpaudit.inference import ErrorBudget
from pdpaudit.outputs.records import JSON
from pdpaudit.results.results import ClaimResult, Result

__all__ = [
    "LIST",
    "audit_released",
    "cost_words",
    "released_rows",
    "shares_words",
    "tried_together",
]

#: The list itself, which the guarantee is about.
LIST = "list"


def audit_released(
    mechanism: object,
    networks: Sequence[Network],
    plan: Config,
    *,
    subject: str,
    spec: Mapping[str, object] | None = None,
    file: dict[str, object] | None = None,
    watcher: Watcher | None = None,
) -> Result:
    """Test the claims of a search on its list and on each of its side channels."""
    began = time.monotonic()
    whats = [LIST, *OBSERVABLES]
    budget = ErrorBudget(1 - plan.confidence, len(whats))
    limit = None if plan.time_limit is None else plan.time_limit / len(whats)
    shared = replace(plan, confidence=1 - budget.share, time_limit=limit)
    claims: list[ClaimResult] = []
    rows: list[dict[str, Any]] = []
    remarks: list[str] = []
    results: list[Result] = []
    for what in whats:
        listed = what == LIST
        result = audit(
            mechanism if listed else Observed(mechanism, what),
            networks,
            shared if listed else replace(shared, default_samples=SAMPLES),
            subject=f"{subject} {what}",
            spec=dict(spec or {}) if listed else {**(spec or {}), "observe": what},
            file=file,
            watcher=watcher,
        )
        claims += result.claims
        rows += [_row(what, claim) for claim in result.claims]
        remarks += [f"{what}: {words}" for words in result.context.get("remarks", ())]
        results.append(result)
    return Result(
        command="audit",
        subject=subject,
        seed=plan.seed,
        elapsed_s=time.monotonic() - began,
        claims=tuple(claims),
        context={
            "tried": tried_together(results),
            "error_budget": shares_words(plan.confidence),
            "released": rows,
            "options": {
                "observe": ALL,
                "confidence": plan.confidence,
                **({} if plan.samples is None else {"samples": plan.samples}),
            },
            **({"remarks": remarks} if remarks else {}),
            **({"network": file} if file else {}),
        },
        **origin_of(mechanism),
    )


def tried_together(results: Sequence[Result]) -> JSON:
    """Count what several audits looked at, by family and network."""
    by: Counter[str] = Counter()
    families: Counter[tuple[str, str]] = Counter()
    for result in results:
        tried = result.context["tried"]
        by.update(tried["by"])
        for one in tried["families"]:
            families[one["family"], one["network"]] += one["pairs"]
    listed = [
        {"family": family, "network": network, "pairs": many}
        for (family, network), many in families.items()
    ]
    return {"pairs": by.total(), "by": dict(by), "families": listed}


def shares_words(confidence: float) -> str:
    """Say how the probability of a false alarm is shared among the list and the observables."""
    budget = ErrorBudget(1 - confidence, 1 + len(OBSERVABLES))
    return (
        f"false alarm at most {100 * budget.alpha:.4g}% over the list and {len(OBSERVABLES)} "
        f"observables together, {100 * budget.share:.4g}% each (Bonferroni)"
    )


def released_rows(result: Result) -> list[dict[str, Any]]:
    """Return the table of what each observable costs, from the claims of the result alone."""
    rows = []
    for claim in result.claims:
        what = claim.id.rpartition(" #")[0].removeprefix(f"{result.subject} ")
        rows.append(_row(what, claim))
    return rows


def _row(what: str, claim: ClaimResult) -> dict[str, Any]:
    """Return the row of one claim on one observable."""
    return {
        "observable": what,
        "what is seen": WORDS.get(what, "the list of people found, in order"),
        "claimed ε": claim.promise.value,
        "claimed δ": claim.promise.delta,
        "measured": cost_words(claim),
        "verdict": claim.status,
    }


def cost_words(claim: ClaimResult) -> str:
    """Say what loss was measured, and how."""
    if claim.lower_bound is None:
        return "not measured"
    if claim.exact is not None:
        if math.isinf(claim.exact):
            return "∞ (exact: it happens on one side only)"
        return f"{claim.exact:.3f} (exact, on the pairs tried)"
    words = f"at least {claim.lower_bound:.3f}"
    event = claim.event
    x, y, runs = (event.get(key) for key in ("inside", "inside_other", "runs_a_side"))
    if x == runs and y == 0:
        words += f" (always on one side, never on the other: ∞ for all that {runs} runs show)"
    return words
