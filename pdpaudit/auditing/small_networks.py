"""Every pair of neighbouring networks on a few vertices, through a mechanism with an exact law."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.auditing.candidate_pairs import CandidatePair, network_candidate
from pdpaudit.core.network import NeighborPair, Network, SearchInstance, adjacency_from_edges
from pdpaudit.core.privacy_loss import ROUNDED, exact_loss
from pdpaudit.core.protocols import Law, LawfulMechanism, LawUnavailable
from pdpaudit.core.subject import as_law
from pdpaudit.outputs import flatten

T = TypeVar("T")


@dataclass(frozen=True)
class SmallNetworks:
    """What came of trying everything small."""

    vertices: int
    families: int
    epsilon: float
    worst: NeighborPair | None

    @property
    def candidate(self) -> CandidatePair | None:
        """The worst pair, if any loses something."""
        return None if self.worst is None else network_candidate(self.worst)

    @property
    def scope(self) -> str:
        """What "everything" was."""
        return (
            f"every pair of neighbouring networks on up to {self.vertices} vertices, every "
            "partition, every single seed"
        )


def try_small_networks(mechanism: LawfulMechanism, vertices: int) -> SmallNetworks:
    """Compute the exact loss of every pair of networks on up to ``vertices`` vertices.

    Vertices keep their numbers: nothing is taken to be the same up to relabelling, as a search may
    break ties by number.
    """
    families, epsilon, worst = 0, 0.0, None
    for family in _families(vertices):
        families += 1
        laws = [
            mechanism.law(SearchInstance(graph, family.targeted, (family.seed,)))
            for graph in family.graphs
        ]
        # The same law many times over need not be compared with itself.
        kept: list[int] = []
        for i, law in enumerate(laws):
            if not any(_same(law, laws[j]) for j in kept):
                if as_law(law).missing > ROUNDED:
                    raise LawUnavailable("a law leaves outputs out, and so certifies nothing")
                kept.append(i)
        for i, j in combinations(kept, 2):
            loss = exact_loss(laws[i], laws[j]).at_most
            if loss > epsilon:
                epsilon, worst = loss, family.pair(i, j)
    return SmallNetworks(vertices, families, epsilon, worst)


def _same(one: Law, other: Law) -> bool:
    """Return whether two laws are one; of outputs that are equal and of two kinds they are not."""
    return one == other and all(
        flatten(a) == flatten(b)
        for a, b in zip(one.probabilities, other.probabilities, strict=True)
    )


@dataclass(frozen=True, eq=False)
class _Family:
    """The networks that differ in the neighbours of one protected vertex."""

    vertex: int
    spokes: list[tuple[int, ...]]
    graphs: list[csr_array]
    targeted: npt.NDArray[np.bool_]
    seed: int

    def pair(self, i: int, j: int) -> NeighborPair:
        """Return two of them as a pair."""
        title = f"{len(self.targeted)} vertices"
        network = Network(self.graphs[0], self.targeted, (self.seed,), title=title)
        left, right = (np.array(self.spokes[k], dtype=np.int64) for k in (i, j))
        return NeighborPair(network, self.vertex, left, right, "exhaustive")


def _families(vertices: int) -> Iterator[_Family]:
    for n in range(2, vertices + 1):
        for u in range(n):
            others = [v for v in range(n) if v != u]
            spokes = list(_subsets(others))
            for edges in _subsets(list(combinations(others, 2))):
                graphs = [_adjacency(n, [*edges, *((u, v) for v in spoke)]) for spoke in spokes]
                for targets in spokes[1:]:
                    targeted = np.isin(np.arange(n), targets)
                    for seed in targets:
                        yield _Family(u, spokes, graphs, targeted, seed)


def _subsets(items: Sequence[T]) -> Iterator[tuple[T, ...]]:
    """Yield all subsets, the empty one first."""
    for size in range(len(items) + 1):
        yield from combinations(items, size)


def _adjacency(n: int, edges: Sequence[tuple[int, int]]) -> csr_array:
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return adjacency_from_edges(n, ends[:, 0], ends[:, 1])
