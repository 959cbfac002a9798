"""Gauss-Legendre panels for products of Laplace or exponential factors.

Between kinks such a product is a sum of exponentials, so panels across which it changes by a
factor of at most e^6 are integrated to rounding by 16 nodes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from numpy.polynomial.legendre import leggauss

__all__ = ["NODES", "QUADRATURE_ERROR", "WEIGHTS", "panel_nodes", "panels"]

Floats = npt.NDArray[np.float64]

NODES, WEIGHTS = leggauss(16)
#: Error of a probability from these panels, with a margin.
QUADRATURE_ERROR = 1e-13
# Largest change of the integrand across a panel, as an exponent.
_CHANGE = 6.0
# The tails are cut where they have fallen by e^-45, a share of 3e-20.
_REACH = 45.0


def panels(
    kinks: Sequence[float] | Floats, rate: float, decay: float, *, left: bool = True
) -> Floats:
    """Return the edges of panels that cover the line as far as it matters."""
    corners = np.unique(np.asarray(kinks, dtype=np.float64))
    reach = _REACH / decay
    ends = [*([corners[0] - reach] if left else []), *corners, corners[-1] + reach]
    pieces = [
        np.linspace(low, high, max(1, int(np.ceil((high - low) * rate / _CHANGE))) + 1)[:-1]
        for low, high in itertools.pairwise(ends)
    ]
    return np.concatenate([*pieces, ends[-1:]])


def panel_nodes(edges: Floats) -> tuple[Floats, Floats]:
    """Return the nodes and weights of all panels."""
    middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    nodes = (middle[:, None] + half[:, None] * NODES).ravel()
    return nodes, (half[:, None] * WEIGHTS).ravel()
