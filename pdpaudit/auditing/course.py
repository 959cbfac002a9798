"""The course of an audit: gather pairs, break what can be broken, tell what was found."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pdpaudit.auditing.arms import arms_of
from pdpaudit.auditing.climbing import Found
from pdpaudit.auditing.exact import by_law
from pdpaudit.auditing.keeping import source_digest
from pdpaudit.auditing.plan import Plan, Silent, Watcher
from pdpaudit.auditing.provenance import commit_of
from pdpaudit.auditing.sampled import by_samples
from pdpaudit.auditing.telling import Run
from pdpaudit.core.errors import InputError
from pdpaudit.core.network import Network
from pdpaudit.core.subject import Subject
from pdpaudit.inference import ErrorBudget
from pdpaudit.results.results import Result

__all__ = ["audit", "budget_words"]


def audit(
    mechanism: object,
    networks: Sequence[Network],
    plan: Plan,
    *,
    subject: str,
    spec: Mapping[str, Any] | None = None,
    file: dict[str, Any] | None = None,
    watcher: Watcher | None = None,
) -> Result:
    """Try to break every claim of a mechanism."""
    began, mechanism = time.monotonic(), Subject.of(mechanism)
    if not mechanism.repeatable:
        if plan.store is not None:
            raise InputError(
                "--store: what is observed differs from run to run, so what was drawn before is of "
                "no use; leave it out"
            )
        plan = replace(plan, jobs=1)  # other workers would disturb what is measured
    run = Run(mechanism, subject, spec or {}, plan, watcher or Silent(), file)
    arms = arms_of(mechanism, networks, plan.seed)
    if not arms:
        raise InputError(
            "no pair to try: nothing can be rewired within --max-degree; raise it, or give a "
            "network with protected vertices to rewire"
        )
    claims = mechanism.claims
    exactly, results = True, None
    if plan.samples is None and not plan.sequential and mechanism.has("law"):
        results = by_law(run, arms, claims)
    if results is None:
        exactly, results = False, by_samples(run, arms, claims)
    found, verdicts = results
    return Result(
        command="audit",
        subject=subject,
        seed=plan.seed,
        elapsed_s=time.monotonic() - began,
        claims=tuple(verdicts),
        context={
            "tried": _tried(found),
            "error_budget": budget_words(plan, len(claims), exact=exactly),
            **({"law_compared": run.compared} if exactly and run.compared else {}),
            **({"remarks": run.remarks} if run.remarks else {}),
            **({"network": file} if file else {}),
        },
        source=source_digest(mechanism.origin),
        commit=commit_of(mechanism.origin),
    )


def _tried(found: Sequence[Found]) -> dict[str, Any]:
    """Count what discovery looked at, by family and network."""
    labels: dict[str, int] = {}
    for one in found:
        labels[one.arm.label] = labels.get(one.arm.label, 0) + 1
    return {"pairs": len(found), "by": labels}


def budget_words(plan: Plan, claims: int, *, exact: bool) -> str:
    """Say how the probability of a false alarm was spent."""
    if exact:
        return "exact output laws: no sampling error"
    return ErrorBudget(1 - plan.confidence, claims).describe()
