"""Privacy losses enclosed in both ways, from the enclosures of two probabilities."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mpmath import mp, mpf

from pdpaudit.algorithms.laws.closed_form import enclose_round
from pdpaudit.algorithms.laws.networks import ExactRound, Interval, Number
from pdpaudit.algorithms.laws.verify import enclose_by_quadrature
from pdpaudit.core.protocols import LawUnavailable


def search_com_round(
    targets: list[Number],
    protected: Any,
    *,
    impact_cardinality: Number,
    threshold: Number,
    epsilon: Number = 1,
    sensitivity: Number = 1,
) -> ExactRound:
    """A round of SearchCom with the noises of the appendix."""
    return ExactRound.of(
        targets,
        Fraction(4 * sensitivity) / Fraction(epsilon),
        protected=protected,
        threshold=threshold,
        threshold_scale=Fraction(2 * impact_cardinality) / Fraction(epsilon),
    )


def enclose_loss(first: ExactRound, second: ExactRound, event: Any) -> Interval:
    """In closed form; ``event`` is one for both sides, or a pair."""
    mine, other = event if isinstance(event, tuple) else (event, event)
    return _loss(enclose_round(first, mine), enclose_round(second, other))


def verify_loss(first: ExactRound, second: ExactRound, event: Any) -> Interval:
    """By verified quadrature."""
    mine, other = event if isinstance(event, tuple) else (event, event)
    return _loss(enclose_by_quadrature(first, mine), enclose_by_quadrature(second, other))


def agree(one: Interval, other: Interval) -> bool:
    """Whether two intervals meet."""
    return one[0] <= other[1] and other[0] <= one[1]


def _loss(one: Interval, two: Interval) -> Interval:
    if one[0] <= 0 or two[0] <= 0:
        raise LawUnavailable("an event of probability 0 has no finite loss to enclose")
    return _log(one[0] / two[1], -1), _log(one[1] / two[0], 1)


def _log(value: Fraction, side: int) -> Fraction:
    """Logarithm in 60 digits, moved outward by far more than its error."""
    with mp.workdps(60):
        found = mp.log(mpf(value.numerator) / value.denominator)
        return Fraction(str(mp.nstr(found, 50))) + side * Fraction(1, 10**40)
