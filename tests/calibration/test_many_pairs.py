"""Many pairs that lose as much as is claimed: one that loses more is still found, none is accused.

A hundred pairs of Laplace or normal noise at exactly the claim; in one of them, at a random place,
a leak of a given size may be planted.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

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


class Normal(Many):
    """Normal noise; where it leaks, one end is thinned as far as makes that loss in a unit."""

    def __init__(self, claim: PrivacyClaim, size: float = 0.0, seed: int = 0) -> None:
        super().__init__(size, seed)
        self.claim, self.less = claim, 0.0
        if size and claim.smallest(self.rate, 0.0) > size:
            logs = optimize.brentq(
                lambda log: float(claim.smallest(self.rate, math.exp(log))) - size,
                -40.0,
                math.log(self.rate),
            )
            self.less = math.exp(logs)

    def sample(self, given, size, rng):
        place, side = given
        if place != self.place or not side:
            return side + rng.normal(size=size)
        inside, share = rng.random(size) < self.less, rng.random(size)
        quantile = np.where(inside, share * self.rate, self.rate + share * (1 - self.rate))
        return stats.norm.ppf(1 - quantile if self.upper else quantile)


UNITS = {
    "gaussian": PrivacyClaim.gaussian(1.0),
    "zcdp": PrivacyClaim.zcdp(0.5),
    "renyi": PrivacyClaim.renyi(2, 1.0),
    "curve": PrivacyClaim.curve(lambda x: float(PrivacyClaim.gaussian(1.0).trade_off(x))),
}


class Clipped(Many):
    """The same, kept between two values that come up again and again."""

    def sample(self, given, size, rng):
        return np.clip(super().sample(given, size, rng), -0.5, 1.5)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
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
    audits = repetitions(2, 100)
    found = sum(
        audit(Many(size, seed), [], Config(seed), subject="many").claims[0].status == "violated"
        for seed in range(audits)
    )
    assert found >= stats.binom.ppf(0.03, audits, 0.95), f"{found} of {audits} at {size}"


@pytest.mark.usefixtures("without_power")
def test_where_all_lose_what_is_claimed_none_is_accused_too_often(repetitions):
    """Fails for a sound auditor with probability 0.001."""
    audits = repetitions(3, 200)
    alarms = sum(
        audit(Many(), [], Config(seed, budget="quick"), subject="many").violated
        for seed in range(audits)
    )
    assert stats.binom.sf(alarms - 1, audits, ALPHA) > 0.001, f"{alarms} of {audits}"


@pytest.mark.slow
def test_what_is_sound_on_many_pairs_is_let_go_in_another_unit():
    (claim,) = audit(Normal(UNITS["gaussian"]), [], Config(1), subject="many").claims
    assert claim.status == "not_rejected"
    assert claim.detectable_epsilon is not None
    assert claim.detectable_epsilon <= 2.5


@pytest.mark.slow
@pytest.mark.parametrize("kind", UNITS.values(), ids=UNITS)
def test_a_leak_of_the_size_that_is_stated_in_another_unit_is_found(monkeypatch, kind):
    """An auditor that finds 95 % of them fails with probability 0.03 at other seeds."""
    (sound,) = audit(Normal(kind), [], Config(1), subject="many").claims
    assert sound.status == "not_rejected"
    monkeypatch.setattr(confirmation, "measured_power", lambda *_: 0.0)
    audits = 20
    found = sum(
        audit(
            Normal(kind, sound.detectable_epsilon, seed), [], Config(seed), subject="many"
        ).violated
        for seed in range(audits)
    )
    assert found >= stats.binom.ppf(0.03, audits, 0.95), f"{found} at {sound.detectable_epsilon}"
