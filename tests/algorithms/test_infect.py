"""The infection process against an independent loop and closed forms."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from pdpaudit.core.errors import InputError
from pdpaudit.core.network import adjacency_from_networkx
from pdpaudit.experiments.generated_networks import infect

from .helpers import same_law_p_value


def looped(graph: nx.Graph, source: int, p: float, q: float, rounds: int, rng) -> tuple[int, ...]:
    """Algorithm Infect, read literally, each round seeing the infected of the one before."""
    infected = {source}
    for _ in range(rounds):
        exposed = {v for i in infected for v in graph[i]} - infected
        infected |= {v for v in sorted(exposed) if rng.random() <= p}
    return tuple(v for v in sorted(infected) if rng.random() > q)


def test_distributed_as_the_pseudocode_says() -> None:
    # Rejects with probability 1e-4 at a pinned seed.
    graph = nx.gnp_random_graph(7, 0.4, seed=5)
    adjacency, _ = adjacency_from_networkx(graph)
    rng = np.random.default_rng(1)
    ours = Counter(
        tuple(np.flatnonzero(infect(adjacency, 0, 0.4, 0.3, 3, rng)).tolist()) for _ in range(4000)
    )
    theirs = Counter(looped(graph, 0, 0.4, 0.3, 3, rng) for _ in range(4000))
    assert same_law_p_value(ours, theirs) > 1e-4


def test_once_a_round_however_many_infected_neighbours() -> None:
    # About half of the 50 neighbours of vertex 51 are infected when the second round begins; it
    # is then infected with probability p, not 1 - (1 - p)^25.
    graph = nx.Graph([(0, middle) for middle in range(1, 51)])
    graph.add_edges_from((middle, 51) for middle in range(1, 51))
    adjacency, _ = adjacency_from_networkx(graph)
    rng = np.random.default_rng(2)
    reached = sum(int(infect(adjacency, 0, 0.5, 0.0, 2, rng)[51]) for _ in range(2000))
    # Rejects with probability 1e-4 at a pinned seed; no middle vertex infected: 2^-50.
    assert stats.binomtest(reached, 2000, 0.5).pvalue > 1e-4


def test_many_infected_neighbours_do_not_overflow() -> None:
    # 256 infected neighbours are 0 in the matrix's own 8 bits.
    graph = nx.complete_bipartite_graph(1, 256)
    graph.add_edges_from((leaf, 257) for leaf in range(1, 257))
    adjacency, _ = adjacency_from_networkx(graph)
    assert infect(adjacency, 0, 1.0, 0.0, 2, np.random.default_rng(1)).all()


def test_rounds_are_synchronous() -> None:
    adjacency, _ = adjacency_from_networkx(nx.path_graph(10))
    for rounds in range(10):
        mask = infect(adjacency, 0, 1.0, 0.0, rounds, np.random.default_rng(1))
        assert mask.tolist() == [v <= rounds for v in range(10)]


def test_certain_immunity_leaves_nobody() -> None:
    adjacency, _ = adjacency_from_networkx(nx.path_graph(10))
    assert not infect(adjacency, 0, 1.0, 1.0, 5, np.random.default_rng(1)).any()
    assert infect(adjacency, 3, 0.0, 0.0, 5, np.random.default_rng(1)).nonzero()[0].tolist() == [3]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("source", (10, 0.5, 0.5, 1)),
        ("source", (-1, 0.5, 0.5, 1)),
        ("p", (0, 1.5, 0.5, 1)),
        ("p", (0, float("nan"), 0.5, 1)),
        ("q", (0, 0.5, -0.1, 1)),
        ("rounds", (0, 0.5, 0.5, -1)),
    ],
)
def test_refuses(name: str, arguments: tuple[int, float, float, int]) -> None:
    adjacency, _ = adjacency_from_networkx(nx.path_graph(10))
    with pytest.raises(InputError, match=f"^{name} = "):
        infect(adjacency, *arguments, np.random.default_rng(1))
