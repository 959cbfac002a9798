"""What the zoo's mechanisms lose in truth, and the densities of those that release values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from pdpaudit.algorithms import zoo
from pdpaudit.algorithms.laws.noise import FloatArray as Floats
from pdpaudit.algorithms.laws.noise import Laplace
from pdpaudit.algorithms.laws.one_round import panels
from pdpaudit.algorithms.zoo import (
    SVT3,
    NumericalSVT,
    OneTimeRappor,
    PrefixSum,
    Rappor,
    ReportNoisyMax3,
    ReportNoisyMax4,
    SVT34Parallel,
)
from pdpaudit.algorithms.zoo.additive_noise import Queries, check_queries, set_bits
from pdpaudit.algorithms.zoo.sparse_vector import BELOW, flag_law
from pdpaudit.core.privacy_loss import epsilon_at, exact_loss
from pdpaudit.core.protocols import Law

#: All mechanisms by name.
ZOO = {
    name: kind
    for name, kind in vars(zoo).items()
    if isinstance(kind, type) and kind is not zoo.VectorPair
}

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)

# Outputs treated at once, which bounds the memory of their nodes.
_CHUNK = 8192


@dataclass(frozen=True)
class TrueLoss:
    """The largest privacy loss over a mechanism's pairs, both directions."""

    epsilon: float
    pair: str
    event: str


def true_loss(mechanism: Any) -> TrueLoss:
    """Return the true loss: from the laws, or derived as said."""
    match type(mechanism).__name__:
        case "Laplace" | "NoisyHist1" | "NoisyHist2":
            # The log density of the one answer that moves has this slope, below both answers too.
            return TrueLoss(1.0 / mechanism.scale, "one_below", "first answer at most 0")
        case "LaplaceParallel":
            # Each of 20 factors has slope 1/20, all of one sign below both answers.
            return TrueLoss(mechanism.epsilon, "one_below", "every output at most 0")
        case "PrefixSum":
            # Each of ten factors has slope ε, all of one sign below both inputs.
            return TrueLoss(10 * mechanism.epsilon, "all_above", "every increment at most 1")
        case "ReportNoisyMax3":
            # The log density of the maximum is that of products of five factors, each with slope
            # at most ε/2 in its answer; below all answers the slopes are equal to it.
            return TrueLoss(5 / mechanism.scale, "all_above", "output at most 1")
        case "ReportNoisyMax4":
            # The value is never below the largest answer, which moves.
            return TrueLoss(math.inf, "all_above", "output below 2")
        case "SVT3":
            # Given rho an output's density is a product of ten factors, each with slope at most
            # 1/b in its answer. With nine answers below and a last value under all answers, all
            # slopes are 1/b.
            scale = mechanism.design.query_scale
            return TrueLoss(10 / scale, "all_above", "only the last is above, by at most 1")
        case "Rappor" | "OneTimeRappor":
            return _bits_loss(mechanism)
        case "NumericalSVT":
            return _numerical_loss(mechanism)
        case "SVT34Parallel":
            return _parallel_loss(mechanism)
    losses = [
        (exact_loss(mechanism.law(pair.left), mechanism.law(pair.right)), pair.name)
        for pair in mechanism.pairs()
    ]
    worst, name = max(losses, key=lambda item: item[0].epsilon)
    return TrueLoss(worst.epsilon, name, f"likelier on the {worst.side}")


def _bits_loss(mechanism: Any) -> TrueLoss:
    """The loss of the bits in which the values of a pair differ, summed.

    The bits are independent, and whichever way one differs the report that favours the value has
    the same ratio.
    """
    one = mechanism.one_if_set
    differing = {
        pair.name: len(set_bits(pair.left) ^ set_bits(pair.right)) for pair in mechanism.pairs()
    }
    name = max(differing, key=lambda pair: differing[pair])
    return TrueLoss(differing[name] * float(np.log(one / (1 - one))), name, "every differing bit")


def _numerical_loss(mechanism: NumericalSVT) -> TrueLoss:
    """The largest loss of the flags plus that of the values released with them.

    Given the flags the values are independent, each with a loss of its answer's change over the
    scale, reached beyond both answers on the side that favours the input.
    """
    worst = TrueLoss(0.0, "", "")
    for name, left, right in mechanism.pairs():
        one, other = (flag_law(mechanism.design, x).probabilities for x in (left, right))
        change = np.abs(np.subtract(left, right)) / mechanism.value_scale
        for flags, probability in one.items():
            flag_loss = abs(float(np.log(probability / other[flags])))
            chosen = [flag is True for flag in flags]
            loss = flag_loss + float(change[chosen].sum())
            if loss > worst.epsilon:
                worst = TrueLoss(loss, name, f"flags {flags}, values beyond both answers")
    return worst


def _parallel_loss(mechanism: SVT34Parallel) -> TrueLoss:
    """The loss on ``half_half``, SVT4's exact loss plus 7/b with b = 4/ε for SVT3.

    The two are independent, so their losses in one direction add. SVT3: of the ten factors that
    favour (1, …, 1) over (2, …, 2, 0, …, 0), the first five do by at most 1/b each, and of the
    others only the two that are above; with the first five below and the next two above, the ratio
    tends to e^(7/b) as both values tend to 1. The other pairs have less wherever their SVT4 loss
    plus the same count of factors is smaller, which it is for ε from 0.01 to 10.
    """
    values, flags = mechanism.parts
    pair = next(pair for pair in mechanism.pairs() if pair.name == "half_half")
    left = np.array(list(flags.law(pair.left).probabilities.values()))
    right = np.array(list(flags.law(pair.right).probabilities.values()))
    loss = epsilon_at(left, right) + 7.0 / values.design.query_scale
    return TrueLoss(loss, pair.name, "in both the first 5 below and the next 2 above")


def has_density(mechanism: Any) -> bool:
    """Whether outputs are rows of numbers, whose density is known."""
    return not hasattr(mechanism, "law") or isinstance(mechanism, Rappor | OneTimeRappor)


def log_density(mechanism: Any, instance: Queries, outputs: Any) -> Floats:
    """Return the log density of each output, shape ``(size,)``."""
    queries = np.array(check_queries(instance))
    if isinstance(mechanism, Rappor | OneTimeRappor):
        ones = mechanism.ones(instance)
        return np.asarray(np.where(outputs, np.log(ones), np.log1p(-ones)).sum(axis=1))
    if isinstance(mechanism, ReportNoisyMax3 | ReportNoisyMax4):
        deviation, noise = outputs[:, :1] - queries, mechanism.noise(mechanism.scale)
        log_cdf = noise.logcdf(deviation)
        others = [np.delete(log_cdf, j, axis=1).sum(axis=1) for j in range(len(queries))]
        # Where no answer can be the largest all terms are -inf, and so is their sum.
        with np.errstate(divide="ignore"):
            return np.asarray(logsumexp(noise.logpdf(deviation) + np.stack(others, 1), axis=1))
    if isinstance(mechanism, SVT3):
        return _svt3_density(mechanism, queries, outputs)
    if isinstance(mechanism, NumericalSVT):
        above = (outputs != BELOW) & ~np.isnan(outputs)
        released = np.where(above, Laplace(mechanism.value_scale).logpdf(outputs - queries), 0.0)
        law = flag_law(mechanism.design, tuple(queries.tolist()))
        return np.asarray(released.sum(axis=1) + _log_flags(law, outputs))
    if isinstance(mechanism, SVT34Parallel):
        values, flags = mechanism.parts
        half = outputs.shape[1] // 2
        first = log_density(values, instance, outputs[:, :half])
        return first + _log_flags(flags.law(instance), outputs[:, half:])
    noisy = np.diff(outputs, axis=1, prepend=0.0) if type(mechanism) is PrefixSum else outputs
    return np.asarray(Laplace(mechanism.scale).logpdf(noisy - queries).sum(axis=1))


def _svt3_density(mechanism: SVT3, queries: Floats, outputs: Floats) -> Floats:
    """With respect to length on the values and counting on the rest.

    The values' densities times ``∫ p(rho) ∏ F(T + rho - x_j) d rho`` over the answers below and
    rho up to the least value minus T, by panels that all outputs share and a part of one for each.
    """
    design = mechanism.design
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
