"""The adjacency matrix by randomised response.

Warner, "Randomized response", 1965. On graphs: Qin, Yu, Yang, Khalil, Xiao and Ren, "Generating
synthetic decentralized social graphs with local differential privacy", 2017; Imola, Murakami and
Chaudhuri, "Locally differentially private analysis of graph statistics", 2021, whose section on
privacy definitions keeps the privacy of an entry of a list, ε, apart from that of a tie, 2ε, and
has each tie reported by one of its ends for that reason.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from pdpaudit.core.graphs import Graph, GraphPair, edge_pairs, small_graphs

from .noise import Floats, Integers, ProductRows


@dataclass(frozen=True)
class RandomisedTies(ProductRows):
    """Each pair of people reported by one of them: correct.

    A report is wrong with probability 1/(1 + exp(ε)). One tie changes one report, whose ratio is
    just exp(ε): the claim is attained.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> RandomisedTies(1.0).entries(Graph(3, ((0, 2),)))
    [0, 1, 0]
    >>> round(RandomisedTies(1.0).law(Graph(2, ())).probabilities[(1,)], 4)
    0.2689
    """

    source = "Imola, Murakami, Chaudhuri 2021"

    @property
    def wrong(self) -> float:
        """Probability that a report is wrong."""
        return 1.0 / (1.0 + math.exp(self.epsilon))

    def entries(self, graph: Graph) -> list[int]:
        """Return what is reported, before it is randomised."""
        places = itertools.combinations(range(graph.vertices), 2)
        return [int(place in graph.ties) for place in places]

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of up to 4 vertices."""
        return tuple(edge_pairs(small_graphs(4, 2)))

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Integers:
        """Return reports, shape ``(size, entries)``; O(size · entries)."""
        entries = np.array(self.entries(instance))
        wrong = rng.random((size, len(entries))) < self.wrong
        return np.asarray(entries ^ wrong, dtype=np.int64)

    def parts(self, graph: Graph) -> list[Floats]:
        """Return the probabilities of either value of each entry."""
        either = np.array([1.0 - self.wrong, self.wrong])
        return [either[::-1] if one else either for one in self.entries(graph)]


@dataclass(frozen=True)
class RandomisedLists(RandomisedTies):
    """Everybody reports all of the own list: broken, 2ε.

    An entry is wrong with probability 1/(1 + exp(ε)). A tie is in two lists, so it costs 2ε,
    attained where both reports are right: what hides an entry of a list does not hide a tie.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> RandomisedLists(1.0).entries(Graph(3, ((0, 2),)))
    [0, 1, 0, 0, 1, 0]
    """

    def entries(self, graph: Graph) -> list[int]:
        """Return the lists one after another."""
        contacts = graph.contacts()
        places = itertools.permutations(range(graph.vertices), 2)
        return [int(other in contacts[one]) for one, other in places]

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of up to 3 vertices: 4 have 4,096 outputs, and show no more."""
        return tuple(edge_pairs(small_graphs(3, 2)))
