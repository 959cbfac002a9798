"""The law of one search round, by adaptive Gauss-Kronrod integration in logarithms.

A round knows the targets' scores, and the protected ones by level. Each integrand is a product of
factors that are monotone between breakpoints, so bounds over a panel come from its ends. A panel is
dropped only when its upper bound is negligible for every integral, and accepted only when
quadrature sees most of that bound: a narrow peak far from every node cannot be missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike, NDArray

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import LawUnavailable

from .noise import Exponential, Gumbel, Laplace, Noise, Rule
from .stopping import log_pass_fail

FloatArray = NDArray[np.float64]

_NODES, _WEIGHTS = leggauss(12)
_COARSE_NODES, _COARSE_WEIGHTS = leggauss(7)
_ALL_NODES = np.concatenate([_NODES, _COARSE_NODES])
_LOG_FINE = np.log(_WEIGHTS / 2.0)
_LOG_COARSE = np.log(_COARSE_WEIGHTS / 2.0)
# A dropped panel holds at most this share of each integral.
_LOG_NEGLIGIBLE = np.log(1e-16)
# Two rules of orders 14 and 24 that differ by a share d of a panel's integral: the finer one is
# taken to be off by d^1.5 (24/14 = 1.71 in theory), which may be this share of the whole.
_LOG_ERROR = np.log(1e-14)
# Quadrature must see at least this share of the panel's upper bound.
_LOG_SEEN = np.log(1e-4)
_MAX_DEPTH = 200


@dataclass(frozen=True)
class Factors:
    """Logarithms of an integrand's factors at N points, for E integrals.

    ``direction`` of each matrix: `up` never falls, `down` never rises between breakpoints, and
    `either` is monotone in a direction that may differ from panel to panel.
    """

    up: FloatArray
    down: FloatArray
    either: FloatArray

    def at(self, places: NDArray[np.bool_] | slice) -> Factors:
        """Return the factors at some of the points."""
        return Factors(self.up[places], self.down[places], self.either[places])


def logsumexp(values: FloatArray, axis: int = 0) -> FloatArray:
    """Logarithm of a sum of exponentials that takes -inf without a warning."""
    top = values.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - top).sum(axis=axis)) + np.squeeze(top, axis))


def log_integrals(
    factors: Callable[[FloatArray], Factors], breakpoints: FloatArray, pooled: int = 0
) -> FloatArray:
    """Logarithms of E integrals of positive functions over [breakpoints[0], breakpoints[-1]]."""
    ends = factors(breakpoints)
    left, right = breakpoints[:-1], breakpoints[1:]
    lo, hi = ends.at(slice(None, -1)), ends.at(slice(1, None))
    done: list[FloatArray] = []
    for _ in range(_MAX_DEPTH):
        log_width = np.log(right - left)[:, None]
        upper = hi.up + lo.down + np.maximum(lo.either, hi.either) + log_width
        lower = lo.up + hi.down + np.minimum(lo.either, hi.either) + log_width
        floor = logsumexp(np.concatenate([*done, lower]))
        floor = _pool(floor, pooled)
        keep = np.any(upper > floor + _LOG_NEGLIGIBLE, axis=1)
        if not keep.any():
            return logsumexp(np.concatenate([*done, lower]))
        left, right, upper = left[keep], right[keep], upper[keep]
        lo, hi, log_width = lo.at(keep), hi.at(keep), log_width[keep]
        middle, half = 0.5 * (left + right), 0.5 * (right - left)
        # The midpoint (node 3 of the 7) serves the children as an end.
        nodes = (middle[:, None] + half[:, None] * _ALL_NODES).ravel()
        inside = factors(nodes)
        fine, coarse = _both_rules(inside, log_width)
        total = _pool(logsumexp(np.concatenate([*done, fine])), pooled)
        total = np.maximum(total, floor)
        good = _agree(fine, coarse, upper, total)
        if good.any():
            done.append(fine[good])
        bad = ~good
        if not bad.any():
            return logsumexp(np.concatenate(done))
        centre = inside.at(slice(15, None, _ALL_NODES.size)).at(bad)
        lo, hi = _join(lo.at(bad), centre), _join(centre, hi.at(bad))
        left = np.concatenate([left[bad], middle[bad]])
        right = np.concatenate([middle[bad], right[bad]])
    raise LawUnavailable(
        f"quadrature did not converge near x = {left[0]!r}; "
        "score levels closer than rounding allows: round the scores"
    )


def _both_rules(inside: Factors, log_width: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each panel's integrals by the finer and by the coarser rule."""
    values = inside.up + inside.down + inside.either
    values = values.reshape((log_width.size, _ALL_NODES.size, -1))
    fine = logsumexp(values[:, :12] + _LOG_FINE[:, None], axis=1) + log_width
    coarse = logsumexp(values[:, 12:] + _LOG_COARSE[:, None], axis=1) + log_width
    return fine, coarse


def _pool(total: FloatArray, pooled: int) -> FloatArray:
    """Measure the last `pooled` integrals against their sum."""
    if pooled:
        total = total.copy()
        total[-pooled:] = logsumexp(total[-pooled:])
    return total


def _agree(
    fine: FloatArray, coarse: FloatArray, upper: FloatArray, total: FloatArray
) -> NDArray[np.bool_]:
    """Panels on which every integral is either negligible or resolved."""
    negligible = upper <= total + _LOG_NEGLIGIBLE
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.log(np.minimum(np.abs(np.expm1(coarse - fine)), 1.0))
        error = fine + 1.5 * gap
    resolved = (error <= total + _LOG_ERROR) & (fine >= upper + _LOG_SEEN)
    return np.asarray(np.all(negligible | resolved, axis=1))


def _join(a: Factors, b: Factors) -> Factors:
    pairs = ((a.up, b.up), (a.down, b.down), (a.either, b.either))
    return Factors(*(np.concatenate(pair) for pair in pairs))


# Gauss-Legendre panels for products of Laplace or exponential factors: between kinks such a
# product is a sum of exponentials, so panels across which it changes by a factor of at most e^6
# are integrated to rounding by 16 nodes.
PANEL_NODES = 16
#: Error of a probability from these panels, with a margin.
QUADRATURE_ERROR = 1e-13
# Largest change of the integrand across a panel, as an exponent.
_CHANGE = 6.0
# The tails are cut where they have fallen by e^-45, a share of 3e-20.
_REACH = 45.0


def panels(
    kinks: Sequence[float] | FloatArray, rate: float, decay: float, *, left: bool = True
) -> FloatArray:
    """Return the edges of panels that cover the line as far as it matters."""
    corners = np.unique(np.asarray(kinks, dtype=np.float64))
    reach = _REACH / decay
    ends = [*([corners[0] - reach] if left else []), *corners, corners[-1] + reach]
    pieces = [
        np.linspace(low, high, max(1, int(np.ceil((high - low) * rate / _CHANGE))) + 1)[:-1]
        for low, high in pairwise(ends)
    ]
    return np.concatenate([*pieces, ends[-1:]])


def panel_nodes(edges: FloatArray, count: int = PANEL_NODES) -> tuple[FloatArray, FloatArray]:
    """Return the nodes and weights of all panels, ``count`` for each."""
    points, weights = leggauss(count)
    middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    nodes = (middle[:, None] + half[:, None] * points).ravel()
    return nodes, (half[:, None] * weights).ravel()


# One round


@dataclass(frozen=True, eq=False)
class RoundScores:
    """Scores of the vertices a round may still examine.

    Build it with `from_vertices` or `from_levels`.
    """

    targets: FloatArray
    levels: FloatArray
    counts: FloatArray
    first: int
    ahead: int | None

    @classmethod
    def from_vertices(
        cls,
        targets: ArrayLike,
        protected: ArrayLike,
        target_vertices: ArrayLike | None = None,
        protected_vertices: ArrayLike | None = None,
    ) -> RoundScores:
        """Group the scores of single vertices.

        Cost: O((m + n) log n).
        """
        scores = np.asarray(protected, dtype=np.float64)
        law = cls.from_levels(targets, scores, np.ones(scores.size), target_vertices)
        if law.ahead is not None or target_vertices is None or protected_vertices is None:
            return law
        best, vertex = law.targets[law.first], _first(law.targets, target_vertices)[1]
        numbers = np.asarray(protected_vertices)
        tied = int((numbers[scores == best] < vertex).sum())
        return replace(law, ahead=int((scores > best).sum()) + tied)

    @classmethod
    def from_levels(
        cls,
        targets: ArrayLike,
        levels: ArrayLike,
        counts: ArrayLike,
        target_vertices: ArrayLike | None = None,
    ) -> RoundScores:
        """Take the protected vertices as levels with multiplicities, in any order.

        Equal levels are merged and empty ones dropped.
        """
        target_scores, given, sizes = (
            np.asarray(values, dtype=np.float64) for values in (targets, levels, counts)
        )
        distinct, inverse = np.unique(given[sizes > 0], return_inverse=True)
        merged = np.bincount(inverse, weights=sizes[sizes > 0], minlength=distinct.size).astype(
            float
        )
        first, _ = _first(target_scores, target_vertices)
        ahead: int | None = 0
        if first >= 0:
            best = target_scores[first]
            ahead = None if np.any(distinct == best) else int(merged[distinct > best].sum())
        return cls(target_scores, distinct, merged, first, ahead)


def _first(scores: FloatArray, vertices: ArrayLike | None) -> tuple[int, int]:
    """Position and number of the noiseless winner: largest score, then smallest number."""
    if scores.size == 0:
        return -1, -1
    numbers = np.arange(scores.size) if vertices is None else np.asarray(vertices)
    best = np.flatnonzero(scores == scores.max())
    position = int(best[np.argmin(numbers[best])])
    return position, int(numbers[position])


# Beyond the last kink by ln(n) + 43 scales, what is left is below exp(-40) of what was seen.
_TAIL = 43.0
_TAIL_STEP = 4.0


@dataclass(frozen=True, eq=False)
class RoundLaw:
    """Law of one round's output.

    Logarithms carry the *relative* accuracy a privacy loss needs, about 1e-11. The probability
    of the empty answer is integrated by itself, so that `total` is a check.
    """

    log_found: FloatArray
    log_none: float

    @property
    def found(self) -> FloatArray:
        """Probability that each target is returned, shape (m,)."""
        return np.asarray(np.exp(self.log_found))

    @property
    def none(self) -> float:
        """Probability of the empty answer."""
        return float(np.exp(self.log_none))

    @property
    def total(self) -> float:
        """Sum of all probabilities; 1 up to about 1e-12."""
        return float(self.found.sum() + self.none)


def search_com_noises(
    epsilon: float, sensitivity: float, impact_cardinality: float
) -> tuple[Laplace, Laplace]:
    """Noise on the scores and on the threshold, as the appendix algorithm sets them."""
    return Laplace(4.0 * sensitivity / epsilon), Laplace(2.0 * impact_cardinality / epsilon)


def search_com_law(
    scores: RoundScores, *, noise: Laplace, threshold: float, threshold_noise: Laplace
) -> RoundLaw:
    """Law of one round of SearchCom, the appendix algorithm.

    The winner is the remaining target of largest noisy score; it is returned iff the number of
    protected vertices above it is at most ``threshold`` plus noise.

    ``Pr[t] = integral of p(x - a_t) prod F(x - a_l) g(x)``, g of `log_pass_fail`. Cost:
    quadrature nodes (some 10 per score level) times protected levels times 25, whatever the
    numbers of vertices.
    """
    if scores.targets.size == 0:
        return RoundLaw(np.zeros(0), 0.0)
    if noise.scale == 0.0:
        return _noiseless_search(scores, threshold, threshold_noise)
    if threshold == np.inf:
        return first_target_law(scores.targets, noise)
    levels, inverse, sizes = np.unique(scores.targets, return_inverse=True, return_counts=True)

    def stop(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        centred = x[:, None] - scores.levels
        above, below = noise.logsf(centred), noise.logcdf(centred)
        return log_pass_fail(above, below, scores.counts, threshold, threshold_noise.scale)

    crowd = float(scores.counts.sum()) + scores.targets.size
    panels = laplace_panels(np.union1d(levels, scores.levels), noise, crowd)
    # Per target level a given one of it wins and passes; then any of it wins and fails.
    densities = _winner_densities(noise, levels, sizes, stop)
    logs = log_integrals(densities, panels, levels.size)
    found, none = np.split(logs, [levels.size])
    return _checked(found[inverse], float(logsumexp(none)))


def law_of_rule(scores: RoundScores, rule: Rule) -> RoundLaw:
    """Law of one round of SearchCom by its rule, whose noise is Laplace's."""
    noise, stop = Laplace(rule.noise.scale), Laplace(rule.limit_scale)
    return search_com_law(scores, noise=noise, threshold=rule.limit, threshold_noise=stop)


def first_target_law(
    targets: ArrayLike,
    noise: Noise,
    target_vertices: ArrayLike | None = None,
    *,
    stop_score: float | None = None,
) -> RoundLaw:
    """Law of a noisy maximum over the remaining targets, and a public score if one is given.

    Of the main text's search, where protected vertices do not matter to the answer, and of the
    threshold stop. Cost: some 10 to 20 quadrature nodes per distinct score; closed form for Gumbel
    noise.
    """
    scores = RoundScores.from_levels(targets, [], [], target_vertices)
    if scores.targets.size == 0:
        return RoundLaw(np.zeros(0), 0.0)
    if noise.scale == 0.0:
        wins = stop_score is None or scores.targets[scores.first] >= stop_score
        log_found, log_none = (0.0, -np.inf) if wins else (-np.inf, 0.0)
        return _certain(scores.targets.size, scores.first, log_found, log_none)
    if stop_score is None:
        return _checked(_log_argmax(scores.targets, noise), -np.inf)
    logs = _log_argmax(np.append(scores.targets, stop_score), noise)
    return _checked(logs[:-1], float(logs[-1]))


def _certain(size: int, first: int, log_found: float, log_none: float) -> RoundLaw:
    logs = np.full(size, -np.inf)
    logs[first] = log_found
    return RoundLaw(logs, log_none)


def _noiseless_search(scores: RoundScores, threshold: float, noise: Laplace) -> RoundLaw:
    """Without noise on the scores the order is fixed, and only the threshold is random."""
    if threshold == np.inf:
        return _certain(scores.targets.size, scores.first, 0.0, -np.inf)
    if scores.ahead is None:
        raise InputError(
            "without noise, protected vertices that tie with the best target need vertex numbers: "
            "build the scores with RoundScores.from_vertices and all numbers"
        )
    gap = scores.ahead - threshold
    if noise.scale == 0.0:
        log_found, log_none = (0.0, -np.inf) if gap <= 0.0 else (-np.inf, 0.0)
    else:
        log_found, log_none = float(noise.logsf(gap)), float(noise.logcdf(gap))
    return _certain(scores.targets.size, scores.first, log_found, log_none)


def _log_argmax(values: FloatArray, noise: Noise) -> FloatArray:
    """Logarithm of each entry's probability of having the largest noisy value."""
    if isinstance(noise, Gumbel):
        scaled = values / noise.scale
        return np.asarray(scaled - logsumexp(scaled))
    levels, inverse, sizes = np.unique(values, return_inverse=True, return_counts=True)
    if isinstance(noise, Laplace):
        panels = laplace_panels(levels, noise, float(values.size))
    elif isinstance(noise, Exponential):
        # No noise is negative, so the largest noisy value is at least the largest value.
        reach = noise.scale * (np.log(values.size) + _TAIL)
        panels = levels[-1] + _tail(reach, noise.scale)
    else:
        raise InputError(f"no law for the noise {noise!r}; use Laplace, Gumbel or Exponential")
    found = log_integrals(_winner_densities(noise, levels, sizes, None), panels)
    return np.asarray(found[inverse])


def _tail(reach: float, scale: float) -> FloatArray:
    return np.linspace(0.0, reach, int(np.ceil(reach / (_TAIL_STEP * scale))) + 1)


def laplace_panels(kinks: FloatArray, noise: Laplace, crowd: float) -> FloatArray:
    """Return panels to begin with: between the scores, and beyond them as far as it matters."""
    tail = _tail(noise.scale * (np.log(crowd) + _TAIL), noise.scale)[1:]
    return np.concatenate([kinks[0] - tail[::-1], kinks, kinks[-1] + tail])


def _winner_densities(
    noise: Noise,
    levels: FloatArray,
    sizes: NDArray[np.int64],
    stop: Callable[[FloatArray], tuple[FloatArray, FloatArray]] | None,
) -> Callable[[FloatArray], Factors]:
    """Return factors of a round's integrals: per target level found, then none found."""
    weights = sizes.astype(float)

    def factors(x: FloatArray) -> Factors:
        centred = x[:, None] - levels
        log_pdf = noise.logpdf(centred)
        others = _product_of_others(noise.logcdf(centred), weights)
        if stop is None:
            return Factors(others, np.zeros_like(others), log_pdf)
        log_pass, log_fail = stop(x)
        up = np.hstack([others + log_pass[:, None], others])
        down = np.hstack([np.zeros_like(others), np.repeat(log_fail[:, None], sizes.size, axis=1)])
        return Factors(up, down, np.hstack([log_pdf, log_pdf + np.log(weights)]))

    return factors


def _product_of_others(log_cdf: FloatArray, weights: FloatArray) -> FloatArray:
    """Log of prod_l F_l^w_l / F_j per level j, where F may be 0."""
    zero = np.isneginf(log_cdf)
    if not zero.any():
        return np.asarray((log_cdf @ weights)[:, None] - log_cdf)
    finite = np.where(zero, 0.0, log_cdf)
    zeros_elsewhere = (zero @ weights)[:, None] - zero
    product = (finite @ weights)[:, None] - finite
    return np.where(zeros_elsewhere > 0, -np.inf, product)


def _checked(log_found: FloatArray, log_none: float) -> RoundLaw:
    law = RoundLaw(log_found, log_none)
    if not abs(law.total - 1.0) <= 1e-10:
        raise LawUnavailable(
            f"the law sums to {law.total!r} instead of 1: scores too far apart or too close "
            "for double precision; rescale or round them"
        )
    return law
