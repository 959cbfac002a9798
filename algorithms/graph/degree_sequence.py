"""The sorted degrees of a graph that hide one tie.

Hay, Li, Miklau and Jensen, "Accurate estimation of the degree distribution of private networks",
2009, section on the sorted degree sequence. The paper sorts and smooths the noisy answers later,
which is post-processing; here they are rounded to the degrees there may be, which is that too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pdpaudit.core.graphs import Graph, GraphPair, edge_pairs, small_graphs, star

from .noise import Floats, Integers, ProductRows, laplace_cells


@dataclass(frozen=True)
class NoisyDegrees(ProductRows):
    """Sorted degrees, each with Laplace noise of scale 2/ε: correct.

    A tie raises two degrees by 1 each. Sorting keeps the sum of changes at 2: of two degrees the
    higher one stays in the later place, or another of the same degree is raised instead of it.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> NoisyDegrees(1.0).degrees(star(3))
    [1, 1, 1, 3]
    >>> len(NoisyDegrees(1.0).law(star(3)).probabilities)
    256
    """

    source = "Hay, Li, Miklau, Jensen 2009"
    moved: ClassVar[int] = 2

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return self.moved / self.epsilon

    def degrees(self, graph: Graph) -> list[int]:
        """Return the degrees, ascending."""
        return sorted(graph.degrees())

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of up to 4 vertices, and those of a star of 5."""
        return tuple(edge_pairs([*small_graphs(4, 2), star(4)]))

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Integers:
        """Return noisy degrees, shape ``(size, n)``; O(size · n)."""
        noise = rng.laplace(scale=self.scale, size=(size, instance.vertices))
        rounded = np.rint(self.degrees(instance) + noise)
        return np.clip(rounded, 0, instance.vertices - 1).astype(np.int64)

    def parts(self, graph: Graph) -> list[Floats]:
        """Return cells of the Laplace law for each degree."""
        top = graph.vertices - 1
        return [laplace_cells(degree, top, self.scale) for degree in self.degrees(graph)]


@dataclass(frozen=True)
class NoisyDegreesHalfNoise(NoisyDegrees):
    """Sorted degrees, each with Laplace noise of scale 1/ε: broken, 2ε.

    The mistake of counting a tie at one of its ends only. Two degrees go up by 1, and where both
    noisy degrees are at most the lower values the ratio is exp(ε) for either.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> NoisyDegreesHalfNoise(1.0).scale
    1.0
    """

    moved: ClassVar[int] = 1
