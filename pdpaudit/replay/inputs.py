"""Build the two inputs of a witness again, and check that they are neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pdpaudit.auditing.candidate_pairs import CandidatePair, network_candidate, own_pairs
from pdpaudit.core.errors import InputError
from pdpaudit.core.neighbors import NeighborPair, difference
from pdpaudit.core.network import Network, adjacency_from_edges
from pdpaudit.core.protocols import Mechanism

__all__ = ["ReadNetwork", "candidate_of", "network_of", "pair_of"]

#: How a network is read again from what its file was called and the options it was read with.
ReadNetwork = Callable[[Mapping[str, Any], int], Network]

#: Vertices of a network that is written out: more are no network of so few edges.
MOST_VERTICES = 10_000_000


def network_of(base: Mapping[str, Any], title: str, seed: int, read: ReadNetwork) -> Network:
    """Build the network of a witness again, from what is written out or from its file."""
    if "file" in base:
        network = read(base["file"], seed)
        if network.n != base["n"] or list(network.seeds) != base["seeds"]:
            raise InputError("the network read is not the one the witness was found on")
        return replace(network, title=title, max_degree=base.get("max_degree"))
    n = _whole(base["n"])
    if not 0 < n <= MOST_VERTICES:
        raise ValueError(f"there are no {n} vertices")
    edges = np.array([[_whole(end) for end in edge] for edge in base["edges"]], dtype=np.int64)
    edges = edges.reshape(-1, 2)
    members = [_whole(vertex) for vertex in base["targeted"]]
    for vertices in (edges.ravel().tolist(), members):
        if not all(0 <= vertex < n for vertex in vertices):
            raise ValueError("an edge or the partition names a vertex that does not exist")
    names = base.get("names")
    if names is not None and not all(isinstance(name, str) for name in [*names]):
        raise TypeError("a name is no text")
    targeted = np.zeros(n, dtype=bool)
    targeted[np.array(members, dtype=np.int64)] = True
    return Network(
        adjacency_from_edges(n, edges[:, 0], edges[:, 1]),
        targeted,
        tuple(_whole(seed) for seed in base["seeds"]),
        None if names is None else tuple(names),
        title,
        base.get("max_degree"),
    )


def pair_of(pair: Mapping[str, Any], seed: int, read: ReadNetwork) -> NeighborPair:
    """Build a neighbouring pair again and hold it against the definition."""
    network = network_of(pair["base"], pair["network"], seed, read)
    left, right = (
        np.array([_whole(vertex) for vertex in pair[side]], dtype=np.int64)
        for side in ("left", "right")
    )
    built = NeighborPair(network, _whole(pair["vertex"]), left, right, pair.get("family", ""))
    reason = difference(built.left, built.right, built.vertex)
    if reason is not None:
        raise ValueError(reason)
    return built


def candidate_of(
    witness: Mapping[str, Any], mechanism: Mechanism, seed: int, read: ReadNetwork
) -> CandidatePair:
    """Build the two inputs of a witness again: a pair of networks, or one the mechanism brings."""
    pair = witness["pair"]
    if "base" in pair:
        return network_candidate(pair_of(pair, seed, read))
    own, number = own_pairs(getattr(mechanism, "pairs")), _whole(pair["number"])  # noqa: B009
    if not 1 <= number <= len(own):
        raise ValueError(f"the mechanism has {len(own)} pairs, none of number {number}")
    return own[number - 1]


def _whole(value: Any) -> int:
    """Return a whole number of a result; anything else is no number of a vertex."""
    if type(value) is not int:
        raise TypeError(f"{value!r} is no whole number")
    return value
