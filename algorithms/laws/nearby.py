"""Laws of many rounds of SearchCom that differ little, from the nodes of the first of them.

Rewiring one person moves few of many vertices. The stopping rule's probability is a product over
the vertices where their count is clear of K, and elsewhere a Fourier sum over a contour chosen for
the counts at hand; other counts multiply the product, or the summand, by one factor for each
vertex that changed its score. So panels, contours and transforms are worked out once, and another
law costs one exponential for each node or frequency.

Nothing is taken on trust: that the counts are clear of K follows from Bennett's inequality for
the new ones, that the window of counts and the frequencies suffice from Bernstein's, and that the
panels do from the same two quadrature rules. Where one fails, the law is computed by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .noise import Laplace
from .one_round import RoundLaw, RoundScores, round_panels, search_com_law, winner_factors
from .quadrature import Factors, log_integrals_on, nodes_of, panels_of
from .stopping import (
    Contour,
    clearance,
    contour,
    expit,
    frequency_exponent,
    log_moment,
    tilted_excess,
    window_reach,
)
from .stopping import transform_by_levels as transform

FloatArray = NDArray[np.float64]
Changes = dict[float, float]

# The window and the frequencies are wider by this share than the first law needs.
_SPARE = 0.25
# What lies outside the window, and what the frequencies left out add, is below exp(-this); so is
# what the closed form leaves out, and for the first law below exp(-that).
_ENOUGH = 32.0
_CLEAR = 45.0
# The variance of other counts is a difference, and not known to be less than this.
_LEAST_VARIANCE = 1e-9
# Neither of passing and failing is taken from its complement where that is larger than this.
_LARGEST = 0.9
# Frequencies and levels held at once, and levels that may change.
_MOST_FREQUENCIES = 2_000_000
_MOST_HELD = 30_000_000
_MOST_CHANGES = 24
# A target may leave the first law's scores by this number of scales before its tail is cut off.
_BEYOND = 8.0


class NearbyLaws:
    """Laws of one round of SearchCom, cheap for scores close to the first ones asked about.

    The first scores asked about are the reference. Results agree with `search_com_law` to about
    1e-12 relatively, whichever way they were found.
    """

    def __init__(self, noise: Laplace, threshold: float, threshold_noise: Laplace) -> None:
        self._noise, self._threshold, self._stop = noise, threshold, threshold_noise
        self._first: RoundScores | None = None
        self._reference: _Reference | None = None
        self.cheap = self.whole = 0

    def __call__(self, scores: RoundScores) -> RoundLaw:
        """Return the law; errors as of `search_com_law`."""
        law = self._cheaply(scores)
        if law is not None:
            self.cheap += 1
            return law
        self.whole += 1
        return search_com_law(
            scores, noise=self._noise, threshold=self._threshold, threshold_noise=self._stop
        )

    def _cheaply(self, scores: RoundScores) -> RoundLaw | None:
        if self._first is None:
            if self._can_be_first(scores):
                self._first = scores
            return None
        if self._reference is None:
            self._reference = _Reference(self._first, self._noise, self._threshold, self._stop)
        law = self._reference.law(scores)
        # a law that does not sum to 1 is left to the other way, which says so
        return law if law is not None and abs(law.total - 1.0) <= 1e-11 else None

    def _can_be_first(self, scores: RoundScores) -> bool:
        noisy = self._noise.scale > 0.0 and self._stop.scale > 0.0
        crowded = scores.targets.size > 0 and scores.counts.sum() > 0
        return noisy and crowded and bool(np.isfinite(self._threshold))


class _Reference:
    """Panels for one law, and what is known at their nodes."""

    def __init__(
        self, scores: RoundScores, noise: Laplace, threshold: float, threshold_noise: Laplace
    ) -> None:
        self.scores, self.noise = scores, noise
        self.threshold, self.scale = threshold, threshold_noise.scale
        factors, ends, pooled = round_panels(scores, noise, threshold, threshold_noise)
        self.ends = panels_of(factors, ends, pooled)
        self.kinks = np.union1d(scores.targets, scores.levels)
        self.counts = dict(zip(scores.levels.tolist(), scores.counts.tolist(), strict=True))
        self.blocks: dict[tuple[float, ...], _Block | None] = {}

    def law(self, scores: RoundScores) -> RoundLaw | None:
        """Return the law of other scores, or None where the nodes do not suffice for it."""
        if scores.targets.size == 0 or scores.counts.sum() == 0:
            return None
        changes = self._changes(scores)
        levels, inverse, sizes = np.unique(scores.targets, return_inverse=True, return_counts=True)
        beyond = _BEYOND * self.noise.scale
        if len(changes) > _MOST_CHANGES or not (
            self.kinks[0] - beyond <= levels[0] and levels[-1] <= self.kinks[-1] + beyond
        ):
            return None
        parts = []
        replaced = self._divided(scores)
        for ends, left_out in [(self.ends, list(replaced)), *((e, []) for e in replaced.values())]:
            block = self._block(ends)
            part = None if block is None else block.part(changes, levels, sizes, left_out)
            if part is None:
                return None
            parts.append(part)
        logs = log_integrals_on(
            np.concatenate([part.widths for part in parts]),
            _joined([part.low for part in parts]),
            _joined([part.high for part in parts]),
            _joined([part.inside for part in parts]),
            levels.size,
        )
        if logs is None:
            return None
        none = np.logaddexp.reduce(logs[levels.size :])
        return RoundLaw(logs[: levels.size][inverse], float(none))

    def _changes(self, scores: RoundScores) -> Changes:
        changes = {level: -count for level, count in self.counts.items()}
        for level, count in zip(scores.levels.tolist(), scores.counts.tolist(), strict=True):
            changes[level] = changes.get(level, 0.0) + count
        return {level: change for level, change in changes.items() if change}

    def _divided(self, scores: RoundScores) -> dict[int, FloatArray]:
        """Return ends that replace those of the panels in which a new score lies."""
        every = np.union1d(scores.targets, scores.levels)
        new = every[(every > self.ends[0]) & (every < self.ends[-1]) & ~np.isin(every, self.ends)]
        places = np.searchsorted(self.ends, new) - 1
        return {
            place: np.concatenate(
                [self.ends[[place]], new[places == place], self.ends[[place + 1]]]
            )
            for place in np.unique(places).tolist()
        }

    def _block(self, ends: FloatArray) -> _Block | None:
        key = tuple(ends.tolist())
        if key not in self.blocks:
            if len(self.blocks) > 400:  # some tens of megabytes of small ones at most
                self.blocks = {k: b for k, b in self.blocks.items() if len(k) == self.ends.size}
            self.blocks[key] = _Block.on(self, ends)
        return self.blocks[key]


@dataclass(frozen=True, eq=False)
class _Part:
    """A round's factors on some panels."""

    widths: FloatArray
    low: Factors
    high: Factors
    inside: Factors


class _Block:
    """Neighbouring panels: at their ends and nodes, what the reference's counts make of it."""

    def __init__(self, reference: _Reference, ends: FloatArray, direct: NDArray[np.bool_]) -> None:
        noise, scores = reference.noise, reference.scores
        self.noise, self.ends = noise, ends
        self.x = np.concatenate([ends, nodes_of(ends)])
        # Failing is the same question asked of the vertices below: see `log_pass_fail`.
        self.direct = direct
        log_odds, log_base = self._odds(scores.levels)
        total = float(scores.counts.sum())
        thresholds = np.where(direct, reference.threshold, total - reference.threshold)
        self.tilt = np.full(self.x.size, -1.0 / reference.scale)
        self.mean, self.variance = tilted_excess(log_odds, scores.counts, self.tilt, thresholds)
        clear = clearance(self.mean, self.variance) >= _CLEAR
        # At `clear` points everything is relative to K and in closed form, at `near` ones to the
        # contour's centre.
        self.clear, self.near = np.flatnonzero(clear), np.flatnonzero(~clear)
        near, centre = self.near, thresholds
        self.plan: Contour = contour(
            log_odds[near], scores.counts, thresholds[near], reference.scale, spare=_SPARE
        )
        self.tilt[near], centre[near] = self.plan.tilt, self.plan.centre
        self.mean[near], self.variance[near] = self.plan.mean, self.plan.variance
        self.log_moment = log_moment(log_odds, log_base, scores.counts, self.tilt, centre)
        self.log_moment[clear] -= np.log(2.0)
        ends_at = np.append(self.plan.offset[1:], self.plan.owner.size)[: near.size] - 1
        self.last_theta = self.plan.theta[ends_at]
        # sums that leave no frequency out
        self.complete = ends_at - self.plan.offset >= self.plan.reach
        self.most_levels = max(4, _MOST_HELD // (self.plan.owner.size + self.x.size))
        self.levels: dict[float, _Level] = {}
        self.races: dict[tuple[float, ...], tuple[FloatArray, FloatArray]] = {}

    @classmethod
    def on(cls, reference: _Reference, ends: FloatArray) -> _Block | None:
        """Return the block; None where it would be too large to hold."""
        x = np.concatenate([ends, nodes_of(ends)])
        if x.size * max(30.0, reference.scores.levels.size) > _MOST_FREQUENCIES:
            return None
        above = np.exp(reference.noise.logsf(x[:, None] - reference.scores.levels))
        direct = above @ reference.scores.counts > np.floor(reference.threshold) + 0.5
        return cls(reference, ends, direct)

    def part(
        self,
        changes: Changes,
        levels: FloatArray,
        sizes: NDArray[np.int64],
        left_out: list[int],
    ) -> _Part | None:
        """Return the factors on the panels but those left out; None where they are not sure."""
        stop = self._pass_fail(changes)
        if stop is None:
            return None
        key = tuple(levels.tolist())
        if key not in self.races:
            if len(self.races) > 20:
                self.races.clear()
            centred = self.x[:, None] - levels
            self.races[key] = self.noise.logpdf(centred), self.noise.logcdf(centred)
        every = winner_factors(*self.races[key], sizes, stop)
        widths = np.diff(self.ends)
        keep = np.ones(widths.size, dtype=bool)
        keep[left_out] = False
        count = widths.size
        inside = np.repeat(keep, (self.x.size - count - 1) // count)
        places = np.arange(self.x.size)
        return _Part(
            widths[keep],
            _taken(every, places[:count][keep]),
            _taken(every, places[1 : count + 1][keep]),
            _taken(every, places[count + 1 :][inside]),
        )

    def _pass_fail(self, changes: Changes) -> tuple[FloatArray, FloatArray] | None:
        plan, near, clear = self.plan, self.near, self.clear
        mean, variance, moment = self.mean, self.variance, self.log_moment
        log_phi = plan.log_phi
        for level, change in changes.items():
            one = self._level(level)
            mean = mean + change * one.mean
            variance = variance + change * one.variance
            moment = moment + change * one.log_moment
            log_phi = log_phi + change * one.log_phi
        variance = np.maximum(variance, _LEAST_VARIANCE)
        far = frequency_exponent(variance[near], self.last_theta) < _ENOUGH
        if (
            np.any(clearance(mean[clear], variance[clear]) < _ENOUGH)
            or np.any(np.abs(mean[near]) + window_reach(variance[near], _ENOUGH) > plan.reach)
            or np.any(far & ~self.complete)
        ):
            return None
        small = moment.copy()
        small[near] += plan.log_sum(np.exp(log_phi))
        small = np.minimum(small, 0.0)
        likelihood = np.exp(small)
        if np.any(likelihood > _LARGEST):
            return None
        large = np.log1p(-likelihood)
        return np.where(self.direct, small, large), np.where(self.direct, large, small)

    def _level(self, level: float) -> _Level:
        """Return what one more vertex of a level does to the sums."""
        if level not in self.levels:
            if len(self.levels) >= self.most_levels:
                self.levels.clear()
            self.levels[level] = self._work_out(level)
        return self.levels[level]

    def _work_out(self, level: float) -> _Level:
        plan, near = self.plan, self.near
        log_odds, log_base = (values[:, 0] for values in self._odds(np.array([level])))
        tilted = log_odds + self.tilt
        mostly = tilted > 0.0
        sign = np.where(mostly, -1.0, 1.0)
        rare = expit(-np.abs(tilted))
        one = np.ones(1)
        spread = transform(rare[near, None], sign[near, None], one, plan.owner, plan.theta)
        # Where vertices below are counted, the reference's total less those above: one more
        # vertex subtracts 1 if it is above, and nothing if below.
        mean = sign * rare + mostly - ~self.direct
        moment = log_base + np.logaddexp(0.0, tilted) - self.tilt * ~self.direct
        return _Level(
            mean,
            rare * (1.0 - rare),
            moment,
            spread + 1j * plan.theta * mean[near[plan.owner]],
        )

    def _odds(self, levels: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log odds of counting at every point, and the log probability of not doing so."""
        centred = self.x[:, None] - levels
        above, below = self.noise.logsf(centred), self.noise.logcdf(centred)
        odds = above - below
        direct = self.direct[:, None]
        return np.where(direct, odds, -odds), np.where(direct, below, above)


@dataclass(frozen=True, eq=False)
class _Level:
    """One vertex's share of mean, variance and moment at all points, and of the transform."""

    mean: FloatArray
    variance: FloatArray
    log_moment: FloatArray
    log_phi: NDArray[np.complex128]


def _taken(factors: Factors, places: NDArray[np.int64]) -> Factors:
    return Factors(factors.up[places], factors.down[places], factors.either[places])


def _joined(several: list[Factors]) -> Factors:
    if len(several) == 1:
        return several[0]
    return Factors(
        np.concatenate([one.up for one in several]),
        np.concatenate([one.down for one in several]),
        np.concatenate([one.either for one in several]),
    )
