"""Recommend somebody, or predict a tie, by common neighbours.

Vertex 0 is served; candidates are those it is not tied to; the utility, or score, of one is how
many contacts it shares with vertex 0.

*Recommendation* hides one tie that does not touch who is served: Machanavajjhala, Korolova and Das
Sarma, "Personalized social recommendations: accurate or private?", Proceedings of the VLDB
Endowment, issue 7, 2011, pages 440-450, sections on the exponential and the Laplace mechanism and
the theorem that both keep ε.

The sensitivity is 1, in the sum of changes: a tie between a contact of vertex 0 and a candidate
raises the candidate's utility by 1, and any other tie that does not touch vertex 0 changes none.
So the exponential mechanism needs no factor of 2 in the exponent: only the numerator of one
candidate and the same term of the denominator go up. A tie that touches vertex 0 makes a candidate
of a contact or the other way round, which no noise hides: the loss is infinite.

*Prediction* hides ties to protected people: De and Chakrabarti, "Differentially private link
prediction with protected connections", 2019, with its authors' published code, which has the
sensitivities. Vertex 0 knows its own contacts, of which vertices 1 to ``protected`` are protected.
Neighbours differ in one candidate's ties to the protected contacts of vertex 0, of which all may
change, so that its score moves by their number a at most, and no other score moves.

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

from pdpaudit.core.domains import Graphs, unchanged
from pdpaudit.core.graphs import (
    Adjacencies,
    Graph,
    GraphPair,
    Tie,
    batched,
    changed,
    edge_pairs,
    graph_words,
    labelled_graphs,
)
from pdpaudit.core.protocols import Law, Outputs

from ..laws.noise import CalibratedMechanism
from ..zoo import ReportNoisyMax1
from .noise import Floats, Integers, Selection

# Recommendation


def favourite(contacts: int, others: int) -> Graph:
    """Return a graph in which one candidate, the first, shares all contacts but the last.

    Vertex 0 is tied to vertices 1 to ``contacts``, the candidate comes next, then ``others``
    candidates without ties.
    """
    first = contacts + 1
    known = [(0, contact) for contact in range(1, first)]
    shared = [(contact, first) for contact in range(1, contacts)]
    return Graph(contacts + 2 + others, tuple(sorted(known + shared)))


def shared_contacts(graph: Graph) -> dict[int, int]:
    """Return the number of contacts that each candidate shares with vertex 0.

    Where there is no candidate vertex 0 stands for nobody.
    """
    contacts = graph.contacts()
    candidates = sorted(set(range(1, graph.vertices)) - contacts[0]) or [0]
    return {one: len(contacts[0] & contacts[one]) * (one > 0) for one in candidates}


def utilities(graphs: Adjacencies) -> Integers:
    """Return what :func:`shared_contacts` does of each graph, 0 of who is no candidate."""
    shared = (graphs[:, :1].astype(np.int64) @ graphs)[:, 0]
    shared[graphs[:, 0]] = shared[:, 0] = 0
    return shared


@dataclass(frozen=True)
class _Recommendation(CalibratedMechanism):
    """What all three share: the pairs."""

    source = "Machanavajjhala, Korolova, Das Sarma 2011"
    domain: ClassVar = Graphs((3, 6), form=unchanged, served=True)

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of 3 and 4 vertices, and those of graphs with a favourite."""
        small = (graph for n in (3, 4) for graph in labelled_graphs(n))
        graphs = [*small, favourite(2, 3), favourite(3, 2)]
        # Where nobody, or only one person, can be recommended nothing is shown.
        some = [graph for graph in graphs if len(shared_contacts(graph)) > 1]
        return tuple(edge_pairs(some, spared=0))


@dataclass(frozen=True)
class ExponentialRecommendation(Selection, _Recommendation):
    """A candidate with probability in proportion to exp(ε · utility): correct.

    The loss comes near ε as candidates without shared contacts are added: the one whose utility
    goes up from 0 has probability 1/m before and exp(ε)/(m - 1 + exp(ε)) after.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> law = ExponentialRecommendation(1.0).law(Graph(4, ((0, 1), (1, 2)))).probabilities
    >>> {one: round(chance, 4) for one, chance in law.items()}
    {2: 0.7311, 3: 0.2689}
    """

    def chances(self, graph: Graph) -> tuple[list[int], Floats]:
        """Return the candidates and their probabilities, a softmax."""
        utilities = shared_contacts(graph)
        return list(utilities), softmax(self.epsilon * np.array(list(utilities.values())))


@dataclass(frozen=True)
class NoisyRecommendation(_Recommendation):
    """The candidate of the largest utility, each with Laplace noise of scale 1/ε: correct.

    The noisy utilities keep ε together, and the largest is a function of them.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> law = NoisyRecommendation(1.0).law(Graph(4, ((0, 1), (1, 2)))).probabilities
    >>> {one: round(chance, 4) for one, chance in law.items()}
    {2: 0.7241, 3: 0.2759}
    """

    def run(self, instance: Graph, rng: np.random.Generator) -> int:
        """Return a candidate."""
        candidates, utilities = self._listed(instance)
        return candidates[self._largest.run(utilities, rng)]

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Outputs:
        """Return candidates; O(size · candidates)."""
        candidates, utilities = self._listed(instance)
        return Outputs(candidates, self._largest.sample(utilities, size, rng).codes)

    def law(self, instance: Graph) -> Law:
        """Return the exact law, by one integral for each candidate."""
        candidates, utilities = self._listed(instance)
        places = self._largest.law(utilities)
        chances = [places.probabilities[place] for place in range(len(candidates))]
        return Law(dict(zip(candidates, chances, strict=True)), missing=places.missing)

    @property
    def _largest(self) -> ReportNoisyMax1:
        """Report Noisy Max adds noise of scale 2/ε."""
        return ReportNoisyMax1(2.0 * self.epsilon)

    def _listed(self, graph: Graph) -> tuple[list[int], tuple[float, ...]]:
        utilities = shared_contacts(graph)
        return list(utilities), tuple(map(float, utilities.values()))


@dataclass(frozen=True)
class TwoRecommendations(_Recommendation):
    """Two candidates, one after the other, each as if it were the only one: broken, up to 2ε.

    The mistake of not dividing ε by the length of the list. Where the candidate of the largest
    utility is left out twice, either choice loses ln((exp(ε(u + 1)) + r) / (exp(εu) + r)), r being
    the others' sum, which comes near ε as u grows. At small ε that takes many contacts: with
    ε = 0.1 the claim fails among 40, and holds on the small graphs.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> len(TwoRecommendations(1.0).law(favourite(2, 2)).probabilities)
    6
    """

    def run(self, instance: Graph, rng: np.random.Generator) -> tuple[int, ...]:
        """Return two candidates, in order."""
        utilities = shared_contacts(instance)
        chosen: list[int] = []
        for _ in range(2):
            chances = self._next(utilities, chosen)
            chosen.append(int(rng.choice(list(chances), p=list(chances.values()))))
        return tuple(chosen)

    def law(self, instance: Graph) -> Law:
        """Return the exact law; O(candidates²)."""
        utilities = shared_contacts(instance)
        return Law(
            {
                (one, other): chance * later
                for one, chance in self._next(utilities, []).items()
                for other, later in self._next(utilities, [one]).items()
            }
        )

    def _next(self, utilities: dict[int, int], chosen: list[int]) -> dict[int, float]:
        """Return the probability of each candidate to come next."""
        left = [one for one in utilities if one not in chosen] or [0]
        chances = softmax(self.epsilon * np.array([utilities.get(one, 0) for one in left]))
        return dict(zip(left, chances.tolist(), strict=True))


# Prediction


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
    least: ClassVar = {"protected": 1}

    @property
    def domain(self) -> Graphs:
        """Graphs in which the ties of one candidate to protected contacts are secret."""
        return Graphs((3, 6), form=unchanged, secret=self.secret)

    def secret(self, vertices: int, contacts: frozenset[int]) -> list[list[Tie]]:
        """Return the places of each candidate's ties to the protected contacts of vertex 0."""
        candidates = sorted(set(range(1, vertices)) - contacts)
        hidden = sorted(one for one in contacts if one <= self.protected)
        return [[(min(one, other), max(one, other)) for other in hidden] for one in candidates]

    @batched(int)
    def sensitivity(self, graphs: Adjacencies) -> Integers:
        """Return by how much the noise assumes that a score moves, given vertex 0's contacts."""
        return np.asarray(graphs[:, 0, 1 : self.protected + 1].sum(axis=1))

    @batched(np.asarray)
    def scores(self, graphs: Adjacencies) -> Floats:
        """Return what noise is added to, for each candidate; 0 for all others."""
        moved = np.maximum(1, self.sensitivity.values(graphs))
        return self.transformed(utilities(graphs) / moved[:, None])

    def transformed(self, scores: Floats) -> Floats:
        """Return the sum of powers of each score."""
        return np.asarray(sum(scores**power for power in self.powers))

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of 4 vertices, and those of two graphs with favourites."""
        known = [(0, contact) for contact in range(1, 6)]
        # All candidates but 6 share five protected contacts.
        led = Graph(10, tuple(sorted([*known, *itertools.product(range(1, 6), (7, 8, 9))])))
        # Candidates 8 and 9 share two contacts that are not protected.
        open_ties = itertools.product((6, 7), (8, 9))
        steep = Graph(10, tuple(sorted([(0, 1), (0, 6), (0, 7), *open_ties])))
        graphs = [*labelled_graphs(4), led, steep]
        some = [graph for graph in graphs if len(shared_contacts(graph)) > 1]
        return tuple(pair for graph in some for pair in self.neighbours(graph))

    def hidden(self, graph: Graph) -> Iterator[tuple[int, Graph]]:
        """Yield each candidate and the graph with any other secret ties of it, few ties first."""
        contacts = frozenset(graph.contacts()[0])
        candidates = sorted(set(range(1, graph.vertices)) - contacts)
        secret = self.secret(graph.vertices, contacts)
        for one, places in zip(candidates, secret, strict=True):
            others = sorted(changed(graph, places), key=lambda other: (len(other.ties), other.ties))
            yield from ((one, other) for other in others)

    def neighbours(self, graph: Graph) -> Iterator[GraphPair]:
        """Yield a graph with each set of protected ties added that a candidate has not."""
        for one, more in self.hidden(graph):
            if set(graph.ties) < set(more.ties):
                chosen = [sum(tie) - one for tie in more.ties if tie not in graph.ties]
                yield GraphPair(f"{graph_words(graph)}; {one} tied to {chosen}", graph, more)

    def chances(self, graph: Graph) -> tuple[list[int], Floats]:
        """Return the candidates and their probabilities, a softmax."""
        candidates = list(shared_contacts(graph))
        values = self.scores(graph)[candidates]
        if not self.sensitivity(graph):
            return candidates, (np.arange(len(values)) == values.argmax()).astype(np.float64)
        return candidates, softmax(self.epsilon * values / (2 * self.transformed(np.ones(()))))


@dataclass(frozen=True)
class ProtectedPredictionOneTie(ProtectedPrediction):
    """The same with noise for one protected tie: broken, where all may change.

    The mistake of the sensitivity of another relation. Where a candidate's ties to five protected
    contacts appear, its score goes from 0 to 5 instead of 1, and the sum of powers √f and f by
    ``(√5 + 5) / 2 = 3.62`` times what the noise is for: a loss near 1.81 ε where others lead.

    It takes the parameters of :class:`ProtectedPrediction`.

    Examples
    --------
    >>> ProtectedPredictionOneTie(1.0).sensitivity(Graph(4, ((0, 1), (0, 2), (0, 3))))
    1
    """

    @batched(int)
    def sensitivity(self, graphs: Adjacencies) -> Integers:
        """Return 1 where there is a protected contact."""
        return np.asarray(np.minimum(1, super().sensitivity.values(graphs)))


@dataclass(frozen=True)
class ProtectedPredictionSquared(ProtectedPrediction):
    """The same with squares of scores: broken.

    The mistake of a transformation that gets steeper: with c shared contacts that are not protected
    a tie to the only protected one moves the square by ``2c + 1``, and the noise is for 1.

    It takes the parameters of :class:`ProtectedPrediction`.

    Examples
    --------
    >>> ProtectedPredictionSquared(1.0).transformed(np.array([2.0, 3.0])).tolist()
    [4.0, 9.0]
    """

    powers: ClassVar[tuple[float, ...]] = (2.0,)
