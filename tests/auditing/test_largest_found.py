"""What a mechanism finds over all scores is told beside the pair and the proved bound."""

from __future__ import annotations

import json

import pytest

from pdpaudit.algorithms.searches.noisy_max import PTargetMainText
from pdpaudit.algorithms.searches.search_com import PTarget, SearchCom
from pdpaudit.algorithms.statistics import CN, Path, Triangle
from pdpaudit.attacks.pair_families import planted_network
from pdpaudit.auditing import Config, audit, exact_search
from pdpaudit.core.protocols import LargestLoss
from pdpaudit.report.findings import true_words


@pytest.mark.parametrize("kind", [SearchCom, PTarget])
def test_an_audit_tells_the_largest_loss_found_and_the_bound(kind, monkeypatch):
    monkeypatch.setattr(exact_search, "MOVES", 0)  # the pairs themselves will do
    network = planted_network(8, 400)
    result = audit(kind(sop=CN()), [network], Config(1, tries=12), subject="it")
    claim = result.claims[0]
    found, proved = claim.event.to_json()["largest_found"], claim.event.to_json()["proved_bound"]
    assert 0 < claim.exact <= found["epsilon"] + 1e-6
    assert found["epsilon"] <= proved["epsilon"]
    # the search is for the pure loss, and no part of a claim with δ
    assert all("largest_found" not in other.event.to_json() for other in result.claims[1:])
    words = true_words(claim)
    assert f"Claimed 1.000, true for this configuration: at least {found['epsilon']:.3f}" in words
    assert f"{claim.exact:.3f} by this pair" in words
    assert f"at most {proved['epsilon']:.3f}" in words
    json.dumps(result.to_json())


def test_one_more_protected_vertex_after_statistic_first_search():
    instance = planted_network(8, 400).instance()
    alone, after = kinds = [kind(sop=CN()).largest_loss(instance) for kind in (SearchCom, PTarget)]
    assert all(isinstance(one, LargestLoss) for one in kinds)
    assert alone.epsilon < after.epsilon


def test_nothing_is_said_where_nothing_is_known():
    instance = planted_network(3, 20).instance()
    assert PTarget(sop=CN(), components=3).largest_loss(instance) is None
    assert SearchCom(sop=Path(1)).largest_loss(instance) is None  # no target's score moves
    assert SearchCom(sop=Triangle()).largest_loss(planted_network(0, 5).instance()) is None
    assert not hasattr(PTargetMainText(sop=CN()), "largest_loss")
