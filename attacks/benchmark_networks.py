"""Where to attack when nobody names a network: planted instances and embedded real ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pdpaudit.core.network import (
    Network,
    adjacency_from_edges,
    adjacency_from_networkx,
    default_seeds,
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
