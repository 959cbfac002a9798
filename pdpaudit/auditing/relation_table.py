"""Which relations a claim survives: one audit for each, and their claims in one table."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pdpaudit.auditing.config import Config, Watcher
from pdpaudit.auditing.pipeline import audit, budget_words
from pdpaudit.auditing.provenance import origin_of
from pdpaudit.auditing.released import tried_together
from pdpaudit.core.domains import Domain
from pdpaudit.core.network import Network
from pdpaudit.core.variants import ALL, related, relations_of
from pdpaudit.inference import ErrorBudget
from pdpaudit.results.results import ClaimResult, Result

__all__ = ["audit_relations", "relations_budget"]


def audit_relations(
    mechanism: object,
    networks: Sequence[Network],
    plan: Config,
    *,
    subject: str,
    spec: Mapping[str, object] | None = None,
    domain: Domain | Network | None = None,
    file: dict[str, object] | None = None,
    watcher: Watcher | None = None,
) -> Result:
    """Test the claims of a mechanism under each relation that its inputs have."""
    began, names = time.monotonic(), relations_of(mechanism, domain)
    shared = replace(plan, confidence=1 - ErrorBudget(1 - plan.confidence, len(names)).share)
    results = []
    for name in names:
        one = related(mechanism, name, domain)
        made = one.specification(dict(spec or {}))
        known: dict[str, Any] = {"spec": made, "file": file, "watcher": watcher}
        results.append(audit(one, networks, shared, subject=f"{subject} {name}", **known))
    claims = tuple(claim for result in results for claim in result.claims)
    remarks = [
        f"{name}: {words}"
        for name, result in zip(names, results, strict=True)
        for words in result.context.get("remarks", ())
    ]
    return Result(
        command="audit",
        subject=subject,
        seed=plan.seed,
        elapsed_s=time.monotonic() - began,
        claims=claims,
        context={
            "tried": tried_together(results),
            "error_budget": relations_budget(claims, plan.confidence, len(names)),
            "relations": list(names),
            "options": {
                "relation": ALL,
                "confidence": plan.confidence,
                **({} if plan.samples is None else {"samples": plan.samples}),
            },
            **({"remarks": remarks} if remarks else {}),
            **({"network": file} if file else {}),
        },
        **origin_of(mechanism),
    )


def relations_budget(claims: Sequence[ClaimResult], confidence: float, relations: int) -> str:
    """Say how the probability of a false alarm is shared among the relations."""
    if all(claim.exact is not None for claim in claims):
        return budget_words(Config(0), len(claims), exact=True)
    if relations == 1:
        return budget_words(Config(0, confidence=confidence), len(claims), exact=False)
    budget = ErrorBudget(1 - confidence, relations)
    return (
        f"false alarm at most {100 * budget.alpha:.4g}% over {relations} relations together, "
        f"{100 * budget.share:.4g}% each (Bonferroni)"
    )
