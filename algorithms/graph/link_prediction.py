"""Predict a tie of one person by shared contacts, hiding ties to protected people.

De and Chakrabarti, "Differentially private link prediction with protected connections", 2019, with
its authors' published code, which has the sensitivities. Vertex 0 is served and knows its own
contacts, of which vertices 1 to ``protected`` are protected; the score of a candidate is how many
contacts it shares with vertex 0. Neighbours differ in one candidate's ties to the protected
contacts of vertex 0, of which all may change, so that its score moves by their number a at most,
and no other score moves.

The method DpLp raises scores ``f / a`` to powers between 0 and 1 and adds these up with weights. A
sum g of such powers is 0 at 0 and ever less steep, so that it moves by ``g(1)`` at most where its
argument moves by 1, however large that is. The candidate of the largest g with Gumbel noise of
scale ``2 g(1) / ε`` is the exponential mechanism. Where no contact is protected there is nothing
to hide, and no noise. Modelled is what carries the claim: this choice, with two powers of weight 1.
Not modelled are the learning of the weights, which the claim takes as given, lists of several
candidates, and other scores.

*The claim is loose by a factor 2 at least*: as only one score moves, nothing loses more than ε/2.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import softmax

from pdpaudit.core.errors import InputError
from pdpaudit.core.graphs import Graph, GraphPair, labelled_graphs

from .noise import Floats, Selection


@dataclass(frozen=True)
class ProtectedPrediction(Selection):
    """A candidate by powers of shared contacts, noise for all its protected ties: correct.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    protected : int
        How many people are protected: vertices 1 to this.

    Examples
    --------
    >>> known = Graph(6, ((0, 1), (0, 2), (1, 3), (2, 3)))
    >>> law = ProtectedPrediction(1.0, 2).law(known).probabilities
    >>> {one: round(chance, 4) for one, chance in law.items()}
    {3: 0.4519, 4: 0.2741, 5: 0.2741}
    """

    protected: int = 5

    source: ClassVar[str] = "De, Chakrabarti 2019"
    powers: ClassVar[tuple[float, ...]] = (0.5, 1.0)

    def __post_init__(self) -> None:
        """Refuse what scales no noise, or protects nobody."""
        super().__post_init__()
        if self.protected < 1:
            raise InputError(f"protected = {self.protected}: give a whole number, at least 1")

    def scores(self, graph: Graph) -> dict[int, int]:
        """Return the number of contacts that each candidate shares with vertex 0."""
        contacts = graph.contacts()
        candidates = sorted(set(range(1, graph.vertices)) - contacts[0])
        return {one: len(contacts[0] & contacts[one]) for one in candidates}

    def hidden(self, graph: Graph) -> set[int]:
        """Return the protected contacts of vertex 0."""
        return {one for one in graph.contacts()[0] if one <= self.protected}

    def sensitivity(self, graph: Graph) -> int:
        """Return by how much the noise assumes that a score moves, given vertex 0's contacts."""
        return len(self.hidden(graph))

    def transformed(self, score: float) -> float:
        """Return the sum of powers of a score."""
        return float(sum(score**power for power in self.powers))

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of 4 vertices, and those of two graphs with favourites."""
        known = [(0, contact) for contact in range(1, 6)]
        # All candidates but 6 share five protected contacts.
        led = Graph(10, tuple(sorted([*known, *itertools.product(range(1, 6), (7, 8, 9))])))
        # Candidates 8 and 9 share two contacts that are not protected.
        open_ties = itertools.product((6, 7), (8, 9))
        steep = Graph(10, tuple(sorted([(0, 1), (0, 6), (0, 7), *open_ties])))
        graphs = [*labelled_graphs(4), led, steep]
        some = [graph for graph in graphs if len(self.scores(graph)) > 1]
        return tuple(pair for graph in some for pair in self.neighbours(graph))

    def neighbours(self, graph: Graph) -> Iterator[GraphPair]:
        """Yield a graph with each set of protected ties added that a candidate has not."""
        hidden = self.hidden(graph)
        ties = " ".join(f"{a}-{b}" for a, b in graph.ties)
        for one in self.scores(graph):
            lacking = sorted(hidden - graph.contacts()[one])
            for count in range(1, len(lacking) + 1):
                for chosen in itertools.combinations(lacking, count):
                    added = ((min(one, other), max(one, other)) for other in chosen)
                    more = Graph(graph.vertices, tuple(sorted({*graph.ties, *added})))
                    name = f"{graph.vertices} vertices with {ties}; {one} tied to {list(chosen)}"
                    yield GraphPair(name, graph, more)

    def chances(self, graph: Graph) -> tuple[list[int], Floats]:
        """Return the candidates and their probabilities, a softmax."""
        scores, moved = self.scores(graph), self.sensitivity(graph)
        values = np.array([self.transformed(score / max(1, moved)) for score in scores.values()])
        if not moved:
            return list(scores), (np.arange(len(scores)) == values.argmax()).astype(np.float64)
        return list(scores), softmax(self.epsilon * values / (2 * self.transformed(1.0)))


@dataclass(frozen=True)
class ProtectedPredictionOneTie(ProtectedPrediction):
    """The same with noise for one protected tie: broken, where all may change.

    The mistake of the sensitivity of another relation. Where a candidate's ties to five protected
    contacts appear, its score goes from 0 to 5 instead of 1, and the sum of powers √f and f by
    ``(√5 + 5) / 2 = 3.62`` times what the noise is for: a loss near 1.81 ε where others lead.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    protected : int
        How many people are protected: vertices 1 to this.

    Examples
    --------
    >>> ProtectedPredictionOneTie(1.0).sensitivity(Graph(4, ((0, 1), (0, 2), (0, 3))))
    1
    """

    def sensitivity(self, graph: Graph) -> int:
        """Return 1 where there is a protected contact."""
        return min(1, super().sensitivity(graph))


@dataclass(frozen=True)
class ProtectedPredictionSquared(ProtectedPrediction):
    """The same with squares of scores: broken.

    The mistake of a transformation that gets steeper: with c shared contacts that are not protected
    a tie to the only protected one moves the square by ``2c + 1``, and the noise is for 1.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    protected : int
        How many people are protected: vertices 1 to this.

    Examples
    --------
    >>> [ProtectedPredictionSquared(1.0).transformed(shared) for shared in (2, 3)]
    [4.0, 9.0]
    """

    powers: ClassVar[tuple[float, ...]] = (2.0,)
