"""Verify a certificate by code that shares nothing with the prover but how mechanisms are asked.

The probabilities are enclosed again by the mechanism's second way, from the definitions; the
logarithm is the decimal module's, which is correctly rounded, where the prover's is flint's.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction

from pdpaudit.core.errors import InputError, Misbehaviour
from pdpaudit.core.protocols import LawUnavailable
from pdpaudit.core.subject import Subject
from pdpaudit.outputs import Event
from pdpaudit.results.results import ClaimResult
from pdpaudit.results.witnesses import Certificate, Ends, Interval

#: How a loss was found that is enclosed.
PROVED = "enclosure"

#: Digits of the logarithm, and what they leave out, relatively.
_DIGITS = Context(prec=40)
_LOG_ERROR = Fraction(1, 10**38)

#: What rounding an end to 15 digits can move, relatively to the larger of it and 1.
_PRINTED = Fraction(1, 10**12)

#: A double of an exact loss against its enclosure.
_DOUBLE = Fraction(1, 10**7)


def check_certificate(
    claim: ClaimResult,
    mechanism: object,
    event: Event,
    possible: frozenset[Hashable],
    ours: object,
    theirs: object,
) -> tuple[bool, str]:
    """Return whether a certificate holds, and why."""
    mechanism = Subject.of(mechanism)
    if not mechanism.has("enclose", "enclose_again"):
        raise InputError(f"{claim.id}: the mechanism encloses nothing any more; audit again")
    certificate, promise = claim.witness.certificate if claim.witness else None, claim.promise
    if certificate is None or not promise.approximate or math.isinf(promise.epsilon):
        raise InputError(f"{claim.id}: holds no certificate of an (ε, δ); audit again")
    filed, outputs = certificate.enclosed, certificate.outputs
    epsilon, delta = Fraction(promise.epsilon), Fraction(promise.delta)
    if claim.event.proof != filed:
        return False, "the certificate is not the one in the claim"
    if not outputs or outputs != possible or not all(output in event for output in outputs):
        return False, "the certificate is about another event than the witness"
    try:
        p = mechanism.enclosure("enclose_again", ours, outputs)
        q = mechanism.enclosure("enclose_again", theirs, outputs)
    except (LawUnavailable, Misbehaviour) as error:
        return False, f"the probabilities cannot be enclosed again: {error}"
    ours_filed, theirs_filed, loss_filed, excess_filed = map(
        _exactly, (filed.probability, filed.probability_other, filed.loss, filed.excess)
    )
    for own, on_file, key in (
        (p, ours_filed, "probability"),
        (q, theirs_filed, "probability_other"),
    ):
        if not _overlap(own, on_file):
            return False, f"{key} lies in {_words(own)} by separate code, not in {_words(on_file)}"
    if p[0] <= delta or q[0] <= 0 or ours_filed[0] <= delta or min(loss_filed) <= 0:
        return False, "a probability cannot be distinguished from δ"
    loss = _loss(p, q, delta)
    if not _overlap(loss, loss_filed):
        return False, (
            f"the loss lies in {_words(loss)} by separate code, not in {_words(loss_filed)}"
        )
    if not _close(_loss(ours_filed, theirs_filed, delta), loss_filed):
        return False, "the loss on file does not follow from the probabilities on file"
    if not _close((loss_filed[0] - epsilon, loss_filed[1] - epsilon), excess_filed):
        return False, "the excess on file is not the loss less the claim"
    exact = claim.exact
    if exact is None or math.isinf(exact):
        return False, "the exact loss on file is none"
    if abs(Fraction(exact) - loss[0]) > _DOUBLE * max(Fraction(1), loss[0]):
        return False, "the exact loss on file is not the one enclosed"
    proved = loss[0] > epsilon and filed.proves
    if proved != (claim.status == "violated"):
        return False, f"the loss lies in {_words(loss)}, which is not what the verdict says"
    return True, (
        f"loss enclosed again by separate code, in {_words(loss)}, above the claim of "
        f"{float(epsilon):.6g}: a theorem about this pair"
    )


def certified(claim: ClaimResult, certificate: Certificate) -> ClaimResult:
    """Return a claim with its certificate."""
    witness = claim.witness
    assert witness is not None
    return replace(
        claim,
        method=PROVED,
        event=replace(claim.event, proof=certificate.enclosed),
        witness=replace(witness, method=PROVED, certificate=certificate),
    )


def _exactly(ends: Ends) -> Interval:
    return Fraction(ends[0]), Fraction(ends[1])


def _loss(p: Interval, q: Interval, delta: Fraction) -> Interval:
    return _log((p[0] - delta) / q[1])[0], _log((p[1] - delta) / q[0])[1]


def _log(value: Fraction) -> Interval:
    """Enclose a logarithm: divide and take it in 40 digits, each rounded by at most one unit."""
    ratio = _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
    found = Fraction(_DIGITS.ln(ratio))
    error = _LOG_ERROR * (1 + abs(found))
    return found - error, found + error


def _overlap(one: Interval, two: Interval) -> bool:
    return one[0] <= two[1] and two[0] <= one[1]


def _close(one: Interval, two: Interval) -> bool:
    return all(
        abs(a - b) <= _PRINTED * max(Fraction(1), abs(a)) for a, b in zip(one, two, strict=True)
    )


def _words(ends: Interval) -> str:
    return f"[{float(ends[0]):.12g}, {float(ends[1]):.12g}]"
