"""Theorem budgets against exact arithmetic and a second, independent optimal composition."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp

from pdpaudit.core.errors import InputError
from pdpaudit.core.privacy_loss import (
    _randomised_response,
    basic_composition,
    composition_table,
    general_composition,
    optimal_composition,
    paper_composition,
    paper_composition_proved,
)


def kov_delta(ratio: Fraction, rounds: int, i: int) -> Fraction:
    """δ_i of Kairouz, Oh and Viswanath, Theorem 3.3, at total ε = (k-2i)ε, in fractions."""
    total = sum(
        math.comb(rounds, step)
        * (ratio ** (rounds - step) - ratio ** (rounds - 2 * i) * ratio**step)
        for step in range(i)
    )
    return Fraction(total) / (1 + ratio) ** rounds


def optimal_delta(epsilon: float, rounds: int, total: float) -> float:
    """The smallest δ at a total ε: what `optimal_composition` inverts."""
    return float(_randomised_response(epsilon, rounds).get_delta_for_epsilon(total))


def log_space_delta(epsilon: float, rounds: int, total: float) -> float:
    """Hockey-stick divergence of m-fold randomised response by binomials in logarithms."""
    terms, signs = [], []
    for kept in range(rounds + 1):
        if (2 * kept - rounds) * epsilon <= total:
            continue
        choose = gammaln(rounds + 1) - gammaln(kept + 1) - gammaln(rounds - kept + 1)
        norm = choose - rounds * math.log1p(math.exp(-epsilon))
        terms += [norm - (rounds - kept) * epsilon, norm - kept * epsilon + total]
        signs += [1.0, -1.0]
    if not terms:
        return 0.0
    return math.exp(logsumexp(terms, b=signs))


@pytest.mark.parametrize(
    ("epsilon", "rounds", "delta", "paper", "optimal"),
    [
        (1.0, 300, 1e-3, 128.76, 183.744),
        (2.0, 100, 1e-3, 148.68, 187.199),
        (0.5, 1000, 1e-6, 166.23, 193.504),
    ],
)
def test_where_the_papers_form_falls_below_the_optimal_one(
    epsilon: float, rounds: int, delta: float, paper: float, optimal: float
) -> None:
    basic_row, paper_row, general_row, optimal_row = composition_table(epsilon, rounds, delta)
    assert round(paper_row.epsilon, 2) == paper
    assert round(optimal_row.epsilon, 3) == optimal
    assert not paper_row.valid
    assert not paper_row.proved
    assert all(row.valid and row.proved for row in (basic_row, general_row, optimal_row))


@settings(deadline=None, max_examples=settings().max_examples * 3 // 5)
@given(
    numerator=st.integers(11, 80),
    rounds=st.integers(1, 60),
    data=st.data(),
)
def test_delta_equals_the_exact_formula(numerator: int, rounds: int, data: st.DataObject) -> None:
    ratio = Fraction(numerator, 10)
    i = data.draw(st.integers(0, rounds // 2))
    epsilon = math.log(numerator / 10)
    exact = kov_delta(ratio, rounds, i)
    computed = optimal_delta(epsilon, rounds, (rounds - 2 * i) * epsilon)
    assert computed == pytest.approx(float(exact), rel=1e-10, abs=1e-300)


@settings(deadline=None, max_examples=settings().max_examples * 3 // 5)
@given(
    numerator=st.integers(11, 80),
    rounds=st.integers(2, 60),
    data=st.data(),
)
def test_epsilon_equals_the_exact_formula(numerator: int, rounds: int, data: st.DataObject) -> None:
    i = data.draw(st.integers(1, rounds // 2))
    epsilon = math.log(numerator / 10)
    delta = float(kov_delta(Fraction(numerator, 10), rounds, i))
    expected = (rounds - 2 * i) * epsilon
    total = optimal_composition(epsilon, rounds, delta)
    # With δ within rounding of 1, ε cannot be read off it: there only δ is comparable.
    if delta < 0.99:
        assert total == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert optimal_delta(epsilon, rounds, total) == pytest.approx(delta, rel=1e-9)


@settings(deadline=None, max_examples=settings().max_examples * 3 // 5)
@given(
    epsilon=st.floats(1e-3, 5),
    rounds=st.integers(1, 150),
    share=st.floats(0, 0.999),
)
def test_delta_between_the_grid_values_equals_logarithmic_binomials(
    epsilon: float, rounds: int, share: float
) -> None:
    total = share * rounds * epsilon
    expected = log_space_delta(epsilon, rounds, total)
    assert optimal_delta(epsilon, rounds, total) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@given(
    epsilon=st.floats(1e-4, 5),
    rounds=st.integers(1, 200),
    log_delta=st.floats(-300, -0.01),
)
def test_the_optimal_budget_is_below_every_proved_one(
    epsilon: float, rounds: int, log_delta: float
) -> None:
    rows = composition_table(epsilon, rounds, math.exp(log_delta))
    optimal = rows[-1].epsilon
    for row in rows:
        assert row.valid == (row.epsilon >= optimal * (1 - 1e-9))
        if row.proved:
            assert row.valid


@pytest.mark.parametrize("target", [0.2, 0.99])
@pytest.mark.parametrize("rounds", [1, 3, 30, 300, 3000])
@pytest.mark.parametrize("log_delta", [-0.5, -1.0, -7.0, -50.0])
def test_the_papers_form_holds_under_its_condition(
    target: float, rounds: int, log_delta: float
) -> None:
    delta = math.exp(log_delta)
    epsilon = target / math.sqrt(8 * rounds * -log_delta)
    assert paper_composition_proved(epsilon, rounds, delta)
    assert paper_composition(epsilon, rounds, delta) == pytest.approx(target)
    assert optimal_composition(epsilon, rounds, delta) <= target


def test_the_papers_form_can_fail_with_a_small_result_when_delta_is_near_one() -> None:
    row = composition_table(0.1, 12_400, 0.999)[1]
    assert row.epsilon < 1
    assert not row.proved
    assert not row.valid


def test_no_rounds_and_no_loss_cost_nothing() -> None:
    for epsilon, rounds in [(0.0, 5), (1.0, 0), (0.0, 0)]:
        assert [row.epsilon for row in composition_table(epsilon, rounds, 0.1)] == [0.0] * 4


def test_one_round_is_randomised_response() -> None:
    # δ(t) = (e^ε - e^t)/(1 + e^ε), inverted.
    epsilon, delta = 1.5, 0.1
    expected = math.log(math.exp(epsilon) - delta * (1 + math.exp(epsilon)))
    assert optimal_composition(epsilon, 1, delta) == pytest.approx(expected, rel=1e-12)
    assert optimal_composition(epsilon, 1, 0.99) == 0.0


def test_pure_budget_of_the_optimal_form_is_the_basic_one() -> None:
    assert optimal_composition(0.7, 11, 0.0) == basic_composition(0.7, 11)


def test_extreme_losses_neither_overflow_nor_warn() -> None:
    assert general_composition(800.0, 3, 0.5) == math.inf
    # One lost coin in 3: the budget lacks only the δ in front of e^2400.
    assert optimal_composition(800.0, 3, 1e-6) == pytest.approx(2400.0 + math.log1p(-1e-6))
    assert 1705 < optimal_composition(2.0, 1000, 1e-6) < 1706
    assert optimal_composition(1.0, 3, 1e-300) == pytest.approx(3.0, rel=1e-12)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_bad_epsilon_is_refused(bad: float) -> None:
    for call in (
        lambda: basic_composition(bad, 1),
        lambda: paper_composition(bad, 1, 0.1),
        lambda: general_composition(bad, 1, 0.1),
        lambda: optimal_composition(bad, 1, 0.1),
        lambda: composition_table(bad, 1, 0.1),
    ):
        with pytest.raises(InputError, match="epsilon"):
            call()


@pytest.mark.parametrize("bad", [-1, 1.5, math.nan, math.inf])
def test_bad_rounds_are_refused(bad: float) -> None:
    with pytest.raises(InputError, match="rounds"):
        basic_composition(1.0, bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [-0.1, 1.0, 2.0, math.nan])
def test_bad_delta_is_refused(bad: float) -> None:
    for call in (
        lambda: paper_composition(1.0, 1, bad),
        lambda: general_composition(1.0, 1, bad),
        lambda: optimal_composition(1.0, 1, bad),
        lambda: composition_table(1.0, 1, bad),
    ):
        with pytest.raises(InputError, match="delta"):
            call()


def test_zero_delta_is_refused_where_its_logarithm_is_taken() -> None:
    with pytest.raises(InputError, match="delta"):
        paper_composition(1.0, 1, 0.0)


def test_import_stays_light() -> None:
    code = (
        "import sys, pdpaudit.core.privacy_loss;"
        "print([m for m in ('dp_accounting', 'scipy.stats', 'scipy.optimize') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
