"""What a sample is said to detect, against enumeration and simulation."""

import importlib
import math

import numpy as np
import pytest
from scipy import stats

from pdpaudit.core.errors import InputError
from pdpaudit.inference import detectable, lower_bound, rejects
from pdpaudit.inference.bounds import score
from pdpaudit.inference.power import KNOWN, binomial_ppf, critical_hits

module = importlib.import_module("pdpaudit.inference.power")


@pytest.mark.parametrize("method", ["clopper-pearson", "score", "betting"])
@pytest.mark.parametrize(("claimed", "delta"), [(0.0, 0.0), (0.5, 0.0), (0.2, 0.05)])
def test_power_by_enumeration_of_every_outcome(method, claimed, delta):
    n, q, alpha = 60, 0.25, 0.05
    epsilon = detectable(n, q, alpha, delta, method=method, claimed=claimed)
    x, y = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    shown = KNOWN[method](x, n, y, n, alpha, delta) > claimed
    chance_y = stats.binom.pmf(np.arange(n + 1), n, q)

    def power(true):
        chance_x = stats.binom.pmf(np.arange(n + 1), n, math.exp(true) * q + delta)
        return float(chance_x @ shown @ chance_y)

    assert power(epsilon) == pytest.approx(0.95, abs=1e-6)
    assert power(epsilon - 0.01) < 0.95


def test_power_of_the_exact_bound_by_enumeration():
    n, q, alpha, claimed = 60, 0.15, 0.05, 0.3
    epsilon = detectable(n, q, alpha, claimed=claimed, method="exact")
    p = math.exp(epsilon) * q
    guess = critical_hits(n, np.arange(n + 1.0), alpha, 0.0, "score", claimed)
    power = 0.0
    for y in range(31):  # beyond lies less than 1e-9
        least = next(
            x for x in range(n + 2) if x > n or rejects_from(x, n, y, guess, alpha, claimed)
        )
        power += stats.binom.pmf(y, n, q) * stats.binom.sf(least - 1, n, p)
    # Critical counts between five values of y are interpolated and rounded up: off by at most one.
    assert 0.93 < power < 0.97


def rejects_from(x, n, y, guess, alpha, claimed):
    """Skip what the score method is far from showing; the two differ by a count or two."""
    return x >= guess[y] - 4 and rejects(x, n, y, n, alpha, 0.0, claimed)


def test_power_of_the_exact_bound_by_simulation():
    # 200 samples, seed pinned; at a power of 0.95 fewer than 179 or more than 199 detections have
    # probability below 2e-3 together (none in 200 missing: 3.5e-5).
    n, q, claimed = 20_000, 0.02, 0.2
    epsilon = detectable(n, q, 0.05, claimed=claimed, method="exact")
    rng = np.random.default_rng(77)
    x, y = rng.binomial(n, math.exp(epsilon) * q, 200), rng.binomial(n, q, 200)
    detected = sum(
        rejects(int(a), n, int(b), n, 0.05, 0.0, claimed) for a, b in zip(x, y, strict=True)
    )
    low, high = (stats.binom.ppf(share, 200, 0.95) for share in (1e-3, 1 - 1e-3))
    assert low <= detected <= high


@pytest.mark.parametrize("method", ["clopper-pearson", "exact"])
def test_more_draws_detect_less(method):
    found = [detectable(n, 0.05, 0.05, method=method, claimed=0.5) for n in (300, 3_000, 100_000)]
    assert found[0] > found[1] > found[2] > 0.5


def test_the_exact_bound_needs_about_a_third_of_the_draws():
    pair = detectable(28_000, 0.05, 0.05, method="clopper-pearson")
    third = detectable(10_000, 0.05, 0.05, method="exact")
    assert third < 1.25 * pair
    assert detectable(28_000, 0.05, 0.05, method="exact") < 0.85 * pair


def test_too_few_draws_detect_nothing():
    assert detectable(2, 0.3, 0.05) == math.inf
    assert detectable(1_000, 0.6, 0.05, claimed=1.0) == math.inf  # p cannot exceed q by so much
    assert detectable(1_000, 0.5, 0.05, delta=0.6) == math.inf


def test_critical_hits_are_where_the_bound_passes_the_claim():
    y = np.array([0.0, 3.0, 10.0, 60.0])
    least = critical_hits(80, y, 0.05, 0.0, "clopper-pearson", 0.4)
    assert least[-1] == 81
    for hits, others in zip(least[:-1], y[:-1], strict=True):
        assert float(lower_bound(hits, 80, others, 80, 0.05, method="clopper-pearson")) > 0.4
        assert float(lower_bound(hits - 1, 80, others, 80, 0.05, method="clopper-pearson")) <= 0.4


def test_one_hit_may_be_enough():
    """At a lax level: one of twenty against none."""
    assert score([0, 1], 20, 0, 20, 0.2).tolist() == [
        0.0,
        pytest.approx(0.366, abs=1e-3),
    ]
    assert critical_hits(20, np.array([0.0]), 0.2, 0.0, "score", 0.3).tolist() == [1.0]


def test_what_chance_alone_shows_often_enough_is_detected_at_no_difference():
    assert detectable(100, 0.3, 0.5, power=0.1, method="clopper-pearson") == 0.0


def test_a_single_draw_is_a_sample():
    assert detectable(1, 0.3, 0.05) == math.inf


@pytest.mark.parametrize(("n", "q", "count"), [(50, 0.01, 10), (5_000, 0.3, 129)])
def test_counts_looked_at_are_all_but_a_billionth(monkeypatch, n, q, count):
    """At either end; and no more of them than promised."""
    asked = []
    plain = critical_hits
    monkeypatch.setattr(module, "critical_hits", lambda *a: [asked.append(a), plain(*a)][1])
    detectable(n, q, 0.05, method="clopper-pearson")
    nodes = asked[0][1]
    assert len(nodes) == count
    assert stats.binom.cdf(nodes[0] - 1, n, q) <= 1e-9 < stats.binom.cdf(nodes[0], n, q)
    assert stats.binom.sf(nodes[-1], n, q) <= 1e-9 < stats.binom.sf(nodes[-1] - 1, n, q)
    assert np.ptp(np.diff(nodes)) <= 1


def looks(monkeypatch, least):
    """Let the exact test reject from ``least(y)`` hits, and note what it is asked."""
    asked = []

    def rejects(*arguments):
        asked.append(arguments)
        return arguments[0] >= least(arguments[2])

    monkeypatch.setattr(module, "rejects", rejects)
    return asked


@pytest.mark.parametrize("guess", [0, 1, 37, 40, 60, 100, 101])
@pytest.mark.parametrize("least", [0, 1, 2, 37, 41, 60, 99, 100, 101])
def test_the_least_count_is_found_from_any_guess(monkeypatch, guess, least):
    asked = looks(monkeypatch, lambda y: least)
    found = module.least_rejected(100, 7, guess, 0.05, 0.1, 0.3)
    assert found == least
    assert isinstance(found, int)
    assert all(
        rest == (100, 7, 100, 0.05, 0.1, 0.3) for rest in (arguments[1:] for arguments in asked)
    )
    assert all(0 <= x <= 100 for x, *_ in asked)


@pytest.mark.parametrize(
    ("guess", "least", "order"),
    [
        (40, 52, [40, 41, 43, 47, 55, 54, 53, 51, 52]),
        (60, 52, [60, 59, 58, 56, 52, 44, 48, 50, 51]),
        (40, 40, [40, 39]),
        (0, 0, [0]),
        (97, 101, [97, 98, 100, 100]),  # 101 and more need no look
    ],
)
def test_looks_are_few_by_doubling_steps_and_halving(monkeypatch, guess, least, order):
    asked = looks(monkeypatch, lambda y: least)
    module.least_rejected(100, 7, guess, 0.05, 0.0, 0.0)
    assert [x for x, *_ in asked] == order


def test_the_exact_critical_counts_are_found_at_five_and_carried_over(monkeypatch):
    """The difference to the score method's is interpolated linearly."""
    y = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 11.0, 12.0, 13.0, 15.0])
    guess = critical_hits(60, y, 0.05, 0.0, "score", 0.2)
    shift = dict(zip(y.tolist(), [3, 0, -2, 0, 6, 0, 1, 0, -4], strict=True))
    at = dict(zip(y.tolist(), guess.tolist(), strict=True))
    asked = looks(monkeypatch, lambda others: at[others] + shift[others])
    found = critical_hits(60, y, 0.05, 0.0, "exact", 0.2)
    assert {arguments[2] for arguments in asked} == {0, 2, 8, 12, 15}
    change = np.array([3, 0.5, -2, 2 / 3, 6, 2.25, 1, -2 / 3, -4])
    assert found.tolist() == np.round(guess + change).tolist()
    few = critical_hits(60, y[:3], 0.05, 0.0, "exact", 0.2)
    assert few.tolist() == (guess[:3] + np.array([3, 0, -2])).tolist()


def test_no_critical_count_is_above_one_more_than_all(monkeypatch):
    """Though between two values of y the interpolated one may be."""
    y = np.arange(200.0)
    some = [0, 50, 100, 149, 199]
    guess = critical_hits(400, y, 0.05, 0.0, "score", 0.2)
    assert (guess + np.interp(y, some, 401.0 - guess[some])).max() > 401.5
    looks(monkeypatch, lambda others: 401)
    assert critical_hits(400, y, 0.05, 0.0, "exact", 0.2).max() == 401.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0.0}, "alpha must"),
        ({"alpha": 1.0}, "alpha must"),
        ({"delta": 1.0}, "delta must"),
    ],
)
def test_bad_requests_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        detectable(**{"n": 100, "q": 0.1, "alpha": 0.05, **arguments})


@pytest.mark.parametrize("n", [1, 2, 50, 20_000])
@pytest.mark.parametrize("p", [1e-300, 1e-26, 1e-6, 0.1, 0.5, 0.999, 1 - 1e-15])
def test_ends_of_a_binomial_law_are_those_of_scipy(n, p):
    for share in (1e-9, 1e-6, 0.5, 1 - 1e-6):
        assert binomial_ppf(share, n, p) == stats.binom.ppf(share, n, p)
