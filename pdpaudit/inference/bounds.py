"""Lower confidence bounds on ε from two binomial samples.

On one side ``x`` of ``n`` draws fell into an event, on the other ``y`` of ``m``. With ``p`` and
``q`` the event's two probabilities, every (ε, δ)-private mechanism has ``p <= exp(ε) q + δ``, so
``ln((p - δ) / q)`` is a lower bound on its true ε. The functions here bound that number from below
at error level ``alpha``.

All share one signature ``(x, n, y, m, alpha, delta) -> array`` and one meaning: the result is at
least 0, is 0 when nothing can be shown, and is finite whatever the counts (a mechanism with ε = ∞
gets what its sample supports). Privacy's ε is never negative, so flooring at 0 costs nothing.
The functions assume valid counts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from pdpaudit.core.errors import InputError

from .exact_test import exact, score_limit
from .sequential import betting, check_levels

FloatArray: TypeAlias = NDArray[np.float64]
Method: TypeAlias = Callable[[ArrayLike, ArrayLike, ArrayLike, ArrayLike, float, float], FloatArray]


def _floats(*counts: ArrayLike) -> list[FloatArray]:
    """Broadcast counts against each other, as float64."""
    return np.broadcast_arrays(*(np.asarray(c, dtype=np.float64) for c in counts))  # type: ignore[return-value]


def _log_ratio(p: FloatArray, q: FloatArray, delta: float) -> FloatArray:
    """``max(0, ln((p - delta) / q))`` without a warning where ``p <= delta``; ``q`` must be > 0."""
    excess = np.maximum(p - delta, 0.0)
    return np.log(np.maximum(excess / q, 1.0))


def clopper_pearson(
    x: ArrayLike, n: ArrayLike, y: ArrayLike, m: ArrayLike, alpha: float, delta: float = 0.0
) -> FloatArray:
    """Bound ε by a lower limit for ``p`` and an upper limit for ``q``, at ``alpha/2`` each.

    Guarantee: exceeds the true ε with probability at most `alpha`, for all n, m, p, q (each limit
    is exact [1]_ and the two are joined by the union bound). The guarantee is far from used up: at
    a nominal 5 % the error is below 0.25 %. Cost: O(1) per event.
    """
    from statsmodels.stats.proportion import proportion_confint  # imports pandas: only when used

    hits, draws, other_hits, other_draws = map(np.array, _floats(x, n, y, m))
    low, _ = proportion_confint(hits, draws, alpha, method="beta")
    _, high = proportion_confint(other_hits, other_draws, alpha, method="beta")
    return _log_ratio(np.asarray(low), np.asarray(high), delta)


def score(
    x: ArrayLike, n: ArrayLike, y: ArrayLike, m: ArrayLike, alpha: float, delta: float = 0.0
) -> FloatArray:
    """Bound ε by inverting the score test; approximate.

    No guarantee: at a nominal 5 % and 1,000 draws a side the error reaches 5.9 %. Meant for
    choosing among many events, not for verdicts. Koopman (1984) for δ = 0; Miettinen and Nurminen
    (1985). Cost: O(1) per event.
    """
    hits, draws, other_hits, other_draws = _floats(x, n, y, m)
    z = float(special.ndtri(1 - alpha))
    if z <= 0:
        return np.zeros(hits.shape)
    limit = score_limit(hits, draws, other_hits, other_draws, z, delta)
    estimate = _log_ratio(hits / draws, np.maximum(other_hits, 1e-300) / other_draws, delta)
    return np.clip(limit, 0.0, estimate)  # rounding may lift it past the plain estimate


METHODS: dict[str, Method] = {
    "exact": exact,
    "clopper-pearson": clopper_pearson,
    "betting": betting,
}
"""Every method by name; all have the signature ``(x, n, y, m, alpha, delta) -> array``."""


def lower_bound(
    x: ArrayLike,
    n: ArrayLike,
    y: ArrayLike,
    m: ArrayLike,
    alpha: float,
    delta: float = 0.0,
    method: str = "exact",
) -> FloatArray:
    """Bound ε from below by the named method."""
    check_levels(alpha, delta)
    return METHODS[method](x, n, y, m, alpha, delta)


@dataclass(frozen=True)
class ErrorBudget:
    """The probability of any false positive in a command, split evenly (Bonferroni)."""

    alpha: float
    confirmed: int = 1

    def __post_init__(self) -> None:
        """Check the level and the count."""
        check_levels(self.alpha)
        if self.confirmed < 1 or self.confirmed != int(self.confirmed):
            raise InputError(f"at least one thing must be confirmed, got {self.confirmed!r}")

    @property
    def share(self) -> float:
        """Error level of each bound, such that all hold together with probability 1 - alpha."""
        return self.alpha / self.confirmed

    def describe(self) -> str:
        """Return the budget in one line for the terminal."""
        if self.confirmed == 1:
            return f"false-positive rate at most {100 * self.alpha:.4g}%, on one confirmed bound"
        return (
            f"false-positive rate at most {100 * self.alpha:.4g}% over all {self.confirmed} "
            f"confirmed bounds together, {100 * self.share:.4g}% each (Bonferroni)"
        )
