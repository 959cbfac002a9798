"""Lower confidence bounds on a claim's own parameter: ρ, μ, ε at an order, or an excess.

One event: limits of Clopper and Pearson for its two probabilities, at half the error level each,
and the smallest parameter that allows both. By data processing it bounds what the whole output
loses, for every kind of claim.

Several nested events: an event shows no more than 2/π of the divergence of two close normal laws.
The bins between nested events show nearly all of it, by the variational form

    D_a(P, Q) / a >= ln E_P[exp((a - 1) g)] / (a - 1) - ln E_Q[exp(a g)] / a

of Birrell and others ("Variational representations and neural network estimation of Rényi
divergences", 2021), with equality for g the log ratio. A value of g for each bin is fixed on other
samples; what is left to bound are two means of bounded variables, by betting on them with a stake
fixed before (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting",
2024), at half the error level each. How many events there are costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt
from scipy import special

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.claim_kinds import RenyiClaim, ZeroConcentratedClaim

Floats = npt.NDArray[np.float64]

#: Orders that zCDP is bounded by; between them ``D_a / a`` hardly changes.
ORDERS = (1.05, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0)

#: The largest stake, as a share of that which could lose all.
LARGEST_STAKE = 0.9

#: Decimals of weights and stakes, which do not depend on the machine.
DIGITS = 9


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
        by_order = [PrivacyClaim.renyi(order, 0.0).smallest(*ends) / order for order in ORDERS]
        shown = np.max(by_order, axis=0)
    else:
        shown = claim.smallest(*ends)
    # What shows nothing is ranked by the standard errors that it lacks.
    return np.where(shown > 0, shown, np.minimum((short - long) / (errors[0] + errors[1]), 0.0))


@dataclass(frozen=True)
class Band:
    """How nested events are weighed: the order, g in each bin, both stakes, and which side is P.

    Bins go from inside the smallest event to outside the largest. ``swapped`` where P is the side
    on which the events are less likely.
    """

    order: float
    weights: tuple[float, ...]
    stakes: tuple[float, float]
    swapped: bool = False

    @classmethod
    def plan(
        cls,
        claim: PrivacyClaim,
        inside: tuple[Sequence[int], Sequence[int]],
        runs: tuple[int, int],
        confirming: tuple[int, float],
    ) -> tuple[Band, float] | None:
        """Return the best weights and the bound to expect of them, by counts on other samples.

        ``inside`` counts nested events, the smallest first, where they are likelier and elsewhere;
        ``confirming`` has the fresh samples a side and the error level. None where the claim is no
        divergence, or a single event is all there is.
        """
        orders: tuple[float, ...]
        match claim:
            case ZeroConcentratedClaim():
                orders = ORDERS
            case RenyiClaim(alpha=order):
                orders = (order,)
            case _:
                return None
        if len(inside[0]) < 2:
            return None
        p, q = map(_shares, inside, runs)
        options = [
            _planned(order, *sides, confirming, swapped=swapped)
            for order in orders
            for swapped, sides in ((False, (p, q)), (True, (q, p)))
        ]
        best = max(options, key=lambda one: (round(one[1], DIGITS), -one[0].order))
        return best[0], best[1] * _scale(claim)

    def bound(
        self,
        claim: PrivacyClaim,
        inside: tuple[Sequence[int], Sequence[int]],
        runs: int,
        alpha: float,
    ) -> float:
        """Return the lower bound on the claim's parameter, by counts on fresh samples."""
        sides = [np.diff([0, *counts, runs]) for counts in inside]
        ours, theirs = reversed(sides) if self.swapped else sides
        grown = np.exp((self.order - 1) * np.array(self.weights))
        outgrown = np.exp(self.order * np.array(self.weights))
        least = mean_above(grown, ours, self.stakes[0], alpha / 2)
        most = -mean_above(-outgrown, theirs, self.stakes[1], alpha / 2)
        if least <= 0:
            return 0.0
        rate = math.log(least) / (self.order - 1) - math.log(most) / self.order
        return max(0.0, rate * _scale(claim))

    @classmethod
    def from_json(cls, body: Mapping[str, object]) -> Band:
        """Return the band of a JSON form."""
        weights = tuple(map(float, cast("Sequence[float]", body["weights"])))
        grown, outgrown = map(float, cast("Sequence[float]", body["stakes"]))
        order = float(cast("float", body["order"]))
        return cls(order, weights, (grown, outgrown), body["swapped"] is True)

    def to_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "order": self.order,
            "weights": list(self.weights),
            "stakes": list(self.stakes),
            "swapped": self.swapped,
        }


def mean_above(values: Floats, counts: npt.NDArray[np.int64], stake: float, alpha: float) -> float:
    """Return a lower limit for the mean of values that came up so often, by betting against less.

    Against a mean of m the capital is the product of ``1 + stake (value - m)``, of expectation at
    most 1 where the mean is at most m, for any stake that cannot lose more than all. It falls in m,
    and what lies below where it reaches ``1 / alpha`` is refuted.
    """
    needed = -math.log(alpha)

    def excess(mean: float) -> float:
        return float(counts @ np.log1p(stake * (values - mean))) - needed

    low, high = float(values.min()), float(values.max())
    if excess(low) <= 0:
        return low
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return low


def _planned(
    order: float, p: Floats, q: Floats, confirming: tuple[int, float], *, swapped: bool
) -> tuple[Band, float]:
    size, alpha = confirming
    weights = np.log(p / q).round(DIGITS)
    ends, stakes, margin = [], [], math.sqrt(-2 * math.log(alpha / 2) / size)
    for law, power, sign in ((p, order - 1, -1), (q, order, 1)):
        values = np.exp(power * weights)
        mean = float(law @ values)
        spread = math.sqrt(max(float(law @ (values - mean) ** 2), 1e-24))
        largest = LARGEST_STAKE / max(float(np.ptp(values)), 1e-12)
        stake = float(f"{min(margin / spread, largest):.{DIGITS}g}")
        stakes.append(stake)
        # What the capital needs, and what the spread costs it.
        ends.append(mean + sign * (margin**2 / stake + stake * spread**2) / 2)
    rate = -math.inf
    if ends[0] > 0:
        rate = math.log(ends[0]) / (order - 1) - math.log(ends[1]) / order
    return Band(order, tuple(weights.tolist()), (stakes[0], stakes[1]), swapped), rate


def _shares(counts: Sequence[int], runs: int) -> Floats:
    """Return the smoothed share of each bin between nested events."""
    bins = np.diff([0, *counts, runs]) + 0.5
    return np.asarray(bins / bins.sum(), dtype=np.float64)


def _scale(claim: PrivacyClaim) -> float:
    """Return what ``D_a / a`` is multiplied with for the claim's parameter."""
    return claim.alpha if isinstance(claim, RenyiClaim) else 1.0


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
