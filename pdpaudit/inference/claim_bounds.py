"""Lower confidence bounds on a claim's own parameter: ρ, μ, ε at an order, or an excess.

One event: limits of Clopper and Pearson for its two probabilities, at half the error level each,
and the smallest parameter that allows both. By data processing it bounds what the whole output
loses, for every kind of claim.

Several nested events: an event shows no more than 2/π of the divergence of two close normal laws,
the bins between nested events nearly all of it. They are bet on, against a divergence of at most d
in both directions: ``p^a q^(1-a)`` is convex, so for any u it is at least
``a u^(a-1) p - (a-1) u^a q``, and all stakes on the right of

    E_P[a u^(a-1)] - E_Q[(a-1) u^a] <= exp((a-1) d)

and on its mirror image multiply the capital by 1 in expectation at most, once a draw of each side
is bet on (arithmetic and geometric means). Best are the ratios u of the two laws within d that are
nearest to those seen on other samples (Grünwald, de Heide and Koolen, "Safe testing", 2024; Turner,
Ly and Grünwald, "Generic E-variables for exact sequential k-sample tests", 2024), valid are all.
Where the capital exceeds ``1 / alpha``, d is refuted. How many events there are costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from pdpaudit.core.claim import PrivacyClaim, RenyiClaim, ZeroConcentratedClaim
from pdpaudit.core.divergence import larger_divergence, law_divergence
from pdpaudit.results.witnesses import Bets

Floats = npt.NDArray[np.float64]

#: Orders that zCDP is bounded by; between them ``D_a / a`` hardly changes.
ORDERS = (1.05, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0)

#: Decimals of log ratios and digits of stakes, which do not depend on the machine.
DECIMALS, DIGITS = 4, 5

#: Standard deviations of the logarithm of the capital by which a plan is sure of its bound: laws
#: are learned from samples, and bets that are too bold show nothing.
SURE = 4.0

#: Orders too near 1, and powers too large, for the bets to be computed.
LEAST_ORDER, LARGEST_POWER = 1.01, 600.0

#: Halvings of the interval that the bound to plan for is in, and of those that ratios are in.
PLANNED, HALVINGS = 5, 34

#: Stakes to begin with, and steps towards the best.
START, STEPS = 0.05, 100

#: Growth of the capital's logarithm a draw below which bets are as good as the best.
LEAST_GAIN = 1e-13


def claim_bound(
    claim: PrivacyClaim, x: npt.ArrayLike, y: npt.ArrayLike, n: int, alpha: float
) -> Floats:
    """Return lower bounds on a claim's parameter from x and y of n draws a side in an event."""
    hits, others = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    # Where a count is at its end the function has no value, and the limit is that of the interval.
    low = special.betaincinv(np.maximum(hits, 1), n - hits + 1, alpha / 2)
    high = special.betaincinv(others + 1, np.maximum(n - others, 1), 1 - alpha / 2)
    return claim.smallest(np.where(hits > 0, low, 0.0), np.where(others < n, high, 1.0))


def expected_claim_bound(
    claim: PrivacyClaim, p: npt.ArrayLike, q: npt.ArrayLike, size: int, alpha: float
) -> Floats:
    """Return the bounds to expect from events of these probabilities; below 0 nothing is shown."""
    high, low = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    z = -float(special.ndtri(alpha / 2))
    errors = [np.sqrt(one * (1 - one) / size) + 1 / size for one in (high, low)]
    short, long = high - z * errors[0], low + z * errors[1]
    ends = np.clip(short, 0.0, 1.0), np.clip(long, 0.0, 1.0)
    if isinstance(claim, ZeroConcentratedClaim):
        # Nearly the best order is enough to choose by, and much quicker than the best.
        orders = np.reshape(ORDERS, (-1, *(1 for _ in ends[0].shape)))
        rates = larger_divergence(orders, ends[0], 1.0 - ends[0], ends[1], 1.0 - ends[1]) / orders
        shown = np.where(ends[0] > ends[1], rates.max(axis=0), 0.0)
    else:
        shown = claim.smallest(*ends)
    # What shows nothing is ranked by the standard errors that it lacks.
    return np.where(shown > 0, shown, np.minimum((short - long) / (errors[0] + errors[1]), 0.0))


@dataclass(frozen=True)
class Band(Bets):
    """Bets on the bins between nested events: the best ones, and what they show."""

    @classmethod
    def plan(
        cls,
        claim: PrivacyClaim,
        inside: tuple[Sequence[int], Sequence[int]],
        runs: tuple[int, int],
        confirming: tuple[int, float],
    ) -> tuple[Band, float] | None:
        """Return the best bets and the bound to expect of them, by counts on other samples.

        ``inside`` counts nested events, the smallest first, where they are likelier and elsewhere;
        ``confirming`` has the fresh samples a side and the error level. None where the claim is no
        divergence, or a single event is all there is.
        """
        size, alpha = confirming
        if len(inside[0]) < 2 or not isinstance(claim, RenyiClaim | ZeroConcentratedClaim):
            return None
        p, q = map(_shares, inside, runs)
        known = ORDERS if isinstance(claim, ZeroConcentratedClaim) else (claim.alpha,)
        steepest = float(np.abs(np.log(p / q)).max())
        orders = [a for a in known if a >= LEAST_ORDER and a * (steepest + 1) < LARGEST_POWER]
        if not orders:
            return None
        needed = -math.log(alpha)
        order = max(orders, key=lambda a: round(_surely(a, p, q, size, needed) / a, DIGITS))
        scale = _scale(claim, order)

        def planned(most: float) -> tuple[Band, float]:
            band = cls._nearest(order, p, q, most)
            return band, size * band.growth(p, q, most)

        band, grown = planned(claim.value / scale)
        enough = needed + SURE * math.sqrt(2 * needed)
        if needed <= grown < enough:
            return band, claim.value
        low, high = 0.0, max(law_divergence(order, p, q), law_divergence(order, q, p))
        band = planned(low)[0]
        for _ in range(PLANNED):
            middle = (low + high) / 2
            tried, grown = planned(middle)
            band, low, high = (tried, middle, high) if grown >= enough else (band, low, middle)
        return band, low * scale

    @classmethod
    def _nearest(cls, order: float, p: Floats, q: Floats, most: float) -> Band:
        """Return the bets of the laws nearest to p and q whose divergences are at most that.

        By Newton's method: what grows most is concave in both stakes and the split.
        """
        power = math.exp((order - 1) * most)
        found = np.array([START, START, 0.0])
        ratios, best = _ratios(order, p, q, power, found)
        for _ in range(STEPS):
            u = np.exp(ratios)
            rows = _rows(order, u, power)
            ours, theirs = (1 + found @ side for side in rows)
            slope = rows[0] @ (p / ours) + rows[1] @ (q / theirs)
            # How much the best ratios move along.
            pull = found[0] * u ** (order - 1) + found[1] * u**-order
            pull *= order * (order - 1) / power
            along = q * u / theirs**2 * rows[1] - p / ours**2 * rows[0]
            bend = p * pull / ours**2 + q * u / theirs + q * u**2 * pull / theirs**2
            curved = (rows[0] * (p / ours**2)) @ rows[0].T + (rows[1] * (q / theirs**2)) @ rows[1].T
            curved -= (along * (pull / bend)) @ along.T
            # A stake of nothing stays at nothing where less would be better.
            free = np.array([*((found[:2] > 0) | (slope[:2] > 0)), True])
            step = np.zeros(3)
            step[free] = np.linalg.lstsq(curved[np.ix_(free, free)], slope[free], rcond=None)[0]
            # A whole step wins half of this at most: no shorter one is worth looking for.
            if slope @ step < LEAST_GAIN:
                break
            for _ in range(STEPS):
                tried = found + step
                tried[:2] = np.maximum(tried[:2], 0.0)
                moved, grown = _ratios(order, p, q, power, tried)
                if grown > best:
                    break
                step = step / 2
            if not grown > best + LEAST_GAIN:
                break
            found, ratios, best = tried, moved, grown
        one, other, split = (float(f"{value:.{DIGITS}g}") for value in found.tolist())
        return cls(order, tuple(ratios.round(DECIMALS).tolist()), (one, other), split, power)

    def growth(self, ours: npt.ArrayLike, theirs: npt.ArrayLike, most: float) -> float:
        """Return the logarithm of the capital after such draws, against a divergence of ``most``.

        Minus infinity where it could be lost, and more: that is no bet.
        """
        bets = np.array([*self.stakes, self.split])
        more = sum(self.stakes) * (math.exp((self.order - 1) * most) / self.power - 1) / 2
        factors = [
            1 + bets @ side - more for side in _rows(self.order, np.exp(self.ratios), self.power)
        ]
        if min(map(np.min, factors)) <= 0:
            return -math.inf
        return float(ours @ np.log(factors[0]) + theirs @ np.log(factors[1]))

    def bound(
        self,
        claim: PrivacyClaim,
        inside: tuple[Sequence[int], Sequence[int]],
        runs: int,
        alpha: float,
    ) -> float:
        """Return the lower bound on the claim's parameter, by counts on fresh samples."""
        ours, theirs = (np.diff([0, *counts, runs]) for counts in inside)
        # The capital falls with the divergence that is bet against.
        low, high = 0.0, LARGEST_POWER / self.order
        if self.growth(ours, theirs, low) < -math.log(alpha):
            return 0.0
        for _ in range(60):
            middle = (low + high) / 2
            refuted = self.growth(ours, theirs, middle) >= -math.log(alpha)
            low, high = (middle, high) if refuted else (low, middle)
        return low * _scale(claim, self.order)


def _rows(order: float, u: Floats, power: float) -> tuple[Floats, Floats]:
    """Return what a unit of both stakes and of the split wins in each bin, on either side."""
    ones, half = np.ones_like(u), 0.5
    ours = order * u ** (order - 1) / power - half, (1 - order) * u**-order / power - half
    theirs = (1 - order) * u**order / power - half, order * u ** (1 - order) / power - half
    return np.array([*ours, ones]), np.array([*theirs, -ones])


def _ratios(order: float, p: Floats, q: Floats, power: float, bets: Floats) -> tuple[Floats, float]:
    """Return ln(u) that makes most of such bets, and how the capital grows; u is then a ratio.

    By bisection: of the laws that p and q become by the bets, which must leave both sides capital.
    """
    one, other, split = bets
    high = np.full(p.shape, float(np.abs(np.log(p / q)).max()) + 1)
    low, paid = -high, (one + other) / 2
    one, other = one / power, other / power
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        u = np.exp(middle)
        large = u**order
        ours = 1 + split - paid + one * order * large / u - other * (order - 1) / large
        theirs = 1 - split - paid + other * order * u / large - one * (order - 1) * large
        right = (theirs > 0) & ((ours <= 0) | (p * theirs > q * u * ours))
        low, high = np.where(right, middle, low), np.where(right, high, middle)
    if not (ours.min() > 0 and theirs.min() > 0):
        return middle, -math.inf
    return middle, float(p @ np.log(ours) + q @ np.log(theirs))


def _surely(order: float, p: Floats, q: Floats, size: int, needed: float) -> float:
    """Return about the divergence that this many samples show, in the stronger direction."""
    shown = []
    for one, other in ((p, q), (q, p)):
        u = one / other
        total = float(one @ u ** (order - 1))
        slopes = order * u ** (order - 1), (order - 1) * u**order
        spread = sum(
            float(side @ slope**2 - (side @ slope) ** 2)
            for side, slope in zip((one, other), slopes, strict=True)
        )
        error = math.sqrt(max(spread, 0.0) / size) / total
        shown.append((math.log(total) - math.sqrt(2 * needed) * error) / (order - 1))
    return max(shown)


def _shares(counts: Sequence[int], runs: int) -> Floats:
    """Return the smoothed share of each bin between nested events."""
    bins = np.diff([0, *counts, runs]) + 0.5
    return np.asarray(bins / bins.sum(), dtype=np.float64)


def _scale(claim: PrivacyClaim, order: float) -> float:
    """Return what a divergence of an order is multiplied with for the claim's parameter."""
    return 1.0 if isinstance(claim, RenyiClaim) else 1 / order


#: Rank of an event that cannot show anything.
LAST = -1e9


@dataclass(frozen=True)
class ExpectedBound:
    """What will be confirmed: how many fresh samples a side, at what error, for which δ.

    For a ``claim`` that is not (ε, δ) the bounds are of its own parameter.
    """

    size: int
    alpha: float
    delta: float = 0.0
    caution: float = 1.0
    claim: PrivacyClaim | None = None

    def expected(
        self,
        inside: npt.ArrayLike,
        runs: npt.ArrayLike,
        inside_other: npt.ArrayLike,
        runs_other: npt.ArrayLike,
    ) -> Floats:
        """Return the bounds to expect from candidate events, rather too low than too high.

        The bound on fresh samples is taken by the delta method (Katz and others, 1978) and not cut
        off at 0, so that candidates that show nothing yet can still be ranked: below 0 it counts
        standard errors. ``-inf`` where δ explains everything.
        """
        return self.from_shares(*self.shares(inside, runs, inside_other, runs_other))

    def shares(
        self,
        inside: npt.ArrayLike,
        runs: npt.ArrayLike,
        inside_other: npt.ArrayLike,
        runs_other: npt.ArrayLike,
    ) -> tuple[Floats, Floats]:
        """Return the probabilities of candidate events, the caution taken off."""
        ours = np.asarray(inside, dtype=np.float64) + 0.375
        theirs = np.asarray(inside_other, dtype=np.float64) + 0.375
        n, m = np.asarray(runs, dtype=np.float64) + 0.75, np.asarray(runs_other) + 0.75
        # The arcsine of the square root of a share has the same error wherever it lies.
        p = _share(np.arcsin(np.sqrt(ours / n)) - self.caution / 2 / np.sqrt(n))
        q = _share(np.arcsin(np.sqrt(theirs / m)) + self.caution / 2 / np.sqrt(m))
        return p, q

    def from_shares(self, p: Floats, q: Floats) -> Floats:
        """Return the bounds to expect from events of these probabilities."""
        if self.claim is not None and not self.claim.approximate:
            return expected_claim_bound(self.claim, p, q, self.size, self.alpha)
        excess = p - self.delta
        shown = excess > 0
        excess = np.where(shown, excess, 1.0)
        variance = p * (1 - p) / excess**2 + (1 - q) / q
        z = float(special.ndtri(1 - self.alpha))
        error = np.sqrt(variance / self.size)
        bound = np.log(excess / q) - z * error
        # What shows nothing yet is ranked in its own errors: in nats an event that nearly always
        # happens would stand above what only lacks samples. One that always happens comes last.
        bound = np.where(bound < 0, bound / np.maximum(error, 1e-12), bound)
        bound = np.where(q < 1, bound, LAST)
        return np.where(shown, bound, -np.inf)


def _share(angle: Floats) -> Floats:
    return np.asarray(np.sin(np.clip(angle, 1e-9, np.pi / 2)) ** 2, dtype=np.float64)
