"""What one search round knows: the targets' scores, and the protected ones by level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import LawUnavailable

from .noise import Exponential, Gumbel, Laplace, Noise, Rule
from .quadrature import Factors, log_integrals, logsumexp
from .stopping import log_pass_fail

FloatArray = NDArray[np.float64]


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
