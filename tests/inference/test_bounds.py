"""Every method against figures from elsewhere, and the properties they share."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from pdpaudit.core.errors import InputError
from pdpaudit.inference import METHODS, clopper_pearson, lower_bound
from pdpaudit.inference.bounds import score
from pdpaudit.inference.exact_test import exact

# One-sided 95 % bounds at expected counts, computed independently of this package:
# (x, n, y): CP pair, exact with the order remade at every epsilon.
TABLE = [
    (136, 1_000, 50, 0.568, 0.737),
    (272, 10_000, 100, 0.685, 0.810),
    (148, 10_000, 20, 1.401, 1.613),
]


@pytest.mark.parametrize(("x", "n", "y", "pair", "_"), TABLE)
def test_clopper_pearson_equals_the_table(x, n, y, pair, _):
    assert round(float(clopper_pearson(x, n, y, n, 0.05)), 3) == pair


@pytest.mark.parametrize(("x", "n", "y", "figure"), [(*row[:3], row[4]) for row in TABLE])
def test_exact_is_at_least_the_table(x, n, y, figure):
    # The table takes the supremum over every q in [0, 1] (test_exact.py remakes it so, and says why
    # one bound cannot have all three figures); confining q to where the data allow it gains up to
    # 0.006. The true errors are enumerated.
    bound = float(exact(x, n, y, n, 0.05))
    assert figure <= bound <= figure + 0.006


def score_statistic(x, n, y, m, epsilon, delta):
    """The statistic from its definition: constrained maximum likelihood by a numerical search."""
    ratio = math.exp(epsilon)
    most = min(1.0, (1 - delta) / ratio)

    def loss(q):
        p = ratio * q + delta
        return -(stats.binom.logpmf(x, n, p) + stats.binom.logpmf(y, m, q))

    q = optimize.minimize_scalar(
        loss, bounds=(1e-12, most - 1e-12), method="bounded", options={"xatol": 1e-13}
    ).x
    p = ratio * q + delta
    return (x / n - ratio * y / m - delta) / math.sqrt(p * (1 - p) / n + ratio**2 * q * (1 - q) / m)


@pytest.mark.parametrize(
    ("x", "n", "y", "m", "delta"),
    [(136, 1000, 50, 1000, 0.0), (300, 1000, 50, 700, 0.1), (30, 40, 3, 90, 0.01)],
)
def test_score_is_where_the_statistic_reaches_the_quantile(x, n, y, m, delta):
    bound = float(score(x, n, y, m, 0.05, delta))
    assert bound > 0.1
    statistic = score_statistic(x, n, y, m, bound, delta)
    assert statistic == pytest.approx(stats.norm.isf(0.05), rel=1e-5)


@pytest.mark.parametrize("alpha", [0.2, 0.4])
def test_score_at_levels_of_less_than_one_error(alpha):
    bound = float(score(300, 1000, 250, 1000, alpha))
    assert score_statistic(300, 1000, 250, 1000, bound, 0.0) == pytest.approx(
        stats.norm.isf(alpha), rel=1e-5
    )
    assert float(score(300, 1000, 250, 1000, 0.5)) == 0.0


def test_score_where_nothing_is_seen_on_the_other_side():
    bound = float(score(20, 100, 0, 100, 0.4))
    assert score_statistic(20, 100, 0, 100, bound, 0.0) == pytest.approx(
        stats.norm.isf(0.4), rel=1e-4
    )
    assert bound > math.log(20)  # more than the estimate against a single hit


@pytest.mark.parametrize("method", [clopper_pearson, score])
def test_delta_is_0_if_nothing_else_is_said(method):
    assert float(method(60, 100, 9, 100, 0.05)) == float(method(60, 100, 9, 100, 0.05, 0.0)) > 0


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize(("x", "n", "y"), [(40, 100, 7), (1, 1, 0), (1, 2, 0), (2, 3, 0)])
def test_clopper_pearson_from_its_definition(x, n, y, alpha):
    # The limits are where the binomial tails equal alpha / 2.
    m, delta = 1300, 0.1 if x > 2 else 0.0
    low = optimize.brentq(lambda p: stats.binom.sf(x - 1, n, p) - alpha / 2, 1e-6, 1 - 1e-6)
    high = optimize.brentq(lambda q: stats.binom.cdf(y, m, q) - alpha / 2, 1e-6, 1 - 1e-6)
    expected = max(math.log((low - delta) / high), 0.0)
    assert float(clopper_pearson(x, n, y, m, alpha, delta)) == pytest.approx(expected, abs=1e-9)


def test_the_exact_method_is_the_one_that_need_not_be_named():
    assert float(lower_bound(30, 100, 10, 100, 0.05)) == float(exact(30, 100, 10, 100, 0.05)) > 0


def test_a_score_limit_below_0_shows_nothing():
    assert score([5, 30], 100, [30, 29], 100, 0.05).tolist() == [0.0, 0.0]


EXTREMES = [
    (x, n, y, m)
    for n in (1, 2, 30)
    for m in (1, 30)
    for x in {0, 1, n}
    for y in {0, 1, m}
    if x <= n and y <= m
]


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("delta", [0.0, 0.3, 0.999])
@pytest.mark.parametrize("alpha", [1e-9, 0.05, 0.7])
def test_extremes_give_finite_bounds_without_warnings(method, delta, alpha):
    rows = [r for r in EXTREMES if method != "betting" or r[1] == r[3]]
    x, n, y, m = np.array(rows).T
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bounds = lower_bound(x, n, y, m, alpha, delta, method)
    assert bounds.shape == x.shape
    assert np.all(np.isfinite(bounds))
    assert np.all(bounds >= 0)
    assert np.all(bounds[x == 0] == 0)
    assert np.all(bounds[y == m] == 0)


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("n", [1_000, 10_000_000])
def test_impossible_on_one_side_gives_what_the_sample_supports(method, n):
    bound = float(lower_bound(n // 10, n, 0, n, 0.05, method=method))
    # No more than the rule of three allows: q up to 3/n cannot be excluded at 5 %.
    assert 1.0 < bound < math.log(n * 0.13 / 1.2)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_arrays_broadcast_and_equal_single_calls(method):
    x, y = np.array([[30], [60]]), np.array([10, 20, 30])
    together = lower_bound(x, 100, y, 100, 0.1, method=method)
    assert together.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        alone = float(lower_bound(int(x[i, 0]), 100, int(y[j]), 100, 0.1, method=method))
        assert together[i, j] == pytest.approx(alone, abs=1e-12)


@st.composite
def counts(draw, most=60):
    n = draw(st.integers(1, most))
    return draw(st.integers(0, n)), n, draw(st.integers(0, n))


@pytest.mark.parametrize("method", sorted(METHODS))
@settings(max_examples=40, deadline=None, derandomize=True)
@given(counts(), st.sampled_from([0.001, 0.01, 0.05, 0.2]), st.sampled_from([0.0, 0.02, 0.3]))
@example((10, 10, 0), 0.05, 0.0)
def test_never_above_the_plain_estimate(method, sample, alpha, delta):
    x, n, y = sample
    bound = float(lower_bound(x, n, y, n, alpha, delta, method))
    q = y / n
    if x / n <= delta or (q > 0 and x / n - delta <= q):
        assert bound == 0.0
    elif q > 0:
        assert bound <= math.log((x / n - delta) / q) + 1e-9


MONOTONE = ["clopper-pearson", "exact", "betting"]
SLACK = 1e-3  # the exact bound is found to within 1e-4 of alpha, some 1e-4 in epsilon


@pytest.mark.parametrize("method", MONOTONE)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(counts(), st.sampled_from([0.0, 0.05]))
def test_more_evidence_never_lowers_the_bound(method, sample, delta):
    x, n, y = sample
    bound = float(lower_bound(x, n, y, n, 0.05, delta, method))
    if x < n:
        assert float(lower_bound(x + 1, n, y, n, 0.05, delta, method)) >= bound - SLACK
    if y > 0 and not (method == "exact" and delta > 0):  # its dips there are documented
        assert float(lower_bound(x, n, y - 1, n, 0.05, delta, method)) >= bound - SLACK


@pytest.mark.parametrize("method", ["clopper-pearson", "betting"])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(counts(), st.sampled_from([0.0, 0.05]))
def test_the_bound_rises_with_alpha_and_falls_with_delta(method, sample, delta):
    x, n, y = sample
    bound = float(lower_bound(x, n, y, n, 0.05, delta, method))
    assert float(lower_bound(x, n, y, n, 0.1, delta, method)) >= bound - 1e-9
    assert float(lower_bound(x, n, y, n, 0.05, delta + 0.1, method)) <= bound + 1e-9


@pytest.mark.parametrize("method", sorted(METHODS))
@settings(max_examples=40, deadline=None, derandomize=True)
@given(counts())
def test_at_most_one_direction_shows_anything(method, sample):
    x, n, y = sample
    forth = float(lower_bound(x, n, y, n, 0.05, method=method))
    back = float(lower_bound(y, n, x, n, 0.05, method=method))
    assert min(forth, back) == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 10, 1, 10, 0.0), "alpha"),
        ((1, 10, 1, 10, 1.0), "alpha"),
        ((1, 10, 1, 10, math.nan), "alpha"),
        ((1, 10, 1, 10, 0.05, 1.0), "delta"),
        ((1, 10, 1, 10, 0.05, -0.1), "delta"),
        ((1, 10, 1, 11, 0.05, 0.0, "betting"), "n = m"),
    ],
)
def test_bad_requests_are_refused_in_one_line(arguments, message):
    with pytest.raises(InputError, match=message) as refused:
        lower_bound(*arguments)
    assert "\n" not in str(refused.value)
