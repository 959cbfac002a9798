"""The search by exact laws keeps to the pairs and the time it is given."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache

import pytest

from pdpaudit.algorithms.statistics import CN
from pdpaudit.attacks.pair_families import planted_network
from pdpaudit.auditing import Config, audit, event_selection, exact_search
from pdpaudit.auditing.law_test import comparison
from pdpaudit.core.protocols import Law, LawUnavailable, PrivacyClaim
from pdpaudit.core.registry import resolve


class Slow:
    """A search whose every law takes a while; counts them."""

    claim = PrivacyClaim(1.0, source="nobody")

    def __init__(self, seconds: float, work: float = 0.0) -> None:
        self.seconds, self.work, self.laws = seconds, work, 0
        self.inner = resolve("mechanisms", "PTarget:main-text")(sop=CN())

    def run(self, instance, rng):
        return self.inner.run(instance, rng)

    def sample(self, instance, size, rng):
        return self.inner.sample(instance, size, rng)

    def law(self, instance) -> Law:
        self.laws += 1
        time.sleep(self.seconds)
        return replace(self.inner.law(instance), work=self.work)


def test_the_time_limit_ends_the_search_with_what_it_has():
    slow = Slow(0.02)
    began = time.monotonic()
    result = audit(slow, [planted_network(5, 24)], Config(1, time_limit=0.2), subject="slow")
    took = time.monotonic() - began
    remark, *_ = result.remarks
    assert "time limit of 0.2 s" in remark
    assert "pairs untried" in remark or "while climbing" in remark
    pairs = result.tried.pairs
    assert 1 <= pairs <= slow.laws / 2
    # at most ten laws fit; a pair and its curves on top
    assert slow.laws <= 16
    assert took < 60  # climbing alone would sleep for longer
    assert result.claims[0].status in ("not_rejected", "inconclusive")


@pytest.mark.parametrize("limit", [1e-9, 0.2])
def test_what_the_time_limit_ends_is_not_done_and_no_error(limit):
    class Hanging(Slow):
        claim = PrivacyClaim(1.0, source="nobody")
        claims = (claim, PrivacyClaim(2.0, source="nobody"))

    slow = Hanging(5.0)
    began = time.monotonic()
    result = audit(slow, [planted_network(3, 10)], Config(1, time_limit=limit), subject="slow")
    assert time.monotonic() - began < 4.0  # one law would take longer
    assert result.tried.pairs == 0
    assert [claim.status for claim in result.claims] == ["inconclusive"] * 2
    assert all("time limit" in claim.method for claim in result.claims)


def test_few_runs_are_compared_where_there_is_no_time_for_many():
    class SlowRuns(Slow):
        def sample(self, instance, size, rng):
            time.sleep(0.0 if size < 200 else 5.0)
            return super().sample(instance, size, rng)

    limit = Config(1, time_limit=20.0, tries=1)
    result = audit(SlowRuns(0.0), [planted_network(3, 10)], limit, subject="slow")
    assert result.claims[0].exact is not None
    compared = result.law_compared
    assert sum(compared.which.values()) == 1
    assert replace(compared, which=None) == comparison(1, 100)
    assert "the time limit left time to compare laws with few runs only" in (result.remarks)


@pytest.mark.parametrize("tries", [1, 3])
def test_no_more_pairs_are_tried_than_asked_for(tries, monkeypatch):
    monkeypatch.setattr(exact_search, "MOVES", 0)
    result = audit(Slow(0.0), [planted_network(3, 10)], Config(1, tries=tries), subject="slow")
    assert result.tried.pairs == tries
    assert not result.remarks


def test_without_a_time_limit_the_search_ends_after_so_much_work(monkeypatch):
    monkeypatch.setattr(exact_search, "MOST_WORK", 35.0)
    results = [
        audit(Slow(0.0, 10.0), [planted_network(5, 24)], Config(1, tries=1), subject="expensive")
        for _ in range(2)
    ]
    (remark,) = results[0].remarks
    assert "after laws of about 40 s, while climbing" in remark
    assert "`time_limit`" in remark
    assert results[0].tried.pairs == 2
    assert results[0].claims == results[1].claims


@pytest.mark.usefixtures("few_moves")
def test_laws_too_expensive_for_all_pairs_give_way_to_sampling_unless_given_time(monkeypatch):
    monkeypatch.setattr(exact_search, "MOST_WORK", 79.0)
    networks = [planted_network(3, 10)]
    few = Config(1, tries=4, default_samples=600)
    sampled = audit(Slow(0.0, 10.0), networks, few, subject="expensive")
    (remark,) = sampled.remarks
    assert "the exact laws of 4 pairs would take about 80 s, so it was sampled" in remark
    assert sampled.claims[0].exact is None
    patient = Config(1, tries=4, time_limit=60.0)
    given = audit(Slow(0.0, 10.0), networks, patient, subject="expensive")
    assert given.claims[0].exact is not None


@pytest.fixture
def still(monkeypatch) -> None:
    """No climbing: the pairs of the families will do."""
    monkeypatch.setattr(exact_search, "MOVES", 0)
    monkeypatch.setattr(event_selection, "MOVES", 1)


class Begun(Slow):
    """The same, as the second half of a search that is quick to compute."""

    def __init__(self, *arguments: float, shorter: Slow | None, refuses=lambda law: False) -> None:
        super().__init__(*arguments)
        self.shorter, self.refuses = shorter, refuses

    def beginning(self):
        return self.shorter

    def law(self, instance) -> Law:
        if self.refuses(self.laws):
            self.laws += 1
            raise LawUnavailable("too long")
        return super().law(instance)


@cache
def worst_of_all() -> float:
    return audit(Slow(0.0), NETWORKS, Config(1), subject="all").claims[0].exact


NETWORKS = [planted_network(5, 24), planted_network(3, 10)]


@pytest.mark.usefixtures("still")
def test_what_the_law_of_the_beginning_breaks_is_broken():
    whole = Begun(0.0, shorter=Slow(0.0), refuses=lambda law: True)
    whole.claim = PrivacyClaim(0.9 * worst_of_all(), source="nobody")
    result = audit(whole, NETWORKS, Config(1), subject="begun")
    (claim,) = result.claims
    assert claim.status == "violated"
    assert claim.exact == pytest.approx(worst_of_all(), rel=1e-12)
    (remark,) = result.remarks
    assert "all of the output loses no less" in remark
    assert result.error_budget.startswith("exact")


@pytest.mark.usefixtures("still", "without_power")
def test_what_the_law_of_the_beginning_does_not_break_is_sampled():
    whole = Begun(0.0, shorter=Slow(0.0), refuses=lambda law: True)
    whole.claim = PrivacyClaim(1.1 * worst_of_all(), source="nobody")
    few = Config(1, default_samples=100)
    result = audit(whole, NETWORKS, few, subject="begun")
    assert result.claims[0].exact is None
    (remark,) = result.remarks
    assert "no claim is broken" in remark


@pytest.mark.usefixtures("still", "without_power")
def test_each_claim_is_judged_by_what_breaks_it():
    class Both(Begun):
        @property
        def claims(self):
            worst = worst_of_all()
            return tuple(PrivacyClaim(share * worst, source="nobody") for share in (0.9, 1.1))

    whole = Both(0.0, shorter=Slow(0.0), refuses=lambda law: True)
    few = Config(1, default_samples=100)
    result = audit(whole, NETWORKS, few, subject="both")
    assert [claim.exact is None for claim in result.claims] == [False, True]
    assert result.claims[0].status == "violated"
    assert "and what that law does not break was sampled" in result.remarks[0]


@pytest.mark.usefixtures("still")
def test_a_mechanism_that_says_it_has_no_beginning_is_as_one_that_does_not_say(monkeypatch):
    monkeypatch.setattr(exact_search, "MOST_WORK", 1.0)
    few = Config(1, tries=4, default_samples=600)
    result = audit(Begun(0.0, 10.0, shorter=None), NETWORKS, few, subject="short")
    (remark,) = result.remarks
    assert "so it was sampled" in remark


@pytest.mark.usefixtures("still")
@pytest.mark.parametrize(
    ("error", "status"), [(0.0, "violated"), (4e-7, "violated"), (6e-7, "inconclusive")]
)
def test_a_claim_is_not_broken_by_what_its_laws_may_be_off_by(error, status):
    class Off(Slow):
        claim = PrivacyClaim(worst_of_all() - 1e-6, source="nobody")

        def law(self, instance) -> Law:
            return replace(super().law(instance), error=error)

    assert audit(Off(0.0), NETWORKS, Config(1), subject="off").claims[0].status == status
