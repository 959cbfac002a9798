"""Mechanisms that add noise to every answer: Laplace, geometric, histograms, prefix sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Law, Outputs, PrivacyClaim

from ..laws.noise import FloatArray as Floats
from ..laws.noise import Laplace as LaplaceNoise
from .pairs import (
    Queries,
    TrueLoss,
    VectorPair,
    any_query_pairs,
    check_epsilon,
    check_queries,
    loss_of_laws,
    one_query_pairs,
)

__all__ = [
    "Laplace",
    "LaplaceParallel",
    "NoisyHist1",
    "NoisyHist2",
    "PrefixSum",
    "TruncatedGeometric",
]


@dataclass(frozen=True)
class Laplace:
    """One answer with Laplace noise of scale 1/ε: the correct mechanism.

    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity", 2006.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> mechanism = Laplace(1.0)
    >>> mechanism.sample((1.0,), 3, np.random.default_rng(1)).shape
    (3, 1)
    >>> mechanism.true_loss().epsilon
    1.0
    """

    epsilon: float

    def __post_init__(self) -> None:
        """Refuse what scales no noise."""
        check_epsilon(self.epsilon)

    @property
    def claim(self) -> PrivacyClaim:
        """ε for an answer that moves by 1."""
        return PrivacyClaim(self.epsilon, source="Dwork, McSherry, Nissim, Smith 2006")

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on."""
        return one_query_pairs(1)

    def run(self, instance: Queries, rng: np.random.Generator) -> tuple[float]:
        """Return the noisy answer."""
        (answer,) = check_queries(instance, 1)
        return (answer + rng.laplace(scale=1.0 / self.epsilon),)

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return noisy answers, shape ``(size, 1)``; O(size)."""
        (answer,) = check_queries(instance, 1)
        return answer + rng.laplace(scale=1.0 / self.epsilon, size=(size, 1))

    def log_density(self, instance: Queries, outputs: Floats) -> Floats:
        """Return the log density of each output, shape ``(size,)``."""
        (answer,) = check_queries(instance, 1)
        return LaplaceNoise(1.0 / self.epsilon).logpdf(outputs[:, 0] - answer)

    def true_loss(self) -> TrueLoss:
        """Return ε: the log density has slope ε, so below both answers the ratio is e^ε."""
        return TrueLoss(self.epsilon, "one_below", "output at most 0")


@dataclass(frozen=True)
class LaplaceParallel:
    """The same answer 20 times, each with Laplace noise of scale 20/ε.

    Correct by composition; hard to audit, since the loss is reached only where all the noise lies
    on one side, with a probability of 2^-20. Bichsel, Steffen, Bogunovic and Vechev, "DP-Sniper",
    2021.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed for all releases together, in nats, above 0.

    Examples
    --------
    >>> LaplaceParallel(1.0).sample((1.0,), 3, np.random.default_rng(1)).shape
    (3, 20)
    """

    epsilon: float
    releases = 20

    def __post_init__(self) -> None:
        """Refuse what scales no noise."""
        check_epsilon(self.epsilon)

    @property
    def claim(self) -> PrivacyClaim:
        """ε/20 for each release, composed."""
        return PrivacyClaim(
            self.epsilon, source="Dwork, McSherry, Nissim, Smith 2006; 20 releases composed"
        )

    @property
    def _scale(self) -> float:
        return self.releases / self.epsilon

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on."""
        return one_query_pairs(1)

    def run(self, instance: Queries, rng: np.random.Generator) -> tuple[float, ...]:
        """Return the noisy answers."""
        (answer,) = check_queries(instance, 1)
        return tuple(answer + rng.laplace(scale=self._scale) for _ in range(self.releases))

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return noisy answers, shape ``(size, 20)``; O(size)."""
        (answer,) = check_queries(instance, 1)
        return answer + rng.laplace(scale=self._scale, size=(size, self.releases))

    def log_density(self, instance: Queries, outputs: Floats) -> Floats:
        """Return the log density of each output, shape ``(size,)``."""
        (answer,) = check_queries(instance, 1)
        return np.asarray(LaplaceNoise(self._scale).logpdf(outputs - answer).sum(axis=1))

    def true_loss(self) -> TrueLoss:
        """Return ε: each of 20 factors has slope ε/20, all of one sign below both answers."""
        return TrueLoss(self.epsilon, "one_below", "every output at most 0")


_LARGEST = 5


@dataclass(frozen=True)
class TruncatedGeometric:
    """A count from 0 to 5 with two-sided geometric noise, clamped, drawn by one whole number.

    Balcer and Vadhan, "Differential privacy on finite computers", 2018, with the
    natural logarithm in ``k = ⌈ln(2/ε)⌉``, as it is often implemented. The true loss is then
    ``ln(1 + 2^-k)``, which may lie above the ε it claims (0.1178 at ε = 0.1) or below (0.4055 at
    ε = 1).

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats; at least 1.3e-5, so that one 64-bit number suffices.

    Examples
    --------
    >>> round(TruncatedGeometric(0.1).true_loss().epsilon, 4)
    0.1178
    >>> len(TruncatedGeometric(0.1).law((1.0,)).probabilities)
    6
    """

    epsilon: float

    def __post_init__(self) -> None:
        """Refuse what scales no noise, or does not fit one draw."""
        check_epsilon(self.epsilon)
        if self._range.bit_length() > 63:
            raise InputError(f"epsilon = {self.epsilon}: give at least 1.3e-5")

    @property
    def claim(self) -> PrivacyClaim:
        """ε for a count that moves by 1."""
        return PrivacyClaim(self.epsilon, source="Balcer and Vadhan 2018")

    @property
    def _k(self) -> int:
        return max(0, math.ceil(math.log(2.0 / self.epsilon)))

    @property
    def _range(self) -> int:
        """D, the number of equally likely draws."""
        step = 1 << self._k
        return (2 * step + 1) * int((step + 1) ** (_LARGEST - 1))

    def _cumulative(self, count: int) -> list[int]:
        """F(0), …, F(5): how many of the draws give at most z."""
        step, base = 2**self._k, 2**self._k + 1
        below = [step ** (count - z) * base ** (_LARGEST - count + z) for z in range(count)]
        above = [
            self._range - step ** (z - count + 1) * base ** (_LARGEST - 1 - z + count)
            for z in range(count, _LARGEST)
        ]
        return [*below, *above, self._range]

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on: counts 1 and 0, 1 and 2."""
        return one_query_pairs(1)

    def run(self, instance: Queries, rng: np.random.Generator) -> int:
        """Return the noisy count, the least z with F(z) at least the draw."""
        draw = int(rng.integers(1, self._range, endpoint=True))
        cumulative = self._cumulative(_count(instance))
        return next(z for z, share in enumerate(cumulative) if share >= draw)

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Outputs:
        """Return noisy counts; O(size)."""
        draws = rng.integers(1, self._range, size=size, endpoint=True)
        cumulative = np.array(self._cumulative(_count(instance)))
        return Outputs(range(_LARGEST + 1), np.searchsorted(cumulative, draws))

    def law(self, instance: Queries) -> Law:
        """Return the exact law, six probabilities correctly rounded; O(1)."""
        cumulative = [0, *self._cumulative(_count(instance))]
        parts = (
            Fraction(cumulative[z + 1] - cumulative[z], self._range) for z in range(_LARGEST + 1)
        )
        return Law({z: float(part) for z, part in enumerate(parts)})

    def true_loss(self) -> TrueLoss:
        """Return the exact loss, from the laws; O(1)."""
        return loss_of_laws(self)


def _count(instance: Queries) -> int:
    """Return the count that the instance holds."""
    (answer,) = check_queries(instance, 1)
    if answer != int(answer) or not 0 <= answer <= _LARGEST:
        raise InputError(f"instance {instance}: give one whole number from 0 to {_LARGEST}")
    return int(answer)


_BINS = 5


@dataclass(frozen=True)
class _NoisyHistogram:
    """Each bin with its own Laplace noise; one person changes one bin by 1."""

    epsilon: float

    def __post_init__(self) -> None:
        """Refuse what scales no noise."""
        check_epsilon(self.epsilon)

    @property
    def _scale(self) -> float:
        raise NotImplementedError

    @property
    def claim(self) -> PrivacyClaim:
        """ε: the bins are disjoint."""
        return PrivacyClaim(
            self.epsilon, source="Dwork, McSherry, Nissim, Smith 2006; disjoint bins"
        )

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on: five bins, one of which moves."""
        return one_query_pairs(_BINS)

    def run(self, instance: Queries, rng: np.random.Generator) -> tuple[float, ...]:
        """Return the noisy bins."""
        return tuple(count + rng.laplace(scale=self._scale) for count in check_queries(instance))

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return noisy bins, shape ``(size, bins)``; O(size · bins)."""
        counts = np.array(check_queries(instance))
        return counts + rng.laplace(scale=self._scale, size=(size, len(counts)))

    def log_density(self, instance: Queries, outputs: Floats) -> Floats:
        """Return the log density of each output, shape ``(size,)``."""
        counts = np.array(check_queries(instance))
        return np.asarray(LaplaceNoise(self._scale).logpdf(outputs - counts).sum(axis=1))

    def true_loss(self) -> TrueLoss:
        """Return the inverse of the scale: only the first bin's factor differs."""
        return TrueLoss(1.0 / self._scale, "one_below", "first bin at most 0")


@dataclass(frozen=True)
class NoisyHist1(_NoisyHistogram):
    """Bins with Laplace noise of scale 1/ε: the correct mechanism.

    Ding, Wang, Wang, Zhang and Kifer, "Detecting violations of differential privacy", 2018.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> NoisyHist1(0.1).true_loss().epsilon
    0.1
    """

    @property
    def _scale(self) -> float:
        return 1.0 / self.epsilon


@dataclass(frozen=True)
class NoisyHist2(_NoisyHistogram):
    """Bins with Laplace noise of scale ε, upside down: broken for ε < 1, where it costs 1/ε.

    Ding, Wang, Wang, Zhang and Kifer, "Detecting violations of differential privacy", 2018.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> NoisyHist2(0.1).true_loss().epsilon
    10.0
    """

    @property
    def _scale(self) -> float:
        return self.epsilon


_QUERIES = 10


@dataclass(frozen=True)
class PrefixSum:
    """The prefix sums of ten answers, each answer with Laplace noise of scale 1/ε.

    The sums reveal the noisy answers, so where every answer may move it costs 10ε, and claims it.
    Bichsel, Steffen, Bogunovic and Vechev, "DP-Sniper", 2021.

    Parameters
    ----------
    epsilon : float
        Privacy loss of one answer, in nats, above 0.

    Examples
    --------
    >>> PrefixSum(0.1).claim.epsilon, PrefixSum(0.1).true_loss().epsilon
    (1.0, 1.0)
    """

    epsilon: float

    def __post_init__(self) -> None:
        """Refuse what scales no noise."""
        check_epsilon(self.epsilon)

    @property
    def claim(self) -> PrivacyClaim:
        """10ε: ten answers composed."""
        return PrivacyClaim(
            _QUERIES * self.epsilon,
            source="Dwork, McSherry, Nissim, Smith 2006; 10 answers composed",
        )

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on."""
        return any_query_pairs(_QUERIES)

    def run(self, instance: Queries, rng: np.random.Generator) -> tuple[float, ...]:
        """Return the sums."""
        total, sums = 0.0, []
        for answer in check_queries(instance, _QUERIES):
            total += answer + rng.laplace(scale=1.0 / self.epsilon)
            sums.append(total)
        return tuple(sums)

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return sums, shape ``(size, 10)``; O(size)."""
        answers = np.array(check_queries(instance, _QUERIES))
        noisy = answers + rng.laplace(scale=1.0 / self.epsilon, size=(size, _QUERIES))
        return np.cumsum(noisy, axis=1)

    def log_density(self, instance: Queries, outputs: Floats) -> Floats:
        """Return the log density of each output, shape ``(size,)``."""
        answers = np.array(check_queries(instance, _QUERIES))
        noisy = np.diff(outputs, axis=1, prepend=0.0)
        return np.asarray(LaplaceNoise(1.0 / self.epsilon).logpdf(noisy - answers).sum(axis=1))

    def true_loss(self) -> TrueLoss:
        """Return 10ε: each of ten factors has slope ε, all of one sign below both inputs."""
        return TrueLoss(_QUERIES * self.epsilon, "all_above", "every increment at most 1")
