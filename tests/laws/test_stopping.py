"""The stopping rule's probability against exact rational sums and scipy's binomial tails."""

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import stats

from pdpaudit.algorithms.laws import stopping
from pdpaudit.algorithms.laws.stopping import log_pass_fail


def exact(probabilities, counts, threshold, scale):
    """Both probabilities by full convolution in 60 digits."""
    with mp.workdps(60):
        law = [mpf(1)]
        for p, count in zip(probabilities, counts, strict=True):
            p = mpf(float(p))
            for _ in range(count):
                law = [
                    (law[i] if i < len(law) else 0) * (1 - p) + (law[i - 1] * p if i else 0)
                    for i in range(len(law) + 1)
                ]

        def survival(b, sign):
            if scale == 0:
                return mpf(sign * b <= sign * threshold and (sign == 1 or b != threshold))
            t = sign * (b - mpf(threshold)) / mpf(scale)
            return mp.exp(-t) / 2 if t > 0 else 1 - mp.exp(t) / 2

        passed = sum(w * survival(b, 1) for b, w in enumerate(law))
        failed = sum(w * survival(b, -1) for b, w in enumerate(law))
        log = [float(mp.log(v)) if v > 0 else -np.inf for v in (passed, failed)]
    return log


@settings(max_examples=settings().max_examples * 3 // 5, deadline=None)
@given(
    levels=st.lists(
        st.tuples(st.floats(1e-12, 1 - 1e-9), st.integers(1, 9)), min_size=1, max_size=3
    ),
    threshold=st.one_of(st.integers(-3, 30), st.floats(-3, 30)),
    scale=st.one_of(st.just(0.0), st.floats(1e-3, 1e4)),
)
def test_against_convolution_in_60_digits(levels, threshold, scale):
    p = np.array([[level[0] for level in levels]])
    counts = [level[1] for level in levels]
    passed, failed = log_pass_fail(
        np.log(p), np.log1p(-p), np.array(counts, dtype=float), threshold, scale
    )
    assert [passed[0], failed[0]] == pytest.approx(
        exact(p[0], counts, threshold, scale), rel=1e-11, abs=1e-11
    )


@pytest.mark.parametrize("count", [2_000, 100_000_000])
@pytest.mark.parametrize("spread", [-30.0, -2.0, 0.1, 8.0])
@pytest.mark.parametrize("p", [1e-6, 0.01, 0.5, 0.999])
def test_binomial_tails_of_millions(count, spread, p):
    """Against the incomplete beta function in ball arithmetic."""
    threshold = np.floor(count * p + spread * np.sqrt(count * p * (1 - p)))
    if not 0 <= threshold < count:
        pytest.skip("the threshold lies outside the range of counts")
    with flint.ctx.workprec(400):
        ball = flint.arb(p)
        below, above = flint.arb(count - threshold), flint.arb(threshold + 1)
        expected = [
            float((1 - ball).beta_lower(below, above, regularized=True).log()),
            float(ball.beta_lower(above, below, regularized=True).log()),
        ]
    passed, failed = log_pass_fail(
        np.log([[p]]), np.log1p([[-p]]), np.array([float(count)]), threshold, 0.0
    )
    assert [passed[0], failed[0]] == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_noisy_threshold_with_a_million_vertices():
    # one binomial in two levels of the same probability: sum over its mass function directly
    count, p, threshold, scale = 1_000_000, 0.3, 299_000.5, 40.0
    b = np.arange(count + 1)
    t = (b - threshold) / scale
    survival = np.where(t > 0, 0.5 * np.exp(-np.abs(t)), 1 - 0.5 * np.exp(-np.abs(t)))
    expected = float(np.sum(stats.binom.pmf(b, count, p) * survival))
    passed, _ = log_pass_fail(
        np.log(np.full((1, 2), p)),
        np.log1p(-np.full((1, 2), p)),
        np.array([4e5, 6e5]),
        threshold,
        scale,
    )
    assert float(np.exp(passed[0])) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("threshold", [2.0, 60.5, 117.0])
@pytest.mark.parametrize("scale", [0.7, 38.0])
def test_far_from_the_threshold_against_convolution(threshold, scale):
    """Where the closed form answers, where the Fourier sum does, and between."""
    p = np.array([[q, q / 2, 1 - q] for q in (1e-5, 0.3, 0.6, 0.95)])
    counts = [40, 50, 30]
    passed, failed = log_pass_fail(
        np.log(p), np.log1p(-p), np.array(counts, dtype=float), threshold, scale
    )
    expected = np.array([exact(row, counts, threshold, scale) for row in p])
    assert np.stack([passed, failed], axis=1) == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("scale", [0.7, 3.0, 38.0, 240_000.0])
def test_closed_form_and_fourier_sum_agree(monkeypatch, scale):
    """On points close enough together to meet the place where one gives way to the other."""
    rng = np.random.default_rng(3)
    log_odds = np.linspace(-2.0, 2.0, 800)[:, None] + rng.uniform(-3.0, 3.0, 5)
    counts = rng.integers(1, 3000, size=5).astype(float)
    above, below = -np.logaddexp(0.0, -log_odds), -np.logaddexp(0.0, log_odds)
    arguments = (above, below, counts, counts.sum() / 2, scale)
    mixed = log_pass_fail(*arguments)
    asked = []
    monkeypatch.setattr(
        stopping, "clearance", lambda excess, _: asked.append(excess) or np.zeros_like(excess)
    )
    fourier = log_pass_fail(*arguments)
    assert asked
    assert np.concatenate(mixed) == pytest.approx(np.concatenate(fourier), rel=5e-14, abs=5e-14)


@settings(max_examples=settings().max_examples * 3 // 5, deadline=None)
@given(p=st.floats(0.01, 0.99), count=st.integers(1, 3000), fall=st.floats(0.0, 1.0))
def test_clearance_bounds_the_lower_tail(p, count, fall):
    most = np.floor(count * p * (1.0 - fall))
    bound = stopping.clearance(np.array([count * p - most]), np.array([count * p * (1 - p)]))
    assert stats.binom.logcdf(most, count, p) <= -bound[0] + 1e-9


def test_series_and_direct_transform_agree(monkeypatch):
    rng = np.random.default_rng(7)
    p = rng.uniform(0.001, 0.999, size=(40, 6))
    counts = rng.integers(10, 400, size=6).astype(float)
    arguments = (np.log(p), np.log1p(-p), counts, 600.0, 15.0)
    series = log_pass_fail(*arguments)
    monkeypatch.setattr(stopping, "SERIES_VARIANCE", np.inf)
    direct = log_pass_fail(*arguments)
    assert np.concatenate(series) == pytest.approx(np.concatenate(direct), rel=2e-13, abs=2e-13)


def test_cumulant_coefficients():
    # third and fourth cumulants of a Bernoulli(p), as in any table
    p = Fraction(1, 5)
    v, skew = p * (1 - p), 1 - 2 * p
    even, odd = stopping.cumulant_coefficients(4)
    powers = np.array([float(v), float(v) ** 2])
    assert odd[0] @ powers * float(skew) == pytest.approx(float(v * skew) / 6)
    assert even[1] @ powers == pytest.approx(float(v * (1 - 6 * v)) / 24)


def test_no_protected_vertices():
    empty = np.zeros((2, 0))
    passed, failed = log_pass_fail(empty, empty, np.zeros(0), -1.0, 0.0)
    assert np.all(np.isneginf(passed))
    assert np.all(failed == 0.0)
    passed, failed = log_pass_fail(empty, empty, np.zeros(0), 0.0, 3.0)
    assert np.exp(passed) == pytest.approx([0.5, 0.5])
    assert np.exp(failed) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("size", [1e-9, 1e-3, 0.02, 1.0, 30.0])
def test_quick_complex_expm1(size: float):
    rng = np.random.default_rng(5)
    z = size * (-rng.random(500) + 1j * rng.normal(size=500))
    expected = np.array([complex(mp.expm1(mp.mpc(number))) for number in z])
    assert np.abs(stopping.complex_expm1(z) / expected - 1.0).max() < 1e-12
