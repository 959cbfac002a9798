"""Enclose a round's probabilities a second time: verified quadrature, in ball arithmetic.

Shares no code with `closed_form`. The integrand is a product of exponentials between neighbouring
scores, so flint integrates it with a rigorous error, given enclosures on balls of the complex
plane. Where a ball is not a point, the count's law is enclosed by what it is at most in modulus;
at a point it is computed in double precision by products, quotients and sums of positive numbers,
where each operation costs at most one rounding of 2^-53 relative.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import flint
import numpy as np

from pdpaudit.core.protocols import LawUnavailable

from .networks import Ball, ExactRound, Interval, Levels, Number, ends_of

_BITS = 128
# Relatively, how large a ball is a point whose exponentials are right to one rounding.
_POINT = 2.0**-70
_UNIT = 2.0**-53
# What underflow can hide in one sum of at most 10^7 products.
_UNDERFLOW = 1e-290


def enclose_by_quadrature(
    question: ExactRound, event: Number | None, *, relative: float = 1e-11
) -> Interval:
    """Enclose the probability of an event rigorously by verified quadrature."""
    race = question.race(event)
    certain = question.certain(event)
    if certain is not None:
        return Fraction(certain), Fraction(certain)
    with flint.ctx.workprec(_BITS):
        counts = _Counts(question, event is None and question.stop_score is None)
        tolerance = 1e-9
        while tolerance > 1e-280:
            ball = _integral(counts, *race, relative / 8, tolerance)
            low, high = ends_of(ball)
            # What is wider although the tolerance is small enough is rounding.
            if low > 0 and (high - low <= relative * low or tolerance < 0.01 * relative * low):
                return low, high
            tolerance = min(1e-6 * tolerance, float(low) * 1e-3 * relative if low > 0 else 1)
    raise LawUnavailable("the probability is too small for verified quadrature")


def _number(value: Fraction) -> Ball:
    return flint.arb(value.numerator) / value.denominator


class _Counts:
    """The stopping rule: its probability for each count of protected vertices above the winner."""

    def __init__(self, question: ExactRound, failing: bool) -> None:
        self.levels = question.hidden
        size = sum(count for _, count in self.levels)
        self.values = np.ones(1)
        if question.threshold is not None:
            gaps = [count - question.threshold for count in range(size + 1)]
            scale = question.threshold_scale
            self.values = np.array([float(_tail(gap, scale, failing)) for gap in gaps])
        # Per level ratios, their products and the normalisation, then products of levels and the
        # final sum: each is one rounding per vertex, generously counted.
        self.slack = (20.0 * size + 200.0 * (len(self.levels) + 1)) * _UNIT

    def enclose(self, above: dict[Fraction, Ball], left: Callable[[Fraction], bool]) -> Ball:
        """Enclose the rule at a point, from each level's smaller of two probabilities."""
        law = np.ones(1)
        for score, count in self.levels:
            small = above[score].real
            part = _binomial(float(small / (1 - small)), count)
            law = np.convolve(law, part if left(score) else part[::-1])
        value = float(law @ self.values)
        return flint.arb(value, value * self.slack + _UNDERFLOW)

    def modulus(self, above: dict[Fraction, Ball]) -> Ball:
        """Bound the rule's modulus: that of a polynomial whose weights lie between 0 and 1."""
        result = flint.arb(1)
        for score, count in self.levels:
            result *= (abs(above[score]) + abs(1 - above[score])) ** count
        return result


def _tail(gap: Fraction, scale: Fraction, failing: bool) -> Ball:
    """Enclose Pr[Lap(scale) >= gap], or its complement."""
    if scale == 0:
        return flint.arb(int((gap <= 0) != failing))
    tail = _number(-abs(gap) / scale).exp() / 2
    return tail if (gap >= 0) != failing else 1 - tail


def _binomial(odds: float, count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return a binomial law by products of ratios away from the mode, normalised by their sum."""
    k = np.arange(count, dtype=float)
    ratio = odds * ((count - k) / (k + 1.0))
    mode = int(np.searchsorted(-ratio, -1.0))
    below, beyond = 1.0 / ratio[:mode][::-1], ratio[mode:]
    law = np.concatenate([np.cumprod(below)[::-1], [1.0], np.cumprod(beyond)])
    return np.asarray(law / law.sum())


def _integral(
    counts: _Counts,
    race: Levels,
    winners: Levels,
    relative: float,
    tolerance: float,
) -> Ball:
    """Sum the integrals over the pieces between scores, the outer ones in exp(x) and exp(-x)."""
    grown = {score: _number(score).exp() for score, _ in [*race, *counts.levels]}
    kinks = sorted(grown)

    def piece(where: Fraction | None, side: int) -> Callable[[Ball, bool], Ball]:
        def left(score: Fraction) -> bool:
            return where is not None and score <= where

        def density(z: Ball, _: bool) -> Ball:
            # Beyond a score one is above with probability t, before it below with it.
            up = z.exp() if side == 0 else z
            t = {
                s: (e / up if left(s) and side == 0 else e * z if left(s) else up / e) / 2
                for s, e in grown.items()
            }
            total = flint.acb(0)
            for winner, weight in winners:
                # In the outer pieces the variable itself cancels against the derivative.
                e = grown[winner]
                product = (t[winner] if side == 0 else (e if left(winner) else 1 / e) / 2) * weight
                for s, c in race:
                    product *= (1 - t[s] if left(s) else t[s]) ** (c - (s == winner))
                total += product
            size = 1.0 if side == 0 else abs(complex(z))
            if z.imag == 0 and float(z.real.rad()) <= _POINT * size:
                return total * counts.enclose(t, left)
            bound = (abs(total) * counts.modulus(t)).abs_upper()
            return flint.acb(flint.arb(0, bound), flint.arb(0, bound))

        return density

    first, last = kinks[0], kinks[-1]
    parts = [
        (piece(None, -1), flint.arb(0), grown[first]),
        (piece(last, 1), flint.arb(0), 1 / grown[last]),
    ]
    parts += [(piece(a, 0), _number(a), _number(b)) for a, b in pairwise(kinks)]
    rel, most = flint.arb(relative), flint.arb(tolerance)
    total = flint.arb(0)
    for function, start, end in parts:
        total += flint.acb.integral(function, start, end, rel_tol=rel, abs_tol=most).real
    return total
