"""Statistic-first search: all of a targeted component, at no cost in privacy."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import Instance, Law, Outputs, PrivacyClaim

__all__ = ["SFS", "sfs"]


def sfs(instance: Instance, start: tuple[int, ...]) -> tuple[int, ...]:
    """Explore the targeted components of ``start`` (Kearns et al., algorithm SFS(G, t)).

    Repeatedly queries, among the unexamined neighbours of the targets found, the one with the
    most found neighbours (``Path_1``). Ties go to the smallest index: then the next target found
    depends only on the edges inside T, and protected vertices come and go between targets without
    changing their order. Any order that depends on how the graph was built would not do.

    What the oracle has been asked before is not asked again. In a search that has explored every
    component it found, a vertex known already is either found or protected, so skipping it
    changes nothing that is found.

    Parameters
    ----------
    instance : Instance
        The network and its oracle.
    start : tuple of int
        Targeted vertices to start from.

    Returns
    -------
    tuple of int
        ``start``, then the targets found, in order. O(e log e) for e edges at the found targets.

    Examples
    --------
    >>> import networkx as nx
    >>> from pdpaudit.core.network import Network, adjacency_from_networkx
    >>> adjacency, _ = adjacency_from_networkx(nx.Graph([(0, 1), (0, 2), (0, 3), (2, 3), (1, 4)]))
    >>> targeted = np.array([True, False, True, True, True])
    >>> sfs(Network(adjacency, targeted, seeds=(0,)).instance(), (0,))
    (0, 2, 3)
    """
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
