"""Audit by the exact output law: nothing is sampled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from pdpaudit.asking import ask, law_of
from pdpaudit.audit.agreeing import disagreement
from pdpaudit.audit.arms import Arm
from pdpaudit.audit.climbing import Found
from pdpaudit.audit.hunting import DECIMALS, hunt, patience
from pdpaudit.audit.inference import by_laws
from pdpaudit.audit.telling import Run, stopped, told
from pdpaudit.contracts import (
    BoundedMechanism,
    LargestLoss,
    Law,
    LawfulMechanism,
    LawUnavailable,
    PrivacyClaim,
    ProvedBound,
    SearchedMechanism,
)
from pdpaudit.errors import Misbehaviour
from pdpaudit.losses import ExactLoss, hockey_stick, trade_off
from pdpaudit.outputs import Event, Side, simplest
from pdpaudit.results import ClaimResult

__all__ = ["EXACT_SLACK", "METHOD", "by_law", "judged"]

#: An exact loss is computed to about 1e-10, unless a law says otherwise; a claim is broken by more
#: than this.
EXACT_SLACK = 1e-9

#: How such a loss was found, as a result says.
METHOD = "exact law"

Said = TypeVar("Said")

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
    laws: dict[Arm, tuple[Law, Law]] = {}
    results = []
    for number, claim in enumerate(claims, start=1):
        result = None
        if found:
            worst = _worst(found, claim.delta)
            try:
                if worst.arm not in laws:
                    laws[worst.arm] = _believed(run, run.mechanism, worst.arm)
                result = _judged(run, number, claim, worst, laws[worst.arm])
            except Misbehaviour as error:
                run.blocked.append(f"{worst.arm.label}, {error}")
        if result is None or (run.blocked and result.status != "violated"):
            why = f"{run.blocked[0]}; --samples does without its law"
            result = stopped(run, number, claim, why)
        results.append(result)
    return found, results


def _believed(run: Run, mechanism: LawfulMechanism, arm: Arm) -> tuple[Law, Law]:
    """Return the laws of a pair, once its runs do not contradict them."""
    one, other = arm.inputs()
    limit = patience(run)
    laws = law_of(mechanism, one, limit), law_of(mechanism, other, limit)
    odd = disagreement(run, arm, laws)
    if odd:
        raise Misbehaviour(odd)
    return laws


def _judged(
    run: Run, number: int, claim: PrivacyClaim, worst: Found, laws: tuple[Law, Law]
) -> ClaimResult:
    """Tell what the worst pair says of a claim."""
    loss = worst.losses[claim.delta]
    event = simplest(loss.outputs, loss.event, loss.side)
    return judged(run, number, claim, worst.arm, laws, event, loss)


def judged(
    run: Run,
    number: int,
    claim: PrivacyClaim,
    arm: Arm,
    laws: tuple[Law, Law],
    event: Event,
    loss: ExactLoss,
) -> ClaimResult:
    """Tell what a pair says of a claim by its laws, shown by one event; ``replay`` does so again.

    The probabilities of ``loss`` are those of the event.
    """
    slack = EXACT_SLACK + sum(law.error for law in laws)
    broken = loss.epsilon > claim.epsilon + slack
    return told(
        run,
        number,
        claim,
        arm,
        event,
        status="violated" if broken else "not_rejected",
        lower_bound=loss.epsilon,
        exact=loss.epsilon,
        method=METHOD,
        samples={"discovery": 0, "confirmation": 0},
        detectable_epsilon=max(claim.epsilon, EXACT_SLACK),
        counts={
            **_exact_counts(loss, event.side),
            **_left_out(run, laws),
            **_bound(run, arm, claim),
            **_curves(*laws, max(claim.epsilon, loss.epsilon)),
        },
        inference=by_laws(*laws, event.side, claim),
    )


def _worst(found: Sequence[Found], delta: float) -> Found:
    """Return the worst pair for a slack; of those that are alike the first."""
    return max(found, key=lambda one: round(one.losses[delta].epsilon, DECIMALS))


def _bound(run: Run, arm: Arm, claim: PrivacyClaim) -> dict[str, Any]:
    """Return what is known of the mechanism in the pair's configuration: found, and proved."""
    told = {}
    instance = arm.inputs()[0]
    # What is searched for is the pure loss, and says nothing of one that is forgiven a δ.
    if claim.delta == 0 and isinstance(run.mechanism, SearchedMechanism):
        found = _said(run, "largest_loss", LargestLoss, instance)
        if found is not None:
            # Nobody needs more decimals, and further ones would depend on the machine.
            told["largest_found"] = {"epsilon": round(found.epsilon, 6), "words": found.words}
    if isinstance(run.mechanism, BoundedMechanism):
        bound = _said(run, "proved_bound", ProvedBound, instance)
        if bound is not None:
            told["proved_bound"] = {"epsilon": bound.epsilon, "words": bound.words}
    return told


def _said(run: Run, part: str, kind: type[Said], instance: Any) -> Said | None:
    """Return what the mechanism says of itself, None where that is nothing or no sense."""
    try:
        said = ask(part, run.mechanism, instance, limit=patience(run))
    except Misbehaviour as error:
        run.remark(f"{error}; it was left out")
        return None
    if said is None or isinstance(said, kind):
        return said
    run.remark(f"its {part} is no {kind.__name__}; it was left out")
    return None


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


def _exact_counts(loss: ExactLoss, side: Side) -> dict[str, Any]:
    left, right = loss.probabilities
    ours, theirs = (left, right) if side == "left" else (right, left)
    return {"probability": ours, "probability_other": theirs}
