"""Thresholds for an ordering of outputs: where to cut it, and what to expect of each event.

A score learnt elsewhere estimates the log likelihood ratio, and so does the rarity of a number in
the tail of its column. How far it can be believed is a curve of two numbers, fitted by logistic
regression of the side on the score and its square, and two numbers are known far better than the
counts in a tail: where every output tells little, counts alone would take the bulk for the best
event, or the luckiest. Where outputs tell much, the counts are precise, and the score need not be
right. Both estimates of an event's log ratio are weighed by their precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import special

from pdpaudit.outputs import Event

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

#: Steps of Newton's method, and how large each may be.
STEPS, STEP = 8, 2.0

#: Standard deviations that a curve's slope and bend are expected to have, for a score of standard
#: deviation 1: little is known of the one, and most scores are nearly straight.
SLOPE, BEND = 3.0, 0.3

#: Standard error of a promise that nothing is known of.
UNKNOWN = 10.0

#: Share of a score's promise that is put down to its being wrong.
MISFIT = 0.2

#: Times as large as another from which on a nested event is clearly larger.
LARGER = 1.5

#: Decimals of a promise that are compared.
DECIMALS = 9

#: Standard errors more that are given away where an event is to be surely good, not the best.
SURE = 2.0

#: Squared errors of counts by which a promise may differ from them by chance.
CHANCE = 3.0


@dataclass(frozen=True)
class Choice:
    """An event, and the lower bound on ε it may be expected to give on fresh samples.

    ``known`` is what discovery knows of its probabilities, on its own side and on the other, as
    if they had been seen in a number of runs.
    """

    event: Event
    expected: float
    others: tuple[Choice, ...] = ()
    known: tuple[float, float, float] = field(default=(0.0, 0.0, 0.0), compare=False)


def promising(event: Event, expected: float, p: float, q: float, runs: float) -> Choice:
    """Return an event with what is known of its probabilities, as if seen in a number of runs."""
    return Choice(event, float(expected), known=(float(p * runs), float(q * runs), float(runs)))


@cache
def levels(count: int) -> Floats:
    """Return shares at which to cut an ordering, denser towards both ends."""
    half = np.geomspace(1e-4, 0.5, max(2, count // 2))
    return np.concatenate([half, 1.0 - half[-2::-1]])


def apart(expected: Floats, inside: npt.ArrayLike, most: int) -> list[int]:
    """Return the best of several nested events and some that are clearly smaller or larger."""
    sizes, kept = (np.asarray(inside, dtype=np.float64) + 1.0).tolist(), list[int]()
    # Rounded, for last digits differ between processors.
    for i in np.argsort(-expected.round(DECIMALS), kind="stable").tolist():
        if all(sizes[i] > LARGER * sizes[j] or LARGER * sizes[i] <= sizes[j] for j in kept):
            kept.append(i)
        if len(kept) == most:
            break
    return kept


@dataclass(frozen=True)
class Curve:
    """Events that cut a score, from the narrowest on, as one sample shows them."""

    ours: Floats
    theirs: Floats
    promised: Floats
    error: Floats


def calibrated(scores: Floats, ours: Floats, theirs: Floats, cuts: Ints) -> Curve:
    """Read the events that cut a score off a sample that it was not learnt from.

    Along the last axis; further axes are scores by themselves, all of them fitted at once.
    """
    total, other = ours.sum(axis=-1, keepdims=True), theirs.sum(axis=-1, keepdims=True)
    empty = (total == 0) | (other == 0)
    some, others = np.where(empty, 1.0, total), np.where(empty, 1.0, other)
    prior, share = np.log(some / others), ours / some + theirs / others
    design = _design(scores, share)
    fitted, errors = _fit(design, ours, theirs, prior)
    # Where the cuts are in all curves, one after the other.
    lead = ours.shape[:-1]
    ends = np.arange(math.prod(lead)).reshape(*lead, 1) * ours.shape[-1] + cuts - 1
    both = _before(share, ends)

    def promise(tried: Floats) -> Floats:
        odds = special.expit(_times(design, tried) - prior)
        return _ratio(_before(share * odds, ends), both)

    promised = promise(fitted)
    steps = [errors * (np.arange(3) == place) for place in (1, 2)]
    moved = sum((promise(fitted + step) - promised) ** 2 for step in steps)
    inside, inside_other = _before(ours, ends), _before(theirs, ends)
    error = np.sqrt(moved + _misfit(promised, inside, some, inside_other, others))
    promised, error = np.where(empty, 0.0, promised), np.where(empty, UNKNOWN, error)
    return Curve(inside, inside_other, promised, error)


def _before(parts: Floats, ends: Ints) -> Floats:
    """Return how much lies before each cut, the last place included."""
    return np.cumsum(parts, axis=-1).take(ends)


def _times(matrix: Floats, vector: Floats) -> Floats:
    return np.asarray((matrix @ vector[..., None])[..., 0])


def _misfit(promised: Floats, ours: Floats, total: Floats, theirs: Floats, other: Floats) -> Floats:
    """Return by what variance counts show the promises to be wrong, of each event or a wider one.

    A curve that is wrong where much is counted is no better beyond.
    """
    counted = np.log((ours + 0.375) / (total + 0.75) * (other + 0.75) / (theirs + 0.375))
    noise = 1 / (ours + 0.375) + 1 / (theirs + 0.375)
    excess = np.maximum((counted - promised) ** 2 - CHANCE * noise, 0.0)
    return np.maximum.accumulate(excess[..., ::-1], axis=-1)[..., ::-1]


def _design(scores: Floats, share: Floats) -> Floats:
    """Return 1, the score and its square, each apart from those before and of deviation 1."""
    weights = share / np.maximum(share.sum(axis=-1, keepdims=True), 1e-300)
    least = 1e-9 * (1.0 + np.abs(scores).max(axis=-1, keepdims=True))
    columns = [np.ones(weights.shape)]
    for power in (1, 2):
        column = columns[-1] * columns[1] if power == 2 else scores - _mean(weights, scores)
        for other in columns:
            column = column - _mean(weights, column * other) * other
        spread = np.sqrt(_mean(weights, column**2))
        columns.append(np.where(spread > least, column / np.maximum(spread, 1e-300), 0.0))
    return np.stack(columns, axis=-1)


def _mean(weights: Floats, values: Floats) -> Floats:
    return np.asarray((weights * values).sum(axis=-1, keepdims=True), dtype=np.float64)


def _fit(design: Floats, ours: Floats, theirs: Floats, level: Floats) -> tuple[Floats, Floats]:
    """Return the weights of a logistic regression, and their standard errors."""
    weights, penalty = ours + theirs, np.array([0.0, SLOPE**-2, BEND**-2])
    turned, least = np.swapaxes(design, -1, -2), np.diag(penalty + np.array([1e-9, 0.0, 0.0]))
    fitted = level * np.array([1.0, 0.0, 0.0])
    for _ in range(STEPS):
        chance = special.expit(_times(design, fitted))
        slope = _times(turned, ours - weights * chance) - penalty * fitted
        bend = (turned * (weights * chance * (1 - chance))[..., None, :]) @ design + least
        step = np.clip(np.linalg.solve(bend, slope[..., None])[..., 0], -STEP, STEP)
        fitted = fitted + step
        if np.abs(step).max() < 1e-9:
            break
    known = (design != 0).any(axis=-2)
    spread = np.diagonal(np.linalg.inv(bend), axis1=-2, axis2=-1)
    return fitted, np.where(known, np.sqrt(spread), 0.0)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return the log of a part's odds in a whole."""
    part = np.clip(part, 1e-12 * whole, (1 - 1e-12) * whole)
    return np.asarray(np.log(part) - np.log(whole - part), dtype=np.float64)


def blended(
    curves: list[Curve], runs: tuple[float | Floats, float | Floats], caution: float
) -> tuple[Floats, Floats, Floats]:
    """Return both sides' probabilities of each event, counts and promise weighed together.

    With the runs a side that would have to be counted to know their ratio as well.
    """
    ours = sum((curve.ours for curve in curves), np.zeros(1)) + 0.375
    theirs = sum((curve.theirs for curve in curves), np.zeros(1)) + 0.375
    n, m = runs[0] + 0.75, runs[1] + 0.75
    p, q = ours / n, theirs / m
    counted, noise = np.log(p / q), (1 - p) / ours + (1 - q) / theirs
    promised = sum((curve.promised for curve in curves), np.zeros(1)) / len(curves)
    doubt = sum((curve.error**2 for curve in curves), np.zeros(1)) / len(curves) ** 2
    doubt = doubt + (MISFIT * promised) ** 2 + 1e-12
    noise = noise + 1e-12
    error = 1 / (1 / noise + 1 / doubt)
    ratio = (counted / noise + promised / doubt) * error - caution * np.sqrt(error)
    # The two shares together are known best; the ratio tells how they divide.
    both = p + q
    one = both * special.expit(ratio)
    p, q = np.minimum(one, 1.0), np.clip(both - one, 1e-300, 1.0)
    return p, q, np.maximum((1 - p) / p + (1 - q) / q, 0.0) / error
