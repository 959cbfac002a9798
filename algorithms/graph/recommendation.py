"""Recommend somebody by common neighbours, hiding one tie that does not touch who is served.

Machanavajjhala, Korolova and Das Sarma, "Personalized social recommendations: accurate or
private?", 2011, sections on the exponential and the Laplace mechanism and the theorem that both
keep ε. Vertex 0 is served; candidates are those it is not tied to; the utility of one is how many
contacts it shares with vertex 0.

The sensitivity is 1, in the sum of changes: a tie between a contact of vertex 0 and a candidate
raises the candidate's utility by 1, and any other tie that does not touch vertex 0 changes none.
So the exponential mechanism needs no factor of 2 in the exponent: only the numerator of one
candidate and the same term of the denominator go up. A tie that touches vertex 0 makes a candidate
of a contact or the other way round, which no noise hides: the loss is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from pdpaudit.core.graphs import Graph, GraphPair, edge_pairs, labelled_graphs
from pdpaudit.core.protocols import Law, Outputs

from ..laws.noise import CalibratedMechanism
from ..zoo import ReportNoisyMax1
from .noise import Floats, Selection


def favourite(contacts: int, others: int) -> Graph:
    """Return a graph in which one candidate, the first, shares all contacts but the last.

    Vertex 0 is tied to vertices 1 to ``contacts``, the candidate comes next, then ``others``
    candidates without ties.
    """
    first = contacts + 1
    known = [(0, contact) for contact in range(1, first)]
    shared = [(contact, first) for contact in range(1, contacts)]
    return Graph(contacts + 2 + others, tuple(sorted(known + shared)))


@dataclass(frozen=True)
class _Recommendation(CalibratedMechanism):
    """What all three share: the utilities, and the pairs."""

    source = "Machanavajjhala, Korolova, Das Sarma 2011"

    def utilities(self, graph: Graph) -> dict[int, int]:
        """Return the number of contacts that each candidate shares with vertex 0."""
        contacts = graph.contacts()
        candidates = sorted(set(range(1, graph.vertices)) - contacts[0])
        return {one: len(contacts[0] & contacts[one]) for one in candidates}

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of 3 and 4 vertices, and those of graphs with a favourite."""
        small = (graph for n in (3, 4) for graph in labelled_graphs(n))
        graphs = [*small, favourite(2, 3), favourite(3, 2)]
        # Where nobody, or only one person, can be recommended nothing is shown.
        some = [graph for graph in graphs if len(self.utilities(graph)) > 1]
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
        utilities = self.utilities(graph)
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
        utilities = self.utilities(graph)
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
        utilities = self.utilities(instance)
        chosen: list[int] = []
        for _ in range(2):
            chances = self._next(utilities, chosen)
            chosen.append(int(rng.choice(list(chances), p=list(chances.values()))))
        return tuple(chosen)

    def law(self, instance: Graph) -> Law:
        """Return the exact law; O(candidates²)."""
        utilities = self.utilities(instance)
        return Law(
            {
                (one, other): chance * later
                for one, chance in self._next(utilities, []).items()
                for other, later in self._next(utilities, [one]).items()
            }
        )

    def _next(self, utilities: dict[int, int], chosen: list[int]) -> dict[int, float]:
        """Return the probability of each candidate to come next."""
        left = [one for one in utilities if one not in chosen]
        chances = softmax(self.epsilon * np.array([utilities[one] for one in left]))
        return dict(zip(left, chances.tolist(), strict=True))
