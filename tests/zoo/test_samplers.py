"""Samplers against laws and distributions, and single runs against the same.

Two families of tests, each with a false-alarm rate of 1e-3 for the whole family: every p-value is
compared with 1e-3 divided by the number of tests of its family (Bonferroni), with pinned seeds.
"""

from __future__ import annotations

import itertools
import math
import pickle
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from pdpaudit.algorithms.zoo import (
    SVT1,
    SVT2,
    SVT3,
    SVT4,
    SVT5,
    SVT6,
    Laplace,
    LaplaceParallel,
    NoisyHist1,
    NoisyHist2,
    NumericalSVT,
    OneTimeRappor,
    PrefixSum,
    Rappor,
    ReportNoisyMax1,
    ReportNoisyMax2,
    ReportNoisyMax3,
    ReportNoisyMax4,
    SVT34Parallel,
    TruncatedGeometric,
)
from pdpaudit.algorithms.zoo.sparse_vector import flag_law
from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Mechanism, Outputs

from .truth import ZOO, has_density, log_density

FAMILY_ALPHA = 1e-3
SAMPLES = 40_000
RUNS = 1_500

Floats = npt.NDArray[np.float64]


def chi_square(counts: Mapping[Hashable, int], law: Mapping[Hashable, float]) -> float:
    """P-value of counts under a law; outcomes with fewer than 10 expected are pooled."""
    assert set(counts) <= set(law)
    total = sum(counts.values())
    cells = [(counts.get(output, 0), total * p) for output, p in law.items()]
    large = [cell for cell in cells if cell[1] >= 10]
    rest = (sum(c for c, e in cells if e < 10), sum(e for _, e in cells if e < 10))
    if rest[1] >= 10:
        large.append(rest)
    else:
        largest = max(range(len(large)), key=lambda i: large[i][1])
        large[largest] = (large[largest][0] + rest[0], large[largest][1] + rest[1])
    observed, expected = np.array(large).T
    return float(stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue)


def draw(mechanism: Any, instance: tuple[float, ...], how: str) -> Any:
    """Draw outputs in one batch, or one by one; values as an array with nan for None."""
    rng = np.random.default_rng(3)
    if how == "sample":
        outputs = mechanism.sample(instance, SAMPLES, rng)
        return outputs.counts() if isinstance(outputs, Outputs) else outputs
    single = [mechanism.run(instance, rng) for _ in range(RUNS)]
    if isinstance(mechanism, SVT34Parallel):
        single = [(*values, *flags) for values, flags in single]
    if has_density(mechanism):
        return np.array([[math.nan if v is None else v for v in row] for row in single])
    return Counter(single)


FINITE: list[Any] = [
    TruncatedGeometric(0.1),
    TruncatedGeometric(1.0),
    ReportNoisyMax1(1.0),
    ReportNoisyMax2(1.0),
    SVT1(1.0),
    SVT1(2.0, limit=2),
    SVT2(1.0),
    SVT2(2.0, limit=3),
    SVT4(1.0),
    SVT4(0.1, limit=2),
    SVT5(1.0),
    SVT6(1.0),
]
FINITE_CASES = [
    (mechanism, pair, how) for mechanism in FINITE for pair in (0, -1) for how in ("sample", "run")
]


@pytest.mark.parametrize(("mechanism", "pair", "how"), FINITE_CASES)
def test_outputs_follow_the_law(mechanism: Any, pair: int, how: str) -> None:
    instance = mechanism.pairs()[pair].right
    if isinstance(mechanism, SVT5 | SVT6):
        instance = instance[3:7]
    counts = draw(mechanism, instance, how)
    law = mechanism.law(instance).probabilities
    assert chi_square(counts, law) > FAMILY_ALPHA / len(FINITE_CASES)


def laplace_columns(outputs: Floats, centres: tuple[float, ...], scale: float) -> list[float]:
    """P-values of columns of Laplace noise around centres."""
    return [
        float(stats.kstest(outputs[:, i], stats.laplace(centre, scale).cdf).pvalue)
        for i, centre in enumerate(centres)
    ]


def kolmogorov(values: Floats, cdf: Any) -> float:
    """P-value of values under a distribution function that takes arrays."""
    return float(stats.kstest(values, cdf).pvalue)


def maximum_p(mechanism: Any, outputs: Floats, answers: tuple[float, ...]) -> list[float]:
    law = stats.laplace if isinstance(mechanism, ReportNoisyMax3) else stats.expon

    def cdf(x: Floats) -> Floats:
        product: Floats = np.prod([law.cdf(x, a, 2 / mechanism.epsilon) for a in answers], axis=0)
        return product

    return [kolmogorov(outputs[:, 0], cdf)]


def flags_of(outputs: Floats) -> Counter[Hashable]:
    return Counter(
        tuple(None if math.isnan(v) else v != 0.0 for v in row) for row in outputs.tolist()
    )


def tuple_of(output: Hashable) -> tuple[Hashable, ...]:
    assert isinstance(output, tuple)
    return output


def bits_p(mechanism: Any, outputs: Floats, value: float) -> list[float]:
    """P-values of each bit, and of the number of ones, which sees dependence."""
    chosen = {0.0: (0, 11, 18), 1.0: (3, 10, 13), 2.0: (7, 10, 11, 19)}[value]
    keep = 0.5125 if isinstance(mechanism, Rappor) else 0.525
    ones = [keep if bit in chosen else 1 - keep for bit in range(20)]
    found = [
        float(stats.binomtest(int(outputs[:, bit].sum()), len(outputs), ones[bit]).pvalue)
        for bit in range(20)
    ]
    law = np.ones(1)
    for one in ones:
        law = np.convolve(law, [1 - one, one])
    tally = Counter(outputs.sum(axis=1).astype(int).tolist())
    return [*found, chi_square(tally, dict(enumerate(law.tolist())))]


def first_value_p(mechanism: SVT3, outputs: Floats, queries: tuple[float, ...]) -> list[float]:
    """P-value of the value released for the first query, its distribution by summed density."""
    values = outputs[outputs[:, 0] != 0.0, 0]
    if mechanism.limit > 1:
        return []
    grid = np.linspace(-40, 60, 20_001) / mechanism.epsilon
    rows = np.full((len(grid), len(queries)), math.nan)
    rows[:, 0] = grid
    rows[:, 0][rows[:, 0] == 0.0] = 1e-12
    density = np.exp(log_density(mechanism, queries, rows))
    cumulative = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])

    def cdf(x: Floats) -> Floats:
        return np.asarray(np.interp(x, grid, cumulative / cumulative[-1]))

    return [kolmogorov(values, cdf)]


def p_values(mechanism: Any, instance: tuple[float, ...], outputs: Floats) -> list[float]:
    """All p-values of a sample of values."""
    match mechanism:
        case Laplace() | NoisyHist1():
            return laplace_columns(outputs, instance, 1 / mechanism.epsilon)
        case NoisyHist2():
            return laplace_columns(outputs, instance, mechanism.epsilon)
        case LaplaceParallel():
            return laplace_columns(outputs, instance * 20, 20 / mechanism.epsilon)
        case PrefixSum():
            increments = np.diff(outputs, axis=1, prepend=0.0)
            return laplace_columns(increments, instance, 1 / mechanism.epsilon)
        case ReportNoisyMax3() | ReportNoisyMax4():
            return maximum_p(mechanism, outputs, instance)
        case Rappor() | OneTimeRappor():
            return bits_p(mechanism, outputs, instance[0])
        case NumericalSVT():
            above = (outputs != 0.0) & ~np.isnan(outputs)
            noise = (outputs - np.array(instance))[above]
            law = flag_law(mechanism.design, instance).probabilities
            return [
                chi_square(flags_of(outputs), law),
                float(stats.kstest(noise, stats.laplace(0, 6 / mechanism.epsilon).cdf).pvalue),
            ]
        case SVT3():
            law = flag_law(mechanism.design, instance).probabilities
            values = first_value_p(mechanism, outputs, instance)
            return [chi_square(flags_of(outputs), law), *values]
        case SVT34Parallel():
            values, flags = mechanism.parts
            d = len(instance)
            first = flag_law(values.design, instance).probabilities
            second = flags.law(instance).probabilities
            joint: dict[Hashable, float] = {
                (*tuple_of(one), *tuple_of(other)): p * q
                for (one, p), (other, q) in itertools.product(first.items(), second.items())
            }
            return [
                chi_square(flags_of(outputs), joint),
                *p_values(values, instance, outputs[:, :d]),
            ]
    raise AssertionError(mechanism)


VALUED: list[Any] = [
    Laplace(0.1),
    NoisyHist1(1.0),
    NoisyHist2(0.1),
    LaplaceParallel(1.0),
    PrefixSum(0.1),
    ReportNoisyMax3(1.0),
    ReportNoisyMax4(1.0),
    Rappor(),
    OneTimeRappor(),
    SVT3(1.0),
    SVT3(1.0, limit=2),
    SVT34Parallel(1.0),
    NumericalSVT(1.0),
]
# At most 21 p-values each (the bits); counting them all as 21 errs to the safe side.
VALUED_CASES = [(mechanism, how) for mechanism in VALUED for how in ("sample", "run")]


@pytest.mark.parametrize(("mechanism", "how"), VALUED_CASES)
def test_values_follow_their_distribution(mechanism: Any, how: str) -> None:
    instance = mechanism.pairs()[-1].right
    if isinstance(mechanism, SVT3 | SVT34Parallel | NumericalSVT):
        instance = instance[3:8]
    found = p_values(mechanism, instance, draw(mechanism, instance, how))
    assert 1 <= len(found) <= 21
    assert min(found) > FAMILY_ALPHA / (21 * len(VALUED_CASES))


def make(name: str) -> Any:
    return ZOO[name]() if name.endswith("Rappor") else ZOO[name](epsilon=1.0)


@pytest.mark.parametrize("name", sorted(ZOO))
def test_contract(name: str) -> None:
    mechanism: Mechanism = make(name)
    zoo: Any = mechanism
    assert callable(zoo.sample)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert mechanism.claim.epsilon > 0
    assert mechanism.claim.delta == 0
    assert mechanism.claim.source
    for pair in zoo.pairs():
        assert len(pair.left) == len(pair.right)
        assert pair.left != pair.right
        assert max(abs(a - b) for a, b in zip(pair.left, pair.right, strict=True)) == 1
        for side in (pair.left, pair.right):
            outputs = [mechanism.run(side, np.random.default_rng(seed)) for seed in (1, 1)]
            assert outputs[0] == outputs[1]
            hash(outputs[0])
            many = [zoo.sample(side, 5, np.random.default_rng(seed)) for seed in (1, 1)]
            assert len(many[0]) == 5
            if isinstance(many[0], Outputs):
                assert list(many[0]) == list(many[1])
                assert set(many[0]) <= set(zoo.law(side).probabilities)
            else:
                assert many[0].ndim == 2
                np.testing.assert_array_equal(many[0], many[1])


@pytest.mark.parametrize("name", sorted(ZOO))
def test_global_random_state_is_left_alone(name: str) -> None:
    mechanism, instance = make(name), make(name).pairs()[0].left
    before = repr(np.random.get_state())  # noqa: NPY002
    mechanism.run(instance, np.random.default_rng(1))
    mechanism.sample(instance, 3, np.random.default_rng(1))
    assert repr(np.random.get_state()) == before  # noqa: NPY002


@pytest.mark.parametrize("name", sorted(set(ZOO) - {"Rappor", "OneTimeRappor"}))
@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_epsilon_is_refused(name: str, bad: float) -> None:
    with pytest.raises(InputError, match="epsilon"):
        ZOO[name](epsilon=bad)


@pytest.mark.parametrize("name", sorted(ZOO))
@pytest.mark.parametrize("bad", [(), (math.nan,) * 10, (math.inf,), (0.5,) * 9 + (math.inf,)])
def test_bad_instance_is_refused(name: str, bad: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="instance"):
        make(name).run(bad, np.random.default_rng(1))
    with pytest.raises(InputError, match="instance"):
        make(name).sample(bad, 2, np.random.default_rng(1))


@pytest.mark.parametrize("bad", [(0.5,), (6.0,), (-1.0,)])
def test_bad_counts_and_values_are_refused(bad: tuple[float, ...]) -> None:
    for mechanism in (TruncatedGeometric(1.0), Rappor(), OneTimeRappor()):
        with pytest.raises(InputError, match="instance"):
            mechanism.run(bad, np.random.default_rng(1))


@pytest.mark.parametrize("kind", [SVT1, SVT2, SVT3, SVT4])
def test_bad_limit_is_refused(kind: Any) -> None:
    with pytest.raises(InputError, match="limit"):
        kind(1.0, limit=0)


def test_sizes_beyond_the_representation_are_refused() -> None:
    with pytest.raises(InputError, match=r"1\.3e-5"):
        TruncatedGeometric(1e-6)
    TruncatedGeometric(1.3e-5).sample((1.0,), 3, np.random.default_rng(1))
    with pytest.raises(InputError, match="62"):
        SVT6(1.0).sample((0.0,) * 63, 2, np.random.default_rng(1))
    assert len(SVT6(1.0).sample((0.0,) * 62, 2, np.random.default_rng(1))) == 2
    with pytest.raises(InputError, match="65536 outputs"):
        SVT6(1.0).law((0.0,) * 17)
