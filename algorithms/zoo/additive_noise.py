"""Mechanisms on query answers, and those that add noise to every answer.

Laplace and geometric noise, histograms, noisy maxima; and RAPPOR.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Law, Outputs, PrivacyClaim

from ..laws.noise import CalibratedMechanism, Exponential
from ..laws.noise import FloatArray as Floats
from ..laws.noise import Laplace as LaplaceNoise
from ..laws.one_round import first_target_law


def check_queries(instance: Sequence[float], count: int | None = None) -> tuple[float, ...]:
    """Return the query answers as floats."""
    queries = tuple(float(answer) for answer in instance)
    if not queries or (count is not None and len(queries) != count):
        wanted = f"{count}" if count is not None else "at least 1"
        raise InputError(f"instance has {len(queries)} query answers: give {wanted}")
    if not all(math.isfinite(answer) for answer in queries):
        raise InputError(f"instance {queries}: every query answer must be a finite number")
    return queries


Queries = tuple[float, ...]


class VectorPair(NamedTuple):
    """Two neighbouring vectors of query answers: no answer moves by more than 1."""

    name: str
    left: Queries
    right: Queries


def one_query_pairs(queries: int) -> tuple[VectorPair, ...]:
    """Return the pairs in which the first of several answers moves, as in a histogram."""
    ones, rest = (1.0,) * queries, (1.0,) * (queries - 1)
    return (
        VectorPair("one_below", ones, (0.0, *rest)),
        VectorPair("one_above", ones, (2.0, *rest)),
    )


def any_query_pairs(queries: int) -> tuple[VectorPair, ...]:
    """Return the pairs in which every answer may move by 1; O(queries)."""
    half = queries // 2
    other = queries - half
    ones = (1.0,) * queries
    return (
        *one_query_pairs(queries),
        VectorPair("one_above_rest_below", ones, (2.0, *(0.0,) * (queries - 1))),
        VectorPair("one_below_rest_above", ones, (0.0, *(2.0,) * (queries - 1))),
        VectorPair("half_half", ones, (2.0,) * half + (0.0,) * other),
        VectorPair("all_above", ones, (2.0,) * queries),
        VectorPair("all_below", ones, (0.0,) * queries),
        VectorPair("x_shape", (1.0,) * half + (0.0,) * other, (0.0,) * half + (1.0,) * other),
    )


@dataclass(frozen=True)
class QueryMechanism(CalibratedMechanism):
    """A mechanism on query answers, none of which moves by more than 1; ε scales its noise."""

    #: Answers of the pairs it is measured on, and whether all may move.
    queries: ClassVar[int] = 1
    all_move: ClassVar[bool] = False

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on."""
        return (any_query_pairs if self.all_move else one_query_pairs)(self.queries)


@dataclass(frozen=True)
class _NoisyAnswers(QueryMechanism):
    """Laplace noise on every answer."""

    #: Answers there must be, and how often one is released, where that is fixed.
    answers: ClassVar[int | None] = None
    releases: ClassVar[int | None] = None

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return 1.0 / self.epsilon

    def run(self, instance: Queries, rng: np.random.Generator) -> tuple[float, ...]:
        """Return the noisy answers."""
        return tuple(self.sample(instance, 1, rng)[0].tolist())

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return noisy answers, shape ``(size, answers)``."""
        answers = np.array(check_queries(instance, self.answers))
        noise = rng.laplace(scale=self.scale, size=(size, self.releases or len(answers)))
        return np.asarray(answers + noise)


@dataclass(frozen=True)
class Laplace(_NoisyAnswers):
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
    """

    source = "Dwork, McSherry, Nissim, Smith 2006"
    answers = 1


@dataclass(frozen=True)
class LaplaceParallel(_NoisyAnswers):
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

    source = "Dwork, McSherry, Nissim, Smith 2006; 20 releases composed"
    answers, releases = 1, 20

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return self.releases / self.epsilon


@dataclass(frozen=True)
class NoisyHist1(_NoisyAnswers):
    """Bins with Laplace noise of scale 1/ε: the correct mechanism.

    Ding, Wang, Wang, Zhang and Kifer, "Detecting violations of differential privacy", 2018.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    """

    source = "Dwork, McSherry, Nissim, Smith 2006; disjoint bins"
    queries = 5


@dataclass(frozen=True)
class NoisyHist2(_NoisyAnswers):
    """Bins with Laplace noise of scale ε, upside down: broken for ε < 1, where it costs 1/ε.

    Ding, Wang, Wang, Zhang and Kifer, "Detecting violations of differential privacy", 2018.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    """

    source = "Dwork, McSherry, Nissim, Smith 2006; disjoint bins"
    queries = 5

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return self.epsilon


@dataclass(frozen=True)
class PrefixSum(_NoisyAnswers):
    """The prefix sums of ten answers, each answer with Laplace noise of scale 1/ε.

    The sums reveal the noisy answers, so where every answer may move it costs 10ε, and claims it.
    Bichsel, Steffen, Bogunovic and Vechev, "DP-Sniper", 2021.

    Parameters
    ----------
    epsilon : float
        Privacy loss of one answer, in nats, above 0.
    """

    source = "Dwork, McSherry, Nissim, Smith 2006; 10 answers composed"
    queries = answers = composed = 10
    all_move = True

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return sums, shape ``(size, 10)``."""
        return np.cumsum(super().sample(instance, size, rng), axis=1)


_LARGEST = 5


@dataclass(frozen=True)
class TruncatedGeometric(QueryMechanism):
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
    >>> len(TruncatedGeometric(0.1).law((1.0,)).probabilities)
    6
    """

    source = "Balcer and Vadhan 2018"

    def __post_init__(self) -> None:
        """Refuse what scales no noise, or does not fit one draw."""
        super().__post_init__()
        if self._range.bit_length() > 63:
            raise InputError(f"epsilon = {self.epsilon}: give at least 1.3e-5")

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


def _count(instance: Queries) -> int:
    """Return the count that the instance holds."""
    (answer,) = check_queries(instance, 1)
    if answer != int(answer) or not 0 <= answer <= _LARGEST:
        raise InputError(f"instance {instance}: give one whole number from 0 to {_LARGEST}")
    return int(answer)


@dataclass(frozen=True)
class _NoisyMax(QueryMechanism):
    """Noise of scale 2/ε on each of five answers, all of which may move.

    Ding, Wang, Wang, Zhang and Kifer, "Detecting violations of differential privacy", 2018, Table
    1; Dwork and Roth, "The algorithmic foundations of differential privacy", 2014, section 3.3.
    """

    source = "Dwork and Roth 2014, section 3.3"
    queries, all_move = 5, True
    noise: ClassVar[type[LaplaceNoise | Exponential]]

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return 2.0 / self.epsilon

    def noisy(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return noisy answers, shape (size, answers)."""
        answers = np.array(check_queries(instance))
        return answers + self.noise(self.scale).draw((size, len(answers)), rng)


@dataclass(frozen=True)
class _MaxIndex(_NoisyMax):
    """Releases the index."""

    def run(self, instance: Queries, rng: np.random.Generator) -> int:
        """Return the index of the largest noisy answer."""
        return int(self.noisy(instance, 1, rng).argmax())

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Outputs:
        """Return indices."""
        noisy = self.noisy(instance, size, rng)
        return Outputs(range(noisy.shape[1]), noisy.argmax(axis=1))

    def law(self, instance: Queries) -> Law:
        """Return the law of the index; see :func:`.first_target_law`."""
        law = first_target_law(check_queries(instance), self.noise(self.scale))
        return Law(dict(enumerate(law.found.tolist())), missing=abs(1.0 - law.total))


@dataclass(frozen=True)
class _MaxValue(_NoisyMax):
    """Releases the value."""

    def run(self, instance: Queries, rng: np.random.Generator) -> tuple[float]:
        """Return the largest noisy answer."""
        return (float(self.noisy(instance, 1, rng).max()),)

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return largest noisy answers, shape ``(size, 1)``."""
        return np.asarray(self.noisy(instance, size, rng).max(axis=1, keepdims=True))


@dataclass(frozen=True)
class ReportNoisyMax1(_MaxIndex):
    """Index of the largest answer with Laplace noise of scale 2/ε: correct.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    """

    noise = LaplaceNoise


@dataclass(frozen=True)
class ReportNoisyMax2(_MaxIndex):
    """Index of the largest answer with exponential noise of scale 2/ε: correct.

    It takes the parameter of :class:`ReportNoisyMax1`.
    """

    noise = Exponential


@dataclass(frozen=True)
class ReportNoisyMax3(_MaxValue):
    """Value of the largest answer with Laplace noise of scale 2/ε: broken, 5ε/2.

    It takes the parameter of :class:`ReportNoisyMax1`.
    """

    noise = LaplaceNoise


@dataclass(frozen=True)
class ReportNoisyMax4(_MaxValue):
    """Value of the largest answer with exponential noise of scale 2/ε: broken, no finite ε.

    It takes the parameter of :class:`ReportNoisyMax1`.
    """

    noise = Exponential


# RAPPOR: randomised response on the bits of a Bloom filter


Bits = tuple[bool, ...]

_BITS = 20
#: The bits that four hash functions set for each value.
_SET_BITS = {0: (0, 11, 18), 1: (3, 10, 13), 2: (7, 10, 11, 19)}


class BitsLaw(Mapping[Hashable, float]):
    """The law of independent bits, computed on demand: 2^20 outputs would fill the memory."""

    def __init__(self, ones: Floats) -> None:
        self.ones = ones

    def __getitem__(self, output: Hashable) -> float:
        """Return the probability of an output; O(bits)."""
        if not isinstance(output, tuple) or len(output) != len(self.ones):
            raise KeyError(output)
        return float(np.where(output, self.ones, 1.0 - self.ones).prod())

    def __iter__(self) -> Iterator[Bits]:
        """Iterate over all outputs, 2^bits of them."""
        return itertools.product((False, True), repeat=len(self.ones))

    def __len__(self) -> int:
        """Return the number of outputs."""
        return int(2 ** len(self.ones))


@dataclass(frozen=True)
class _Rappor:
    """What both variants share: the value's bits, each passed on with some probability."""

    claim: ClassVar[PrivacyClaim]
    #: How many bits are randomised for good, and a report's chances of a 1 for a 1 and for a 0.
    f: ClassVar[float]
    q: ClassVar[float] = 1.0
    p: ClassVar[float] = 0.0

    @property
    def one_if_set(self) -> float:
        """Probability that a set bit is reported as 1; 1 minus it for one that is not set."""
        permanent = 1.0 - self.f / 2.0
        return permanent * self.q + (1.0 - permanent) * self.p

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on: values 1 and 0, 1 and 2."""
        return one_query_pairs(1)

    def sample(
        self, instance: Queries, size: int, rng: np.random.Generator
    ) -> npt.NDArray[np.bool_]:
        """Return reports, shape ``(size, 20)``; one draw a bit; O(size)."""
        draws = rng.random((size, _BITS), dtype=np.float64)
        return np.asarray(draws < self.ones(instance))

    def law(self, instance: Queries) -> Law:
        """Return the exact law of the report, lazily: see :class:`BitsLaw`."""
        return Law(BitsLaw(self.ones(instance)))

    def ones(self, instance: Queries) -> Floats:
        """Return the probability of a 1 for each bit."""
        ones = np.full(_BITS, 1.0 - self.one_if_set)
        ones[list(set_bits(instance))] = self.one_if_set
        return ones


@dataclass(frozen=True)
class Rappor(_Rappor):
    """Bits randomised once for good (f = 0.75), then anew for each report (q = 0.55, p = 0.45).

    A Bloom filter of 20 bits and four hash functions; claims 0.4 and costs 0.3001 on its pairs,
    whose values happen to set few bits. Erlingsson, Pihur and Korolova, "RAPPOR", 2014; the
    setting is that of Bichsel, Steffen, Bogunovic and Vechev, "DP-Sniper", 2021.

    Examples
    --------
    >>> Rappor().sample((1.0,), 2, np.random.default_rng(1)).shape
    (2, 20)
    """

    claim = PrivacyClaim(0.4, source="Erlingsson, Pihur, Korolova 2014, Theorem 2")
    f = 0.75
    q = 0.55
    p = 0.45

    def run(self, instance: Queries, rng: np.random.Generator) -> Bits:
        """Return one report."""
        permanent = _permanent(instance, self.f, rng)
        return tuple(bool(rng.random() < (self.q if bit else self.p)) for bit in permanent)


@dataclass(frozen=True)
class OneTimeRappor(_Rappor):
    """Bits randomised once for good (f = 0.95) and reported as they are.

    Claims 0.8 and costs 0.6005 on its pairs. Sources as for :class:`Rappor`.
    """

    claim = PrivacyClaim(0.8, source="Erlingsson, Pihur, Korolova 2014, Theorem 1")
    f = 0.95

    def run(self, instance: Queries, rng: np.random.Generator) -> Bits:
        """Return one report."""
        return tuple(_permanent(instance, self.f, rng))


def _permanent(instance: Queries, f: float, rng: np.random.Generator) -> list[bool]:
    """Randomise each bit for good: 1 or 0 with probability f/2 each, else kept."""
    kept = set_bits(instance)
    bits = []
    for bit in range(_BITS):
        draw = rng.random()
        bits.append(bool(draw < f / 2.0) if draw < f else bit in kept)
    return bits


def set_bits(instance: Queries) -> frozenset[int]:
    """Return the bits that the instance's value sets."""
    (value,) = check_queries(instance, 1)
    if value not in _SET_BITS:
        raise InputError(f"instance {instance}: give one of the values 0, 1, 2")
    return frozenset(_SET_BITS[int(value)])
