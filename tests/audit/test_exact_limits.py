"""The search by exact laws keeps to the pairs and the time it is given."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from pdpaudit.algorithms.statistics import CN
from pdpaudit.attacks.grounds import planted_network
from pdpaudit.audit import Plan, audit, exact
from pdpaudit.contracts import Law, PrivacyClaim
from pdpaudit.registry import resolve


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
    monkeypatch.setattr(exact, "MOVES", 0)
    result = audit(Slow(0.0), [planted_network(3, 10)], Plan(1, tries=tries), subject="slow")
    assert result.context["tried"]["pairs"] == tries
    assert "remarks" not in result.context


def test_without_a_time_limit_the_search_ends_after_so_much_work(monkeypatch):
    monkeypatch.setattr(exact, "MOST_WORK", 35.0)
    monkeypatch.setattr(exact, "TOO_DEAR", 1e9)
    results = [
        audit(Slow(0.0, 10.0), [planted_network(5, 24)], Plan(1), subject="dear") for _ in range(2)
    ]
    (remark,) = results[0].context["remarks"]
    assert "after laws of about 40 s" in remark
    assert "pairs untried" in remark
    assert "--time-limit" in remark
    assert results[0].context["tried"]["pairs"] == 2
    assert results[0].claims == results[1].claims


def test_laws_too_dear_for_all_pairs_give_way_to_sampling_unless_given_time(monkeypatch):
    monkeypatch.setattr(exact, "MOST_WORK", 1.0)
    networks = [planted_network(3, 10)]
    sampled = audit(Slow(0.0, 10.0), networks, Plan(1, tries=4), subject="dear")
    (remark,) = sampled.context["remarks"]
    assert "the exact laws of 4 pairs would take about 80 s, so it was sampled" in remark
    assert sampled.claims[0].exact is None
    given = audit(Slow(0.0, 10.0), networks, Plan(1, tries=4, time_limit=60.0), subject="dear")
    assert given.claims[0].exact is not None
