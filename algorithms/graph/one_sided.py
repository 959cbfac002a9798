"""Ties released by suppression, which hides protected ones from one side only.

Doudalis, Kotsogiannis, Haney, Machanavajjhala and Mehrotra, "One-sided differential privacy", 2017,
section on randomised response for one-sided privacy (OsdpRR).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pdpaudit.core.errors import InputError
from pdpaudit.core.graphs import Graph, GraphPair, labelled_graphs

from .noise import Floats, Integers, ProductRows


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

    def __post_init__(self) -> None:
        """Refuse what releases nothing, or protects nobody."""
        super().__post_init__()
        if self.protected < 1:
            raise InputError(f"protected = {self.protected}: give a whole number, at least 1")

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
            said = " ".join(f"{a}-{b}" for a, b in graph.ties)
            name = f"{graph.vertices} vertices with {said}; {tie[0]}-{tie[1]} exchanged for "
            yield GraphPair(f"{name}{other[0]}-{other[1]}", graph, Graph(graph.vertices, ties))
