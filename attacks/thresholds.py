"""Thresholds for an ordering of outputs: where to cut it, and what to expect of each event.

A score learnt elsewhere estimates the log likelihood ratio. How far it can be believed is one
number, the slope of a logistic regression of the side on the score, and one number is known far
better than the counts in a tail: where every output tells little, counts alone would take the bulk
for the best event, or the luckiest. Where outputs tell much, the counts are precise, and the score
need not be right. Both estimates of an event's log ratio are weighed by their precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from pdpaudit.outputs import Event

Floats = npt.NDArray[np.float64]

#: Steps of Newton's method, and the slopes it may reach.
STEPS, STEEPEST = 8, 3.0

#: Standard error of a promise that nothing is known of.
UNKNOWN = 10.0

#: Share of a score's promise that is put down to its being wrong.
MISFIT = 0.2


@dataclass(frozen=True)
class Choice:
    """An event, and the lower bound on ε it may be expected to give on fresh samples."""

    event: Event
    expected: float
    others: tuple[Choice, ...] = ()


def levels(count: int) -> Floats:
    """Return shares at which to cut an ordering, denser towards both ends."""
    half = np.geomspace(1e-4, 0.5, max(2, count // 2))
    return np.concatenate([half, 1.0 - half[-2::-1]])


def apart(expected: Floats, inside: npt.ArrayLike, most: int) -> list[int]:
    """Return the best of several nested events and some that are clearly smaller or larger."""
    sizes, kept = np.asarray(inside, dtype=np.float64) + 1.0, list[int]()
    for i in np.argsort(-expected, kind="stable").tolist():
        if all(abs(np.log(sizes[i] / sizes[j])) > np.log(1.5) for j in kept):
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


def calibrated(scores: Floats, ours: Floats, theirs: Floats, cuts: npt.NDArray[np.intp]) -> Curve:
    """Read the events that cut a score off a sample that it was not learnt from."""
    total, other = float(ours.sum()), float(theirs.sum())
    if not total or not other:
        nothing = np.zeros(len(cuts))
        counts = (np.cumsum(ours)[cuts - 1], np.cumsum(theirs)[cuts - 1])
        return Curve(*counts, nothing, nothing + UNKNOWN)
    prior = float(np.log(total / other))
    level, slope, error = prior, 0.0, 0.0
    weights = ours + theirs
    for _ in range(STEPS):
        chance = special.expit(level + slope * scores)
        miss, spread = ours - weights * chance, weights * chance * (1 - chance)
        first, second = float(spread @ scores), float(spread @ scores**2)
        flat = float(spread.sum())
        det = flat * second - first**2
        if det <= 1e-9 * flat * max(second, 1e-300):
            break
        up, tilt = float(miss.sum()), float(miss @ scores)
        level += (second * up - first * tilt) / det
        moved = (flat * tilt - first * up) / det
        slope = float(np.clip(slope + moved, -STEEPEST, STEEPEST))
        error = float(np.sqrt(flat / det))
        if abs(moved) < 1e-3 * error:
            break
    share = ours / total + theirs / other
    inside = np.cumsum(share)[cuts - 1]
    promised, less = (
        _ratio(np.cumsum(share * special.expit(level - prior + tried * scores))[cuts - 1], inside)
        for tried in (slope, slope - error)
    )
    return Curve(np.cumsum(ours)[cuts - 1], np.cumsum(theirs)[cuts - 1], promised, promised - less)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return the log of a part's odds in a whole."""
    part = np.clip(part, 1e-12 * whole, (1 - 1e-12) * whole)
    return np.asarray(np.log(part) - np.log(whole - part), dtype=np.float64)


def blended(
    curves: list[Curve], runs: tuple[float, float], caution: float
) -> tuple[Floats, Floats]:
    """Return both sides' probabilities of each event, counts and promise weighed together."""
    ours = sum((curve.ours for curve in curves), np.zeros(1)) + 0.375
    theirs = sum((curve.theirs for curve in curves), np.zeros(1)) + 0.375
    n, m = runs[0] + 0.75, runs[1] + 0.75
    p, q = ours / n, theirs / m
    counted, noise = np.log(p / q), (1 - p) / ours + (1 - q) / theirs
    promised = sum((curve.promised for curve in curves), np.zeros(1)) / len(curves)
    doubt = sum((curve.error**2 for curve in curves), np.zeros(1)) / len(curves) ** 2
    doubt = doubt + (MISFIT * promised) ** 2 + 1e-12
    noise = noise + 1e-12
    ratio = (counted / noise + promised / doubt) / (1 / noise + 1 / doubt)
    ratio = ratio - caution / np.sqrt(1 / noise + 1 / doubt)
    # The two shares together are known best; the ratio tells how they divide.
    both = p + q
    one = both * special.expit(ratio)
    return np.minimum(one, 1.0), np.clip(both - one, 1e-300, 1.0)
