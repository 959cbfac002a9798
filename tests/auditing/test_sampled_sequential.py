"""Audits that stop: when, why, and the same whatever the workers and whatever was kept."""

from __future__ import annotations

import math
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from pdpaudit import __version__
from pdpaudit.auditing import Config, audit, confirmation
from pdpaudit.auditing.candidate_pairs import candidate_pairs
from pdpaudit.auditing.claim_results import AuditContext
from pdpaudit.auditing.config import Silent
from pdpaudit.auditing.event_selection import EventSelection, planned_runs
from pdpaudit.auditing.provenance import store_settings
from pdpaudit.auditing.sequential import hurried_looks
from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.core.registry import make_mechanism
from pdpaudit.core.specification import Specification
from pdpaudit.core.subject import Subject
from pdpaudit.replay import Terms, replay_claim
from pdpaudit.results.results import ClaimResult
from pdpaudit.sampling import Store

from .test_audit import BatchedCoin, Coin, LawfulCoin

SEQUENTIAL: dict[str, Any] = {"seed": 5, "samples": 20_000, "method": "sequential"}


@pytest.fixture(autouse=True)
def without_power(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What would have been seen takes most of the time, and is asked for in one test."""
    if "would_have_been_seen" not in request.node.name:
        monkeypatch.setattr(confirmation, "power_of_looks", lambda *_: 0.0)


def _claim(mechanism: Any, **plan: Any) -> ClaimResult:
    return audit(mechanism, [], Config(**{**SEQUENTIAL, **plan}), subject="coin").claims[0]


def test_it_stops_once_a_violation_is_certain_and_says_so() -> None:
    claim = _claim(BatchedCoin(2.0, 1.0))
    assert claim.status == "violated"
    drawn = claim.samples["confirmation"] // 2
    assert drawn == claim.event.to_json()["runs_a_side"] < 1000
    assert (claim.lower_bound or 0) > 1.0
    assert claim.detail == (
        f"Stopped after {drawn:,} of at most 20,000 runs a side: the violation was certain."
    )


def test_it_stops_in_vain_once_the_loss_asked_for_would_have_been_seen() -> None:
    claim = _claim(BatchedCoin(1.0, 1.0), detect=1.5)
    assert claim.status == "not_rejected"
    assert claim.samples["confirmation"] < 2 * 5000
    assert "a loss of 1.5 would have been found by then in 19 of 20 planted leaks" in claim.detail
    assert (claim.detectable_epsilon or 9) <= 1.5


def test_it_draws_everything_where_neither_comes_about() -> None:
    claim = _claim(BatchedCoin(1.0, 1.0), samples=3000, detect=1.01)
    assert claim.status == "not_rejected"
    assert claim.samples["confirmation"] == 6000
    assert "Drew all 3,000 runs a side" in claim.detail
    assert "nor would a loss of 1.01 surely have" in claim.detail


def test_a_loss_within_the_claim_is_nothing_to_wait_for() -> None:
    claim = _claim(BatchedCoin(1.0, 1.0), samples=1000, detect=0.5)
    assert claim.samples["confirmation"] == 2000


def test_it_samples_even_where_there_is_a_law() -> None:
    assert _claim(LawfulCoin(2.0, 1.0), samples=None).exact is None


def test_workers_change_nothing() -> None:
    one, two = (_claim(Coin(1.4, 1.0), samples=2000, jobs=jobs) for jobs in (1, 2))
    assert one == two


def test_a_store_changes_nothing_and_a_smaller_limit_finds_its_looks_in_it(tmp_path: Path) -> None:
    mechanism = Coin(1.0, 1.0)
    settings = store_settings(mechanism, Specification("Coin"), 5)
    plain = _claim(mechanism, samples=1000)
    with Store(tmp_path / "kept.db", settings) as store:
        assert _claim(mechanism, samples=1000, store=store) == plain
        added = store.added
    assert added > 2000
    with Store(tmp_path / "kept.db", settings) as store:
        assert _claim(mechanism, samples=1000, store=store) == plain
        assert store.added == 0


def test_the_witness_replays_and_a_forged_one_does_not() -> None:
    mechanism, spec = make_mechanism("zoo:SVT6", {"epsilon": 1.0})
    plan = Config(**SEQUENTIAL)
    result = audit(mechanism, [], plan, subject="zoo:SVT6", spec=spec)
    body: dict[str, Any] = result.to_json()["claims"][0]
    assert body["status"] == "violated"
    assert replay_claim(body, Terms(5, __version__, _never)).reproduced
    looks = body["witness"]["looks"]
    body["witness"]["looks"] = [*looks[:-1], looks[-1] + 1]
    assert not replay_claim(body, Terms(5, __version__, _never)).reproduced


def _never(*_: Any) -> Any:
    raise AssertionError("there is no network")


def test_the_budget_is_split_over_claims() -> None:
    class Two(BatchedCoin):
        @property
        def claims(self) -> tuple[PrivacyClaim, ...]:
            return (PrivacyClaim(1.0, source="a"), PrivacyClaim(1.2, source="b"))

    result = audit(Two(2.0, 1.0), [], Config(**SEQUENTIAL), subject="c")
    assert [claim.witness.alpha for claim in result.claims if claim.witness] == pytest.approx(
        [0.025] * 2
    )
    assert {claim.status for claim in result.claims} == {"violated"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"method": "magic"}, "sequential"),
        ({"method": "magic"}, "clopper-pearson"),
        ({"method": "exact", "detect": 1.5}, "`sequential`"),
        ({"detect": 0.0}, "detect = 0.0"),
        ({"detect": float("nan")}, "detect = nan"),
    ],
)
def test_what_cannot_be_carried_out_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Config(**{**SEQUENTIAL, **arguments})


def test_an_interrupted_claim_keeps_what_the_finished_looks_say() -> None:
    class Stop:
        confirming = 0

        def say(self, words: str) -> None: ...

        def stage(self, words: str, total: int) -> None:
            self.confirming = int(words.startswith("confirming"))

        def advance(self, done: int) -> None:
            self.confirming += bool(self.confirming)
            if self.confirming > 5:  # both sides of two looks, and one side of the third
                raise KeyboardInterrupt

    plan = Config(**SEQUENTIAL)
    claim = audit(BatchedCoin(1.0, 1.0), [], plan, subject="c", watcher=Stop()).claims[0]
    assert claim.status == "skipped"
    assert "the finished stages show a loss of at least" in claim.method
    assert claim.samples["confirmation"] == 400


def test_a_time_limit_ends_a_single_long_run() -> None:
    class Endless(Coin):
        def run(self, instance: Any, rng: Any) -> Any:
            time.sleep(60)

    began = time.monotonic()
    claim = audit(Endless(1.0, 1.0), [], Config(1, time_limit=0.5), subject="c").claims[0]
    assert time.monotonic() - began < 30
    assert claim.status == "inconclusive"
    assert "time limit" in claim.method


def test_what_is_drawn_twice_leaves_time_for_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a limit 64 runs are drawn to see that they are the same again, whatever they take."""

    class Slow(Coin):
        def run(self, instance: Any, rng: Any) -> Any:
            clock[0] += 1.0
            return super().run(instance, rng)

    clock, runs = [time.monotonic()], {}
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    for limit in (None, 100.0, 650.0, 1e6):
        config = Config(1, time_limit=limit)
        context = AuditContext(Subject.of(Slow(1.0, 1.0)), "c", None, config, Silent())
        selection = EventSelection(context, context.mechanism.claims, 0.05)
        [candidate] = candidate_pairs(context.mechanism, [], 1)
        selection.check_repeatable(candidate, 1)
        runs[limit] = selection.runs.spent
    # One run is timed and made again; of 650 s the first time may take 13, and 4 runs are drawn in
    # any case.
    assert runs == {None: 2 + 64, 100.0: 2 + 8, 650.0: 2 + 28, 1e6: 2 + 64}


@pytest.mark.parametrize(("often", "limit"), [(1.0, 120.0), (0.5, 200.0)])
def test_what_takes_long_on_some_inputs_is_caught_in_few_runs(
    often: float, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of four inputs take a second a run, and show that they are of these two.

    All six pairs in 32 runs a side, and 100 to confirm, would take more than is given.
    """

    class Slow(Coin):
        def run(self, instance: Any, rng: Any) -> Any:
            if instance < 2 and rng.random() < often:
                clock[0] += 1.0
                return 99.0
            return float(rng.laplace())

        def pairs(self) -> Any:
            return list(combinations(range(4), 2))

    began = time.monotonic()
    clock = [began]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    plan = Config(1, time_limit=limit, budget="quick")
    claim = audit(Slow(1.0, 1.0), [], plan, subject="slow").claims[0]
    assert claim.status == "violated"
    assert clock[0] - began <= limit


def test_without_time_for_the_first_look_there_are_some_in_the_time_that_is_left() -> None:
    plan, claim = Config(1), PrivacyClaim(1.0)
    hurried = hurried_looks(plan, claim, 50.0, 1.0)
    assert hurried is not None
    assert (hurried.sizes, hurried.late) == ([10, 20, 30, 40], True)
    assert hurried_looks(plan, claim, 125.0, 1.0) is None  # 100 fit
    assert hurried_looks(plan, claim, math.inf, 1.0) is None
    assert hurried_looks(plan, claim, 1.0, 1.0) is None  # nothing does
    assert hurried_looks(plan, claim, 50.0, 0.0) is None


def test_a_time_limit_ends_stages_with_what_they_show() -> None:
    class Slow(Coin):
        def run(self, instance: Any, rng: Any) -> Any:
            time.sleep(0.001)
            return super().run(instance, rng)

    claim = audit(Slow(1.0, 1.0), [], Config(1, time_limit=10, detect=1.001), subject="c").claims[0]
    # On a busy machine the limit may end it before the first stage of confirmation.
    assert claim.status == "inconclusive"
    assert "the time limit" in (claim.detail or claim.method)


def test_without_a_number_of_samples_it_is_staged() -> None:
    """A gross leak takes hundreds of runs, and no leak as many as its detection."""
    leaky, sound = (
        audit(Coin(truth, 1.0), [], Config(3), subject="coin").claims[0] for truth in (4.0, 1.0)
    )
    assert (leaky.status, leaky.method) == ("violated", "sequential")
    assert sum(leaky.samples.values()) < 3_000
    assert (sound.status, sound.detectable_epsilon) == ("not_rejected", 1.7)
    planned = planned_runs(Config(3), pairs=1, claims=1)
    assert planned / 2 < sum(sound.samples.values()) < 2 * planned


@pytest.mark.parametrize(("budget", "loss"), [("quick", 2.5), ("default", 1.7)])
def test_named_budgets_stop_at_their_loss(budget: str, loss: float) -> None:
    claim = audit(BatchedCoin(1.0, 1.0), [], Config(2, budget=budget), subject="coin").claims[0]
    assert claim.witness is not None
    assert claim.witness.detect == pytest.approx(loss)


def test_the_first_run_of_an_expensive_mechanism_is_timed_and_said() -> None:
    class Slow(Coin):
        def run(self, instance: Any, rng: Any) -> Any:
            time.sleep(0.25)
            return super().run(instance, rng)

    said: list[str] = []

    class Listening(Silent):
        def say(self, words: str) -> None:
            said.append(words)

    audit(Slow(1.0, 1.0), [], Config(1, time_limit=2), subject="c", watcher=Listening())
    [words] = said
    # At least as long as it sleeps, two digits of it; on a busy machine longer.
    assert float(words.removeprefix("one run takes ").split()[0]) >= 0.25
    assert f"needs about {planned_runs(Config(1), pairs=1, claims=1):,} of them" in words
