"""Searches under other relations: the smallest example by hand, and what a single tie does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from pdpaudit import audit
from pdpaudit.algorithms.searches.search_com import PTarget, SearchCom
from pdpaudit.algorithms.statistics import CN
from pdpaudit.attacks.pair_families import planted_network
from pdpaudit.auditing.candidate_pairs import network_pairs
from pdpaudit.core.errors import InputError
from pdpaudit.core.network import Network, difference
from pdpaudit.core.variants import NETWORK_RELATIONS


def network(ties: list[tuple[int, int]], targeted: list[bool]) -> Network:
    matrix = np.zeros((len(targeted), len(targeted)), dtype=np.int8)
    for a, b in ties:
        matrix[a, b] = matrix[b, a] = 1
    return Network(csr_array(matrix), np.array(targeted), (0,), max_degree=2)


@pytest.mark.parametrize("tied", [True, False])
def test_the_law_of_the_smallest_search_is_as_by_hand(tied):
    """A seed, one target, and a protected person beside the target, with or without the seed's tie.

    The target has score 1 with it and 0 without, the person 0. It is found unless the person comes
    first (a difference of two Laplace variables of scale 4 above the score) and nobody may (a
    Laplace variable of scale 10 on top of 1 stays below 1), or not even the target may.
    """
    instance = network([(1, 2), *([(0, 1)] if tied else [])], [True, False, True]).instance()
    score = 1.0 if tied else 0.0
    overtaken = 0.5 * math.exp(-score / 4) * (1 + score / 8)
    nobody, one = 1 - 0.5 * math.exp(-1 / 10), 0.5
    found = nobody * (1 - overtaken) + one * overtaken
    law = SearchCom(sop=CN()).law(instance).probabilities
    assert law[(2,)] == pytest.approx(found, abs=1e-12)
    assert law[()] == pytest.approx(1 - found, abs=1e-12)


def test_a_tie_of_the_seed_moves_every_score_and_the_empty_answer_leaks():
    """All of m targets rise by one tie: m/4 of the claim, 2.39 at m = 10 and 2,000 people."""
    one = audit("SearchCom", networks=planted_network(10, 2000), relation="edge", seed=1).claims[0]
    assert one.status == "violated"
    assert one.exact == pytest.approx(2.39, abs=0.02)
    assert len({*one.pair.to_json()["left"]} ^ {*one.pair.to_json()["right"]}) == 1


def test_a_tie_between_targets_is_followed_for_certain():
    """SFS asks whoever a found target knows: who is found first depends on one tie."""
    left = network([(0, 1), (0, 2)], [True, True, False]).instance()
    right = network([(0, 2)], [True, True, False]).instance()
    laws = [PTarget(sop=CN()).law(one).probabilities for one in (left, right)]
    assert laws[0] == pytest.approx({(0, 1): 1.0})
    assert (0,) in laws[1]


@pytest.mark.parametrize("relation", NETWORK_RELATIONS[1:])
def test_pairs_are_neighbours_by_the_definition_and_keep_the_degree_bound(relation):
    for made in (planted_network(3, 5), planted_network(4, 30)):
        pairs = list(network_pairs(made, relation, np.random.default_rng(1)))
        assert pairs
        for pair in pairs:
            assert difference(pair.left, pair.right, pair.vertex, relation) is None


def test_nobody_vanishes_from_a_search():
    with pytest.raises(InputError, match="the same people"):
        audit("SFS", relation="vertex")
