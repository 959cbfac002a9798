"""Complete audits of mechanisms that keep their claims exactly: how often are they accused?"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pdpaudit.auditing import Config, audit

from .nulls import NULLS

ALPHA = 0.05

#: Audits of each mechanism: by default, and with --slow 2,000 in all.
AUDITS = (25, 400)

#: The median bound at 500 fresh samples a side, as a share of the truth, at least.
FRACTION = {
    "randomised_response": 0.75,
    "truncated_geometric": 0.6,
    "noisy_max": 0.7,
    "repaired_search": 0.1,
    "laplace": 0.7,
}


@pytest.mark.usefixtures("without_power")
@pytest.mark.parametrize("name", NULLS)
def test_claims_that_hold_exactly_are_rarely_called_violated(name, repetitions):
    """Complete audits, each from the choice of event to the verdict.

    The alarms are tested against a binomial law with the promised 0.05: an auditor that uses its
    budget up in full would fail here with probability 0.001.
    """
    mechanism, audits = NULLS[name](), repetitions(*AUDITS)
    bounds, alarms = [], 0
    for seed in range(audits):
        claim = audit(mechanism, [], Config(seed=seed, samples=500), subject=name).claims[0]
        alarms += claim.status == "violated"
        bounds.append(claim.lower_bound)
    told = f"{alarms} alarms, median bound {np.median(bounds) / mechanism.claim.epsilon:.3f}"
    assert stats.binom.sf(alarms - 1, audits, ALPHA) > 0.001, told
    assert np.median(bounds) >= FRACTION[name] * mechanism.claim.epsilon, told


def test_there_are_enough_audits():
    assert AUDITS[1] * len(NULLS) >= 2000
