"""Many pairs that lose as much as is claimed: one that loses more is still found, none is accused.

A hundred pairs of Laplace noise at exactly the claim; in one of them, at a random place, a leak of
a given size may be planted.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from pdpaudit.auditing import Config, audit, confirmation
from pdpaudit.core.protocols import PrivacyClaim

ALPHA, PAIRS = 0.05, 100


class Many:
    """Laplace noise around the side; where it leaks, one end of the noise is thinned by exp(-s)."""

    claim = PrivacyClaim(1.0, source="closed form")

    def __init__(self, size: float = 0.0, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.size, self.rate = size, (0.1, 0.25, 0.5)[seed % 3]
        self.place = int(rng.integers(PAIRS)) if size else -1
        self.upper = bool(rng.random() < 0.5)

    def pairs(self):
        return [((i, 0), (i, 1)) for i in range(PAIRS)]

    def sample(self, given, size, rng):
        place, side = given
        if place != self.place or not side:
            return side + rng.laplace(size=size)
        # Quantiles of the other side, those of the end less often.
        less = self.rate * math.exp(-self.size)
        inside = rng.random(size) < less
        share = rng.random(size)
        quantile = np.where(inside, share * self.rate, self.rate + share * (1 - self.rate))
        return stats.laplace.ppf(1 - quantile if self.upper else quantile)

    def run(self, given, rng):
        return float(self.sample(given, 1, rng)[0])


class Clipped(Many):
    """The same, kept between two values that come up again and again."""

    def sample(self, given, size, rng):
        return np.clip(super().sample(given, size, rng), -0.5, 1.5)


@pytest.mark.parametrize("seed", [1, 2])
def test_values_that_repeat_among_others_cost_no_power(seed):
    """As many pairs tie where outputs are cut off; each seed misses with probability 0.05."""
    (claim,) = audit(Clipped(), [], Config(seed), subject="many").claims
    assert claim.status == "not_rejected"
    assert claim.detectable_epsilon is not None
    assert claim.detectable_epsilon <= 1.7


def test_a_leak_of_the_size_that_is_stated_is_found(monkeypatch, repetitions):
    """An auditor that finds 95 % of them fails with probability 0.03 at other seeds."""
    size = audit(Many(), [], Config(1), subject="many").claims[0].detectable_epsilon
    assert size is not None
    assert size <= 1.7
    monkeypatch.setattr(confirmation, "measured_power", lambda *_: 0.0)
    audits = repetitions(6, 100)
    found = sum(
        audit(Many(size, seed), [], Config(seed), subject="many").claims[0].status == "violated"
        for seed in range(audits)
    )
    assert found >= stats.binom.ppf(0.03, audits, 0.95), f"{found} of {audits} at {size}"


@pytest.mark.usefixtures("without_power")
def test_where_all_lose_what_is_claimed_none_is_accused_too_often(repetitions):
    """Fails for a sound auditor with probability 0.001."""
    audits = repetitions(10, 200)
    alarms = sum(
        audit(Many(), [], Config(seed, budget="quick"), subject="many").violated
        for seed in range(audits)
    )
    assert stats.binom.sf(alarms - 1, audits, ALPHA) > 0.001, f"{alarms} of {audits}"
