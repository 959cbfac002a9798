"""Neighbouring networks under other relations than that of Kearns et al.

A single tie does most where everything else is arranged for it: a person whom a found target has
only one more tie to may stand beside all targets that are left, so that the tie moves all scores.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from pdpaudit.core.neighbors import ANYBODY, ONE_TIE, NeighborPair
from pdpaudit.core.network import Network

#: Vertices that are rewired on one network, and ties of each that are added or taken away.
VERTICES, TIES = 8, 4

Vertices = npt.NDArray[np.int64]


def network_pairs(
    network: Network, relation: str, rng: np.random.Generator
) -> Iterator[NeighborPair]:
    """Yield pairs in which one tie changes, or all of one vertex.

    Of the vertices that may be rewired those with the most ties come first, then some at random.
    """
    degree = np.diff(network.adjacency.indptr)
    may = np.arange(network.n) if relation in ANYBODY else network.protected
    order = np.asarray(may)[np.argsort(-degree[may], kind="stable")]
    best, rest = order[: VERTICES // 2], order[VERTICES // 2 :]
    others = rng.choice(rest, min(len(rest), VERTICES // 2), replace=False)
    changes = _one_tie if relation in ONE_TIE else _all_ties
    for vertex in map(int, (*best, *others)):
        now = np.asarray(network.neighbours(vertex), dtype=np.int64)
        if relation in ONE_TIE and vertex not in network.seeds:
            yield from _tie_to_seed(network, vertex, relation)
        for then in changes(network, vertex, now, rng):
            if len(now) != len(then) or not np.array_equal(np.sort(now), np.sort(then)):
                yield NeighborPair(network, vertex, now, then, relation, relation=relation)


def _free(network: Network, vertex: int, now: Vertices) -> Vertices:
    """Return whom the vertex can be tied to within the public degree bound, targets first."""
    degree = np.diff(network.adjacency.indptr)
    open_ = degree < (network.n if network.max_degree is None else network.max_degree)
    open_[now] = open_[vertex] = False
    free = np.flatnonzero(open_)
    return free[np.argsort(~network.targeted[free], kind="stable")]


def _tie_to_seed(network: Network, vertex: int, relation: str) -> Iterator[NeighborPair]:
    """Yield pairs in which one who has ties to all targets that may have one more gains a seed's.

    All other targets but the seeds, and as many as there is place for beside the seed.
    """
    seeds = np.array(network.seeds[:1], dtype=np.int64)
    free = _free(network, vertex, seeds)
    targets = free[network.targeted[free] & ~np.isin(free, network.seeds)]
    most = network.n if network.max_degree is None else network.max_degree
    degree = np.diff(network.adjacency.indptr)
    full = degree[seeds] - np.isin(seeds, network.neighbours(vertex)) >= most
    if most > 0 and not full.any():
        beside = targets[: most - 1]
        yield NeighborPair(
            network, vertex, beside, np.append(beside, seeds), relation, relation=relation
        )


def _one_tie(
    network: Network, vertex: int, now: Vertices, rng: np.random.Generator
) -> Iterator[Vertices]:
    for other in rng.permutation(now)[: TIES // 2]:
        yield now[now != other]
    free = _free(network, vertex, now)
    if network.max_degree is None or len(now) < network.max_degree:
        targets = free[network.targeted[free]]
        some = rng.permutation(targets)[: TIES // 2], rng.permutation(free)[: TIES // 2]
        for other in np.unique(np.concatenate(some)):
            yield np.append(now, other)


def _all_ties(
    network: Network, vertex: int, now: Vertices, rng: np.random.Generator
) -> Iterator[Vertices]:
    free = _free(network, vertex, now)
    most = network.n if network.max_degree is None else network.max_degree
    targets = free[network.targeted[free]]
    yield now[:0]
    yield np.concatenate([now, free])[:most]
    yield targets[:most]
    yield rng.permutation(free)[: min(max(len(now), 1), most)]
