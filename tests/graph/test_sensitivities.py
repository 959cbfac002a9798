"""What a tie or a person moves, on all graphs of few vertices, against what papers claim."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest

import pdpaudit.algorithms.graph as published
from pdpaudit.algorithms.graph import Graph, GraphPair
from pdpaudit.checks.sensitivity import Question, check_sensitivity
from pdpaudit.core.domains import Graphs, unchanged
from pdpaudit.core.graphs import edge_pairs, hubs, labelled_graphs, small_graphs

#: A function of a graph, the relation, what is claimed of n vertices, and what is true.
STATISTICS: dict[str, tuple[Callable[[Graph], Any], str, Callable[[int], float]]] = {
    "joint degree": (published.NoisyJointDegrees(1.0).counts, "edge", lambda n: 4 * n - 7),
}


def _checked(name: str, most: int, claimed: Callable[[int], float]) -> Any:
    function, relation, _ = STATISTICS[name]
    domain = Graphs((2, most), form=unchanged)
    question = Question.of(function, relation, domain, lambda degree: claimed(degree + 1))
    return check_sensitivity(question, most=most, time_limit=600)


@pytest.mark.parametrize("most", [5, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", STATISTICS)
def test_the_claimed_sensitivity_is_attained_on_all_graphs(name: str, most: int) -> None:
    claimed = STATISTICS[name][2]
    result = _checked(name, most, claimed)
    assert result.status == "certified"
    assert result.observed == pytest.approx(claimed(most))


@pytest.mark.parametrize("name", STATISTICS)
def test_less_is_refuted(name: str) -> None:
    claimed = STATISTICS[name][2]
    assert _checked(name, 4, lambda n: claimed(n) * (1 - 1e-6)).status == "violated"


# Joint degrees


def _joint(graph: Graph) -> dict[tuple[int, int], int]:
    """Count by networkx's own mixing matrix: entry (a, b) there has each tie from either end."""
    made = nx.Graph(list(graph.ties))
    mixed = nx.degree_mixing_dict(made)
    return {
        (a, b): mixed.get(a, {}).get(b, 0) // (2 if a == b else 1)
        for a, b in itertools.combinations_with_replacement(range(1, graph.vertices), 2)
    }


def test_joint_degrees_are_those_of_networkx() -> None:
    mechanism = published.NoisyJointDegrees(1.0)
    for graph in small_graphs(6, 2):
        assert mechanism.counts(graph) == list(_joint(graph).values())


@pytest.mark.parametrize("vertices", [3, 4, 7, 12])
def test_joint_degrees_move_most_where_two_know_everybody_else(vertices: int) -> None:
    left = hubs(vertices - 2)
    right = Graph(vertices, ((0, 1), *left.ties))
    before, after = (Counter(_joint(side)) for side in (left, right))
    assert sum(abs(after[e] - before[e]) for e in {*before, *after}) == 4 * vertices - 7


@pytest.mark.parametrize("vertices", [2, 3, 4, 5, 6])
def test_joint_degrees_keep_their_claims_on_all_graphs(vertices: int) -> None:
    """Entries are independent, so the largest log ratio is a sum of theirs."""
    pairs = list(edge_pairs(small_graphs(vertices, vertices)))

    def loss(mechanism: Any, pair: GraphPair) -> float:
        sides = zip(mechanism.parts(pair.left), mechanism.parts(pair.right), strict=True)
        logs = [np.log(left / right) for left, right in sides]
        return max(sum(one.max() for one in logs), sum(-one.min() for one in logs))

    sound = max(loss(published.NoisyJointDegrees(1.0), pair) for pair in pairs)
    assert sound == pytest.approx(1.0)
    assert max(loss(published.NoisyJointDegreesSmooth(1.0), pair) for pair in pairs) <= 1
    local = max(loss(published.NoisyJointDegreesLocal(1.0), pair) for pair in pairs)
    entries = math.comb(vertices, 2)
    rates = math.log((1 + math.exp(-0.2)) / (1 + math.exp(-1)))
    assert local == pytest.approx(0.8 * entries**2 + 0.2 - entries * rates)


@pytest.mark.parametrize("epsilon", [0.5, 50.0])
def test_the_smooth_bound_of_joint_degrees_is_one(epsilon: float) -> None:
    """At least what a tie moves on this graph, and not beyond a factor e^β from its neighbours."""
    mechanism = published.NoisyJointDegreesSmooth(epsilon)
    for vertices in (3, 4, 5):
        beta = epsilon / (4 * (math.comb(vertices, 2) + math.log(2e6)))
        for _, left, right in edge_pairs(
            labelled_graphs(vertices) if vertices < 5 else small_graphs(5, 5)
        ):
            sides = [mechanism.smooth_bound(side) for side in (left, right)]
            before, after = (np.array(mechanism.counts(side)) for side in (left, right))
            assert min(sides) >= np.abs(after - before).sum() - 1e-9
            assert max(sides) <= math.exp(beta) * min(sides) * (1 + 1e-12)
