"""The law of one round in closed form, enclosed by ball arithmetic: a proof, not an estimate.

Between two neighbouring scores put ``z = exp(x / b)``, measured from the piece's left end. A
vertex of score a is not above x with probability ``1 - (alpha / z)`` if a lies left of the
piece and ``beta z`` if it lies right. So each factor of the integrand is a Laurent polynomial
in z and the piece integrates term by term.

The stopping rule is a linear functional of the count's generating function. With w counting
vertices above and y = w - 1, the left levels contribute ``prod (1 + gamma y / z)`` and the
right ones ``w^N prod (1 - beta z y / w)``, and the functional sends ``y^m w^p`` to the finite
difference ``D^m S(p)`` of ``S(b) = Pr[b <= K + nu]``. The power basis cancels heavily; balls
make that visible, and the precision rises until the enclosure is as narrow as asked.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import LawUnavailable

from .exact_round import Enclosure, ExactRound, Number

# python-flint has no type information
Ball = Any
Poly = Any

_MAX_BITS = 200_000
# Entries of all tables of mixed differences; about a microsecond and a half each.
_MAX_WORK = 40_000_000


def enclose_round(
    question: ExactRound, event: Number | None, *, relative: float = 1e-12
) -> Enclosure:
    """Enclose the probability of an event rigorously.

    Cost: for n protected and m targets, O(n + m) numbers of about 2n bits per piece, plus the
    product of the protected counts left and right of each piece.
    """
    score = None if event is None else Fraction(event)
    question.check_event(score)
    bits = _first_bits(question)
    while True:
        ball = probability_ball(question, score, bits)
        if float(ball.rad()) == 0.0 or float(ball.rad() / abs(ball.mid())) <= relative:
            return enclosure_of(ball)
        bits = _more_bits(bits)


def enclosure_of(ball: Ball) -> Enclosure:
    """Turn a ball into decimal strings, rounded outward."""
    return Enclosure.around(_rational(ball.mid()), _rational(ball.rad()))


def probability_ball(question: ExactRound, event: Fraction | None, bits: int) -> Ball:
    """Enclose the probability of an event at a given working precision, as a flint ball."""
    with flint.ctx.workprec(bits):
        if not question.targets:
            return flint.arb(1)
        if question.scale == 0:
            return _noiseless(question, event)
        if question.threshold is None and question.stop_score is None and event is None:
            return flint.arb(0)
        return _integral(question, event)


def _first_bits(question: ExactRound) -> int:
    size = sum(c for _, c in question.protected) + sum(c for _, c in question.targets)
    # about one bit per vertex is lost to cancellation
    return 192 + 5 * size // 4


def _more_bits(bits: int) -> int:
    if bits >= _MAX_BITS:
        raise LawUnavailable(
            f"no enclosure as narrow as asked at {bits} bits; ask for a wider one, or enclose by "
            "verified quadrature (verify.enclose_by_quadrature)"
        )
    return min(2 * bits, _MAX_BITS)


def _rational(ball: Ball) -> Fraction:
    mantissa, exponent = ball.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _ball(value: Fraction) -> Ball:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _exp(value: Fraction) -> Ball:
    return _ball(value).exp()


def _survival(gap: Fraction, scale: Fraction) -> tuple[Ball, Ball]:
    """Pr[nu >= gap] and its complement for nu ~ Lap(scale)."""
    if scale == 0:
        return flint.arb(int(gap <= 0)), flint.arb(int(gap > 0))
    tail = _exp(-abs(gap) / scale) / 2
    return (tail, 1 - tail) if gap > 0 else (1 - tail, tail)


def _noiseless(question: ExactRound, event: Fraction | None) -> Ball:
    best = question.targets[-1][0]
    if question.threshold is None or question.stop_score is not None:
        raise InputError("without noise this search has no randomness: nothing to enclose")
    if question.ahead is None:
        raise InputError("without noise on the scores, `ahead` must be given")
    passed, failed = _survival(question.ahead - question.threshold, question.threshold_scale)
    if event is None:
        return failed
    return passed if event == best else flint.arb(0)


def _integral(question: ExactRound, event: Fraction | None) -> Ball:
    """Sum the closed form over the pieces between neighbouring scores, in units of the scale."""
    b = question.scale
    contestants = [(score / b, count) for score, count in question.targets]
    if question.stop_score is not None:
        merged = dict(contestants)
        merged[question.stop_score / b] = merged.get(question.stop_score / b, 0) + 1
        contestants = sorted(merged.items())
    protected = [(score / b, count) for score, count in question.protected]
    if question.threshold is None:
        protected = []
    if question.stop_score is not None:
        winners = [(question.stop_score if event is None else event) / b]
        weights = [1]
    elif event is None:
        winners = [score for score, _ in contestants]
        weights = [count for _, count in contestants]
    else:
        winners, weights = [event / b], [1]
    failing = event is None and question.stop_score is None
    values = _stop_values(question, sum(c for _, c in protected), failing)
    kinks = sorted({score for score, _ in contestants} | {score for score, _ in protected})
    _check_work(protected, kinks)
    total = flint.arb(0)
    ends: list[Fraction | None] = [None, *kinks, None]
    for left, right in pairwise(ends):
        origin = kinks[0] if left is None else left
        stop, stop_low = _stop_laurent(protected, origin, left, values)
        for winner, weight in zip(winners, weights, strict=True):
            race, race_low = _race_laurent(contestants, winner, origin, left)
            piece = _integrate(race * stop, race_low + stop_low, left, right)
            total += weight * piece
    return total


def _check_work(protected: list[tuple[Fraction, int]], kinks: list[Fraction]) -> None:
    work = 0
    for left in kinks:
        below = sum(count for score, count in protected if score <= left)
        work += below * sum(count for score, count in protected if score > left)
    if work > _MAX_WORK:
        raise LawUnavailable(
            f"the closed form needs {work} mixed differences, more than {_MAX_WORK}; enclose by "
            "verified quadrature instead (verify.enclose_by_quadrature)"
        )


def _stop_values(question: ExactRound, size: int, failing: bool) -> list[Ball]:
    """Pr[b <= K + nu] for b = 0..size, or its complement."""
    if question.threshold is None:
        return [flint.arb(1)]
    pick = 1 if failing else 0
    return [
        _survival(b - question.threshold, question.threshold_scale)[pick] for b in range(size + 1)
    ]


def _power_product(factors: list[tuple[Ball, int]]) -> Poly:
    """Multiply (1 + c v)^n over the factors (c, n)."""
    result = flint.arb_poly([1])
    for c, n in factors:
        coefficients, term = [], flint.arb(1)
        for k in range(n + 1):
            coefficients.append(term)
            term = term * c * (n - k) / (k + 1)
        result = result * flint.arb_poly(coefficients)
    return result


def _race_laurent(
    contestants: list[tuple[Fraction, int]],
    winner: Fraction,
    origin: Fraction,
    left: Fraction | None,
) -> tuple[Poly, int]:
    """Density that one vertex of score `winner` is the largest, as z^low times a polynomial."""
    half = flint.arb(1) / 2
    factors, low, constant = [], 0, flint.arb(1)
    for score, count in contestants:
        others = count - 1 if score == winner else count
        if left is not None and score <= left:
            factors.append((-half * _exp(score - origin), others))
            if score == winner:
                constant *= half * _exp(score - origin)
                low -= 1
        else:
            constant *= (half * _exp(origin - score)) ** count
            low += count
    descending = _power_product(factors) * constant
    return _reverse(descending), low - descending.degree()


def _reverse(poly: Poly) -> Poly:
    return flint.arb_poly(poly.coeffs()[::-1])


def _differences(values: list[Ball]) -> list[Ball]:
    """Finite differences of all orders at the first value, by one polynomial product."""
    size = len(values)
    factorials = [flint.fmpz(1)]
    for i in range(1, size):
        factorials.append(factorials[-1] * i)
    left = flint.arb_poly([v / f for v, f in zip(values, factorials, strict=True)])
    right = flint.arb_poly([flint.arb((-1) ** i) / f for i, f in enumerate(factorials)])
    product = left * right
    return [product[k] * factorials[k] for k in range(size)]


def _stop_laurent(
    protected: list[tuple[Fraction, int]],
    origin: Fraction,
    left: Fraction | None,
    values: list[Ball],
) -> tuple[Poly, int]:
    """Probability of passing (or failing) the stopping rule, as z^low times a polynomial."""
    half = flint.arb(1) / 2
    below = [(s, c) for s, c in protected if left is not None and s <= left]
    above = [(s, c) for s, c in protected if left is None or s > left]
    h = _power_product([(half * _exp(s - origin), c) for s, c in below]).coeffs()
    e = _power_product([(-half * _exp(origin - s), c) for s, c in above]).coeffs()
    n_below, n_above = sum(c for _, c in below), sum(c for _, c in above)
    # column 0 of the table: D^j S(N); row 0: D^k S(N - k), backward differences at N
    column = _differences(values[n_above : n_above + n_below + 1])
    backward = _differences(values[n_above::-1])
    row = [e[k] * (backward[k] if k % 2 == 0 else -backward[k]) for k in range(n_above + 1)]
    if n_below == 0:
        return flint.arb_poly(row), 0
    if n_above == 0:
        return flint.arb_poly([h[j] * column[j] for j in range(n_below, -1, -1)]), -n_below
    ratios = [e[k] / e[k - 1] for k in range(1, n_above + 1)]
    total = flint.arb_poly(row) * h[0]
    for j in range(1, n_below + 1):
        # E_j(k) = e_k D^(j+k) S(N-k) = (e_k / e_(k-1)) E_j(k-1) - E_(j-1)(k)
        entry = e[0] * column[j]
        fresh = [entry]
        for ratio, old in zip(ratios, row[1:], strict=True):
            entry = entry * ratio - old
            fresh.append(entry)
        row = fresh
        # multiplying by z as j grows keeps the lowest power of z at 0
        total = total.left_shift(1) + flint.arb_poly(row) * h[j]
    return total, -n_below


def _integrate(poly: Poly, low: int, left: Fraction | None, right: Fraction | None) -> Ball:
    """Integrate z^low times a polynomial over the piece, in units of the scale."""
    total = flint.arb(0)
    if left is None:
        # z runs from 0 to 1
        for i, c in enumerate(poly.coeffs()):
            total += c / (low + i)
        return total
    if right is None:
        # z runs from 1 to infinity
        for i, c in enumerate(poly.coeffs()):
            total -= c / (low + i)
        return total
    width = right - left
    growth = _exp(width)
    power = growth**low
    for i, c in enumerate(poly.coeffs()):
        d = low + i
        total += c * (_ball(width) if d == 0 else (power - 1) / d)
        power *= growth
    return total
