"""Enclose a round's probabilities a second time, by a different road: verified quadrature.

Shares no code with `closed_form`. The integrand is analytic between neighbouring scores, so
Gauss-Legendre quadrature on a panel has an error bounded by its maximum on an ellipse [1]_,
which elementary bounds supply. Its values at the nodes are enclosed: exponentials in ball
arithmetic, the count's law in double precision using only products, quotients and sums of
positive numbers, where each operation costs at most one rounding of 2^-53 relative.

References
----------
.. [1] Trefethen, "Approximation Theory and Approximation Practice", theorem 19.3.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import LawUnavailable

from .exact_round import Enclosure, ExactRound, Number

FloatArray = NDArray[np.float64]
Ball = Any  # python-flint has no type information

_BITS = 160
_NODES = 16
_RADII = (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0)
# Bounds are computed in double precision; this margin dwarfs their rounding.
_MARGIN = 1.01
_UNIT = 2.0**-53
# What underflow can hide in one sum of at most 10^7 products.
_UNDERFLOW = 1e-290
_MAX_PANELS = 200_000


def enclose_by_quadrature(
    question: ExactRound, event: Number | None, *, relative: float = 1e-8
) -> Enclosure:
    """Enclose the probability of an event rigorously by verified quadrature.

    Slower and looser than the closed form for one protected level, faster for many.
    """
    return _enclosure(_enclose(question, event, relative))


def _enclosure(ball: Ball) -> Enclosure:
    return Enclosure.around(_exactly(ball.mid()), _exactly(ball.rad()))


def _exactly(ball: Ball) -> Fraction:
    mantissa, exponent = ball.man_exp()
    power = int(exponent)
    scale = Fraction(2**power) if power >= 0 else Fraction(1, 2**-power)
    return int(mantissa) * scale


def _number(value: Fraction) -> Ball:
    return flint.arb(value.numerator) / value.denominator


def _enclose(question: ExactRound, event: Number | None, relative: float) -> Ball:
    score = None if event is None else Fraction(event)
    question.check_event(score)
    with flint.ctx.workprec(_BITS):
        if not question.targets:
            return flint.arb(1)
        if question.scale == 0:
            return _without_noise(question, score)
        if question.threshold is None and question.stop_score is None and score is None:
            return flint.arb(0)
        integral = _Integral(question, score)
        tolerance = 1e-9
        for _ in range(40):
            ball = integral.enclose(tolerance)
            lower = float(ball.lower())
            if lower > 0 and float(ball.rad()) <= relative * lower:
                return ball
            # what is left is rounding, which no tolerance removes
            if lower > 0 and float(ball.rad()) > 4 * tolerance and tolerance < 1e-3 * lower:
                break
            tolerance = (
                min(tolerance * 1e-6, relative * lower / 4) if lower > 0 else (tolerance * 1e-12)
            )
            if tolerance < 1e-280:
                break
    if lower > 0:
        return ball
    raise LawUnavailable("the probability is too small for verified quadrature")


def _without_noise(question: ExactRound, score: Fraction | None) -> Ball:
    if question.ahead is None or question.threshold is None:
        raise InputError("without noise on the scores, `ahead` and a threshold must be given")
    if score is not None and score != max(s for s, _ in question.targets):
        return flint.arb(0)
    passed = _tail_at_least(question.ahead - question.threshold, question.threshold_scale)
    failed = _tail_below(question.ahead - question.threshold, question.threshold_scale)
    return failed if score is None else passed


def _tail_at_least(gap: Fraction, scale: Fraction) -> Ball:
    """Enclose Pr[Lap(scale) >= gap]."""
    if scale == 0:
        return flint.arb(1 if gap <= 0 else 0)
    if gap >= 0:
        return _number(-gap / scale).exp() / 2
    return 1 - _number(gap / scale).exp() / 2


def _tail_below(gap: Fraction, scale: Fraction) -> Ball:
    """Enclose Pr[Lap(scale) < gap]."""
    if scale == 0:
        return flint.arb(1 if gap > 0 else 0)
    return _tail_at_least(-gap, scale)


class _Integral:
    """The integral of one event's density, in units of the noise scale."""

    def __init__(self, question: ExactRound, score: Fraction | None) -> None:
        b = question.scale
        self.contestants = [(s / b, c) for s, c in question.targets]
        self.winners: list[tuple[Fraction, int]]
        failing = False
        if question.stop_score is not None:
            dummy = question.stop_score / b
            self.winners = [(dummy if score is None else score / b, 1)]
            merged = dict(self.contestants)
            merged[dummy] = merged.get(dummy, 0) + 1
            self.contestants = sorted(merged.items())
        elif score is None:
            self.winners, failing = list(self.contestants), True
        else:
            self.winners = [(score / b, 1)]
        counting = question.threshold is not None
        self.protected = [(s / b, c) for s, c in question.protected] if counting else []
        size = sum(c for _, c in self.protected)
        self.stop = np.ones(1)
        if question.threshold is not None:
            tail = _tail_below if failing else _tail_at_least
            self.stop = np.array(
                [
                    float(tail(count - question.threshold, question.threshold_scale))
                    for count in range(size + 1)
                ]
            )
        # per level: ratios, their products and the normalisation; then products of levels and
        # the final sum. Each is one rounding per vertex, generously counted.
        self.slack = (20.0 * size + 200.0 * (len(self.protected) + 1)) * _UNIT
        scores = [s for s, _ in self.contestants] + [s for s, _ in self.protected]
        self.kinks = sorted(set(scores))
        self.exponentials = {s: (_number(s).exp(), _number(-s).exp()) for s in set(scores)}

    def enclose(self, tolerance: float) -> Ball:
        """Enclose the integral with at most about this absolute error."""
        low, high, outside = self._range(tolerance / 8.0)
        # the event happens below `low` or above `high` with probability at most `outside`
        total = flint.arb(outside / 2, outside / 2)
        cuts = [low, *[float(k) for k in self.kinks if low < k < high], high]
        length = high - low
        panels = list(pairwise(cuts))
        # a kink is rational, its double need not be: the sliver between is bounded apart
        total += self._slivers(low, high)
        accepted: list[tuple[float, float]] = []
        while panels:
            left, right = panels.pop()
            error = self._error(left, right)
            if error > tolerance * (right - left) / length / 2.0:
                if len(panels) + len(accepted) > _MAX_PANELS:
                    raise LawUnavailable("verified quadrature needs too many panels")
                middle = 0.5 * (left + right)
                panels += [(left, middle), (middle, right)]
                continue
            total += flint.arb(0, error)
            accepted.append((left, right))
        for start in range(0, len(accepted), 64):
            total += self._sum(accepted[start : start + 64])
        return total

    def _slivers(self, low: float, high: float) -> Ball:
        """Bound what the rounding of kinks to doubles can change: density <= size / 2."""
        size = float(sum(c for _, c in self.contestants))
        moved = sum(
            abs(float(k - Fraction(float(k)))) for k in self.kinks if low <= float(k) <= high
        )
        # the wrong formula is used there; both formulas are below `size` on a sliver
        return flint.arb(0, 2.0 * size * moved * _MARGIN)

    def _range(self, tail: float) -> tuple[float, float, float]:
        """Where to integrate, and a bound on what lies outside."""
        count = sum(c for _, c in self.contestants)
        top = max(float(s) for s, _ in self.contestants)
        high = top + math.log(count) - math.log(2.0 * tail) + 0.1

        def log_all_below(x: float) -> float:
            result = 0.0
            for s, c in self.contestants:
                z = x - float(s)
                result += c * (z - math.log(2.0) if z < 0 else math.log1p(-0.5 * math.exp(-z)))
            return result

        low, step = top, 1.0
        while log_all_below(low) > math.log(tail):
            low -= step
            step *= 1.3
        above = low + step
        for _ in range(30):
            middle = 0.5 * (low + above)
            low, above = (
                (middle, above)
                if log_all_below(middle) <= math.log(tail)
                else (
                    low,
                    middle,
                )
            )
        bound = math.exp(log_all_below(low)) + 0.5 * count * math.exp(top - high)
        return low, high, bound * _MARGIN

    def _error(self, left: float, right: float) -> float:
        """Bound the quadrature error on a panel, at the best of several ellipses."""
        centre, half = 0.5 * (left + right), 0.5 * (right - left)
        best = math.inf
        for rho in _RADII:
            reach, height = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2
            bound = self._log_bound(centre, centre - reach, centre + reach, height)
            rate = -2.0 * (_NODES - 1) * math.log(rho) - math.log1p(-(rho**-2))
            best = min(best, bound + rate)
        exponent = best + math.log(64.0 / 15.0 * half)
        return math.exp(exponent) * _MARGIN if exponent < 700.0 else math.inf

    def _log_bound(self, where: float, low: float, high: float, height: float) -> float:
        """Log of a bound on |integrand| over low <= Re x <= high, |Im x| <= height.

        `where` says on which side of each score the panel lies.
        """
        if any((s - low if s <= where else high - s) > 300.0 for s in map(float, self.kinks)):
            return math.inf  # useless, and would overflow
        cosine = math.cos(min(height, math.pi))

        def modulus(s: float) -> tuple[float, float]:
            """Bounds on |t e^(i h)| and on |1 - t e^(i h)|."""
            left_of = s <= where
            small = 0.5 * math.exp(s - high if left_of else low - s)
            large = 0.5 * math.exp(s - low if left_of else high - s)
            gap = max(math.sqrt(max(t * t - 2.0 * t * cosine + 1.0, 0.0)) for t in (small, large))
            return large, gap

        result = 0.0
        ratios = {}
        for s, c in self.contestants:
            large, gap = modulus(float(s))
            factor = gap if float(s) <= where else large
            result += c * math.log(factor)
            ratios[s] = large / factor
        result += math.log(sum(c * ratios[s] for s, c in self.winners) + 1e-300)
        for s, c in self.protected:
            large, gap = modulus(float(s))
            # |q| + |1 - q| at the largest t: it rises with t
            result += c * math.log(max(large + gap, 1.0))
        # rounding of some 10^4 terms in a sum of logarithms
        return result + 1e-12 * (abs(result) + 1.0)

    def _sum(self, panels: list[tuple[float, float]]) -> Ball:
        """Enclose the quadrature sums of some panels."""
        races: list[Ball] = []
        odds: list[list[float]] = []
        for left, right in panels:
            where = 0.5 * (left + right)
            centre = (flint.arb(left) + flint.arb(right)) / 2
            half = (flint.arb(right) - flint.arb(left)) / 2
            for node, weight in _legendre(_NODES):
                x = centre + half * node
                up, down = x.exp(), (-x).exp()
                races.append(half * weight * self._race(up, down, where))
                odds.append(self._odds(up, down, where))
        values = self._pass(np.array(odds).reshape(len(races), len(self.protected)))
        total = flint.arb(0)
        for race, value in zip(races, values, strict=True):
            value = float(value)
            total += race * flint.arb(value, value * self.slack * _MARGIN + _UNDERFLOW)
        return total

    def _race(self, up: Ball, down: Ball, where: float) -> Ball:
        """Enclose the density of the event that a winner is the largest, at x."""
        product, ratio = flint.arb(1), flint.arb(0)
        weights = dict(self.winners)
        for s, c in self.contestants:
            grown, shrunk = self.exponentials[s]
            left_of = float(s) <= where
            density = (grown * down if left_of else up * shrunk) / 2
            mass = 1 - density if left_of else density
            product *= mass**c
            if s in weights:
                ratio += weights[s] * density / mass
        return product * ratio

    def _odds(self, up: Ball, down: Ball, where: float) -> list[float]:
        """Odds of a vertex of each protected level being above x, to one rounding each."""
        result = []
        for s, _ in self.protected:
            grown, shrunk = self.exponentials[s]
            left_of = float(s) <= where
            t = (grown * down if left_of else up * shrunk) / 2
            result.append(float(t / (1 - t) if left_of else (1 - t) / t))
        return result

    def _pass(self, odds: FloatArray) -> FloatArray:
        """Compute the stopping rule's probability at each node, in positive arithmetic only."""
        if not self.protected:
            return np.full(odds.shape[0], self.stop[0])
        laws = [_binomial(odds[:, i], count) for i, (_, count) in enumerate(self.protected)]
        if len(laws) == 1:
            return np.asarray(laws[0] @ self.stop)
        values = np.empty(odds.shape[0])
        for node in range(odds.shape[0]):
            law = laws[0][node]
            for other in laws[1:]:
                law = np.convolve(law, other[node])
            values[node] = law @ self.stop
        return values


@cache
def _legendre(size: int) -> list[tuple[Ball, Ball]]:
    with flint.ctx.workprec(_BITS):
        return [flint.arb.legendre_p_root(size, k, weight=True) for k in range(size)]


def _binomial(odds: FloatArray, count: int) -> FloatArray:
    """Binomial laws by products of ratios away from the mode, normalised by their sum."""
    k = np.arange(count, dtype=float)
    law = np.ones((odds.size, count + 1))
    steps = odds[:, None] * ((count - k) / (k + 1.0))
    for node in range(odds.size):
        ratio = steps[node]
        mode = int(np.searchsorted(-ratio, -1.0))
        law[node, mode + 1 :] = np.cumprod(ratio[mode:])
        law[node, :mode] = np.cumprod(1.0 / ratio[:mode][::-1])[::-1]
    return np.asarray(law / law.sum(axis=1, keepdims=True))
