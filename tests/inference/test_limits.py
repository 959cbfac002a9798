"""What no test can find in 100,000 runs a side, whatever it looks at.

A pair of laws that keeps the claim, and is so near the true one that no test of level 0.05 tells
runs of the two apart more often than ``0.05 + sqrt(1 - BC^2)``, BC the Bhattacharyya coefficient of
all runs: so often at most does any test call the true pair violated.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

RUNS, ALPHA = 100_000, 0.05

#: Normal noise of variance 1 around 0 and around 1, in bins.
EDGES = np.linspace(-9.0, 10.0, 3801)
P, Q = (np.diff(norm.cdf(EDGES, mean)) for mean in (1.0, 0.0))
# The lower tails have all their digits, and either is the other's mirror image.
P, Q = np.maximum(P, Q[::-1]), np.maximum(Q, P[::-1])


def most_power(p, q):
    """Return the largest power against runs of these two laws."""
    p, q = p / p.sum(), q / q.sum()
    near = float(np.log1p(np.sqrt(P / P.sum() * p).sum() - 1))
    near += float(np.log1p(np.sqrt(Q / Q.sum() * q).sum() - 1))
    return ALPHA + math.sqrt(1 - math.exp(2 * RUNS * near))


def test_normal_noise_at_a_delta_of_1e_5():
    """(ε, δ) at δ = 1e-5: 0.8 of ε is no more than what hardly ever happens."""
    delta = 1e-5

    def lacking(epsilon):
        return norm.sf(epsilon - 0.5) - math.exp(epsilon) * norm.sf(epsilon + 0.5) - delta

    epsilon = 0.8 * brentq(lacking, 1.0, 9.0)
    # More of one side, up to where δ suffices, and the mirror image.
    excess = np.maximum(P - math.exp(epsilon) * Q, 0.0)
    kept = np.cumsum(excess[::-1])[::-1] > delta
    q = Q + np.where(kept, excess * math.exp(-epsilon), 0.0)
    p = q[::-1]
    for one, other in ((p / p.sum(), q / q.sum()), (q / q.sum(), p / p.sum())):
        assert np.maximum(one - math.exp(epsilon) * other, 0.0).sum() < 1.1 * delta
    assert most_power(p, q) < 0.5


def test_normal_noise_at_a_high_order():
    """Of order 8 most is made around 8, where nothing ever comes."""
    order, claimed = 8, 0.8 * 4.0

    def divergence(p, q):
        return math.log(float((p**order * q ** (1.0 - order)).sum())) / (order - 1)

    def thinned(start):
        less = np.exp(-np.maximum(EDGES[1:] - start, 0.0))
        p, q = P * less, Q * less[::-1]
        return p / p.sum(), q / q.sum()

    start = brentq(lambda at: divergence(*thinned(at)) - claimed, 4.0, 6.0)
    p, q = thinned(start)
    assert max(divergence(p, q), divergence(q, p)) <= claimed + 1e-9
    assert most_power(p, q) < 0.5
