"""Put together what is told of one claim: numbers, words and a witness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pdpaudit.auditing.arms import Arm
from pdpaudit.auditing.describe import pair_json
from pdpaudit.auditing.plan import Plan, Watcher
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.core.subject import Subject
from pdpaudit.outputs import Event
from pdpaudit.outputs.words import Vocabulary, event_words
from pdpaudit.results.results import ClaimResult, Status

__all__ = ["Run", "statement", "stopped", "told"]


@dataclass(frozen=True)
class Run:
    """What is the same for all claims of one audit."""

    mechanism: Subject
    subject: str
    spec: Mapping[str, Any]
    plan: Plan
    watcher: Watcher
    file: dict[str, Any] | None = field(default=None)
    remarks: list[str] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    compared: dict[str, Any] = field(default_factory=dict)

    def remark(self, words: str) -> None:
        """Keep what is to be said of how the mechanism behaved, once."""
        if words not in self.remarks:
            self.remarks.append(words)


def told(
    run: Run,
    number: int,
    claim: PrivacyClaim,
    arm: Arm,
    event: Event,
    *,
    status: Status,
    lower_bound: float,
    exact: float | None,
    method: str,
    samples: dict[str, int],
    detectable_epsilon: float | None,
    counts: dict[str, Any],
    alpha: float | None = None,
    witnessed: Mapping[str, Any] | None = None,
    inference: Mapping[str, Any] | None = None,
    detail: str = "",
) -> ClaimResult:
    """Put together what is told of one claim."""
    pair = (
        {"words": arm.label, "number": arm.number}
        if arm.pair is None
        else pair_json(arm.pair, event.side, run.file)
    )
    told = {**event.to_json(), "words": event_words(event, _vocabulary(run, arm)), **counts}
    witness = {
        "kind": "audit",
        "mechanism": dict(run.spec),
        "claim": number,
        "pair": pair,
        "event": event.to_json(),
        "method": method,
        "seed": run.plan.seed,
        "samples": run.plan.size,
        "alpha": alpha,
        **(witnessed or {}),
    }
    return ClaimResult(
        id=f"{run.subject} #{number}",
        statement=statement(claim),
        source=claim.source,
        status=status,
        claimed={"epsilon": claim.epsilon, "delta": claim.delta},
        lower_bound=lower_bound,
        exact=exact,
        confidence=None if exact is not None else run.plan.confidence,
        method=method,
        event=told,
        pair={key: value for key, value in pair.items() if key != "base"},
        samples=samples,
        detectable_epsilon=detectable_epsilon,
        witness=witness,
        inference=inference or {},
        detail=detail,
    )


def stopped(
    run: Run,
    number: int,
    claim: PrivacyClaim,
    why: str,
    *,
    status: Status = "error",
    samples: dict[str, int] | None = None,
) -> ClaimResult:
    """Return what is told of a claim that could not be confirmed."""
    return ClaimResult(
        id=f"{run.subject} #{number}",
        statement=statement(claim),
        source=claim.source,
        status=status,
        claimed={"epsilon": claim.epsilon, "delta": claim.delta},
        method=why,
        samples=samples or {},
    )


def _vocabulary(run: Run, arm: Arm) -> Vocabulary:
    """Return the words for what is observed: no word of searches for what is none."""
    wording = run.mechanism.wording
    if arm.pair is None:
        return Vocabulary(**wording)
    return Vocabulary(**{"name": arm.pair.network.name, "done": "found", **wording})


def statement(claim: PrivacyClaim) -> str:
    """Say what is claimed, as in the field."""
    if claim.delta == 0:
        return f"{claim.epsilon:.6g}-protected DP"
    return f"({claim.epsilon:.6g}, {claim.delta:.3g})-protected DP"
