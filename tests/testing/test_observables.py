"""A test may audit what a search does beside its list."""

from __future__ import annotations

import warnings
from contextlib import suppress

import networkx as nx
import numpy as np
import pytest

from pdpaudit.algorithms.searches.baselines import SFS
from pdpaudit.auditing.side_channels import Observed
from pdpaudit.core.network import Network, adjacency_from_networkx
from pdpaudit.testing import AuditFailed, PoorPower, assert_private
from pdpaudit.testing.session import Budget, entered

STAR = Network(
    adjacency_from_networkx(nx.star_graph(5))[0],
    np.array([True, True, True, False, False, False]),
    seeds=(0,),
)


@pytest.mark.usefixtures("few_moves")
def test_time_is_judged_against_another_claim() -> None:
    # Whatever the machine's clock shows: what matters is that there is a verdict.
    budget = Budget(share=0.05)
    with entered(budget), warnings.catch_warnings():
        warnings.simplefilter("ignore", PoorPower)
        with suppress(AuditFailed):
            assert_private(Observed(SFS, "time"), epsilon=5, networks=STAR, samples=200)
    assert budget.rows[0]["status"] in ("violated", "inconclusive", "not_rejected")
    assert [row["epsilon"] for row in budget.rows] == [5.0]
