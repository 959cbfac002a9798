"""Every broken mechanism of the zoo is caught, every correct one spared."""

from __future__ import annotations

import pytest

from pdpaudit.auditing import Config, audit
from tests.zoo.truth import ZOO, true_loss

pytestmark = pytest.mark.usefixtures("without_power")

#: Broken where it claims ε: what it is made with, and the fresh samples a side that suffice.
BROKEN = {
    "TruncatedGeometric": ((0.1,), 150_000),
    "NoisyHist2": ((0.1,), 1_000),
    "ReportNoisyMax3": ((1.0,), 5_000),
    "ReportNoisyMax4": ((1.0,), 5_000),
    "SVT3": ((1.0,), 30_000),
    "SVT4": ((1.0,), 20_000),
    "SVT5": ((1.0,), 1_000),
    "SVT6": ((1.0,), 5_000),
    "SVT34Parallel": ((1.0,), 50_000),
}
CORRECT = {
    "Laplace": (1.0,),
    "TruncatedGeometric": (1.0,),
    "NoisyHist1": (1.0,),
    "NoisyHist2": (1.0,),
    "ReportNoisyMax1": (1.0,),
    "ReportNoisyMax2": (1.0,),
    "SVT1": (1.0,),
    "SVT2": (1.0,),
    "Rappor": (),
    "OneTimeRappor": (),
    "LaplaceParallel": (1.0,),
    "PrefixSum": (0.1,),
    "NumericalSVT": (1.0,),
}


def test_the_whole_zoo_is_judged():
    assert set(BROKEN) | set(CORRECT) == set(ZOO)


@pytest.mark.parametrize("name", BROKEN)
def test_every_broken_mechanism_is_caught(name):
    arguments, samples = BROKEN[name]
    mechanism = ZOO[name](*arguments)
    assert true_loss(mechanism).epsilon > mechanism.claim.epsilon
    plan = Config(seed=1, samples=samples)
    claim = audit(mechanism, [], plan, subject=name).claims[0]
    assert claim.status == "violated", (claim.lower_bound, claim.event.words)


@pytest.mark.parametrize("name", CORRECT)
def test_every_correct_mechanism_is_spared(name, repetitions):
    """Thirteen claims that hold, each at an error of 0.001: one alarm in 77 seeds."""
    mechanism = ZOO[name](*CORRECT[name])
    assert true_loss(mechanism).epsilon <= mechanism.claim.epsilon + 1e-12
    plan = Config(seed=1, samples=repetitions(4_000, 20_000), confidence=0.999)
    claim = audit(mechanism, [], plan, subject=name).claims[0]
    assert claim.status in ("not_rejected", "inconclusive"), claim.lower_bound
