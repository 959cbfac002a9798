"""Bounds on ρ, μ and ε at an order: never above the truth too often, and near it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtr
from scipy.stats import binom, binomtest

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.privacy_loss import loss_for
from pdpaudit.core.protocols import Law
from pdpaudit.inference.claim_bounds import Band, claim_bound, expected_claim_bound

ALPHA, SIZE = 0.05, 100_000
ZCDP, RENYI, GAUSSIAN = PrivacyClaim.zcdp(0), PrivacyClaim.renyi(2, 0), PrivacyClaim.gaussian(0)
KINDS = [ZCDP, RENYI, GAUSSIAN]


def normal(mu):
    cuts = np.linspace(-2.5, 3.5, 60)
    return tuple(np.diff([0.0, *ndtr(cuts - mean), 1.0]) for mean in (mu, 0.0))


def laplace(epsilon):
    cuts = np.linspace(-1 / epsilon, 2 / epsilon, 40)

    def below(x):
        return np.where(
            x < 0,
            np.exp(epsilon * np.minimum(x, 0)) / 2,
            1 - np.exp(-epsilon * np.maximum(x, 0)) / 2,
        )

    return tuple(np.diff([0.0, *below(cuts - mean), 1.0]) for mean in (1.0, 0.0))


def geometric(epsilon):
    steps = np.exp(-epsilon * np.abs(np.arange(-30, 31)))
    return np.append(0.0, steps) / steps.sum() + 1e-9, np.append(steps, 0.0) / steps.sum() + 1e-9


def response(epsilon):
    flip = math.exp(epsilon) / (1 + math.exp(epsilon))
    return np.array([flip, 1 - flip]), np.array([1 - flip, flip])


def exponential(*scores):
    weights = np.exp(np.array(scores))
    return weights / weights.sum()


PAIRS = {
    "gaussian": normal(1.0),
    "gaussian 0.45": normal(0.45),
    "laplace": laplace(1.0),
    "geometric": geometric(1.0),
    "response": response(1.0),
    "noisy max by gumbel noise": (exponential(0, 0, 0), exponential(1, -1, 0)),
    "exponential": (exponential(0, 0.5, 1, 1), exponential(0.5, 0, 0.5, 1.5)),
}
pairs = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)


def sampled(pair, rng, size):
    """Counts of the events that the ratio lies above something, the smallest first."""
    p, q = pair
    order = np.argsort(-(p / q).round(9), kind="stable")
    p, q = p[order], q[order]
    ends = np.unique(np.linspace(1, len(p) - 1, 9).round().astype(int))
    draws = [rng.multinomial(size, side / side.sum()).cumsum()[ends - 1] for side in (p, q)]
    return [side.tolist() for side in draws]


def bounded(kind, pair, rng, size=SIZE):
    """A bound as an audit makes it: planned on a quarter of the draws, counted on fresh ones."""
    seen, others = sampled(pair, rng, size // 4)
    shares = expected_claim_bound(
        kind, np.array(seen) / (size // 4), np.array(others) / (size // 4), size, ALPHA
    )
    best = int(shares.argmax())
    planned = Band.plan(kind, (seen, others), (size // 4, size // 4), (size, ALPHA))
    counts, others = sampled(pair, rng, size)
    if planned is not None and planned[1] > shares[best]:
        return planned[0].bound(kind, (counts, others), size, ALPHA)
    return float(claim_bound(kind, counts[best], others[best], size, ALPHA))


def truth(kind, pair):
    left, right = (Law(dict(enumerate((side / side.sum()).tolist()))) for side in pair)
    return loss_for(left, right, kind).epsilon


@pairs
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.symbol)
def test_violated_at_four_fifths_of_the_truth_and_not_at_it(kind, pair):
    # A sound bound lies above the truth for 1 seed in 20; all 21 are under it with probability 0.34
    # at worst, in fact nearly 1 (next test): the limits are wide of their level.
    found, true = bounded(kind, pair, np.random.default_rng(7)), truth(kind, pair)
    assert 0.8 * true < found <= true


@pairs
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.symbol)
def test_bounds_exceed_the_truth_no_more_often_than_stated(kind, pair, repetitions):
    times = repetitions(4, 2000)
    rng, true = np.random.default_rng(11), truth(kind, pair)
    above = sum(bounded(kind, pair, rng, 2000) > true for _ in range(times))
    # Fails by chance once in 1,000 for a bound exactly at its level; 21 of these once in 47.
    assert binomtest(above, times, ALPHA, alternative="greater").pvalue > 1e-3


def test_a_band_shows_more_than_each_threshold_at_its_share_of_the_level():
    rng, pair = np.random.default_rng(3), normal(1.0)
    counts, others = sampled(pair, rng, SIZE)
    points = claim_bound(ZCDP, counts, others, SIZE, ALPHA / len(counts)).max()
    # By hand not even 0.75 of the truth is refuted.
    assert points < 0.75 * 0.5 < 0.88 * 0.5 < bounded(ZCDP, pair, rng)


@pytest.mark.parametrize("kind", [*KINDS, PrivacyClaim(0.0), PrivacyClaim(0.0, 0.05)])
def test_the_error_of_one_event_by_enumeration(kind):
    n, p, q = 60, 0.4, 0.2
    true = float(kind.smallest(p, q))
    x, y = np.mgrid[: n + 1, : n + 1]
    bounds = claim_bound(kind, x, y, n, ALPHA)
    weights = np.outer(binom.pmf(range(n + 1), n, p), binom.pmf(range(n + 1), n, q))
    assert 0 < weights[bounds > true + 1e-12].sum() <= ALPHA


def test_counts_at_their_ends_give_finite_bounds():
    for kind in KINDS:
        assert claim_bound(kind, 0, 0, 10, ALPHA) == 0
        assert claim_bound(kind, 10, 10, 10, ALPHA) == 0
        assert 0 < claim_bound(kind, 1000, 0, 1000, ALPHA) < math.inf
    band, _ = Band.plan(ZCDP, ([50, 90], [0, 0]), (100, 100), (100, ALPHA))
    assert 0 < band.bound(ZCDP, ([50, 90], [0, 0]), 100, ALPHA) < math.inf
    assert band.bound(ZCDP, ([0, 0], [50, 90]), 100, ALPHA) == 0


def divergence(order, p, q):
    return math.log(float((p**order * q ** (1 - order)).sum())) / (order - 1)


@pytest.mark.parametrize("order", [1.05, 2.0, 4.0, 20.0])
@pytest.mark.parametrize("name", ["gaussian", "laplace", "exponential"])
def test_bets_win_nothing_from_laws_within_the_divergence(name, order):
    rng, (p, q) = np.random.default_rng(13), PAIRS[name]
    p, q = (side / side.sum() for side in (p, q))
    ones, others = ((1e5 * side.cumsum()[:-1]).round().astype(int).tolist() for side in (p, q))
    counts = (ones, others)
    claimed = 0.7 * max(divergence(order, p, q), divergence(order, q, p))
    kind = PrivacyClaim.renyi(order, claimed)
    band, _ = Band.plan(kind, counts, (100_000, 100_000), (SIZE, ALPHA))
    # What one draw of each side wins: the capital of a single draw in each bin.
    unit, none = np.eye(len(p)), np.zeros(len(p))
    for most in (0.2 * claimed, claimed):
        ours = np.exp([band.growth(one, none, most) for one in unit])
        theirs = np.exp([band.growth(none, one, most) for one in unit])
        assert (ours > 0).all()
        assert (theirs > 0).all()
        for _ in range(200):
            # Laws between a random one and the nearest to the truth, as far as is allowed.
            x = rng.dirichlet(np.ones(len(p))) if rng.random() < 0.5 else p / ours
            y = rng.dirichlet(np.ones(len(p))) if rng.random() < 0.5 else q / theirs
            x, y = x / x.sum(), y / y.sum()
            low, high = 0.0, 1.0
            for _ in range(40):
                middle = (low + high) / 2
                z = y + middle * (x - y)
                fine = max(divergence(order, z, y), divergence(order, y, z)) <= most
                low, high = (middle, high) if fine else (low, middle)
            z = y + low * (x - y)
            assert z @ ours + y @ theirs <= 2 + 1e-9


@pytest.mark.parametrize("order", [1.5, 4.0])
def test_bets_grow_as_fast_as_the_nearest_laws_allow(order):
    """By another solver: the nearest laws in both directions, in relative entropy."""
    p, q = (np.append(side, 1 - sum(side)) for side in ([0.5, 0.3], [0.3, 0.3]))
    most = 0.8 * divergence(order, p, q)

    def laws(logs):
        x, y = np.exp(logs.reshape(2, -1))
        return x / x.sum(), y / y.sum()

    def entropy(logs):
        x, y = laws(logs)
        return float(p @ np.log(p / x) + q @ np.log(q / y))

    def room(logs):
        x, y = laws(logs)
        return [most - divergence(order, x, y), most - divergence(order, y, x)]

    found = minimize(
        entropy,
        np.log([*p, *q]),
        constraints={"type": "ineq", "fun": room},
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    ones, others = ((1e9 * side.cumsum()[:-1]).round().astype(int).tolist() for side in (p, q))
    counts = (ones, others)
    kind = PrivacyClaim.renyi(order, most)
    # So many samples that the claim itself is what is planned for.
    band, _ = Band.plan(kind, counts, (10**9, 10**9), (int(5 / found.fun), ALPHA))
    assert band.growth(p, q, most) == pytest.approx(found.fun, rel=1e-3)
