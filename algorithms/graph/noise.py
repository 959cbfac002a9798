"""Choices of a candidate, whole numbers with noise in a public range, and numbers side by side.

Clamping before the noise moves no two counts further apart, and after it is post-processing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pdpaudit.core.graphs import Graph
from pdpaudit.core.protocols import Law, Outputs

from ..laws.noise import CalibratedMechanism, laplace_between

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def geometric_cells(number: int, top: int, rate: float) -> Floats:
    """Return the probabilities of 0..top: a number with noise ``P(k) ∝ exp(-rate |k|)``, clamped.

    The two-sided geometric mechanism of Ghosh, Roughgarden and Sundararajan, "Universally
    utility-maximizing privacy mechanisms", 2009.
    """
    if top == 0:
        return np.ones(1)
    distance = np.abs(np.arange(top + 1) - min(number, top))
    cells = np.exp(-rate * distance) / (1.0 + math.exp(-rate))
    cells[1:-1] *= -math.expm1(-rate)
    return np.asarray(cells)


def geometric_noise(rate: float, size: int | tuple[int, ...], rng: np.random.Generator) -> Integers:
    """Draw two-sided geometric noise, as a difference of two geometric numbers."""
    success = -math.expm1(-rate)
    return np.asarray(rng.geometric(success, size) - rng.geometric(success, size), dtype=np.int64)


def cauchy_cells(number: int, top: int, scale: float) -> Floats:
    """Return the probabilities of 0..top: a number with Cauchy noise, rounded and clamped."""
    if top == 0:
        return np.ones(1)
    edges: Floats = np.arange(top, dtype=np.float64) + 0.5 - number
    return symmetric_cells(edges, lambda at: np.arctan2(scale, -at) / math.pi)


def symmetric_cells(edges: Floats, below: Callable[[Floats], Floats]) -> Floats:
    """Return the probabilities between edges, and beyond them, of noise that is symmetric about 0.

    Near 1 its distribution function is rounded away, so a cell above 0 is mirrored.
    """
    less, more = below(edges), below(-edges)
    cells = np.where(edges[1:] <= 0, np.diff(less), -np.diff(more))
    return np.concatenate([less[:1], cells, more[-1:]])


@dataclass(frozen=True)
class Selection(CalibratedMechanism):
    """One of some candidates, drawn by their probabilities."""

    def chances(self, graph: Graph) -> tuple[Sequence[int], Floats]:
        """Return the candidates and their probabilities."""
        raise NotImplementedError

    def run(self, instance: Graph, rng: np.random.Generator) -> int:
        """Return a candidate."""
        candidates, chances = self.chances(instance)
        return candidates[rng.choice(len(candidates), p=chances)]

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Outputs:
        """Return candidates; O(size)."""
        candidates, chances = self.chances(instance)
        return Outputs(candidates, rng.choice(len(candidates), size=size, p=chances))

    def law(self, instance: Graph) -> Law:
        """Return the exact law."""
        candidates, chances = self.chances(instance)
        return Law(dict(zip(candidates, chances.tolist(), strict=True)))


@dataclass(frozen=True)
class NoisyNumber(CalibratedMechanism):
    """A whole number with two-sided geometric noise, clamped; see :func:`geometric_cells`."""

    #: From what :meth:`noise` returns to the law of the number.
    cells: ClassVar[staticmethod[[int, int, float], Floats]] = staticmethod(geometric_cells)

    def noise(self, graph: Graph) -> tuple[int, int, float]:
        """Return the number, the largest there may be, and the rate."""
        raise NotImplementedError

    def run(self, instance: Graph, rng: np.random.Generator) -> int:
        """Return the noisy number."""
        return int(self._drawn(instance, 1, rng)[0])

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Outputs:
        """Return noisy numbers; O(size)."""
        _, top, _ = self.noise(instance)
        return Outputs(range(top + 1), self._drawn(instance, size, rng))

    def law(self, instance: Graph) -> Law:
        """Return the exact law, in closed form."""
        return Law(dict(enumerate(self.cells(*self.noise(instance)).tolist())))

    def _drawn(self, graph: Graph, size: int, rng: np.random.Generator) -> Integers:
        """Return such numbers, shape ``(size,)``."""
        number, top, rate = self.noise(graph)
        noise = geometric_noise(rate, size, rng)
        return np.asarray(np.clip(min(number, top) + noise, 0, top), dtype=np.int64)


@dataclass(frozen=True)
class CauchyNumber(NoisyNumber):
    """A whole number with Cauchy noise, rounded and clamped; its noise has a scale, no rate."""

    cells = staticmethod(cauchy_cells)

    def _drawn(self, graph: Graph, size: int, rng: np.random.Generator) -> Integers:
        number, top, scale = self.noise(graph)
        noisy = np.rint(number + scale * rng.standard_cauchy(size))
        return np.clip(noisy, 0, top).astype(np.int64)


@dataclass(frozen=True)
class NoisyRows(CalibratedMechanism):
    """Several whole numbers at once, drawn row by row."""

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Integers:
        """Return outputs, shape ``(size, numbers)``; O(size · numbers)."""
        raise NotImplementedError

    def run(self, instance: Graph, rng: np.random.Generator) -> tuple[int, ...]:
        """Return one row."""
        return tuple(self.sample(instance, 1, rng)[0].tolist())


def laplace_cells(count: float, top: int, scale: float) -> Floats:
    """Return the probabilities of 0..top: a number with Laplace noise, rounded and clamped."""
    edges = [-math.inf, *(cell + 0.5 for cell in range(top)), math.inf]
    return np.array(
        [laplace_between(a - count, b - count, scale) for a, b in itertools.pairwise(edges)]
    )


@dataclass(frozen=True)
class ProductRows(NoisyRows):
    """Independent numbers side by side: many outputs, whose law a few probabilities give."""

    def parts(self, graph: Graph) -> list[Floats]:
        """Return the probabilities of each number, from 0 on; shorter lists end with zeros."""
        raise NotImplementedError

    def law(self, instance: Graph) -> Law:
        """Return the exact law, a product; the cost of all its outputs."""
        parts, chances = self.parts(instance), np.ones(1)
        for part in parts:
            chances = np.multiply.outer(chances, part).ravel()
        outputs = itertools.product(*(range(len(part)) for part in parts))
        return Law(dict(zip(outputs, chances.tolist(), strict=True)))
