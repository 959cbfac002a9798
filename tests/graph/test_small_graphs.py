"""All pairs of small graphs: none is left out, and their losses are those of the laws."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.isomorphism import categorical_node_match

import pdpaudit.algorithms.graph as published
from pdpaudit.algorithms.graph.claims import asking, serving
from pdpaudit.algorithms.graph.one_sided import exchanged
from pdpaudit.algorithms.graph.small_graphs import Losses, SmallGraphs
from pdpaudit.auditing.published_claims import MechanismClaim, catalogue
from pdpaudit.core.graphs import (
    Graph,
    GraphPair,
    coloured_graphs,
    edge_pairs,
    labelled_graphs,
    small_graphs,
    vertex_pairs,
)
from pdpaudit.core.privacy_loss import exact_loss
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.core.registry import make_mechanism
from pdpaudit.sampling import Silent

CLAIMS = [one for one in catalogue(None, "graph") if isinstance(one, MechanismClaim)]


def _mechanism(claim):
    return make_mechanism(claim.mechanism, claim.parameters)[0]


def _coloured(graph, colours):
    made = graph.networkx()
    nx.set_node_attributes(made, dict(enumerate(colours)), "role")
    return made


@pytest.mark.parametrize("roles", [asking, serving, lambda n: [0] * n])
@pytest.mark.parametrize("vertices", [2, 3, 4])
def test_each_graph_is_one_of_those_up_to_renumbering(roles, vertices):
    same = categorical_node_match("role", None)
    kept = [_coloured(graph, roles(vertices)) for graph in coloured_graphs(roles(vertices))]
    for graph in labelled_graphs(vertices):
        ours = _coloured(graph, roles(vertices))
        assert sum(nx.is_isomorphic(ours, one, node_match=same) for one in kept) == 1


def test_there_are_as_many_graphs_as_have_been_counted():
    """Rooted graphs are sequence A000666 of the OEIS, graphs A000088."""
    assert [len(list(coloured_graphs(serving(n)))) for n in range(1, 7)] == [1, 2, 6, 20, 90, 544]
    assert [len(list(coloured_graphs([0] * n))) for n in range(1, 6)] == [1, 2, 4, 11, 34]


def _every_pair(claim):
    """Return all pairs of labelled graphs of up to 4 vertices, nothing taken to be the same."""
    graphs = [graph for n in (2, 3, 4) for graph in labelled_graphs(n)]
    name = claim.mechanism.partition(":")[2]
    if "Recommendation" in name:
        kept = [graph for graph in graphs if graph.vertices - len(graph.contacts()[0]) > 2]
        return list(edge_pairs(kept, spared=0))
    if name == "SuppressedTies":
        return [pair for graph in graphs for pair in exchanged(graph)]
    return list((vertex_pairs if name in ("FlowTies", "TruncatedTies") else edge_pairs)(graphs))


@pytest.mark.parametrize("claim", CLAIMS[:17], ids=lambda claim: claim.id)
def test_graphs_up_to_renumbering_lose_as_much_as_all(claim, monkeypatch):
    """On 4 vertices, the laws of all labelled graphs compared one by one."""
    mechanism = _mechanism(claim)
    if claim.id == "G8":
        mechanism = _ByTie()
    for module in ("small_graphs", "claims"):
        monkeypatch.setattr(f"pdpaudit.algorithms.graph.{module}.VERTICES", 4)
    every = max(
        exact_loss(mechanism.law(left), mechanism.law(right)).epsilon
        for _, left, right in _every_pair(claim)
    )
    assert claim.exhaust(_mechanism(claim)).epsilon == pytest.approx(every, rel=1e-9)


class _ByTie(published.RandomisedLists):
    """Both reports of a tie, with the law of one tie alone: all others are the same twice."""

    def __init__(self):
        super().__init__(1.0)

    def entries(self, graph):
        return [int((0, 1) in graph.ties)] * 2


@pytest.mark.parametrize("claim", CLAIMS[:17], ids=lambda claim: claim.id)
def test_losses_do_not_depend_on_numbers(claim):
    """What is said up to renumbering rests on it: 40 pairs, people of one role exchanged."""
    mechanism, rng = _mechanism(claim), np.random.default_rng(6)
    pairs = list(claim.exhaust.pairs(mechanism))
    name = claim.mechanism.partition(":")[2]
    roles = serving if "Recommend" in name or name == "SuppressedTies" else None
    roles = asking if name in ("RandomisedNotification", "RandomisedMeetings") else roles
    losses = Losses(mechanism)
    for place in rng.choice(len(pairs), 40):
        _, left, right = pairs[place]
        if left.vertices != right.vertices:
            continue
        colours = np.array(roles(left.vertices) if roles else [0] * left.vertices)
        order = np.arange(left.vertices)
        for colour in set(colours.tolist()):
            order[colours == colour] = rng.permutation(order[colours == colour])
        moved = GraphPair("", *(side.renumbered(order.tolist()) for side in (left, right)))
        assert losses.of(moved) == pytest.approx(losses.of(pairs[place]), rel=1e-9)


@pytest.mark.parametrize("name", ["NoisyDegrees", "RandomisedTies", "SuppressedTies"])
def test_a_product_loses_what_its_law_does(name):
    mechanism = getattr(published, name)(0.7)
    losses = Losses(mechanism)
    for pair in edge_pairs(small_graphs(4, 2)):
        law = exact_loss(mechanism.law(pair.left), mechanism.law(pair.right)).epsilon
        assert losses.of(pair) == pytest.approx(law, rel=1e-9)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_is_judged_on_all_graphs_of_6_vertices(claim):
    small = claim.exhaust(_mechanism(claim))
    assert "up to 6 vertices" in small.scope
    assert (small.epsilon > 1 + 1e-9) == claim.known_violated
    assert small.worst is not None
    assert max(side.vertices for side in small.worst[1:]) <= 6


def test_of_pairs_that_lose_the_same_the_first_is_kept():
    class Two:
        def law(self, graph):
            return published.NoisyTies(1.0).law(graph)

    pairs = list(edge_pairs(small_graphs(3, 2)))
    found = SmallGraphs(lambda _: pairs, "at hand")(Two())
    assert found.worst == pairs[0]
    assert found.scope.startswith(f"all {len(pairs)} pairs")


def test_an_output_of_one_side_only_loses_without_bound():
    left, right = Graph(3, ((1, 2),)), Graph(3, ((0, 1),))
    for mechanism in (published.SuppressedTies(1.0), published.ExponentialRecommendation(1.0)):
        assert Losses(mechanism).of(GraphPair("", left, right)) == math.inf


def test_what_is_certified_has_no_witness_and_what_is_violated_one():
    for claim in (one for one in CLAIMS if one.id in ("G1", "G6")):
        (found,) = claim.examine(1, Silent()).findings
        assert found.status == ("violated" if claim.known_violated else "certified")
        assert (found.witness is not None) == claim.known_violated
        assert math.isfinite(found.exact)


def test_a_claim_of_another_kind_is_judged_in_its_unit():
    """Randomised response of one tie at order 2, by hand."""

    class Renyi(published.RandomisedTies):
        @property
        def claim(self):
            return PrivacyClaim.renyi(2.0, 1.0)

    pairs = list(edge_pairs(small_graphs(3, 2)))
    right = 1 / (1 + math.exp(-1.0))
    hand = math.log(right**2 / (1 - right) + (1 - right) ** 2 / right)
    assert SmallGraphs(lambda _: pairs, "at hand")(Renyi(1.0)).epsilon == pytest.approx(hand)
