"""The exact bound: its true error by enumeration, and its supremum against dense sampling."""

import importlib
import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

from pdpaudit.inference import clopper_pearson
from pdpaudit.inference.bounds import score
from pdpaudit.inference.exact_test import exact, rejects
from pdpaudit.inference.power import critical_hits
from pdpaudit.inference.power import least_rejected as least_rejected_count

module = importlib.import_module("pdpaudit.inference.exact_test")


def true_error(least, n, epsilon, delta, nodes=1500, most_q=1.0):
    """Largest probability, over a fine grid of q, that x reaches ``least[y]`` at the hypothesis."""
    most = math.asin(math.sqrt(min(most_q, (1 - delta) * math.exp(-epsilon))))
    q = np.sin(np.linspace(1e-6, most, nodes))[:, None] ** 2
    p = np.minimum(math.exp(epsilon) * q + delta, 1.0)
    worst = 0.0
    for some_q, some_p in zip(np.array_split(q, 15), np.array_split(p, 15), strict=True):
        law = np.asarray(stats.binom.pmf(np.arange(n + 1), n, some_q))
        seen = law.max(axis=0) > 1e-12
        reach = stats.binom.sf(least[seen] - 1, n, some_p)
        worst = max(worst, float((law[:, seen] * reach).sum(axis=1).max()))
    return worst


def least_rejected(n, epsilon, delta, alpha=0.05):
    """The least x the exact test rejects, for every y; in x its rejections are an upper set."""
    guess = critical_hits(n, np.arange(n + 1.0), alpha, delta, "score", epsilon)
    return np.array(
        [least_rejected_count(n, y, int(guess[y]), alpha, delta, epsilon) for y in range(n + 1)]
    )


@pytest.mark.parametrize(
    ("n", "epsilon", "delta", "alpha"),
    [
        (100, 0.0, 0.0, 0.05),
        (100, 1.0, 0.0, 0.05),
        (100, 0.5, 0.05, 0.05),
        pytest.param(100, 1.0, 0.0, 0.005, marks=pytest.mark.slow),
        pytest.param(1_000, 1.0, 0.0, 0.05, marks=pytest.mark.slow),
    ],
)
def test_true_error_by_enumeration(n, epsilon, delta, alpha):
    error = true_error(least_rejected(n, epsilon, delta, alpha), n, epsilon, delta)
    assert 0.95 * alpha <= error <= alpha


def test_true_errors_of_the_other_methods_at_1000_draws():
    # At epsilon = 0.1 and p up to one half; near p = 1 the pair comes closer to its level.
    n, epsilon = 1_000, 0.1
    errors = {
        name: true_error(
            critical_hits(n, np.arange(n + 1.0), 0.05, 0.0, name, epsilon),
            n,
            epsilon,
            0.0,
            nodes=600,
            most_q=0.45,
        )
        for name in ("clopper-pearson", "score", "betting")
    }
    assert 0.001 < errors["clopper-pearson"] <= 0.0025
    assert 0.055 < errors["score"] < 0.06  # why it decides no verdict
    assert errors["betting"] < 0.001  # the price of looking at any time


def p_value_with_the_order_remade(x, n, y, m, epsilon, shares):
    """Chan and Zhang's p-value by plain sampling of q, ordering outcomes anew at this epsilon."""
    ratio = math.exp(epsilon)

    def statistic(hits, others):
        a, b, c = ratio * (n + m), ratio * (n + others) + hits + m, hits + others
        q = (b - np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))) / (2 * a)
        variance = ratio * q * (1 - ratio * q) / n + ratio**2 * q * (1 - q) / m
        gap = hits / n - ratio * others / m
        return np.where(gap == 0, 0.0, gap / np.sqrt(np.maximum(variance, 1e-300)))

    bar = statistic(np.array(float(x)), np.array(float(y))) - 1e-9
    others = np.arange(m + 1.0)
    low, least = np.full(m + 1, -1.0), np.full(m + 1, n + 1.0)
    while np.any(least - low > 1):
        middle = np.clip(np.floor((low + least) / 2), 0, n)
        extreme = statistic(middle, others) >= bar
        least, low = np.where(extreme, middle, least), np.where(extreme, low, middle)
    worst = 0.0
    for q in shares:
        reach = 8 * math.sqrt(m * q * (1 - q)) + 12  # beyond it lies less than 1e-13
        window = np.arange(max(0, int(m * q - reach)), min(m, int(m * q + reach) + 1) + 1)
        law = stats.binom.pmf(window, m, q)
        worst = max(worst, float(law @ stats.binom.sf(least[window] - 1, n, min(ratio * q, 1.0))))
    return worst


REMADE = [
    # x, n, y; values that the test with the order remade refutes; values that it keeps
    (136, 1_000, 50, (0.735, 0.736, 0.737, 0.738), (0.7375, 0.7395, 0.74, 0.742)),
    (272, 10_000, 100, (0.8085, 0.809, 0.8095, 0.80985), (0.8092, 0.8105, 0.811, 0.813)),
    (148, 10_000, 20, (1.6105, 1.6115, 1.61275, 1.61325), (1.612, 1.613, 1.6135, 1.614, 1.617)),
]


@pytest.mark.parametrize(("x", "n", "y", "refuted", "kept"), REMADE)
def test_the_remade_order_ends_more_than_once(x, n, y, refuted, kept):
    """Over every q its p-value passes 0.05 at .737 and .739, .809 and .810, 1.612 and 1.613.

    So there is no one bound of this test. The figures of test_bounds.py are the first of the first
    pair and the last of the others.
    """
    most = {epsilon: math.exp(-epsilon) for epsilon in (*refuted, *kept)}
    near_one = 1 - np.logspace(-1, -6, 120)  # where the p-value jumps
    middle = np.sin(np.linspace(0.01, math.pi / 2 - 0.3, 60)) ** 2
    shares = np.unique(np.concatenate([middle, near_one]))
    values = {e: p_value_with_the_order_remade(x, n, y, n, e, shares * q) for e, q in most.items()}
    assert max(values[e] for e in refuted) < 0.05 < min(values[e] for e in kept)


@pytest.mark.parametrize(
    ("x", "n", "y", "figure"),
    [(136, 1_000, 50, 0.739), (272, 10_000, 100, 0.810), (148, 10_000, 20, 1.613)],
)
def test_with_every_q_the_bound_is_where_the_remade_order_ends_last(x, n, y, figure):
    """Ranking outcomes once, over all q: the last of the values above, to three digits."""
    confined = module.prepare(x, n, y, n, 0.05, 0.0)
    z = float(stats.norm.isf(0.05))
    least = module.least_hits(np.arange(n + 1.0), math.exp(confined.start), z, n, n, 0.0)
    least[: y + 1] = np.minimum(least[: y + 1], x)
    region = module.Region(n, n, 0, least, confined.region.tail)
    free = module.PreparedTest(region, 0.0, 1.0, 0.0, 0.05, confined.start, confined.slope)
    assert round(module.invert(free), 3) == figure


@pytest.mark.parametrize(("x", "n", "y"), [row[:3] for row in REMADE])
def test_the_interval_is_what_the_bound_has_over_the_remade_order(x, n, y):
    """On the same interval of q, at the same level, the two orders differ by 0.001 at most."""
    prepared = module.prepare(x, n, y, n, 0.05, 0.0)
    bound = float(exact(x, n, y, n, 0.05))

    def p_value(epsilon):
        low, high = prepared.ends(epsilon)
        shares = np.sin(np.linspace(low, high, 100)) ** 2
        return p_value_with_the_order_remade(x, n, y, n, epsilon, shares)

    assert p_value(bound - 0.001) < prepared.allowed < p_value(bound + 0.0015)


@pytest.mark.parametrize(("n", "alpha"), [(10, 0.05), (300, 0.01)])
def test_all_against_none_in_closed_form(n, alpha):
    # Only (n, 0) ranks as high; its probability p^n (1-q)^n is largest at p = 1, q = exp(-eps).
    expected = -math.log(1 - alpha ** (1 / n))
    assert float(exact(n, n, 0, n, alpha)) == pytest.approx(expected, abs=2e-3)
    assert float(exact(n, n, 0, n, alpha)) <= expected


@pytest.mark.parametrize(
    ("x", "n", "y", "m", "delta", "epsilon"),
    [
        (136, 1000, 50, 1000, 0.0, 0.74),
        (30, 60, 4, 200, 0.02, 1.1),
        (60, 60, 3, 60, 0.3, 0.8),
        (40, 5000, 0, 300, 0.0, 0.2),
        (700, 1000, 400, 1000, 0.1, 0.3),
    ],
)
def test_supremum_is_above_every_sample_and_hardly_above_the_largest(x, n, y, m, delta, epsilon):
    prepared = module.prepare(x, n, y, m, 0.05, delta)
    bound, _ = prepared.supremum(epsilon)
    low, high = prepared.ends(epsilon)
    q = np.sin(np.linspace(low, high, 1200))[:, None] ** 2
    p = np.minimum(math.exp(epsilon) * q + delta, 1.0)
    least = prepared.region.least
    others = prepared.region.first + np.arange(least.size)
    sampled = (stats.binom.pmf(others, m, q) * stats.binom.sf(least - 1, n, p)).sum(axis=1).max()
    assert sampled <= bound <= sampled * 1.005 + 1e-5 or bound <= 0.025


@pytest.mark.parametrize("width", [0.01, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("theta", [1.0, 3.0])
def test_interpolants_are_as_close_as_promised(width, theta):
    # The distance must bound the true interpolation error of a real event's probability.
    n, m = 400, 300
    prepared = module.prepare(60, n, 15, m, 0.05, 0.0)
    nodes, refine = module.chebyshev()
    left = 0.2
    middle, half = left + width / 2, width / 2
    angles = (np.arange(refine.shape[0]) + 0.5) * math.pi / refine.shape[0]

    def at(points):
        q = np.sin(middle + half * points)[:, None] ** 2
        others = prepared.region.first + np.arange(prepared.region.least.size)
        least = prepared.region.least
        law = stats.binom.pmf(others, m, q)
        return (law * stats.binom.sf(least - 1, n, theta * q)).sum(axis=1)

    error = np.abs(refine @ at(nodes) - at(np.cos(angles))).max()
    promised = module.distance_bound(np.array([left]), np.array([left + width]), theta, 0.0, n, m)[
        0
    ]
    assert error <= promised + 1e-12
    if width <= 0.05:
        assert promised < 1e-6


def test_sums_over_counts_equal_plain_sums():
    prepared = module.prepare(60, 400, 15, 300, 0.05, 0.0)
    q = np.array([0.03, 0.05, 0.1])
    p = np.array([0.02, 0.1, 0.9])
    bound = prepared.region.probability(p, q)
    others = prepared.region.first + np.arange(prepared.region.least.size)
    law = stats.binom.pmf(others, 300, q[:, None])
    plain = np.sum(law * stats.binom.sf(prepared.region.least - 1, 400, p[:, None]), axis=1)
    assert np.all(plain <= bound + 1e-15)
    assert np.all(bound <= plain * (1 + 1e-9) + 4.01 * prepared.region.tail)


def test_rejects_agrees_with_the_bound():
    for x, n, y, delta in [(136, 1000, 50, 0.0), (272, 10_000, 100, 0.0), (300, 900, 90, 0.1)]:
        bound = float(exact(x, n, y, n, 0.05, delta))
        assert bound > 0.3
        assert rejects(x, n, y, n, 0.05, delta, bound - 1e-3)
        assert not rejects(x, n, y, n, 0.05, delta, bound + 1e-3)


@pytest.mark.parametrize("n", [200_000, 10_000_000])
def test_large_samples_come_close_to_the_normal_limit(n):
    x, y = round(0.1359 * n), round(0.05 * n)
    error = math.sqrt(1 / x + 1 / y - 2 / n)
    bound = float(exact(x, n, y, n, 0.05))
    assert bound == pytest.approx(float(score(x, n, y, n, 0.05)), abs=0.02 * error)
    assert bound > float(clopper_pearson(x, n, y, n, 0.05)) + 0.5 * error
    katz, _ = confint_proportions_2indep(
        x, n, y, n, method="log", compare="ratio", alpha=0.1, correction=False
    )
    assert bound == pytest.approx(math.log(katz), abs=0.05 * error)


def test_stricter_levels_give_lower_bounds():
    levels = [0.2, 0.1, 0.05, 0.01, 1e-3, 1e-5]
    for x, n, y, delta in [(136, 1000, 50, 0.0), (30, 100, 5, 0.05), (20_000, 100_000, 9_000, 0.0)]:
        bounds = [float(exact(x, n, y, n, level, delta)) for level in levels]
        assert np.all(np.diff(bounds) < 0), bounds


@pytest.mark.parametrize(
    ("x", "n", "y", "m", "delta"),
    [(30, 100, 10, 70, 0.0), (9, 20, 1, 30, 0.0), (60, 100, 20, 70, 0.1)],
)
def test_no_level_shows_more_than_the_plain_estimate(x, n, y, m, delta):
    """At a level of 0.9 the test alone would."""
    estimate = math.log((x / n - delta) * m / y)
    assert float(exact(x, n, y, m, 0.9, delta)) == pytest.approx(estimate, rel=1e-12)
    assert rejects(x, n, y, m, 0.9, delta, estimate - 0.01)
    assert not rejects(x, n, y, m, 0.9, delta, estimate + 0.01)


@pytest.mark.parametrize(("x", "y", "delta"), [(5, 5, 0.0), (4, 5, 0.0), (30, 5, 0.25)])
def test_what_is_no_likelier_shows_nothing(x, y, delta):
    assert float(exact(x, 100, y, 100, 0.05, delta)) == 0.0
    assert not rejects(x, 100, y, 100, 0.05, delta)


def test_delta_and_epsilon_are_0_if_nothing_else_is_said():
    assert rejects(30, 100, 10, 100, 0.05)
    assert rejects(30, 100, 10, 100, 0.05) == rejects(30, 100, 10, 100, 0.05, 0.0, 0.0)
    assert not rejects(30, 100, 10, 100, 0.05, epsilon=1.0)
    assert not rejects(30, 100, 10, 100, 0.05, 0.2)


@pytest.mark.parametrize(("theta", "delta"), [(1.0, 0.0), (2.0, 0.1), (3.0, 0.3)])
def test_both_shares_from_the_angle(theta, delta):
    phi = np.array([0.2, 0.4, 1.2])
    p, q = module.shares_at(phi, theta, delta)
    assert q.tolist() == pytest.approx([math.sin(angle) ** 2 for angle in phi])
    assert p.tolist() == pytest.approx(np.minimum(theta * q + delta, 1.0).tolist())


@pytest.mark.parametrize(("y", "m"), [(0, 40), (1, 40), (7, 90)])
def test_the_interval_of_the_nuisance_from_its_definition(y, m):
    """A thousandth of the level pays for it, half at either end."""
    found, spent = module.prepare(30, 40, y, m, 0.05, 0.0), 0.05e-3
    assert found.allowed == pytest.approx(0.05 - spent, rel=1e-12)
    low, high = (math.sin(angle) ** 2 for angle in found.ends(0.0))
    assert stats.binom.cdf(y, m, high) == pytest.approx(spent / 2, rel=1e-6)
    if y:
        assert stats.binom.sf(y - 1, m, low) == pytest.approx(spent / 2, rel=1e-6)
    else:
        assert low < 1e-12


class Line:
    """In place of a region: a probability that is a line in q, with a tail."""

    tail = 1e-3

    def probability(self, p, q):
        return 0.2 + q


def test_the_largest_on_a_piece_is_the_grid_s_with_what_may_lie_between():
    """Between points of a grid 32 times as fine a polynomial of degree 31 is this much larger."""
    left, right, between = 0.3, 0.5, math.cos(31 * math.pi / (2 * 32 * 32))
    angles = (np.arange(1024) + 0.5) * math.pi / 1024
    grid = 0.2 + np.sin(0.4 + 0.1 * np.cos(angles)) ** 2
    middle = (grid.max() + grid.min()) / 2
    expected = middle + (grid.max() - middle) / between + 16 * Line.tail
    assert module.largest_on(Line(), left, right, 1.0, 0.0) == pytest.approx(expected, rel=1e-9)
