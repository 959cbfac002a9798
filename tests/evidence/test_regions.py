"""Events on rows: every number that can be looked at, cells, words, and the way through JSON."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest

from pdpaudit.evidence import regions
from pdpaudit.evidence.regions import Range, Score, Term, View, cells_of, region_from_json
from pdpaudit.sampling import Draws

NAN, INF = math.nan, math.inf
ROWS = np.array([[3.0, 0.0, NAN], [1.0, -2.0, 5.0], [0.0, 0.0, NAN], [NAN, NAN, NAN]])


@pytest.mark.parametrize(
    ("view", "numbers"),
    [
        (View("entry"), [3, 1, 0, NAN]),
        (View("entry", 1), [0, -2, 0, NAN]),
        (View("step", 1), [-3, -3, 0, NAN]),
        (View("step", 2), [NAN, 7, NAN, NAN]),
        (View("sum"), [3, 4, 0, 0]),
        (View("least"), [3, -2, NAN, NAN]),
        (View("greatest"), [3, 5, NAN, NAN]),
        (View("zeros"), [1, 0, 2, 0]),
        (View("stopped"), [1, 0, 1, 3]),
        (View("above", 1.0), [1, 1, 0, 0]),
        (View("above", -2.5), [1, 3, 0, 0]),
        # Digits in base 3, from the first entry on: 1 for a value, 2 for no number.
        (View("pattern"), [1 + 0 + 18, 1 + 3 + 9, 18, 2 + 6 + 18]),
    ],
)
def test_every_number_that_can_be_looked_at(view, numbers):
    found = view.of(ROWS)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, numbers)


def test_infinite_values_are_values():
    rows = np.array([[INF, 1.0], [-INF, INF]])
    assert View("greatest").of(rows).tolist() == [INF, INF]
    assert View("least").of(rows).tolist() == [1.0, -INF]


def test_flags_are_read_as_numbers():
    rows = np.array([[True, False, True]])
    assert View("entry").of(rows).tolist() == [1.0]
    assert View("step", 1).of(rows).tolist() == [-1.0]
    assert View("sum").of(rows).tolist() == [2.0]


def test_patterns_end_where_digits_do():
    rows = np.ones((1, 40))
    assert View("pattern").of(rows)[0] == sum(3.0**i for i in range(33))


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (View("entry", 2), "entry 3"),
        (View("step", 2), "entry 3 less the one before"),
        (View("sum"), "the sum of the values"),
        (View("least"), "the smallest value"),
        (View("greatest"), "the largest value"),
        (View("zeros"), "the number of entries that are exactly 0"),
        (View("stopped"), "the number of entries that are not a number"),
        (View("above", 0.12345678), "the number of values above 0.123457"),
        (View("pattern"), "which entries are values, 0, or not a number"),
    ],
)
def test_what_each_is_called(view, words):
    assert view.words() == words
    assert set(regions.VIEWS) >= {view.kind}


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
    assert len(np.linspace(-1, 1, 40)) > regions.FEW_EDGES > 5


def test_a_range_holds_its_ends():
    event = Range("left", 2, None, View("entry", 1), 1.0, 2.0)
    rows = np.array([[0, 1.0], [0, 2.0], [0, 0.999], [0, 2.001], [0, NAN]])
    assert event.inside(rows).tolist() == [True, True, False, False, False]
    assert [tuple(row) in event for row in rows.tolist()] == event.inside(rows).tolist()
    assert "no vector" not in event


def test_a_score_adds_its_terms():
    terms = (
        Term(View("entry"), (0.0, 1.0), (-1.0, 0.5, 2.0), ((7.0, 4.0),), 8.0),
        Term(View("sum"), (10.0,), (0.0, 16.0)),
    )
    rows = np.array([[-3.0, 1.0], [0.0, 20.0], [7.0, 1.0], [NAN, 10.0], [1.0, 1.0]])
    event = Score("right", 2, None, terms, 4.0)
    assert event.scores(rows).tolist() == [-1.0, 16.5, 4.0, 24.0, 2.0]
    assert event.inside(rows).tolist() == [False, True, True, True, False]
    assert Term(View("entry"), (), (0.5,)).of(np.array([[NAN], [1.0]])).tolist() == [0.0, 0.5]


def test_draws_are_counted_as_rows_and_one_by_one():
    event = Range("left", 2, None, View("sum"), 3.0, INF)
    rows = np.array([[1.0, 2.0, 9.0], [1.0, 1.0, 9.0], [4.0, -2.0, 9.0]])
    # Rows are cut to the event's width: the 9 is not seen.
    assert event.count(Draws(pieces=[rows])) == 1
    assert event.count(Draws()) == 0
    counts = Counter({(1.0, 2.5): 4, (1.0, 1.0): 3, (7.0,): 2})
    assert event.count(Draws(counts)) == 6
    assert event.count(Draws(counts, pieces=[rows])) == 7
    assert event.count(Draws(Counter({(1.0, 2.5): 4, "error Boom": 3}))) == 4
    flags = Range("left", 2, None, View("entry", 1), 1.0, 1.0)
    assert flags.count(Draws(Counter({(True, True): 5, (True, False): 2, (True, None): 1}))) == 5


def test_lists_are_read_as_where_vertices_stand():
    event = Range("left", 3, (7, 5), View("entry", 0), 0.0, 1.0)
    places = {output: output in event for output in [(7,), (5, 7), (5, 3, 9, 7), (5,), ()]}
    numbers = {output: regions.list_rows([output], (7, 5))[0].tolist() for output in places}
    for output, inside in places.items():
        assert inside == (0.0 <= numbers[output][0] <= 1.0)
    assert event.count(Draws(Counter({(7,): 3, (5,): 4}))) == 3
    assert event.count(Draws(Counter({(7,): 3, "error Boom": 4}))) == 3
    # What is no list is in no event about lists, not even in one that holds the empty list.
    short = Range("left", 3, (7, 5), View("entry", 2), 0.0, 1.0)
    assert () in short
    assert "error Boom" not in short
    assert short.count(Draws(Counter({(): 3, "error Boom": 4}))) == 3
    assert event.count(Draws(pieces=[np.zeros((4, 3))])) == 0


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
    event = Range("right", 3, None, View("entry"), low, high)
    assert event.words() == words
    body = json.loads(json.dumps(event.to_json()))
    assert body == {
        "feature": "range",
        "side": "right",
        "width": 3,
        "vertices": None,
        "view": ["entry", 0.0],
        "low": None if low == -INF else low,
        "high": None if high == INF else high,
    }
    assert region_from_json(body) == event


def test_ranges_about_lists_keep_their_vertices():
    event = Range("left", 3, (7, 5), View("entry", 1), 0.0, 1.0)
    assert region_from_json(json.loads(json.dumps(event.to_json()))) == event


def test_places_in_words():
    def name(vertex):
        return f"v{vertex}"

    first = Range("left", 3, (7, 5), View("entry", 1), 0.0, 1.0)
    assert first.words(name).startswith("the place of v5 in the list is")
    assert first.words().startswith("the place of 5 in the list is")
    last = Range("left", 3, (7, 5), View("entry", 2), 2.0, 2.0)
    assert last.words(name) == "the length of the list is 2"
    other = Range("left", 3, (7, 5), View("zeros"), 2.0, 2.0)
    assert other.words(name) == "the number of entries that are exactly 0 is 2"


def test_scores_in_words_and_json():
    terms = tuple(
        Term(View("entry", j), (0.5,), (-1.0, 1.0), ((3.0, 7.0),), 0.25) for j in range(6)
    )
    told = [Score("left", 6, (1, 2), terms[:k], 0.5).words() for k in (1, 2)]
    place = [f"the place of {v} in the list" for v in (1, 2)]
    assert told[0] == f"a score of {place[0]} is at least 0.5"
    assert told[1] == f"a score of {place[0]} and {place[1]} is at least 0.5"
    plain = [Score("left", 6, None, terms[:k], 0.5).words() for k in (2, 4, 5, 6)]
    assert plain == [
        "a score of entry 1 and entry 2 is at least 0.5",
        "a score of entry 1, entry 2, entry 3 and entry 4 is at least 0.5",
        "a score of entry 1, entry 2, entry 3 and 2 more features is at least 0.5",
        "a score of entry 1, entry 2, entry 3 and 3 more features is at least 0.5",
    ]
    twice = Score("left", 6, None, (terms[0], terms[0]), 0.5)
    assert twice.words() == "a score of entry 1 is at least 0.5"
    event = Score("right", 6, (4, 2), terms[:2], -1.5)
    body = json.loads(json.dumps(event.to_json()))
    assert body == {
        "feature": "score",
        "side": "right",
        "width": 6,
        "vertices": [4, 2],
        "threshold": -1.5,
        "terms": [
            {
                "view": ["entry", float(j)],
                "edges": [0.5],
                "weights": [-1.0, 1.0],
                "atoms": [[3.0, 7.0]],
                "missing": 0.25,
            }
            for j in (0, 1)
        ],
    }
    assert region_from_json(body) == event


def test_what_is_no_event_is_refused():
    body = Range("left", 1, None, View("entry"), 0.5, 1.0).to_json()
    with pytest.raises(KeyError, match="circle"):
        region_from_json({**body, "feature": "circle"})
    with pytest.raises(KeyError, match="middle"):
        region_from_json({**body, "view": ["middle", 0.0]})
    with pytest.raises(KeyError, match="low"):
        region_from_json({k: v for k, v in body.items() if k != "low"})
