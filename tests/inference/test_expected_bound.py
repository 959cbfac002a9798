"""What a candidate promises: its bound by independent code, caution, and how the rest ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from pdpaudit.inference.claim_bounds import ExpectedBound


def shown(p, q, aim):
    """The delta method from its definition."""
    ratio = math.log((p - aim.delta) / q)
    error = math.sqrt((p * (1 - p) / (p - aim.delta) ** 2 + (1 - q) / q) / aim.size)
    value = ratio - stats.norm.isf(aim.alpha) * error
    return value if value > 0 else value / error


@pytest.mark.parametrize("settings", [(10_000, 0.05), (500, 0.2, 0.05), (10**6, 1e-3, 0.3)])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.25), (0.4, 0.39), (0.9, 0.1), (0.35, 0.6)])
def test_from_shares_is_the_delta_method(settings, p, q):
    aim = ExpectedBound(*settings)
    found = aim.from_shares(np.array([p]), np.array([q]))[0]
    assert found == pytest.approx(shown(p, q, aim), rel=1e-12)


@pytest.mark.parametrize("caution", [0.0, 0.5, 2.0])
def test_counts_give_away_standard_errors_on_both_sides(caution):
    aim = ExpectedBound(10_000, 0.05, 0.02, caution)
    x, n, y, m = 300, 1000, 250, 2000
    angles = [math.asin(math.sqrt((k + 0.375) / (runs + 0.75))) for k, runs in ((x, n), (y, m))]
    p = math.sin(angles[0] - caution / 2 / math.sqrt(n + 0.75)) ** 2
    q = math.sin(angles[1] + caution / 2 / math.sqrt(m + 0.75)) ** 2
    found = float(aim.expected(x, n, y, m))
    assert found == pytest.approx(shown(p, q, aim), rel=1e-9)
    assert float(aim.expected([x], [n], [y], [m])[0]) == found


def test_caution_is_one_error_if_nothing_else_is_said():
    one, same = ExpectedBound(1000, 0.05), ExpectedBound(1000, 0.05, 0.0, 1.0)
    assert one.expected(50, 100, 20, 100) == same.expected(50, 100, 20, 100)
    assert one.expected(50, 100, 20, 100) < ExpectedBound(1000, 0.05, 0.0, 0.9).expected(
        50, 100, 20, 100
    )


def test_delta_may_explain_everything():
    aim = ExpectedBound(1000, 0.05, 0.3)
    assert aim.expected([200, 300, 900], 1000, [0, 0, 10], 1000).tolist()[:2] == [-math.inf] * 2
    assert aim.from_shares(np.array([0.3]), np.array([0.1])).tolist() == [-math.inf]
    assert aim.from_shares(np.array([0.9]), np.array([0.1]))[0] > 1.0


def test_what_only_lacks_samples_ranks_above_what_can_never_show_anything():
    aim = ExpectedBound(10_000, 0.05)
    weak, hopeless, always = aim.expected([560, 500, 1000], 1000, [500, 560, 1000], 1000)
    assert weak > max(hopeless, always)
    certain = aim.from_shares(np.ones(1), np.ones(1))[0]
    assert -math.inf < certain < min(hopeless, always)


def test_a_share_given_away_beyond_its_end_stays_there():
    """The arcsine ends at 0 and π/2; past them its sine would turn back."""
    aim = ExpectedBound(10_000, 0.05, 0.0, 4.0)
    few = aim.expected(np.arange(4), 50, 0, 50)
    assert few.tolist() == pytest.approx([few[0]] * 4, rel=1e-6)
    assert few[0] < 0
    # Where the other side nearly always hits, it is taken to do so always: that comes last.
    always = aim.from_shares(np.ones(1), np.ones(1))[0]
    assert aim.expected(50, 50, [47, 48, 49, 50], 50).tolist() == [always] * 4


@pytest.mark.parametrize("theirs", [40, 46])
def test_nearly_certain_events_promise_by_the_same_rule(theirs):
    aim, step = ExpectedBound(10_000, 0.05), 0.5 / math.sqrt(50.75)
    p = math.sin(math.asin(math.sqrt(49.375 / 50.75)) - step) ** 2
    q = math.sin(math.asin(math.sqrt((theirs + 0.375) / 50.75)) + step) ** 2
    assert q > math.sin(math.pi / 3) ** 2
    assert float(aim.expected(49, 50, theirs, 50)) == pytest.approx(shown(p, q, aim), rel=1e-9)


def test_extreme_counts_give_numbers_without_warnings():
    aim = ExpectedBound(1000, 0.05)
    found = aim.expected([0, 0, 1, 10, 10, 1], [10, 10, 1, 10, 10, 1], [0, 10, 0, 0, 10, 1], 10)
    assert np.all(np.isfinite(found))
    assert found.argmax() == 3
