"""Audit by the exact output law: nothing is sampled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pdpaudit.audit.arms import Arm
from pdpaudit.audit.climbing import Found, by_score, climb
from pdpaudit.audit.plan import Watcher
from pdpaudit.audit.telling import Run, told
from pdpaudit.contracts import LawfulMechanism, LawUnavailable, PrivacyClaim
from pdpaudit.evidence.event import simplest
from pdpaudit.losses import ExactLoss, exact_loss
from pdpaudit.results import ClaimResult

__all__ = ["EXACT_SLACK", "by_law"]

#: An exact loss is computed to about 1e-10; a claim is broken by more than this.
EXACT_SLACK = 1e-9

#: Families to climb from, and rounds of local moves in each climb.
STARTS = 3
MOVES = 25


def by_law(
    run: Run, arms: Sequence[Arm], claims: Sequence[PrivacyClaim]
) -> tuple[list[Found], list[ClaimResult]] | None:
    """Compute; None where no law is available."""
    assert isinstance(run.mechanism, LawfulMechanism)
    deltas = list(dict.fromkeys(claim.delta for claim in claims))
    plan = run.plan
    try:
        found = _search(
            run.mechanism,
            arms,
            deltas,
            seed=plan.seed,
            watcher=run.watcher,
        )
    except LawUnavailable:
        return None
    results = []
    for number, claim in enumerate(claims, start=1):
        worst = max(found, key=lambda one: one.losses[claim.delta].epsilon)
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
                counts=_exact_counts(loss),
            )
        )
    return found, results


def _search(
    mechanism: LawfulMechanism,
    arms: Sequence[Arm],
    deltas: Sequence[float],
    *,
    seed: int,
    watcher: Watcher,
) -> list[Found]:
    """Compute the exact loss of every arm, then climb from the worst; no samples.

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
        If the mechanism has no law on some instance.
    """

    def measure(arm: Arm) -> Found:
        left, right = (mechanism.law(side) for side in arm.inputs())
        losses = {delta: exact_loss(left, right, delta) for delta in deltas}
        watcher.advance(1)
        return Found(arm, losses[deltas[0]].epsilon, losses)

    watcher.stage("computing exact losses", len(arms))
    found = [measure(arm) for arm in arms]
    for start in _starts(found):
        found = climb(start, found, measure, MOVES, seed)
    return by_score(found)


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


def _exact_counts(loss: ExactLoss) -> dict[str, Any]:
    left, right = loss.probabilities
    ours, theirs = (left, right) if loss.side == "left" else (right, left)
    return {"probability": ours, "probability_other": theirs}
