"""The loss of a mechanism on every pair of neighbouring graphs of few vertices, by exact laws.

Losses do not depend on how people are numbered, as far as people have the same role, so one graph
of each class under renumbering stands for all of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from pdpaudit.auditing.candidate_pairs import CandidatePair
from pdpaudit.auditing.exact_verdict import EXACT_SLACK
from pdpaudit.core.graphs import Graph, GraphPair
from pdpaudit.core.privacy_loss import ROUNDED, exact_loss, loss_for
from pdpaudit.core.protocols import Law, LawUnavailable, PrivacyClaim

from .noise import Floats, ProductRows

__all__ = ["VERTICES", "Lawful", "Losses", "SmallGraphs", "SmallPairs"]

#: Vertices of the graphs that all are looked at of: 156 up to isomorphism, and 7 has 1,044.
VERTICES = 6


class Lawful(Protocol):
    """A mechanism on graphs with an exact law."""

    def law(self, instance: Graph) -> Law:
        """Return the exact law."""
        ...


@dataclass(eq=False)
class Losses:
    """The losses of a mechanism on pairs of graphs; equal laws are compared once.

    They are ε, or in the unit of a ``claim`` of another kind.
    """

    mechanism: Lawful
    claim: PrivacyClaim | None = None
    _numbers: dict[Graph, int] = field(default_factory=dict)
    _known: dict[Hashable, int] = field(default_factory=dict)
    _laws: list[Law | list[Floats]] = field(default_factory=list)
    _losses: dict[tuple[int, int], float] = field(default_factory=dict)

    def of(self, pair: GraphPair) -> float:
        """Return the loss of a pair, the worse of both directions."""
        left, right = sorted((self._number(pair.left), self._number(pair.right)))
        if (left, right) not in self._losses:
            laws = self._laws[left], self._laws[right]
            self._losses[left, right] = _loss(*laws, None if self._pure else self.claim)
        return self._losses[left, right]

    def largest(self, pairs: Iterable[GraphPair]) -> float:
        """Return the largest loss over pairs, 0 of none."""
        largest = 0.0
        for pair in pairs:
            largest = max(largest, self.of(pair))
            if math.isinf(largest):
                break
        return largest

    @property
    def _pure(self) -> bool:
        return self.claim is None or (self.claim.approximate and self.claim.delta == 0)

    def _number(self, graph: Graph) -> int:
        """Return the number of a graph's law, the same where the law is."""
        if graph not in self._numbers:
            law: Law | list[Floats]
            if isinstance(self.mechanism, ProductRows) and self._pure:
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

    def __call__(self, mechanism: Lawful) -> SmallPairs:
        """Compute the loss of every pair, in the unit of what the mechanism claims."""
        losses = Losses(mechanism, getattr(mechanism, "claim", None))
        count, epsilon, worst = 0, 0.0, None
        for pair in self.pairs(self.most):
            count += 1
            loss = losses.of(pair)
            if loss > epsilon + EXACT_SLACK:  # of pairs that lose the same, the first
                worst = pair
            epsilon = max(epsilon, loss)
        scope = f"all {count:,} pairs of graphs of up to {self.most} vertices {self.words}"
        return SmallPairs(scope, epsilon, worst)
