"""The number of ties that hides one person, by a projection onto graphs of bounded degree.

Kasiviswanathan, Nissim, Raskhodnikova and Smith, "Analyzing graphs with node differential
privacy", 2013: the section on Lipschitz extensions has the flow, the section on naive truncation
says why discarding vertices of high degree needs more noise. Neighbours differ in one vertex with
all its ties; what can be released is bounded by a public number instead of the number of people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from pdpaudit.core.domains import Graphs, unchanged
from pdpaudit.core.errors import InputError
from pdpaudit.core.graphs import Graph, GraphPair, complete, small_graphs, star, vertex_pairs, wheel

from .noise import NoisyNumber

#: The largest number released; more than any of the pairs has.
_TOP = 40


@dataclass(frozen=True)
class _BoundedTies(NoisyNumber):
    """Ends of ties, counted on a graph of bounded degree, with noise for a sensitivity of 2d."""

    degree: int = 2

    source = "Kasiviswanathan, Nissim, Raskhodnikova, Smith 2013"
    domain: ClassVar = Graphs((1, 6), form=unchanged)

    def __post_init__(self) -> None:
        """Refuse what scales no noise, or keeps no tie."""
        super().__post_init__()
        if self.degree < 1:
            raise InputError(f"degree = {self.degree}: give a whole number, at least 1")

    def count(self, graph: Graph) -> int:
        """Return the number of ends of ties that are counted, twice the number of ties."""
        raise NotImplementedError

    def sensitivity(self) -> int:
        """Return by how much the noise assumes that a vertex moves the count: 2d."""
        return 2 * self.degree

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of up to 4 vertices, and those of larger graphs of known shapes."""
        return tuple(vertex_pairs([*small_graphs(4, 2), star(6), complete(6), wheel(6)]))

    def noise(self, graph: Graph) -> tuple[int, int, float]:
        """Return the count, the largest released, and the rate."""
        return self.count(graph), _TOP, self.epsilon / self.sensitivity()


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

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    degree : int
        The degree d above which a vertex is discarded, at least 1.

    Examples
    --------
    >>> TruncatedTies(1.0).count(wheel(6)), TruncatedTies(1.0).count(star(2))
    (0, 4)
    """

    def count(self, graph: Graph) -> int:
        """Return twice the number of ties that are left."""
        degrees = graph.degrees()
        return 2 * sum(max(degrees[a], degrees[b]) <= self.degree for a, b in graph.ties)
