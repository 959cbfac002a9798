"""Adaptive Gauss-Kronrod integration of positive functions in logarithms, with sure pruning.

Each integrand is a product of factors that are monotone between breakpoints, so bounds over a
panel come from its ends. A panel is dropped only when its upper bound is negligible for every
integral, and accepted only when quadrature sees most of that bound: a narrow peak far from
every node cannot be missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from pdpaudit.core.protocols import LawUnavailable

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

    @property
    def log_value(self) -> FloatArray:
        """Logarithm of the integrands, shape (N, E)."""
        return np.asarray(self.up + self.down + self.either)


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
    values = inside.log_value.reshape((log_width.size, _ALL_NODES.size, -1))
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
