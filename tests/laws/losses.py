"""Privacy losses enclosed in both ways, from the enclosures of two probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple

import flint

from pdpaudit.algorithms.laws.closed_form import enclose_round, enclosure_of
from pdpaudit.algorithms.laws.exact_round import Enclosure, ExactRound
from pdpaudit.algorithms.laws.verify import enclose_by_quadrature
from pdpaudit.core.protocols import LawUnavailable


class LossEnclosure(NamedTuple):
    first: Enclosure
    second: Enclosure
    loss: Enclosure

    def agrees_with(self, loss: Enclosure) -> bool:
        return self.loss.lower <= loss.upper and loss.lower <= self.loss.upper


def enclose_loss(first: ExactRound, second: ExactRound, event: Any) -> LossEnclosure:
    """In closed form; ``event`` is one for both sides, or a pair."""
    mine, other = event if isinstance(event, tuple) else (event, event)
    return _loss(
        enclose_round(first, mine, relative=1e-16), enclose_round(second, other, relative=1e-16)
    )


def verify_loss(first: ExactRound, second: ExactRound, event: Any) -> LossEnclosure:
    """By verified quadrature."""
    mine, other = event if isinstance(event, tuple) else (event, event)
    return _loss(enclose_by_quadrature(first, mine), enclose_by_quadrature(second, other))


def _loss(one: Enclosure, two: Enclosure) -> LossEnclosure:
    if one.lower <= 0 or two.lower <= 0:
        raise LawUnavailable("an event of probability 0 has no finite loss to enclose")
    with flint.ctx.workprec(300):
        loss = (_ball(one) / _ball(two)).log()
        return LossEnclosure(one, two, enclosure_of(loss))


def _ball(enclosure: Enclosure) -> Any:
    low, high = (
        flint.arb(flint.fmpq(end.numerator, end.denominator))
        for end in (enclosure.lower, enclosure.upper)
    )
    return low.union(high)
