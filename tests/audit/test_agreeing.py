"""What is told exactly rests on the law, so the law is held against the runs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pdpaudit.audit import Plan, agreeing, audit
from pdpaudit.audit.agreeing import disagreement
from pdpaudit.audit.arms import Arm
from pdpaudit.audit.plan import Silent
from pdpaudit.audit.telling import Run
from pdpaudit.contracts import Law, PrivacyClaim
from pdpaudit.sampling import Misbehaviour

FAIR = Law({0: 0.5, 1: 0.5})
ARM = Arm("pair 1", lambda: (0, 1), number=1)


class Coin:
    """Shows 1 with a chance for each input, and says that its laws are what is given."""

    claim = PrivacyClaim(3.0, source="test")

    def __init__(self, chances: tuple[float, float], *laws: Law) -> None:
        self.chances, self.laws, self.runs = chances, laws, 0

    def pairs(self) -> list[tuple[int, int]]:
        return [(0, 1)]

    def run(self, instance: int, rng: np.random.Generator) -> Any:
        self.runs += 1
        return int(rng.random() < self.chances[instance])

    def law(self, instance: int) -> Law:
        return self.laws[instance]


class Batched(Coin):
    """The same, many at once."""

    def sample(self, instance: int, size: int, rng: np.random.Generator) -> Any:
        self.runs += size
        return (rng.random(size) < self.chances[instance]).astype(int)


def told(mechanism: Coin, seed: int = 1) -> str:
    run = Run(mechanism, "coin", {}, Plan(seed), Silent())
    return disagreement(run, ARM, (mechanism.laws[0], mechanism.laws[1]))


@pytest.mark.parametrize("kind", [Coin, Batched])
def test_a_law_that_is_right_is_believed(kind: type[Coin]) -> None:
    # By its promise this fails for one seed in a billion.
    for seed in range(200):
        assert told(kind((0.5, 0.1), FAIR, Law({0: 0.9, 1: 0.1})), seed) == ""


@pytest.mark.parametrize(("kind", "runs"), [(Coin, 100), (Batched, 1000)])
def test_a_law_that_is_not_that_of_the_runs_is_named(kind: type[Coin], runs: int) -> None:
    mechanism = kind((0.5, 0.9), FAIR, Law({1: 0.1, 0: 0.9}))
    result = audit(mechanism, [], Plan(seed=3), subject="coin")
    (claim,) = result.claims
    assert claim.status == "error"
    start = "pair 1, on the right: its law and its runs disagree: 0 has probability 0.9 by the law"
    assert claim.method.startswith(start)
    assert f"of {runs} runs; --samples does without its law" in claim.method
    # With samples the law is of no account.
    assert audit(mechanism, [], Plan(3, samples=400), subject="coin").claims[0].status != "error"


def test_outputs_that_the_law_does_not_know_are_named() -> None:
    said = told(Coin((0.5, 0.5), FAIR, Law({0: 1.0})))
    assert said.startswith("on the right: its law and its runs disagree: ")
    assert said.endswith(" of 100 runs gave what the law leaves out, such as 1")
    assert told(Coin((0.5, 0.5), FAIR, Law({0: 0.5}, missing=0.5))) == ""
    assert "0 has probability 0.5" in told(Coin((0.5, 0.0), FAIR, FAIR))


def test_an_output_of_no_probability_never_comes_up() -> None:
    law = Law({0: 0.999, 1: 0.001, 2: 0.0})
    said = agreeing._contradiction(law, {0: 99, 2: 1}, 100)
    assert said == "2 has probability 0 by the law, and came up in 1 of 100 runs"
    assert agreeing._contradiction(law, {0: 99, 1: 1}, 100) == ""


def test_what_a_law_may_be_off_by_is_granted() -> None:
    off = {1: 0.05, 0: 0.95}
    assert told(Batched((0.1, 0.1), Law(off), Law(off)))
    assert told(Batched((0.1, 0.1), Law(off, error=1.0), Law(off, error=1.0))) == ""


def test_only_so_many_outputs_are_compared_and_the_likely_ones_are() -> None:
    many = dict.fromkeys(range(1000), 0.5 / 1000)
    law = Law({**many, "often": 0.5})

    class Uniform(Batched):
        def sample(self, instance: int, size: int, rng: np.random.Generator) -> Any:
            return rng.integers(1000, size=size)

    assert "'often' has probability 0.5 by the law, and came up in 0 of" in told(
        Uniform((0, 0), law, law)
    )


def test_real_values_are_not_compared() -> None:
    class Real(Coin):
        def run(self, instance: int, rng: np.random.Generator) -> Any:
            return float(rng.random())

    assert told(Real((0, 0), FAIR, FAIR)) == ""


def test_slow_runs_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreeing, "SECONDS", 0.05)

    class Slow(Coin):
        def run(self, instance: int, rng: np.random.Generator) -> Any:
            time.sleep(0.01)
            return super().run(instance, rng)

    slow = Slow((0.5, 0.5), FAIR, FAIR)
    assert told(slow) == ""
    assert slow.runs == 2 * agreeing.PIECE


def test_runs_that_cannot_be_had_are_an_error() -> None:
    class Sets(Coin):
        def run(self, instance: int, rng: np.random.Generator) -> Any:
            return {1}

    with pytest.raises(Misbehaviour, match="cannot be hashed"):
        told(Sets((0, 0), FAIR, FAIR))
    claim = audit(Sets((0, 0), FAIR, FAIR), [], Plan(seed=1), subject="sets").claims[0]
    assert claim.status == "error"


def test_the_level_is_kept_by_the_union_of_all_counts() -> None:
    """Of a fair coin the first count that is too far off, on either side, is as rare as said."""
    runs = agreeing.AT_ONCE
    law, level = FAIR, agreeing.FALSE_ALARM / (4 * (2 * agreeing.COMPARED + 1))
    refused = [
        k for k in range(runs + 1) if agreeing._contradiction(law, {0: runs - k, 1: k}, runs)
    ]
    chance = float(stats.binom.pmf(refused, runs, 0.5).sum())
    assert level / 4 < chance < 2 * 2 * level
