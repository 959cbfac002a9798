"""How much noise is wasted: what small graphs lose, and the ε at which they lose the claim."""

from __future__ import annotations

import math

import pytest

from pdpaudit.algorithms.graph import ExponentialRecommendation, NoisyTies
from pdpaudit.algorithms.graph.claims import G1
from pdpaudit.algorithms.graph.loss_tables import loose_sections, losses_by_size, tight_epsilon
from pdpaudit.algorithms.graph.small_graphs import SERVED
from pdpaudit.core.graphs import edge_pairs, small_graphs


def _lost(epsilon, shared):
    """Return what is lost where one of two candidates gains a shared contact, the last one."""
    return math.log((math.exp(epsilon * shared) + 1) / (math.exp(epsilon * (shared - 1)) + 1))


def test_losses_are_those_worked_out_by_hand_for_each_size():
    mechanism = ExponentialRecommendation(1.0)
    losses = losses_by_size(mechanism, list(SERVED.pairs(SERVED.most)))
    assert losses == pytest.approx({3: 0.0, **{n: _lost(1.0, n - 3) for n in (4, 5, 6)}})


def test_at_the_tight_epsilon_the_claim_is_attained():
    pairs = list(SERVED.pairs(SERVED.most))
    epsilon = tight_epsilon(ExponentialRecommendation, pairs)
    assert _lost(epsilon, 3) == pytest.approx(1.0, abs=1e-6)
    assert epsilon > 1


def test_of_a_loss_in_proportion_to_epsilon_the_factor_is_the_same():
    class Half(NoisyTies):
        def sensitivity(self, graph):
            return 2

    assert tight_epsilon(Half, list(edge_pairs(small_graphs(4, 2)))) == pytest.approx(2.0)


def test_only_loose_claims_are_rows():
    (section,) = loose_sections([G1])
    ((name, *losses),) = section["tables"][0]["rows"]
    assert name == "G1: ExponentialRecommendation"
    assert losses[-2:] == ["1.085", "1.0715"]
