"""Audit by the exact output law: nothing is sampled."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from pdpaudit.audit.arms import Arm
from pdpaudit.audit.climbing import Found, by_score, climb
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
from pdpaudit.losses import ExactLoss, exact_loss, hockey_stick, trade_off
from pdpaudit.results import ClaimResult

__all__ = ["EXACT_SLACK", "by_law"]

#: An exact loss is computed to about 1e-10; a claim is broken by more than this.
EXACT_SLACK = 1e-9

#: Decimals of a loss that do not depend on the machine.
DECIMALS = 8

#: Points of the curve δ(ε), and most vertices of the trade-off, that are written out.
POINTS = 33

#: Seconds of work, as laws count it, after which the search ends where no time limit is given; and
#: how many times that all pairs may cost before sampling is the better use of it.
MOST_WORK = 60.0
TOO_DEAR = 2.0

#: Families to climb from, and rounds of local moves in each climb.
STARTS = 3
MOVES = 25


def by_law(
    run: Run, arms: Sequence[Arm], claims: Sequence[PrivacyClaim]
) -> tuple[list[Found], list[ClaimResult]] | None:
    """Compute; None where no law is available."""
    assert isinstance(run.mechanism, LawfulMechanism)
    deltas = list(dict.fromkeys(claim.delta for claim in claims))
    try:
        found = _search(run, run.mechanism, arms[: run.plan.tries], deltas)
    except LawUnavailable:
        return None
    results = []
    for number, claim in enumerate(claims, start=1):
        worst = _worst(found, claim.delta)
        loss = worst.losses[claim.delta]
        event = simplest(loss.outputs, loss.event, loss.side)
        broken = loss.epsilon > claim.epsilon + EXACT_SLACK
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
                    **_left_out(run, worst.arm),
                    **_bound(run.mechanism, worst.arm, claim),
                    **_curves(run.mechanism, worst.arm, max(claim.epsilon, loss.epsilon)),
                },
            )
        )
    return found, results


class _Enough(Exception):
    """The search for a pair has taken as long as it may."""


def _search(
    run: Run, mechanism: LawfulMechanism, arms: Sequence[Arm], deltas: Sequence[float]
) -> list[Found]:
    """Compute the exact loss of every arm, then climb from the worst; no samples.

    Ends with what it has once the time allowed is over, after one pair at the earliest; the
    law being computed then is still finished. Without a time limit the laws' own count of their
    work decides, which is the same on every machine.

    Parameters
    ----------
    deltas : sequence of float
        The slacks of the claims; the first is the one to climb for.

    Returns
    -------
    list of Found
        All that was computed, worst first.

    Raises
    ------
    LawUnavailable
        If the mechanism has no law on some instance, or laws are too dear for so many pairs.
    """
    limit = run.plan.time_limit
    until = math.inf if limit is None else time.monotonic() + limit
    measured: list[Found] = []
    work = 0.0

    def law(side: Any) -> Law:
        nonlocal work
        if measured and (time.monotonic() > until or (limit is None and work > MOST_WORK)):
            raise _Enough
        found = mechanism.law(side)
        work += found.work
        return found

    def measure(arm: Arm) -> Found:
        left, right = map(law, arm.inputs())
        losses = {delta: exact_loss(left, right, delta) for delta in deltas}
        run.watcher.advance(1)
        # Rounded, so that pairs which are alike tie, and the first is taken on every machine.
        measured.append(Found(arm, round(losses[deltas[0]].epsilon, DECIMALS), losses))
        needed = work / len(measured) * len(arms)
        if limit is None and len(measured) <= len(arms) and needed > TOO_DEAR * MOST_WORK:
            run.remark(
                f"the exact laws of {len(arms)} pairs would take about {needed:,.0f} s, "
                "so it was sampled instead; --time-limit gives them as many seconds as you like"
            )
            raise LawUnavailable("too dear")
        return measured[-1]

    run.watcher.stage("computing exact losses", len(arms))
    try:
        found = [measure(arm) for arm in arms]
        for start in _starts(found):
            found = climb(start, found, measure, MOVES, run.plan.seed)
    except _Enough:
        left_over = max(len(arms) - len(measured), 0)
        after = f"with {left_over} of {len(arms)} pairs untried" if left_over else "while climbing"
        run.remark(
            f"the search for a pair ended after laws of about {work:.0f} s, {after}; a longer one "
            "may find worse: --time-limit sets another"
            if limit is None
            else f"the search for a pair ended at its time limit of {limit:g} s, {after}: what it "
            "found depends on the machine, and a longer one may find worse"
        )
    return by_score(measured)


def _starts(found: Sequence[Found]) -> list[Found]:
    """Return the worst pair of each family, the worst families first.

    Climbing from the worst of all would only ever sharpen one shape of pair, and the shape that
    is worst in the end may not be so at the sizes tried first.
    """
    best: dict[str, Found] = {}
    for one in by_score(found):
        family = "" if one.arm.pair is None else one.arm.pair.family
        best.setdefault(family, one)
    return list(best.values())[:STARTS]


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


def _curves(mechanism: LawfulMechanism, arm: Arm, reach: float) -> dict[str, Any]:
    """Return δ(ε) up to ``reach``, and the trade-off between false alarms and misses."""
    left, right = (mechanism.law(side) for side in arm.inputs())
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


def _left_out(run: Run, arm: Arm) -> dict[str, Any]:
    """Tell of the probability that a law leaves out, where it is more than rounding."""
    assert isinstance(run.mechanism, LawfulMechanism)
    missing = max(run.mechanism.law(side).missing for side in arm.inputs())
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
