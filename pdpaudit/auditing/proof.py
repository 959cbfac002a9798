"""Prove a violation: enclose both probabilities of the event, and so the loss, above the claim.

A certificate holds intervals in decimal digits, rounded outward. Separate code verifies it
(:mod:`pdpaudit.inference.certificate`), before it is written and at every replay.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from pdpaudit.auditing.candidate_pairs import MeasuredPair
from pdpaudit.core.errors import Misbehaviour
from pdpaudit.core.protocols import LawUnavailable, PrivacyClaim
from pdpaudit.core.subject import Subject
from pdpaudit.inference.certificate import certified, check_certificate
from pdpaudit.results.files import Fields
from pdpaudit.results.results import ClaimResult
from pdpaudit.results.witnesses import Certificate, Enclosure, Interval, printed

#: Working precision of the logarithm, in bits.
BITS = 256


class Unproved(ValueError):
    """Why there is no proof, in one sentence."""


def prove(
    mechanism: object,
    ours: object,
    theirs: object,
    outputs: frozenset[Hashable],
    claim: PrivacyClaim,
) -> Certificate:
    """Enclose the loss of an event."""
    try:
        p, q = (Subject.of(mechanism).enclosure("enclose", one, outputs) for one in (ours, theirs))
    except (LawUnavailable, Misbehaviour) as error:
        raise Unproved(str(error)) from None
    slack = Fraction(claim.delta)
    if q[0] <= 0 or p[0] <= slack:
        raise Unproved("a probability of the event cannot be distinguished from δ")
    loss = (_log((p[0] - slack) / q[1])[0], _log((p[1] - slack) / q[0])[1])
    promised = Fraction(claim.epsilon)
    excess = loss[0] - promised, loss[1] - promised
    return Certificate(outputs, Enclosure(*map(printed, (p, q, loss, excess))))


def prove_claim(claim: ClaimResult, mechanism: object, pair: MeasuredPair | None) -> ClaimResult:
    """Turn a violation by the laws of a pair into a proved one, or say why not."""
    if claim.status != "violated":
        return claim
    try:
        return _proved(claim, mechanism, pair)
    except Unproved as reason:
        return replace(claim, event=replace(claim.event, unproved=str(reason)))


def _proved(claim: ClaimResult, mechanism: object, pair: MeasuredPair | None) -> ClaimResult:
    """Return the claim with its certificate, once it is verified as `replay` will verify it."""
    if claim.exact is None or claim.witness is None or pair is None or pair.laws is None:
        raise Unproved("the loss was sampled, and no sample is a proof")
    if not Subject.of(mechanism).has("enclose", "enclose_again"):
        raise Unproved("the mechanism offers no enclosure of its probabilities")
    event = claim.witness.event
    outputs = frozenset(o for law in pair.laws for o in law.probabilities if o in event)
    left, right = pair.candidate.inputs()
    ours, theirs = (left, right) if event.side == "left" else (right, left)
    promise = claim.promise
    if not promise.approximate:
        raise Unproved("only a loss above (ε, δ) is enclosed")
    certificate = prove(mechanism, ours, theirs, outputs, promise)
    if not certificate.enclosed.proves:
        raise Unproved("the enclosure of the loss does not lie above the claim")
    proved = certified(claim, certificate)
    written = ClaimResult.from_json(Fields(json.loads(json.dumps(proved.to_json())), "it", ""))
    try:
        holds, why = check_certificate(written, mechanism, event, outputs, ours, theirs)
    except ValueError as error:
        raise Unproved(str(error)) from None
    if not holds:
        raise Unproved(f"replay would refuse the certificate: {why}")
    return proved


def _log(value: Fraction) -> Interval:
    import flint

    with flint.ctx.workprec(BITS):
        ball = flint.arb(flint.fmpq(value.numerator, value.denominator)).log()
        low, high = ball.lower(), ball.upper()
        return _exact(low), _exact(high)


def _exact(ball: Any) -> Fraction:
    # An end of a ball is itself a ball without a radius.
    mantissa, exponent = ball.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
