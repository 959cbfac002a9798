"""Small networks several tests of the harness use."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from pdpaudit.core.network import Network, adjacency_from_networkx


@pytest.fixture
def path_network() -> Network:
    """The path 0-1-2-3; 0 and 2 are targeted, 0 is the seed."""
    adjacency, _ = adjacency_from_networkx(nx.path_graph(4))
    return Network(adjacency, np.array([True, False, True, False]), seeds=(0,))
