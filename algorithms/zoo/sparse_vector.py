"""The sparse vector technique: which answers lie above a threshold, in six published variants.

Lyu, Su and Li, "Understanding the sparse vector technique for differential privacy", 2017,
Algorithms 1 to 6; sensitivity 1. An output has an entry for each query: True for above, False for
below, None after the technique has stopped.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Law, Outputs, PrivacyClaim

from ..laws.noise import FloatArray as Floats
from ..laws.noise import Laplace, laplace_between
from ..laws.quadrature import QUADRATURE_ERROR, panel_nodes, panels
from .pairs import (
    Queries,
    TrueLoss,
    VectorPair,
    any_query_pairs,
    check_epsilon,
    check_limit,
    check_queries,
    loss_of_laws,
)

__all__ = [
    "SVT1",
    "SVT2",
    "SVT4",
    "SVT5",
    "SVT6",
    "Design",
    "Flags",
    "SparseVector",
    "flag_law",
    "walk",
]

Flags = tuple[bool | None, ...]

_QUERIES = 10
# A run's flags are held in one 64-bit number.
_MOST_QUERIES = 62
_MOST_OUTPUTS = 1 << 16


@dataclass(frozen=True)
class Design:
    """What sets the variants apart."""

    threshold: float
    threshold_scale: float
    query_scale: float
    limit: int | None
    redrawn: bool = False


def walk(
    design: Design, queries: Queries, size: int, rng: np.random.Generator
) -> Iterator[tuple[int, npt.NDArray[np.intp], npt.NDArray[np.bool_], Floats]]:
    """Go through the queries with many runs at once; O(size · queries)."""
    runs = np.arange(size)
    rho = rng.laplace(scale=design.threshold_scale, size=size)
    said = np.zeros(size, dtype=np.int64)
    for index, answer in enumerate(queries):
        noisy = answer + rng.laplace(scale=design.query_scale, size=len(runs))
        above = noisy >= design.threshold + rho
        yield index, runs, above, noisy
        if design.redrawn:
            rho[above] = rng.laplace(scale=design.threshold_scale, size=int(above.sum()))
        if design.limit is not None:
            said += above
            going = said < design.limit
            runs, rho, said = runs[going], rho[going], said[going]


def flag_law(design: Design, queries: Queries) -> Law:
    """Return the exact law of the flags, each probability to a relative 1e-13.

    Given rho the answers are independent: one integral over rho for each output, by products that
    outputs with the same beginning share. Where rho is drawn anew the integral ends and another
    begins. Without noise on the answers, intervals of rho in closed form.
    """
    if design.query_scale == 0.0:
        return _noiseless_law(design, queries)
    count = len(queries)
    limit = count if design.limit is None else design.limit
    if sum(math.comb(count, above) for above in range(min(limit, count) + 1)) > _MOST_OUTPUTS:
        raise InputError(
            f"instance has {count} query answers and more than {_MOST_OUTPUTS} outputs: give "
            "fewer for an exact law"
        )
    offsets = np.array(queries) - design.threshold
    rate = 1.0 / design.threshold_scale + count / design.query_scale
    nodes, weights = panel_nodes(panels([0.0, *offsets], rate, 1.0 / design.threshold_scale))
    start = weights * np.exp(Laplace(design.threshold_scale).logpdf(nodes))
    noise = Laplace(design.query_scale)
    above = np.exp(noise.logcdf(offsets[:, None] - nodes))
    below = np.exp(noise.logcdf(nodes - offsets[:, None]))
    probabilities: dict[Hashable, float] = {}

    def extend(flags: Flags, said: int, settled: float, integrand: Floats | None) -> None:
        """Add the outputs that begin with ``flags``; no integrand where rho was just redrawn."""
        index = len(flags)
        if index == count or said == design.limit:
            rest = 1.0 if integrand is None else float(integrand.sum())
            probabilities[(*flags, *(None,) * (count - index))] = settled * rest
            return
        current = start if integrand is None else integrand
        extend((*flags, False), said, settled, current * below[index])
        after = current * above[index]
        if design.redrawn:
            extend((*flags, True), said + 1, settled * float(after.sum()), None)
        else:
            extend((*flags, True), said + 1, settled, after)

    extend((), 0, 1.0, None)
    return Law(probabilities, missing=QUADRATURE_ERROR)


def _noiseless_law(design: Design, queries: Queries) -> Law:
    """Law without noise on the answers and without a limit: above iff rho is at most x - T."""
    offsets = [answer - design.threshold for answer in queries]
    cuts = [-np.inf, *sorted(set(offsets)), np.inf]
    return Law(
        {
            tuple(offset >= high for offset in offsets): laplace_between(
                low, high, design.threshold_scale
            )
            for low, high in itertools.pairwise(cuts)
        }
    )


@dataclass(frozen=True)
class SparseVector:
    """What all variants share; ε is the whole budget."""

    epsilon: float
    source: ClassVar[str]

    def __post_init__(self) -> None:
        """Refuse what scales no noise."""
        check_epsilon(self.epsilon)

    @property
    def design(self) -> Design:
        """The variant."""
        raise NotImplementedError

    @property
    def claim(self) -> PrivacyClaim:
        """ε for answers that each move by at most 1."""
        return PrivacyClaim(self.epsilon, source=self.source)

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on: ten answers, all of which may move."""
        return any_query_pairs(_QUERIES)


@dataclass(frozen=True)
class _FlagMechanism(SparseVector):
    """The variants that say above or below only."""

    def run(self, instance: Queries, rng: np.random.Generator) -> Flags:
        """Return one output, query by query as published."""
        design, said = self.design, 0
        flags: list[bool | None] = []
        rho = rng.laplace(scale=design.threshold_scale)
        for answer in check_queries(instance):
            if design.limit is not None and said >= design.limit:
                flags.append(None)
                continue
            above = bool(answer + rng.laplace(scale=design.query_scale) >= design.threshold + rho)
            flags.append(above)
            if above:
                said += 1
                if design.redrawn:
                    rho = rng.laplace(scale=design.threshold_scale)
        return tuple(flags)

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Outputs:
        """Return outputs; O(size · queries), less where most runs stop early."""
        queries = check_queries(instance)
        if len(queries) > _MOST_QUERIES:
            raise InputError(f"instance has {len(queries)} query answers: give at most 62")
        bits = np.zeros(size, dtype=np.int64)
        for index, runs, above, _ in walk(self.design, queries, size, rng):
            bits[runs] |= above.astype(np.int64) << index
        distinct, codes = np.unique(bits, return_inverse=True)
        limit = self.design.limit
        return Outputs([_flags(int(bit), len(queries), limit) for bit in distinct], codes)

    def law(self, instance: Queries) -> Law:
        """Return the exact law: see :func:`flag_law`."""
        return flag_law(self.design, check_queries(instance))

    def true_loss(self) -> TrueLoss:
        """Return the exact loss, from the laws."""
        return loss_of_laws(self)


def _flags(bits: int, queries: int, limit: int | None) -> Flags:
    """Read an output off its bits."""
    flags: list[bool | None] = []
    for index in range(queries):
        stopped = limit is not None and flags.count(True) == limit
        flags.append(None if stopped else bool(bits >> index & 1))
    return tuple(flags)


@dataclass(frozen=True)
class SVT1(_FlagMechanism):
    """Algorithm 1, the authors' own: correct. T = 0.5, rho = Lap(2/ε), answers Lap(4c/ε).

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    limit : int
        c, the number of answers above after which it stops.

    Examples
    --------
    >>> round(SVT1(1.0).true_loss().epsilon, 4)
    0.9304
    """

    source = "Lyu, Su, Li 2017, Algorithm 1"
    limit: int = 1

    def __post_init__(self) -> None:
        """Refuse what says nothing."""
        check_epsilon(self.epsilon)
        check_limit(self.limit)

    @property
    def design(self) -> Design:
        """The variant."""
        return Design(0.5, 2.0 / self.epsilon, 4.0 * self.limit / self.epsilon, self.limit)


@dataclass(frozen=True)
class SVT2(_FlagMechanism):
    """Algorithm 2, Dwork and Roth: correct. T = 1, rho = Lap(2c/ε) anew each time, Lap(4c/ε).

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    limit : int
        c, the number of answers above after which it stops.

    Examples
    --------
    >>> round(SVT2(1.0).true_loss().epsilon, 4)
    0.911
    """

    source = "Lyu, Su, Li 2017, Algorithm 2"
    limit: int = 1

    def __post_init__(self) -> None:
        """Refuse what says nothing."""
        check_epsilon(self.epsilon)
        check_limit(self.limit)

    @property
    def design(self) -> Design:
        """The variant."""
        scale = 2.0 * self.limit / self.epsilon
        return Design(1.0, scale, 2.0 * scale, self.limit, redrawn=True)


@dataclass(frozen=True)
class SVT4(_FlagMechanism):
    """Algorithm 4, Lee and Clifton: broken. T = 1, rho = Lap(4/ε), answers Lap(4/(3ε)).

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    limit : int
        c, the number of answers above after which it stops; the noise ignores it.

    Examples
    --------
    >>> round(SVT4(1.0).true_loss().epsilon, 4)
    1.7418
    """

    source = "Lyu, Su, Li 2017, Algorithm 4"
    limit: int = 1

    def __post_init__(self) -> None:
        """Refuse what says nothing."""
        check_epsilon(self.epsilon)
        check_limit(self.limit)

    @property
    def design(self) -> Design:
        """The variant."""
        return Design(1.0, 4.0 / self.epsilon, 4.0 / (3.0 * self.epsilon), self.limit)


@dataclass(frozen=True)
class SVT5(_FlagMechanism):
    """Algorithm 5, Stoddard and others: broken, no finite ε. T = 1, rho = Lap(2/ε), never stops.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> SVT5(1.0).true_loss().epsilon
    inf
    """

    source = "Lyu, Su, Li 2017, Algorithm 5"

    @property
    def design(self) -> Design:
        """The variant."""
        return Design(1.0, 2.0 / self.epsilon, 0.0, None)


@dataclass(frozen=True)
class SVT6(_FlagMechanism):
    """Algorithm 6, Chen and others: broken. T = 1, rho = Lap(2/ε), answers Lap(2/ε), never stops.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> round(SVT6(1.0).true_loss().epsilon, 3)
    4.486
    """

    source = "Lyu, Su, Li 2017, Algorithm 6"

    @property
    def design(self) -> Design:
        """The variant."""
        return Design(1.0, 2.0 / self.epsilon, 2.0 / self.epsilon, None)
