"""Exact losses against brute force over every event, and identities between their forms."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pdpaudit.core.privacy_loss import epsilon_at, exact_loss, hockey_stick, trade_off
from pdpaudit.core.protocols import Law
from pdpaudit.outputs import simplest

quick = settings(max_examples=settings().max_examples * 3 // 5, deadline=None)


@st.composite
def law_pairs(draw):
    """Two laws on up to six outputs, in twentieths or finer, with outputs only one side has."""
    k = draw(st.integers(1, 6))
    laws = []
    for _ in range(2):
        weights = draw(st.lists(st.integers(0, 20), min_size=k, max_size=k).filter(any))
        total = sum(weights)
        laws.append({i: Fraction(w, total) for i, w in enumerate(weights) if w})
    return laws


def as_law(exact: dict[int, Fraction]) -> Law:
    return Law({output: float(p) for output, p in exact.items()})


def events(left, right):
    outputs = sorted(set(left) | set(right))
    return chain.from_iterable(combinations(outputs, size) for size in range(len(outputs) + 1))


def mass(law, event):
    return sum((law.get(output, Fraction(0)) for output in event), Fraction(0))


def brute_epsilon(left, right, delta: Fraction) -> float:
    """The largest ln((P(S) - δ) / Q(S)) over all events S and both directions, at least 0."""
    worst = 0.0
    for event in events(left, right):
        for ours, theirs in ((left, right), (right, left)):
            excess, other = mass(ours, event) - delta, mass(theirs, event)
            if excess > 0:
                worst = max(worst, math.log(excess / other) if other else math.inf)
    return worst


def brute_delta(left, right, epsilon: float) -> float:
    return max(
        float(mass(ours, event)) - math.exp(epsilon) * float(mass(theirs, event))
        for event in events(left, right)
        for ours, theirs in ((left, right), (right, left))
    )


@quick
@given(law_pairs(), st.fractions(0, Fraction(19, 20), max_denominator=20))
def test_the_loss_is_that_of_the_worst_of_all_events(pair, delta):
    left, right = pair
    loss = exact_loss(as_law(left), as_law(right), float(delta))
    expected = brute_epsilon(left, right, delta)
    assert loss.epsilon == pytest.approx(expected, abs=1e-9)
    assert loss.delta == float(delta)


@quick
@given(law_pairs(), st.fractions(0, Fraction(1, 2), max_denominator=20))
def test_the_event_stated_has_the_loss_stated(pair, delta):
    left, right = pair
    loss = exact_loss(as_law(left), as_law(right), float(delta))
    ours, theirs = (left, right) if loss.side == "left" else (right, left)
    assert loss.probabilities == pytest.approx(
        (float(mass(left, loss.event)), float(mass(right, loss.event)))
    )
    excess, other = mass(ours, loss.event) - delta, mass(theirs, loss.event)
    if math.isinf(loss.epsilon):
        assert other == 0
        assert excess > 0
    elif loss.epsilon > 1e-9:
        assert math.log(excess / other) == pytest.approx(loss.epsilon, abs=1e-9)


@quick
@given(law_pairs(), st.lists(st.floats(0, 5), min_size=1, max_size=4))
def test_the_slack_is_that_of_the_worst_of_all_events(pair, epsilons):
    left, right = pair
    expected = [brute_delta(left, right, epsilon) for epsilon in epsilons]
    assert hockey_stick(as_law(left), as_law(right), epsilons) == pytest.approx(expected, abs=1e-12)


@quick
@given(law_pairs(), st.floats(0, 4))
def test_slack_and_loss_undo_each_other(pair, epsilon):
    left, right = map(as_law, pair)
    delta = float(hockey_stick(left, right, [epsilon])[0])
    found = exact_loss(left, right, delta).epsilon
    assert found <= epsilon + 1e-7  # δ(ε) suffices at ε, and may already suffice below
    assert hockey_stick(left, right, [found])[0] == pytest.approx(delta, abs=1e-9)


@quick
@given(law_pairs(), st.floats(0, 4))
def test_the_trade_off_curve_holds_the_slack_of_both_directions(pair, epsilon):
    """Wasserman and Zhou, 2010: e^ε alarm + miss >= 1 - δ for every test, = for the best."""
    left, right = map(as_law, pair)
    forward, backward = (
        np.max(1 - miss - math.exp(epsilon) * alarm)
        for alarm, miss in (trade_off(left, right), trade_off(right, left))
    )
    slack = hockey_stick(left, right, [epsilon])[0]
    assert max(forward, backward) == pytest.approx(slack, abs=1e-12)


@quick
@given(law_pairs())
def test_the_trade_off_curve_is_below_every_test_and_convex(pair):
    left, right = pair
    alarm, miss = trade_off(as_law(left), as_law(right))
    assert (alarm[0], miss[0], alarm[-1], miss[-1]) == (0.0, 1.0, 1.0, 0.0)
    assert (np.diff(alarm) >= -1e-15).all()
    assert (np.diff(miss) <= 1e-15).all()
    for event in events(left, right):
        here = float(mass(right, event))
        assert 1 - float(mass(left, event)) >= np.interp(here, alarm, miss) - 1e-12 or (
            # Where the curve is vertical, interpolation may return its upper end.
            1 - float(mass(left, event)) >= miss[np.isclose(alarm, here)].min(initial=1.0) - 1e-12
        )
    run, rise = np.diff(alarm), np.diff(miss)
    corners = run[:-1] * rise[1:] - rise[:-1] * run[1:]  # turns left: slopes increase
    assert (corners >= -1e-12).all()


@quick
@given(law_pairs(), st.floats(0, 0.9))
def test_exchanging_the_sides_changes_nothing_but_the_side(pair, delta):
    left, right = map(as_law, pair)
    one, two = exact_loss(left, right, delta), exact_loss(right, left, delta)
    assert one.epsilon == two.epsilon
    if epsilon_gap(left, right, delta) > 0:
        assert one.side != two.side
        assert one.event == two.event


def epsilon_gap(left: Law, right: Law, delta: float) -> float:
    outputs = sorted(set(left.probabilities) | set(right.probabilities), key=repr)
    p, q = (
        np.array([law.probabilities.get(output, 0.0) for output in outputs])
        for law in (left, right)
    )
    one, two = epsilon_at(p, q, delta), epsilon_at(q, p, delta)
    return 0.0 if one == two else abs(one - two)


def test_an_output_only_one_side_has_is_an_infinite_loss_until_the_slack_covers_it():
    left, right = Law({"a": 0.5, "b": 0.5}), Law({"a": 0.5, "b": 0.4, "c": 0.1})
    loss = exact_loss(left, right)
    assert (loss.epsilon, loss.side, loss.event) == (math.inf, "right", frozenset("c"))
    assert loss.probabilities == (0.0, 0.1)
    assert exact_loss(left, right, 0.05).epsilon == math.inf
    assert exact_loss(left, right, 0.1).epsilon == pytest.approx(0.0)


def test_round_off_in_a_sum_is_no_infinite_loss():
    """0.1 + 0.2 > 0.3 in floating point; three tenths of slack cover both outputs all the same."""
    left = Law({"a": 0.1, "b": 0.2, "c": 0.7})
    right = Law({"c": 1.0})
    assert exact_loss(left, right, 0.3).epsilon == pytest.approx(0.0, abs=1e-9)
    assert exact_loss(left, right, 0.3 - 1e-9).epsilon == math.inf


def test_equal_laws_lose_nothing():
    law = Law({"a": 0.25, "b": 0.75})
    for delta in (0.0, 0.5):
        assert exact_loss(law, law, delta).epsilon == 0.0
    assert hockey_stick(law, law, [0.0, 1.0]).tolist() == [0.0, 0.0]


def test_disjoint_laws_lose_everything():
    left, right = Law({"a": 1.0}), Law({"b": 1.0})
    assert exact_loss(left, right, 0.999).epsilon == math.inf
    assert hockey_stick(left, right, [0.0, 5.0]).tolist() == [1.0, 1.0]
    alarm, miss = trade_off(left, right)
    assert (alarm + miss).min() == 0.0


def test_an_epsilon_too_large_for_an_exponential_leaves_what_only_one_side_has():
    left, right = Law({"a": 0.5, "b": 0.5}), Law({"a": 0.9, "c": 0.1})
    assert hockey_stick(left, right, [1000.0, math.inf]).tolist() == [0.5, 0.5]


def test_an_output_left_out_of_a_law_is_no_infinite_loss() -> None:
    left = Law({"a": 1.0 - 1e-12, "b": 1e-12})
    right = Law({"a": 1.0}, missing=1e-11)
    assert exact_loss(left, right).epsilon == pytest.approx(0.0, abs=1e-9)
    right = Law({"a": 1.0}, missing=1e-13)
    assert exact_loss(left, right).epsilon == pytest.approx(math.log(10), rel=1e-6)
    assert exact_loss(left, Law({"a": 1.0})).epsilon == math.inf


@quick
@given(law_pairs(), st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)), st.floats(0.0, 0.9))
def test_wherever_the_mass_left_out_is_the_loss_is_at_least_what_is_said(
    pair, left_hidden, right_hidden, delta
):
    """Laws that leave outputs out, against the laws in full."""
    full = [Law({k: float(p) for k, p in law.items()}) for law in pair]
    stated = [
        Law(
            {k: p for k, p in law.probabilities.items() if k not in hidden},
            missing=float(sum(p for k, p in law.probabilities.items() if k in hidden)),
        )
        for law, hidden in zip(full, (left_hidden, right_hidden), strict=True)
    ]
    assume(all(law.probabilities for law in stated))
    for slack in (0.0, delta):
        loss, truth = (exact_loss(laws[0], laws[1], slack) for laws in (stated, full))
        assert loss.epsilon <= truth.epsilon + 1e-9
        if math.isfinite(loss.epsilon) and loss.epsilon > 0:
            # The event stated has the loss stated, in full as well.
            ours, theirs = full if loss.side == "left" else full[::-1]
            p = sum(ours.probabilities.get(output, 0.0) for output in loss.event)
            q = sum(theirs.probabilities.get(output, 0.0) for output in loss.event)
            assert p >= math.exp(loss.epsilon) * q + slack - 1e-9
    epsilons = [0.0, 0.5, 2.0, 800.0]
    shown, true = (hockey_stick(laws[0], laws[1], epsilons) for laws in (stated, full))
    assert (shown <= true + 1e-9).all()


#: Outputs of the laws that follow: both sides list some of 0, 1, 2; 3 and 4 are listed by none.
FRESH = (3, 4)


@st.composite
def holed_pairs(draw):
    """Two laws on up to three outputs in twentieths, with twentieths left out."""
    laws = []
    for _ in range(2):
        weights = draw(st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any))
        missing = draw(st.integers(0, 3))
        total = sum(weights) + missing
        listed = {i: Fraction(w, total) for i, w in enumerate(weights) if w}
        laws.append((listed, missing, Fraction(1, total)))
    return laws


def placings(law):
    """Every way to put the units left out on outputs that the law does not list."""
    listed, missing, unit = law
    free = [output for output in (0, 1, 2, *FRESH) if output not in listed]
    for places in combinations_with_replacement(free, missing):
        full = dict(listed)
        for place in places:
            full[place] = full.get(place, Fraction(0)) + unit
        yield full


@quick
@given(holed_pairs(), st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 3)]))
def test_the_upper_end_is_the_largest_loss_of_all_ways_to_place_what_is_left_out(pair, delta):
    stated = [
        Law({k: float(p) for k, p in listed.items()}, missing=float(missing * unit))
        for listed, missing, unit in pair
    ]
    loss = exact_loss(stated[0], stated[1], float(delta))
    most = max(missing * unit for _, missing, unit in pair)
    slack = delta if most <= delta else delta + most
    assert loss.left_out == pytest.approx(float(slack - delta), abs=1e-12)
    # A hair more and less, for the laws stated are rounded.
    more, less = (
        max(
            brute_epsilon(left, right, slack + way * Fraction(1, 10**9))
            for left in placings(pair[0])
            for right in placings(pair[1])
        )
        for way in (1, -1 if slack else 0)
    )
    assert loss.at_most >= more - 1e-6
    assert loss.at_most <= max(less, loss.epsilon) + 1e-6
    assert loss.at_least <= loss.epsilon <= loss.at_most


@quick
@given(holed_pairs())
def test_without_slack_what_is_left_out_may_lose_without_bound(pair):
    assume(max(missing for _, missing, _ in pair) > 0)
    worst = max(
        brute_epsilon(left, right, Fraction(0))
        for left in placings(pair[0])
        for right in placings(pair[1])
    )
    assert worst == math.inf


@quick
@given(law_pairs(), st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0, 0.3), st.data())
def test_whatever_the_relative_errors_are_the_loss_lies_between_both_ends(
    pair, one, other, delta, data
):
    """The true law moved within its error, one output against another, is what is stated."""
    true = [{k: float(p) for k, p in law.items()} for law in pair]
    stated = []
    for law, error in zip(true, (one, other), strict=True):
        moved = {k: p / (1 + data.draw(st.floats(-error, error))) for k, p in law.items()}
        stated.append(Law(moved, missing=max(0.0, 1.0 - sum(moved.values())), error=error))
    loss = exact_loss(stated[0], stated[1], delta)
    truth = exact_loss(Law(true[0]), Law(true[1]), delta).epsilon
    slack = exact_loss(Law(true[0]), Law(true[1]), delta + loss.left_out).epsilon
    assert loss.at_least <= truth + 1e-6
    assert slack <= loss.at_most + 1e-6


def test_a_law_of_nothing_says_nothing():
    nothing = Law({}, missing=1.0)
    loss = exact_loss(nothing, nothing)
    assert (loss.at_least, loss.left_out, loss.event) == (0.0, 1.0, frozenset())
    assert hockey_stick(nothing, nothing, [0.0]).tolist() == [0.0]
    assert exact_loss(Law({"a": 1.0}), nothing).left_out == 1.0


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (1, 1.0), (0.0, -0.0), ((1, 2), (True, 2)), ("1", b"1")]
)
def test_outputs_that_are_shown_apart_are_two_though_they_are_equal(one, other):
    left, right = Law({one: 1.0}), Law({other: 1.0})
    loss = exact_loss(left, right, 0.5)
    assert loss.epsilon == math.inf
    assert len(loss.outputs) == 2
    assert hockey_stick(left, right, [0.0, 3.0]).tolist() == [1.0, 1.0]
    event = simplest(loss.outputs, loss.event, loss.side)
    assert sum(output in event for output in (one, other)) == 1
    assert exact_loss(left, left).epsilon == 0.0


def test_not_a_number_is_one_output_however_often_it_is_made():
    left, right = Law({float("nan"): 0.5, 1.0: 0.5}), Law({float("nan"): 0.5, 1.0: 0.5})
    assert exact_loss(left, right).epsilon == 0.0
