"""Stop sampling as soon as the evidence suffices: an e-process from two totals.

On one side ``x`` of ``n`` draws fell into an event, on the other ``y`` of ``n``; privacy says that
``p <= R q + δ`` with ``R = exp(ε)``. Take a pair of draws, ``a`` and ``b`` saying whether they fell
into the event, a point ``(p0, q0)`` with ``p0 = R q0 + δ`` and a stake ``A >= 0`` that leaves both
factors of

    ``(1 + A (a - p0)) * (1 - R A (b - q0))``

at least 0. The draws are independent, so its mean is ``(1 + A s)(1 - R A t)`` for ``s = p - p0``,
``t = q - q0``, and where the claim holds ``s <= R t``: the mean is at most ``1 - (R A t)²``, hence
at most 1, whatever the stake and the point. The product over all pairs is then a test
supermartingale; it passes ``1 / alpha`` at any time with probability at most `alpha` (Ville), so it
may be looked at as often as one likes. The product splits into a part of each side and so depends
on the totals alone.

Stake and point may depend on everything seen before. Those used here are the likelihood ratio of
the rates estimated so far against the nearest rates that the claim allows, which grows fastest if
the estimates are right [1]_.

References
----------
.. [1] Turner, Ly and Grünwald, "Generic E-variables for exact sequential k-sample tests that allow
   for optional stopping", Journal of Statistical Planning and Inference 230 (2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import special

from pdpaudit.core.errors import InputError

Floats = npt.NDArray[np.float64]

#: Draws a side before the first look, and by how much each look enlarges the sample.
FIRST, GROWTH = 100, 1.2

#: Steps between hypotheses, near the claim and far above it; how far above; most of them below.
NEAR, FAR, NEAR_UNTIL, FAR_UNTIL = 0.002, 0.02, 2.0, 16.0
MOST_BELOW = 1000

#: Halvings when the nearest allowed rates are sought: any will do, better ones grow faster.
HALVINGS = 20

#: Tests simulated to tell the power, and what is given away for there being no more of them.
SIMULATED, GIVEN_AWAY = 1000, 0.01
POWER_HALVINGS = 10


@dataclass(frozen=True)
class Known:
    """What discovery saw of the event: where a bettor starts from."""

    inside: int = 0
    inside_other: int = 0
    runs: int = 0


def look_sizes(most: int) -> list[int]:
    """Return how many draws a side there are at each look; all but the last are always the same."""
    sizes = [min(FIRST, most)]
    while sizes[-1] < most:
        step = max(FIRST, math.ceil((GROWTH - 1) * sizes[-1]))
        sizes.append(min(most, sizes[-1] + step))
    return sizes


@cache
def hypotheses(claimed: float) -> Floats:
    """Return the values of ε to refute, the claimed one among them, from 0."""
    below = np.linspace(0.0, claimed, math.ceil(min(MOST_BELOW, claimed / NEAR)) + 1)
    near = claimed + NEAR * np.arange(1, round(NEAR_UNTIL / NEAR) + 1)
    far = near[-1] + FAR * np.arange(1, round((FAR_UNTIL - NEAR_UNTIL) / FAR) + 1)
    return np.unique(np.concatenate([below, near, far]))


def stakes(p: Floats, q: Floats, epsilon: Floats, delta: float) -> tuple[Floats, Floats, Floats]:
    """Return stake ``A`` and point ``p0, q0`` for estimated rates; no stake where they are allowed.

    The point is where the likelihood of the estimates, restricted to the claim, is largest.
    """
    p, q, epsilon = np.broadcast_arrays(p, q, epsilon)
    ratio = np.exp(np.minimum(epsilon, 300.0))  # no rate is so small: nothing is staked there
    low, high = q, (p - delta) / ratio
    bets = high > low
    high = np.where(bets, high, low)
    for _ in range(HALVINGS):
        q0 = (low + high) / 2
        p0 = ratio * q0 + delta
        rising = ratio * (p - p0) * q0 * (1 - q0) > (q0 - q) * p0 * (1 - p0)
        low, high = np.where(rising, q0, low), np.where(rising, high, q0)
    q0 = np.where(bets, (low + high) / 2, 0.5)
    p0 = np.where(bets, ratio * q0 + delta, 0.5)
    stake = np.minimum((p - p0) / (p0 * (1 - p0)), (q0 - q) / (ratio * q0 * (1 - q0)))
    return np.where(bets, np.maximum(stake, 0.0), 0.0), p0, q0


def _winnings(
    x: Floats, y: Floats, n: Floats, rates: tuple[Floats, Floats], epsilon: Floats, delta: float
) -> Floats:
    """Return the logarithm of what ``n`` pairs win against each ε, staked by earlier rates."""
    stake, p0, q0 = stakes(*rates, epsilon, delta)
    other = np.exp(np.minimum(epsilon, 300.0)) * stake
    return np.asarray(
        special.xlog1py(x, stake * (1 - p0))
        + special.xlog1py(n - x, -stake * p0)
        + special.xlog1py(y, -other * (1 - q0))
        + special.xlog1py(n - y, other * q0)
    )


def _rates(x: Floats, y: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return estimated rates, never 0 and never 1."""
    return (x + 0.5) / (n + 1), (y + 0.5) / (n + 1)


@dataclass(frozen=True, eq=False)
class Wager:
    """The state of a sequential test; :meth:`update` returns the next one."""

    alpha: float
    claimed: float
    delta: float
    known: Known
    capital: Floats
    refuted: npt.NDArray[np.bool_]
    x: int = 0
    y: int = 0
    n: int = 0

    @classmethod
    def begin(
        cls, alpha: float, claimed: float, delta: float = 0.0, known: Known | None = None
    ) -> Wager:
        """Return the state before any draw."""
        if not 0.0 < alpha < 1.0:
            raise InputError(f"alpha must lie strictly between 0 and 1, got {alpha!r}")
        if not 0.0 <= delta < 1.0:
            raise InputError(f"delta must lie in [0, 1), got {delta!r}")
        if not 0.0 <= claimed < math.inf:
            raise InputError(f"claimed must be finite and at least 0, got {claimed!r}")
        count = len(hypotheses(claimed))
        nothing = np.zeros(count), np.zeros(count, dtype=np.bool_)
        return cls(alpha, claimed, delta, known or Known(), *nothing)

    def update(self, x: int, y: int, n: int) -> Wager:
        """Return the state after ``n`` more draws a side, ``x`` and ``y`` of them hits.

        O(number of hypotheses), some thousands.
        """
        if not (0 <= x <= n and 0 <= y <= n):
            raise InputError(f"hits must lie between 0 and the {n} draws, got {x} and {y}")
        known = self.known
        before = (known.inside + self.x, known.inside_other + self.y, known.runs + self.n)
        old_x, old_y, old = (np.array(float(count)) for count in before)
        rates = _rates(old_x, old_y, old)
        new_x, new_y, new = (np.array(float(count)) for count in (x, y, n))
        won = _winnings(
            new_x,
            new_y,
            new,
            rates,
            hypotheses(self.claimed),
            self.delta,
        )
        capital = self.capital + won
        refuted = self.refuted | (capital >= -math.log(self.alpha))
        return replace(
            self, capital=capital, refuted=refuted, x=self.x + x, y=self.y + y, n=self.n + n
        )

    @property
    def bound(self) -> float:
        """The largest ε up to which every hypothesis is refuted: a lower bound on the true one.

        The smallest hypothesis that is true is refuted with probability at most `alpha`, so the
        bound reaches it no more often than that, however long is sampled.
        """
        standing = int(np.argmin(self.refuted)) if not self.refuted.all() else len(self.refuted)
        return float(hypotheses(self.claimed)[standing - 1]) if standing else 0.0

    @property
    def violated(self) -> bool:
        """Whether the true ε is shown to lie above the claim."""
        return self.bound > self.claimed


def refuted_by(
    looks: list[int],
    p: float,
    q: float,
    alpha: float,
    claimed: float,
    delta: float = 0.0,
    known_runs: int = 0,
) -> Floats:
    """Return how probably a claim is called violated by each look, when the rates are these."""
    rng = np.random.default_rng(1)
    known_x, known_y = (rng.binomial(known_runs, rate, (SIMULATED, 1)) for rate in (p, q))
    steps = np.diff([0, *looks])
    x, y = (rng.binomial(steps, rate, (SIMULATED, len(looks))) for rate in (p, q))
    before_x, before_y = (np.cumsum(hits, axis=1) - hits for hits in (x, y))
    rates = _rates(
        (known_x + before_x).astype(np.float64),
        (known_y + before_y).astype(np.float64),
        known_runs + np.cumsum(steps) - steps.astype(np.float64),
    )
    # The claim counts as violated once the hypothesis next above it is refuted.
    hypothesis = np.array(claimed + NEAR)
    won = _winnings(
        x.astype(np.float64),
        y.astype(np.float64),
        steps.astype(np.float64),
        rates,
        hypothesis,
        delta,
    )
    reached = np.maximum.accumulate(np.cumsum(won, axis=1) >= -math.log(alpha), axis=1)
    return np.asarray(reached.mean(axis=0))


def smallest_refuted(
    looks: list[int],
    q: float,
    alpha: float,
    claimed: float,
    delta: float = 0.0,
    known_runs: int = 0,
    power: float = 0.95,
) -> float:
    """Return the smallest loss that would be called a violation with probability ``power``."""

    def seen(epsilon: float) -> bool:
        p = min(1.0, math.exp(epsilon) * q + delta)
        shares = refuted_by(looks, p, q, alpha, claimed, delta, known_runs)
        return bool(shares[-1] >= min(1.0, power + GIVEN_AWAY))

    low, high = claimed, math.log((1.0 - delta) / q) if q < 1.0 - delta else 0.0
    if high <= claimed or not seen(high):
        return math.inf
    for _ in range(POWER_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def anytime_limits(hits: int, runs: int, tail: float) -> tuple[float, float]:
    """Return limits for a rate that hold however it was decided when to stop."""
    mixed = float(special.betaln(hits + 1, runs - hits + 1))

    def refuted(rate: float) -> bool:
        likely = special.xlogy(hits, rate) + special.xlog1py(runs - hits, -rate)
        return bool(mixed - likely >= -math.log(tail))

    at = hits / runs if runs else 0.5
    limits = []
    for end in (0.0, 1.0):
        near, far = at, end
        if not refuted(end):
            near = end
        else:
            for _ in range(60):
                middle = (near + far) / 2
                near, far = (near, middle) if refuted(middle) else (middle, far)
        limits.append(near)
    return limits[0], limits[1]
