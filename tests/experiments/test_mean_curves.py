"""Curves against the reference implementation on a network of thousands.

200 runs and 40; Mann and Whitney's test at 8 numbers of calls for 2 searches, each at level 1e-4:
a right implementation fails with probability 0.16 % at most.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pdpaudit.core.registry import make_mechanism
from pdpaudit.experiments.generated_networks import embedded_network
from pdpaudit.experiments.simulation import Contestant, trajectories

from .plain import RunOnly

BUDGETS = np.linspace(100, 1_500, 8).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["PTarget:main-text", "PTarget:repaired"])
def test_mean_curves_agree_with_the_reference(name):
    network, _ = embedded_network("several")
    mechanism, _ = make_mechanism(name, {"epsilon": 0.5, "components": 9_999})
    one = Contestant(name, mechanism, name)
    drawn = trajectories(one, network, 1_500, 200, 1)
    # Another seed, so that no stream is shared.
    run = trajectories(Contestant(name, RunOnly(mechanism), name), network, 1_500, 40, 2)
    for calls in BUDGETS:
        a, b = (
            [int(np.searchsorted(each.found, calls, side="right")) for each in some]
            for some in (drawn, run)
        )
        if len({*a, *b}) > 1:
            assert stats.mannwhitneyu(a, b, method="asymptotic").pvalue > 1e-4
