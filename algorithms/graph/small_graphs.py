"""The loss of a mechanism on every pair of neighbouring graphs of few vertices, by exact laws.

Losses do not depend on how people are numbered, as far as people have the same role, so one graph
of each class under renumbering stands for all of them, unless a mechanism looks at the numbers:
then all graphs are looked at. Each relation that claims are made for has all its pairs here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from pdpaudit.auditing.candidate_pairs import CandidatePair
from pdpaudit.auditing.exact_verdict import EXACT_SLACK
from pdpaudit.core.graphs import (
    Graph,
    GraphPair,
    coloured_graphs,
    edge_pairs,
    graph_words,
    labelled_graphs,
    rewired_pairs,
    small_graphs,
    vertex_pairs,
)
from pdpaudit.core.privacy_loss import ROUNDED, exact_loss, loss_for
from pdpaudit.core.protocols import Law, LawfulMechanism, LawUnavailable, PrivacyClaim

from .noise import Floats, ProductRows
from .randomised_response import exchanged
from .recommendation import ProtectedPrediction

#: Vertices of the graphs that all are looked at of: 156 up to isomorphism, and 7 has 1,044.
VERTICES = 6


@dataclass(eq=False)
class Losses:
    """The losses of a mechanism on pairs of graphs, in the unit of what it claims, ε if nothing.

    Equal laws are compared once.
    """

    mechanism: LawfulMechanism
    _numbers: dict[Graph, int] = field(default_factory=dict)
    _known: dict[Hashable, int] = field(default_factory=dict)
    _laws: list[Law | list[Floats]] = field(default_factory=list)
    _losses: dict[tuple[int, int], float] = field(default_factory=dict)

    def of(self, pair: GraphPair) -> float:
        """Return the loss of a pair, the worse of both directions."""
        left, right = sorted((self._number(pair.left), self._number(pair.right)))
        if (left, right) not in self._losses:
            laws = self._laws[left], self._laws[right]
            self._losses[left, right] = _loss(*laws, self._claim)
        return self._losses[left, right]

    def largest(self, pairs: Iterable[GraphPair]) -> float:
        """Return the largest loss over pairs, 0 of none."""
        largest = 0.0
        for pair in pairs:
            largest = max(largest, self.of(pair))
            if math.isinf(largest):
                break
        return largest

    @cached_property
    def _claim(self) -> PrivacyClaim | None:
        """What is claimed, where that is another loss than ε."""
        claim: PrivacyClaim | None = getattr(self.mechanism, "claim", None)
        return None if claim is None or (claim.approximate and not claim.delta) else claim

    def _number(self, graph: Graph) -> int:
        """Return the number of a graph's law, the same where the law is."""
        if graph not in self._numbers:
            law: Law | list[Floats]
            if isinstance(self.mechanism, ProductRows) and self._claim is None:
                law = self.mechanism.parts(graph)
                key: Hashable = tuple(tuple(part.tolist()) for part in law)
            else:
                law = self.mechanism.law(graph)
                if law.missing > ROUNDED:
                    raise LawUnavailable("a law leaves outputs out, and so certifies nothing")
                key = tuple(law.probabilities.items())
            number = self._known.setdefault(key, len(self._laws))
            if number == len(self._laws):
                self._laws.append(law)
            self._numbers[graph] = number
        return self._numbers[graph]


def _loss(left: Law | list[Floats], right: Law | list[Floats], claim: PrivacyClaim | None) -> float:
    if isinstance(left, list) and isinstance(right, list):
        return max(_product_loss(left, right), _product_loss(right, left))
    assert isinstance(left, Law)
    assert isinstance(right, Law)
    if claim is not None:
        return loss_for(left, right, claim, listed=False).at_most
    if left.probabilities.keys() != right.probabilities.keys():
        return math.inf  # an output is possible on one side only
    return exact_loss(left, right, listed=False).at_most


def _product_loss(left: Sequence[Floats], right: Sequence[Floats]) -> float:
    """Return the largest log ratio of products: the sum of those of their parts."""
    total = 0.0
    for p, q in zip(left, right, strict=True):
        listed = itertools.zip_longest(p.tolist(), q.tolist(), fillvalue=0.0)
        total += max(math.log(a / b) if b else math.inf for a, b in listed if a)
    return total


def four_digits(numbers: Iterable[float]) -> list[str]:
    """Return losses, or accuracies, as a table shows them."""
    return ["∞" if math.isinf(one) else f"{one:.4f}" for one in numbers]


@dataclass(frozen=True)
class SmallPairs:
    """What came of looking at all pairs of small graphs."""

    scope: str
    epsilon: float
    worst: GraphPair | None

    @property
    def candidate(self) -> CandidatePair | None:
        """The worst pair, if any loses something."""
        if self.worst is None:
            return None
        name, left, right = self.worst
        return CandidatePair(name, lambda: (left, right))


@dataclass(frozen=True)
class SmallGraphs:
    """All pairs of a relation on graphs of few vertices; ``words`` ends a sentence on them."""

    pairs: Callable[[int], Iterable[GraphPair]]
    words: str
    most: int = VERTICES

    def up_to(self, most: int) -> SmallGraphs:
        """Return the same on graphs of at most so few vertices."""
        return replace(self, most=most)

    def __call__(self, mechanism: LawfulMechanism) -> SmallPairs:
        """Compute the loss of every pair, in the unit of what the mechanism claims."""
        losses = Losses(mechanism)
        count, epsilon, worst = 0, 0.0, None
        for pair in self.pairs(self.most):
            count += 1
            loss = losses.of(pair)
            if loss > epsilon + EXACT_SLACK:  # of pairs that lose the same, the first
                worst = pair
            epsilon = max(epsilon, loss)
        scope = f"all {count:,} pairs of graphs of up to {self.most} vertices {self.words}"
        return SmallPairs(scope, epsilon, worst)


# The relations that claims on graphs are made for


def serving(vertices: int) -> list[int]:
    """Return roles: vertex 0 is served, or protected, and all others are alike."""
    return [0, *[1] * (vertices - 1)]


def asking(vertices: int) -> list[int]:
    """Return roles: vertex 0 asks, vertices 1 and 2 are infected, and all others are not."""
    return [0, 1, 1, *[2] * vertices][:vertices]


def scored(vertices: int) -> list[int]:
    """Return roles: vertex 0 is served, vertex 1 tested positive, and all others did not."""
    return [0, 1, *[2] * vertices][:vertices]


def _with(
    roles: Callable[[int], Sequence[int]], least: int, most: int, candidates: int = 0
) -> Iterator[Graph]:
    """Yield one graph of each class, where vertex 0 has no tie to that many people at least."""
    for vertices in range(least, most + 1):
        for graph in coloured_graphs(roles(vertices)):
            if len(graph.contacts()[0]) < vertices - candidates:
                yield graph


def _hidden(graph: Graph) -> Iterator[GraphPair]:
    """Yield a graph with any other ties of each candidate to the contacts of vertex 0."""
    contacts = graph.contacts()[0]
    for one, other in ProtectedPrediction(1.0, graph.vertices).hidden(graph):
        chosen = [tie for tie in other.ties if one in tie and contacts.intersection(tie)]
        name = f"{graph_words(graph)}; those of {one} to contacts now {chosen}"
        yield GraphPair(name, graph, other)


EDGE = SmallGraphs(
    lambda most: edge_pairs(small_graphs(most, 2)), "that differ in one tie, up to renumbering"
)
NUMBERED = SmallGraphs(
    lambda most: edge_pairs(labelled_graphs(most, 2)),
    "that differ in one tie, with every numbering",
)
VERTEX = SmallGraphs(
    lambda most: vertex_pairs(small_graphs(most, 2)),
    "of which one lacks one vertex of the other, up to renumbering",
)
REWIRED = SmallGraphs(
    lambda most: rewired_pairs(small_graphs(most, 2)),
    "that differ in one person's ties, up to renumbering",
)
SOURCE = SmallGraphs(
    lambda most: edge_pairs(_with(serving, 2, most)),
    "that differ in one tie, wherever walks start, up to renumbering",
)
SERVED = SmallGraphs(
    lambda most: edge_pairs(_with(serving, 3, most, candidates=2), spared=0),
    "that differ in one tie of others, whoever is served, up to renumbering, where there are two "
    "candidates at least",
)
ASKED = SmallGraphs(
    lambda most: edge_pairs(_with(asking, 2, most)),
    "that differ in one tie, whoever asks and whichever two are infected, up to renumbering",
)
OTHERS = SmallGraphs(
    lambda most: edge_pairs(_with(scored, 2, most), spared=0),
    "that differ in one tie of others, whoever is served and whoever tested positive, up to "
    "renumbering",
)
HIDDEN = SmallGraphs(
    lambda most: (pair for one in _with(serving, 3, most, candidates=2) for pair in _hidden(one)),
    "that differ in a candidate's ties to contacts of who is served, up to renumbering",
)
EXCHANGED = SmallGraphs(
    lambda most: (pair for graph in _with(serving, 3, most) for pair in exchanged(graph)),
    "that exchange a tie of a protected person for another, whoever is protected, up to "
    "renumbering",
)
