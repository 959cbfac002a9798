"""What a planned sample can show: the smallest true ε it would detect."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import special

from .bounds import METHODS, FloatArray, score
from .exact_test import rejects
from .sequential import check_levels

Refuted = npt.NDArray[np.bool_]

#: The score method has no guarantee, but tells the power of the exact one nearly as well.
KNOWN = {**METHODS, "score": score}

TAIL = 1e-9
"""Probability left out at either end of a count's law; counted as not detected."""

EXACT_NODES = 5
MOST_NODES = 129
"""Values of the second count that get their own critical value; others are interpolated."""


def critical_hits(
    n: int, y: FloatArray, alpha: float, delta: float, method: str, claimed: float
) -> FloatArray:
    """Return the least ``x`` of ``n`` whose bound against each ``y`` of ``n`` exceeds `claimed`.

    By bisection, O(log n) calls of the method. The exact method costs too
    much for that: its critical counts are found at 5 of the ``y``, starting from those of the score
    method, and the difference between the two is interpolated.
    """
    if method == "exact":
        guess = critical_hits(n, y, alpha, delta, "score", claimed)
        some = np.unique(np.linspace(0, y.size - 1, min(EXACT_NODES, y.size)).round().astype(int))
        found = [least_rejected(n, int(y[i]), int(guess[i]), alpha, delta, claimed) for i in some]
        change = np.interp(y, y[some], np.array(found) - guess[some])
        shifted: FloatArray = np.minimum(np.round(guess + change), n + 1.0)
        return shifted
    bound = KNOWN[method]
    return least_hits(n, y, lambda x: bound(x, n, y, n, alpha, delta) > claimed)


def least_hits(n: int, y: FloatArray, refuted: Callable[[FloatArray], Refuted]) -> FloatArray:
    """Return the least x of n that refutes with each y, n + 1 if none; all at once."""
    low, high = np.full(y.shape, -1.0), np.full(y.shape, n + 1.0)
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        # Finished entries have middle == low, which may be -1; any valid count keeps them still.
        found = refuted(np.maximum(middle, 0.0)) & (middle > low)
        still_open = high - low > 1
        high = np.where(still_open & found, middle, high)
        low = np.where(still_open & ~found, middle, low)
    return high


def least_rejected(n: int, y: int, guess: int, alpha: float, delta: float, claimed: float) -> int:
    """Return the least ``x`` the exact test rejects, by doubling steps away from a guess."""

    def rejected(x: int) -> bool:
        return x > n or (x >= 0 and rejects(x, n, y, n, alpha, delta, claimed))

    step, high = 1, guess
    while not rejected(high):
        high, step = min(high + step, n + 1), 2 * step
    step, low = 1, high - 1
    while rejected(low):
        low, high, step = low - step, low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if rejected(middle) else (middle, high)
    return high


def detectable(
    n: int,
    q: float,
    alpha: float,
    delta: float = 0.0,
    power: float = 0.95,
    method: str = "exact",
    claimed: float = 0.0,
) -> float:
    """Return the smallest true ε that fresh samples would show to exceed a claim.

    The probability is summed over both counts' binomial laws. For large samples the critical
    count is computed at 129 values of the second count and interpolated between them, since it is
    smooth there. Cost: O(log n) bounds at each of them; 0.1 to 2 s for the exact method.
    """
    check_levels(alpha, delta)
    first, last = binomial_ppf(TAIL, n, q), n - binomial_ppf(TAIL, n, 1 - q)
    y = np.arange(max(first, 0.0), last + 1, dtype=np.float64)
    nodes: FloatArray = np.unique(np.linspace(y[0], y[-1], min(MOST_NODES, y.size)).round())
    critical = critical_hits(n, nodes, alpha, delta, method, claimed)
    needed = np.round(np.interp(y, nodes, critical))
    weights = binomial_pmf(y, n, q)

    def shortfall(epsilon: float) -> float:
        p = min(1.0, math.exp(epsilon) * q + delta)
        return power - float(weights @ binomial_sf(needed - 1, n, p))

    most = math.log((1.0 - delta) / q) if q < 1.0 - delta else 0.0
    if shortfall(most) > 0:
        return math.inf
    if shortfall(0.0) <= 0:
        return 0.0
    from scipy.optimize import brentq  # takes long to import

    return float(brentq(shortfall, 0.0, most, xtol=1e-10))


# The binomial law by special functions: scipy.stats takes long to import.


def binomial_ppf(share: float, n: int, p: float) -> float:
    """Return the smallest number of successes at or below which that share of the law lies."""
    found = float(special.bdtrik(share, n, p))
    if math.isnan(found):  # p is so small, or so near 1, that the law is a single number
        return 0.0 if n * p < 0.5 * n else float(n)
    k = math.ceil(found)
    return float(k - 1 if k > 0 and special.bdtr(k - 1, n, p) >= share else k)


def binomial_pmf(k: FloatArray, n: int, p: float) -> FloatArray:
    """Return the probability of each number of successes."""
    log = special.xlogy(k, p) + special.xlog1py(n - k, -p) - special.betaln(k + 1, n - k + 1)
    return np.exp(log) / (n + 1)


def binomial_sf(k: FloatArray, n: int, p: float) -> FloatArray:
    """Return the probability of more successes than each number."""
    inside = special.betainc(np.maximum(k + 1, 1), np.maximum(n - k, 1), p)
    return np.where(k < 0, 1.0, np.where(k >= n, 0.0, inside))
