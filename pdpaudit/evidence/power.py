"""What a planned sample can show: the smallest true ε it would detect."""

import math

import numpy as np
from scipy import optimize, stats

from pdpaudit.errors import InputError

from .bounds import METHODS, FloatArray

TAIL = 1e-9
"""Probability left out at either end of a count's law; counted as not detected."""

MOST_NODES = 41
"""So many values of the second count get their own critical value; others are interpolated."""


def critical_hits(
    n: int, y: FloatArray, alpha: float, delta: float, method: str, claimed: float
) -> FloatArray:
    """Return the least ``x`` of ``n`` whose bound against each ``y`` of ``n`` exceeds `claimed`.

    ``n + 1`` where no count does. Bisection in ``x``, all ``y`` at once: O(log n) calls of the
    method.
    """
    bound = METHODS[method]
    low, high = np.full(y.shape, -1.0), np.full(y.shape, n + 1.0)
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        # Finished entries have middle == low, which may be -1; any valid count keeps them still.
        detected = bound(np.maximum(middle, 0.0), n, y, n, alpha, delta) > claimed
        detected &= middle > low
        open_ = high - low > 1
        high = np.where(open_ & detected, middle, high)
        low = np.where(open_ & ~detected, middle, low)
    return high


def detectable(
    n: int,
    q: float,
    alpha: float,
    delta: float = 0.0,
    power: float = 0.95,
    method: str = "clopper-pearson",
    claimed: float = 0.0,
) -> float:
    """Return the smallest true ε that fresh samples would show to exceed a claim.

    Parameters
    ----------
    n : int
        Fresh draws on each side.
    q : float
        Probability of the event on its less likely side, in (0, 1).
    alpha : float
        Error level of the bound, in (0, 1).
    delta : float
        The claim's δ, in [0, 1).
    power : float
        Probability of detection asked for, in (0, 1).
    method : str
        A key of `pdpaudit.evidence.METHODS`.
    claimed : float
        The claimed ε, at least 0; detection means that the lower bound exceeds it.

    Returns
    -------
    float
        The least ε (nats) such that counts of an event with probabilities ``exp(ε) q + δ`` and
        ``q`` give a lower bound above `claimed` with probability at least `power`; ``inf`` when
        even a first probability of 1 does not.

    Raises
    ------
    InputError
        For arguments outside their range.

    Notes
    -----
    The probability is summed over both counts' binomial laws. For large samples the critical
    count is computed at 41 values of the second count and interpolated between them, since it is
    smooth there. Cost: O(log n) bounds at each of them.

    Examples
    --------
    >>> round(detectable(10_000, 0.05, 0.05, method="clopper-pearson"), 2)
    0.26
    """
    if isinstance(n, bool) or int(n) != n or n < 1:
        raise InputError(f"n must be a whole number of at least 1, got {n!r}")
    if not 0.0 < q < 1.0:
        raise InputError(f"q must lie strictly between 0 and 1, got {q!r}")
    if not 0.0 < alpha < 1.0:
        raise InputError(f"alpha must lie strictly between 0 and 1, got {alpha!r}")
    if not 0.0 <= delta < 1.0:
        raise InputError(f"delta must lie in [0, 1), got {delta!r}")
    if not 0.0 < power < 1.0:
        raise InputError(f"power must lie strictly between 0 and 1, got {power!r}")
    if not 0.0 <= claimed < math.inf:
        raise InputError(f"claimed must be finite and at least 0, got {claimed!r}")
    if method not in METHODS:
        raise InputError(f"unknown method {method!r}; choose one of {', '.join(sorted(METHODS))}")

    first, last = float(stats.binom.ppf(TAIL, n, q)), float(stats.binom.isf(TAIL, n, q))
    y = np.arange(max(first, 0.0), last + 1, dtype=np.float64)
    nodes: FloatArray = np.unique(np.linspace(y[0], y[-1], min(MOST_NODES, y.size)).round())
    critical = critical_hits(n, nodes, alpha, delta, method, claimed)
    needed = np.ceil(np.interp(y, nodes, critical))
    weights = stats.binom.pmf(y, n, q)

    def shortfall(epsilon: float) -> float:
        p = min(1.0, math.exp(epsilon) * q + delta)
        return power - float(weights @ stats.binom.sf(needed - 1, n, p))

    most = math.log((1.0 - delta) / q) if q < 1.0 - delta else 0.0
    if shortfall(most) > 0:
        return math.inf
    if shortfall(0.0) <= 0:
        return 0.0
    return float(optimize.brentq(shortfall, 0.0, most, xtol=1e-9))
