"""What a private recommendation can attain: by a linear programme over all mechanisms."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

from pdpaudit.algorithms.graph import ExponentialRecommendation, NoisyRecommendation
from pdpaudit.algorithms.graph.loss_tables import (
    accuracy,
    accuracy_bound,
    known_networks,
    our_ties,
    paper_ties,
    served_graphs,
)
from pdpaudit.algorithms.graph.recommendation import favourite, shared_contacts
from pdpaudit.core.graphs import Graph


def _useful(vertices, contacts):
    """Return all graphs in which vertex 0 has these contacts and a candidate shares one."""
    own = [(0, v) for v in range(1, contacts + 1)]
    places = list(itertools.combinations(range(1, vertices), 2))
    every = (
        Graph(vertices, (*own, *itertools.compress(places, chosen)))
        for chosen in itertools.product((0, 1), repeat=len(places))
    )
    return [graph for graph in every if max(_utilities(graph).values()) > 0]


def _utilities(graph):
    made = graph.networkx()
    candidates = set(made) - {0} - set(made[0])
    return {v: len(list(nx.common_neighbors(made, 0, v))) for v in sorted(candidates)}


def _best(graphs, epsilon):
    """Return the largest accuracy on all these graphs of an ε-private recommendation.

    It is a linear programme: a probability for each graph and candidate, ordered as the utilities
    are, and ratios of at most e^ε where one tie differs.
    """
    utilities = [_utilities(graph) for graph in graphs]
    place = {
        (g, v): i for i, (g, v) in enumerate((g, v) for g, u in enumerate(utilities) for v in u)
    }
    last, rows = len(place), []
    for g, ours in enumerate(utilities):
        most = max(ours.values())
        rows.append([(last, 1.0), *((place[g, v], -u / most) for v, u in ours.items())])
        for one, other in itertools.permutations(ours, 2):
            if ours[one] <= ours[other]:
                rows.append([(place[g, one], 1.0), (place[g, other], -1.0)])
    ties = [frozenset(graph.ties) for graph in graphs]
    number = {some: g for g, some in enumerate(ties)}
    for g, some in enumerate(ties):
        for other in (number[some - {tie}] for tie in some if some - {tie} in number):
            for v in utilities[g]:
                for a, b in ((g, other), (other, g)):
                    rows.append([(place[a, v], 1.0), (place[b, v], -math.exp(epsilon))])
    sums = [[(place[g, v], 1.0) for v in ours] for g, ours in enumerate(utilities)]
    objective = np.zeros(last + 1)
    objective[last] = -1.0
    found = linprog(
        objective,
        _matrix(rows, last + 1),
        np.zeros(len(rows)),
        _matrix(sums, last + 1),
        np.ones(len(sums)),
    )
    assert found.success
    return -found.fun


def _matrix(rows, columns):
    entries = [(i, j, value) for i, row in enumerate(rows) for j, value in row]
    i, j, values = zip(*entries, strict=True)
    return coo_array((values, (i, j)), shape=(len(rows), columns))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize(("vertices", "contacts"), [(4, 1), (5, 1), (5, 2)])
def test_no_private_recommendation_is_more_accurate_than_the_bound(vertices, contacts, epsilon):
    graphs = _useful(vertices, contacts)
    best = _best(graphs, epsilon)
    for graph in graphs:
        utilities = list(_utilities(graph).values())
        most = max(utilities)
        ours = accuracy_bound(utilities, our_ties(most), epsilon)
        theirs = accuracy_bound(utilities, paper_ties(most, contacts), epsilon)
        assert best <= ours + 1e-7
        assert ours <= theirs
    for mechanism in (ExponentialRecommendation(epsilon), NoisyRecommendation(epsilon)):
        assert min(accuracy(mechanism, graph) for graph in graphs) <= best + 1e-7


def test_the_bound_is_attained():
    """Where one contact is shared by at most three: the logistic function of ε = 1."""
    best = _best(_useful(5, 1), 1.0)
    assert best == pytest.approx(1 / (1 + math.exp(-1)))
    assert best == pytest.approx(accuracy_bound([1, 0, 0], our_ties(1), 1.0))


def test_the_bound_is_nearly_attained_among_many():
    """With one best of 1,000 any private recommendation has at most twice what softmax has."""
    graph = favourite(3, 1000)
    softmax = accuracy(ExponentialRecommendation(0.5), graph)
    utilities = list(shared_contacts(graph).values())
    assert softmax < accuracy_bound(utilities, our_ties(2), 0.5) < 2 * softmax


def test_the_bound_by_hand():
    """One of 3 has 2 shared contacts, one has 1: the level 1 bounds by half as much as 0."""
    raised = math.exp(2.0)
    levels = (1 - 1 / (1 + 3 * raised), 1 - (1 / 2) * 2 / (2 + 2 * raised))
    assert accuracy_bound([2, 1, 0], 2, 1.0) == pytest.approx(min(levels))
    assert accuracy_bound([2, 2], 2, 1.0) == 1.0


def test_accuracy_is_the_share_of_the_best_utility():
    graph = Graph(4, ((0, 1), (1, 2)))
    right = 1 / (1 + math.exp(-1))
    assert accuracy(ExponentialRecommendation(1.0), graph) == pytest.approx(right)


def test_everybody_is_served_in_turn():
    (name, network), _ = known_networks()
    graphs = list(served_graphs(network))
    assert len(graphs) == 34
    degrees = sorted(len(graph.contacts()[0]) for graph in graphs)
    assert degrees == sorted(degree for _, degree in network.degree)
    assert "Zachary" in name
