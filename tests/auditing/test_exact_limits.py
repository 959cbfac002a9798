"""The search by exact laws keeps to the pairs and the time it is given."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from pdpaudit.algorithms.statistics import CN
from pdpaudit.attacks.benchmark_networks import planted_network
from pdpaudit.auditing import Plan, audit, hunting
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
    result = audit(slow, [planted_network(5, 24)], Plan(1, time_limit=0.2), subject="slow")
    took = time.monotonic() - began
    (remark,) = result.context["remarks"]
    assert "time limit of 0.2 s" in remark
    assert "pairs untried" in remark or "while climbing" in remark
    pairs = result.context["tried"]["pairs"]
    assert 1 <= pairs <= slow.laws / 2
    # at most ten laws fit; a pair and its curves on top
    assert slow.laws <= 16
    assert took < 10  # climbing alone would sleep for longer
    assert result.claims[0].exact is not None


def test_one_pair_is_tried_however_short_the_time():
    slow = Slow(0.01)
    result = audit(slow, [planted_network(3, 10)], Plan(1, time_limit=1e-9), subject="slow")
    assert result.context["tried"]["pairs"] == 1


@pytest.mark.parametrize("tries", [1, 3])
def test_no_more_pairs_are_tried_than_asked_for(tries, monkeypatch):
    monkeypatch.setattr(hunting, "MOVES", 0)
    result = audit(Slow(0.0), [planted_network(3, 10)], Plan(1, tries=tries), subject="slow")
    assert result.context["tried"]["pairs"] == tries
    assert "remarks" not in result.context


def test_without_a_time_limit_the_search_ends_after_so_much_work(monkeypatch):
    monkeypatch.setattr(hunting, "MOST_WORK", 35.0)
    results = [
        audit(Slow(0.0, 10.0), [planted_network(5, 24)], Plan(1, tries=1), subject="dear")
        for _ in range(2)
    ]
    (remark,) = results[0].context["remarks"]
    assert "after laws of about 40 s, while climbing" in remark
    assert "--time-limit" in remark
    assert results[0].context["tried"]["pairs"] == 2
    assert results[0].claims == results[1].claims


def test_laws_too_dear_for_all_pairs_give_way_to_sampling_unless_given_time(monkeypatch):
    monkeypatch.setattr(hunting, "MOST_WORK", 79.0)
    networks = [planted_network(3, 10)]
    sampled = audit(Slow(0.0, 10.0), networks, Plan(1, tries=4), subject="dear")
    (remark,) = sampled.context["remarks"]
    assert "the exact laws of 4 pairs would take about 80 s, so it was sampled" in remark
    assert sampled.claims[0].exact is None
    given = audit(Slow(0.0, 10.0), networks, Plan(1, tries=4, time_limit=60.0), subject="dear")
    assert given.claims[0].exact is not None


@pytest.fixture
def still(monkeypatch) -> None:
    """No climbing: the pairs of the families will do."""
    monkeypatch.setattr(hunting, "MOVES", 0)


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


def worst_of_all(networks) -> float:
    return audit(Slow(0.0), networks, Plan(1), subject="all").claims[0].exact


NETWORKS = [planted_network(5, 24), planted_network(3, 10)]


@pytest.mark.usefixtures("still")
def test_dear_laws_are_computed_where_the_beginning_loses_most(monkeypatch):
    monkeypatch.setattr(hunting, "SHORTLISTED", 5)
    scout = Slow(0.0)
    whole = Begun(0.0, 50.0, shorter=scout)
    monkeypatch.setattr(hunting, "FEW_WORK", 1_000.0)
    result = audit(whole, NETWORKS, Plan(1), subject="dear")
    # A first pair, by which laws are found too dear, and five more; none is computed again.
    assert whole.laws == 2 + 2 * 5
    assert scout.laws > 20
    assert result.context["tried"]["pairs"] == 6
    assert result.claims[0].exact == pytest.approx(worst_of_all(NETWORKS), rel=1e-12)
    (remark,) = result.context["remarks"]
    assert f"{scout.laws // 2} pairs were compared by the law of how the output begins" in remark
    assert "and of those that lose most 5 by the law of all" in remark


@pytest.mark.usefixtures("still")
def test_promising_pairs_are_of_every_family_and_network(monkeypatch):
    monkeypatch.setattr(hunting, "SHORTLISTED", 1_000)
    result = audit(Begun(0.0, 1e-9, shorter=Slow(0.0)), NETWORKS, Plan(1), subject="cheap")
    assert "remarks" not in result.context
    labels = result.context["tried"]["by"].keys()
    monkeypatch.setattr(hunting, "MOST_WORK", 1e-9)
    result = audit(Begun(0.0, 1e-9, shorter=Slow(0.0)), NETWORKS, Plan(1), subject="dear")
    assert result.context["tried"]["by"].keys() == labels


@pytest.mark.usefixtures("still")
def test_promising_pairs_keep_to_their_share_of_the_work(monkeypatch):
    monkeypatch.setattr(hunting, "FEW_WORK", 35.0)
    monkeypatch.setattr(hunting, "MOST_WORK", 100.0)
    whole = Begun(0.0, 10.0, shorter=Slow(0.0))
    result = audit(whole, NETWORKS, Plan(1), subject="dear")
    # Two laws for the first pair; four more until 35 s are over.
    assert result.context["tried"]["pairs"] == 3


@pytest.mark.usefixtures("still")
def test_a_time_limit_is_all_that_ends_the_promising_ones(monkeypatch):
    monkeypatch.setattr(hunting, "SHORTLISTED", 1)
    monkeypatch.setattr(hunting, "FEW_WORK", 1.0)
    whole = Begun(0.0, 10.0, shorter=Slow(0.0), refuses=lambda law: law == 0)
    result = audit(whole, NETWORKS, Plan(1, time_limit=600.0), subject="patient")
    whole = Begun(0.0, 10.0, shorter=Slow(0.0), refuses=lambda law: law == 0)
    hasty = audit(whole, NETWORKS, Plan(1), subject="hasty")
    assert hasty.context["tried"]["pairs"] == 1
    assert len(result.context["tried"]["by"]) == result.context["tried"]["pairs"] > 1


@pytest.mark.usefixtures("still")
def test_too_little_time_for_all_pairs_goes_to_the_promising_ones():
    whole = Begun(0.1, shorter=Slow(0.0))
    result = audit(whole, NETWORKS, Plan(1, time_limit=1.0), subject="slow")
    (remark,) = result.context["remarks"]
    assert "compared by the law of how the output begins" in remark
    assert result.claims[0].exact is not None


@pytest.mark.usefixtures("still")
def test_a_law_that_is_refused_is_no_reason_to_sample_if_the_beginning_has_one():
    whole = Begun(0.0, shorter=Slow(0.0), refuses=lambda law: law == 4)
    result = audit(whole, NETWORKS, Plan(1), subject="some")
    assert result.claims[0].exact == pytest.approx(worst_of_all(NETWORKS), rel=1e-12)


@pytest.mark.usefixtures("still")
def test_where_no_promising_pair_has_a_law_it_is_sampled():
    whole = Begun(0.0, shorter=Slow(0.0), refuses=lambda law: law > 3)
    result = audit(whole, NETWORKS, Plan(1, tries=6), subject="none")
    assert result.claims[0].exact is None
    (remark,) = result.context["remarks"]
    assert "no exact law within reach: it was sampled" in remark
    # Two pairs, half of one that was refused, and two promising ones.
    assert whole.laws == 4 + 1 + hunting.REFUSED


@pytest.mark.usefixtures("still")
def test_a_mechanism_that_says_it_has_no_beginning_is_as_one_that_does_not_say(monkeypatch):
    monkeypatch.setattr(hunting, "MOST_WORK", 1.0)
    result = audit(Begun(0.0, 10.0, shorter=None), NETWORKS, Plan(1, tries=4), subject="short")
    (remark,) = result.context["remarks"]
    assert "so it was sampled" in remark


@pytest.mark.usefixtures("still")
@pytest.mark.parametrize(
    ("error", "status"), [(0.0, "violated"), (4e-7, "violated"), (6e-7, "inconclusive")]
)
def test_a_claim_is_not_broken_by_what_its_laws_may_be_off_by(error, status):
    class Off(Slow):
        claim = PrivacyClaim(worst_of_all(NETWORKS) - 1e-6, source="nobody")

        def law(self, instance) -> Law:
            return replace(super().law(instance), error=error)

    assert audit(Off(0.0), NETWORKS, Plan(1), subject="off").claims[0].status == status
