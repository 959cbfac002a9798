"""Complete audits that stop when they like, of mechanisms that keep their claims exactly."""

from __future__ import annotations

import pytest
from scipy import stats

from pdpaudit.auditing import Config, audit

from .nulls import NULLS

ALPHA = 0.05

#: Audits of each mechanism: by default, and with --slow 1,000 in all.
AUDITS = (20, 200)


@pytest.mark.usefixtures("without_power")
@pytest.mark.parametrize("name", NULLS)
def test_looking_while_sampling_accuses_no_more_often(name, repetitions):
    """Complete audits, with nine looks each, from the choice of event to the verdict.

    Alarms are tested against a binomial law with the promised 0.05: an auditor that uses its
    budget up in full would fail here with probability 0.001 a mechanism. So are attackers said
    to attain at least more than the claim, in its two figures together, allows.
    """
    mechanism, audits = NULLS[name](), repetitions(*AUDITS)
    alarms = exceeded = 0
    for seed in range(audits):
        plan = Config(seed=seed, samples=900, method="sequential")
        claim = audit(mechanism, [], plan, subject=name).claims[0]
        alarms += claim.status == "violated"
        told = [claim.inference[key] for key in ("advantage", "tpr_at_low_fpr")]
        exceeded += any(one["at_least"] > one["allowed"] for one in told)
    for count in (alarms, exceeded):
        assert stats.binom.sf(count - 1, audits, ALPHA) > 0.001, (alarms, exceeded)
