"""The adjacency matrix by randomised response.

Warner, "Randomized response", 1965. On graphs: Qin, Yu, Yang, Khalil, Xiao and Ren, "Generating
synthetic decentralized social graphs with local differential privacy", 2017; Imola, Murakami and
Chaudhuri, "Locally differentially private analysis of graph statistics", 2021, whose section on
privacy definitions keeps the privacy of an entry of a list, ε, apart from that of a tie, 2ε, and
has each tie reported by one of its ends for that reason.

Ties released by suppression hide protected ones from one side only: Doudalis, Kotsogiannis, Haney,
Machanavajjhala and Mehrotra, "One-sided differential privacy", 2017, section on randomised response
for one-sided privacy (OsdpRR).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pdpaudit.core.graphs import (
    Graph,
    GraphPair,
    edge_pairs,
    graph_words,
    labelled_graphs,
    small_graphs,
)

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

    It takes the parameters of :class:`RandomisedTies`.

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


# One-sided


@dataclass(frozen=True)
class SuppressedTies(ProductRows):
    """Ties of protected people suppressed, every other released with probability 1 - exp(-ε).

    Broken, if its promise is taken for differential privacy. Neighbours exchange a tie of a
    protected person for any other tie. What the paper proves is one-sided: an output is at most
    exp(ε) times as likely with the protected tie, attained where the other tie is not released.
    The other way round the loss is infinite: a tie that is released is no protected one.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    protected : int
        How many people are protected: vertices 0 to this, less one.

    Examples
    --------
    >>> law = SuppressedTies(1.0).law(Graph(3, ((0, 1), (1, 2)))).probabilities
    >>> {output: round(chance, 4) for output, chance in law.items()}
    {(0, 0, 0): 0.3679, (0, 0, 1): 0.6321}
    """

    protected: int = 1

    source = "Doudalis, Kotsogiannis, Haney, Machanavajjhala, Mehrotra 2017"
    least: ClassVar = {"protected": 1}

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of 3 and 4 vertices; the left side has the protected tie."""
        return tuple(
            pair
            for n in (3, 4)
            for graph in labelled_graphs(n)
            for pair in exchanged(graph, self.protected)
        )

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Integers:
        """Return such outputs, shape ``(size, pairs of people)``."""
        open_ties = np.array(self._open(instance))
        passed = rng.random((size, len(open_ties))) >= math.exp(-self.epsilon)
        return np.asarray(open_ties & passed, dtype=np.int64)

    def parts(self, graph: Graph) -> list[Floats]:
        """Return the probabilities of each entry, of protected ties and of none only that of 0."""
        kept = math.exp(-self.epsilon)
        either = np.array([kept, -math.expm1(-self.epsilon)])
        return [either if tie else np.ones(1) for tie in self._open(graph)]

    def _open(self, graph: Graph) -> list[bool]:
        """Say for each pair of people whether they have a tie that is not protected."""
        places = itertools.combinations(range(graph.vertices), 2)
        return [place in graph.ties and min(place) >= self.protected for place in places]


def exchanged(graph: Graph, protected: int = 1) -> Iterator[GraphPair]:
    """Yield a graph with each of its protected ties exchanged for each tie it lacks."""
    absent = set(itertools.combinations(range(graph.vertices), 2)) - set(graph.ties)
    for tie, other in itertools.product(graph.ties, sorted(absent)):
        if min(tie) < protected:
            ties = tuple(sorted({*graph.ties, other} - {tie}))
            name = f"{graph_words(graph)}; {tie[0]}-{tie[1]} exchanged for {other[0]}-{other[1]}"
            yield GraphPair(name, graph, Graph(graph.vertices, ties))
