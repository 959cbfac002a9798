"""A search that is private to the last digit in its list leaks through everything else."""

from __future__ import annotations

import pytest

from pdpaudit.algorithms.searches.baselines import SFS
from pdpaudit.attacks.pair_families import planted_network
from pdpaudit.auditing import Config, audit, benchmark_networks
from pdpaudit.auditing.side_channels import OBSERVABLES, Observed, observed
from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.errors import InputError
from pdpaudit.core.variants import Variant


@pytest.mark.parametrize("what", ["queries", "examined", "truncated"])
def test_statistic_first_search_leaks_through(what: str) -> None:
    """Deterministic: each event has probability 1 on one side and 0 on the other."""
    plan = Config(seed=1, samples=200, tries=24)
    claim = audit(Observed(SFS(), what), benchmark_networks(), plan, subject="SFS").claims[0]
    assert claim.promise.epsilon == 0.0
    assert claim.status == "violated"
    assert (claim.event.to_json()["inside"], claim.event.to_json()["inside_other"]) == (200, 0)
    assert "made for the list only" in claim.source


def test_its_list_does_not() -> None:
    plan = Config(seed=1, samples=200, tries=24)
    claim = audit(SFS(), benchmark_networks(), plan, subject="SFS").claims[0]
    assert claim.lower_bound == 0.0


@pytest.mark.usefixtures("few_moves")
def test_time_is_audited_but_not_replayed() -> None:
    plan = Config(seed=1, samples=200, tries=2)
    result = audit(Observed(SFS(), "time"), [planted_network(3, 6)], plan, subject="SFS")
    assert result.claims[0].status in ("violated", "not_rejected", "inconclusive")
    assert any("nothing can be replayed" in words for words in result.remarks)


def test_what_cannot_be_observed_is_refused() -> None:
    with pytest.raises(InputError, match="observe = smell: choose one of queries"):
        Observed(SFS(), "smell")
    search = SFS()
    assert observed(search, None).mechanism is search
    assert set(OBSERVABLES) == {"queries", "examined", "truncated", "time"}


def test_a_claim_without_a_source_has_no_gap_before_what_it_is_about() -> None:
    bare, named = PrivacyClaim(1.0), PrivacyClaim(1.0, source="Theorem 1")
    sources = [
        Observed(Variant(SFS(), claim=claim), "queries").claims[0].source for claim in (bare, named)
    ]
    assert sources[0].startswith("made for the list only")
    assert sources[1].startswith("Theorem 1; made for the list only")
