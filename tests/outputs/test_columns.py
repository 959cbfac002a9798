"""Columns: every number that can be read off an output, and outputs as a batch of groups."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit.outputs import Atom, Coded, Column, Crossed, Draws, Whole, batch_of, flatten, gathered
from pdpaudit.outputs.columns import (
    CATEGORIES,
    READERS,
    batch_of_outputs,
    embedded_numbers,
    entries_of,
    template_of,
    whole_of,
)

from .made_up import ANYTHING, SMALL

NAN, INF = math.nan, math.inf
ROWS = np.array([[3.0, 0.0, NAN], [1.0, -2.0, 5.0], [0.0, 0.0, NAN], [NAN, NAN, NAN]])


def read(column, outputs):
    return batch_of_outputs(outputs).read(column).tolist()


@pytest.mark.parametrize(
    ("column", "numbers"),
    [
        (Column("number", (0,)), [3, 1, 0, NAN]),
        (Column("number", (1,)), [0, -2, 0, NAN]),
        (Column("number", (3,)), [NAN] * 4),
        (Column("step", at=1), [-3, -3, 0, NAN]),
        (Column("step", at=2), [NAN, 7, NAN, NAN]),
        (Column("step", at=3), [NAN] * 4),
        (Column("sum"), [3, 4, 0, 0]),
        (Column("least"), [3, -2, NAN, NAN]),
        (Column("greatest"), [3, 5, NAN, NAN]),
        (Column("zeros"), [1, 0, 2, 0]),
        (Column("stopped", at=3), [1, 0, 1, 3]),
        (Column("stopped", at=2), [0, 0, 0, 2]),
        (Column("stopped", at=4), [2, 1, 2, 4]),
        (Column("above", at=1.0), [1, 1, 0, 0]),
        (Column("above", at=-2.5), [1, 3, 0, 0]),
        # Digits in base 3, from the first entry on: 1 for a value, 2 for no number.
        (Column("pattern", at=3), [1 + 0 + 18, 1 + 3 + 9, 18, 2 + 6 + 18]),
        (Column("pattern", at=2), [1 + 0, 1 + 3, 0, 2 + 6]),
        (Column("pattern", at=4), [73, 67, 72, 80]),
    ],
)
@pytest.mark.parametrize("form", ["array", "tuples", "lists", "dictionaries"])
def test_every_number_that_can_be_read_off_rows(column, numbers, form):
    rows = list(map(tuple, ROWS.tolist()))
    if form == "array":
        found = batch_of(gathered(ROWS, 4)).read(column)
        assert found.dtype == np.float64
    elif form == "dictionaries":
        named = Column(column.aspect, tuple("abcd"[i] for i in column.path), column.at)
        found = read(named, [dict(zip("abc", row, strict=True)) for row in rows])
    else:
        found = read(column, rows if form == "tuples" else list(map(list, rows)))
    np.testing.assert_array_equal(found, numbers)


@pytest.mark.parametrize(
    ("column", "output", "number"),
    [
        (Column("number"), 3, 3.0),
        (Column("number"), True, 1.0),
        (Column("number"), None, NAN),
        (Column("number"), "3", NAN),
        (Column("number"), Fraction(1, 4), 0.25),
        (Column("number"), 10**400, INF),
        (Column("number", ("a", 1)), {"a": (3, 4)}, 4.0),
        (Column("number", ("a",)), {"a": (3, 4)}, NAN),
        (Column("rest"), 2**60 + 1, 1.0),
        (Column("rest", (1,)), (0.5, 2**53 + 1), 1.0),
        (Column("length"), (3, 4), 2.0),
        (Column("length"), "abc", 3.0),
        (Column("length"), {"a": 1}, 1.0),
        (Column("length"), 3, NAN),
        (Column("length", ("a",)), {"a": [3, 4]}, 2.0),
        (Column("length", prefix=1), (3, 4, 5), 2.0),
        (Column("embedded", at=1), "3 of 4.5", 4.5),
        (Column("embedded", at=2), "3 of 4.5", NAN),
        (Column("embedded"), "1e999", INF),
        (Column("embedded"), b"x7", 7.0),
        (Column("embedded"), 3, NAN),
        (Column("byte", at=1), b"ab", 98.0),
        (Column("byte", at=2), b"ab", NAN),
        (Column("byte"), "ab", 97.0),
        (Column("byte"), "\U0001f600", 128512.0),
        (Column("byte"), 97, NAN),
        (Column("place", at=7), (5, 7), 1.0),
        (Column("place", at=7), (5, 7.0), NAN),
        (Column("place", at=7), [7], 0.0),
        (Column("place", at=7), 7, NAN),
        (Column("place", at=Atom("None", None)), (5, None), 1.0),
    ],
)
def test_every_number_that_can_be_read_off_anything(column, output, number):
    assert read(column, [output]) == pytest.approx([number], nan_ok=True, rel=0)


def test_infinite_values_are_values():
    batch = batch_of(gathered(np.array([[INF, 1.0], [-INF, INF]]), 2))
    assert batch.read(Column("greatest")).tolist() == [INF, INF]
    assert batch.read(Column("least")).tolist() == [1.0, -INF]
    np.testing.assert_array_equal(batch.read(Column("sum")), [INF, NAN])


def test_flags_are_read_as_numbers_and_named_as_flags():
    flags = [(True, False, True), (False, False, True)]
    for draws in (gathered(np.array(flags), 2), gathered(flags, 2)):
        batch = batch_of(draws)
        assert sorted(batch.read(Column("number", (0,))).tolist()) == [0.0, 1.0]
        assert sorted(batch.read(Column("step", at=1)).tolist()) == [-1.0, 0.0]
        assert sorted(batch.read(Column("sum")).tolist()) == [1.0, 2.0]
        assert batch.categories(Column("kind", (0,))) == ["bool"] * 2
        assert set(batch.categories(Column("value", (0,)))) == {
            Atom("bool", True),
            Atom("bool", False),
        }
        assert set(batch.categories(Column("output"))) == set(map(whole_of, map(flatten, flags)))
        assert [group.kind_set((0,)) for group in batch.groups] == [{"bool"}]


def test_what_is_no_number_is_one_category_in_arrays_too():
    """Nan is not equal to itself."""
    rows = np.array([[NAN, 1.0], [NAN, INF]])
    nothing = Atom("nan", None)
    for draws in (gathered(rows, 2), gathered(list(map(tuple, rows.tolist())), 2)):
        assert batch_of(draws).categories(Column("value", (0,))) == [nothing, nothing]
    single = batch_of(gathered(rows[:, 0].copy(), 2))
    assert (
        single.categories(Column("value")) == single.categories(Column("output")) == [nothing] * 2
    )


def test_patterns_end_where_digits_do():
    for outputs in ([(1.0,) * 40], [(1.0,) * 33 + (NAN,) * 7]):
        assert read(Column("pattern", at=40), outputs) == [sum(3.0**i for i in range(33))]


def test_a_sum_does_not_depend_on_how_rows_are_stored():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(50, 37)) * 10.0 ** rng.integers(-8, 8, (50, 37))
    # One after the other: `sum` of Python 3.12 corrects what it loses.
    plain = [reduce(add, row, 0.0) for row in rows.tolist()]
    wide = gathered(np.hstack([rows, np.full((50, 100), NAN)]), 50)
    for draws in (gathered(rows, 50), gathered(np.asfortranarray(rows), 50), wide):
        assert batch_of(draws).read(Column("sum")).tolist() == plain
    assert [read(Column("sum"), [tuple(row)])[0] for row in rows.tolist()] == plain
    assert read(Column("sum"), [()]) == [0.0]


def test_of_a_set_nothing_is_first():
    """It has entries and no order; what all sets hold is no beginning of theirs."""
    batch = batch_of_outputs([{3, 4}, frozenset({3, 6}), {3: 1}.keys()])
    for aspect in ("first", "last"):
        assert batch.categories(Column(aspect)) == [None] * 3
    assert batch.categories(Column("begins", at=1)) == [None] * 3
    assert batch.categories(Column("order", at=(3, 4))) == [None] * 3
    assert batch.categories(Column("finds", at=4)) == [True, False, False]
    assert batch.categories(Column("finds", at=3, prefix=1)) == [True] * 3
    assert batch.categories(Column("length", prefix=1)) == [2, 2, 1]
    assert batch.categories(Column("output", prefix=1))[0] == Whole(flatten({3, 4}))


def test_categories_as_numbers():
    column = Coded(Column("kind"), ("None", "float"))
    np.testing.assert_array_equal(read(column, [None, 0.5, 3]), [0, 1, NAN])


def test_two_columns_at_once_are_cells_of_a_table():
    column = Crossed((Column("number", (0,)), Column("number", (1,))), ((0.0, 1.0), (5.0,)))
    outputs = [(-1.0, 5.0), (0.0, 4.0), (1.0, NAN), (NAN, 9.0), (0.5, 5.0)]
    # Three columns of each row: below 5, from 5 on, no number; of the rows the last is no number.
    assert read(column, outputs) == [1, 3, 8, 10, 4]


@pytest.mark.parametrize(
    ("output", "entries"),
    [
        ((3, None), (3, Atom("None", None))),
        ([3, 4], (3, 4)),
        (("a", b"a"), ("a", Atom("bytes", b"a"))),
        ((), ()),
        (frozenset({4, 3}), (3, 4)),
        ((0.5, 1.5), None),  # measured numbers are no list of anything
        ((0.5, 1), (Atom("float", 0.5), 1)),
        ((3, (4,)), None),
        ({"a": 1}, None),
        (3, None),
        ("ab", None),
        ((2**5000, "a"), (Atom("int", hex(2**5000)), "a")),
    ],
)
def test_the_entries_of_flat_sequences(output, entries):
    assert entries_of(flatten(output)) == entries


@given(SMALL, SMALL, st.integers(0, 3))
def test_whole_outputs_are_categories_that_tell_them_apart(one, other, prefix):
    """Behind a prefix those that begin alike are told apart as before."""
    first, second = flatten(one), flatten(other)
    assert (whole_of(first) == whole_of(second)) is (first == second)
    heads = [(entries_of(record) or ())[:prefix] for record in (first, second)]
    if heads[0] == heads[1]:
        assert (whole_of(first, prefix) == whole_of(second, prefix)) is (first == second)


@given(ANYTHING)
def test_every_column_reads_something_of_anything(output):
    for aspect in READERS:
        (number,) = read(Column(aspect, at=1), [output])
        assert isinstance(number, float)
    for aspect in CATEGORIES:
        at = (1, 2) if aspect == "order" else 1
        (category,) = batch_of_outputs([output]).categories(Column(aspect, at=at))
        hash(category)


@given(st.lists(SMALL, min_size=2, max_size=2))
def test_outputs_that_differ_differ_in_a_column(outputs):
    one, other = (batch_of_outputs([output]) for output in outputs)
    same = flatten(outputs[0]) == flatten(outputs[1])
    whole = Column("output")
    assert (one.categories(whole) == other.categories(whole)) is same


def test_a_batch_is_in_an_order_of_its_own():
    outputs = [(3, 4), 2, 10, None, "b", "a", (0.5, None), {"a": 1}, {"b": 1}, [1], 10, (3,)]
    forward, back = (batch_of(gathered(some, 12)) for some in (outputs, outputs[::-1]))
    assert forward.runs == back.runs == 12
    assert forward.size == back.size == 11
    assert forward.weights.tolist() == back.weights.tolist()
    for aspect in ("output", "structure", "kind"):
        assert forward.categories(Column(aspect)) == back.categories(Column(aspect))
    assert batch_of(Draws()).size == batch_of(Draws()).runs == 0
    assert batch_of(Draws()).read(Column("number")).shape == (0,)
    assert batch_of(Draws()).categories(Column("output")) == []


def test_beyond_its_end_a_row_of_an_array_is_what_a_wider_one_may_have_there():
    narrow, wide = np.ones((2, 1)), np.array([[1.0, NAN]])
    draws = gathered(narrow, 2)
    draws.update(gathered(wide, 1))
    batch = batch_of(draws)
    assert batch.categories(Column("kind", (1,))) == ["nan"] * 3
    assert batch_of(gathered(narrow, 2)).categories(Column("kind", (1,))) == ["nan"] * 2
    assert batch.categories(Column("output")) == [Whole(flatten((1.0,)))] * 3
    # A tuple has an end.
    assert batch_of_outputs([(1.0,)]).categories(Column("kind", (1,))) == ["absent"]


def test_numbers_in_texts():
    assert embedded_numbers("-3 of 4.5e2, .5") == [-3.0, 450.0, 0.5]
    assert embedded_numbers("٣") == [3.0]
    assert template_of("-3 of 4.5e2, .5") == "# of #, #"
    assert template_of(b"a1") == "a#"
    assert embedded_numbers(3.5) == []


def test_dates_are_numbers_of_seconds():
    days = [datetime.date(2020, 1, day) for day in (1, 2)]
    one, two = read(Column("number"), days)
    assert two - one == 86400.0
