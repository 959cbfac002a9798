"""Audit by the exact output law: nothing is sampled."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from pdpaudit.auditing.attack_metrics import metrics_by_law
from pdpaudit.auditing.candidate_pairs import CandidatePair, MeasuredPair
from pdpaudit.auditing.claim_results import (
    AuditContext,
    Evidence,
    Witnessed,
    claim_fields,
    unconfirmed_claim,
)
from pdpaudit.auditing.exact_search import (
    DECIMALS,
    TooExpensive,
    search_by_law,
    worst_of,
)
from pdpaudit.auditing.law_test import Incomparable, compare_laws
from pdpaudit.core.errors import Misbehaviour, OutOfTime
from pdpaudit.core.privacy_loss import (
    ROUNDED,
    ExactLoss,
    hockey_stick,
    largest_excess,
    loss_for,
    trade_off,
)
from pdpaudit.core.protocols import (
    CodedOutputs,
    LargestLoss,
    Law,
    LawUnavailable,
    PrivacyClaim,
    ProvedBound,
)
from pdpaudit.core.subject import Part
from pdpaudit.outputs import simplest
from pdpaudit.results.measurements import AtMost, ClaimEvent, Curve, EventLaw, KnownLoss
from pdpaudit.results.results import ClaimResult, ExactFinding, Status

#: An exact loss is computed to about 1e-10, unless a law says otherwise; a claim is broken by more
#: than this.
EXACT_SLACK = 1e-9

#: How such a loss was found, as a result says.
METHOD = "exact law"

Said = TypeVar("Said", LargestLoss, ProvedBound)

#: What is said of a claim that nothing was found out about in time.
TOO_LATE = "the time limit was reached before this claim was judged; give more time"

#: Mass left out up to which a claim counts as tried: a fiftieth of the least probable event that
#: a sampled audit answers for.
MOST_LEFT_OUT = 1e-3

#: Points of the curve δ(ε), and most vertices of the trade-off, that are written out.
POINTS = 33

#: ε up to which δ(ε) is written out where the claim has none.
MOST_EPSILON = 4.0


def audit_by_law(
    context: AuditContext, candidates: Sequence[CandidatePair], claims: Sequence[PrivacyClaim]
) -> tuple[list[MeasuredPair], list[ClaimResult]] | None:
    """Judge claims by exact laws; None where no law is available."""
    kinds = list(dict.fromkeys(claim.family for claim in claims))
    try:
        tried = candidates[: context.config.tries]
        found = search_by_law(context, context.mechanism, tried, kinds)
    except LawUnavailable as unavailable:
        if isinstance(unavailable, TooExpensive):
            context.remark(
                f"{unavailable}, so it was sampled instead; "
                "`time_limit` gives them as many seconds as you like"
            )
        return None
    wrong: set[CandidatePair] = set()
    worst = {kind: worst_of(found, kind) for kind in kinds if found}
    try:
        if found:
            wrong = compare_laws(context, found, worst.values())
    except OutOfTime:
        worst = {}
    except Incomparable as reason:
        context.remark(
            f"its law cannot be compared with its runs: {reason}; it was sampled instead"
        )
        return None
    results = []
    for number, claim in enumerate(claims, start=1):
        result, pair = None, worst.get(claim.family)
        if pair is not None and pair.candidate not in wrong and not context.late:
            try:
                result = _judged(context, number, claim, pair, found)
            except Misbehaviour as error:
                context.blocked.append(f"{pair.candidate.label}, {error}")
        if context.blocked and (result is None or result.status != "violated"):
            why = f"{context.blocked[0]}; `samples` does without its law"
            result = unconfirmed_claim(context, number, claim, why)
        if result is None:
            result = unconfirmed_claim(context, number, claim, TOO_LATE, status="inconclusive")
        results.append(context.proved(result, pair))
    return found, results


def by_beginning(
    context: AuditContext, candidates: Sequence[CandidatePair], claims: Sequence[PrivacyClaim]
) -> tuple[list[MeasuredPair], list[ClaimResult | None]] | None:
    """Break claims by the law of how the output begins: all of it loses no less.

    None for a claim, or for all, that this law does not break.
    """
    try:
        shorter = context.mechanism.beginning(context.until())
    except (LawUnavailable, OutOfTime):
        return None
    except Misbehaviour as error:
        why = f"{error}; `samples` does without its law"
        return [], [unconfirmed_claim(context, i, one, why) for i, one in enumerate(claims, 1)]
    spec = context.spec and replace(context.spec, beginning=True)
    begun = replace(context, mechanism=shorter, spec=spec)
    judged = audit_by_law(begun, candidates, claims)
    if judged is None:
        return None
    found, results = judged
    broken = [one if one is not None and one.status == "violated" else None for one in results]
    if not any(broken):
        context.remark(
            "only the beginning of its output has an exact law, and by that law no claim is broken "
            "on the pairs tried: it was sampled"
        )
        return None
    context.remark(
        "judged by the exact law of how its output begins: all of the output loses no less"
        + (", and what that law does not break was sampled" if None in broken else "")
    )
    return found, broken


def _judged(
    context: AuditContext,
    number: int,
    claim: PrivacyClaim,
    worst: MeasuredPair,
    found: Sequence[MeasuredPair],
) -> ClaimResult:
    """Tell what the worst pair says of a claim."""
    laws = worst.laws
    assert laws is not None
    loss = loss_for(*laws, claim)
    event = simplest(loss.outputs, loss.event, loss.side, _shared(*laws))
    ends = _ends([one.losses[claim.family] for one in found])
    evidence = Evidence(context, number, claim, worst.candidate, event)
    return exact_claim(evidence, laws, loss, ends)


def _shared(left: Law, right: Law) -> int:
    """Return how many first entries all outputs of a pair share, as far as its laws know."""
    one, other = left.probabilities, right.probabilities
    if isinstance(one, CodedOutputs) and isinstance(other, CodedOutputs):
        return one.shared if one.coding == other.coding else 0
    return 0


def exact_claim(
    evidence: Evidence, laws: tuple[Law, Law], loss: ExactLoss, ends: tuple[float, float]
) -> ExactFinding:
    """Say what a pair shows of a claim by its laws, by one event; ``replay`` does so again.

    The probabilities of ``loss`` are those of the event; ``ends`` are of all pairs.
    """
    context, claim, side = evidence.context, evidence.claim, evidence.event.side
    status = verdict(claim.value, loss.at_least, *ends)
    at_most = _at_most(loss, ends)
    left_out = _left_out(context, laws)
    ours, theirs = loss.probabilities if side == "left" else loss.probabilities[::-1]
    found, proved = _bounds(context, evidence.candidate, claim, loss)
    hockey, curve = _curves(*laws, claim, loss)
    below = None if claim.approximate else largest_excess(*laws, claim)
    law = EventLaw(ours, theirs, left_out, at_most, found, proved, below, hockey, curve)
    witnessed: Witnessed = {"ends": None if at_most is None else ends}
    return ExactFinding(
        **claim_fields(evidence, METHOD, ClaimEvent(law=law), witnessed),
        status=status,
        lower_bound=loss.at_least,
        exact=loss.epsilon,
        samples={"discovery": 0, "confirmation": 0},
        detectable_epsilon=_detectable(claim, status, *ends),
        inference=metrics_by_law(*laws, side, claim),
    )


def _ends(losses: Sequence[ExactLoss]) -> tuple[float, float]:
    """Return what no pair loses more than, and the mass left out that it does not speak of."""
    return max(one.at_most for one in losses), max(one.left_out for one in losses)


def verdict(claimed: float, at_least: float, at_most: float, left_out: float) -> Status:
    """Return the verdict on a claim from what the worst pair loses, and all pairs at most."""
    if at_least > claimed + EXACT_SLACK:
        return "violated"
    known = at_most <= claimed + EXACT_SLACK and left_out <= MOST_LEFT_OUT
    return "not_rejected" if known else "inconclusive"


def _detectable(claim: PrivacyClaim, status: Status, at_most: float, left_out: float) -> float:
    """Return the loss above which any would have been seen, but for a little that is left out."""
    if left_out > MOST_LEFT_OUT:
        return math.inf
    return max(claim.value, EXACT_SLACK, at_most if status == "inconclusive" else 0.0)


def _at_most(loss: ExactLoss, ends: tuple[float, float]) -> AtMost | None:
    """Tell of the upper end where it is not the exact loss but for rounding."""
    most, left_out = ends
    if left_out <= ROUNDED and most <= loss.epsilon + EXACT_SLACK:
        return None
    return AtMost(most, float(f"{left_out:.3g}") if left_out > ROUNDED else 0.0)


def _bounds(
    context: AuditContext, candidate: CandidatePair, claim: PrivacyClaim, loss: ExactLoss
) -> tuple[KnownLoss | None, KnownLoss | None]:
    """Return what is known of the mechanism in the pair's configuration: found, and proved."""
    largest = proved = None
    instance = candidate.inputs()[0]
    # What is searched for is the pure loss, and says nothing of one that is forgiven a δ.
    if claim.approximate and claim.delta == 0 and context.mechanism.has("largest_loss"):
        found = _said(context, "largest_loss", LargestLoss, instance)
        if found is not None:
            # Nobody needs more decimals, and further ones would depend on the machine.
            largest = KnownLoss(round(found.epsilon, 6), found.words)
    if claim.approximate and context.mechanism.has("proved_bound"):
        bound = _said(context, "proved_bound", ProvedBound, instance)
        if bound is not None and bound.epsilon < loss.at_least - EXACT_SLACK:
            raise Misbehaviour(
                f"its proved_bound is {bound.epsilon:.6g}, and by its law the pair loses "
                f"{loss.at_least:.6g}: one of them is wrong"
            )
        if bound is not None:
            proved = KnownLoss(bound.epsilon, bound.words)
    return largest, proved


def _said(context: AuditContext, part: Part, kind: type[Said], instance: object) -> Said | None:
    """Return what the mechanism says of itself, None where that is nothing or of another kind."""
    try:
        said = context.mechanism.ask(part, instance, until=context.until())
    except OutOfTime:
        context.remark(f"the time limit left no time for its {part}")
        return None
    except Misbehaviour as error:
        context.remark(f"{error}; it was left out")
        return None
    if said is None:
        return None
    if isinstance(said, kind):
        if isinstance(said.epsilon, numbers.Real) and said.epsilon >= 0:
            return said
        raise Misbehaviour(f"its {part} is {said.epsilon!r}, which is no loss")
    context.remark(f"its {part} is no {kind.__name__}; it was left out")
    return None


def _curves(left: Law, right: Law, claim: PrivacyClaim, loss: ExactLoss) -> tuple[Curve, Curve]:
    """Return δ(ε) up to the loss, and the trade-off curve."""
    reach = max(claim.epsilon, loss.epsilon) if claim.approximate else MOST_EPSILON
    epsilons = np.linspace(0.0, reach if np.isfinite(reach) else 1.0, POINTS)
    # Nobody needs more decimals, and further ones would depend on the machine.
    deltas = hockey_stick(left, right, epsilons).round(DECIMALS) + 0.0
    alarm, miss = (curve.round(DECIMALS) + 0.0 for curve in trade_off(left, right))
    # Leaving vertices out of a convex curve leaves an attack that is no better than the best.
    kept = np.unique(np.linspace(0, len(alarm) - 1, POINTS).round().astype(int))
    hockey = tuple(epsilons.tolist()), tuple(deltas.tolist())
    return hockey, (tuple(alarm[kept].tolist()), tuple(miss[kept].tolist()))


def _left_out(context: AuditContext, laws: Sequence[Law]) -> float | None:
    """Tell of the probability that a law leaves out, where it is more than rounding."""
    missing = max(law.missing for law in laws)
    if missing <= EXACT_SLACK:
        return None
    missing = float(f"{missing:.3g}")
    context.remark(
        f"the law leaves out improbable outputs, of probability {missing:g} together: the loss is "
        "at least what is stated, wherever that probability is"
    )
    return missing
