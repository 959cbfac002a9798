"""Sparse vector variants that release values, and two of them side by side.

An output has an entry for each query: a value for above, 0.0 for below, nan after the technique
has stopped (None in the tuple of a single run). A released value is 0.0 only by a chance of one in
about 10^16, so the marker for below stands alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pdpaudit.core.privacy_loss import epsilon_at
from pdpaudit.core.protocols import Law, PrivacyClaim

from ..laws.noise import FloatArray as Floats
from ..laws.noise import Laplace
from ..laws.quadrature import NODES, WEIGHTS, panels
from .pairs import (
    Queries,
    TrueLoss,
    VectorPair,
    any_query_pairs,
    check_epsilon,
    check_limit,
    check_queries,
)
from .sparse_vector import SVT4, Design, Flags, SparseVector, flag_law, walk

__all__ = ["BELOW", "SVT3", "NumericalSVT", "SVT34Parallel"]

Values = tuple[float | None, ...]

#: Entry of a query that lies below.
BELOW = 0.0
_QUERIES = 10
# Outputs treated at once, which bounds the memory of their nodes.
_CHUNK = 8192


@dataclass(frozen=True)
class SVT3(SparseVector):
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
    >>> SVT3(1.0).true_loss().epsilon
    5.0
    >>> SVT3(1.0).sample((1.0,) * 10, 4, np.random.default_rng(1)).shape
    (4, 10)
    """

    source = "Lyu, Su, Li 2017, Algorithm 3"
    limit: int = 1

    def __post_init__(self) -> None:
        """Refuse what scales no noise or says nothing."""
        check_epsilon(self.epsilon)
        check_limit(self.limit)

    @property
    def design(self) -> Design:
        """The variant."""
        return Design(1.0, 2.0 / self.epsilon, 2.0 * self.limit / self.epsilon, self.limit)

    def run(self, instance: Queries, rng: np.random.Generator) -> Values:
        """Return one output, query by query as published."""
        design, said = self.design, 0
        values: list[float | None] = []
        rho = rng.laplace(scale=design.threshold_scale)
        for answer in check_queries(instance):
            if said >= self.limit:
                values.append(None)
                continue
            noisy = answer + rng.laplace(scale=design.query_scale)
            above = noisy >= design.threshold + rho
            values.append(float(noisy) if above else BELOW)
            said += above
        return tuple(values)

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return outputs, shape ``(size, queries)``; O(size · queries)."""
        queries = check_queries(instance)
        values = np.full((size, len(queries)), np.nan)
        for index, runs, above, noisy in walk(self.design, queries, size, rng):
            values[runs, index] = np.where(above, noisy, BELOW)
        return values

    def log_density(self, instance: Queries, outputs: Floats) -> Floats:
        """Return the log density of each output, shape ``(size,)``.

        With respect to length on the values and counting on the rest. The values' densities times
        ``∫ p(rho) ∏ F(T + rho - x_j) d rho`` over the answers below and rho up to the least value
        minus T, by panels that all outputs share and a part of one for each; O(size · queries).
        """
        queries = np.array(check_queries(instance))
        design = self.design
        below = outputs == BELOW
        above = ~below & ~np.isnan(outputs)
        released = np.where(above, Laplace(design.query_scale).logpdf(outputs - queries), 0.0).sum(
            axis=1
        )
        ceiling = np.where(above, outputs, np.inf).min(axis=1) - design.threshold
        rate = 1.0 / design.threshold_scale + len(queries) / design.query_scale
        kinks = [0.0, *(queries - design.threshold)]
        edges = panels(kinks, rate, 1.0 / design.threshold_scale, left=False)
        total = np.empty(len(outputs))
        first, codes = _patterns(below.astype(np.int64))
        for code, pattern in enumerate(below[first]):
            chosen = codes == code
            offsets = queries[pattern] - design.threshold

            def integrand(points: Floats, offsets: Floats = offsets) -> Floats:
                log_cdf = Laplace(design.query_scale).logcdf(points[..., None] - offsets)
                log_rho = Laplace(design.threshold_scale).logpdf(points)
                return np.asarray(np.exp(log_rho + log_cdf.sum(axis=-1)))

            slope = 1.0 / design.threshold_scale + pattern.sum() / design.query_scale
            total[chosen] = _integral_up_to(integrand, slope, edges, ceiling[chosen])
        with np.errstate(divide="ignore"):
            return np.asarray(released + np.log(total))

    def true_loss(self) -> TrueLoss:
        """Return 10/b for noise of scale b = 2c/ε on the answers: 5ε for c = 1.

        Given rho an output's density is a product of ten factors, each with slope at most 1/b in
        its answer. With nine answers below and a last value under all answers, all slopes are 1/b.
        """
        return TrueLoss(
            _QUERIES / self.design.query_scale,
            "all_above",
            "only the last answer is above, with a value of at most 1",
        )


@dataclass(frozen=True)
class NumericalSVT(SparseVector):
    """Flags by a third of ε for rho, a third for the answers, and fresh values by a third: correct.

    c = 2, T = 1, rho = Lap(3/ε), answers Lap(6c/ε); an answer above is released with fresh noise of
    scale 3c/ε. Dwork and Roth, "The algorithmic foundations of differential privacy", 2014,
    section 3.6.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> round(NumericalSVT(1.0).true_loss().epsilon, 4)
    0.8155
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

    def run(self, instance: Queries, rng: np.random.Generator) -> Values:
        """Return one output, query by query as published."""
        design, said = self.design, 0
        values: list[float | None] = []
        rho = rng.laplace(scale=design.threshold_scale)
        for answer in check_queries(instance):
            if said == design.limit:
                values.append(None)
                continue
            above = answer + rng.laplace(scale=design.query_scale) >= design.threshold + rho
            values.append(answer + rng.laplace(scale=self.value_scale) if above else BELOW)
            said += above
        return tuple(values)

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return outputs, shape ``(size, queries)``; O(size · queries)."""
        queries = check_queries(instance)
        values = np.full((size, len(queries)), np.nan)
        for index, runs, above, _ in walk(self.design, queries, size, rng):
            fresh = queries[index] + rng.laplace(scale=self.value_scale, size=len(runs))
            values[runs, index] = np.where(above, fresh, BELOW)
        return values

    def flag_law(self, instance: Queries) -> Law:
        """Return the exact law of the flags alone, as of the variants that release no value."""
        return flag_law(self.design, check_queries(instance))

    def log_density(self, instance: Queries, outputs: Floats) -> Floats:
        """Return the log density of each output, shape ``(size,)``; as for :class:`SVT3`."""
        queries = np.array(check_queries(instance))
        above = (outputs != BELOW) & ~np.isnan(outputs)
        released = np.where(above, Laplace(self.value_scale).logpdf(outputs - queries), 0.0)
        return np.asarray(released.sum(axis=1) + _log_flags(self.flag_law(instance), outputs))

    def true_loss(self) -> TrueLoss:
        """Return the largest loss of the flags plus that of the values released with them.

        Given the flags the values are independent, each with a loss of its answer's change over
        the scale, reached beyond both answers on the side that favours the input.
        """
        worst = TrueLoss(0.0, "", "")
        for name, left, right in self.pairs():
            one, other = self.flag_law(left).probabilities, self.flag_law(right).probabilities
            change = np.abs(np.subtract(left, right)) / self.value_scale
            for flags, probability in one.items():
                flag_loss = abs(float(np.log(probability / other[flags])))
                chosen = [flag is True for flag in flags]  # type: ignore[attr-defined]
                loss = flag_loss + float(change[chosen].sum())
                if loss > worst.epsilon:
                    worst = TrueLoss(loss, name, f"flags {flags}, values beyond both answers")
        return worst


@dataclass(frozen=True)
class SVT34Parallel:
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
    >>> mechanism.claim.epsilon, round(mechanism.true_loss().epsilon, 3)
    (2.0, 4.955)
    """

    epsilon: float

    def __post_init__(self) -> None:
        """Refuse what scales no noise."""
        check_epsilon(self.epsilon)

    @property
    def claim(self) -> PrivacyClaim:
        """2ε: two mechanisms that claim ε, composed."""
        return PrivacyClaim(2.0 * self.epsilon, source="Lyu, Su, Li 2017, Algorithms 3 and 4")

    @property
    def parts(self) -> tuple[SVT3, SVT4]:
        """The two mechanisms."""
        return SVT3(self.epsilon, limit=2), SVT4(self.epsilon, limit=2)

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on: ten answers, all of which may move."""
        return any_query_pairs(_QUERIES)

    def run(self, instance: Queries, rng: np.random.Generator) -> tuple[Values, Flags]:
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

    def log_density(self, instance: Queries, outputs: Floats) -> Floats:
        """Return the log density of each output, shape ``(size,)``; as for :class:`SVT3`."""
        values, flags = self.parts
        half = outputs.shape[1] // 2
        return values.log_density(instance, outputs[:, :half]) + _log_flags(
            flags.law(instance), outputs[:, half:]
        )

    def true_loss(self) -> TrueLoss:
        """Return the loss on ``half_half``, SVT4's exact loss plus 7/b with b = 4/ε for SVT3.

        The two are independent, so their losses in one direction add. SVT3: of the ten factors
        that favour (1, …, 1) over (2, …, 2, 0, …, 0), the first five do by at most 1/b each, and
        of the others only the two that are above; with the first five below and the next two
        above, the ratio tends to e^(7/b) as both values tend to 1. The other pairs have less
        wherever their SVT4 loss plus the same count of factors is smaller, which it is for ε
        from 0.01 to 10.
        """
        values, flags = self.parts
        pair = next(pair for pair in self.pairs() if pair.name == "half_half")
        left = np.array(list(flags.law(pair.left).probabilities.values()))
        right = np.array(list(flags.law(pair.right).probabilities.values()))
        return TrueLoss(
            epsilon_at(left, right) + 7.0 / values.design.query_scale,
            pair.name,
            "in both the first 5 below and the next 2 above, with values near 1 (a supremum)",
        )


def _log_flags(law: Law, outputs: Floats) -> Floats:
    """Log probability of the flags of each output."""
    marks = np.where(np.isnan(outputs), 1, np.where(outputs == BELOW, 2, 0))
    meaning: dict[int, bool | None] = {0: True, 1: None, 2: False}
    first, codes = _patterns(marks)
    logs = [
        np.log(law.probabilities[tuple(meaning[mark] for mark in row)])
        for row in marks[first].tolist()
    ]
    return np.asarray(np.array(logs)[codes])


def _patterns(marks: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """First row of each distinct row of marks 0, 1, 2, and which of these each row equals.

    Rows are compared as numbers in base 3: sorting rows would take most of the time.
    """
    numbers = marks @ (3 ** np.arange(marks.shape[1], dtype=np.int64))
    _, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
    return first, codes


def _integral_up_to(
    integrand: Callable[[Floats], Floats], slope: float, edges: Floats, ceilings: Floats
) -> Floats:
    """Integral of a positive function from minus infinity up to each ceiling.

    Below the first edge it is an exponential of the given slope, integrated in closed form;
    beyond the last there is nothing. Full panels are added up once, the last part of one has
    its own nodes.
    """
    nodes = edges[:-1, None] + 0.5 * np.diff(edges)[:, None] * (1.0 + NODES)
    full = 0.5 * np.diff(edges) * (integrand(nodes) @ WEIGHTS)
    start = integrand(edges[:1]) / slope
    upto = np.concatenate([start, start + np.cumsum(full)])
    totals = []
    for ceiling in np.array_split(ceilings, 1 + len(ceilings) // _CHUNK):
        inside = np.clip(ceiling, edges[0], edges[-1])
        panel = np.searchsorted(edges, inside, side="right") - 1
        half = 0.5 * (inside - edges[panel])
        part = half * (integrand(edges[panel, None] + half[:, None] * (1.0 + NODES)) @ WEIGHTS)
        tail = integrand(np.minimum(ceiling, edges[0])) / slope
        totals.append(np.where(ceiling < edges[0], tail, upto[panel] + part))
    return np.concatenate(totals)
