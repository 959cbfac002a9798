"""Events on finite outputs: what each feature sees, counting, JSON and the simplest description."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from pdpaudit.evidence.event import (
    Event,
    Several,
    common_prefix,
    count_inside,
    event_from_json,
    feature_of,
    features_for,
    simplest,
)
from pdpaudit.evidence.regions import Range, Score, Term, View
from pdpaudit.sampling import Draws


@pytest.mark.parametrize(
    ("feature", "output", "value"),
    [
        ("first", (4, 5, 6), 4),
        ("first", (), None),
        ("first", "abc", None),
        ("last", (4, 5, 6), 6),
        ("last", (), None),
        ("last", "abc", None),
        ("length", (4, 5, 6), 3),
        ("length", (), 0),
        ("length", "abc", None),
        ("output", (4, 5), (4, 5)),
        ("output", "abc", "abc"),
        ("begins 2", (4, 5, 6), (4, 5)),
        ("begins 2", "abc", None),
        ("finds 5", (4, 5), True),
        ("finds 5", (4, 6), False),
        ("finds 5", "5", None),
        ("order 5 7", (4, 7, 5), 7),
        ("order 5 7", (5, 4, 7), 5),
        ("order 5 7", (4, 6), None),
        ("order 5 7", "57", None),
        ("order 5 7", 5, None),
    ],
)
def test_what_each_feature_sees(feature, output, value):
    assert feature_of(feature)(output) == value


@pytest.mark.parametrize("name", ["middle", "begins", "finds 1 2", "order 1", "ends 2"])
def test_unknown_features_are_refused(name):
    with pytest.raises(KeyError, match=name):
        feature_of(name)


def test_an_event_does_not_see_what_all_begin_with():
    event = Event("first", frozenset({4, None}), "right", prefix=1)
    assert [output in event for output in [(4, 5), (0, 4), (0,), (4,), (0, 5), "x"]] == [
        False,
        True,
        True,
        True,
        False,
        True,
    ]
    assert Event("length", frozenset({2}), "left").prefix == 0
    assert 5 in Event("output", frozenset({5, "ab"}), "left", prefix=1)
    assert "ab" in Event("output", frozenset({5, "ab"}), "left", prefix=1)


@pytest.mark.parametrize(
    ("outputs", "features"),
    [
        ([(1, 2), (3,)], ["first", "last", "length", "output"]),
        (["error KeyError", ()], ["first", "last", "length", "output"]),
        ([3, "a", None, frozenset({1})], ["output"]),
        ([], ["output"]),
    ],
)
def test_of_what_is_no_list_only_all_is_looked_at(outputs, features):
    assert features_for(iter(outputs)) == features


def test_counts_and_rows_are_both_counted():
    event = Event("output", frozenset({(1.0, 2.0), (3, 4)}), "left")
    draws = Draws(Counter({(3, 4): 5, (4, 3): 8, (1.0, 2.0): 2}))
    assert event.count(draws) == 7
    assert count_inside(event, draws.counts) == 7
    rows = Draws(pieces=[np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])])
    assert event.count(rows) == 2


def test_events_read_back_from_json():
    event = Event("output", frozenset({(1, (2, 3)), None, "a", True}), "right", 2)
    body = json.loads(json.dumps(event.to_json()))
    assert body == {
        "feature": "output",
        "values": sorted([[1, [2, 3]], None, "a", True], key=repr),
        "side": "right",
        "prefix": 2,
    }
    assert event_from_json(body) == event == Event.from_json(body)
    region = Range("left", 1, None, View("entry"), 0.5, 2.0)
    assert event_from_json(region.to_json()) == region
    odd = Event("output", frozenset({frozenset({3, (1, b"ab")}), b"", frozenset()}), "left")
    body = json.loads(json.dumps(odd.to_json()))
    assert body["values"] == [
        {"bytes": ""},
        {"frozenset": [3, [1, {"bytes": "6162"}]]},
        {"frozenset": []},
    ]
    assert event_from_json(body) == odd
    with pytest.raises(KeyError):
        event_from_json({**body, "values": [{"pickle": "00"}]})
    with pytest.raises(KeyError, match="middle"):
        event_from_json({**body, "feature": "middle"})
    with pytest.raises(KeyError, match="prefix"):
        event_from_json({"feature": "output", "values": [], "side": "left"})


def test_several_events_are_counted_on_the_same_draws():
    terms = (Term(View("entry"), (0.5,), (-1.0, 1.0)), Term(View("entry", 1), (), (0.5,)))
    events = (
        Score("left", 2, None, terms, 1.5),
        Score("left", 2, None, terms, -0.5),
        Score("left", 2, None, terms[:1], 1.0),
        Range("right", 2, None, View("entry", 1), 0.0, 1.0),
    )
    rows = np.array([[0.7, 5.0], [0.2, 0.1], [0.5, 1.0]])
    assert Several(events).count(Draws(pieces=[rows])).tolist() == [2, 3, 2, 2]
    single = Draws(pieces=[rows[:, :1]])
    assert Several(events[1:2]).count(single).tolist() == [2]
    mixed = Draws(Counter({(0.7, 0.5): 3}), pieces=[rows])
    assert Several(events).count(mixed).tolist() == [5, 6, 5, 5]
    assert Several(events).count(Draws(Counter({(0.7, 0.5): 3}))).tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize(
    ("outputs", "inside", "feature", "values", "prefix"),
    [
        ([(0, 1, 5), (0, 2, 5)], {(0, 2, 5)}, "first", {2}, 1),
        ([(1, 5), (2, 5), (1, 6), (2, 6)], {(1, 6), (2, 6)}, "last", {6}, 0),
        ([(2, 1, 1), (2, 1), (1, 1, 1), (1, 1)], {(2, 1), (1, 1)}, "length", {2}, 0),
        ([(1, 2), (2, 1), (1, 1), (2, 2)], {(1, 2), (2, 1)}, "output", {(1, 2), (2, 1)}, 0),
        (["a", "b"], {"b"}, "output", {"b"}, 0),
        (["a", "b"], {"a", "b"}, "output", {"a", "b"}, 0),  # no list, so nobody is first
        ([(1,), "b"], {(1,), "b"}, "first", {None, 1}, 0),
        ([3, 4], {4}, "output", {4}, 0),
    ],
)
def test_the_simplest_description_of_a_set(outputs, inside, feature, values, prefix):
    event = simplest(iter(outputs), frozenset(inside), "right")
    assert event == Event(feature, frozenset(values), "right", prefix)
    assert {output for output in outputs if output in event} == inside


@pytest.mark.parametrize(
    ("outputs", "shared"),
    [
        ([(0, 1, 2), (0, 1), (0, 1, 3)], 2),
        ([(0, 1, 2), (0, 2, 2)], 1),
        ([(1,), (2,)], 0),
        ([(1, 2), 1], 0),
        ([1, 2], 0),
        ([], 0),
        ([(1, 2)], 2),
        ([(), (1,)], 0),
    ],
)
def test_what_all_lists_begin_with(outputs, shared):
    assert common_prefix(outputs) == shared
