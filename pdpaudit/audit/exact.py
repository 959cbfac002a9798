"""Audit by the exact output law: nothing is sampled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pdpaudit.audit.arms import Arm
from pdpaudit.audit.climbing import Found
from pdpaudit.audit.hunting import DECIMALS, hunt
from pdpaudit.audit.inference import by_laws
from pdpaudit.audit.telling import Run, told
from pdpaudit.contracts import (
    BoundedMechanism,
    Law,
    LawfulMechanism,
    LawUnavailable,
    PrivacyClaim,
    SearchedMechanism,
)
from pdpaudit.evidence.event import simplest
from pdpaudit.losses import ExactLoss, hockey_stick, trade_off
from pdpaudit.results import ClaimResult

__all__ = ["EXACT_SLACK", "by_law"]

#: An exact loss is computed to about 1e-10, unless a law says otherwise; a claim is broken by more
#: than this.
EXACT_SLACK = 1e-9

#: Points of the curve δ(ε), and most vertices of the trade-off, that are written out.
POINTS = 33


def by_law(
    run: Run, arms: Sequence[Arm], claims: Sequence[PrivacyClaim]
) -> tuple[list[Found], list[ClaimResult]] | None:
    """Compute; None where no law is available."""
    assert isinstance(run.mechanism, LawfulMechanism)
    deltas = list(dict.fromkeys(claim.delta for claim in claims))
    try:
        found = hunt(run, run.mechanism, arms[: run.plan.tries], deltas)
    except LawUnavailable:
        return None
    results = []
    laws: dict[Arm, tuple[Law, Law]] = {}
    for number, claim in enumerate(claims, start=1):
        worst = _worst(found, claim.delta)
        if worst.arm not in laws:
            one, other = worst.arm.inputs()
            laws[worst.arm] = run.mechanism.law(one), run.mechanism.law(other)
        pair = laws[worst.arm]
        loss = worst.losses[claim.delta]
        event = simplest(loss.outputs, loss.event, loss.side)
        slack = EXACT_SLACK + sum(law.error for law in pair)
        broken = loss.epsilon > claim.epsilon + slack
        results.append(
            told(
                run,
                number,
                claim,
                worst.arm,
                event,
                status="violated" if broken else "not_rejected",
                lower_bound=loss.epsilon,
                exact=loss.epsilon,
                method="exact law",
                samples={"discovery": 0, "confirmation": 0},
                detectable_epsilon=max(claim.epsilon, EXACT_SLACK),
                counts={
                    **_exact_counts(loss),
                    **_left_out(run, pair),
                    **_bound(run.mechanism, worst.arm, claim),
                    **_curves(*pair, max(claim.epsilon, loss.epsilon)),
                },
                inference=by_laws(*pair, event.side, claim),
            )
        )
    return found, results


def _worst(found: Sequence[Found], delta: float) -> Found:
    """Return the worst pair for a slack; of those that are alike the first."""
    return max(found, key=lambda one: round(one.losses[delta].epsilon, DECIMALS))


def _bound(mechanism: LawfulMechanism, arm: Arm, claim: PrivacyClaim) -> dict[str, Any]:
    """Return what is known of the mechanism in the pair's configuration: found, and proved."""
    told = {}
    # What is searched for is the pure loss, and says nothing of one that is forgiven a δ.
    if claim.delta == 0 and isinstance(mechanism, SearchedMechanism):
        found = mechanism.largest_loss(arm.inputs()[0])
        if found is not None:
            # Nobody needs more decimals, and further ones would depend on the machine.
            told["largest_found"] = {"epsilon": round(found.epsilon, 6), "words": found.words}
    if isinstance(mechanism, BoundedMechanism):
        bound = mechanism.proved_bound(arm.inputs()[0])
        if bound is not None:
            told["proved_bound"] = {"epsilon": bound.epsilon, "words": bound.words}
    return told


def _curves(left: Law, right: Law, reach: float) -> dict[str, Any]:
    """Return δ(ε) up to ``reach``, and the trade-off between false alarms and misses."""
    epsilons = np.linspace(0.0, reach if np.isfinite(reach) else 1.0, POINTS)
    # Nobody needs more decimals, and further ones would depend on the machine.
    deltas = hockey_stick(left, right, epsilons).round(DECIMALS) + 0.0
    alarm, miss = (curve.round(DECIMALS) + 0.0 for curve in trade_off(left, right))
    # Leaving vertices out of a convex curve leaves an attack that is no better than the best.
    kept = np.unique(np.linspace(0, len(alarm) - 1, POINTS).round().astype(int))
    return {
        "hockey_stick": {"epsilon": epsilons.tolist(), "delta": deltas.tolist()},
        "trade_off": {"false_alarm": alarm[kept].tolist(), "miss": miss[kept].tolist()},
    }


def _left_out(run: Run, laws: Sequence[Law]) -> dict[str, Any]:
    """Tell of the probability that a law leaves out, where it is more than rounding."""
    missing = max(law.missing for law in laws)
    if missing <= EXACT_SLACK:
        return {}
    missing = float(f"{missing:.3g}")
    run.remark(
        f"the law leaves out improbable outputs, of probability {missing:g} together: the loss is "
        "at least what is told, wherever that probability is"
    )
    return {"left_out": missing}


def _exact_counts(loss: ExactLoss) -> dict[str, Any]:
    left, right = loss.probabilities
    ours, theirs = (left, right) if loss.side == "left" else (right, left)
    return {"probability": ours, "probability_other": theirs}
