"""What the adversary knows of a network: who is found at once, who remains, who is exposed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import Network, targeted_components

__all__ = ["View", "admissible", "exposed", "look"]

Vertices = npt.NDArray[np.integer]


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
