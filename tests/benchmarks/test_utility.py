"""The comparison of searches: what it counts, and that each really keeps what it is given."""

from __future__ import annotations

import numpy as np
import pytest

from pdpaudit.algorithms.statistics import CN
from pdpaudit.attacks.pair_families import les_miserables, planted_network
from pdpaudit.auditing import Config, audit, exact_search

from .utility import contenders, curves


def test_counts_grow_with_the_budget_and_end_at_the_total() -> None:
    (network,) = les_miserables()
    searches = contenders(network, CN(), 1.0, 4, 40)
    found = curves(network, searches, [0, 1, 5, 20, 10_000], runs=5, seed=2)
    assert len(found) == len(searches) == 5
    for curve in found.values():
        assert curve.found[0] == 0
        assert (np.diff(curve.found) >= 0).all()
        assert curve.found[-1] == curve.total
        assert curve.total <= curve.calls


def test_the_searches_keep_what_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_search, "MOVES", 1)
    network = planted_network(8, 400)
    for one in contenders(network, CN(), 1.0, 2, 9)[1:]:
        claim = audit(one.mechanism, [network], Config(1), subject=one.name).claims[0]
        assert claim.exact is not None
        assert claim.exact <= one.epsilon + 1e-9
