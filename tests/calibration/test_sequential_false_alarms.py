"""Complete audits that stop when they like, of mechanisms that keep their claims exactly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pdpaudit.auditing import Config, audit
from pdpaudit.inference.sequential import look_sizes

from .nulls import NULLS

ALPHA = 0.05

#: Audits of each mechanism: by default, and with --slow 1,000 in all, in stages 2,000.
AUDITS, STAGED = (10, 200), (4, 400)


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
        told = [claim.inference.to_json()[key] for key in ("advantage", "tpr_at_low_fpr")]
        exceeded += any(one["at_least"] > one["allowed"] for one in told)
    for count in (alarms, exceeded):
        assert stats.binom.sf(count - 1, audits, ALPHA) > 0.001, (alarms, exceeded)


@pytest.mark.usefixtures("without_power")
@pytest.mark.parametrize("name", NULLS)
def test_stages_accuse_no_more_often_whenever_they_end(name, repetitions):
    """Complete audits by the default plan, made never to stop for its power: all stages are there.

    Alarms up to each stage are tested against a binomial law with the promised 0.05, which an
    auditor that uses its budget up by that stage would fail with probability 0.001.
    """
    mechanism, audits = NULLS[name](), repetitions(*STAGED)
    stages = np.zeros(len(look_sizes(Config(0, budget="quick").size)), dtype=int)
    for seed in range(audits):
        claim = audit(mechanism, [], Config(seed, budget="quick"), subject=name).claims[0]
        assert claim.method == "sequential"
        if claim.status == "violated":
            stages[len(claim.witness.looks) - 1] += 1
    alarms = np.cumsum(stages)
    assert (stats.binom.sf(alarms - 1, audits, ALPHA) > 0.001).all(), stages
