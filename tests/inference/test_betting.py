"""Bounds that hold at any time."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from pdpaudit.core.errors import InputError
from pdpaudit.inference import Betting
from pdpaudit.inference.sequential import STAKES, betting, log_capital


def test_capital_from_its_definition():
    # Play the bets one by one, for every stake, against one hypothesis.
    rng = np.random.default_rng(11)
    first, second = rng.random(300) < 0.3, rng.random(300) < 0.1
    epsilon, delta = 0.3, 0.02
    capital = 0.0
    for stake in STAKES:
        won = 1 + stake * (first - math.exp(epsilon) * second - delta)
        capital += 0.0 if stake * (math.exp(epsilon) + delta) > 1 else won.prod() / STAKES.size
    both = int((first & second).sum())
    counts = (both, first.sum() - both, second.sum() - both, (~first & ~second).sum())
    found = float(log_capital(*(*counts, epsilon, delta)))
    assert found == pytest.approx(math.log(capital), rel=1e-9)


@pytest.mark.parametrize(("p", "q", "delta"), [(0.3, 0.3, 0.0), (0.5, 0.2, 0.1), (1.0, 0.4, 0.2)])
def test_expected_capital_never_grows_under_the_hypothesis(p, q, delta):
    # Enumerate all counts of four pairs, with a and b independent and p = exp(eps) q + delta.
    epsilon = math.log((p - delta) / q)
    shares = (p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q))
    expected = 0.0
    for counts in itertools.product(range(5), repeat=4):
        if sum(counts) == 4:
            chance = stats.multinomial.pmf(counts, 4, shares)
            if chance > 0:
                expected += chance * math.exp(float(log_capital(*(*counts, epsilon, delta))))
    # Stakes that some hypothesis rules out lie idle at zero; the rest is a fair game.
    assert expected <= 1.0 + 1e-9
    usable = np.mean(STAKES * (math.exp(epsilon) + delta) <= 1)
    assert expected == pytest.approx(usable, rel=1e-9)


@pytest.mark.parametrize("delta", [0.0, 0.02, 0.1])
def test_totals_are_the_pairing_with_the_fewest_common_hits(delta):
    for x, y, n in ((600, 200, 1000), (900, 300, 1000), (3000, 400, 10_000)):
        both = max(x + y - n, 0)
        pairs = Betting(0.05, delta).update(both, x - both, y - both, n - x - y + both)
        assert pairs.bound > 0.3
        assert float(betting(x, n, y, n, 0.05, delta)) == pytest.approx(pairs.bound, rel=1e-9)
    assert float(betting(600, 1000, 200, 1000, 0.05)) == float(
        betting(600, 1000, 200, 1000, 0.05, 0.0)
    )


def test_the_smallest_stake_says_how_much_can_be_shown():
    shown = float(betting(10**9, 10**9, 0, 10**9, 0.05))
    assert shown == pytest.approx(-math.log(STAKES[-1]), abs=1e-6)


def test_capital_falls_as_the_hypothesis_weakens():
    counts = (3, 40, 8, 149)
    for delta in (0.0, 0.1, 0.5):
        capital = log_capital(*counts, np.linspace(0, 12, 400), delta)
        finite = capital[np.isfinite(capital)]
        assert np.all(np.diff(finite) <= 1e-12)
        assert np.all(np.isfinite(capital[: finite.size]))


def test_totals_assume_the_least_favourable_pairing():
    x, y, n = 60, 30, 100
    from_totals = float(betting(x, n, y, n, 0.05))
    for both in range(0, 31):
        if x + y - both <= n:
            state = Betting(0.05).update(both, x - both, y - both, n - x - y + both)
            assert state.bound >= from_totals - 1e-12
    tightest = Betting(0.05).update(0, x, y, n - x - y)
    assert tightest.bound == pytest.approx(from_totals, abs=1e-12)


@pytest.mark.parametrize(("p", "q", "delta"), [(0.2, 0.2, 0.0), (0.3, 0.1, 0.0), (0.4, 0.1, 0.1)])
def test_looking_after_every_chunk_keeps_the_level(p, q, delta):
    # 400 sequences of 40 looks at 20 pairs each, seed pinned. The true rate is at most alpha = 0.1
    # by Ville's inequality; the test fails by chance alone with probability below 1e-4 then.
    rng = np.random.default_rng(20_240_611)
    epsilon = math.log((p - delta) / q)
    shares = (p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q))
    seen = rng.multinomial(20, shares, size=(400, 40)).cumsum(axis=1)
    capital = log_capital(*(*np.moveaxis(seen, 2, 0), epsilon, delta))
    alarms = int((capital >= -math.log(0.1)).any(axis=1).sum())
    assert alarms <= stats.binom.isf(1e-4, 400, 0.1)


def test_a_violation_is_found_and_the_bound_never_falls():
    state, bounds = Betting(alpha=0.05), []
    rng = np.random.default_rng(3)
    for _ in range(100):
        state = state.update(*rng.multinomial(100, (0.02, 0.18, 0.08, 0.72)).tolist())
        bounds.append(state.bound)
    assert state.pairs == 10_000
    assert np.all(np.diff(bounds) >= 0)
    assert 0.5 < bounds[-1] < math.log(2)  # true: ln(0.2 / 0.1); at odds 19 to 1 not above it


def test_an_evenly_spread_event_shows_nothing():
    assert Betting(alpha=0.05).update(25, 25, 25, 25).bound == 0.0


@pytest.mark.parametrize(("alpha", "delta"), [(0.0, 0.0), (1.0, 0.0), (0.05, 1.0), (0.05, -0.1)])
def test_impossible_levels_are_refused(alpha, delta):
    with pytest.raises(InputError, match=r"alpha|delta"):
        Betting(alpha, delta)


@pytest.mark.parametrize("delta", [0.0, 0.02, 0.05])
def test_totals_with_a_delta_count_every_kind_of_pair(delta):
    # 60 and 20 of 100: no pair need hit on both sides, 20 hit on neither.
    state = Betting(0.05, delta).update(0, 60, 20, 20)
    assert state.bound > 0
    assert float(betting(60, 100, 20, 100, 0.05, delta)) == pytest.approx(state.bound, abs=1e-12)
    crowded = Betting(0.05, delta).update(10, 80, 10, 0)
    assert float(betting(90, 100, 20, 100, 0.05, delta)) == pytest.approx(crowded.bound, abs=1e-12)


def test_no_delta_is_meant_where_none_is_given():
    assert float(betting(60, 100, 20, 100, 0.05)) == float(betting(60, 100, 20, 100, 0.05, 0.0))
    with pytest.raises(InputError, match=r"^betting needs as many draws on one side"):
        betting(1, 10, 1, 11, 0.05)
