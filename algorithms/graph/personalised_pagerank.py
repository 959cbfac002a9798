"""How near people are to one person by random walks, hiding one tie.

Epasto, Mirrokni, Perozzi, Tsitsulin and Zhong, "Differentially private graph learning via
sensitivity-bounded personalized PageRank", 2022: the algorithm PushFlowCap, the theorem that an
edge moves its result by ``sigma`` at most, and the baseline that adds noise to plain PageRank.
Walks start at vertex 0 and stop at each step with probability ``stop``; at somebody tied to nobody
they stay. Twice each noisy number is rounded up to 0, 1, 2 or 3, which is post-processing and hides
nothing at the ends: numbers lie between 0 and 1, so that 0 and 3 come from the noise's tails only.

*The baseline's bound is loose by a factor 1/stop at least.* Its noise is for
``2 (1 - stop) / stop``: what a tie does to the rows of its ends is 2 at most together, and walks
are expected to go on for ``(1 - stop) / stop`` steps. But any two results share what stops at once,
``stop`` at vertex 0, so that they are within ``2 (1 - stop)``. With the first tie of vertex 0, to
one of m people who all know each other, the change comes near that as m grows: next to nothing
comes back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pdpaudit.core.domains import Graphs, unchanged
from pdpaudit.core.errors import InputError
from pdpaudit.core.graphs import (
    Adjacencies,
    Graph,
    GraphPair,
    batched,
    edge_pairs,
    labelled_graphs,
)

from .noise import Floats, Integers, ProductRows, laplace_cells

#: Decimals kept: what a processor adds up in another order differs beyond.
_DIGITS = 12


@dataclass(frozen=True)
class _NoisyRanks(ProductRows):
    """A number for each person, with Laplace noise for what a tie moves all of them by."""

    stop: float = 0.15

    source: ClassVar[str] = "Epasto, Mirrokni, Perozzi, Tsitsulin, Zhong 2022"
    domain: ClassVar = Graphs((2, 4), form=unchanged)

    def __post_init__(self) -> None:
        """Refuse walks that never stop, or never start."""
        super().__post_init__()
        if not 0 < self.stop < 1:
            raise InputError(f"stop = {self.stop}: give a probability above 0 and below 1")

    @batched(np.asarray)
    def ranks(self, graphs: Adjacencies) -> Floats:
        """Return the number of each person, between 0 and 1."""
        raise NotImplementedError

    def sensitivity(self, graph: Graph) -> float:
        """Return by how much the noise assumes that a tie moves the numbers in sum."""
        raise NotImplementedError

    def pairs(self) -> tuple[GraphPair, ...]:
        """Return all pairs of 2 to 4 vertices."""
        return tuple(edge_pairs(graph for n in (2, 3, 4) for graph in labelled_graphs(n)))

    def sample(self, instance: Graph, size: int, rng: np.random.Generator) -> Integers:
        """Return outputs, shape ``(size, n)``; O(size · n)."""
        noise = rng.laplace(scale=self._scale(instance), size=(size, instance.vertices))
        rounded = np.ceil(2 * (self.ranks(instance) + noise))
        return np.clip(rounded, 0, 3).astype(np.int64)

    def parts(self, graph: Graph) -> list[Floats]:
        """Return cells of the Laplace law for each number; rounding up is rounding ½ more."""
        scale = 2 * self._scale(graph)
        return [laplace_cells(2 * rank + 0.5, 3, scale) for rank in self.ranks(graph).tolist()]

    def _scale(self, graph: Graph) -> float:
        return self.sensitivity(graph) / self.epsilon


@dataclass(frozen=True)
class NoisyPageRank(_NoisyRanks):
    """Personalised PageRank, noise for 2 (1 - stop) / stop: correct, with much to spare.

    The true sensitivity is ``2 (1 - stop)``, which no graph attains and large ones come near to.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    stop : float
        The probability that a walk stops at a step.

    Examples
    --------
    >>> NoisyPageRank(1.0, 0.5).ranks(Graph(2, ((0, 1),))).round(3).tolist()
    [0.667, 0.333]
    """

    @batched(np.asarray)
    def ranks(self, graphs: Adjacencies) -> Floats:
        """Return the probability that a walk stops at each person, by solving for it."""
        everybody = np.eye(graphs.shape[1])
        left = everybody - (1 - self.stop) * _steps(graphs).transpose(0, 2, 1)
        starts = np.broadcast_to(self.stop * everybody[:, :1], (*graphs.shape[:2], 1))
        return np.asarray(np.linalg.solve(left, starts)[:, :, 0].round(_DIGITS))

    def sensitivity(self, graph: Graph) -> float:
        """Return 2 (1 - stop) / stop."""
        return 2 * (1 - self.stop) / self.stop


@dataclass(frozen=True)
class NoisyPageRankByDegree(NoisyPageRank):
    """Personalised PageRank, noise for 1/(d + 1) of that: broken.

    A tie at vertex 0, of degree d, moves its row by 2/(d + 1), but that of somebody with few ties
    by more, and the scale shows d: where all n numbers come out between 0 and 1 the loss is about
    ``n ln((d + 2)/(d + 1))``, however small ε is.

    It takes the parameters of :class:`NoisyPageRank`.

    Examples
    --------
    >>> NoisyPageRankByDegree(1.0, 0.5).sensitivity(Graph(2, ((0, 1),)))
    1.0
    """

    def sensitivity(self, graph: Graph) -> float:
        """Return 2 (1 - stop) / (stop (d + 1))."""
        return super().sensitivity(graph) / (len(graph.contacts()[0]) + 1)


@dataclass(frozen=True)
class CappedPageRank(_NoisyRanks):
    """Personalised PageRank in rounds, capped at each tie, noise for ``sigma``: correct.

    What has not stopped yet is pushed on in rounds, half of it staying where it is (a lazy walk
    that stops with probability ``lazy = stop / (2 - stop)``), but over all rounds no more than
    ``d T`` leaves a person of degree d, with ``T = sigma / ((3 - lazy) (1 - (1 - lazy)^rounds))``.
    So a tie more makes room for T more at either end, whatever the degrees. Algorithm PushFlowCap.
    On all graphs of up to 7 vertices a tie moves the result by less than ``sigma / 5`` at the
    default.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.
    stop : float
        The probability that a walk stops at a step.
    sigma : float
        The sensitivity aimed at, above 0.
    rounds : int
        How often everybody pushes, at least 1.

    Examples
    --------
    >>> CappedPageRank(1.0).ranks(Graph(2, ((0, 1),))).round(4).tolist()
    [0.0049, 0.0041]
    """

    sigma: float = 0.1
    rounds: int = 10

    least: ClassVar = {"rounds": 1}

    def __post_init__(self) -> None:
        """Refuse what pushes nothing."""
        super().__post_init__()
        if not 0 < self.sigma < math.inf:
            raise InputError(f"sigma = {self.sigma}: give a finite number above 0")

    @property
    def lazy(self) -> float:
        """The probability that a lazy walk stops at a step."""
        return self.stop / (2 - self.stop)

    def caps(self, degrees: Integers) -> Floats:
        """Return how much may leave each person over all rounds."""
        per_tie = self.sigma / ((3 - self.lazy) * (1 - (1 - self.lazy) ** self.rounds))
        return np.asarray(per_tie * degrees)

    @batched(np.asarray)
    def ranks(self, graphs: Adjacencies) -> Floats:
        """Return what has stopped at each person."""
        everybody = np.eye(graphs.shape[1])
        # Graphs come last: sums over people are then fast, and in one order for any number of them.
        steps = np.ascontiguousarray(((_steps(graphs) + everybody) / 2).transpose(1, 2, 0))
        room = self.caps(graphs.sum(axis=2)).T
        waiting, stopped = np.repeat(everybody[:, :1], len(graphs), axis=1), np.zeros(room.shape)
        for _ in range(self.rounds):
            pushed = np.minimum(waiting, room)
            room = room - pushed
            stopped += self.lazy * pushed
            waiting = waiting - pushed + (1 - self.lazy) * (pushed[:, None] * steps).sum(axis=0)
        return stopped.T.round(_DIGITS)

    def sensitivity(self, graph: Graph) -> float:
        """Return ``sigma``."""
        return self.sigma


@dataclass(frozen=True)
class CappedPageRankOpen(CappedPageRank):
    """The same without a cap at vertex 0: broken, where its own ties are to be hidden.

    The paper's variant for joint privacy, in which vertex 0 sees its own result and knows its own
    ties: those of others are hidden. The first tie of vertex 0 moves the result from nothing to all
    that stops in the rounds there are, whatever ``sigma`` is.

    It takes the parameters of :class:`CappedPageRank`.

    Examples
    --------
    >>> CappedPageRankOpen(1.0).ranks(Graph(2, ((0, 1),))).round(4).tolist()
    [0.1541, 0.0049]
    """

    def caps(self, degrees: Integers) -> Floats:
        """Return how much may leave each person; vertex 0 with ties pushes all there is."""
        caps = super().caps(degrees)
        caps[:, 0] = degrees[:, 0] / self.lazy
        return caps


def _steps(graphs: Adjacencies) -> Floats:
    """Return the probabilities of a step from each person to each other, or of staying."""
    alone = ~graphs.any(axis=2, keepdims=True)
    steps = graphs | (alone & np.eye(graphs.shape[1], dtype=bool))
    return np.asarray(steps / steps.sum(axis=2, keepdims=True))
