"""RAPPOR: randomised response on the bits of a Bloom filter."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Law, PrivacyClaim

from ..laws.noise import FloatArray as Floats
from .additive_noise import Queries, VectorPair, check_queries, one_query_pairs

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
