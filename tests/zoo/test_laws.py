"""Exact laws and densities against independent computation."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from pdpaudit.algorithms.zoo import (
    SVT1,
    SVT2,
    SVT3,
    SVT4,
    SVT5,
    SVT6,
    NumericalSVT,
    OneTimeRappor,
    Rappor,
    ReportNoisyMax1,
    ReportNoisyMax2,
    ReportNoisyMax3,
    ReportNoisyMax4,
    SVT34Parallel,
    TruncatedGeometric,
)
from pdpaudit.algorithms.zoo.sparse_vector import Design, Flags, flag_law
from pdpaudit.core.protocols import Law

from .truth import log_density, true_loss

mpmath.mp.dps = 40


Terms = list[tuple[mpmath.mpf, mpmath.mpf]]
Factor = Callable[[mpmath.mpf], Terms]


def laplace_pdf(centre: float, scale: float) -> Factor:
    """Density around a centre, near a point: coefficients and slopes of exponentials."""
    c, b = mpmath.mpf(centre), mpmath.mpf(scale)

    def terms(near: mpmath.mpf) -> Terms:
        side = 1 if near < c else -1
        return [(mpmath.exp(-side * c / b) / (2 * b), side / b)]

    return terms


def laplace_cdf(centre: float, scale: float, sign: int = 1) -> Factor:
    """Probability of noise up to ``sign * (x - centre)``, near a point."""
    c, b = mpmath.mpf(centre), mpmath.mpf(scale)

    def terms(near: mpmath.mpf) -> Terms:
        if sign * (near - c) < 0:
            return [(mpmath.exp(-sign * c / b) / 2, sign / b)]
        return [(mpmath.mpf(1), mpmath.mpf(0)), (-mpmath.exp(sign * c / b) / 2, -sign / b)]

    return terms


def exact_integral(
    factors: list[Factor], kinks: Iterable[float], upper: float = math.inf
) -> mpmath.mpf:
    """Integral of a product of factors up to ``upper``, term by term between kinks."""
    inner = sorted({mpmath.mpf(kink) for kink in kinks if kink < upper})
    ends = [-mpmath.inf, *inner, mpmath.mpf(upper)]
    total = mpmath.mpf(0)
    for low, high in itertools.pairwise(ends):
        if mpmath.isinf(low):
            near = high - 1
        else:
            near = low + 1 if mpmath.isinf(high) else (low + high) / 2
        for combination in itertools.product(*(factor(near) for factor in factors)):
            coefficient = mpmath.fprod(c for c, _ in combination)
            slope = mpmath.fsum(s for _, s in combination)
            # Slopes that cancel do so to rounding only.
            if abs(slope) < mpmath.mpf(10) ** -30:
                total += coefficient * (high - low)
            else:
                total += coefficient * (mpmath.exp(slope * high) - mpmath.exp(slope * low)) / slope
    return total


def integral_over_rho(
    queries: tuple[float, ...], flags: tuple[bool, ...], design: Design
) -> mpmath.mpf:
    """Probability of flags with one rho for all."""
    offsets = [x - design.threshold for x in queries]
    factors = [laplace_pdf(0.0, design.threshold_scale)]
    factors += [
        laplace_cdf(offset, design.query_scale, -1 if above else 1)
        for offset, above in zip(offsets, flags, strict=True)
    ]
    return exact_integral(factors, [0.0, *offsets])


@pytest.mark.parametrize(
    ("mechanism", "flags"),
    [
        (SVT1(0.1), (False, False, True)),
        (SVT1(1.0), (False, False, False)),
        (SVT4(1.0), (False, True)),
        (SVT4(1.0, limit=2), (False, True, False, True)),
        (SVT6(1.0), (False, False, True, True)),
        (SVT6(0.1), (True, True, False, False)),
    ],
)
def test_flags_equal_exact_integration(
    mechanism: SVT1 | SVT4 | SVT6, flags: tuple[bool, ...]
) -> None:
    queries = (2.0, 0.0, 1.0, 0.25)
    expected = integral_over_rho(queries[: len(flags)], flags, mechanism.design)
    output = (*flags, *(None,) * (4 - len(flags)))
    if True not in flags:
        flags = (*flags, False)
        output = flags
        expected = integral_over_rho(queries, flags, mechanism.design)
    assert mechanism.law(queries).probabilities[output] == pytest.approx(float(expected), rel=1e-12)


@settings(deadline=None, max_examples=settings().max_examples * 3 // 5)
@given(
    threshold_scale=st.floats(0.2, 40),
    query_scale=st.floats(0.2, 40),
    queries=st.lists(st.floats(-30, 30), min_size=3, max_size=3).map(tuple),
)
def test_every_flag_probability_keeps_its_relative_accuracy(
    threshold_scale: float, query_scale: float, queries: tuple[float, ...]
) -> None:
    design = Design(1.0, threshold_scale, query_scale, None)
    for output, probability in flag_law(design, queries).probabilities.items():
        assert isinstance(output, tuple)
        expected = integral_over_rho(queries, output, design)
        assert probability == pytest.approx(float(expected), rel=1e-12, abs=1e-290)


def test_redrawn_thresholds_multiply() -> None:
    mechanism, queries = SVT2(1.0, limit=2), (2.0, 0.0, 1.0)
    law = mechanism.law(queries).probabilities
    first = integral_over_rho(queries[:1], (True,), mechanism.design)
    rest = integral_over_rho(queries[1:], (False, True), mechanism.design)
    assert law[True, False, True] == pytest.approx(float(first * rest), rel=1e-12)
    second = integral_over_rho(queries[1:2], (True,), mechanism.design)
    assert law[True, True, None] == pytest.approx(float(first * second), rel=1e-12)


def test_noiseless_answers_are_intervals_of_the_threshold_noise() -> None:
    law = SVT5(1.0).law((2.0, 0.0, 1.0)).probabilities
    # rho = Lap(2): above iff rho ≤ x - 1, so the cuts are at -1, 0 and 1.
    tail = 0.5 * math.exp(-0.5)
    assert law == pytest.approx(
        {
            (True, True, True): tail,
            (True, False, True): 0.5 - tail,
            (True, False, False): 0.5 - tail,
            (False, False, False): tail,
        }
    )


@pytest.mark.parametrize("mechanism", [ReportNoisyMax1(0.1), ReportNoisyMax1(1.0)])
def test_noisy_max_equals_exact_integration(mechanism: ReportNoisyMax1) -> None:
    answers = (2.0, 0.0, 1.0, 1.0)
    law = mechanism.law(answers).probabilities
    for index in range(4):
        factors = [
            (laplace_pdf if other == index else laplace_cdf)(answer, mechanism.scale)
            for other, answer in enumerate(answers)
        ]
        assert law[index] == pytest.approx(float(exact_integral(factors, answers)), rel=1e-12)


def test_exponential_noisy_max_is_permute_and_flip() -> None:
    # McKenna and Sheldon 2020: go through a random order, accept each with e^((x - max)/b).
    answers = (2.0, 0.0, 1.0, 1.5)
    mechanism = ReportNoisyMax2(0.7)
    accept = [math.exp((x - max(answers)) / mechanism.scale) for x in answers]
    expected = dict.fromkeys(range(4), 0.0)
    for order in itertools.permutations(range(4)):
        reach = 1.0
        for index in order:
            expected[index] += reach * accept[index] / math.factorial(4)
            reach *= 1 - accept[index]
    assert mechanism.law(answers).probabilities == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.5])
@pytest.mark.parametrize("count", range(6))
def test_truncated_geometric_equals_all_its_draws(epsilon: float, count: int) -> None:
    k, n = math.ceil(math.log(2 / epsilon)), 5
    draws = (2 ** (k + 1) + 1) * (2**k + 1) ** (n - 1)

    def least(draw: int) -> int:
        for z in range(n):
            if z < count:
                f = 2 ** (k * (count - z)) * (2**k + 1) ** (n - count + z)
            else:
                f = draws - 2 ** (k * (z - count + 1)) * (2**k + 1) ** (n - 1 - z + count)
            if f >= draw:
                return z
        return n

    tally = Counter(least(draw) for draw in range(1, draws + 1))
    law = TruncatedGeometric(epsilon).law((float(count),)).probabilities
    assert law == {z: tally[z] / draws for z in range(6)}


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0])
def test_truncated_geometric_loses_what_its_authors_say(epsilon: float) -> None:
    k = math.ceil(math.log(2 / epsilon))
    expected = math.log1p(2.0**-k)
    assert true_loss(TruncatedGeometric(epsilon)).epsilon == pytest.approx(expected, rel=1e-12)


@settings(deadline=None, max_examples=40)
@given(
    epsilon=st.floats(0.02, 20),
    queries=st.lists(st.floats(-20, 20), min_size=1, max_size=5).map(tuple),
    limit=st.integers(1, 3),
)
def test_laws_sum_to_one(epsilon: float, queries: tuple[float, ...], limit: int) -> None:
    laws: list[Law] = [
        mechanism.law(queries)
        for mechanism in (
            SVT1(epsilon, limit),
            SVT2(epsilon, limit),
            SVT4(epsilon, limit),
            SVT5(epsilon),
            SVT6(epsilon),
            ReportNoisyMax1(epsilon),
            ReportNoisyMax2(epsilon),
        )
    ]
    for law in laws:
        assert math.fsum(law.probabilities.values()) == pytest.approx(1, abs=1e-12)
        assert min(law.probabilities.values()) >= 0


@pytest.mark.parametrize("mechanism", [Rappor(), OneTimeRappor()])
@pytest.mark.parametrize("value", [0.0, 1.0, 2.0])
def test_rappor_bits(mechanism: Rappor | OneTimeRappor, value: float) -> None:
    chosen = {0.0: (0, 11, 18), 1.0: (3, 10, 13), 2.0: (7, 10, 11, 19)}[value]
    f = mechanism.f
    kept = {True: 1 - f + f / 2, False: f / 2}
    q, p = (0.55, 0.45) if isinstance(mechanism, Rappor) else (1.0, 0.0)
    ones = [q * kept[bit in chosen] + p * (1 - kept[bit in chosen]) for bit in range(20)]
    rng = np.random.default_rng(5)
    outputs = rng.random((50, 20)) < 0.5
    law = mechanism.law((value,)).probabilities
    logs = log_density(mechanism, (value,), outputs)
    for row, log_probability in zip(outputs.tolist(), logs, strict=True):
        expected = math.prod(o if bit else 1 - o for o, bit in zip(ones, row, strict=True))
        assert law[tuple(row)] == pytest.approx(expected, rel=1e-12)
        assert math.exp(log_probability) == pytest.approx(expected, rel=1e-12)
    assert len(law) == 2**20
    assert next(iter(law)) == (False,) * 20
    with pytest.raises(KeyError):
        law[True, False]


@pytest.mark.parametrize("mechanism", [ReportNoisyMax3(1.0), ReportNoisyMax4(1.0)])
def test_density_of_the_maximum_is_the_slope_of_its_distribution(
    mechanism: ReportNoisyMax3 | ReportNoisyMax4,
) -> None:
    answers = (2.0, 0.0, 1.0)

    def cdf(x: float) -> mpmath.mpf:
        return mpmath.fprod(
            mpmath.exp(mpmath.mpf(float(mechanism.noise(mechanism.scale).logcdf(x - a))))
            for a in answers
        )

    for x in (2.5, 4.0, 9.0):
        slope = (cdf(x + 1e-4) - cdf(x - 1e-4)) / 2e-4
        density = math.exp(log_density(mechanism, answers, np.array([[x]]))[0])
        assert density == pytest.approx(float(slope), rel=1e-7)
    below = log_density(mechanism, answers, np.array([[1.9]]))[0]
    assert np.isneginf(below) == isinstance(mechanism, ReportNoisyMax4)


def density_at(
    mechanism: SVT3 | NumericalSVT, queries: tuple[float, ...], row: list[float]
) -> float:
    return math.exp(log_density(mechanism, queries, np.array([row]))[0])


@pytest.mark.parametrize("mechanism", [SVT3(1.0), SVT3(0.3, limit=2), NumericalSVT(1.0)])
def test_values_integrate_to_the_probability_of_the_flags(mechanism: SVT3 | NumericalSVT) -> None:
    queries = (1.0, 2.0, 0.5)
    design = mechanism.design
    law = flag_law(design, queries).probabilities
    for index in range(3):
        # One value at ``index``, below elsewhere, or nothing after a stop.
        row = [0.0] * 3
        flags: list[bool | None] = [False] * 3
        flags[index] = True
        if design.limit == 1:
            row[index + 1 :] = [math.nan] * (2 - index)
            flags[index + 1 :] = [None] * (2 - index)

        def density(value: float, row: list[float] = row, index: int = index) -> float:
            return density_at(mechanism, queries, [*row[:index], value, *row[index + 1 :]])

        pieces = [-500.0, -50.0, 0.0, 0.5, 1.0, 2.0, 50.0, 500.0]
        # Away from 0.0 itself, which marks below.
        total = sum(
            quad(density, low + 1e-12, high, epsabs=1e-13, epsrel=1e-10)[0]
            for low, high in itertools.pairwise(pieces)
        )
        assert total == pytest.approx(law[tuple(flags)], rel=1e-7)


def test_density_without_values_is_the_probability_of_none_above() -> None:
    queries = (1.0, 2.0, 0.5)
    for mechanism in (SVT3(1.0), NumericalSVT(1.0)):
        expected = flag_law(mechanism.design, queries).probabilities[False, False, False]
        assert density_at(mechanism, queries, [0.0] * 3) == pytest.approx(expected, rel=1e-12)


@settings(deadline=None, max_examples=settings().max_examples * 3 // 5)
@given(
    epsilon=st.floats(0.05, 5),
    queries=st.lists(st.floats(-3, 3), min_size=3, max_size=3).map(tuple),
    value=st.floats(-60, 60).filter(lambda v: abs(v) > 1e-6),
    place=st.integers(0, 2),
)
def test_svt3_density_equals_exact_integration(
    epsilon: float, queries: tuple[float, ...], value: float, place: int
) -> None:
    mechanism = SVT3(epsilon)
    design = mechanism.design
    row = [0.0] * place + [value] + [math.nan] * (2 - place)
    offsets = [x - design.threshold for x in queries[:place]]
    factors = [laplace_pdf(0.0, design.threshold_scale)]
    factors += [laplace_cdf(offset, design.query_scale) for offset in offsets]
    total = exact_integral(factors, [0.0, *offsets], value - design.threshold)
    ((coefficient, slope),) = laplace_pdf(queries[place], design.query_scale)(mpmath.mpf(value))
    expected = float(mpmath.log(total * coefficient) + slope * mpmath.mpf(value))
    found = log_density(mechanism, queries, np.array([row]))[0]
    assert found == pytest.approx(expected, abs=1e-9)


def test_parallel_density_is_the_product() -> None:
    mechanism, queries = SVT34Parallel(1.0), (1.0, 2.0)
    values, flags = mechanism.parts
    row = [0.0, 1.5, 1.0, 0.0]
    output: Flags = (True, False)
    expected = log_density(values, queries, np.array([row[:2]]))[0] + math.log(
        flags.law(queries).probabilities[output]
    )
    assert log_density(mechanism, queries, np.array([row]))[0] == pytest.approx(expected)
