"""Exposure notification: whether a person has met somebody who is infected, hiding one contact.

The binary answer of contact tracing by randomised response (Warner, "Randomized response", 1965),
under the contact relation: one meeting more or less. Who is infected is known to the health
authority and the same on both sides: vertices 1 to ``infected``, and vertex 0 is who asks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pdpaudit.core.errors import InputError
from pdpaudit.core.graphs import Graph, GraphPair, edge_pairs, labelled_graphs, star
from pdpaudit.core.protocols import Law, Outputs

from ..laws.noise import CalibratedMechanism


@dataclass(frozen=True)
class _Notification(CalibratedMechanism):
    """What both share: an answer that is yes with some probability."""

    infected: int = 2

    source = "Warner 1965, of one answer"

    def __post_init__(self) -> None:
        """Refuse what flips nothing, or has nobody to meet."""
        super().__post_init__()
        if self.infected < 1:
            raise InputError(f"infected = {self.infected}: give a whole number, at least 1")

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of 2 to 4 vertices, and those of a person with many contacts."""
        graphs = (graph for n in (2, 3, 4) for graph in labelled_graphs(n))
        return tuple(edge_pairs([*graphs, star(5), Graph(6, ((0, 2), (0, 3), (0, 4)))]))

    def run(self, instance: Graph, rng: np.random.Generator) -> bool:
        """Return the answer."""
        return bool(rng.random() < self._notified(instance))

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Outputs:
        """Return answers; O(size)."""
        yes = rng.random(size) < self._notified(instance)
        return Outputs((False, True), yes.astype(np.int64))

    def law(self, instance: Graph) -> Law:
        """Return the exact law."""
        notified = self._notified(instance)
        return Law({False: 1.0 - notified, True: notified})

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

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    infected : int
        How many are infected: vertices 1 to this.

    Examples
    --------
    >>> RandomisedMeetings(1.0).law(Graph(2, ())).probabilities[True]
    0.0
    """

    def _notified(self, graph: Graph) -> float:
        infected, others = self._meetings(graph)
        return float(1.0 - (1.0 - self._right) ** infected * self._right**others)
