"""Turn pairs and events into JSON and into words a person understands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pdpaudit.core.neighbors import NeighborPair
from pdpaudit.core.network import Network
from pdpaudit.outputs import Side
from pdpaudit.outputs.words import list_names

__all__ = ["list_names", "network_json", "pair_json", "pair_words"]

Name = Callable[[int], str]

#: A network with more edges is kept out of a witness; it names the file instead.
INLINE_EDGES = 50_000


def pair_words(pair: NeighborPair, to: Side) -> str:
    """Say what is rewired, towards the side named."""
    name = pair.network.name
    sides = [_listed(pair.left_neighbours), _listed(pair.right_neighbours)]
    before, after = sides if to == "right" else reversed(sides)
    return (
        f"rewiring {name(pair.vertex)} from {list_names(map(name, before))} "
        f"to {list_names(map(name, after))}"
    )


def pair_json(pair: NeighborPair, to: Side, file: dict[str, Any] | None) -> dict[str, Any]:
    """Return the JSON form of a pair.

    Its words lead to the side ``to``; ``file`` says how to read a network too large to inline.
    """
    name = pair.network.name
    left, right = set(_listed(pair.left_neighbours)), set(_listed(pair.right_neighbours))
    before, after = (left, right) if to == "right" else (right, left)
    return {
        "network": pair.network.title,
        "family": pair.family,
        "vertex": pair.vertex,
        "vertex_name": name(pair.vertex),
        "left": sorted(left),
        "right": sorted(right),
        "lost": [name(v) for v in sorted(before - after)],
        "gained": [name(v) for v in sorted(after - before)],
        "words": pair_words(pair, to),
        "base": network_json(pair.network, pair.vertex, file),
    }


def network_json(network: Network, without: int, file: dict[str, Any] | None) -> dict[str, Any]:
    """Return the network in which ``without`` has no edges, whole or by reference."""
    body: dict[str, Any] = {
        "n": network.n,
        "seeds": list(network.seeds),
        "max_degree": network.max_degree,
    }
    if network.edges > INLINE_EDGES and file is not None:
        return {**body, "file": file}
    coo = network.adjacency.tocoo()
    kept = (coo.row < coo.col) & (coo.row != without) & (coo.col != without)
    return {
        **body,
        "targeted": np.flatnonzero(network.targeted).tolist(),
        "edges": np.column_stack([coo.row[kept], coo.col[kept]]).tolist(),
        "names": None if network.names is None else list(network.names),
    }


def _listed(vertices: Any) -> list[int]:
    return [int(v) for v in np.sort(np.asarray(vertices))]
