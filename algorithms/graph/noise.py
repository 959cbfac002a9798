"""Whole numbers with noise, clamped to a public range, and independent numbers side by side.

Clamping before the noise moves no two counts further apart, and after it is post-processing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Law

from ..laws.noise import laplace_between

__all__ = ["check_epsilon", "draw_geometric", "geometric_cells", "laplace_cells", "product_law"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def check_epsilon(epsilon: float) -> None:
    """Refuse an ε that scales no noise."""
    if not 0.0 < epsilon < math.inf:
        raise InputError(f"epsilon = {epsilon}: give a finite number of nats above 0")


def geometric_cells(count: int, top: int, rate: float) -> Floats:
    """Return the probabilities of 0..top: a count with noise ``P(k) ∝ exp(-rate |k|)``, clamped.

    The two-sided geometric mechanism of Ghosh, Roughgarden and Sundararajan, "Universally
    utility-maximizing privacy mechanisms", 2009.
    """
    if top == 0:
        return np.ones(1)
    distance = np.abs(np.arange(top + 1) - min(count, top))
    cells = np.exp(-rate * distance) / (1.0 + math.exp(-rate))
    cells[1:-1] *= -math.expm1(-rate)
    return np.asarray(cells)


def draw_geometric(
    count: int, top: int, rate: float, size: int, rng: np.random.Generator
) -> Integers:
    """Return such numbers, as a difference of two geometric ones; shape ``(size,)``."""
    success = -math.expm1(-rate)
    noise = rng.geometric(success, size) - rng.geometric(success, size)
    return np.asarray(np.clip(min(count, top) + noise, 0, top), dtype=np.int64)


def laplace_cells(count: int, top: int, scale: float) -> Floats:
    """Return the probabilities of 0..top: a count with Laplace noise, rounded and clamped."""
    edges = [-math.inf, *(cell + 0.5 for cell in range(top)), math.inf]
    return np.array(
        [laplace_between(a - count, b - count, scale) for a, b in itertools.pairwise(edges)]
    )


def product_law(parts: Sequence[Floats]) -> Law:
    """Return the law of independent whole numbers side by side, from 0 on."""
    chances = np.ones(1)
    for part in parts:
        chances = np.multiply.outer(chances, part).ravel()
    outputs = itertools.product(*(range(len(part)) for part in parts))
    return Law(dict(zip(outputs, chances.tolist(), strict=True)))
