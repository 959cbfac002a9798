"""Rényi divergences, of one event and of whole laws, and the largest that an order allows.

For ``a > 1`` the divergence of order a of P from Q is ``ln(sum P^a Q^(1-a)) / (a - 1)``, and for
``a = 1`` that of Kullback and Leibler. An event is a law on two outcomes, so by data processing its
divergence is at most that of the whole output.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "Floats",
    "best_order",
    "event_divergence",
    "event_rate",
    "largest_ratio",
    "law_divergence",
    "law_rate",
    "least_miss",
]

Floats: TypeAlias = npt.NDArray[np.float64]

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
    shape = np.broadcast_shapes(np.shape(order), fpr.shape)
    low, high = np.zeros(shape), np.broadcast_to(1.0 - fpr, shape)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        fine = _either(order, 1.0 - middle, middle, fpr, 1.0 - fpr) <= most
        low, high = np.where(fine, low, middle), np.where(fine, middle, high)
    return np.where(high <= 2.0**-HALVINGS, 0.0, high)


def largest_ratio(order: Floats | float, most: Floats | float, log_p: Floats) -> Floats:
    """Return the largest ``ln(p / q)`` of an event of probability p within ``most``."""
    shape = np.broadcast_shapes(np.shape(order), log_p.shape)
    p, not_p = np.exp(log_p), -np.expm1(log_p)
    low, high = np.zeros(shape), np.full(shape, 745.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        fine = _either(order, p, not_p, np.exp(log_p - middle), -np.expm1(log_p - middle)) <= most
        low, high = np.where(fine, middle, low), np.where(fine, high, middle)
    return low


def _either(order: Floats | float, p: Floats, not_p: Floats, q: Floats, not_q: Floats) -> Floats:
    """Return the larger divergence of both directions."""
    forward = event_divergence(order, p, not_p, q, not_q)
    return np.maximum(forward, event_divergence(order, q, not_q, p, not_p))


def _relative(p: Floats, q: Floats) -> Floats:
    """Return p ln(p / q), 0 where p is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0))
