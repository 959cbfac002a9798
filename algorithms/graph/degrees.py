"""Degrees of a graph, and ties by the degrees of their ends, that hide one tie.

*Sorted degrees*: Hay, Li, Miklau and Jensen, "Accurate estimation of the degree distribution of
private networks", 2009, section on the sorted degree sequence. Noisy answers are rounded to the
degrees there may be, which is post-processing. So is the paper's constrained inference, its point:
the nearest ascending numbers to the noisy ones, by isotonic regression, err far less where many
people have one degree.

*Joint degrees*: the dK-2 series of Sala, Zhao, Wilson, Zheng and Zhao, "Sharing graphs using
differentially private graph models", IMC 2011, pages 81-98, whose lemma on its sensitivity reads
the largest degree off the graph; Wang and Wu, "Preserving differential privacy in
degree-correlation based graph generation", Transactions on Data Privacy 6, 2013, pages 127-145,
whose section on the 2K-graph model has the global sensitivity and replaces the lemma by smooth
sensitivity. Both add Laplace noise to every entry; here entries are whole numbers,
clamped to what can occur, with the same promise.

A tie between people of degrees a and b takes each of their a + b other ties out of one entry and
puts it into another, and adds one: 2(a + b) + 1 in sum of changes, and a and b are n - 2 at most.
Where both know everybody but each other all others have degree 2, so that 2(n - 2) ties go from
(2, n - 2) to (2, n - 1), and one comes to (n - 1, n - 1): 4n - 7 is attained from n = 2 on.
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
from pdpaudit.core.graphs import (
    Adjacencies,
    Graph,
    GraphPair,
    batched,
    edge_pairs,
    small_graphs,
    star,
)
from pdpaudit.core.protocols import Law, PrivacyClaim

from .noise import (
    Floats,
    Integers,
    NoisyRows,
    ProductRows,
    geometric_cells,
    geometric_noise,
    laplace_cells,
)

# Sorted degrees


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

    @batched(np.ndarray.tolist)
    def degrees(self, graphs: Adjacencies) -> Integers:
        """Return the degrees, ascending."""
        return np.asarray(np.sort(graphs.sum(axis=2), axis=1))

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of up to 4 vertices, and those of a star of 5."""
        return tuple(edge_pairs([*small_graphs(4, 2), star(4)]))

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Integers:
        """Return noisy degrees, shape ``(size, n)``; O(size · n)."""
        noise = rng.laplace(scale=self.scale, size=(size, instance.vertices))
        rounded = np.rint(np.array(self.degrees(instance)) + noise)
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

    It takes the parameters of :class:`NoisyDegrees`.

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

    It takes the parameters of :class:`AscendingDegrees`.

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


# Joint degrees


@dataclass(frozen=True)
class NoisyJointDegrees(ProductRows):
    """Ties by the degrees of their ends, noise for a sensitivity of 4n - 7: correct.

    The claim is attained where a tie joins two people who know everybody else. Wang and Wu 2013.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> NoisyJointDegrees(1.0).counts(Graph(3, ((0, 1), (0, 2))))  # of (1, 1), (1, 2) and (2, 2)
    [0, 2, 0]
    >>> NoisyJointDegrees(1.0).sensitivity(Graph(3, ((0, 1), (0, 2))))
    5
    """

    source: ClassVar[str] = "Wang, Wu 2013"
    domain: ClassVar = Graphs((2, 3), form=unchanged)

    @batched(np.ndarray.tolist)
    def counts(self, graphs: Adjacencies) -> Integers:
        """Return the number of ties between each two degrees from 1 on, the lower one first."""
        less, one, other = graphs.sum(axis=2) - 1, *np.triu_indices(graphs.shape[1], 1)
        place = np.zeros((graphs.shape[1] - 1,) * 2, dtype=np.int64)
        place[np.triu_indices(len(place))] = np.arange(len(one))
        place = np.maximum(place, place.T)[less[:, one], less[:, other]]
        place += len(one) * np.arange(len(graphs))[:, None]
        found = np.bincount(place[graphs[:, one, other]], minlength=place.size)
        return found.reshape(place.shape)

    def sensitivity(self, graph: Graph) -> int:
        """Return 4n - 7."""
        return 4 * graph.vertices - 7

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of 2 and 3 vertices: 4 have 117,649 outputs, and show no more."""
        return tuple(edge_pairs(small_graphs(3, 2)))

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Integers:
        """Return noisy counts, shape ``(size, entries)``; O(size · entries)."""
        counts = np.array(self.counts(instance))
        noise = geometric_noise(self._rate(instance), (size, len(counts)), rng)
        return np.asarray(np.clip(counts + noise, 0, self._top(instance)), dtype=np.int64)

    def parts(self, graph: Graph) -> list[Floats]:
        """Return cells of the geometric law for each entry."""
        rate, top = self._rate(graph), self._top(graph)
        return [geometric_cells(count, top, rate) for count in self.counts(graph)]

    def _rate(self, graph: Graph) -> float:
        return self.epsilon / self.sensitivity(graph)

    def _top(self, graph: Graph) -> int:
        """Return the largest count there may be, the number of pairs of people."""
        return math.comb(graph.vertices, 2)


@dataclass(frozen=True)
class NoisyJointDegreesLocal(NoisyJointDegrees):
    """Ties by the degrees of their ends, noise for 4d + 1, d the largest degree there is: broken.

    The lemma bounds what a tie moves on this graph, but the noise shows d, which a tie moves by 1.
    With the first tie among n people the rate goes from ε to ε/5 in each of m = n(n - 1)/2 entries.
    Where all come out as large as there may be, m, the loss is
    ``4m²ε/5 + ε/5 - m ln((1 + e^(-ε/5)) / (1 + e^-ε))``, 6.5 at ε = 1 among 3 people, and without
    the clamping it has no bound. Sala, Zhao, Wilson, Zheng and Zhao 2011.

    It takes the parameters of :class:`NoisyJointDegrees`.

    Examples
    --------
    >>> [NoisyJointDegreesLocal(1.0).sensitivity(Graph(3, ties)) for ties in ((), ((0, 1),))]
    [1, 5]
    """

    source: ClassVar[str] = "Sala, Zhao, Wilson, Zheng, Zhao 2011"

    def sensitivity(self, graph: Graph) -> int:
        """Return 4d + 1."""
        return 4 * max(graph.degrees()) + 1


@dataclass(frozen=True)
class NoisyJointDegreesSmooth(NoisyJointDegrees):
    """Ties by the degrees of their ends, Laplace noise for a smooth bound, (ε, δ): correct.

    What a tie moves on a graph s ties away is ``min(4(d + s) + 1, 4n - 7)`` at most, d being the
    largest degree there is. The largest of these times ``e^(-βs)`` changes by a factor ``e^β`` at
    most with a tie, and noise of scale 2/ε times it keeps (ε, δ) where
    ``β = ε / (4(m + ln(2/δ)))`` for m entries. Wang and Wu 2013, by the theorem on Laplace noise of
    Nissim, Raskhodnikova and Smith, "Smooth sensitivity and sampling in private data analysis",
    2007.

    *k ties at once* keep the same δ. From b to b' the scale changes by a factor e^(kβ) at most, and
    the counts move by ``Σ e^(βs) b' ε/2`` over s < k, as the s-th tie from the other graph moves
    them by what its smooth bound allows there: ``e^(kβ) kε/2`` at most. A smaller scale on the
    other side multiplies the density by ``exp((e^(kβ) - 1) Y)``, Y being the noise in sum over b, a
    gamma variable of shape m, above ``t = m + √(2mL) + L <= 1.708 (m + L)`` with probability δ at
    most, for L = ln(1/δ); that is ``e^(kβ) 0.427 kε``. A larger one multiplies it by e^(mkβ), which
    is less. In sum it is below kε where kβ is below 0.075, as it is for all k < n at ε = 1 and the
    default δ.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    delta : float
        Slack claimed, between 0 and 1.

    Examples
    --------
    >>> round(NoisyJointDegreesSmooth(1.0).smooth_bound(Graph(9, ())), 3)
    28.012
    """

    delta: float = 1e-6

    @property
    def claim(self) -> PrivacyClaim:
        """(ε, δ) between graphs that differ in one tie."""
        return PrivacyClaim(self.epsilon, self.delta, source=self.source)

    def smooth_bound(self, graph: Graph) -> float:
        """Return the smooth bound, the largest term of those up to where the bound is global."""
        entries = math.comb(graph.vertices, 2)
        beta = self.epsilon / (4 * (entries + math.log(2 / self.delta)))
        most, far = 4 * graph.vertices - 7, np.arange(graph.vertices)
        local = np.minimum(4 * (max(graph.degrees()) + far) + 1, most)
        return float((np.exp(-beta * far) * local).max())

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Integers:
        """Return noisy counts, rounded and clamped, shape ``(size, entries)``."""
        counts = np.array(self.counts(instance))
        noise = rng.laplace(scale=self._scale(instance), size=(size, len(counts)))
        return np.clip(np.rint(counts + noise), 0, self._top(instance)).astype(np.int64)

    def parts(self, graph: Graph) -> list[Floats]:
        """Return cells of the Laplace law for each entry."""
        scale, top = self._scale(graph), self._top(graph)
        return [laplace_cells(count, top, scale) for count in self.counts(graph)]

    def _scale(self, graph: Graph) -> float:
        return 2 / self.epsilon * self.smooth_bound(graph)
