"""Local moves: small changes of a pair that may make it sharper."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pdpaudit.core.neighbors import NeighborPair

from .benchmark_networks import PlantedNetwork, planted_network
from .pair_families import Vertices, View, look, pair_of

#: Single-contact moves drawn at each step.
MOVES = 8

#: Planted networks grow no larger than this.
LARGEST = 4000


def contacts(pair: NeighborPair, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Add or take away one contact of the rewired vertex on one side."""
    view = look(pair.network)
    u = pair.vertex
    left, right = pair.left_neighbours, pair.right_neighbours
    ends = np.unique(np.concatenate([view.remaining, view.found[:8], left, right]))
    moves = [(side, end) for side in (0, 1) for end in ends if end != u]
    for pick in rng.permutation(len(moves))[:MOVES]:
        side, end = moves[pick]
        now = right if side else left
        new = now[now != end] if end in now else np.append(now, end)
        ours, theirs = (left, new) if side else (new, right)
        moved = pair_of(pair.network, u, ours, theirs, pair.family)
        if moved is not None:
            yield moved


def sizes(pair: NeighborPair, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Give a planted pair more or fewer targets or protected vertices, keeping its shape.

    A role of the rewired vertex that all remaining targets, all but some, or some of them play is
    kept in proportion. Networks that were not planted are left alone.
    """
    if not isinstance(pair.network, PlantedNetwork):
        return
    view = look(pair.network)
    m, n = len(view.remaining), len(pair.network.protected)
    for targets, protected in (
        (m, round(n * 1.4)),
        (m, round(n / 1.4)),
        (m + max(1, m // 4), n),
        (m - max(1, m // 4), n),
    ):
        if targets < 1 or protected < 2 or 1 + targets + protected > LARGEST:
            continue
        promise = pair.network.max_degree
        network = planted_network(targets, protected, None if promise == m + 1 else promise)
        u = int(network.protected[0])
        left = _resized(pair.left_neighbours, view, targets)
        right = _resized(pair.right_neighbours, view, targets)
        moved = pair_of(network, u, left, right, pair.family)
        if moved is not None:
            yield moved


def _resized(neighbours: Vertices, view: View, targets: int) -> Vertices:
    """Carry a neighbourhood over to a planted network with another number of targets."""
    m = len(view.remaining)
    ranks = np.flatnonzero(np.isin(view.remaining, neighbours))
    if 2 * len(ranks) <= m:
        kept = ranks[ranks < targets]
    else:
        missing = np.setdiff1d(np.arange(m), ranks)
        kept = np.setdiff1d(np.arange(targets), missing)
    anchor = np.array([0]) if np.isin(view.found, neighbours).any() else np.empty(0, dtype=int)
    return np.concatenate([anchor, 1 + kept])
