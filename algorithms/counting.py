"""How many noisy scores lie above a value, and whether they are within a limit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .laws.noise import Laplace

__all__ = ["count_within", "survival"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: A count this many nats away from the limit is not drawn: e^-50 is far below what the 53 bits of
#: a uniform number can tell apart.
CERTAIN_NATS = 50.0


def count_within(
    sizes: Ints, above: Floats, limit: Floats, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Draw whether a sum of independent binomials is at most a limit.

    Bernstein's inequality settles most draws: where the limit is so far from the mean that the
    other answer has probability below e^-50, nothing is drawn.
    """
    expected = sizes * above
    mean = expected.sum(axis=0)
    variance = mean - (expected * above).sum(axis=0)
    third = CERTAIN_NATS / 3
    reach = third + np.sqrt(third**2 + 2 * CERTAIN_NATS * variance)
    distance = limit - mean
    within = distance >= 0
    total = sizes.sum(axis=0)
    open_ = np.flatnonzero((np.abs(distance) <= reach) & (limit >= 0) & (limit < total))
    within[limit < 0] = False
    within |= limit >= total
    if len(open_):
        successes = rng.binomial(sizes[:, open_], above[:, open_]).sum(axis=0)
        within[open_] = successes <= limit[open_]
    return np.asarray(within)


def survival(noise: Laplace, x: Floats) -> Floats:
    """Return Pr[noise > x]; one exponential each."""
    tail = 0.5 * np.exp(-np.abs(x) / noise.scale)
    return np.where(x > 0, tail, 1 - tail)
