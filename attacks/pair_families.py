"""Benchmark networks, families of hard pairs on any network, and local moves.

Networks are planted instances and embedded real ones, for where nobody names one. Each family is a
function of a network, the public degree bound and a random stream, and yields valid neighbouring
pairs, how one protected vertex may be rewired to hurt most, the most promising first. They know the
model, not the mechanism. A local move is a small change of a pair that may make it sharper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import (
    NeighborPair,
    Network,
    adjacency_from_edges,
    adjacency_from_networkx,
    default_seeds,
    targeted_components,
)
from pdpaudit.core.registry import resolve
from pdpaudit.sampling import stream

if TYPE_CHECKING:
    import networkx as nx

#: Sizes (remaining targets, protected vertices) the search starts from.
SIZES = tuple((m, n) for n in (24, 400, 2000) for m in (2, 5, 10, 20))

#: The infection that labels Les Misérables: source, p, q, rounds, seed. Any would do; these
#: leave several targeted components, without which there is nothing to search for.
INFECTION = ("Valjean", 0.5, 0.4, 3, 1862)


@dataclass(frozen=True, eq=False)
class PlantedNetwork(Network):
    """A network without ties, made for the pairs that are planted in it."""


def planted_network(targets: int, protected: int, max_degree: int | None = None) -> PlantedNetwork:
    """Return a seed, ``targets`` scattered targets and ``protected`` others, without any edge.

    The pairs planted in it rewire one protected vertex, so all that distinguishes its sides is
    what that vertex does. The public degree bound is part of the attack too: by default it lets
    that vertex know the seed and all targets, and nobody more.
    """
    n = 1 + targets + protected
    none = np.empty(0, dtype=np.int64)
    names = (
        "seed",
        *(f"t{i}" for i in range(1, targets + 1)),
        *(f"p{i}" for i in range(1, protected + 1)),
    )
    return PlantedNetwork(
        adjacency_from_edges(n, none, none),
        np.arange(n) <= targets,
        seeds=(0,),
        names=names,
        title=f"planted: {targets} targets to find among {protected} protected",
        max_degree=targets + 1 if max_degree is None else max_degree,
    )


def planted() -> Iterator[Network]:
    """Yield planted networks over a grid of sizes."""
    for targets, protected in SIZES:
        yield planted_network(targets, protected)


def _strong(whole: nx.Graph, least: int) -> nx.Graph:
    """Return a network without its ties of a weight below ``least``."""
    weak = [(a, b) for a, b, weight in whole.edges(data="weight") if weight < least]
    strong = whole.copy()
    strong.remove_edges_from(weak)
    return strong


def les_miserables() -> Iterator[Network]:
    """Yield the co-appearances in Les Misérables (Knuth), ties of weight below 2 dropped.

    The targeted people are planted by a fixed infection from Valjean.
    """
    import networkx as nx

    adjacency, nodes = adjacency_from_networkx(_strong(nx.les_miserables_graph(), 2))
    source, p, q, rounds, seed = INFECTION
    infect = resolve("populations", "infect")
    targeted = infect(adjacency, nodes.index(source), p, q, rounds, stream(seed, "infect"))
    names = tuple(map(str, nodes))
    yield Network(
        adjacency, targeted, default_seeds(adjacency, targeted), names, title="Les Misérables"
    )


def karate_club() -> Iterator[Network]:
    """Yield Zachary's karate club with its two real factions, ties of weight below 3 dropped.

    The targeted faction is Mr. Hi's; with all its ties it hangs together and leaves nothing to
    search for, with the strong ones three members stand apart.
    """
    import networkx as nx

    whole = nx.karate_club_graph()
    adjacency, nodes = adjacency_from_networkx(_strong(whole, 3))
    targeted = np.array([whole.nodes[node]["club"] == "Mr. Hi" for node in nodes])
    names = tuple(f"member {node}" for node in nodes)
    yield Network(
        adjacency, targeted, default_seeds(adjacency, targeted), names, title="karate club"
    )


# Families


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
