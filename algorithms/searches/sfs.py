"""Statistic-first search: all of a targeted component, at no cost in privacy."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import Instance, Law, Outputs, PrivacyClaim

__all__ = ["SFS", "sfs"]


def sfs(instance: Instance, start: tuple[int, ...]) -> tuple[int, ...]:
    """Explore the targeted components of ``start`` (Kearns et al., algorithm SFS(G, t))."""
    indptr, indices = instance.adjacency.indptr, instance.adjacency.indices
    oracle = instance.oracle
    found = list(start)
    inside = set(start)
    path_1: dict[int, int] = {}
    # Path_1 only grows, so an entry is out of date exactly when it differs from the count kept.
    heap: list[tuple[int, int]] = []

    def meet_neighbours(vertex: int) -> None:
        for x in indices[indptr[vertex] : indptr[vertex + 1]].tolist():
            if x not in inside and not oracle.examined(x):
                path_1[x] = path_1.get(x, 0) + 1
                heapq.heappush(heap, (-path_1[x], x))

    for vertex in start:
        meet_neighbours(vertex)
    while heap:
        negative, best = heapq.heappop(heap)
        if oracle.examined(best) or -negative != path_1[best]:
            continue
        if oracle(best):
            found.append(best)
            inside.add(best)
            meet_neighbours(best)
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class SFS:
    """Statistic-first search from the seeds; deterministic.

    Examples
    --------
    >>> SFS().claim.epsilon
    0.0
    """

    @property
    def claim(self) -> PrivacyClaim:
        """The paper's lemma: 0-protected differential privacy."""
        return PrivacyClaim(0.0, source="Technical Appendix, lemma on SFS")

    @property
    def claims(self) -> tuple[PrivacyClaim, ...]:
        """All that is promised."""
        return (self.claim,)

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the targets of the seeds' components, in the order found."""
        return sfs(instance, instance.seeds)

    def sample(self, instance: SearchInstance, size: int, rng: np.random.Generator) -> Outputs:
        """Return ``size`` times the one output."""
        return Outputs([sfs(instance.fresh(), instance.seeds)], np.zeros(size, dtype=np.int64))

    def law(self, instance: SearchInstance) -> Law:
        """Return the point mass on the one output."""
        return Law({sfs(instance.fresh(), instance.seeds): 1.0})
