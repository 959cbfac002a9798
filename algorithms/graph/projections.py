"""Counts after a projection onto graphs of bounded degree, hiding one tie or one person.

Kasiviswanathan, Nissim, Raskhodnikova and Smith, "Analyzing graphs with node differential
privacy", 2013: the section on Lipschitz extensions has the flow, the section on naive truncation
says why discarding vertices of high degree needs more noise. Neighbours differ in one vertex with
all its ties; what can be released is bounded by a public number instead of the number of people.

Blocki, Blum, Datta and Sheffet, "Differentially private data analysis of social networks via
restricted sensitivity", ITCS 2013, pages 87-96: the definition of restricted sensitivity, and the
two sections on projections. Who believes that no degree exceeds k scales the noise by the
restricted sensitivity, and a projection keeps the promise where the belief is false.

*Edge*: a tie stays if it is among the first k, in a fixed order, of both its ends. A tie more puts
itself in and at most one other out at either end, so that what is left moves by 3, and any count by
3 times its restricted sensitivity. For triangles it is 2 times at most: those that the tie closes
come in, those of the two others go out, and the larger of the two counts.

*Vertex*, one person having any other ties: a linear program says how far a graph is from the
bounded ones. Its variables are x of a person and w of a tie, ``w >= 1 - x - x'`` for the ends of
the tie, the sum of w at a person being at most k; the least sum of x, taken 4 times, is D. Without
the ties of everybody with x of 1/4 or more the others have less than 2k, since w of what is left
exceeds 1/2; there are D such people at most, and D moves by 4 at most, as x = 1 makes room for any
ties. So what is left of two neighbours differs in the ties of ``2D + 5`` people at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from pdpaudit.core.domains import Graphs, unchanged
from pdpaudit.core.graphs import (
    Adjacencies,
    Graph,
    GraphPair,
    batched,
    complete,
    edge_pairs,
    graph_of,
    hubs,
    labelled_graphs,
    rewired_pairs,
    small_graphs,
    star,
    vertex_pairs,
    wheel,
)

from .noise import CauchyNumber, Integers, NoisyNumber
from .subgraph_counts import triangles

# Lipschitz extensions


#: The largest number released; more than any of the pairs has.
_TOP = 40


@dataclass(frozen=True)
class _BoundedTies(NoisyNumber):
    """Ends of ties, counted on a graph of bounded degree, with noise for a sensitivity of 2d."""

    degree: int = 2

    source = "Kasiviswanathan, Nissim, Raskhodnikova, Smith 2013"
    domain: ClassVar = Graphs((1, 6), form=unchanged)
    least: ClassVar = {"degree": 1}

    def count(self, graph: Graph) -> int:
        """Return the number of ends of ties that are counted, twice the number of ties."""
        raise NotImplementedError

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of up to 4 vertices, and those of larger graphs of known shapes."""
        return tuple(vertex_pairs([*small_graphs(4, 2), star(6), complete(6), wheel(6)]))

    def noise(self, graph: Graph) -> tuple[int, int, float]:
        """Return the count, the largest released, and the rate."""
        return self.count(graph), _TOP, self.epsilon / (2 * self.degree)


@dataclass(frozen=True)
class FlowTies(_BoundedTies):
    """Ends of ties by the largest flow of capacity d at each vertex: correct.

    Every vertex has a left and a right copy; the source feeds each left copy and the sink drains
    each right copy with capacity d, and a tie joins the copies of its ends both ways with capacity
    1. The flow is twice the number of ties where no degree exceeds d. A vertex adds two edges of
    capacity d at the terminals, so it moves the flow by 2d at most, and never down.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    degree : int
        The degree d up to which the count is right, at least 1.

    Examples
    --------
    >>> FlowTies(1.0).count(star(6)), FlowTies(1.0).count(wheel(6))
    (4, 14)
    """

    def count(self, graph: Graph) -> int:
        """Return the value of the flow; integral, as the capacities are."""
        n = graph.vertices
        capacity = np.zeros((2 * n + 2, 2 * n + 2), dtype=np.int32)
        source, sink = 2 * n, 2 * n + 1
        capacity[source, :n] = capacity[n : 2 * n, sink] = self.degree
        for one, other in graph.ties:
            capacity[one, n + other] = capacity[other, n + one] = 1
        return int(maximum_flow(csr_array(capacity), source, sink).flow_value)


@dataclass(frozen=True)
class TruncatedTies(_BoundedTies):
    """Ends of ties between vertices of degree at most d, with the same noise: broken.

    What remains has degree d, but who remains depends on everybody. Without the hub of a wheel all
    rim vertices have degree 2 instead of 3: with d = 2 the count goes from 0 to 2m for a rim of m,
    and the loss is mε/2, without bound.

    It takes the parameters of :class:`FlowTies`.

    Examples
    --------
    >>> TruncatedTies(1.0).count(wheel(6)), TruncatedTies(1.0).count(star(2))
    (0, 4)
    """

    @batched(int)
    def count(self, graphs: Adjacencies) -> Integers:
        """Return twice the number of ties that are left."""
        stays = graphs.sum(axis=2) <= self.degree
        return np.asarray((graphs & stays[:, :, None] & stays[:, None]).sum(axis=(1, 2)))


# Restricted sensitivity


#: How far below 1/4 the solver may leave what is 1/4; whoever is dropped for it does no harm.
_SOLVED = 1e-6

#: Decimals of D that are kept: what a processor adds up in another order differs beyond.
_DIGITS = 9


@dataclass(frozen=True)
class _Restricted(NoisyNumber):
    """What all here share: a bound on degrees, which is public and may be false."""

    degree: int = 2

    source: ClassVar[str] = "Blocki, Blum, Datta, Sheffet 2013"
    domain: ClassVar = Graphs((2, 6), form=unchanged)
    least: ClassVar = {"degree": 2}


@dataclass(frozen=True)
class ProjectedTriangles(_Restricted):
    """Triangles among the first k ties of everybody, noise for 3(k - 1): correct, half too much.

    On graphs of degree at most k a tie closes k - 1 triangles at most. After the projection it
    moves the number by 2(k - 1) at most, attained where it puts a tie out of each of two complete
    graphs of k + 1, so that the claim is kept with a third to spare.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    degree : int
        The bound k on degrees, at least 2.

    Examples
    --------
    >>> ProjectedTriangles(1.0).projected(Graph(4, ((0, 1), (0, 2), (0, 3), (2, 3)))).ties
    ((0, 1), (0, 2), (2, 3))
    """

    factor: ClassVar[int] = 3

    @batched(graph_of)
    def projected(self, graphs: Adjacencies) -> Adjacencies:
        """Return the graph of the ties that are among the first k of both ends."""
        first = graphs & (graphs.cumsum(axis=2) <= self.degree)
        return np.asarray(first & first.transpose(0, 2, 1))

    @batched(int)
    def count(self, graphs: Adjacencies) -> Integers:
        """Return the number of triangles that are left."""
        return triangles(self.projected.values(graphs))

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of 2 to 4 vertices, and those of three graphs with more triangles."""
        two = Graph(6, ((0, 2), (0, 3), (1, 4), (1, 5), (2, 3), (4, 5)))
        return tuple(edge_pairs([*labelled_graphs(4, 2), hubs(3), hubs(4), two]))

    def noise(self, graph: Graph) -> tuple[int, int, float]:
        """Return the count, the largest there may be, and the rate."""
        top = math.comb(graph.vertices, 3)
        return self.count(graph), top, self.epsilon / (self.factor * (self.degree - 1))


@dataclass(frozen=True)
class ProjectedTrianglesUnscaled(ProjectedTriangles):
    """The same with noise for k - 1: broken, 2ε.

    The mistake of taking the restricted sensitivity for that of what is left. Two triangles 0-2-3
    and 1-4-5 are both left with k = 2; with the tie 0-1, the first of both, 0-3 and 1-5 go.

    It takes the parameters of :class:`ProjectedTriangles`.

    Examples
    --------
    >>> two = ((0, 2), (0, 3), (1, 4), (1, 5), (2, 3), (4, 5))
    >>> [ProjectedTrianglesUnscaled(1.0).count(Graph(6, ties)) for ties in (two, ((0, 1), *two))]
    [2, 0]
    """

    factor: ClassVar[int] = 1


@dataclass(frozen=True)
class AssumedTriangles(ProjectedTrianglesUnscaled):
    """All triangles with noise for k - 1: broken, without bound.

    The mistake of a bound on degrees that is assumed and not enforced: between two people who share
    m contacts a tie closes m triangles, a loss of ``mε/(k - 1)``.

    It takes the parameters of :class:`ProjectedTriangles`.

    Examples
    --------
    >>> AssumedTriangles(1.0).count(Graph(4, ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3))))
    2
    """

    @batched(graph_of)
    def projected(self, graphs: Adjacencies) -> Adjacencies:
        """Return the graph as it is."""
        return graphs


@lru_cache(maxsize=4096)
def _left(graph: Graph, degree: int) -> tuple[int, float]:
    """Return how many ties the linear program leaves, and D; solved once for each graph."""
    n, m = graph.vertices, len(graph.ties)
    if not m:
        return 0, 0.0
    limits = np.zeros((m + n, n + m))
    for i, (one, other) in enumerate(graph.ties):
        limits[i, [one, other, n + i]] = -1
        limits[[m + one, m + other], n + i] = 1
    most = np.repeat([-1.0, degree], [m, n])
    solved = linprog(np.repeat([1.0, 0.0], [n, m]), A_ub=limits, b_ub=most)
    assert solved.x is not None, "x = 1 of everybody is within the limits"
    absent = solved.x[:n]
    dropped = absent >= 0.25 - _SOLVED
    kept = sum(not (dropped[one] or dropped[other]) for one, other in graph.ties)
    return kept, round(4 * float(absent.sum()), _DIGITS)


@dataclass(frozen=True)
class _LeftTies(_Restricted):
    """Ties left by the linear program; neighbours differ in one person's ties."""

    def projected(self, graph: Graph) -> tuple[int, float]:
        """Return how many ties are left, and D."""
        return _left(graph, self.degree)

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of up to 4 vertices."""
        return tuple(rewired_pairs(small_graphs(4, 2)))

    def noise(self, graph: Graph) -> tuple[int, int, float]:
        """Return the count, the largest there may be, and the rate or scale of the noise."""
        kept, far = self.projected(graph)
        return kept, math.comb(graph.vertices, 2), self.rate(far)

    def rate(self, far: float) -> float:
        """Return the rate of noise for 2k."""
        return self.epsilon / (2 * self.degree)


@dataclass(frozen=True)
class ProjectedTies(CauchyNumber, _LeftTies):
    """Ties left by the linear program, Cauchy noise for a smooth bound, one person: correct.

    Among degrees of 2k one person's ties move the number by 2k. So it moves by ``2k(2D + 5)`` at
    most, of which the largest ``e^(-β(d - D)/4) 2k(2d + 5)`` over d from D on is a smooth bound:
    it changes by a factor ``e^β`` at most. Noise as for triangles by smooth sensitivity, β = ε/6.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    degree : int
        The bound k on degrees, at least 2.

    Examples
    --------
    >>> known = ((0, 1), (0, 2), (0, 3), (1, 2), (2, 3))
    >>> [ProjectedTies(1.0).projected(Graph(4, ties))[0] for ties in (known, (*known, (1, 3)))]
    [0, 6]
    """

    def smooth_bound(self, far: float) -> float:
        """Return the smooth bound where D is ``far``."""
        beta = self.epsilon / 6
        best = max(far, 4 / beta - 2.5)
        return math.exp(-beta / 4 * (best - far)) * 2 * self.degree * (2 * best + 5)

    def rate(self, far: float) -> float:
        """Return the scale of the noise where D is ``far``."""
        return 6 / self.epsilon * self.smooth_bound(far)


@dataclass(frozen=True)
class ProjectedTiesUnsmoothed(_LeftTies):
    """Ties left by the linear program, geometric noise for 2k, one person: broken.

    The mistake of taking the restricted sensitivity for that of what is left. With k = 2, of 4
    people who all know each other each has x = 1/6, and all 6 ties are left. Without one tie the
    two who still know everybody have x = 1/4, the others 0, and no tie is left: a loss of 3ε/2.

    It takes the parameters of :class:`ProjectedTies`.

    Examples
    --------
    >>> ProjectedTiesUnsmoothed(1.0).noise(Graph(2, ((0, 1),)))
    (1, 1, 0.25)
    """
