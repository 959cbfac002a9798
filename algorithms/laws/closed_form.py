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

from pdpaudit.core.protocols import LawUnavailable

from .networks import Ball, ExactRound, Interval, Levels, Number, ends_of

Poly = Any  # python-flint has no type information

MAX_BITS = 200_000
# Entries of all tables of mixed differences; about a microsecond and a half each.
MAX_WORK = 40_000_000


def enclose_round(
    question: ExactRound, event: Number | None, *, relative: float = 1e-20
) -> Interval:
    """Enclose the probability of an event rigorously.

    Cost: for n protected and m targets, O(n + m) numbers of about 2n bits per piece, plus the
    product of the protected counts left and right of each piece.
    """
    race, winners = question.race(event)
    certain = question.certain(event)
    if certain is not None:
        return Fraction(certain), Fraction(certain)
    hidden = question.hidden
    kinks = sorted({score for score, _ in [*race, *hidden]})
    _check_work(hidden, kinks)
    # About one bit per vertex is lost to cancellation.
    bits = 192 + 5 * sum(count for _, count in [*race, *hidden]) // 4
    while bits <= MAX_BITS:
        with flint.ctx.workprec(bits):
            failing = event is None and question.stop_score is None
            values = _stop_values(question, failing)
            ball = _integral(race, winners, hidden, values)
            low, high = ends_of(ball)
        if high > 0 and high - low <= relative * high:
            return low, high
        bits *= 2
    raise LawUnavailable(
        f"no enclosure as narrow as asked at {MAX_BITS} bits; ask for a wider one, or enclose by "
        "verified quadrature (verify.enclose_by_quadrature)"
    )


def ball_of(value: Fraction) -> Ball:
    """Return a number as a ball."""
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _exp(value: Fraction) -> Ball:
    return ball_of(value).exp()


def _survival(gap: Fraction, scale: Fraction, failing: bool) -> Ball:
    """Pr[nu >= gap], or its complement, for nu ~ Lap(scale)."""
    if scale == 0:
        return flint.arb(int((gap > 0) == failing))
    tail = _exp(-abs(gap) / scale) / 2
    return tail if (gap > 0) != failing else 1 - tail


def _integral(race: Levels, winners: Levels, hidden: Levels, values: list[Ball]) -> Ball:
    """Sum the closed form over the pieces between neighbouring scores, in units of the scale."""
    kinks = sorted({score for score, _ in [*race, *hidden]})
    total = flint.arb(0)
    ends: list[Fraction | None] = [None, *kinks, None]
    for left, right in pairwise(ends):
        origin = kinks[0] if left is None else left
        stop, stop_low = _stop_laurent(hidden, origin, left, values)
        for winner, weight in winners:
            density, low = _race_laurent(race, winner, origin, left)
            total += weight * _integrate(density * stop, low + stop_low, left, right)
    return total


def _check_work(protected: Levels, kinks: list[Fraction]) -> None:
    work = 0
    for left in kinks:
        below = sum(count for score, count in protected if score <= left)
        work += below * sum(count for score, count in protected if score > left)
    if work > MAX_WORK:
        raise LawUnavailable(
            f"the closed form needs {work} mixed differences, more than {MAX_WORK}; enclose by "
            "verified quadrature instead (verify.enclose_by_quadrature)"
        )


def _stop_values(question: ExactRound, failing: bool) -> list[Ball]:
    """Pr[b <= K + nu] for b = 0, 1, ..., or its complement."""
    if question.threshold is None:
        return [flint.arb(1)]
    size = sum(count for _, count in question.hidden)
    gaps = [b - question.threshold for b in range(size + 1)]
    return [_survival(gap, question.threshold_scale, failing) for gap in gaps]


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
    contestants: Levels,
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
    return flint.arb_poly(descending.coeffs()[::-1]), low - descending.degree()


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
    protected: Levels,
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
    if left is None or right is None:
        # z runs from 0 to 1, or from 1 to infinity
        for i, c in enumerate(poly.coeffs()):
            total += c / (low + i)
        return total if left is None else -total
    width = right - left
    growth = _exp(width)
    power = growth**low
    for i, c in enumerate(poly.coeffs()):
        d = low + i
        total += c * (ball_of(width) if d == 0 else (power - 1) / d)
        power *= growth
    return total
