"""Thresholds for an ordering of outputs: where to cut it, and what to expect of each event.

A score learnt elsewhere estimates the log likelihood ratio, and so does the rarity of a number in
the tail of its column. How far it can be believed is a curve of two numbers, fitted by logistic
regression of the side on the score and its square, and two numbers are known far better than the
counts in a tail: where every output tells little, counts alone would take the bulk for the best
event, or the luckiest. Where outputs tell much, the counts are precise, and the score need not be
right. Both estimates of an event's log ratio are weighed by their precision.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import special

from pdpaudit.outputs import Event

Floats = npt.NDArray[np.float64]

#: Steps of Newton's method, and how large each may be.
STEPS, STEP = 8, 2.0

#: Standard deviations that a curve's slope and bend are expected to have, for a score of standard
#: deviation 1: little is known of the one, and most scores are nearly straight.
SLOPE, BEND = 3.0, 0.3

#: Standard error of a promise that nothing is known of.
UNKNOWN = 10.0

#: Share of a score's promise that is put down to its being wrong.
MISFIT = 0.2

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


def levels(count: int) -> Floats:
    """Return shares at which to cut an ordering, denser towards both ends."""
    half = np.geomspace(1e-4, 0.5, max(2, count // 2))
    return np.concatenate([half, 1.0 - half[-2::-1]])


def apart(
    expected: Floats, inside: npt.ArrayLike, most: int, sure: Floats | None = None
) -> list[int]:
    """Return the best of several nested events and some that are clearly smaller or larger.

    Of what is ``sure`` of each also the most, as what looks best may be rare and lucky.
    """
    sizes, kept = np.asarray(inside, dtype=np.float64) + 1.0, list[int]()
    # Rounded, for last digits differ between processors.
    for i in np.argsort(-expected.round(DECIMALS), kind="stable").tolist():
        if all(abs(np.log(sizes[i] / sizes[j])) > np.log(1.5) for j in kept):
            kept.append(i)
        if len(kept) == most:
            break
    if sure is not None and (surest := int(np.argmax(sure.round(DECIMALS)))) not in kept:
        kept.append(surest)
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
    share = ours / total + theirs / other
    design = _design(scores, share)
    fitted, errors = _fit(design, ours, theirs, prior)
    both = np.cumsum(share)[cuts - 1]

    def promise(tried: Floats) -> Floats:
        odds = special.expit(design @ tried - prior)
        return _ratio(np.cumsum(share * odds)[cuts - 1], both)

    promised = promise(fitted)
    moved = [promise(fitted + step) - promised for step in np.diag(errors)[1:]]
    inside, inside_other = np.cumsum(ours)[cuts - 1], np.cumsum(theirs)[cuts - 1]
    wrong = _misfit(promised, inside, total, inside_other, other)
    error = np.sqrt(np.sum(np.square(moved), axis=0) + wrong)
    return Curve(inside, inside_other, promised, error)


def _misfit(promised: Floats, ours: Floats, total: float, theirs: Floats, other: float) -> Floats:
    """Return by what variance counts show the promises to be wrong, of each event or a wider one.

    A curve that is wrong where much is counted is no better beyond.
    """
    counted = np.log((ours + 0.375) / (total + 0.75) * (other + 0.75) / (theirs + 0.375))
    noise = 1 / (ours + 0.375) + 1 / (theirs + 0.375)
    excess = np.maximum((counted - promised) ** 2 - CHANCE * noise, 0.0)
    return np.maximum.accumulate(excess[::-1])[::-1]


def _design(scores: Floats, share: Floats) -> Floats:
    """Return 1, the score and its square, each apart from those before and of deviation 1."""
    weights = share / share.sum()
    columns = [np.ones(len(scores))]
    for power in (1, 2):
        column = columns[-1] * columns[1] if power == 2 else scores - weights @ scores
        for other in columns:
            column = column - (weights @ (column * other)) * other
        spread = float(np.sqrt(weights @ column**2))
        known = spread > 1e-9 * (1.0 + float(np.abs(scores).max()))
        columns.append(column / spread if known else np.zeros(len(scores)))
    return np.stack(columns, axis=1)


def _fit(design: Floats, ours: Floats, theirs: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the weights of a logistic regression, and their standard errors."""
    weights, penalty = ours + theirs, np.array([0.0, SLOPE**-2, BEND**-2])
    fitted = np.array([level, 0.0, 0.0])
    for _ in range(STEPS):
        chance = special.expit(design @ fitted)
        slope = design.T @ (ours - weights * chance) - penalty * fitted
        bend = (design.T * (weights * chance * (1 - chance))) @ design + np.diag(penalty)
        bend[0, 0] += 1e-9
        step = np.clip(np.linalg.solve(bend, slope), -STEP, STEP)
        fitted = fitted + step
        if np.abs(step).max() < 1e-9:
            break
    known = (design != 0).any(axis=0)
    return fitted, np.where(known, np.sqrt(np.diag(np.linalg.inv(bend))), 0.0)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return the log of a part's odds in a whole."""
    part = np.clip(part, 1e-12 * whole, (1 - 1e-12) * whole)
    return np.asarray(np.log(part) - np.log(whole - part), dtype=np.float64)


def blended(
    curves: list[Curve], runs: tuple[float, float], caution: float
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
