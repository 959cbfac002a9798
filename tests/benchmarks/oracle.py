"""What the best event, known in advance, would show: the limit for any auditor of this kind."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pdpaudit.inference import METHODS
from pdpaudit.inference.bounds import score

sys.path.insert(0, str(Path(__file__).parents[2]))  # this is run as a script too
from tests.zoo.truth import has_density, log_density

__all__ = ["Oracle", "oracle_bound"]

#: Draws a side from which the laws of densities' ratios are taken, from a stream of their own.
DRAWS = 300_000
CUTS = 400


@dataclass(frozen=True)
class Oracle:
    """The best event's bound at its expected counts, where it is, and each pair's best."""

    bound: float
    pair: str
    by_pair: dict[str, float]


def oracle_bound(mechanism: Any, size: int, alpha: float, seed: int) -> Oracle:
    """Return the largest bound of any event on any of the mechanism's pairs.

    By Neyman and Pearson the best event cuts the likelihood ratio. With an exact law its
    probabilities are sums; with a density ``p`` is a share of draws from one side and ``q`` the
    mean of ``exp(-ratio)`` over the same draws.
    """
    rng = np.random.default_rng(seed)
    by_pair: dict[str, float] = {}
    for pair in mechanism.pairs():
        for one, other in ((pair.left, pair.right), (pair.right, pair.left)):
            p, q = _curve(mechanism, one, other, rng)
            hits, misses = np.rint(size * p), np.rint(size * q)
            # The score bound is quick, and tells which event the exact one is worth asking of.
            i = int(np.argmax(score(hits, size, misses, size, alpha, 0.0)))
            exact = float(METHODS["exact"](hits[i], size, misses[i], size, alpha, 0.0))
            by_pair[pair.name] = max(exact, by_pair.get(pair.name, 0.0))
    best = max(by_pair, key=by_pair.__getitem__)
    return Oracle(by_pair[best], best, by_pair)


def _curve(mechanism: Any, one: Any, other: Any, rng: Any) -> tuple[Any, Any]:
    """Return both sides' probabilities of the events that cut the likelihood ratio."""
    if has_density(mechanism):
        outputs = mechanism.sample(one, DRAWS, rng)
        ratio = log_density(mechanism, one, outputs) - log_density(mechanism, other, outputs)
        ratio = np.sort(ratio)[::-1]
        places = np.unique(np.geomspace(20, DRAWS, CUTS).astype(int))
        # Ties belong together: a cut inside one would be no event of the ratio alone.
        places = np.searchsorted(-ratio, -ratio[places - 1], side="right")
        p = places / DRAWS
        q = np.minimum(np.cumsum(np.exp(-ratio))[places - 1] / DRAWS, 1.0)
        return p, q
    left, right = mechanism.law(one).probabilities, mechanism.law(other).probabilities
    keys = list(dict.fromkeys([*left, *right]))
    p, q = (np.array([law.get(key, 0.0) for key in keys]) for law in (left, right))
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(p > 0, np.log(p) - np.log(q), -np.inf))
    return np.cumsum(p[order]), np.cumsum(q[order])
