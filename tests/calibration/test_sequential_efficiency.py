"""What stopping early saves where a claim is broken, and costs where it is not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pdpaudit.auditing import Config, audit
from pdpaudit.core.protocols import Law
from pdpaudit.inference import detectable, lower_bound
from pdpaudit.inference.sequential import Known, Wager, look_sizes

from .nulls import FromLaws


class Broken(FromLaws):
    """One bit kept with odds e^1.4, claimed with e^1."""

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "claim", type(self.claim)(1.0, source="test"))


def _broken():
    p = 1 / (1 + math.exp(-1.4))
    return Broken(Law({0: p, 1: 1 - p}), Law({0: 1 - p, 1: p}))


@pytest.mark.usefixtures("without_power")
def test_a_strong_violation_takes_no_more_than_a_sample_of_just_the_right_size():
    """The size at which the exact bound succeeds in 0.95 of all cases, for who knows the truth.

    Thirty complete audits that may draw 20,000; their mean is below that size. Seeds pinned.
    """
    planned = next(
        n
        for n in range(50, 4000, 10)
        if detectable(n, 1 / (1 + math.exp(1.4)), 0.05, method="score", claimed=1.0) <= 1.4
    )
    drawn = []
    for seed in range(30):
        plan = Config(seed=seed, samples=20_000, method="sequential")
        claim = audit(_broken(), [], plan, subject="broken").claims[0]
        assert claim.status == "violated"
        drawn.append(claim.samples["confirmation"] / 2)
    assert np.mean(drawn) < planned
    assert max(drawn) < 0.1 * 20_000


@pytest.mark.parametrize(("p", "q"), [(0.05, 0.02), (0.5, 0.3), (0.004, 0.001)])
def test_the_price_where_nothing_is_violated(p, q):
    """All 50,000 draws, at the expected counts: the bound is lower than the exact one by this."""
    state, before = Wager.begin(0.05, 2.0, known=Known(round(2000 * p), round(2000 * q), 2000)), 0
    for n in look_sizes(50_000):
        new = [round(n * rate) - round(before * rate) for rate in (p, q)]
        state, before = state.update(new[0], new[1], n - before), n
    exact = float(lower_bound(state.x, state.n, state.y, state.n, 0.05))
    width = math.log(p / q) - exact
    assert not state.violated
    assert 0 < math.log(p / q) - state.bound < 2.2 * width + 0.002
