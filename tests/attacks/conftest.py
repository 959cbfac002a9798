"""Networks to attack."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from pdpaudit.attacks.pair_families import karate_club, les_miserables, planted_network
from pdpaudit.core.network import Network, adjacency_from_networkx, default_seeds


def _random(seed: int) -> Network:
    graph = nx.gnp_random_graph(40, 0.08, seed=seed)
    adjacency, _ = adjacency_from_networkx(graph)
    targeted = np.random.default_rng(seed).random(40) < 0.4
    return Network(adjacency, targeted, default_seeds(adjacency, targeted), title=f"random {seed}")


def _networks() -> dict[str, Network]:
    return {
        "planted": planted_network(5, 24),
        "planted, one target": planted_network(1, 2),
        "Les Misérables": next(les_miserables()),
        "karate club": next(karate_club()),
        "random 1": _random(1),
        "random 2": _random(2),
    }


@pytest.fixture(scope="session")
def benchmark_networks() -> dict[str, Network]:
    """Each network under the smallest degree bound it keeps, a larger one, and none."""
    found = {}
    for name, network in _networks().items():
        degree = max(1, int(np.diff(network.adjacency.indptr).max()))
        for words, bound in (("tight", degree), ("loose", degree + 3), ("free", None)):
            found[f"{name}, {words}"] = replace(network, max_degree=bound)
    return found
