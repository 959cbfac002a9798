"""What a search lets out beside its list, and what each of it costs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from pdpaudit.algorithms.searches.baselines import SFS
from pdpaudit.algorithms.searches.search_com import PTarget
from pdpaudit.algorithms.statistics import CN
from pdpaudit.attacks.pair_families import planted_network
from pdpaudit.auditing import Config, audit, pipeline
from pdpaudit.auditing.pipeline import audit_released
from pdpaudit.auditing.provenance import store_settings
from pdpaudit.auditing.sequential import FreshRuns
from pdpaudit.auditing.side_channels import OBSERVABLES, Observed
from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import LawUnavailable, PrivacyClaim
from pdpaudit.core.specification import Specification
from pdpaudit.inference import Betting
from pdpaudit.outputs import Column, Range, Side
from pdpaudit.sampling import Store


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, without_power: None, few_moves: None) -> None:
    """Few runs and moves, and no word on what would have been seen."""
    monkeypatch.setattr(pipeline, "SAMPLES", 400)


@pytest.mark.usefixtures("quick")
def test_the_list_of_a_private_search_costs_nothing_and_everything_else_does() -> None:
    """Exact but for the time; that one is left to the machine here, see below."""
    networks = [planted_network(3, 6)]
    result = audit_released(SFS(), networks, Config(seed=1, samples=None, tries=20), subject="SFS")
    rows = {row["observable"]: row for row in result.context["released"]}
    assert set(rows) == {"list", *OBSERVABLES}
    assert rows["list"]["measured"] == "0.000 (exact, on the pairs tried)"
    for what in ("queries", "examined"):
        assert rows[what]["verdict"] == "violated"
        assert rows[what]["measured"] == "∞ (exact: it happens on one side only)"
    losses = {claim.id: claim.exact for claim in result.claims}
    assert losses["SFS list #1"] == 0.0
    assert losses["SFS queries #1"] == math.inf
    assert losses["SFS time #1"] is None
    assert "1% each" in result.error_budget
    assert any(words.startswith("time: ") for words in result.remarks)
    assert result.context["options"]["observe"] == "all"


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_random_search_is_sampled_and_its_loss_is_what_the_draws_support() -> None:
    networks = [planted_network(3, 6)]
    plan = Config(seed=1, samples=400, tries=2, confidence=0.999)
    result = audit_released(PTarget(sop=CN()), networks, plan, subject="PTarget")
    rows = {row["observable"]: row for row in result.context["released"] if not row["claimed δ"]}
    assert rows["examined"]["verdict"] == "violated"
    assert rows["examined"]["measured"].startswith("at least ")
    for claim in result.claims:
        assert claim.exact is None
        assert 0 <= (claim.lower_bound or 0) < math.inf


def test_a_search_that_draws_nothing_has_a_law_in_everything_it_does() -> None:
    instance = planted_network(3, 6).instance()
    assert Observed(SFS(), "queries").law(instance).probabilities == {0: 1.0}
    for mechanism, what in ((PTarget(sop=CN()), "queries"), (SFS(), "time")):
        with pytest.raises(LawUnavailable):
            Observed(mechanism, what).law(instance)


def test_a_search_that_takes_randomness_elsewhere_has_none() -> None:
    calls = itertools.count()

    class Counts(SFS):
        def run(self, instance: Any, rng: np.random.Generator) -> tuple[int, ...]:
            for vertex in range(next(calls) % 3):
                instance.oracle(vertex)
            return ()

    with pytest.raises(LawUnavailable):
        Observed(Counts(), "queries").law(planted_network(3, 6).instance())


@pytest.mark.parametrize(
    ("what", "words"),
    [("queries", "the number of people examined"), ("examined", " examined"), ("truncated", "")],
)
def test_events_are_told_in_the_words_of_what_is_seen(what: str, words: str) -> None:
    network = planted_network(3, 6)
    plan = Config(seed=1, samples=200, tries=4)
    claim = audit(Observed(SFS(), what), [network], plan, subject="SFS").claims[0]
    assert words in claim.event.words
    if what == "queries":
        assert claim.event.words.split()[-1] not in map(network.name, range(network.n))
    if what != "truncated":
        assert "found" not in claim.event.words


@pytest.mark.slow
def test_statistic_first_search_leaks_through_the_time_it_takes() -> None:
    """A protected person who knows the seed is examined; one who knows nobody is not.

    The lightest searches differ most: examining one person, or nobody at all. Event chosen on
    other runs; 2,000 pairs of runs in turn, at an error of 0.001 whatever else the machine does. On
    a machine so busy that one examination more is lost in its noise, nothing would be shown: two
    microseconds against three and a half, where this was measured.
    """
    plan = Config(seed=1, samples=2000, tries=6, confidence=0.999)
    networks = [planted_network(2, 2)]
    claim = audit(Observed(SFS(), "time"), networks, plan, subject="SFS").claims[0]
    assert claim.status == "violated"
    assert "the seconds a run took" in claim.event.words
    assert (claim.method, claim.witness) == ("betting, in pairs", None)
    assert "nothing here can be replayed" in claim.detail


@dataclass
class Moody:
    """Whatever the input, 300 quick runs and then 300 slow ones, as a machine has its moods."""

    claim: PrivacyClaim = field(default=PrivacyClaim(0.0, source="it ignores its input"))
    repeatable: bool = False
    calls: Iterator[int] = field(default_factory=itertools.count)

    def pairs(self) -> list[tuple[int, int]]:
        return [(0, 1)]

    def run(self, instance: int, rng: np.random.Generator) -> Hashable:
        return next(self.calls) // 300 % 2 + 0.1 * float(rng.normal())


def test_the_moods_of_a_machine_are_no_leak() -> None:
    """One side after the other, they would be taken for one; in turn, nothing is shown.

    A bound above 0 comes with probability 0.05 at most; the seed is pinned.
    """
    slow = Range("right", Column("number"), 0.5, math.inf)
    inputs: dict[Side, Any] = {"left": 0, "right": 1}
    after = FreshRuns(Moody(), inputs, slow, "right", 1, Config(1))
    after.draw(300)
    assert (after.counted["left"].inside, after.counted["right"].inside) == (0, 300)
    turns = FreshRuns(Moody(), inputs, slow, "right", 1, Config(1))
    state = turns.draw_in_pairs(Betting(0.05), 1500)
    assert turns.counted["left"].inside + turns.counted["right"].inside == 1500
    assert state.pairs == 1500
    assert state.bound == 0.0


def test_what_differs_from_run_to_run_cannot_be_kept(tmp_path: Any) -> None:
    settings = store_settings(Moody(), Specification("moody"), 1)
    with (
        Store(tmp_path / "kept.db", settings) as store,
        pytest.raises(InputError, match="leave it out"),
    ):
        audit(Moody(), [], Config(seed=1, samples=300, store=store), subject="moody")
