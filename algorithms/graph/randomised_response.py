"""Ties, lists and exposure notifications by randomised response, and a score of risk.

*The adjacency matrix*: Warner, "Randomized response", 1965. On graphs: Qin, Yu, Yang, Khalil, Xiao
and Ren, "Generating synthetic decentralized social graphs with local differential privacy", 2017;
Imola, Murakami and Chaudhuri, "Locally differentially private analysis of graph statistics", 2021,
whose section on privacy definitions keeps the privacy of an entry of a list, ε, apart from that of
a tie, 2ε, and has each tie reported by one of its ends for that reason.

Ties released by suppression hide protected ones from one side only: Doudalis, Kotsogiannis, Haney,
Machanavajjhala and Mehrotra, "One-sided differential privacy", 2017, section on randomised response
for one-sided privacy (OsdpRR).

*Exposure notification*, whether a person has met somebody who is infected: the binary answer of
contact tracing by randomised response (Warner, "Randomized response", 1965), under the contact
relation: one meeting more or less. Who is infected is known to the health authority and the same on
both sides: vertices 1 to ``infected``, and vertex 0 is who asks.

*A risk score* by messages of contacts, with log-normal noise, hides one tie of others: Romijnders,
Louizos, Asano and Welling, "Protect your score: contact tracing with differential privacy
guarantees", 2023, section on the log-normal mechanism. Vertex 0 is served and knows its own
contacts. The message of a contact is its own score: 1 for vertices 1 to ``infected``, who tested
positive, and else ``1 - (1 - prior) (1 - p)^m`` for a contact with m of these, p being the
probability of transmission. Messages are clipped, and the score of vertex 0 is a function of the
product of ``1 - p message`` over its contacts, the probability that it escaped. Its logarithm is a
sum, of which one message moves one term by ``ln((1 - p lower) / (1 - p upper))`` at most, so that
Gaussian noise on that scale, log-normal on the other, keeps a Rényi promise.

A tie of others moves one message at most: those of who tested positive do not depend on their ties,
and those of others on their ties with these only. All ties of one infected person may move many,
which is not claimed. Rounds of messages and days, of which the paper has many, are not modelled.
The noisy logarithm is rounded to an eighth of the noise's standard deviation, which is
post-processing, and loses a thousandth of the divergence.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from pdpaudit.core.domains import Graphs, unchanged
from pdpaudit.core.errors import InputError
from pdpaudit.core.graphs import (
    Adjacencies,
    Graph,
    GraphPair,
    batched,
    edge_pairs,
    graph_words,
    labelled_graphs,
    small_graphs,
    star,
)
from pdpaudit.core.protocols import Law, Outputs, PrivacyClaim

from ..laws.noise import CalibratedMechanism
from .noise import Floats, Integers, ProductRows, Selection, symmetric_cells


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
            pair for graph in labelled_graphs(4, 3) for pair in exchanged(graph, self.protected)
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


# Exposure notification


@dataclass(frozen=True)
class _Notification(Selection):
    """What both share: an answer that is yes with some probability."""

    infected: int = 2

    source = "Warner 1965, of one answer"
    domain: ClassVar = Graphs((2, 6), form=unchanged)
    least: ClassVar = {"infected": 1}

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of 2 to 4 vertices, and those of a person with many contacts."""
        graphs = [*labelled_graphs(4, 2), star(5), Graph(6, ((0, 2), (0, 3), (0, 4)))]
        return tuple(edge_pairs(graphs))

    def chances(self, graph: Graph) -> tuple[list[bool], Floats]:
        """Return no and yes, and their probabilities."""
        notified = self._notified(graph)
        return [False, True], np.array([1.0 - notified, notified])

    @property
    def _right(self) -> float:
        return 1.0 / (1.0 + math.exp(-self.epsilon))

    def _meetings(self, graph: Graph) -> tuple[int, int]:
        """Return how many of the person's contacts are infected, and how many are not."""
        contacts = graph.contacts()[0]
        infected = sum(contact <= self.infected for contact in contacts)
        return infected, len(contacts) - infected

    def _notified(self, graph: Graph) -> float:
        """Return the probability of the answer yes."""
        raise NotImplementedError


@dataclass(frozen=True)
class RandomisedNotification(_Notification):
    """The answer, wrong with probability 1/(1 + exp(ε)): correct.

    The claim is attained where the contact is the only one with somebody infected.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    infected : int
        How many are infected: vertices 1 to this.

    Examples
    --------
    >>> round(RandomisedNotification(1.0).law(Graph(2, ((0, 1),))).probabilities[True], 4)
    0.7311
    """

    def _notified(self, graph: Graph) -> float:
        return self._right if self._meetings(graph)[0] else 1.0 - self._right


@dataclass(frozen=True)
class RandomisedMeetings(_Notification):
    """Each meeting's status wrong with probability 1/(1 + exp(ε)), notified if any is yes: broken.

    The mistake of hiding the status of meetings, but not that they took place: without any meeting
    there is no notification, with one there may be, so the loss is infinite. Between people with
    meetings one more with somebody infected divides the probability of none by 1 + exp(ε), a loss
    of ln(1 + exp(ε)), above ε as well.

    It takes the parameters of :class:`RandomisedNotification`.

    Examples
    --------
    >>> RandomisedMeetings(1.0).law(Graph(2, ())).probabilities[True]
    0.0
    """

    def _notified(self, graph: Graph) -> float:
        infected, others = self._meetings(graph)
        return float(1.0 - (1.0 - self._right) ** infected * self._right**others)


# A risk score


#: Cells of a standard deviation, and standard deviations on either side of 0 where they end.
_FINE, _FAR = 8, 10


@dataclass(frozen=True)
class RiskScore(CalibratedMechanism):
    """The probability of having escaped, noise for messages between two bounds: correct.

    Gaussian noise of variance ``order Δ² / (2 ε)`` has a Rényi divergence of just ε at the order,
    attained where the tie is a contact's only one with an infected person. As in the paper the mean
    of the noise is minus half its variance, so that the noisy number has the right mean.

    Parameters
    ----------
    epsilon : float
        Rényi divergence claimed, in nats, above 0.
    order : float
        The order of the divergence, above 1.
    transmission : float
        The probability p that a meeting with an infected person infects.
    lower, upper : float
        What messages are clipped to.
    infected : int
        How many tested positive: vertices 1 to this.

    Examples
    --------
    >>> meets = Graph(4, ((0, 2), (0, 3), (1, 2)))
    >>> RiskScore(1.0).messages(meets).round(3).tolist()
    [0.0, 0.0, 0.6, 0.1]
    >>> round(RiskScore(1.0).sensitivity, 4)
    0.5705
    """

    order: float = 2.0
    transmission: float = 0.8
    lower: float = 0.1
    upper: float = 0.6
    infected: int = 1

    source: ClassVar[str] = "Romijnders, Louizos, Asano, Welling 2023"
    domain: ClassVar = Graphs((2, 6), form=unchanged, served=True)
    #: The probability of being infected without any contact.
    prior: ClassVar[float] = 0.01
    least: ClassVar = {"infected": 1}

    def __post_init__(self) -> None:
        """Refuse what is no probability, no order, or needs no noise."""
        super().__post_init__()
        if not 1 < self.order < math.inf:
            raise InputError(f"order = {self.order}: give a finite number above 1")
        if not (0 <= self.lower < self.upper <= 1 and 0 < self.transmission < 1):
            raise InputError(
                f"lower = {self.lower}, upper = {self.upper}, transmission = {self.transmission}: "
                "give probabilities, the lower one below the upper one"
            )

    @property
    def claim(self) -> PrivacyClaim:
        """A Rényi divergence between graphs that differ in one tie of others."""
        return PrivacyClaim.renyi(self.order, self.epsilon, source=self.source)

    @property
    def sensitivity(self) -> float:
        """By how much the noise assumes that one message moves the logarithm."""
        p = self.transmission
        return math.log((1 - p * self.lower) / (1 - p * self.upper))

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise."""
        return self.sensitivity * math.sqrt(self.order / (2 * self.epsilon))

    @batched(np.asarray)
    def messages(self, graphs: Adjacencies) -> Floats:
        """Return the messages of the contacts of vertex 0, clipped; 0 of all others."""
        positive = graphs[:, 1 : self.infected + 1].sum(axis=1)
        escaped = (1 - self.prior) * (1 - self.transmission) ** positive
        escaped[:, 1 : self.infected + 1] = 0
        return np.where(graphs[:, 0], self.clipped(1 - escaped), 0.0)

    def clipped(self, messages: Floats) -> Floats:
        """Return messages between the bounds."""
        return np.clip(messages, self.lower, self.upper)

    @batched(float)
    def logarithm(self, graphs: Adjacencies) -> Floats:
        """Return the logarithm of the probability of having escaped."""
        terms = np.log1p(-self.transmission * self.messages.values(graphs))
        # In one order, whatever the numbers: equal scores are equal to the last digit.
        return np.asarray(np.sort(terms, axis=1).sum(axis=1))

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of 3 and 4 vertices, and those of a person with many contacts."""
        return tuple(edge_pairs([*labelled_graphs(4, 3), star(5)], spared=0))

    def run(self, instance: Graph, rng: np.random.Generator) -> int:
        """Return the rounded logarithm."""
        return int(self._drawn(instance, 1, rng)[0])

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Outputs:
        """Return rounded logarithms; O(size)."""
        most = _FINE * _FAR
        return Outputs(range(-most, most + 1), self._drawn(instance, size, rng) + most)

    def law(self, instance: Graph) -> Law:
        """Return the exact law, from the distribution function of the noise."""
        most = _FINE * _FAR
        edges = (np.arange(-most, most) + 0.5) / _FINE - self._mean(instance)
        chances = symmetric_cells(edges, ndtr).tolist()
        return Law(dict(zip(range(-most, most + 1), chances, strict=True)))

    def _mean(self, graph: Graph) -> float:
        """Return the mean of the noisy logarithm, in standard deviations."""
        return self.logarithm(graph) / self.deviation - self.deviation / 2

    def _drawn(self, graph: Graph, size: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        noisy = np.rint(_FINE * (self._mean(graph) + rng.standard_normal(size)))
        return np.clip(noisy, -_FINE * _FAR, _FINE * _FAR).astype(np.int64)


@dataclass(frozen=True)
class RiskScoreLinear(RiskScore):
    """The same with noise for ``p (upper - lower)``: broken.

    The mistake of taking the sensitivity of a factor for that of its logarithm, whose slope is the
    larger the smaller the factor: the divergence is ``(Δ / (p (upper - lower)))²`` times ε, 2.03
    times at the default.

    It takes the parameters of :class:`RiskScore`.

    Examples
    --------
    >>> round(RiskScoreLinear(1.0).sensitivity, 4)
    0.4
    """

    @property
    def sensitivity(self) -> float:
        """By how much one message moves a factor."""
        return self.transmission * (self.upper - self.lower)


@dataclass(frozen=True)
class RiskScoreUnclipped(RiskScore):
    """The same with messages clipped below only: broken.

    The mistake of noise for bounds of which one is not enforced. A contact's first tie with an
    infected person moves its message from 0.1 to 0.802 and the logarithm by 0.943, which is 1.65
    times what the noise is for, and the divergence is 2.73 times ε.

    It takes the parameters of :class:`RiskScore`.

    Examples
    --------
    >>> RiskScoreUnclipped(1.0).messages(Graph(3, ((0, 2), (1, 2)))).tolist()
    [0.0, 0.0, 0.802]
    """

    def clipped(self, messages: Floats) -> Floats:
        """Return messages above the lower bound."""
        return np.maximum(messages, self.lower)
