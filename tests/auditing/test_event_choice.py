"""Among tested events the luckiest does not win, nor does what cannot break the claim."""

from __future__ import annotations

import math
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit import PrivacyClaim
from pdpaudit.auditing.event_selection import EventSelection, towards_each_other
from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Column, Event, Range

RUNS = 4500
EVENTS = [cast("Event", Range("left", Column("number"), float(i), math.inf)) for i in range(12)]


class Selection(EventSelection):
    """The choice among tested events alone, of what is confirmed with 8,000 runs a side."""

    def __init__(self) -> None:
        pass

    def expected_bound(self, claim: PrivacyClaim, caution: float) -> ExpectedBound:
        return ExpectedBound(8000, 0.05, claim.delta, caution, claim.family)


def counts(rng: np.random.Generator, ours: list[float], theirs: list[float]) -> np.ndarray:
    return np.stack([rng.binomial(RUNS, ours), rng.binomial(RUNS, theirs)], axis=1)


@pytest.mark.parametrize("seed", range(5))
def test_of_events_that_lose_the_same_a_frequent_one_is_chosen(seed: int) -> None:
    """Half as likely, or one in fifty: both lose 1, and the rare one's bound is .15 lower."""
    theirs = [0.18, 0.17] + [0.008] * 10
    found = counts(np.random.default_rng(seed), [math.e * q for q in theirs], theirs)
    tested = [(float(x), float(y), float(RUNS)) for x, y in found]
    place, promised = Selection().pick(PrivacyClaim(0.1), EVENTS, tested)
    assert place < 2
    assert 0.8 < promised < 1.1


@pytest.mark.parametrize("seed", range(5))
def test_events_that_lose_more_than_others_keep_their_loss(seed: int) -> None:
    theirs = [0.2] * 6 + [0.005] * 6
    ours = [0.4] * 6 + [0.1] * 6
    found = counts(np.random.default_rng(seed), ours, theirs).astype(float)
    x, y, _ = towards_each_other(found[:, 0], found[:, 1], np.full(12, float(RUNS)))
    assert np.log(x / y)[6:].mean() == pytest.approx(math.log(20), abs=0.3)
    assert np.log(x / y)[:6].mean() == pytest.approx(math.log(2), abs=0.1)


def test_one_event_is_as_it_was_counted() -> None:
    one = np.array([30.0]), np.array([7.0]), np.array([100.0])
    assert towards_each_other(*one) == one


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=12))
def test_no_event_happens_more_often_than_there_are_runs(found: list[tuple[int, int]]) -> None:
    ours, theirs = np.array(found, dtype=float).T
    x, y, runs = towards_each_other(ours, theirs, np.full(len(found), 50.0))
    assert np.isfinite([x, y, runs]).all()
    assert ((x >= 0) & (y >= 0) & (x <= runs) & (y <= runs)).all()


def test_what_may_break_a_claim_with_delta_is_taken_before_what_cannot() -> None:
    """33 against 1 of 3,466 where δ allows 17: known badly, and the other shows less than ε."""
    claim = PrivacyClaim(1.0, 0.004927)
    rare, frequent = (33.0, 1.0, 3466.0), (2535.0, 960.0, 3466.0)
    alone = [Selection().pick(claim, EVENTS[:1], [one]) for one in (rare, frequent)]
    assert alone[0] == (0, claim.epsilon)
    assert alone[1][1] < claim.epsilon
    assert Selection().pick(claim, EVENTS[:2], [frequent, rare]) == (1, claim.epsilon)
