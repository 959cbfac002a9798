"""Events: membership depends on one output alone, survives JSON, and can be said in words."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pdpaudit.core.network import Network
from pdpaudit.core.protocols import Outputs
from pdpaudit.outputs import (
    Atom,
    Coded,
    Column,
    Crossed,
    Draws,
    Membership,
    Range,
    Score,
    Several,
    Term,
    Whole,
    batch_of,
    complexity,
    event_from_json,
    failure,
    flatten,
    gathered,
    of_records,
    simplest,
)
from pdpaudit.outputs.columns import (
    CATEGORIES,
    ORDERED,
    READERS,
    batch_of_outputs,
    whole_of,
)
from pdpaudit.outputs.events import FEW_EDGES, cells_of, shared_prefix, value_from_json, value_json
from pdpaudit.outputs.records import layout
from pdpaudit.outputs.words import Vocabulary, event_words, shown

from .made_up import ANYTHING, ROWS, SMALL

NAN, INF = math.nan, math.inf
OUTPUTS = st.lists(st.one_of(ANYTHING, SMALL, ROWS), min_size=1, max_size=10)


def paths_of(outputs):
    """All places in these outputs, and one that is in none of them."""
    found: dict[Any, None] = {("nowhere", 7): None}
    for output in outputs:
        places = layout(flatten(output)[0])
        found |= dict.fromkeys([*places.leaves, *places.containers])
    return [*found]


def columns_of(draw, outputs, aspects):
    """Draw a column with one of these aspects that reads something of some of the outputs."""
    aspect = draw(st.sampled_from(sorted(aspects)))
    prefix = draw(st.integers(0, 2))
    entries = [e for group in batch_of_outputs(outputs).groups for e in group.entries[0] or ()]
    entry = st.sampled_from([*entries, 3])
    at = {
        "place": entry,
        "finds": entry,
        "order": st.tuples(entry, entry),
        "above": st.floats(allow_nan=False),
        "step": st.integers(1, 12),
    }.get(aspect, st.integers(0, 12))
    path = draw(st.sampled_from(paths_of(outputs)))
    return Column(aspect, path, draw(at), prefix)


def numbered(draw, outputs, depth=0):
    kind = draw(st.integers(0, 3))
    if kind == 0 and depth < 2:
        both = tuple(numbered(draw, outputs, 2) for _ in range(2))
        return Crossed(both, tuple(cuts(draw, one, outputs)[:3] for one in both))
    if kind == 1:
        column = columns_of(draw, outputs, CATEGORIES)
        return Coded(column, tuple(dict.fromkeys(batch_of_outputs(outputs).categories(column))))
    return columns_of(draw, outputs, READERS)


def cuts(draw, column, outputs):
    """Draw numbers that occur, and some that do not: where the last digit decides."""
    seen = [x for x in batch_of_outputs(outputs).read(column).tolist() if x == x]
    some = draw(st.lists(st.sampled_from([*seen, 0.0, INF, -INF]), max_size=6))
    return tuple(sorted(set(some)))


@st.composite
def events_over(draw, outputs):
    side = draw(st.sampled_from(["left", "right"]))
    kind = draw(st.sampled_from(["membership", "range", "score"]))
    if kind == "membership":
        column = columns_of(draw, outputs, CATEGORIES)
        seen = list(dict.fromkeys(batch_of_outputs(outputs).categories(column)))
        values = draw(st.lists(st.sampled_from(seen), unique=True))
        return Membership(side, column, frozenset(values))
    if kind == "range":
        column = numbered(draw, outputs)
        ends = cuts(draw, column, outputs) or (-INF,)
        return Range(side, column, ends[0], draw(st.sampled_from([ends[-1], INF])))
    terms = []
    for _ in range(draw(st.integers(1, 3))):
        column = numbered(draw, outputs)
        edges, atoms = (cuts(draw, column, outputs) for _ in range(2))
        weights = st.floats(-1e3, 1e3)
        terms.append(
            Term(
                column,
                edges,
                tuple(draw(weights) for _ in range(len(edges) + 1)),
                tuple((atom, draw(weights)) for atom in atoms),
                draw(weights),
            )
        )
    scores = Score(side, tuple(terms), 0.0).scores(batch_of_outputs(outputs)).tolist()
    return Score(side, tuple(terms), draw(st.sampled_from(scores)))


@st.composite
def outputs_and_events(draw, outputs=OUTPUTS):
    some = draw(outputs)
    return some, draw(events_over(some))


def batches(draw, items):
    """Split into batches, in another order."""
    order = draw(st.permutations(items))
    ends = sorted(draw(st.lists(st.integers(0, len(items)), max_size=4)))
    return [order[i:j] for i, j in zip([0, *ends], [*ends, len(items)], strict=True)]


@settings(max_examples=4 * settings().max_examples)
@given(st.data(), outputs_and_events())
def test_membership_depends_on_one_output_alone(data, both):
    """Whatever other outputs are in the batch, in whatever order they came."""
    outputs, event = both
    alone = [output in event for output in outputs]
    assert event.inside(batch_of_outputs(outputs)).tolist() == alone
    assert event.count(gathered(outputs, len(outputs))) == sum(alone)
    assert (
        Several((event, event)).count(gathered(outputs, len(outputs))).tolist() == [sum(alone)] * 2
    )
    total = Draws()
    for batch in batches(data.draw, range(len(outputs))):
        draws = gathered([outputs[i] for i in batch], len(batch))
        assert event.count(draws) == sum(alone[i] for i in batch)
        total.update(draws)
    assert event.count(total) == sum(alone)


@settings(max_examples=2 * settings().max_examples)
@given(outputs_and_events())
def test_events_survive_json_and_decide_the_same(both):
    outputs, event = both
    text = json.dumps(event.to_json(), allow_nan=False, ensure_ascii=False)
    text.encode()  # as a result is written
    again = event_from_json(json.loads(text))
    assert again == event
    assert again.to_json() == event.to_json()
    assert [o in again for o in outputs] == [o in event for o in outputs]
    assert complexity(again) == complexity(event)


@settings(max_examples=2 * settings().max_examples)
@given(outputs_and_events(), st.sampled_from(["", "found"]))
def test_any_event_can_be_said_in_words(both, done):
    _, event = both
    for number in ("the output", "the number examined"):
        words = event_words(event, Vocabulary(done=done, number=number))
        assert words.isprintable()
        assert len(words) < 2000


FLOATS = st.integers(1, 20).flatmap(
    lambda width: st.lists(
        st.lists(
            st.one_of(st.floats(), st.sampled_from([0.1, 0.2, 0.3, 1e16, 1.0])),
            min_size=width,
            max_size=width,
        ).map(tuple),
        min_size=1,
        max_size=8,
    )
)


@st.composite
def float_rows_and_numbers(draw):
    """Rows of one width, and an event on what is read off their entries."""
    rows = draw(FLOATS)
    aspects = ("number", "step", "sum", "least", "greatest", "zeros", "stopped", "above", "pattern")
    at = draw(st.integers(1, 24))
    path = (draw(st.integers(0, len(rows[0]) - 1)),)
    column = draw(
        st.sampled_from(
            [
                *(Column(aspect, path if aspect == "number" else (), at) for aspect in aspects),
                *(Column(aspect, path) for aspect in ("kind", "output", "structure", "value")),
            ]
        )
    )
    if column.aspect in ("output", "structure"):
        # A row of an array ends at its last number: what follows may be there for wider rows.
        rows = [(*row[:-1], 0.5 if math.isnan(row[-1]) else row[-1]) for row in rows]
    if column.aspect in READERS:
        ends = cuts(draw, column, rows) or (-INF,)
        return rows, Range("left", column, ends[0], ends[-1])
    seen = batch_of_outputs(rows).categories(column)
    return rows, Membership("left", column, frozenset(draw(st.lists(st.sampled_from(seen)))))


@settings(max_examples=3 * settings().max_examples)
@given(float_rows_and_numbers())
@example(
    (
        [(0.1,) * 8 + (0.3, 0.7), (0.3, 1e16, -1e16, 0.1, 0.2, 0.7, 0.1, 0.1, 0.3, 1.0)],
        Range("left", Column("sum"), 1.8, 1.8),
    )
)
def test_arrays_lists_and_coded_outputs_agree_with_single_runs(both):
    """Arrays in either order of memory, beside wider ones, and beside others."""
    rows, event = both
    alone = [event.count(of_records([flatten(row)])) for row in rows]
    assert alone == [int(row in event) for row in rows]
    array, more = np.array(rows), len(rows[0]) + 9
    wider = np.full((3, more), np.nan)
    wider[:, 0] = NAN
    for form in (array, np.asfortranarray(array), array[:, ::-1].copy()[:, ::-1]):
        assert event.count(gathered(form, len(rows))) == sum(alone)
        assert [event.count(gathered(form[i : i + 1], 1)) for i in range(len(rows))] == alone
        beside = gathered(wider, 3)
        others = event.count(beside)
        beside.update(gathered(form, len(rows)))
        assert event.count(beside) == sum(alone) + others
    assert event.count(gathered(rows, len(rows))) == sum(alone)
    coded = Outputs(rows, np.arange(len(rows)))
    assert event.count(gathered(coded, len(rows))) == sum(alone)


@given(st.lists(st.floats(), min_size=1, max_size=8), st.sampled_from(["f8", "f4"]))
def test_so_do_single_numbers(numbers, dtype):
    with np.errstate(over="ignore"):
        array = np.array(numbers).astype(dtype)
    for event in (
        Range("left", Column("number"), float(array[0]), INF),
        Membership("left", Column("kind"), frozenset({flatten(float(array[0]))[1][0]})),
        Membership("left", Column("output"), frozenset({whole_of(flatten(array[0]))})),
    ):
        alone = [output in event for output in array.tolist()]
        assert event.count(gathered(array, len(array))) == sum(alone)
        assert event.count(gathered(array.tolist(), len(array))) == sum(alone)


@pytest.mark.parametrize(
    ("aspect", "at", "output", "value"),
    [
        ("first", 0, (4, 5, 6), 4),
        ("first", 0, (), None),
        ("first", 0, (None, 4), Atom("None", None)),
        ("first", 0, (True, 4), Atom("bool", True)),
        ("first", 0, "abc", None),
        ("first", 0, {"a": 4}, None),
        ("last", 0, (4, 5, 6), 6),
        ("last", 0, (), None),
        ("last", 0, "abc", None),
        ("length", 0, (4, 5, 6), 3),
        ("length", 0, (), 0),
        ("length", 0, "abc", None),
        ("output", 0, (4, 5), (4, 5)),
        ("output", 0, "abc", "abc"),
        ("output", 0, True, Atom("bool", True)),
        ("output", 0, [4, 5], Whole(flatten([4, 5]))),
        ("output", 0, {"a": 1}, Whole(flatten({"a": 1}))),
        ("begins", 2, (4, 5, 6), (4, 5)),
        ("begins", 2, "abc", None),
        ("finds", 5, (4, 5), True),
        ("finds", 5, (4, 6), False),
        ("finds", 5, (4, 5.0), False),
        ("finds", 5, "5", None),
        ("order", (5, 7), (4, 7, 5), 7),
        ("order", (5, 7), (5, 4, 7), 5),
        ("order", (5, 7), (4, 6), None),
        ("order", (5, 7), "57", None),
        ("order", (5, 7), 5, None),
        ("kind", 0, None, "None"),
        ("kind", 0, (1,), "tuple"),
        ("value", 0, "a", "a"),
        ("value", 0, (1,), Atom("tuple", None)),
        ("template", 0, "3 of 4.5", "# of #"),
        ("template", 0, 3, None),
        ("keys", 0, {"a": 1, 3: 2}, ("a", "[3]")),
        ("keys", 0, (1, 2), None),
        ("structure", 0, (1, None), (("tuple", None, (None, None)), ("int", "None"))),
    ],
)
def test_what_each_category_is(aspect, at, output, value):
    assert batch_of_outputs([output]).categories(Column(aspect, at=at)) == [value]


def test_a_run_that_raised_is_a_category_of_its_own():
    draws = of_records([failure(KeyError(3)), failure(KeyError(4)), flatten("KeyError")])
    raised = Membership("left", Column("kind"), frozenset({"raises KeyError"}))
    assert raised.count(draws) == 2
    assert event_words(raised, Vocabulary()) == "it raises KeyError"
    assert "raises KeyError" not in raised
    assert KeyError(3) not in raised


def test_an_event_does_not_see_what_all_begin_with():
    event = Membership("right", Column("first", prefix=1), frozenset({4, None}))
    assert [output in event for output in [(4, 5), (0, 4), (0,), (4,), (0, 5), "x"]] == [
        False,
        True,
        True,
        True,
        False,
        True,
    ]
    assert (event.feature, event.prefix) == ("first", 1)
    assert Membership("left", Column("length"), frozenset({2})).prefix == 0
    whole = Membership("left", Column("output", prefix=1), frozenset({5, "ab", (3,)}))
    assert 5 in whole
    assert "ab" in whole
    assert (9, 3) in whole
    assert (3,) not in whole


def test_counted_outputs_and_arrays_are_both_counted():
    column = Column("output")
    event = Membership("left", column, frozenset({Whole(flatten((1.0, 2.0))), (3, 4)}))
    draws = gathered([(3, 4)] * 5 + [(4, 3)] * 8 + [(1.0, 2.0)] * 2, 15)
    assert draws.counts.total() == 13
    assert event.count(draws) == 7
    assert event.count(gathered(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]), 3)) == 2


def test_memberships_read_back_from_json():
    values = frozenset({(1, Atom("None", None)), Atom("None", None), "a", Atom("bool", True)})
    event = Membership("right", Column("output", prefix=2), values)
    body = json.loads(json.dumps(event.to_json()))
    kept = [
        [1, {"kind": "None", "value": None}],
        {"kind": "None", "value": None},
        "a",
        {"kind": "bool", "value": True},
    ]
    assert body == {
        "feature": "output",
        "path": [],
        "at": 0,
        "values": sorted(kept, key=repr),
        "side": "right",
        "prefix": 2,
    }
    assert event_from_json(body) == event
    with pytest.raises(KeyError):
        event_from_json({**body, "values": [{"pickle": "00"}]})
    with pytest.raises(KeyError, match="middle"):
        event_from_json({**body, "feature": "middle"})
    with pytest.raises(KeyError, match="prefix"):
        event_from_json({"feature": "output", "values": [], "side": "left"})
    with pytest.raises(KeyError, match="top"):
        event_from_json({**body, "side": "top"})
    with pytest.raises(KeyError, match="side"):
        event_from_json({"feature": "output", "values": [], "prefix": 0})


@pytest.mark.parametrize(
    ("feature", "values", "inside", "outside"),
    [
        ("output", [[1, [2, 3]], None, "a", True], [(1, (2, 3)), None, "a", True], [1, (1, 2, 3)]),
        (
            "output",
            [{"frozenset": [3, [1, {"bytes": "6162"}]]}, {"bytes": ""}, {"frozenset": []}],
            [frozenset({3, (1, b"ab")}), b"", frozenset()],
            [(3, (1, b"ab")), "", ()],
        ),
        ("first", [True, None, "a"], [(True, 2), (), ("a",)], [(1, 2), (None, 2)]),
        ("last", [7], [(3, 7), (7,)], [(7, 3), (7.0, True), 7]),
        ("begins 2", [[True, 3]], [(True, 3, 4), (True, 3)], [(1, 3, 4), (True, 4)]),
        ("finds 5", [True], [(4, 5)], [(4, 6), "5"]),
        ("order 5 7", [7], [(7, 5), (4, 7)], [(5, 7), (4, 6)]),
        ("length", [2], [(4, 5)], [(4,), "ab"]),
    ],
)
def test_the_form_before_is_still_read(feature, values, inside, outside):
    body = {"feature": feature, "values": values, "side": "left", "prefix": 0}
    event = event_from_json(body)
    assert all(output in event for output in inside)
    assert not any(output in event for output in outside)
    assert event_from_json(json.loads(json.dumps(event.to_json()))) == event


def test_the_form_before_named_what_was_raised():
    body = {"feature": "output", "values": ["error KeyError"], "side": "left", "prefix": 0}
    assert event_from_json(body).count(of_records([failure(KeyError(1)), flatten("x")])) == 1


@pytest.mark.parametrize("name", ["middle", "begin", "number", "ends 2"])
def test_unknown_features_are_refused(name):
    with pytest.raises(KeyError, match=name.split()[0]):
        event_from_json({"feature": name, "values": [], "side": "left", "prefix": 0})


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.5, INF, "entry 1 is at least 0.5"),
        (-INF, 0.5, "entry 1 is at most 0.5"),
        (0.25, 0.5, "entry 1 is at least 0.25 and at most 0.5"),
        (2.0, 2.0, "entry 1 is 2"),
        (-INF, INF, "entry 1 is a number"),
    ],
)
def test_ranges_in_words_and_json(low, high, words):
    event = Range("right", Column("number", (0,)), low, high)
    assert event_words(event, Vocabulary()) == words
    body = json.loads(json.dumps(event.to_json()))
    assert body == {
        "feature": "range",
        "side": "right",
        "column": {"aspect": "number", "path": [0], "at": 0, "prefix": 0},
        "low": None if low == -INF else low,
        "high": None if high == INF else high,
    }
    assert event_from_json(body) == event


def test_a_range_holds_its_ends():
    event = Range("left", Column("number", (1,)), 1.0, 2.0)
    rows = np.array([[0, 1.0], [0, 2.0], [0, 0.999], [0, 2.001], [0, NAN]])
    expected = [True, True, False, False, False]
    assert event.inside(batch_of(gathered(rows, 5))).tolist() == expected
    assert [tuple(row) in event for row in rows.tolist()] == expected
    for other in ("no vector", (1.5,), 1.5, {"b": 1.5}, (0, None), (0, "1.5")):
        assert other not in event
    for inside in ((0, 1), (0, True), [None, 1.5], np.array([0, 2])):
        assert inside in event


ENTRY, OTHER = Column("number", (0,)), Column("number", (1,))


def test_a_score_adds_its_terms():
    terms = (
        Term(ENTRY, (0.0, 1.0), (-1.0, 0.5, 2.0), ((7.0, 4.0),), 8.0),
        Term(Column("sum"), (10.0,), (0.0, 16.0)),
    )
    rows = np.array([[-3.0, 1.0], [0.0, 20.0], [7.0, 1.0], [NAN, 10.0], [1.0, 1.0]])
    event, batch = Score("right", terms, 4.0), batch_of(gathered(rows, 5))
    assert event.scores(batch).tolist() == [-1.0, 16.5, 4.0, 24.0, 2.0]
    assert event.inside(batch).tolist() == [False, True, True, True, False]
    assert Term(ENTRY, (), (0.5,)).of(np.array([NAN, 1.0])).tolist() == [0.0, 0.5]
    turned = Score("left", tuple(term.turned() for term in terms), -4.0)
    assert turned.scores(batch).tolist() == [1.0, -16.5, -4.0, -24.0, -2.0]


def test_the_last_digits_of_a_score_decide_nothing():
    """0.1 + 0.2 is not 0.3, and which of both a processor gives is its own business."""
    event = Score("left", tuple(Term(ENTRY, (), (w,)) for w in (0.1, 0.2)), 0.3)
    assert (5.0, 1.0) in event
    below = Score("left", (Term(ENTRY, (), (0.3 - 1e-12,)),), 0.3)
    assert (5.0, 1.0) in below
    assert (5.0, 1.0) not in Score("left", (Term(ENTRY, (), (0.3 - 1e-6,)),), 0.3)


def test_several_events_are_counted_on_the_same_draws():
    terms = (Term(ENTRY, (0.5,), (-1.0, 1.0)), Term(OTHER, (), (0.5,), missing=0.0))
    events = (
        Score("left", terms, 1.5),
        Score("left", terms, -0.5),
        Score("left", terms[:1], 1.0),
        Range("right", OTHER, 0.0, 1.0),
        Membership("left", Column("kind", (1,)), frozenset({"float"})),
    )
    rows = np.array([[0.7, 5.0], [0.2, 0.1], [0.5, 1.0]])
    draws = gathered(rows, 3)
    assert Several(events).count(draws).tolist() == [2, 3, 2, 2, 3]
    single = gathered(rows[:, :1].copy(), 3)
    assert Several(events[1:2]).count(single).tolist() == [2]
    listed = gathered([(0.7, 0.5)] * 3 + [(0.7, None)], 4)
    assert Several(events).count(listed).tolist() == [3, 4, 4, 3, 3]
    draws.update(listed)
    assert Several(events).count(draws).tolist() == [5, 7, 6, 5, 6]
    assert Several(events).count(draws).dtype == np.int64
    assert Several(events).count(Draws()).tolist() == [0] * 5


def test_lists_are_read_as_where_their_entries_stand():
    event = Range("left", Column("place", at=7), 0.0, 1.0)
    outputs = {(7,): True, (5, 7): True, (5, 3, 9, 7): False, (5,): False, (): False}
    assert {output: output in event for output in outputs} == outputs
    assert event.count(gathered([(7,)] * 3 + [(5,)] * 4, 7)) == 3
    # What is no list is in no event about lists, not even in one that holds the empty list.
    short = Range("left", Column("length"), 0.0, 0.0)
    assert () in short
    for other in (None, 0, 0.0):
        assert other not in short
    assert short.count(of_records([flatten(()), failure(KeyError()), flatten(7)])) == 1
    assert event.count(gathered(np.full((4, 3), 7.0), 4)) == 0


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (Column("number"), "the output is 2"),
        (Column("number", (2,)), "entry 3 is 2"),
        (Column("number", ("a", 0)), 'entry "a", 1 is 2'),
        (Column("rest", (0,)), "the digits of entry 1 beyond double precision is 2"),
        (Column("length"), "the length of the list is 2"),
        (Column("length", ("a",)), 'the length of entry "a" is 2'),
        (Column("embedded", ("a",), 1), 'number 2 in entry "a" is 2'),
        (Column("byte", (), 0), "the code of character 1 of the output is 2"),
        (Column("place", at=5), "the place of 5 in the list is 2"),
        (Column("step", at=2), "entry 3 less the one before is 2"),
        (Column("sum"), "the sum of the values is 2"),
        (Column("least"), "the smallest value is 2"),
        (Column("greatest"), "the largest value is 2"),
        (Column("zeros"), "the number of entries that are exactly 0 is 2"),
        (Column("stopped", at=3), "the number of entries that are not a number is 2"),
        (Column("above", at=0.12345678), "the number of values above 0.123457 is 2"),
        (Column("pattern", at=3), "which entries are values, 0, or not a number is 2"),
    ],
)
def test_what_each_number_is_called(column, words):
    assert event_words(Range("left", column, 2.0, 2.0), Vocabulary()) == words
    assert set(ORDERED) == set(READERS)


def test_names_are_those_of_the_vocabulary():
    words = Vocabulary(name=lambda vertex: f"v{vertex}", done="found", number="the number examined")
    first = Range("left", Column("place", at=5), 0.0, 1.0)
    assert event_words(first, words) == "the place of v5 in the list is at least 0 and at most 1"
    assert (
        event_words(Range("left", Column("number"), 4.0, 4.0), words) == "the number examined is 4"
    )
    said: dict[Column, tuple[Any, str]] = {
        Column("first", prefix=1): ({4, None}, "v4 is found first or nobody more is found"),
        Column("first", prefix=2): ({4}, "v4 is found first after the first 2"),
        Column("last"): ({4, 5}, "one of {v4, v5} is found last"),
        Column("finds", at=5): ({True}, "v5 is found"),
        Column("order", at=(5, 7)): ({7}, "v7 is found before v5, or without"),
        Column("begins", at=2): ({(3, 4)}, "the first 2 found are {v3, v4}"),
        Column("length"): ({2, 3}, "the number found is one of {2, 3}"),
        Column("output"): ({(3, 4)}, "the number examined is {v3, v4}"),
    }
    for column, (values, text) in said.items():
        assert event_words(Membership("left", column, frozenset(values)), words) == text
    absent = Membership("left", Column("finds", at=5), frozenset({False}))
    assert event_words(absent, words) == "v5 is not found"
    neither = Membership("left", Column("order", at=(5, 7)), frozenset({None}))
    assert event_words(neither, words) == "neither v5 nor v7 is found"


def test_keys_that_are_numbers_are_no_places():
    """Entries of a list are counted from 1, and a dictionary's 7 is 7."""
    for output, text in {
        (0.0, 1.5): "entry 2",
        "dict": 'entry "b", [7]',
        "text": 'entry "b", "7"',
    }.items():
        wrapped: dict[Any, Any] = {"dict": {"b": {7: 1.5}}, "text": {"b": {"7": 1.5}}}
        made = wrapped.get(output, output)
        (path,) = [p for p, i in layout(flatten(made)[0]).leaves.items() if i == len(made) - 1]
        event = Range("left", Column("number", path), 1.5, 1.5)
        assert made in event
        assert event_words(event, Vocabulary()) == f"{text} is 1.5"
    keys = Membership("left", Column("keys"), frozenset({batch_keys({"a": 1, 3: 2})}))
    assert event_words(keys, Vocabulary()) == "the keys of the output is {a, [3]}"


def batch_keys(output):
    return batch_of_outputs([output]).categories(Column("keys"))[0]


@given(st.integers())
def test_whoever_is_not_in_the_network_has_a_number_for_a_name(vertex):
    """A search that is wrong may put out anybody."""
    matrix = csr_array(np.zeros((3, 3), dtype=np.int8))
    network = Network(matrix, np.array([True, False, False]), (0,), names=("Ann", "Bob", "Cy"))
    event = Membership("left", Column("first"), frozenset({vertex}))
    words = event_words(event, Vocabulary(name=network.name, done="found"))
    who = ("Ann", "Bob", "Cy")[vertex] if 0 <= vertex < 3 else None
    assert words.endswith(" is found first")
    assert who is None or words.startswith(who)
    assert who or not words.startswith(("Ann", "Bob", "Cy"))


def test_no_word_of_searches_is_said_of_what_is_none():
    said: dict[Column, tuple[Any, str]] = {
        Column("first", prefix=1): (
            {4, None},
            "the first entry after the first is 4 or there is no entry after the first",
        ),
        Column("length", prefix=2): ({2}, "the number of entries after the first 2 is 2"),
        Column("last"): ({"a", "b"}, "the last entry is one of {a, b}"),
        Column("finds", at=5): ({True}, "5 is in the list"),
        Column("length"): ({2}, "the number of entries is 2"),
        Column("output"): ({Atom("bool", True)}, "the output is True"),
        Column("value", ("a",)): ({"yes"}, 'entry "a" is yes'),
        Column("keys", ("a",)): ({("b", "c")}, 'the keys of entry "a" is {b, c}'),
        Column("kind", (0,)): ({"None", "nan"}, "entry 1 is None or not a number"),
        Column("kind"): ({"raises ValueError"}, "it raises ValueError"),
    }
    for column, (values, text) in said.items():
        assert event_words(Membership("left", column, frozenset(values)), Vocabulary()) == text


def test_scores_in_words_and_json():
    terms = tuple(
        Term(Column("number", (j,)), (0.5,), (-1.0, 1.0), ((3.0, 7.0),), 0.25) for j in range(6)
    )
    places = tuple(Term(Column("place", at=v), (0.5,), (-1.0, 1.0)) for v in (1, 2))
    place = [f"the place of {v} in the list" for v in (1, 2)]
    said = [event_words(Score("left", places[:k], 0.5), Vocabulary()) for k in (1, 2)]
    assert said[0] == f"a score of {place[0]} is at least 0.5"
    assert said[1] == f"a score of {place[0]} and {place[1]} is at least 0.5"
    plain = [event_words(Score("left", terms[:k], 0.5), Vocabulary()) for k in (2, 4, 5, 6)]
    assert plain == [
        "a score of entry 1 and entry 2 is at least 0.5",
        "a score of entry 1, entry 2, entry 3 and entry 4 is at least 0.5",
        "a score of entry 1, entry 2, entry 3 and 2 more columns is at least 0.5",
        "a score of entry 1, entry 2, entry 3 and 3 more columns is at least 0.5",
    ]
    twice = Score("left", (terms[0], terms[0]), 0.5)
    assert event_words(twice, Vocabulary()) == "a score of entry 1 is at least 0.5"
    event = Score("right", terms[:2], -1.5)
    body = json.loads(json.dumps(event.to_json()))
    assert body == {
        "feature": "score",
        "side": "right",
        "threshold": -1.5,
        "terms": [
            {
                "column": {"aspect": "number", "path": [j], "at": 0, "prefix": 0},
                "edges": [0.5],
                "weights": [-1.0, 1.0],
                "atoms": [[3.0, 7.0]],
                "missing": 0.25,
            }
            for j in (0, 1)
        ],
    }
    assert event_from_json(body) == event


def test_what_is_no_event_is_refused():
    body: Any = Range("left", ENTRY, 0.5, 1.0).to_json()
    with pytest.raises(KeyError, match="circle"):
        event_from_json({**body, "feature": "circle"})
    with pytest.raises(KeyError, match="middle"):
        event_from_json({**body, "column": {**body["column"], "aspect": "middle"}})
    with pytest.raises(KeyError, match="low"):
        event_from_json({k: v for k, v in body.items() if k != "low"})
    crossed = Range("left", Crossed((ENTRY, OTHER), ((), ())), 0.5, 1.0).to_json()
    inner = {"crossed": [crossed["column"], body["column"]], "edges": [[], []]}
    with pytest.raises(KeyError, match="crossed"):
        event_from_json({**body, "column": inner})
    with pytest.raises(KeyError, match="coded"):
        event_from_json({**body, "column": {"coded": crossed["column"], "values": []}})


@pytest.mark.parametrize("many", [False, True])
def test_cells_are_the_same_compared_or_searched(many):
    edges = tuple(np.linspace(-1, 1, 40 if many else 5).tolist())
    atoms = (-0.25, 0.0, 0.75)
    numbers = np.array([-5.0, -1.0, -0.25, 0.0, 0.3, 0.75, 0.76, 1.0, 9.0, NAN, -0.3])
    found = cells_of(numbers, edges, atoms)
    for number, cell in zip(numbers.tolist(), found.tolist(), strict=True):
        if math.isnan(number):
            assert cell == len(edges) + 1 + len(atoms)
        elif number in atoms:
            assert cell == len(edges) + 1 + atoms.index(number)
        else:
            assert cell == sum(edge <= number for edge in edges)
    assert cells_of(numbers, edges, ()).max() == len(edges) + 1
    assert cells_of(np.array([2.0, 3.0]), (), (1.0,)).tolist() == [0, 0]
    assert len(np.linspace(-1, 1, 40)) > FEW_EDGES > 5


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
        ([True, None], {None}, "output", {Atom("None", None)}, 0),
        (
            [frozenset({3, 4}), frozenset({3, 6})],
            {frozenset({3, 6})},
            "output",
            {Whole(flatten(frozenset({3, 6})))},
            0,
        ),
    ],
)
def test_the_simplest_description_of_a_set(outputs, inside, feature, values, prefix):
    event = simplest(iter(outputs), frozenset(inside), "right")
    assert event == Membership("right", Column(feature, prefix=prefix), frozenset(values))
    assert {output for output in outputs if output in event} == inside


@given(st.data(), st.lists(SMALL, min_size=1, max_size=8))
def test_the_simplest_description_holds_what_it_should(data, outputs):
    """Of outputs that Python tells apart too: 1, 1.0 and True are one key of a law."""
    known = []
    for output in outputs:
        if _hashable(output) and output == output and output not in known:
            known.append(output)
    if not known:
        return
    inside = frozenset(data.draw(st.lists(st.sampled_from(known))))
    event = simplest(known, inside, "left")
    assert [output in event for output in known] == [output in inside for output in known]


def _hashable(thing):
    try:
        hash(thing)
    except TypeError:
        return False
    return True


@pytest.mark.parametrize(
    ("outputs", "shared"),
    [
        ([(0, 1, 2), (0, 1), (0, 1, 3)], 2),
        ([(0, 1, 2), (0, 2, 2)], 1),
        ([(1,), (2,)], 0),
        ([(1, 2), None], 0),
        ([None, None], 0),
        ([], 0),
        ([(1, 2)], 2),
        ([(), (1,)], 0),
    ],
)
def test_what_all_lists_begin_with(outputs, shared):
    assert shared_prefix(outputs) == shared


@given(st.lists(ANYTHING, max_size=6))
def test_categories_survive_json(outputs):
    for group in batch_of_outputs(outputs).groups:
        for aspect in ("output", "structure"):
            (value,) = Column(aspect).categories(group)
            assert value_from_json(json.loads(json.dumps(value_json(value)))) == value
            assert shown(value).isprintable()


def test_complexity_counts_what_a_person_has_to_check():
    simple: list[Any] = [
        Membership("left", Column("kind"), frozenset({"None"})),
        Range("left", ENTRY, 0.5, INF),
        Membership("left", Column("output"), frozenset({(3,), (4,)})),
        Score("left", (Term(ENTRY, (), (0.0,)),), 0.0),
        Score("left", (Term(ENTRY, (), (0.0,)), Term(OTHER, (), (0.0,))), 0.0),
    ]
    assert [complexity(event) for event in simple] == [0, 0, 1, 3, 4]


def test_counting_forgets_the_order():
    outputs = [(3, 4), (4, 3), None, 0.5, (0.5, 1.5), {"a": 1}] * 2
    one, two = gathered(outputs, 12), gathered(outputs[::-1], 12)
    assert Counter(one.counts) == Counter(two.counts)
    for column in (Column("output"), Column("structure"), Column("kind", (0,))):
        assert Counter(batch_of(one).categories(column)) == Counter(
            batch_of(two).categories(column)
        )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text("abc", max_size=3),
        lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text("xyz"), part, max_size=3),
        max_leaves=6,
    ).filter(lambda value: isinstance(value, (list, dict)))
)
def test_a_nested_output_is_shown_as_python_shows_it(value: object) -> None:
    text = repr(value)
    assert shown(Whole(flatten(value))) == (text if len(text) <= 60 else f"{text[:57]}...")
