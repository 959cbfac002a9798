"""Verify a certificate by code that shares nothing with the prover but how mechanisms are asked.

The probabilities are enclosed again by the mechanism's second way, from the definitions; the
logarithm is the decimal module's, which is correctly rounded, where the prover's is flint's.
"""

from __future__ import annotations

from collections.abc import Hashable
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction

from pdpaudit.core.errors import InputError, Misbehaviour
from pdpaudit.core.protocols import LawUnavailable
from pdpaudit.core.subject import Subject
from pdpaudit.outputs import Event
from pdpaudit.outputs.records import JSON
from pdpaudit.results.witnesses import Certificate, Interval

#: How a loss was found that is enclosed.
PROVED = "enclosure"

#: What is said of a loss enclosed above its claim.
THEOREM = "this is a theorem about this pair"

#: Digits of the logarithm, and what they leave out, relatively.
_DIGITS = Context(prec=40)
_LOG_ERROR = Fraction(1, 10**38)

#: What rounding an end to 15 digits can move, relatively to the larger of it and 1.
_PRINTED = Fraction(1, 10**12)

#: A double of an exact loss against its enclosure.
_DOUBLE = Fraction(1, 10**7)


def check_certificate(
    claim: JSON,
    mechanism: object,
    event: Event,
    possible: frozenset[Hashable],
    ours: object,
    theirs: object,
) -> tuple[bool, str]:
    """Return whether a certificate holds, and why."""
    name = str(claim.get("id", "claim"))
    mechanism = Subject.of(mechanism)
    if not mechanism.has("enclose", "enclose_again"):
        raise InputError(f"{name}: the mechanism encloses nothing any more; audit again")
    try:
        body = claim["witness"]["certificate"]
        filed = Certificate.from_json(body)
        epsilon, delta = (Fraction(claim["claimed"][key]) for key in ("epsilon", "delta"))
    except (KeyError, TypeError, ValueError, InvalidOperation) as error:
        raise InputError(f"{name}: its certificate is damaged ({error}); audit again") from None
    copied = claim.get("event", {}).get("proof", {})
    if any(copied.get(key) != list(body[key]) for key in filed.intervals()):
        return False, "the certificate is not the one in the claim"
    outputs = filed.outputs
    if not outputs or outputs != possible or not all(output in event for output in outputs):
        return False, "the certificate is about another event than the witness"
    try:
        p = mechanism.enclosure("enclose_again", ours, outputs)
        q = mechanism.enclosure("enclose_again", theirs, outputs)
    except (LawUnavailable, Misbehaviour) as error:
        return False, f"the probabilities cannot be enclosed again: {error}"
    for own, key in ((p, "probability"), (q, "probability_other")):
        if not _overlap(own, getattr(filed, key)):
            return False, f"{key} lies in {_words(own)} by separate code, not in {body[key]}"
    if p[0] <= delta or q[0] <= 0 or filed.probability[0] <= delta or min(filed.loss) <= 0:
        return False, "a probability cannot be distinguished from δ"
    loss = _loss(p, q, delta)
    if not _overlap(loss, filed.loss):
        return False, f"the loss lies in {_words(loss)} by separate code, not in {body['loss']}"
    meant = _loss(filed.probability, filed.probability_other, delta)
    if not _close(meant, filed.loss):
        return False, "the loss on file does not follow from the probabilities on file"
    if not _close((filed.loss[0] - epsilon, filed.loss[1] - epsilon), filed.excess):
        return False, "the excess on file is not the loss less the claim"
    exact = claim.get("exact")
    if exact is None or abs(Fraction(exact) - loss[0]) > _DOUBLE * max(Fraction(1), loss[0]):
        return False, "the exact loss on file is not the one enclosed"
    proved = loss[0] > epsilon and filed.excess[0] > 0
    if proved != (claim.get("status") == "violated"):
        return False, f"the loss lies in {_words(loss)}, which is not what the verdict says"
    return True, (
        f"loss enclosed again by separate code, in {_words(loss)}, above the claim of "
        f"{float(epsilon):.6g}: a theorem about this pair"
    )


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
