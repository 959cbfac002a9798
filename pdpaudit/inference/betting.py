"""Anytime-valid bounds on ε: sampling may stop whenever the evidence suffices.

Draw pairs, one output from each side; let ``a`` and ``b`` say whether they fell into the event.
While the mechanism is (ε, δ)-private, ``a - exp(ε) b - δ`` has mean at most 0, so a bettor who
stakes a fraction λ of the capital on it gains nothing on average. Capital above ``1 / alpha``
occurs at any time with probability at most `alpha` (Ville's inequality), and refutes that ε.

The capital is averaged over a fixed grid of stakes, so it depends only on how many pairs of each
kind were seen. A stake that could be ruined at some ε counts as zero there; hence the capital falls
as ε rises and inverts to a bound. The event may be replaced between chunks, as long as it is chosen
before the pairs it is applied to are drawn.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from pdpaudit.core.errors import InputError

STAKES: NDArray[np.float64] = 2.0 ** -np.arange(0.0, 24.0)
"""Stakes λ, equally weighted: from everything to what 10^7 pairs of rare hits ask for."""

BISECTIONS = 40


def log_capital(
    both: ArrayLike,
    first_only: ArrayLike,
    second_only: ArrayLike,
    neither: ArrayLike,
    epsilon: ArrayLike,
    delta: float,
) -> NDArray[np.float64]:
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
    both: NDArray[np.float64],
    first_only: NDArray[np.float64],
    second_only: NDArray[np.float64],
    neither: NDArray[np.float64],
    alpha: float,
    delta: float,
) -> NDArray[np.float64]:
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
    x: ArrayLike, n: ArrayLike, y: ArrayLike, m: ArrayLike, alpha: float, delta: float = 0.0
) -> NDArray[np.float64]:
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
        if not 0.0 < self.alpha < 1.0:
            raise InputError(f"alpha must lie strictly between 0 and 1, got {self.alpha!r}")
        if not 0.0 <= self.delta < 1.0:
            raise InputError(f"delta must lie in [0, 1), got {self.delta!r}")

    @property
    def pairs(self) -> int:
        """Pairs seen so far."""
        return self.both + self.first_only + self.second_only + self.neither

    def update(self, both: int, first_only: int, second_only: int, neither: int) -> "Betting":
        """Return the state after another chunk of pairs."""
        chunk = (both, first_only, second_only, neither)
        if any(c < 0 or c != int(c) for c in chunk):
            raise InputError(f"counts of pairs must be whole numbers of at least 0, got {chunk}")
        now = (
            self.both + int(both),
            self.first_only + int(first_only),
            self.second_only + int(second_only),
            self.neither + int(neither),
        )
        a, b, c, d = np.array(now, dtype=np.float64)[:, None]
        bound = float(_invert(a, b, c, d, self.alpha, self.delta)[0])
        return Betting(self.alpha, self.delta, *now, bound=max(bound, self.bound))
