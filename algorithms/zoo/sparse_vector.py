"""The sparse vector technique: which answers lie above a threshold, in its published variants.

Lyu, Su and Li, "Understanding the sparse vector technique for differential privacy", 2017,
Algorithms 1 to 6; sensitivity 1. An output of flags has an entry for each query: True for above,
False for below, None after the technique has stopped. One of values has a value for above, 0.0 for
below, nan after the stop (None in the tuple of a single run). A released value is 0.0 only by a
chance of one in about 10^16, so the marker for below stands alone.
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
from pdpaudit.core.protocols import Law, Outputs

from ..laws.noise import FloatArray as Floats
from ..laws.noise import Laplace, laplace_between
from ..laws.one_round import QUADRATURE_ERROR, panel_nodes, panels
from .additive_noise import Queries, QueryMechanism, check_queries

Flags = tuple[bool | None, ...]
Values = tuple[float | None, ...]

#: Entry of a query that lies below, where values are released.
BELOW = 0.0
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
class SparseVector(QueryMechanism):
    """What all variants share: ten answers, all of which may move; ε is the whole budget."""

    queries, all_move = 10, True

    @property
    def design(self) -> Design:
        """The variant."""
        raise NotImplementedError

    def said(self, above: bool, answer: float, noisy: float, rng: np.random.Generator) -> float:
        """Return the entry of an answer."""
        return above

    def run(self, instance: Queries, rng: np.random.Generator) -> Values:
        """Return one output, query by query as published."""
        design, count = self.design, 0
        output: list[float | None] = []
        rho = rng.laplace(scale=design.threshold_scale)
        for answer in check_queries(instance):
            if design.limit is not None and count >= design.limit:
                output.append(None)
                continue
            noisy = answer + rng.laplace(scale=design.query_scale)
            above = bool(noisy >= design.threshold + rho)
            output.append(self.said(above, answer, noisy, rng))
            count += above
            if above and design.redrawn:
                rho = rng.laplace(scale=design.threshold_scale)
        return tuple(output)


@dataclass(frozen=True)
class _Limited(SparseVector):
    """Those that stop after a number of answers above."""

    limit: int = 1

    least: ClassVar = {"limit": 1}


@dataclass(frozen=True)
class _Flags(SparseVector):
    """The variants that say above or below only."""

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


def _flags(bits: int, queries: int, limit: int | None) -> Flags:
    """Read an output off its bits."""
    flags: list[bool | None] = []
    for index in range(queries):
        stopped = limit is not None and flags.count(True) == limit
        flags.append(None if stopped else bool(bits >> index & 1))
    return tuple(flags)


@dataclass(frozen=True)
class SVT1(_Limited, _Flags):
    """Algorithm 1, the authors' own: correct. T = 0.5, rho = Lap(2/ε), answers Lap(4c/ε).

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    limit : int
        c, the number of answers above after which it stops.
    """

    source = "Lyu, Su, Li 2017, Algorithm 1"

    @property
    def design(self) -> Design:
        """The variant."""
        return Design(0.5, 2.0 / self.epsilon, 4.0 * self.limit / self.epsilon, self.limit)


@dataclass(frozen=True)
class SVT2(_Limited, _Flags):
    """Algorithm 2, Dwork and Roth: correct. T = 1, rho = Lap(2c/ε) anew each time, Lap(4c/ε).

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    limit : int
        c, the number of answers above after which it stops.
    """

    source = "Lyu, Su, Li 2017, Algorithm 2"

    @property
    def design(self) -> Design:
        """The variant."""
        scale = 2.0 * self.limit / self.epsilon
        return Design(1.0, scale, 2.0 * scale, self.limit, redrawn=True)


@dataclass(frozen=True)
class SVT4(_Limited, _Flags):
    """Algorithm 4, Lee and Clifton: broken. T = 1, rho = Lap(4/ε), answers Lap(4/(3ε)).

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    limit : int
        c, the number of answers above after which it stops; the noise ignores it.
    """

    source = "Lyu, Su, Li 2017, Algorithm 4"

    @property
    def design(self) -> Design:
        """The variant."""
        return Design(1.0, 4.0 / self.epsilon, 4.0 / (3.0 * self.epsilon), self.limit)


@dataclass(frozen=True)
class SVT5(_Flags):
    """Algorithm 5, Stoddard and others: broken, no finite ε. T = 1, rho = Lap(2/ε), never stops.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    """

    source = "Lyu, Su, Li 2017, Algorithm 5"

    @property
    def design(self) -> Design:
        """The variant."""
        return Design(1.0, 2.0 / self.epsilon, 0.0, None)


@dataclass(frozen=True)
class SVT6(_Flags):
    """Algorithm 6, Chen and others: broken. T = 1, rho = Lap(2/ε), answers Lap(2/ε), never stops.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    """

    source = "Lyu, Su, Li 2017, Algorithm 6"

    @property
    def design(self) -> Design:
        """The variant."""
        return Design(1.0, 2.0 / self.epsilon, 2.0 / self.epsilon, None)


@dataclass(frozen=True)
class _Released(SparseVector):
    """The variants that release values."""

    def released(self, answers: Floats, noisy: Floats, rng: np.random.Generator) -> Floats:
        """Return the values that are released for answers above."""
        return noisy

    def said(self, above: bool, answer: float, noisy: float, rng: np.random.Generator) -> float:
        """Return the entry of an answer."""
        if not above:
            return BELOW
        return float(self.released(np.array([answer]), np.array([noisy]), rng)[0])

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return outputs, shape ``(size, queries)``."""
        queries = check_queries(instance)
        values = np.full((size, len(queries)), np.nan)
        for index, runs, above, noisy in walk(self.design, queries, size, rng):
            value = self.released(np.full(len(runs), queries[index]), noisy, rng)
            values[runs, index] = np.where(above, value, BELOW)
        return values


@dataclass(frozen=True)
class SVT3(_Limited, _Released):
    """Algorithm 3, Roth: broken. T = 1, rho = Lap(2/ε), releases the noisy answer, with Lap(2c/ε).

    A released value says that rho lies below it, so the earlier answers, all below, leak in full.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    limit : int
        c, the number of answers above after which it stops.

    Examples
    --------
    >>> SVT3(1.0).sample((1.0,) * 10, 4, np.random.default_rng(1)).shape
    (4, 10)
    """

    source = "Lyu, Su, Li 2017, Algorithm 3"

    @property
    def design(self) -> Design:
        """The variant."""
        return Design(1.0, 2.0 / self.epsilon, 2.0 * self.limit / self.epsilon, self.limit)


@dataclass(frozen=True)
class NumericalSVT(_Released):
    """Flags by a third of ε for rho, a third for the answers, and fresh values by a third: correct.

    c = 2, T = 1, rho = Lap(3/ε), answers Lap(6c/ε); an answer above is released with fresh noise of
    scale 3c/ε. Dwork and Roth, "The algorithmic foundations of differential privacy", 2014,
    section 3.6.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    """

    source = "Dwork and Roth 2014, section 3.6"

    @property
    def design(self) -> Design:
        """The variant: what the flags depend on."""
        return Design(1.0, 3.0 / self.epsilon, 12.0 / self.epsilon, 2)

    @property
    def value_scale(self) -> float:
        """Scale of the fresh noise on a released value."""
        return 6.0 / self.epsilon

    def released(self, answers: Floats, noisy: Floats, rng: np.random.Generator) -> Floats:
        """Return the answers with fresh noise."""
        return np.asarray(answers + rng.laplace(scale=self.value_scale, size=len(answers)))


@dataclass(frozen=True)
class SVT34Parallel(QueryMechanism):
    """SVT3 and SVT4 with c = 2 on the same input, each at ε: broken, as both are.

    Columns 0 to 9 of a sample are SVT3's; columns 10 to 19 SVT4's, with 1.0 for above. Bichsel,
    Steffen, Bogunovic and Vechev, "DP-Sniper", 2021.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed for each of the two, in nats, above 0.

    Examples
    --------
    >>> mechanism = SVT34Parallel(1.0)
    """

    source = "Lyu, Su, Li 2017, Algorithms 3 and 4"
    queries, all_move, composed = 10, True, 2

    @property
    def parts(self) -> tuple[SVT3, SVT4]:
        """The two mechanisms."""
        return SVT3(self.epsilon, limit=2), SVT4(self.epsilon, limit=2)

    def run(self, instance: Queries, rng: np.random.Generator) -> tuple[Values, Values]:
        """Return one output of each."""
        values, flags = self.parts
        return values.run(instance, rng), flags.run(instance, rng)

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return outputs side by side, shape ``(size, 2 · queries)``; O(size · queries)."""
        queries = check_queries(instance)
        values, flags = self.parts
        marks = np.full((size, len(queries)), np.nan)
        for index, runs, above, _ in walk(flags.design, queries, size, rng):
            marks[runs, index] = above
        return np.concatenate([values.sample(queries, size, rng), marks], axis=1)
