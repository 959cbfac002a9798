"""Counts of ties, triangles and stars that hide one tie.

Nissim, Raskhodnikova and Smith, "Smooth sensitivity and sampling in private data analysis", 2007,
section on triangles; Karwa, Raskhodnikova, Smith and Yaroslavtsev, "Private analysis of graph
structure", 2011, section on k-stars. The number of people is public. The papers add Laplace noise
to real numbers; here it is its whole-number form, clamped to what can occur, with the same ε.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pdpaudit.core.domains import Graphs, unchanged
from pdpaudit.core.graphs import (
    Adjacencies,
    Graph,
    GraphPair,
    batched,
    complete,
    edge_pairs,
    hubs,
    small_graphs,
    star,
)
from pdpaudit.core.protocols import PrivacyClaim

from .noise import CauchyNumber, Integers, NoisyNumber


def triangles(graphs: Adjacencies) -> Integers:
    """Return the number of triangles of each graph, as paths over a middle number with a tie."""
    ties = np.triu(graphs).astype(np.float64)
    return np.asarray(((ties @ ties) * ties).sum(axis=(1, 2)).astype(np.int64))


#: A cycle of 5 and one apart: a chord makes two people share two contacts, of whom none did.
_CYCLE = Graph(6, ((0, 1), (0, 4), (1, 2), (2, 3), (3, 4)))


@dataclass(frozen=True)
class _NoisyCount(NoisyNumber):
    """A count with geometric noise of rate ε over its sensitivity."""

    domain: ClassVar = Graphs((2, 6), form=unchanged)

    @property
    def claim(self) -> PrivacyClaim:
        """ε between graphs that differ in one tie."""
        return PrivacyClaim(self.epsilon, source=(type(self).__doc__ or "").split("\n")[0])

    def count(self, graph: Graph) -> int:
        """Return what is counted."""
        raise NotImplementedError

    def largest(self, vertices: int) -> int:
        """Return the largest count there may be."""
        return self.count(complete(vertices))

    def sensitivity(self, graph: Graph) -> int:
        """Return by how much the noise assumes that a tie moves the count."""
        raise NotImplementedError

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of up to 4 vertices, and those of larger graphs of known shapes."""
        shaped = (star(4), hubs(3), hubs(4), _CYCLE)
        return tuple(edge_pairs([*small_graphs(4, 2), *shaped]))

    def noise(self, graph: Graph) -> tuple[int, int, float]:
        """Return the count, the largest there may be, and the rate."""
        return self.count(graph), self.largest(graph.vertices), self.rate(graph)

    def rate(self, graph: Graph) -> float:
        """Return what the noise decays by."""
        return self.epsilon / max(1, self.sensitivity(graph))


@dataclass(frozen=True)
class _SmoothCount(CauchyNumber, _NoisyCount):
    """A count with Cauchy noise for a smooth bound on what a tie moves."""

    def moved(self, graph: Graph, far: int) -> int:
        """Return the most that a tie moves the count on a graph that differs in ``far`` ties."""
        raise NotImplementedError

    def smooth_bound(self, graph: Graph) -> float:
        """Return the smooth bound; beyond twice the number of people it falls with distance."""
        far = range(2 * graph.vertices)
        return max(math.exp(-self.epsilon / 6 * s) * self.moved(graph, s) for s in far)

    def rate(self, graph: Graph) -> float:
        """Return the scale of the noise."""
        return 6 / self.epsilon * self.smooth_bound(graph)


@dataclass(frozen=True)
class NoisyTies(_NoisyCount):
    """Number of ties, noise for a sensitivity of 1: correct.

    The claim is attained: one tie moves the count by just 1, and beyond both counts the ratio of
    probabilities is exp(ε).

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> round(NoisyTies(1.0).law(Graph(2, ())).probabilities[0], 4)
    0.7311
    """

    @batched(int)
    def count(self, graphs: Adjacencies) -> Integers:
        """Return the number of ties."""
        return np.asarray(graphs.sum(axis=(1, 2)) // 2)

    def sensitivity(self, graph: Graph) -> int:
        """Return 1."""
        return 1


@dataclass(frozen=True)
class NoisyTriangles(_NoisyCount):
    """Number of triangles, noise for a sensitivity of n - 2: correct.

    A tie closes a triangle with each shared contact of its ends, n - 2 at most; where both ends
    know everybody the claim is attained. Nissim, Raskhodnikova and Smith 2007.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> NoisyTriangles(1.0).count(complete(4)), NoisyTriangles(1.0).sensitivity(complete(4))
    (4, 2)
    """

    @batched(int)
    def count(self, graphs: Adjacencies) -> Integers:
        """Return the number of triangles."""
        return triangles(graphs)

    def sensitivity(self, graph: Graph) -> int:
        """Return n - 2."""
        return graph.vertices - 2


@dataclass(frozen=True)
class NoisyTrianglesLocal(NoisyTriangles):
    """Number of triangles, noise for what a tie moves on this graph only: broken.

    The largest number of shared contacts is read off the data, and a tie moves it by 1. Where it
    goes from s to s + 1 the rates of decay differ, by ε/s - ε/(s + 1), and the loss grows with the
    distance from the count: closing a path of 4 to a cycle among n people loses about ε·C(n, 3)/2.
    Nissim, Raskhodnikova and Smith 2007, introduction, on why noise may not follow the local
    sensitivity.

    It takes the parameters of :class:`NoisyTriangles`.

    Examples
    --------
    >>> NoisyTrianglesLocal(1.0).sensitivity(hubs(3)), NoisyTrianglesLocal(1.0).sensitivity(star(3))
    (3, 1)
    """

    def sensitivity(self, graph: Graph) -> int:
        """Return the largest number of contacts that two people share."""
        contacts = graph.contacts()
        shared = (len(a & b) for a, b in itertools.combinations(contacts, 2))
        return max(shared, default=0)


@dataclass(frozen=True)
class NoisyTrianglesSmooth(_SmoothCount, NoisyTriangles):
    """Number of triangles, Cauchy noise for a smooth bound on what a tie moves: correct.

    The bound is ``max e^(-βs) A(s)`` over s, A(s) the most that a tie moves on any graph that
    differs in s ties, which is ``min(a + ⌊(s + min(s, b)) / 2⌋, n - 2)`` for two people with a
    shared contacts and b that one of them has. It changes by a factor e^β at most from a graph to
    its neighbour, and standard Cauchy noise times 6/ε of it takes ε/2 for the shift and ε/2 for
    that factor, with β = ε/6. The result is rounded and clamped to what can occur, which is
    post-processing. Nissim, Raskhodnikova and Smith 2007, admissible noise distributions and the
    smooth sensitivity of the number of triangles.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> NoisyTrianglesSmooth(6.0).smooth_bound(star(4))
    1.0
    """

    def moved(self, graph: Graph, far: int) -> int:
        """Return the most that a tie moves the count on a graph that differs in ``far`` ties."""
        most = graph.vertices - 2
        return max(
            min(len(a & b) + (far + min(far, len((a ^ b) - {i, j}))) // 2, most)
            for (i, a), (j, b) in itertools.combinations(enumerate(graph.contacts()), 2)
        )


@dataclass(frozen=True)
class NoisyStars(_NoisyCount):
    """Number of k-stars, noise for a sensitivity of 2·C(n - 2, k - 1): correct.

    A tie gives either end the stars that it makes with k - 1 of the end's other contacts, n - 2 at
    most; where both ends know everybody the claim is attained. Karwa, Raskhodnikova, Smith and
    Yaroslavtsev 2011.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    k : int
        Leaves of a star, at least 2.

    Examples
    --------
    >>> NoisyStars(1.0).count(star(4)), NoisyStars(1.0).sensitivity(star(4))
    (6, 6)
    """

    k: int = 2

    least: ClassVar = {"k": 2}  # a star of one leaf is a tie

    @batched(int)
    def count(self, graphs: Adjacencies) -> Integers:
        """Return the number of k-stars."""
        stars = np.array([math.comb(degree, self.k) for degree in range(graphs.shape[1])])
        return np.asarray(stars[graphs.sum(axis=2)].sum(axis=1))

    def sensitivity(self, graph: Graph) -> int:
        """Return 2·C(n - 2, k - 1)."""
        return 2 * math.comb(graph.vertices - 2, self.k - 1)


@dataclass(frozen=True)
class NoisyStarsOneEnd(NoisyStars):
    """Number of k-stars, noise for a sensitivity of C(n - 2, k - 1): broken, up to 2ε.

    The mistake of counting the stars that a tie makes at one of its ends only. Where both ends know
    everybody, and the counts are within what is clamped to, the loss is just 2ε.

    It takes the parameters of :class:`NoisyStars`.

    Examples
    --------
    >>> NoisyStarsOneEnd(1.0).sensitivity(star(4))
    3
    """

    def sensitivity(self, graph: Graph) -> int:
        """Return C(n - 2, k - 1)."""
        return super().sensitivity(graph) // 2


@dataclass(frozen=True)
class NoisyStarsSmooth(_SmoothCount, NoisyStars):
    """Number of k-stars, Cauchy noise for a smooth bound on what a tie moves: correct.

    A tie between two people who have a and b other contacts moves ``C(a, k - 1) + C(b, k - 1)``
    stars. Of graphs that differ in s ties one moves it most where s go to the one with more
    contacts, and the rest to the other, neither beyond n - 2. Noise as for triangles. Karwa,
    Raskhodnikova, Smith and Yaroslavtsev 2011, smooth sensitivity of the number of k-stars.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    k : int
        Leaves of a star, at least 2.

    Examples
    --------
    >>> NoisyStarsSmooth(6.0).moved(star(4), 0), NoisyStarsSmooth(6.0).moved(star(4), 2)
    (3, 5)
    """

    def moved(self, graph: Graph, far: int) -> int:
        """Return the most that a tie moves the count on a graph that differs in ``far`` ties."""
        contacts, most, found = graph.contacts(), graph.vertices - 2, 0
        for one, other in itertools.combinations(range(graph.vertices), 2):
            less, more = sorted((len(contacts[one] - {other}), len(contacts[other] - {one})))
            rest = max(0, far - (most - more))
            ends = min(more + far, most), min(less + rest, most)
            found = max(found, sum(math.comb(end, self.k - 1) for end in ends))
        return found
