"""The strategies give what they say, reach what they should, and shrink to little."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from pdpaudit.core.network import difference
from pdpaudit.testing.strategies import (
    adjacencies,
    graphs,
    neighbor_pairs,
    networks,
    partitions,
    subsets,
)

RELAXED = settings(
    max_examples=60,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@RELAXED
@given(st.data())
def test_graphs_obey_their_bounds(data):
    most = data.draw(st.integers(1, 10))
    bound = data.draw(st.integers(0, 6))
    matrix = data.draw(adjacencies(1, most, bound))
    dense = matrix.toarray()
    assert 1 <= len(dense) <= most
    assert (dense == dense.T).all()
    assert not dense.diagonal().any()
    assert dense.sum(axis=1).max() <= bound
    graph = data.draw(graphs(1, most, bound))
    assert list(graph) == list(range(len(graph)))
    assert max(dict(graph.degree).values()) <= bound


@RELAXED
@given(st.data())
def test_partitions_have_both_kinds(data):
    n = data.draw(st.integers(2, 9))
    targeted = data.draw(partitions(n))
    assert targeted.shape == (n,)
    assert targeted.any()
    assert not targeted.all()


@RELAXED
@given(st.data())
def test_pairs_are_neighbours_within_the_bound(data):
    bound = data.draw(st.integers(1, 5))
    pair = data.draw(neighbor_pairs(2, 10, bound))
    left, right = pair.left, pair.right
    assert difference(left, right, pair.vertex) is None
    for side in (left, right):
        assert np.diff(side.adjacency.indptr).max() <= bound


@pytest.mark.parametrize(
    ("wanted", "vertices", "edges"),
    [
        (lambda pair: pair.left.edges != pair.right.edges, 2, 1),
        (lambda pair: pair.left.n >= 7, 7, 0),
        (lambda pair: len(pair.left_neighbours) >= 3, 4, 3),
        (lambda pair: pair.left.targeted.sum() >= 3, 4, 0),
    ],
)
def test_pairs_shrink_to_what_is_needed(wanted, vertices, edges):
    found = find(neighbor_pairs(2, 8), wanted, settings=settings(RELAXED, max_examples=500))
    # Shrinking ends in a local minimum, which may be a vertex or two edges from the smallest.
    assert vertices <= found.left.n <= vertices + 1
    assert max(found.left.edges, found.right.edges) <= edges + 2


def test_a_nearly_complete_graph_is_within_reach():
    found = find(
        networks(8, 8),
        lambda network: network.edges >= 26,
        settings=settings(RELAXED, max_examples=500, phases=[Phase.generate]),
    )
    assert found.edges >= 26


def test_subsets_may_be_empty():
    assert find(subsets([]), lambda chosen: True) == frozenset()
    assert find(subsets([4]), lambda chosen: bool(chosen)) == frozenset({4})
