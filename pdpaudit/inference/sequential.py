"""Stop sampling as soon as the evidence suffices: two tests that may be looked at at any time.

*Bets on totals* (`Wager`). On one side ``x`` of ``n`` draws fell into an event, on the other ``y``
of ``n``; privacy says that ``p <= R q + δ`` with ``R = exp(ε)``. Take a pair of draws, ``a`` and
``b`` saying whether they fell into the event, a point ``(p0, q0)`` with ``p0 = R q0 + δ`` and a
stake ``A >= 0`` that leaves both factors of

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

*Bets on pairs* (`Betting`). Draw pairs, one output from each side; let ``a`` and ``b`` say whether
they fell into the event. While the mechanism is (ε, δ)-private, ``a - exp(ε) b - δ`` has mean at
most 0, so a bettor who stakes a fraction λ of the capital on it gains nothing on average. Capital
above ``1 / alpha`` occurs at any time with probability at most `alpha` (Ville), and refutes that ε.

The capital is averaged over a fixed grid of stakes, so it depends only on how many pairs of each
kind were seen. A stake that could be ruined at some ε counts as zero there; hence the capital falls
as ε rises and inverts to a bound. The event may be replaced between chunks, as long as it is chosen
before the pairs it is applied to are drawn.

References
----------
.. [1] Turner, Ly and Grünwald, "Generic E-variables for exact sequential k-sample tests that allow
   for optional stopping", Journal of Statistical Planning and Inference 230 (2024).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def check_levels(alpha: float, delta: float = 0.0) -> None:
    """Refuse an error level or a δ that is none."""
    if not 0.0 < alpha < 1.0:
        raise InputError(f"alpha must lie strictly between 0 and 1, got {alpha!r}")
    if not 0.0 <= delta < 1.0:
        raise InputError(f"delta must lie in [0, 1), got {delta!r}")


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
    seen: Sequence[Floats], rates: tuple[Floats, Floats], epsilon: Floats, delta: float
) -> Floats:
    """Return the logarithm of what ``n`` pairs win against each ε, staked by earlier rates."""
    x, y, n = seen
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
        check_levels(alpha, delta)
        count = len(hypotheses(claimed))
        nothing = np.zeros(count), np.zeros(count, dtype=np.bool_)
        return cls(alpha, claimed, delta, known or Known(), *nothing)

    def update(self, x: int, y: int, n: int) -> Wager:
        """Return the state after ``n`` more draws a side, ``x`` and ``y`` of them hits.

        O(number of hypotheses), some thousands.
        """
        known = self.known
        before = (known.inside + self.x, known.inside_other + self.y, known.runs + self.n)
        old_x, old_y, old = (np.array(float(count)) for count in before)
        rates = _rates(old_x, old_y, old)
        new = [np.array(float(count)) for count in (x, y, n)]
        won = _winnings(new, rates, hypotheses(self.claimed), self.delta)
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
    counts = [values.astype(np.float64) for values in (x, y, steps)]
    won = _winnings(counts, rates, hypothesis, delta)
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


#: Stakes λ, equally weighted: from everything to what 10^7 pairs of rare hits ask for.
STAKES: Floats = 2.0 ** -np.arange(0.0, 24.0)

BISECTIONS = 40


def log_capital(
    both: npt.ArrayLike,
    first_only: npt.ArrayLike,
    second_only: npt.ArrayLike,
    neither: npt.ArrayLike,
    epsilon: npt.ArrayLike,
    delta: float,
) -> Floats:
    """Return the logarithm of the capital won against each ε, starting from 1.

    Cost: O(24) per entry. Mixture of the capital processes of Waudby-Smith and Ramdas, "Estimating
    means of bounded random variables by betting", JRSS B 86 (2024), section 4.
    """
    ratio = np.exp(np.asarray(epsilon, dtype=np.float64))[..., None]
    stake = np.where(STAKES * (ratio + delta) <= 1.0, STAKES, 0.0)
    counts = np.broadcast_arrays(both, first_only, second_only, neither)
    n_both, n_first, n_second, n_neither = (c.astype(np.float64)[..., None] for c in counts)
    # xlog1py: pairs of a kind that was never seen cannot ruin anyone, however large the stake.
    capital = (
        special.xlog1py(n_both, stake * (1 - ratio - delta))
        + special.xlog1py(n_first, stake * (1 - delta))
        + special.xlog1py(n_second, -stake * (ratio + delta))
        + special.xlog1py(n_neither, -stake * delta)
    )
    capital = np.where(stake > 0, capital, -np.inf)
    with np.errstate(divide="ignore"):  # no stake may be left: the capital is then zero
        total = special.logsumexp(capital, axis=-1)
    return np.asarray(total - np.log(STAKES.size), dtype=np.float64)


def _invert(
    both: Floats,
    first_only: Floats,
    second_only: Floats,
    neither: Floats,
    alpha: float,
    delta: float,
) -> Floats:
    """Return the largest refuted ε per entry, 0 where not even 0 is."""
    needed = -np.log(alpha)
    low, high = np.zeros(both.shape), np.full(both.shape, -np.log(STAKES[-1]))
    shown = log_capital(both, first_only, second_only, neither, low, delta) >= needed
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        refuted = log_capital(both, first_only, second_only, neither, middle, delta) >= needed
        low, high = np.where(refuted, middle, low), np.where(refuted, high, middle)
    return np.where(shown, low, 0.0)


def betting(
    x: npt.ArrayLike,
    n: npt.ArrayLike,
    y: npt.ArrayLike,
    m: npt.ArrayLike,
    alpha: float,
    delta: float = 0.0,
) -> Floats:
    """Bound ε by betting on paired draws, from the two totals alone.

    Guarantee: over an endless sequence of pairs, the probability that the bound *ever* exceeds the
    true ε is at most `alpha`, so it may be looked at as often as one likes. How hits were paired is
    not in the totals; the pairing least favourable to the bettor is assumed (the fewest pairs that
    hit on both sides), which costs little for rare events. `Betting` knows the pairs. Cost: O(1)
    per event.
    """
    hits, draws, other_hits, other_draws = np.broadcast_arrays(
        *(np.asarray(c, dtype=np.float64) for c in (x, n, y, m))
    )
    if np.any(draws != other_draws):
        raise InputError("betting needs as many draws on one side as on the other (n = m)")
    both = np.maximum(hits + other_hits - draws, 0.0)
    neither = draws - hits - other_hits + both
    return _invert(both, hits - both, other_hits - both, neither, alpha, delta)


@dataclass(frozen=True)
class Betting:
    """The state of a sequential audit of one hypothesis family; `update` returns the next state."""

    alpha: float
    delta: float = 0.0
    both: int = 0
    first_only: int = 0
    second_only: int = 0
    neither: int = 0
    bound: float = 0.0

    def __post_init__(self) -> None:
        """Check the levels."""
        check_levels(self.alpha, self.delta)

    @property
    def pairs(self) -> int:
        """Pairs seen so far."""
        return self.both + self.first_only + self.second_only + self.neither

    def update(self, both: int, first_only: int, second_only: int, neither: int) -> Betting:
        """Return the state after another chunk of pairs."""
        now = (
            self.both + both,
            self.first_only + first_only,
            self.second_only + second_only,
            self.neither + neither,
        )
        a, b, c, d = np.array(now, dtype=np.float64)[:, None]
        bound = float(_invert(a, b, c, d, self.alpha, self.delta)[0])
        return Betting(self.alpha, self.delta, *now, bound=max(bound, self.bound))
