"""Families of hard pairs, how one protected vertex may be rewired to hurt most, and local moves.

Each family is a function of a network, the public degree bound and a random stream, and yields
valid neighbouring pairs, the most promising first. They know the model, not the mechanism. A local
move is a small change of a pair that may make it sharper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pdpaudit.core.neighbors import NeighborPair
from pdpaudit.core.network import Network, targeted_components

from .benchmark_networks import PlantedNetwork, planted_network

Vertices = npt.NDArray[np.integer]

#: Protected vertices a family tries on one network.
VERTICES = 4

#: Pairs a family that has several choices per vertex draws for each.
CHOICES = 3


@dataclass(frozen=True, eq=False)
class View:
    """The partition as the adversary uses it."""

    found: Vertices
    remaining: Vertices


def look(network: Network) -> View:
    """Split the targeted vertices into those the seeds lead to and the rest; O(n + m)."""
    seeds = set(network.seeds)
    components = targeted_components(network.adjacency, network.targeted)
    none = np.empty(0, dtype=np.int64)
    first = [part for part in components if not seeds.isdisjoint(part.tolist())]
    rest = [part for part in components if seeds.isdisjoint(part.tolist())]
    return View(np.concatenate([none, *first]), np.sort(np.concatenate([none, *rest])))


def exposed(network: Network, view: View, count: int, rng: np.random.Generator) -> list[int]:
    """Return protected vertices worth rewiring: the best placed, and some at random.

    Best placed is who touches both a found and many remaining targets, then who has most contacts.
    Those without contacts are alike, so the first stands for them all.
    """
    degree = np.diff(network.adjacency.indptr)
    protected = network.protected
    contacts = degree[protected] > 0
    protected = np.sort(np.concatenate([protected[~contacts][:1], protected[contacts]]))
    if len(protected) <= count:
        return [int(u) for u in protected]
    mask = np.zeros((network.n, 2), dtype=np.int64)
    mask[view.found, 0] = 1
    mask[view.remaining, 1] = 1
    touches = (network.adjacency.astype(np.int64) @ mask)[protected]
    order = np.lexsort((protected, -degree[protected], -touches[:, 1], touches[:, 0] == 0))
    best = protected[order[: count - count // 3]]
    others = protected[np.sort(order[count - count // 3 :])]
    drawn = rng.choice(others, size=count // 3, replace=False)
    return [int(u) for u in (*best, *drawn)]


def admissible(network: Network, vertex: int, wanted: npt.ArrayLike) -> Vertices:
    """Return the wanted neighbours of ``vertex`` that the public degree bound allows, in order.

    A neighbour is dropped if it has the maximum degree already without ``vertex``, and the list is
    cut at the maximum degree.
    """
    listed: Vertices = np.asarray(wanted, dtype=np.int64)
    first = np.sort(np.unique(listed, return_index=True)[1])
    chosen: Vertices = listed[first]
    chosen = chosen[chosen != vertex]
    max_degree = network.max_degree
    if max_degree is None:
        return chosen
    degree = np.diff(network.adjacency.indptr)
    degree[network.neighbours(vertex)] -= 1
    allowed: Vertices = chosen[degree[chosen] < max_degree][:max_degree]
    return allowed


def pairs_of(
    network: Network,
    vertex: int,
    left: npt.ArrayLike,
    right: npt.ArrayLike,
    family: str,
) -> Iterator[NeighborPair]:
    """Yield the pair in which ``vertex`` has these neighbours left and right, as far as allowed.

    Nothing where the two sides would be the same network.
    """
    ours = admissible(network, vertex, left)
    theirs = admissible(network, vertex, right)
    if not np.array_equal(np.sort(ours), np.sort(theirs)):
        yield NeighborPair(network, vertex, ours, theirs, family)


def isolate(network: Network, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Take all contacts away: the counterfactual in which the person never took part."""
    for u in exposed(network, look(network), VERTICES, rng):
        yield from pairs_of(network, u, network.neighbours(u), [], "isolate")


def saturate(network: Network, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Connect the person to everybody the degree bound allows, targets first."""
    view = look(network)
    everybody = np.concatenate([view.found[:1], view.remaining, view.found[1:], network.protected])
    for u in exposed(network, view, VERTICES, rng):
        yield from pairs_of(network, u, network.neighbours(u), everybody, "saturate")


def toggle(network: Network, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Add or take away one single contact."""
    view = look(network)
    for u in exposed(network, view, VERTICES, rng):
        now = network.neighbours(u)
        ends = np.concatenate([view.remaining, view.found, now])
        for end in rng.permutation(np.unique(ends[ends != u]))[:CHOICES]:
            other = now[now != end] if end in now else np.append(now, end)
            yield from pairs_of(network, u, now, other, "toggle")


def swap(network: Network, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Let one remaining target gain what all others lose: hard for any noisy maximum."""
    view = look(network)
    anchor = view.found[:1]
    for u in exposed(network, view, VERTICES, rng):
        for one in rng.permutation(view.remaining)[:CHOICES]:
            others = view.remaining[view.remaining != one]
            left = np.append(anchor, one)
            right = np.concatenate([anchor, others])
            yield from pairs_of(network, u, left, right, "swap")


def squeeze(network: Network, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Move remaining targets up together: hard for a rule that stops on what lies above them."""
    view = look(network)
    anchor = view.found[:1]
    for u in exposed(network, view, VERTICES, rng):
        most = len(view.remaining)
        for size in sorted({most, max(1, most // 2), min(most, 8)}, reverse=True):
            chosen = rng.permutation(view.remaining)[:size]
            left = np.concatenate([anchor, chosen])
            yield from pairs_of(network, u, left, anchor, "squeeze")


def random_rewiring(network: Network, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Rewire at random, to look where nobody thought of."""
    view = look(network)
    most = network.n - 1 if network.max_degree is None else min(network.max_degree, network.n - 1)
    for u in exposed(network, view, VERTICES, rng):
        others = np.delete(np.arange(network.n), u)
        left, right = (
            rng.permutation(others)[: rng.integers(0, min(most, 40) + 1)] for _ in range(2)
        )
        yield from pairs_of(network, u, left, right, "random")


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
        yield from pairs_of(pair.network, u, ours, theirs, pair.family)


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
        yield from pairs_of(network, u, left, right, pair.family)


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
