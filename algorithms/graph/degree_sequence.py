"""The sorted degrees of a graph that hide one tie.

Hay, Li, Miklau and Jensen, "Accurate estimation of the degree distribution of private networks",
2009, section on the sorted degree sequence. Noisy answers are rounded to the degrees there may be,
which is post-processing. So is the paper's constrained inference, its point: the nearest ascending
numbers to the noisy ones, by isotonic regression, err far less where many people have one degree.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import isotonic_regression

from pdpaudit.core.domains import Graphs, unchanged
from pdpaudit.core.graphs import Graph, GraphPair, edge_pairs, small_graphs, star
from pdpaudit.core.protocols import Law

from .noise import Floats, Integers, NoisyRows, ProductRows, laplace_cells


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


@dataclass(frozen=True)
class AscendingDegrees(NoisyRows):
    """The nearest ascending numbers to noisy sorted degrees, rounded: correct.

    They are a function of the noisy degrees, and lose no more.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> AscendingDegrees(1.0).inferred(star(3), [3, 0, 1, 2])
    (1, 1, 1, 2)
    """

    source = "Hay, Li, Miklau, Jensen 2009"
    domain: ClassVar = Graphs((2, 4), form=unchanged)

    @property
    def noisy(self) -> NoisyDegrees:
        """What is inferred from."""
        return NoisyDegrees(self.epsilon)

    def inferred(self, graph: Graph, noisy: Sequence[int]) -> tuple[int, ...]:
        """Return what is released for noisy degrees; who releases it knows the graph."""
        # Means of blocks are right to rounding, and a half is one whatever way it came about.
        fitted = isotonic_regression(np.asarray(noisy, dtype=np.float64)).x.round(6)
        return tuple(np.rint(fitted).astype(np.int64).tolist())

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of up to 4 vertices, and those of a star of 5."""
        return self.noisy.pairs()

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Integers:
        """Return inferred degrees, shape ``(size, n)``; each row is inferred from once."""
        rows, places = np.unique(
            self.noisy.sample(instance, size, rng), axis=0, return_inverse=True
        )
        return np.array([self.inferred(instance, row.tolist()) for row in rows])[places.ravel()]

    def law(self, instance: Graph) -> Law:
        """Return the exact law: of each output that of the noisy degrees it comes from; O(n^n)."""
        found: defaultdict[Hashable, float] = defaultdict(float)
        parts = [part.tolist() for part in self.noisy.parts(instance)]
        for row in itertools.product(*(range(len(part)) for part in parts)):
            chance = math.prod(part[degree] for part, degree in zip(parts, row, strict=True))
            found[self.inferred(instance, row)] += chance
        return Law(found)


@dataclass(frozen=True)
class AscendingDegreesExactTotal(AscendingDegrees):
    """The same, made to add up to twice the number of ties there are: broken.

    The mistake of a constraint that is read off the data, which is no post-processing: the total of
    what is released is that of the graph, a tie moves it by 2, and no output is possible with and
    without the tie.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> AscendingDegreesExactTotal(1.0).inferred(star(3), [3, 0, 1, 2])
    (1, 1, 1, 3)
    """

    def inferred(self, graph: Graph, noisy: Sequence[int]) -> tuple[int, ...]:
        """Return what is inferred, raised alike for all, and the rest for the last."""
        fitted = super().inferred(graph, noisy)
        each, rest = divmod(2 * len(graph.ties) - sum(fitted), graph.vertices)
        return tuple(
            degree + each + (place >= graph.vertices - rest) for place, degree in enumerate(fitted)
        )
