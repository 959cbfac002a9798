"""How two laws differ: Rényi divergences, and trade-off curves as points.

For ``a > 1`` the divergence of order a of P from Q is ``ln(sum P^a Q^(1-a)) / (a - 1)``, and for
``a = 1`` that of Kullback and Leibler. An event is a law on two outcomes, so by data processing its
divergence is at most that of the whole output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Bits: TypeAlias = npt.NDArray[np.bool_]

#: A convex curve from the left to the right, straight between its points.
Points = tuple[tuple[float, float], ...]

#: Points at which a trade-off function is read, half of them spread evenly and half near 0.
READ = 256

#: Rounding forgiven in what must be convex, and in a sum of probabilities.
ROUNDING, LACKING = 1e-9, 1e-10

#: Logarithms of a - 1 for the orders a that are tried before the best is narrowed down. Below, the
#: divergence is that of order 1 to 1e-4 of itself; above, order a can say no more than ``L / a`` of
#: likelihood ratios of at most e^L.
ORDERS = np.linspace(math.log(1e-4), math.log(1e6), 81)

#: How often the best order is narrowed down to a quarter: a maximum is then right to 1e-11.
NARROWED = 8

#: Halvings of an interval until doubles are used up.
HALVINGS = 50


def event_divergence(
    order: Floats | float, p: Floats, not_p: Floats, q: Floats, not_q: Floats
) -> Floats:
    """Return the divergence of an event's two probabilities, elementwise.

    Complements are given for the digits that ``1 - p`` would lose; infinite where q = 0 < p.
    """
    order = np.asarray(order, dtype=np.float64)
    beyond = order - 1.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inside = np.where(p > 0, np.log(p) + beyond * (np.log(p) - np.log(q)), -np.inf)
        outside = np.where(
            not_p > 0, np.log(not_p) + beyond * (np.log(not_p) - np.log(not_q)), -np.inf
        )
        found = np.logaddexp(inside, outside) / beyond
    if np.any(order == 1.0):
        found = np.where(order == 1.0, _relative(p, q) + _relative(not_p, not_q), found)
    return np.maximum(found, 0.0)


def event_rate(p: Floats, not_p: Floats, q: Floats, not_q: Floats) -> Floats:
    """Return the largest ``D_a / a`` over all orders, of an event's two probabilities."""
    events = np.broadcast_arrays(p, not_p, q, not_q)
    return best_order(lambda order: event_divergence(order, *events) / order, events[0].shape)


def law_divergence(order: float, p: Floats, q: Floats) -> float:
    """Return the divergence of two laws on the same outcomes; what neither has counts for nothing.

    Where ``p`` is too small and ``q`` too large by an error, so is the result, for ``a > 1``.
    """
    live = p > 0
    p, q = p[live], q[live]
    if not p.size:
        return 0.0
    with np.errstate(divide="ignore"):
        ratio = np.log(p) - np.log(q)
    if order == 1.0:
        return float(np.maximum((p * ratio).sum(), 0.0))
    terms = np.log(p) + (order - 1.0) * ratio
    top = float(terms.max())
    if math.isinf(top):
        return max(top, 0.0)
    return max(0.0, (top + math.log(float(np.exp(terms - top).sum()))) / (order - 1.0))


def law_rate(p: Floats, q: Floats) -> float:
    """Return the largest ``D_a / a`` over all orders, of two laws on the same outcomes."""

    def rate(orders: Floats) -> Floats:
        found = [law_divergence(order, p, q) / order for order in orders.ravel().tolist()]
        return np.reshape(found, orders.shape)

    return float(best_order(rate, ()))


def best_order(value: Callable[[Floats], Floats], shape: tuple[int, ...]) -> Floats:
    """Return the maximum over orders ``a >= 1`` of what is smooth in ``ln(a - 1)``, elementwise.

    ``value`` takes orders of shape ``(k, *shape)``.
    """
    ones = (1,) * len(shape)
    logs = np.broadcast_to(ORDERS.reshape(-1, *ones), (len(ORDERS), *shape))
    found = value(np.ones((1, *shape)))[0]
    for _ in range(NARROWED + 1):
        tried = value(1.0 + np.exp(logs))
        found = np.maximum(found, tried.max(axis=0))
        best = np.clip(tried.argmax(axis=0), 1, len(logs) - 2)[None]
        low, high = (np.take_along_axis(logs, best + step, 0) for step in (-1, 1))
        logs = low + (high - low) * np.linspace(0.0, 1.0, 9).reshape(-1, *ones)
    return np.asarray(found)


def least_miss(order: Floats | float, most: Floats | float, fpr: Floats) -> Floats:
    """Return the least false-negative rate at which no direction of an event exceeds ``most``."""

    def too_low(miss: Floats) -> Bits:
        return ~(larger_divergence(order, 1.0 - miss, miss, fpr, 1.0 - fpr) <= most)

    shape = np.broadcast_shapes(np.shape(order), fpr.shape)
    _, high = _halved(too_low, np.broadcast_to(1.0 - fpr, shape))
    return np.where(high <= 2.0**-HALVINGS, 0.0, high)


def largest_ratio(order: Floats | float, most: Floats | float, log_p: Floats) -> Floats:
    """Return the largest ``ln(p / q)`` of an event of probability p within ``most``."""
    p, not_p = np.exp(log_p), -np.expm1(log_p)

    def allowed(ratio: Floats) -> Bits:
        return (
            larger_divergence(order, p, not_p, np.exp(log_p - ratio), -np.expm1(log_p - ratio))
            <= most
        )

    return _halved(allowed, np.full(np.broadcast_shapes(np.shape(order), log_p.shape), 745.0))[0]


def _halved(below: Callable[[Floats], Bits], high: Floats) -> tuple[Floats, Floats]:
    """Return neighbours between which something ceases to hold, as numbers rise from 0."""
    low = np.zeros(high.shape)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        holds = below(middle)
        low, high = np.where(holds, middle, low), np.where(holds, high, middle)
    return low, high


def larger_divergence(
    order: Floats | float, p: Floats, not_p: Floats, q: Floats, not_q: Floats
) -> Floats:
    """Return the larger divergence of an event's two directions, elementwise."""
    forward = event_divergence(order, p, not_p, q, not_q)
    return np.maximum(forward, event_divergence(order, q, not_q, p, not_p))


def _relative(p: Floats, q: Floats) -> Floats:
    """Return p ln(p / q), 0 where p is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0))


# Curves: rates of false positives, and of false negatives there


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
    width = np.maximum(np.diff(x), 1e-300)
    slopes = np.diff(y) / width
    # Between near points a slope is as far off as the rounding of values is large.
    off = ROUNDING * (1.0 + np.abs(slopes)) + 4.0 * np.finfo(float).eps / width
    if (slopes > off).any() or (np.diff(slopes) < -off[1:] - off[:-1]).any():
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
        step = min(max(step, 0.0), x[i + 1] - x[i])  # chords of a straight part meet anywhere
        corners.append((x[i] + step, y[i] + before * step))
    end = y[-2] + slopes[-2] * (x[-1] - x[-2])
    # Where it falls below 0 before the end, it stays at 0 from there.
    corners += [(x[-1] - end / slopes[-2], 0.0), (x[-1], 0.0)] if end < 0 else [(x[-1], end)]
    return tuple(
        (float(min(max(a, 0.0), 1.0)), float(max(b, 0.0))) for a, b in sorted(set(corners))
    )
