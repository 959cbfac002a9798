"""Claims of every kind against dp-accounting, closed forms and brute force over two outcomes."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss
from dp_accounting.rdp.rdp_privacy_accountant import compute_delta
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, ndtr

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.privacy_loss import hockey_stick, largest_excess, loss_for, trade_off
from pdpaudit.core.protocols import Law

EPSILONS = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 4.0])
CURVE = PrivacyClaim.curve([(0, 0.9), (0.3, 0.3), (0.9, 0.0)])
CLAIMS = [
    PrivacyClaim(1.0),
    PrivacyClaim(0.7, 0.05),
    PrivacyClaim.zcdp(0.5),
    PrivacyClaim.zcdp(0.01),
    PrivacyClaim.renyi(2, 1.0),
    PrivacyClaim.renyi(8, 0.3),
    PrivacyClaim.gaussian(1.0),
    CURVE,
]
few = settings(max_examples=4, deadline=None)
every_claim = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.statement)


def divergence(order, p, q):
    """The Rényi divergence of two laws as it is defined, of order 1 by its limit."""
    p, q = np.array(p), np.array(q)
    if order == 1:
        return float((p * np.log(p / q)).sum())
    return float(logsumexp(order * np.log(p) + (1 - order) * np.log(q))) / (order - 1)


def rate(p, q):
    """The least ρ of a pair, by many orders."""
    orders = [1, *(1 + np.geomspace(1e-4, 300, 300))]
    both = ((p, q), (q, p))
    return max(divergence(order, a, b) / order for order in orders for a, b in both)


def softmax(*scores):
    weights = np.exp(np.array(scores))
    return weights / weights.sum()


def law(probabilities) -> Law:
    return Law(dict(enumerate(np.asarray(probabilities).tolist())))


@every_claim
def test_delta_is_conjugate_to_the_trade_off(claim):
    rates = np.unique(np.concatenate([np.geomspace(1e-7, 1e-2, 60), np.linspace(0, 1, 201)]))
    best = (1 - claim.trade_off(rates) - np.exp(EPSILONS)[:, None] * rates).max(axis=1)
    found = claim.delta_at(EPSILONS)
    assert (found >= best - 1e-9).all()
    # A corner may lie between two rates, 0.005 apart.
    assert found == pytest.approx(np.maximum(best, 0.0), abs=5e-3)


@every_claim
def test_the_claim_is_the_smallest_that_allows_its_own_trade_off(claim):
    rates = np.array([1e-4, 0.01, 0.1, 0.3, 0.45])
    misses = claim.trade_off(rates)
    assert claim.smallest(1 - misses, rates) == pytest.approx(claim.value, abs=1e-8)
    assert (claim.smallest(1 - 0.9 * misses, rates) > claim.value).all()
    assert (claim.smallest(1 - misses, rates * 1.1) <= claim.value + 1e-9).all()


@every_claim
def test_the_trade_off_is_convex_falls_and_is_its_own_inverse(claim):
    rates = np.linspace(0.0, 1.0, 41)
    misses = claim.trade_off(rates)
    assert (misses <= 1 - rates + 1e-12).all()
    assert (np.diff(misses) <= 1e-12).all()
    assert (np.diff(misses, 2) >= -1e-9).all()
    inner = (misses > 1e-6) & (rates > 0)
    assert claim.trade_off(misses[inner]) == pytest.approx(rates[inner], abs=1e-7)


@pytest.mark.parametrize("mu", [0.1, 0.45, 1.0, 3.0])
def test_gaussian_equals_dp_accounting(mu):
    other = GaussianPrivacyLoss(standard_deviation=1 / mu)
    theirs = [other.get_delta_for_epsilon(epsilon) for epsilon in EPSILONS]
    assert PrivacyClaim.gaussian(mu).delta_at(EPSILONS) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 2.0])
def test_divergences_lie_between_a_pair_within_them_and_dp_accounting(mu):
    # The Gaussian mechanism is within both claims, and dp-accounting's conversion holds for all.
    orders = np.concatenate([[1.01, 1.1, 1.25, 1.5, 1.75], np.arange(2, 400)])
    least = PrivacyClaim.gaussian(mu).delta_at(EPSILONS)
    concentrated = PrivacyClaim.zcdp(mu**2 / 2).delta_at(EPSILONS)
    for order in (1.5, 2.0, 16.0):
        one = PrivacyClaim.renyi(order, order * mu**2 / 2).delta_at(EPSILONS)
        most = [compute_delta([order], [order * mu**2 / 2], e)[0] for e in EPSILONS]
        assert (concentrated <= one + 1e-9).all()
        assert (one <= np.array(most) + 1e-9).all()
    most = [compute_delta(orders, orders * mu**2 / 2, e)[0] for e in EPSILONS]
    assert (least <= concentrated + 1e-9).all()
    assert (concentrated <= np.array(most) + 1e-9).all()
    assert concentrated[3] > 0.3 * most[3]


@pytest.mark.parametrize("claim", [PrivacyClaim.zcdp(0.3), PrivacyClaim.renyi(3, 0.5)])
def test_delta_of_a_divergence_is_that_of_the_best_two_outcomes(claim):
    p, q = (
        x.ravel()
        for x in np.meshgrid(np.linspace(0.001, 0.999, 100), np.linspace(0.001, 0.999, 100))
    )
    allowed = claim.smallest(p, q) <= claim.value
    best = [np.max((p - math.exp(e) * q)[allowed & (p > q)]) for e in (0.0, 0.5, 1.0)]
    found = claim.delta_at([0.0, 0.5, 1.0])
    assert (found >= best).all()
    assert found == pytest.approx(best, abs=2e-2)


@few
@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=2, max_size=6))
def test_losses_of_laws_by_definition(weights):
    p, q = (np.array(side) / sum(side) for side in zip(*weights, strict=True))
    left, right = law(p), law(q)
    found, tried = loss_for(left, right, PrivacyClaim.zcdp(0)).epsilon, rate(p, q)
    # The oracle tries 300 orders, a twentieth apart.
    assert tried - 1e-12 <= found <= tried * 1.001 + 1e-9
    for order in (1.5, 2, 7):
        most = max(divergence(order, p, q), divergence(order, q, p))
        assert loss_for(left, right, PrivacyClaim.renyi(order, 0)).epsilon == pytest.approx(
            most, abs=1e-9
        )
    mu = loss_for(left, right, PrivacyClaim.gaussian(0)).epsilon
    assert largest_excess(left, right, PrivacyClaim.gaussian(mu)) < 1e-9
    if mu > 0.01:
        assert largest_excess(left, right, PrivacyClaim.gaussian(0.9 * mu)) > 0


@few
@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=2, max_size=6))
def test_a_pair_within_a_claim_is_within_its_delta_and_trade_off(weights):
    p, q = (np.array(side) / sum(side) for side in zip(*weights, strict=True))
    left, right = law(p), law(q)
    for kind in (PrivacyClaim.zcdp(0), PrivacyClaim.renyi(2, 0), PrivacyClaim.gaussian(0)):
        value = loss_for(left, right, kind).epsilon
        body = {
            **kind.to_json(),
            {"zcdp": "rho", "renyi": "epsilon", "gdp": "mu"}[kind.kind]: value,
        }
        claim = PrivacyClaim.from_json(body)
        assert (hockey_stick(left, right, EPSILONS) <= claim.delta_at(EPSILONS) + 1e-7).all()
        fpr, miss = trade_off(left, right)
        assert (miss >= claim.trade_off(fpr) - 1e-7).all()


def test_known_mechanisms_in_their_own_unit():
    flip = math.e / (1 + math.e)
    response = law([flip, 1 - flip]), law([1 - flip, flip])
    expected = (2 * flip - 1) * 1.0  # the divergence of order 1 of flipped coins at ε = 1
    assert loss_for(*response, PrivacyClaim.zcdp(0)).epsilon == pytest.approx(expected, abs=1e-9)
    steps = np.linspace(-4, 5, 2001)
    cut = [np.diff(np.concatenate([[0.0], ndtr(steps - mean), [1.0]])) for mean in (0.0, 1.0)]
    normal = law(cut[0]), law(cut[1])
    assert loss_for(*normal, PrivacyClaim.zcdp(0)).epsilon == pytest.approx(0.5, rel=1e-3)
    assert loss_for(*normal, PrivacyClaim.gaussian(0)).epsilon == pytest.approx(1.0, abs=1e-9)
    assert loss_for(*normal, PrivacyClaim.renyi(3, 0)).epsilon == pytest.approx(1.5, rel=5e-3)


def test_noisy_max_by_gumbel_noise_and_permute_and_flip():
    claim, even = PrivacyClaim.renyi(2, 1.0), law([0.5, 0.5])
    gumbel = loss_for(even, law(softmax(1.0, -1.0)), claim)
    worse = math.exp(-2.0) / 2
    flip = loss_for(even, law([1 - worse, worse]), claim)
    assert (round(gumbel.epsilon, 3), round(flip.epsilon, 3)) == (0.868, 1.377)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_exponential_mechanism_keeps_an_eighth_of_its_square(epsilon):
    # Of two outputs the worst placement of a range of ε between the log ratios.
    worst = max(
        loss_for(law(softmax(0, x)), law(softmax(0, x + epsilon)), PrivacyClaim.zcdp(0)).epsilon
        for x in np.linspace(-2 * epsilon, epsilon, 31)
    )
    assert 0.85 * epsilon**2 / 8 < worst <= epsilon**2 / 8 + 1e-12


def test_what_a_law_leaves_out_is_where_it_hides_most():
    whole = loss_for(law([0.5, 0.5]), law([0.9, 0.1]), PrivacyClaim.renyi(2, 0))
    left, right = Law({0: 0.5, 1: 0.4, 2: 0.1}), Law({0: 0.9, 1: 0.09}, missing=0.01)
    found = loss_for(left, right, PrivacyClaim.renyi(2, 0))
    assert found.at_most == math.inf
    assert found.at_least == pytest.approx(divergence(2, [0.5, 0.4, 0.1], [0.9, 0.09, 0.01]))
    rough = Law({0: 0.5, 1: 0.5}, error=0.01), law([0.9, 0.1])
    loss = loss_for(*rough, PrivacyClaim.renyi(2, 0))
    assert loss.at_least < whole.epsilon < loss.at_most


def test_a_function_is_taken_for_no_more_than_its_points_prove():
    exact = PrivacyClaim.gaussian(0.7)
    claim = PrivacyClaim.curve(lambda x: float(exact.trade_off(x)))
    rates = np.linspace(0, 1, 999)
    gap = exact.trade_off(rates) - claim.trade_off(rates)
    assert (gap >= -1e-12).all()
    assert gap.max() < 1e-3


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.3])
def test_a_function_with_straight_parts_is_a_trade_off(epsilon, delta):
    exact = PrivacyClaim(epsilon, delta)
    claim = PrivacyClaim.curve(lambda x: float(exact.trade_off(x)))
    rates = np.linspace(0, 1, 999)
    gap = exact.trade_off(rates) - claim.trade_off(rates)
    assert (gap >= -1e-12).all()
    assert gap.max() < 1e-12
    assert PrivacyClaim.from_json(json.loads(json.dumps(claim.to_json()))) == claim


@every_claim
def test_json_gives_the_claim_back(claim):
    body = json.loads(json.dumps(claim.to_json()))
    assert PrivacyClaim.from_json(body) == claim
    assert hash(PrivacyClaim.from_json(body)) == hash(claim)
    assert PrivacyClaim.from_json(body, "Theorem 1").source == "Theorem 1"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("eps=1", PrivacyClaim(1.0)),
        ("eps=1, delta=1e-6", PrivacyClaim(1.0, 1e-6)),
        ("zcdp:0.5", PrivacyClaim.zcdp(0.5)),
        ("renyi:2:1.0", PrivacyClaim.renyi(2.0, 1.0)),
        ("gdp:0.45", PrivacyClaim.gaussian(0.45)),
    ],
)
def test_claims_in_words(text, claim):
    assert PrivacyClaim.parse(text) == claim
    assert PrivacyClaim.parse(claim.text or "") == claim


@pytest.mark.parametrize(
    "text", ["", "1", "zcdp", "zcdp:x", "zcdp:-1", "renyi:2", "renyi:1:1", "eps=nan", "eps=1,rho=2"]
)
def test_what_is_no_claim_is_refused(text):
    with pytest.raises(ValueError, match=r"give eps=1|a claim needs"):
        PrivacyClaim.parse(text)


@pytest.mark.parametrize(
    "points", [[(0, 1)], [(0, 0.5), (0.5, 0.5), (1, 0)], [(0, 1), (0.5, 0.9)], [(0, -0.1), (1, 0)]]
)
def test_what_is_no_trade_off_is_refused(points):
    with pytest.raises(ValueError, match="a claim needs"):
        PrivacyClaim.curve(points)
