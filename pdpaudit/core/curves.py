"""Trade-off curves as points: rates of false positives, and of false negatives there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from pdpaudit.core.divergence import Floats

__all__ = ["Points", "best_events", "by_ratio", "convex_curve", "lower_curve", "turned"]

#: A convex curve from the left to the right, straight between its points.
Points = tuple[tuple[float, float], ...]

#: Points at which a trade-off function is read, half of them spread evenly and half near 0.
READ = 256

#: Rounding forgiven in what must be convex, and in a sum of probabilities.
ROUNDING, LACKING = 1e-9, 1e-10


def best_events(p: Floats, q: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the best attacks' probabilities and those of their complements, on both sides.

    An attack is the event that the likelihood ratio lies above something; outcomes are given in
    any order. Whatever probabilities lack to 1 is in the complement.
    """
    order = by_ratio(p, q)
    sides = []
    for side in (p[order], q[order]):
        rest = 1.0 - float(side.sum())
        below = np.cumsum(side[::-1])[::-1][1:] + (rest if rest > LACKING else 0.0)
        sides += [np.minimum(np.cumsum(side)[:-1], 1.0), np.minimum(below, 1.0)]
    return sides[0], sides[1], sides[2], sides[3]


def by_ratio(p: Floats, q: Floats) -> npt.NDArray[np.intp]:
    """Return the order of outcomes by likelihood ratio, the largest first."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(p > 0, np.log(p) - np.log(q), -np.inf)
    return np.argsort(-ratio, kind="stable")


def turned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return a curve's points with the two rates exchanged, as it holds in the other direction."""
    return [(y, x) for x, y in reversed(points)]


def convex_curve(points: Sequence[tuple[float, float]]) -> Points:
    """Return the points of a convex curve from fpr 0 to 1, once they are one."""
    found = sorted({(float(x), float(y)) for x, y in points})
    if len(found) < 2:
        raise ValueError("points: a claim needs at least two points (false positives, negatives)")
    if found[0][0] > 0:
        found.insert(0, (0.0, 1.0 if found[0][1] > 0 else 0.0))
    if found[-1][1] > 0:
        found.append((1.0, 0.0))
    x, y = np.array(found).T
    slopes = np.diff(y) / np.maximum(np.diff(x), 1e-300)
    if (slopes > ROUNDING).any() or (
        np.diff(slopes) < -ROUNDING * np.abs(slopes[1:]) - ROUNDING
    ).any():
        raise ValueError("points: a claim needs false negatives that fall, and ever less steeply")
    return tuple(found)


def lower_curve(function: Callable[[float], float]) -> Points:
    """Return a curve nowhere above a convex function: its chords, drawn out until they meet."""
    half = READ // 2
    x = np.unique(np.concatenate([[0.0], np.geomspace(1e-9, 1.0, half), np.linspace(0, 1, half)]))
    read = convex_curve([(float(one), float(function(float(one)))) for one in x])
    x, y = np.array(read).T
    slopes = np.diff(y) / np.diff(x)
    # At both ends the chord beyond is drawn out.
    corners = [(x[0], y[1] - slopes[1] * (x[1] - x[0]))]
    for i in range(1, len(slopes) - 1):
        before, after = slopes[i - 1], slopes[i + 1]
        # Between two points the function lies above both neighbours' chords, which meet in between.
        step = (
            (y[i + 1] - y[i] - after * (x[i + 1] - x[i])) / (before - after)
            if before < after
            else 0.0
        )
        corners.append((x[i] + step, y[i] + before * step))
    end = y[-2] + slopes[-2] * (x[-1] - x[-2])
    # Where it falls below 0 before the end, it stays at 0 from there.
    corners += [(x[-1] - end / slopes[-2], 0.0), (x[-1], 0.0)] if end < 0 else [(x[-1], end)]
    return tuple(
        (float(min(max(a, 0.0), 1.0)), float(max(b, 0.0))) for a, b in sorted(set(corners))
    )
