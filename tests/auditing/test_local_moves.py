"""Pairs near those of a domain: what leaks on a particular data set only is found by moving."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit import PrivacyClaim, audit
from pdpaudit.auditing import Config, event_selection
from pdpaudit.auditing import audit as run
from pdpaudit.auditing.candidate_pairs import candidate_pairs
from pdpaudit.core.protocols import Law
from pdpaudit.core.specification import Specification
from pdpaudit.core.subject import Subject
from pdpaudit.core.variants import related
from pdpaudit.relations import Bounded, OneOf, Records
from pdpaudit.replay import Terms, replay_claim
from pdpaudit.sampling.store import decode, encode

pytestmark = pytest.mark.usefixtures("without_power")


class ExactlyThree:
    """A sum of clipped values that forgets to clip where exactly three are above the bound."""

    claim = PrivacyClaim(1.0)
    domain = Records(Bounded(0, 100), sizes=(0, 8))

    def total(self, rows):
        many = sum(row > 50 for row in rows)
        return sum(rows) if many == 3 else sum(min(row, 50) for row in rows)

    def sample(self, rows, size, rng):
        return self.total(rows) + rng.laplace(scale=50, size=size)

    def run(self, rows, rng):
        return float(self.sample(rows, 1, rng)[0])


class Between:
    """A number that counts for much where it is between 60 and 70."""

    claim = PrivacyClaim(1.0)
    domain = Bounded(0, 100)

    def law(self, number):
        chance = 0.9 if 60 < number < 70 else 0.5
        return Law({True: chance, False: 1 - chance})

    def sample(self, number, size, rng):
        return rng.random(size) < (0.9 if 60 < number < 70 else 0.5)

    def run(self, number, rng):
        return bool(self.sample(number, 1, rng)[0])


class Sampled(Between):
    law = None


@pytest.mark.parametrize(
    ("mechanism", "relation"),
    [
        (ExactlyThree, "add-remove"),
        pytest.param(ExactlyThree, "replace", marks=pytest.mark.slow),
        (Sampled, "replace"),
    ],
)
def test_a_leak_on_one_data_set_is_found_by_moves_and_not_without(mechanism, relation, monkeypatch):
    assert audit(mechanism(), relation=relation, seed=1).violated
    monkeypatch.setattr(event_selection, "MOVES", 0)
    assert not audit(mechanism(), relation=relation, seed=1).violated


def test_a_law_is_climbed_too():
    claim = audit(Between(), seed=1).claims[0]
    assert claim.exact == pytest.approx(math.log(0.5 / 0.1))
    assert claim.pair.to_json()["number"] == 0


def test_a_pair_that_was_moved_is_replayed_and_no_other_in_its_place():
    mechanism, config = related(ExactlyThree(), "replace"), Config(1)
    spec = Specification("three", relation="replace")
    result = run(mechanism, [], config, subject="three", spec=spec)
    body = json.loads(json.dumps(result.to_json()))
    [claim] = body["claims"]
    assert claim["pair"]["number"] == 0
    terms = Terms(1, body["versions"]["pdpaudit"], lambda *_: None, find=lambda *_: ExactlyThree)
    assert replay_claim(claim, terms).reproduced
    moved = claim["pair"]["sides"]
    for sides in (moved[::-1], [moved[0]] * 2, [encode([1.0] * n).decode() for n in (1, 3)]):
        for part in (claim["pair"], claim["witness"]["pair"]):
            part["sides"] = list(sides)
        assert not replay_claim(claim, terms).reproduced


COLUMNS = st.sampled_from(
    [
        Bounded(0, 1),
        Bounded(whole=True, unusual=True),
        Bounded(-5, 5, unusual=True),
        OneOf("a", "b"),
        {"age": Bounded(0, 9, whole=True), "sex": ["f", "m"]},
    ]
)


@given(COLUMNS, st.integers(0, 3), st.integers(0, 4), st.sampled_from(["add-remove", "replace"]))
def test_every_move_leads_to_neighbours_of_the_domain(columns, least, more, relation):
    domain = Records(columns, sizes=(least, least + more + 1))
    rng = np.random.default_rng(least)
    for change in domain.changes(relation)[:20]:
        for _ in range(20):
            change = domain.varied(change, rng)
            left, right = domain.joined(change)
            same = repr(left) == repr(right)
            assert same or domain.neighbours(relation, left, right), (left, right)


class Large(ExactlyThree):
    domain = Records({"paid": Bounded(0, 100)}, sizes=(300, 400))


def test_pairs_near_large_tables_are_written_out_too() -> None:
    """More than fits a short text, which would be compressed."""
    first = candidate_pairs(Subject(Large()), [], 1)[0]
    assert first.near is not None
    near = list(first.near(np.random.default_rng(1)))
    assert near
    for one in near:
        assert one.sides is not None
        assert tuple(decode(side.encode("ascii")) for side in one.sides) == one.inputs()
        assert len(one.sides[0]) > 4096
