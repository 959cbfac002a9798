"""One error budget: even shares and stepping down."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from pdpaudit.core.errors import InputError
from pdpaudit.inference import ErrorBudget, holm, holm_bounds


def test_shares_add_up():
    assert ErrorBudget(0.05, 7).share * 7 == pytest.approx(0.05)
    assert ErrorBudget(0.05).share == 0.05


def test_the_line_for_the_terminal():
    assert ErrorBudget(0.05).describe() == "false alarm at most 5%, all on one confirmed bound"
    line = ErrorBudget(0.1, 3).describe()
    assert "10%" in line
    assert "3 confirmed" in line
    assert "3.333%" in line
    assert "\n" not in line


@pytest.mark.parametrize(("alpha", "confirmed"), [(0.0, 1), (1.0, 1), (0.05, 0), (0.05, 1.5)])
def test_impossible_budgets_are_refused(alpha, confirmed):
    with pytest.raises(InputError):
        ErrorBudget(alpha, confirmed)


def test_holm_by_hand():
    # 0.01 <= .05/4, 0.016 <= .05/3, then 0.03 > .05/2 stops it, although 0.04 <= .05.
    assert holm([0.03, 0.01, 0.04, 0.016], 0.05).tolist() == [False, True, False, True]
    assert holm([], 0.05).tolist() == []


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_lies_between_bonferroni_and_no_correction(values):
    rejected = holm(values, 0.05)
    p = np.array(values)
    assert np.all(rejected[p <= 0.05 / max(p.size, 1)])
    assert not np.any(rejected[p > 0.05])


@pytest.mark.parametrize("values", [[-0.1], [1.1], [float("nan")], [[0.1]]])
def test_holm_refuses_what_are_no_p_values(values):
    with pytest.raises(InputError):
        holm(values, 0.05)


def normal_bound(observed):
    """Lower confidence bound for the mean of one standard normal observation each."""
    return lambda i, level: observed[i] + special.ndtri(level)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.floats(-4, 6), min_size=1, max_size=6))
def test_stepping_down_by_bounds_equals_stepping_down_by_p_values(observed):
    rejected, bounds = holm_bounds(normal_bound(observed), [1.0] * len(observed), 0.05)
    p = stats.norm.sf(np.array(observed) - 1.0)
    thresholds = 0.05 / np.arange(1, len(observed) + 1)
    if np.abs(p[:, None] / thresholds - 1).min() > 1e-9:  # ties are decided by rounding
        assert rejected.tolist() == holm(p, 0.05).tolist()
    assert np.all(bounds[rejected] >= 1.0)
    assert np.all(bounds[~rejected] <= 1.0)


def test_bounds_of_a_mixed_outcome():
    observed = [9.0, 1.5, 9.0]
    rejected, bounds = holm_bounds(normal_bound(observed), [1.0, 1.0, 2.0], 0.05)
    assert rejected.tolist() == [True, False, True]
    assert bounds.tolist() == [1.0, pytest.approx(1.5 - stats.norm.isf(0.05)), 2.0]


def test_bounds_when_everything_is_rejected():
    rejected, bounds = holm_bounds(normal_bound([9.0, 3.0]), [1.0, 1.3], 0.05)
    assert rejected.all()
    # The second fails at alpha/2 alone but passes at alpha: its claim is then the bound.
    assert bounds.tolist() == [pytest.approx(9.0 - stats.norm.isf(0.025)), 1.3]


def test_all_bounds_hold_together():
    # 4,000 reports on three quantities, one equal to its claim, one below, one far above; seed
    # pinned. At the true rate of at most 0.05 it fails by chance with probability below 1e-4.
    rng = np.random.default_rng(8)
    truth = np.array([1.0, 0.5, 4.5])
    wrong = 0
    for noise in rng.standard_normal((4_000, 3)):
        rejected, bounds = holm_bounds(normal_bound(truth + noise), [1.0, 1.0, 1.0], 0.05)
        wrong += bool(np.any(bounds > truth) or np.any(rejected & (truth <= 1.0)))
    assert wrong <= stats.binom.isf(1e-4, 4_000, 0.05)


def test_refusals_say_what_was_wrong():
    with pytest.raises(InputError, match=r"^alpha must lie strictly between 0 and 1, got 2"):
        ErrorBudget(2.0)
    with pytest.raises(InputError, match=r"^at least one thing must be confirmed, got 0"):
        ErrorBudget(0.05, 0)
    with pytest.raises(InputError, match=r"^p-values must be a list of numbers between 0 and 1$"):
        holm([2.0], 0.05)
    with pytest.raises(InputError, match="alpha"):
        holm_bounds(normal_bound([1.0]), [1.0], 1.5)


def test_what_is_exactly_at_its_threshold():
    assert holm([0.05], 0.05).tolist() == [True]
    assert holm([0.025, 0.06], 0.05).tolist() == [True, False]
    rejected, bounds = holm_bounds(lambda i, level: 1.0, [1.0], 0.05)
    assert rejected.tolist() == [False]  # a bound that equals the claim does not exceed it
    assert bounds.tolist() == [1.0]


def test_one_rejected_hypothesis_has_the_whole_budget():
    rejected, bounds = holm_bounds(lambda i, level: 3.0 + level, [1.0], 0.05)
    assert rejected.tolist() == [True]
    assert bounds.tolist() == [3.05]
    assert holm_bounds(normal_bound([]), [], 0.05)[1].tolist() == []
    assert holm([1, 0], 0.05).dtype == np.bool_
