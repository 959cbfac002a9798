"""The pieces of the exact bound one by one, each against plain enumeration or root finding."""

import importlib
import itertools
import math
from typing import Any, Literal

import numpy as np
import pytest
from scipy import optimize, stats

module = importlib.import_module("pdpaudit.inference.exact_test")


def statistic(x, n, y, m, theta, delta):
    """The score statistic, its nuisance where the likelihood's slope on the hypothesis is zero."""
    gap = x / n - theta * y / m - delta
    if gap < 0.0 or (gap == 0.0 and x < n):
        return -math.inf  # no evidence, and never asked for; where nothing varies, anything is rare
    top = min((1.0 - delta) / theta, 1.0)

    def uphill(q):
        p = theta * q + delta
        left = theta * (x / p - ((n - x) / (1.0 - p) if x < n else 0.0))
        return left + (y / q if y else 0.0) - ((m - y) / (1.0 - q) if y < m else 0.0)

    ends = 1e-14 * top, top * (1.0 - 1e-14)
    if uphill(ends[0]) <= 0.0:
        q = 0.0
    elif uphill(ends[1]) >= 0.0:
        q = top
    else:
        q = optimize.brentq(uphill, *ends, xtol=1e-16, rtol=1e-14)
    p = min(theta * q + delta, 1.0)
    variance = p * (1.0 - p) / n + theta**2 * q * (1.0 - q) / m
    return gap / math.sqrt(variance) if variance > 0.0 else math.inf


def plain_limit(x, n, y, m, z, delta):
    """Where the statistic falls to z."""
    return optimize.brentq(
        lambda e: statistic(x, n, y, m, math.exp(e), delta) - z, -12.0, 12.0, xtol=1e-13
    )


def limit(x, n, y, m, z, delta):
    shaped = np.array([[x], [n], [y], [m]], dtype=float)
    return float(module.score_limit(*shaped, z, delta)[0])


@pytest.mark.parametrize(
    ("x", "n", "y", "m", "z", "delta"),
    [
        (30, 100, 10, 70, 1.6, 0.0),
        (30, 100, 10, 70, 0.3, 0.0),
        (12, 100, 60, 70, 2.0, 0.0),  # far below 0
        (30, 100, 10, 70, 1.6, 0.1),
        (45, 60, 2, 90, 2.5, 0.3),
        (7, 20, 0, 40, 1.6, 0.0),
        (20, 20, 3, 40, 1.6, 0.0),
        (20, 20, 30, 40, 1.6, 0.1),  # at the limit p is 1: only the second side varies
        (20, 20, 0, 40, 1.6, 0.0),
        (200, 200, 30, 40, 3.0, 0.05),
        (20, 20, 3, 400, 1.6, 0.2),
        (20, 20, 3, 400, 1.6, 0.8),
        (19, 20, 38, 40, 0.7, 0.0),
    ],
)
def test_the_score_limit_is_where_the_statistic_is_z(x, n, y, m, z, delta):
    assert limit(x, n, y, m, z, delta) == pytest.approx(plain_limit(x, n, y, m, z, delta), abs=2e-7)


def test_the_score_limit_when_all_on_the_second_side_are_hits():
    """Then q is 1 at the limit, and Wilson's limit of p is all that counts."""
    p = stats.binomtest(12, 40, alternative="greater").proportion_ci(0.95, "wilson").low
    found = limit(12, 40, 30, 30, float(stats.norm.isf(0.05)), 0.1)
    assert found <= math.log(p - 0.1) + 1e-9


@pytest.mark.parametrize(
    ("x", "n", "delta", "lost"),
    [(0, 40, 0.0, True), (10, 40, 0.25, True), (14, 40, 0.25, True), (15, 40, 0.25, False)],
)
def test_no_limit_where_p_may_be_delta(x, n, delta, lost):
    """Where Wilson's lower limit of p is at most delta, no ratio however small is rejected."""
    z = float(stats.norm.isf(0.05))
    low = stats.binomtest(x, n, alternative="greater").proportion_ci(0.95, "wilson").low
    assert bool(low <= delta) is lost
    assert (limit(x, n, 9, 50, z, delta) == -math.inf) is lost


def test_limits_of_several_events_are_those_of_each():
    rows = np.array([[30, 100, 10, 70], [0, 40, 9, 50], [20, 20, 3, 40]], dtype=float)
    together = module.score_limit(*rows.T, 1.6, 0.0)
    assert together.tolist() == [limit(x, n, y, m, 1.6, 0.0) for x, n, y, m in rows]


@pytest.mark.parametrize(
    ("y", "m", "level"), [(0, 9, 0.95), (4, 30, 0.9), (29, 30, 0.99), (7, 7, 0.95)]
)
def test_limits_of_one_share_are_wilson_s(y, m, level):
    z = float(stats.norm.ppf(level))
    share, draws = np.array([y / m]), np.array([float(m)])
    ways: tuple[tuple[Literal["less", "greater"], Any], ...] = (
        ("less", module.wilson_upper(share, draws, z)),
        ("greater", module.wilson_lower(share, draws, z)),
    )
    for alternative, found in ways:
        plain = stats.binomtest(y, m, alternative=alternative).proportion_ci(level, "wilson")
        expected = plain.high if alternative == "less" else plain.low
        assert found[0] == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert -1e-15 <= found[0] <= 1.0


@pytest.mark.parametrize(
    ("n", "m", "theta", "z", "delta"),
    [
        (25, 20, 1.0, 1.6, 0.0),
        (25, 20, 2.5, 1.6, 0.0),
        (25, 20, 0.4, 1.6, 0.0),
        (25, 20, 1.3, 0.25, 0.0),
        (25, 20, 1.5, 2.4, 0.1),
        (12, 33, 3.0, 1.6, 0.05),
        (33, 12, 1.2, 1.6, 0.4),
        (6, 6, 4.0, 3.0, 0.0),  # no count of hits is enough
        (40, 5, 6.0, 1.0, 0.0),
    ],
)
def test_the_least_hits_by_trying_all(n, m, theta, z, delta):
    plain = [
        next((x for x in range(n + 1) if statistic(x, n, y, m, theta, delta) >= z), n + 1)
        for y in range(m + 1)
    ]
    expected = np.minimum.accumulate(plain[::-1])[::-1]
    found = module.least_hits(np.arange(m + 1.0), theta, z, n, m, delta)
    assert found.dtype == np.int64
    assert found.tolist() == expected.tolist()
    assert module.least_hits(np.arange(2.0, 5.0), theta, z, n, m, delta).tolist() == (
        np.minimum.accumulate(plain[2:5][::-1])[::-1].tolist()
    )


@pytest.mark.parametrize(
    ("n", "m", "delta"), [(50, 40, 0.0), (1_000, 700, 0.05), (1_000_000, 1_000_000, 0.0)]
)
def test_rounding_takes_no_outcome_out_of_its_own_region(n, m, delta):
    """At its own score limit an outcome is just rejected; one hit less is not."""
    z = float(stats.norm.isf(0.05))
    for y in (m // 40, m // 9, m // 5, m // 4):
        for x in np.linspace(0.3 * n, 0.95 * n, 25).astype(int).tolist():
            theta = math.exp(limit(x, n, y, m, z, delta))
            found = module.least_hits(np.array([float(y)]), theta, z, n, m, delta)
            assert found.tolist() == [x], (x, y)


def region_and_law(n, m, first, least, tail):
    """A region, and its probability by plain sums."""
    region = module.Region(n, m, first, np.array(least, dtype=np.int64), tail)
    # As in the sums, counts outside the table share the limits at its ends.
    others = np.arange(m + 1)
    limits = np.array(least)[np.clip(others - first, 0, len(least) - 1)]

    def plain(p, q):
        law = stats.binom.pmf(others, m, np.asarray(q)[:, None])
        return np.sum(law * stats.binom.sf(limits - 1, n, np.asarray(p)[:, None]), axis=1)

    return region, plain


SHARES = np.array([1e-9, 0.003, 0.05, 0.3, 0.62, 0.97, 1 - 1e-12])


@pytest.mark.parametrize("tail", [1e-12, 1e-3, 0.05])
@pytest.mark.parametrize(
    ("n", "m", "first", "least"),
    [
        (40, 30, 0, [*range(5, 36)]),
        (300, 200, 0, [min(301, 20 + 2 * y) for y in range(201)]),
        (300, 200, 12, [40, 44, 60, 61, 301]),
        (7, 3, 0, [0, 0, 4, 8]),
        (1, 1, 0, [1, 2]),
    ],
)
def test_probabilities_are_plain_sums_and_up_to_four_tails(n, m, first, least, tail):
    region, plain = region_and_law(n, m, first, least, tail)
    p, q = (a.ravel() for a in np.meshgrid(SHARES, SHARES))
    bound, expected = region.probability(p, q), plain(p, q)
    assert np.all(expected <= bound)
    assert np.all(bound <= expected * (1 + 1e-11) + 4 * tail)
    if tail < 1e-9:  # else it matters what the windows leave out, and how wide the widest is
        assert np.all(bound >= expected * (1 - 1e-11) + 2 * tail)
        alone = [region.probability(p[i : i + 1], q[i : i + 1])[0] for i in range(p.size)]
        assert alone == pytest.approx(bound.tolist(), rel=1e-11)


@pytest.mark.parametrize("tail", [1e-9, 1e-3])
def test_what_is_certain_and_what_is_impossible_costs_its_tails(tail):
    """Two for the windows; what lies beyond the first count's window is a third."""
    p, q = np.array([0.2, 0.7]), np.array([0.1, 0.6])
    certain, _ = region_and_law(50, 40, 0, [0] * 41, tail)
    starts, stops = module.windows(40, q, tail)
    inside = stats.binom.cdf(stops, 40, q) - stats.binom.cdf(starts - 1, 40, q)
    width = int((stops - starts).max())
    inside = stats.binom.cdf(starts + width, 40, q) - stats.binom.cdf(starts - 1, 40, q)
    assert certain.probability(p, q) == pytest.approx(inside + 2 * tail, rel=1e-11, abs=0.0)
    never, _ = region_and_law(50, 40, 0, [51] * 41, tail)
    assert never.probability(p, q) == pytest.approx(inside * tail + 2 * tail, rel=1e-11, abs=0.0)


def test_the_rounding_of_factorials_is_added():
    """Of ten million draws the logarithms are 1.5e8, a unit in their last place 3e-8."""
    n = 10_000_000
    region = module.Region(n, 1, 0, np.full(2, 2_000_500), 1e-15)
    p = np.array([0.2])
    excess = region.probability(p, np.array([0.3])) / stats.binom.sf(2_000_499, n, 0.2) - 1
    promised = 1e-15 * (math.lgamma(n + 1) + math.lgamma(2))
    assert excess[0] == pytest.approx(promised, abs=0.3 * promised)
    other = module.Region(1, n, 300_000, np.full(1, 1), 1e-15)
    excess = other.probability(np.array([0.4]), np.array([0.2])) / 0.4 - 1
    assert excess[0] == pytest.approx(promised, abs=0.3 * promised)


def test_rows_repeat_the_ends():
    values = np.array([7, 8, 9])
    rows = module.rows_from(values, np.array([-2, 0, 1, 2]), 3)
    assert rows.tolist() == [[7, 7, 7], [7, 8, 9], [8, 9, 9], [9, 9, 9]]
    assert module.rows_from(values, np.array([0, 1]), 2).tolist() == [[7, 8], [8, 9]]
    assert module.rows_from(values, np.array([-1]), 2).tolist() == [[7, 7]]
    assert module.rows_from(values, np.array([1]), 3).tolist() == [[8, 9, 9]]
    assert module.rows_from(values, np.array([4]), 1).tolist() == [[9]]


@pytest.mark.parametrize(("draws", "tail"), [(30, 1e-3), (500, 1e-9), (500, 0.2), (100_000, 1e-8)])
def test_windows_are_bernstein_s(draws, tail):
    """Whole counts as far out as exp(-r^2 / (2 (variance + r/3))) is the tail."""
    share = np.array([0.0, 1e-4, 0.1, 0.5, 0.93, 1.0])
    starts, stops = module.windows(draws, share, tail)
    assert starts.dtype == stops.dtype == np.int64
    for s, start, stop in zip(share.tolist(), starts.tolist(), stops.tolist(), strict=True):
        variance = draws * s * (1 - s)
        radius = optimize.brentq(
            lambda r, v=variance: -(r**2) / (2 * (v + r / 3)) - math.log(tail), 1e-9, 10 * draws
        )
        assert start == max(math.floor(draws * s - radius), 0)
        assert stop == min(math.ceil(draws * s + radius), draws)
        assert stats.binom.cdf(start - 1, draws, s) <= tail
        assert stats.binom.sf(stop, draws, s) <= tail


def test_windows_of_impossible_shares_stay_inside():
    """The variance is never below 0, whatever a share."""
    starts, stops = module.windows(10, np.array([1.5]), 1e-3)
    assert starts.tolist() == [10]
    assert stops.tolist() == [10]


def test_logarithms_of_binomial_coefficients():
    found = module.log_choose(9, np.array([[0, 3, 9], [4, 10, 12]]))
    expected = [
        [math.log(math.comb(9, k)) if k <= 9 else -math.inf for k in row]
        for row in ((0, 3, 9), (4, 10, 12))
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-13)


@pytest.mark.parametrize(
    ("draws", "share"),
    [
        (60, [0.1, 0.12, 0.3]),
        (60, [0.98, 0.99]),
        (1, [0.5]),
        (40_000, [0.001, 0.9]),  # far apart
        (40_000, [0.2, 0.201, 0.202, 0.203]),
    ],
)
def test_rows_of_binomial_laws(draws, share):
    share = np.array(share)
    starts, law = module.binomial(draws, share, 1e-8)
    first, last = module.windows(draws, share, 1e-8)
    assert starts.tolist() == first.tolist()
    assert law.shape == (share.size, int((last - first).max()) + 1)
    counts = starts[:, None] + np.arange(law.shape[1])
    expected = stats.binom.pmf(counts, draws, share[:, None])
    assert np.all(expected[counts > draws] == 0.0)
    assert law == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("share", [[0.001, 0.9], [0.2, 0.2001], [0.2] * 3])
def test_only_rows_that_lie_far_apart_get_coefficients_of_their_own(monkeypatch, share):
    asked = []
    plain = module.log_choose
    monkeypatch.setattr(
        module, "log_choose", lambda d, counts: [asked.append(counts.size), plain(d, counts)][1]
    )
    starts, law = module.binomial(40_000, np.array(share), 1e-8)
    spread = int(starts.max() - starts.min()) + law.shape[1]
    assert asked == [min(spread, law.size)]


def test_interpolation_takes_polynomials_to_the_finer_grid():
    nodes, refine = module.chebyshev()
    assert sorted(nodes) == pytest.approx(np.polynomial.chebyshev.chebpts1(32).tolist(), abs=1e-15)
    finer = np.polynomial.chebyshev.chebpts1(32 * 32)
    rng = np.random.default_rng(5)
    for _ in range(3):
        series = np.polynomial.Chebyshev(rng.normal(size=32))
        found = np.sort(refine @ series(nodes))
        assert found == pytest.approx(np.sort(series(finer)), abs=1e-11)
    ends = refine @ nodes
    assert ends[[0, -1]] == pytest.approx([finer[-1], finer[0]], abs=1e-12)


def size(points):
    """The modulus of a share and of what it leaves."""
    return np.abs(points) + np.abs(1 - points)


INTERVALS = [
    # left, right, theta, delta, n, m; near 0, in the middle, up to pi/2, and beyond any use
    (1e-6, 0.01, 1.0, 0.0, 400, 300),
    (0.0, 0.2, 2.0, 0.0, 30, 20),
    (0.2, 0.25, 3.0, 0.0, 400, 300),
    (0.2, 0.4, 1.5, 0.2, 40, 900),
    (0.7, 0.9, 1.0, 0.05, 60, 60),
    (1.2, 1.5, 1.0, 0.0, 10, 40),
    (1.45, math.pi / 2, 1.0, 0.0, 90, 30),
    (1.5, 1.57, 1.0, 0.0, 0, 300),
    (0.05, 0.06, 20.0, 0.01, 2_000, 0),
    (0.3, 0.5, 1.0, 0.0, 5, 5),
    (0.0, math.pi / 2, 1.0, 0.0, 1, 1),
    (0.0, 0.319, 2.0, 0.0, 20, 0),
    (0.0, 0.8, 0.5, 0.0, 20, 0),
    (0.0, 0.173, 1.0, 0.0, 400, 0),
    (0.44, 0.5, 1.0, 0.0, 400, 0),
    (1.16, 1.19, 1.0, 0.05, 400, 1),
    (0.99, 1.49, 4.8, 0.05, 20, 0),
    (1.47, 1.51, 1.5, 0.8, 20, 1),
    (0.0, 0.09, 1.0, 0.8, 400, 1),
    (0.0, 1.215, 0.38, 0.8, 1, 0),
    # wider than any that is asked for, or elsewhere
    (-1.386, -1.271, 0.69, 0.8, 5, 0),
    (2.38, 2.79, 0.898, 0.05, 5, 2),
    (1.45, 1.81, 0.454, 0.05, 2, 0),
    (2.0478, 3.2076, 0.1393, 0.05, 1, 2),
    (-0.217, 0.804, 0.204, 0.0, 2, 2),
]


@pytest.mark.parametrize(("left", "right", "theta", "delta", "n", "m"), INTERVALS)
def test_the_distance_bounds_the_probability_on_an_ellipse(left, right, theta, delta, n, m):
    """At complex angles on the edge of each ellipse, and in the slabs that cover it.

    From within the slabs the oracle takes sines of complex angles, at many points.
    """
    turn = np.exp(2j * math.pi * np.arange(2000) / 2000)
    on_ellipse, in_slabs = [], []
    for r in module.RADII:
        edge = (left + right) / 2 + (right - left) / 2 * (r * turn + 1 / (r * turn)) / 2
        q = np.sin(edge) ** 2
        log_most = m * np.log(size(q)) + n * np.log(size(theta * q + delta))
        rest = math.log(4) - 31 * math.log(r) - math.log(r - 1)
        on_ellipse.append(log_most.max() + rest)
        tall, wide = ((right - left) / 2 * (r + s / r) / 2 for s in (-1, 1))
        worst = 0.0
        bounds = np.linspace((left + right) / 2 - wide, (left + right) / 2 + wide, 9)
        turns = np.arange(-40, 41) * math.pi / 4
        for begin, end in itertools.pairwise(bounds):
            real = [*np.linspace(begin, end, 5), *turns[(turns > begin) & (turns < end)]]
            box = theta * np.sin(np.array(real)[:, None] + 1j * tall * np.array([0.0, 1.0])) ** 2
            box = box + delta
            corners = np.array([box.real.min(), box.real.max()]) + 1j * np.abs(box.imag).max()
            worst = max(worst, size(corners).max())
        in_slabs.append(m * math.log(math.cosh(2 * tall)) + n * math.log(worst) + rest)
    found = module.distance_bound(np.array([left]), np.array([right]), theta, delta, n, m)
    assert found.shape == (1,)
    assert found[0] >= math.exp(min(*on_ellipse, 0.0)) * (1 - 1e-9)
    assert found[0] == pytest.approx(math.exp(min(*in_slabs, 0.0)), rel=1e-7, abs=0.0)


def test_distances_of_several_intervals_are_those_of_each():
    left, right = np.array([0.0, 0.3, 1.4]), np.array([0.1, 0.5, 1.5])
    together = module.distance_bound(left, right, 1.5, 0.1, 40, 50)
    alone = [
        module.distance_bound(left[i : i + 1], right[i : i + 1], 1.5, 0.1, 40, 50)[0]
        for i in range(3)
    ]
    assert together.tolist() == pytest.approx(alone, rel=1e-12, abs=0.0)


def test_an_ellipse_too_large_is_no_use_and_no_error():
    """Its exponents overflow; others are chosen, or the distance is 1."""
    assert module.distance_bound(np.array([0.0]), np.array([400.0]), 1.0, 0.0, 9, 9).tolist() == [
        1.0
    ]


def test_shares_stay_inside():
    p, q = module.shares_at(np.array([0.0, 1e-170, math.pi / 2, 0.8]), 1.6, 0.0)
    assert q.tolist() == [1e-300, 1e-300, 1 - 1e-16, math.sin(0.8) ** 2]
    assert p.tolist() == [1.6e-300, 1.6e-300, 1 - 1e-16, 1.6 * math.sin(0.8) ** 2]
    assert module.shares_at(np.array([0.0]), 1e-3, 0.0)[0].tolist() == [1e-300]
    with np.errstate(all="raise"):  # its logarithms are finite
        assert np.isfinite(np.log1p(-module.shares_at(np.array([math.pi / 2]), 1.0, 0.0)[1])).all()


class Event:
    """In place of a region: an event whose probability is known in closed form."""

    def __init__(self, n, m, probability, tail=1e-12):
        self.n, self.m, self.tail = n, m, tail
        self.sizes: list[int] = []
        self.probability = lambda p, q: [self.sizes.append(p.size), probability(p, q)][1]


EVENTS = {
    "first, not second": (1, 1, lambda p, q: p * (1 - q)),
    "neither of two, once": (2, 1, lambda p, q: (1 - (1 - p) ** 2) * (1 - q)),
    "many": (30, 400, lambda p, q: stats.binom.sf(11, 30, p) * stats.binom.cdf(60, 400, q)),
    "ever fewer": (1, 900, lambda p, q: (1 - q) ** 900),
}


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize(("theta", "delta"), [(1.0, 0.0), (2.0, 0.0), (1.2, 0.2)])
@pytest.mark.parametrize(("low", "high"), [(0.0, 0.6), (0.1, 0.5), (0.38, 0.3801), (0.4, 0.4)])
def test_the_supremum_of_known_functions(name, theta, delta, low, high):
    n, m, function = EVENTS[name]
    event = Event(n, m, function)
    phi = np.linspace(low, high, 20_001)
    values = function(*module.shares_at(phi, theta, delta))
    for enough in (0.05, 0.9):
        found, (left, right) = module.supremum(event, low, high, theta, delta, enough)
        highest = float(values.max())
        assert found >= highest * (1 - 1e-12)
        if highest <= enough / 4:  # passed over: still a bound, from either end of each piece
            assert found <= max(enough, 4 * highest)
            continue
        if highest > 0.55 * enough:
            # Half the range on its piece, times what may lie between points of the grid.
            assert found <= highest * (1 + 6e-4) + 1.5e-5 * enough
            on_piece = module.largest_on(event, left, right, theta, delta)
            assert found <= on_piece + 1e-5 * enough
            assert left - 1e-4 <= phi[values.argmax()] <= right + 1e-4
            assert low <= left <= right <= high
    assert max(event.sizes) <= 32  # so much is held in memory at a time


def test_what_cannot_reach_enough_is_passed_over():
    """Four pieces, looked at by their ends alone."""
    event = Event(1, 1, lambda p, q: p * (1 - q))
    value, where = module.supremum(event, 0.1, 0.3, 1.0, 0.0, 0.9)
    edges = np.sin(np.linspace(0.1, 0.3, 5)) ** 2
    assert value == pytest.approx(max(edges[1:] * (1 - edges[:-1])), rel=1e-12)
    assert where == (0.1, 0.3)
    assert event.sizes == [4]


def test_a_piece_is_given_up_only_at_half_of_enough():
    value, where = module.supremum(Event(1, 1, lambda p, q: 0.3 + 0 * p), 0.1, 0.3, 1.0, 0.0, 0.6)
    assert (value, where) == (0.3, (0.1, 0.3))
    value, where = module.supremum(Event(1, 1, lambda p, q: 0.3 + 0 * p), 0.1, 0.3, 1.0, 0.0, 0.599)
    assert value == pytest.approx(0.3, abs=1e-5)
    assert where == (0.25, 0.3)


def test_a_piece_is_at_most_its_value_at_opposite_ends():
    """What is known of monotony is not given away to the interpolant's distance."""
    steep = Event(1, 1, lambda p, q: np.where(p > 0.0, 0.5, 0.0))
    assert module.supremum(steep, 0.1, 0.3, 1.0, 0.0, 0.9)[0] == 0.5


@pytest.mark.parametrize("draws", [900, 2_500])
def test_how_far_the_interpolant_may_be_off_is_added(draws):
    """A function that is large, not a probability, so that the distance of its pieces shows."""
    event = Event(draws, draws, lambda p, q: 1e6 * (0.7 + p * (1 - q)))
    found, (left, right) = module.supremum(event, 0.3, 1.2, 1.0, 0.0, 1e6)
    off = module.distance_bound(np.array([left]), np.array([right]), 1.0, 0.0, draws, draws)[0]
    assert 1e-4 < off <= 10.0
    assert found - module.largest_on(event, left, right, 1.0, 0.0) == pytest.approx(off, rel=1e-3)


@pytest.mark.parametrize("size", [1, 31, 32, 33, 64, 65, 200])
def test_batches_are_as_many_as_nodes(size):
    values = np.arange(float(size))
    found = module.batches(values)
    assert np.concatenate(found).tolist() == values.tolist()
    assert len(found) == -(-size // 32)
    assert max(map(len, found)) <= 32


@pytest.mark.parametrize("slope", [0.1, 1.0, 3.0, 30.0, 1e4])
@pytest.mark.parametrize("start", [0.0, 0.5, 1.3, 2.0, 50.0])
def test_the_crossing_of_a_curve(start, slope):
    """From either side, however wrong the slope, and never by a look below 0."""
    seen = []

    def curve(e):
        seen.append(e)
        return math.expm1(e - 1.3) if e < 20 else 1e8 + e

    assert module.crossing(curve, start, slope) == pytest.approx(1.3, abs=3e-8)
    assert min(seen) >= 0.0
    assert len(seen) < 45


def test_a_good_slope_saves_looks():
    seen = []
    module.crossing(lambda e: [seen.append(e), 3.0 * (e - 0.8)][1], 0.5, 3.0)
    assert seen[:2] == [0.5, pytest.approx(0.5 + 1.2 * 0.3 + 1e-7, rel=1e-12)]
    assert len(seen) <= 7
    seen.clear()
    module.crossing(lambda e: [seen.append(e), 3.0 * (e - 0.8)][1], 0.8 + 1e-12, 3.0)
    assert abs(seen[1] - 0.8) < 1e-6
    seen.clear()
    # Twelve times too steep: steps of 0.03, then twice, then four times as long.
    module.crossing(lambda e: [seen.append(e), 3.0 * (e - 0.8)][1], 0.5, 36.0)
    assert seen[1:5] == pytest.approx([0.53, 0.56, 0.62, 0.74], abs=1e-5)


def test_no_crossing_is_zero_or_far():
    seen = []
    assert module.crossing(lambda e: [seen.append(e), 1.0 + e][1], 0.7, 1.0) == 0.0
    assert seen == [0.7, 0.0]  # below 0 there is nothing to look at
    assert module.crossing(lambda e: 1.0 + e, 0.0, 1.0) == 0.0
    assert module.crossing(lambda e: e, 0.3, 1.0) == pytest.approx(0.0, abs=1e-7)
    assert module.crossing(lambda e: -1.0, 0.3, 1.0) > 1e10


@pytest.mark.parametrize(
    ("epsilon", "top"), [(0.0, 0.3), (1.0, 0.3), (1.2, 0.9 * math.exp(-1.2)), (9.0, 0.05)]
)
def test_the_range_of_angles(epsilon, top):
    test = module.PreparedTest(None, 0.05, 0.3, 0.1, 0.05, 0.0, 1.0)
    assert test.ends(epsilon) == pytest.approx(
        (math.asin(0.05**0.5), math.asin(top**0.5)), rel=1e-14
    )


def test_the_supremum_of_a_test_is_over_its_own_range(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "supremum", lambda *a: [asked.append(a), "value"][1])
    test = module.PreparedTest("region", 0.05, 0.3, 0.1, 0.04, 0.0, 1.0)
    assert test.supremum(1.2) == "value"
    assert asked == [("region", *test.ends(1.2), math.exp(1.2), 0.1, 0.04)]


@pytest.mark.parametrize(
    ("x", "n", "y", "m", "alpha", "delta"),
    [
        (30, 60, 8, 90, 0.05, 0.0),
        (30, 60, 8, 90, 0.01, 0.1),
        (5, 60, 0, 90, 0.05, 0.0),
        (60, 60, 80, 90, 0.05, 0.0),
        (20_000, 100_000, 17_000, 100_000, 1e-6, 0.0),
        (40, 60, 30, 90, 0.9, 0.0),  # so lax that the quantile would be negative
    ],
)
def test_what_is_prepared(x, n, y, m, alpha, delta):
    test = module.prepare(x, n, y, m, alpha, delta)
    z = max(float(stats.norm.isf(alpha)), 0.25)
    rank = plain_limit(x, n, y, m, z, delta)
    spent, tail = 1e-3 * alpha, 1e-7 * alpha
    assert test.low == pytest.approx(
        stats.beta.ppf(spent / 2, y, m - y + 1) if y else 0.0, rel=1e-6
    )
    assert test.high == pytest.approx(stats.beta.isf(spent / 2, y + 1, m - y), rel=1e-6)
    assert (test.delta, test.allowed) == (delta, alpha - spent)
    assert test.start == pytest.approx(max(rank, 0.0), abs=1e-6)
    estimate = math.log((x / n - delta) * m / max(y, 0.5))
    assert test.slope == pytest.approx(z / (estimate - rank), rel=1e-4)
    region = test.region
    assert (region.n, region.m, region.tail) == (n, m, tail)
    first, last = module.windows(m, np.array([test.low, test.high]), tail)
    assert region.first == first[0]
    assert region.first + region.least.size - 1 == last[1]
    # At the limit the outcome is in by a hair; a hit less, or one more on the other side, is not.
    assert region.least[y - region.first] == x
    if y < m - 1:
        assert region.least[y + 1 - region.first] > x
    for other in {max(y - 3, region.first), y, min(y + 3, int(last[1]), m - 1)}:
        least = int(region.least[other - region.first])
        if least <= n:
            assert statistic(least, n, other, m, math.exp(rank), delta) >= z - 1e-5
        assert statistic(least - 1, n, other, m, math.exp(rank), delta) < z + 1e-5


@pytest.mark.parametrize(
    ("x", "n", "y", "m", "delta", "shown"),
    [
        (20, 100, 10, 50, 0.0, False),
        (21, 100, 10, 50, 0.0, True),
        (10, 100, 0, 50, 0.1, False),
        (30, 100, 10, 50, 0.1, False),
        (31, 100, 10, 50, 0.1, True),
        (32, 100, 10, 50, 0.2, False),
        (11, 100, 0, 50, 0.1, False),  # more than delta, but not more than its own error
    ],
)
def test_what_is_not_worth_preparing(x, n, y, m, delta, shown):
    assert (module.prepare(x, n, y, m, 0.05, delta) is not None) is shown


def test_the_observed_outcome_is_in_its_region_whatever_the_rounding(monkeypatch):
    plain = module.least_hits
    monkeypatch.setattr(module, "least_hits", lambda *a: plain(*a) + 2)
    test = module.prepare(30, 60, 8, 90, 0.05, 0.0)
    least = test.region.least
    at = 8 - test.region.first
    assert least[: at + 1].max() == least[at] == 30
    assert (
        least[at + 1 :].tolist()
        == (
            plain(
                np.arange(9.0, 9 + least.size - at - 1),
                math.exp(test.start),
                float(stats.norm.isf(0.05)),
                60,
                90,
                0.0,
            )
            + 2
        ).tolist()
    )


class Shown:
    """In place of a prepared test: its supremum is a function of epsilon alone."""

    region, delta, allowed, slope = "region", 0.1, 0.05, 2.0

    def __init__(self, start, supremum):
        self.start, self.plain, self.asked = start, supremum, []

    def supremum(self, epsilon):
        self.asked.append(epsilon)
        return self.plain(epsilon), (0.3, 0.4)

    def ends(self, epsilon):
        return 0.1, 0.6


def jump(epsilon):
    """Allowed below 0.9, by far; not allowed from there on, by far."""
    return 0.01 if epsilon < 0.9 else 0.2


def guesses(monkeypatch, guess):
    """Let the crossing on the worst piece be a function of where it starts; note the starts."""
    starts = []

    def crossing(excess, start, slope):
        assert slope == Shown.slope
        starts.append(start)
        return guess(start)

    monkeypatch.setattr(module, "crossing", crossing)
    return starts


def halving(kept, refused):
    """The points of plain bisection for the jump, until they are close."""
    points = []
    while refused - kept >= module.TOLERANCE:
        points.append((kept + refused) / 2)
        kept, refused = (points[-1], refused) if points[-1] < 0.9 else (kept, points[-1])
    return points


@pytest.mark.parametrize(
    ("start", "guess", "before"),
    [
        (0.3, lambda e: 5.0, [0.3, 5.0]),  # never right, and refused at once
        (0.3, lambda e: 0.0, [0.3, 0.601, 1.203]),  # too small: doubled until it is refused
        (0.0, lambda e: -1.0, [0.0, 0.001, 0.003, 0.007, 0.015, 0.031, 0.063, 0.127, 0.255, 0.511,
                               1.023]),
        (1.0, lambda e: 3.0, [1.0]),
    ],
)  # fmt: skip
def test_bad_guesses_are_replaced_by_halving(monkeypatch, start, guess, before):
    starts = guesses(monkeypatch, guess)
    test = Shown(start, jump)
    found = module.invert(test)
    kept = max((e for e in before if e < 0.9), default=0.0)
    assert test.asked == pytest.approx([*before, *halving(kept, before[-1])], abs=1e-12)
    assert 0.9 - module.TOLERANCE < found < 0.9
    assert starts == test.asked[:8]  # after so many it is not asked again


def test_no_more_is_shown_than_is_allowed_and_all_of_it(monkeypatch):
    guesses(monkeypatch, lambda e: 3.0)
    test = Shown(0.7, lambda e: 0.05 if e <= 0.7 else 0.06)
    assert module.invert(test) == 0.7
    assert test.asked == [0.7]  # nothing is left to gain
    test = Shown(0.0, lambda e: 0.06)
    assert module.invert(test) == 0.0
    assert test.asked == [0.0]


@pytest.mark.parametrize("further", [0.0, 0.5e-7])
def test_a_guess_that_stays_where_it_is_ends_the_search(monkeypatch, further):
    guesses(monkeypatch, lambda e: e + further)
    test = Shown(0.7, lambda e: 0.01)
    assert module.invert(test) == 0.7 + further
    assert test.asked == [0.7, 0.7 + further]


def test_the_search_ends():
    """Though the supremum is refused wherever the guess is allowed, by ever so little."""
    test = Shown(0.7, lambda e: 0.01)
    with pytest.MonkeyPatch.context() as patch:
        guesses(patch, lambda e: e + 1.0)
        assert module.invert(test) == max(test.asked)
    assert len(test.asked) == module.MOST_ATTEMPTS


def test_guesses_are_of_the_worst_piece_and_of_where_its_first_share_stays(monkeypatch):
    """At small angles p is exp(epsilon) times the square of the angle."""
    pieces = []

    def largest(region, left, right, theta, delta):
        assert (region, delta) == ("region", 0.1)
        pieces.append((left, right, theta))
        return 0.02 if right < 0.35 else 0.07

    def crossing(excess, start, slope):
        for trial in (0.9, 0.7, 0.2):
            pieces.clear()
            value = excess(trial)
            theta, scale = math.exp(trial), math.exp((0.7 - trial) / 2)
            scaled = [min(edge * scale, 0.6) for edge in (0.3, 0.4)]
            assert pieces == [(0.3, 0.4, theta), (*map(pytest.approx, scaled), theta)]
            goal = stats.norm.ppf(0.05 * (1 - 1e-4))
            assert value == pytest.approx(stats.norm.ppf(0.07) - goal, rel=1e-9)
        trial = -3.0
        pieces.clear()
        excess(trial)
        assert pieces[1][:2] == (0.6, 0.6)
        raise InterruptedError

    monkeypatch.setattr(module, "largest_on", largest)
    monkeypatch.setattr(module, "crossing", crossing)
    with pytest.raises(InterruptedError):
        module.invert(Shown(0.7, jump))


def test_quantiles_of_any_bound_are_finite():
    """A bound on a probability may exceed 1."""
    for value in (0.0, 1e-320, 1.0, 1.0 + 1e-9, 1.5):
        assert math.isfinite(module.probit(value))
    assert module.probit(0.2) == pytest.approx(stats.norm.ppf(0.2), rel=1e-12)
    assert module.probit(1e-250) == pytest.approx(stats.norm.ppf(1e-250), rel=1e-9)
    assert module.probit(0.0) < -37
    assert module.probit(1.0) > 7


def plain_bound(x, n, y, m, alpha, delta):
    """Buehler's bound by its definition: rank all, sample q densely, find the least ratio."""
    z = max(float(stats.norm.isf(alpha)), 0.25)
    hits, others = np.meshgrid(np.arange(n + 1.0), np.arange(m + 1.0), indexing="ij")
    ones = np.ones_like(hits).ravel()
    rank = module.score_limit(hits.ravel(), n * ones, others.ravel(), m * ones, z, delta)
    rank = rank.reshape(hits.shape)
    extreme = rank >= rank[x, y] - 1e-9
    # Whoever contains (x, y) contains more hits, and fewer on the other side.
    extreme = np.maximum.accumulate(extreme, axis=0)
    extreme = np.maximum.accumulate(extreme[:, ::-1], axis=1)[:, ::-1]
    low = stats.beta.ppf(5e-4 * alpha, y, m - y + 1) if y else 0.0
    high = stats.beta.isf(5e-4 * alpha, y + 1, m - y)

    def worst(epsilon):
        most = max(low, min(high, (1 - delta) * math.exp(-epsilon)))
        q = np.sin(np.linspace(math.asin(low**0.5), math.asin(most**0.5), 800))[:, None] ** 2
        p = np.minimum(math.exp(epsilon) * q + delta, 1.0)
        ours = stats.binom.pmf(np.arange(n + 1), n, p)
        return float(
            np.einsum("kx,xy,ky->k", ours, extreme, stats.binom.pmf(np.arange(m + 1), m, q)).max()
        )

    allowed = alpha * (1 - 1e-3)
    if worst(0.0) > allowed:
        return 0.0
    return optimize.brentq(lambda e: worst(e) - allowed, 0.0, 12.0, xtol=1e-6)


@pytest.mark.parametrize(
    ("x", "n", "y", "m", "alpha", "delta"),
    [
        (9, 12, 2, 14, 0.05, 0.0),
        (14, 20, 1, 9, 0.05, 0.0),
        (12, 20, 0, 16, 0.01, 0.0),
        (20, 20, 5, 18, 0.1, 0.0),
        (16, 18, 3, 25, 0.05, 0.15),
        (18, 18, 2, 25, 0.05, 0.3),
        (3, 30, 0, 30, 0.2, 0.0),
        (16, 24, 9, 24, 0.3, 0.0),
        (14, 24, 12, 24, 0.05, 0.0),
        (24, 24, 0, 24, 0.001, 0.0),
    ],
)
def test_the_bound_by_its_definition(x, n, y, m, alpha, delta):
    found = float(module.exact(x, n, y, m, alpha, delta))
    estimate = math.log((x / n - delta) * m / y) if y else math.inf
    expected = min(plain_bound(x, n, y, m, alpha, delta), estimate)
    assert expected - 5e-4 <= found <= expected + 2e-5
    assert (found > 0.0) is (expected > 0.0)
    assert module.rejects(x, n, y, m, alpha, delta, found - 1e-3) is (found > 1e-3)
    assert not module.rejects(x, n, y, m, alpha, delta, found + 1e-3)


def test_a_bound_takes_few_suprema(monkeypatch):
    """What it costs is counted: each looks at all pieces anew."""
    asked = []
    plain = module.supremum
    monkeypatch.setattr(module, "supremum", lambda *a: [asked.append(a), plain(*a)][1])
    counts = []
    for x, n, y, m, delta in (
        (136, 1_000, 50, 1_000, 0.0),
        (272, 10_000, 100, 10_000, 0.0),
        (30, 100, 10, 70, 0.0),
        (60, 100, 20, 70, 0.1),
        (60, 60, 3, 60, 0.3),
        (40, 100, 0, 100, 0.0),
        (14, 24, 12, 24, 0.0),
    ):
        asked.clear()
        module.exact(x, n, y, m, 0.05, delta)
        counts.append(len(asked))
    assert max(counts) <= 6
    assert sum(counts) <= 18
