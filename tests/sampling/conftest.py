"""A network to sample on, and mechanisms that workers can be sent."""

from __future__ import annotations

from collections.abc import Iterator

import cloudpickle
import networkx as nx
import numpy as np
import pytest

from pdpaudit.core.network import Network, adjacency_from_networkx


@pytest.fixture
def path_of_five() -> Network:
    """The path 0-1-2-3-4; 0, 2 and 4 are targeted, 0 is the seed."""
    adjacency, _ = adjacency_from_networkx(nx.path_graph(5))
    return Network(adjacency, np.array([True, False] * 2 + [True]), seeds=(0,))


@pytest.fixture(autouse=True, scope="module")
def sent_by_value(request: pytest.FixtureRequest) -> Iterator[None]:
    """Send workers what a test's module defines: diffprivlib brings them a package named tests."""
    cloudpickle.register_pickle_by_value(request.module)
    yield
    cloudpickle.unregister_pickle_by_value(request.module)
