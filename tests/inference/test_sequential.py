"""The test that may stop at any look: a fair game by enumeration, and the figures it promises."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from pdpaudit.core.errors import InputError
from pdpaudit.inference import sequential
from pdpaudit.inference.sequential import (
    Known,
    Wager,
    anytime_limits,
    look_sizes,
    refuted_by,
    smallest_refuted,
)

RATES = st.floats(0.02, 0.95)


@settings(max_examples=8, deadline=None)
@given(
    q=RATES,
    epsilon=st.floats(0.0, 1.5),
    delta=st.sampled_from([0.0, 0.05]),
    known=st.sampled_from([Known(), Known(9, 1, 10), Known(3, 3, 10)]),
    claimed=st.sampled_from([0.0, 0.7]),
)
def test_no_allowed_rates_win_on_average(q, epsilon, delta, known, claimed):
    """Every outcome of two chunks, the second staked by what the first gave, weighed exactly."""
    p = min(1.0, math.exp(epsilon) * q + delta)
    true = sequential.hypotheses(claimed) >= math.log(max((p - delta) / q, 1e-300)) - 1e-12
    total = np.zeros(int(true.sum()))
    for x, y, x2, y2 in itertools.product(range(4), range(4), range(3), range(3)):
        state = Wager.begin(0.05, claimed, delta, known).update(x, y, 3).update(x2, y2, 2)
        weight = np.prod(stats.binom.pmf([x, x2], [3, 2], p))
        weight *= np.prod(stats.binom.pmf([y, y2], [3, 2], q))
        total += weight * np.exp(state.capital[true])
    assert np.all(total <= 1 + 1e-9)


@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize(
    ("p", "q", "epsilon"), [(0.6, 0.1, 0.5), (0.3, 0.02, 1.0), (0.9, 0.4, 0.1)]
)
def test_it_stakes_on_the_nearest_allowed_rates(p, q, epsilon, delta):
    """The oracle minimises the Kullback-Leibler divergence by a solver of scipy's."""
    ratio = math.exp(epsilon)

    def divergence(q0):
        p0 = ratio * q0 + delta
        return float(
            stats.entropy([p, 1 - p], [p0, 1 - p0]) + stats.entropy([q, 1 - q], [q0, 1 - q0])
        )

    nearest = optimize.minimize_scalar(
        divergence, bounds=(q, (p - delta) / ratio), method="bounded", options={"xatol": 1e-10}
    ).x
    stake, p0, q0 = sequential.stakes(np.array(p), np.array(q), np.array(epsilon), delta)
    assert q0 == pytest.approx(nearest, abs=1e-5)
    assert p0 == pytest.approx(ratio * nearest + delta, abs=1e-5)
    # The factors of one pair are then the likelihood ratios.
    assert 1 + stake * (1 - p0) == pytest.approx(p / p0, rel=1e-4)
    assert 1 + ratio * stake * q0 == pytest.approx((1 - q) / (1 - q0), rel=1e-4)


def test_rates_within_the_claim_stake_nothing():
    state = Wager.begin(0.05, 1.0, known=Known(20, 10, 1000)).update(90, 10, 100)
    assert state.capital[sequential.hypotheses(1.0) >= math.log(2.1)].max() == 0.0


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_looks_do_not_depend_on_the_most(one, other):
    """So that a store filled under one limit serves another."""
    shorter, longer = sorted((one, other))
    assert look_sizes(longer)[: len(look_sizes(shorter)) - 1] == look_sizes(shorter)[:-1]
    assert look_sizes(shorter)[-1] == shorter


def test_the_bound_never_falls_and_keeps_the_claim_among_its_steps():
    rng, bounds = np.random.default_rng(4), []
    state = Wager.begin(0.05, 0.37)
    for _ in range(40):
        state = state.update(int(rng.binomial(100, 0.3)), int(rng.binomial(100, 0.1)), 100)
        bounds.append(state.bound)
    assert bounds == sorted(bounds)
    assert 0.37 in sequential.hypotheses(0.37)
    assert state.violated
    assert bounds[-1] < math.log(3)


def test_the_power_stated_is_the_power_of_the_test():
    """Against the test itself, run 150 times: within four standard errors, 0.17. Seed pinned."""
    rng, looks = np.random.default_rng(7), look_sizes(600)
    stopped = np.zeros(len(looks))
    for _ in range(150):
        known = Known(int(rng.binomial(500, 0.3)), int(rng.binomial(500, 0.06)), 500)
        state = Wager.begin(0.05, 1.0, known=known)
        for i, step in enumerate(np.diff([0, *looks]).tolist()):
            state = state.update(int(rng.binomial(step, 0.3)), int(rng.binomial(step, 0.06)), step)
            if state.violated:
                stopped[i:] += 1
                break
    told = refuted_by(looks, 0.3, 0.06, 0.05, 1.0, known_runs=500)
    assert np.abs(stopped / 150 - told).max() < 0.17


def test_what_would_be_seen_shrinks_with_the_sample():
    seen = [smallest_refuted(look_sizes(n), 0.05, 0.05, 1.0) for n in (1000, 10_000, 100_000)]
    assert seen == sorted(seen, reverse=True)
    assert 1.0 < seen[-1] < 1.1
    assert smallest_refuted([100], 0.9, 0.05, 1.0) == math.inf


@pytest.mark.parametrize("rate", [0.02, 0.4])
def test_limits_that_hold_at_any_time(rate):
    """Exactly, over all paths of 40 runs: the probability of ever leaving the truth outside."""
    inside = {0: 1.0}
    left = 0.0
    for runs in range(1, 41):
        after = dict.fromkeys(range(runs + 1), 0.0)
        for hits, weight in inside.items():
            after[hits] += weight * (1 - rate)
            after[hits + 1] += weight * rate
        for hits in list(after):
            low, high = anytime_limits(hits, runs, 0.05)
            if not low <= rate <= high:
                left += after.pop(hits)
        inside = after
    assert 0 < left <= 0.05


def test_limits_at_the_ends():
    assert anytime_limits(0, 50, 0.05)[0] == 0.0
    assert anytime_limits(50, 50, 0.05)[1] == 1.0
    _, high = anytime_limits(0, 50, 0.05)
    assert (1 - high) ** 50 == pytest.approx(0.05 / 51, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((0.0, 1.0), "alpha"), ((0.05, 1.0, 1.0), "delta")],
)
def test_what_is_no_test_is_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        Wager.begin(*arguments)
