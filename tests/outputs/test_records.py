"""Records: equal for two outputs if and only if nothing tells them apart, whatever they are."""

from __future__ import annotations

import array
import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import math
import threading
import types
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pdpaudit.outputs import Draws, Unreadable, failure, flatten, gathered, is_failure
from pdpaudit.outputs.records import MOST_DEEP, MOST_ENTRIES, number_of, rest_of, sort_key
from pdpaudit.sampling.store import decode, encode

from .made_up import ANYTHING, SMALL, Colour, Pair, Point, Slotted, Taste

LONG = np.longdouble
EPS = np.finfo(LONG).eps

#: Whether this platform has digits that a float64 has not.
LONGER = pytest.mark.skipif(float(EPS) == np.finfo(float).eps, reason="no longer floats here")


def alike(one: Any, other: Any) -> bool:
    """Say whether nothing tells two made-up outputs apart, by code that shares nothing with ours.

    Of floats their bits decide, of sets how often each thing is in them, of dictionaries the order
    too, which whoever iterates over one sees.
    """
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return bool(one.hex() == other.hex())
    if isinstance(one, complex):
        return alike((one.real, one.imag), (other.real, other.imag))
    if isinstance(one, np.ndarray):
        return (one.dtype, one.shape) == (other.dtype, other.shape) and alike(
            one.ravel().tolist(), other.ravel().tolist()
        )
    if isinstance(one, dict):
        return alike(list(one.items()), list(other.items()))
    if isinstance(one, Point):
        return alike((one.x, one.y), (other.x, other.y))
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, frozenset):
        left = list(other)
        for item in one:
            match = next((i for i, rest in enumerate(left) if alike(item, rest)), None)
            if match is None:
                return False
            del left[match]
        return not left
    if isinstance(one, decimal.Decimal):
        return str(one) == str(other)
    return bool(one == other)


@given(ANYTHING)
def test_equal_outputs_have_equal_records(output):
    record = flatten(output)
    again = flatten(copy.deepcopy(output))
    assert record == again
    assert hash(record) == hash(again)
    assert repr(sort_key(record)) == repr(sort_key(again))


@given(SMALL, SMALL)
def test_records_are_equal_if_and_only_if_nothing_tells_outputs_apart(one, other):
    assert (flatten(one) == flatten(other)) is alike(one, other)


@given(ANYTHING, ANYTHING)
def test_so_are_those_of_anything(one, other):
    assert (flatten(one) == flatten(other)) is alike(one, other)


def _slotted(x, y):
    made = Slotted()
    made.x, made.y = x, y
    return made


def _objects(values):
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


STRUCTURED = np.array([(1, 2.0), (1, 3.0)], dtype=[("a", int), ("b", float)])
NAMED = collections.namedtuple("NAMED", "x y")

DIFFERENT = {
    "a missing entry": ((0.5,), (0.5, None)),
    "None and nan": (None, math.nan),
    "None and nan inside": ((0.5, None), (0.5, math.nan)),
    "wide whole numbers": ((0.5, 2**53), (0.5, 2**53 + 1), (0.5, 2**53 + 2)),
    "very wide whole numbers": (2**5000, 2**5000 + 1, -(2**5000), hex(2**5000)),
    "lists of very wide whole numbers": ((2**5000,), (hex(2**5000),), [2**5000]),
    "a number and a tuple of it": (0.5, (0.5,), ((0.5,),), [0.5], {0.5}, frozenset({0.5})),
    "one, truth and a real number": (1, True, 1.0, "1", b"1", decimal.Decimal(1), 1 + 0j),
    "inside too": ((1,), (True,), (1.0,), ("1",), (b"1",), (fractions.Fraction(1),)),
    "zeros": (0.0, -0.0, 0, False),
    "zeros inside": ((0.0, 1.0), (-0.0, 1.0), (0, 1.0)),
    "zeros of complex numbers": (0j, complex(0.0, -0.0), complex(-0.0, 0.0)),
    "what is not finite": (math.inf, -math.inf, math.nan, "inf"),
    "nothing in all forms": ((), [], {}, set(), frozenset(), "", b"", None, np.zeros(0)),
    "tuples with names": (Pair(1, 2), NAMED(1, 2), (1, 2), Point(1, 2), {"x": 1, "y": 2}),
    "members of two enums": (Colour.RED, Colour.BLUE, Taste.RED, "RED"),
    "kinds of bytes": (b"a", bytearray(b"a"), memoryview(b"a"), "a"),
    "keys": ({1: 0}, {True: 0}, {"1": 0}, {1.0: 0}, {None: 0}, {(1,): 0}),
    "a number and its text as keys": ({7: 0}, {"7": 0}, {"[7]": 0}, {"[7": 0}, {2**5000: 0}),
    "structures of keys": ({(1, 2): 0}, {((1,), 2): 0}, {frozenset({1, 2}): 0}),
    "a key and its text": ({True: 0}, {repr((("bool",), (True,))): 0}, {repr(flatten(True)): 0}),
    "what is behind a key": ({"a": {"b": 1}}, {"a": ("b", 1)}, {"a": 1, "b": 1}, {"b": 1, "a": 1}),
    "dictionaries": ({1: 2}, collections.Counter({1: 2}), collections.OrderedDict({1: 2})),
    "days and moments": (
        datetime.date(2020, 1, 2),
        datetime.datetime(2020, 1, 2),
        datetime.datetime(2020, 1, 2, microsecond=1),
        datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC),
        datetime.timedelta(days=1),
        datetime.timedelta(microseconds=1),
        datetime.time(1),
    ),
    "shapes and types of arrays": (
        np.zeros(4),
        np.zeros((2, 2)),
        np.zeros(4, dtype=np.float32),
        np.zeros(4, dtype=int),
        np.zeros(4, dtype=bool),
        [0.0] * 4,
    ),
    "rows of a structured array": tuple(STRUCTURED),
    "arrays too long to keep": tuple(np.arange(9000) + (np.arange(9000) == at) for at in (7, 8999)),
    "arrays of objects too long to keep": (_objects([[1]] * 5000), _objects([[1]] * 4999 + [[2]])),
    "arrays of other libraries": (array.array("d", [1, 2]), array.array("d", [1, 3])),
    "views": ({1: 2}.values(), {1: 3}.values(), {1: 2}.keys(), {1: 2}.items()),
    "slices": (slice(1, 2), slice(1, 3)),
    "slots of a parent": (_slotted(1, 2), _slotted(2, 2), _slotted(1, 3)),
    "attributes": (types.SimpleNamespace(a=1), types.SimpleNamespace(a=2)),
    "exceptions": (ValueError(1), KeyError(1), ValueError(2), ValueError),
    "surrogates": ("\ud83d\ude00", "\U0001f600", "\ud83d", "\\ud83d"),
    "very long fractions": tuple(fractions.Fraction(10**5000 + i, 3) for i in range(0, 6, 3)),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_is_kept_apart(name):
    for one, other in combinations(DIFFERENT[name], 2):
        assert flatten(one) != flatten(other), (one, other)
    for one in DIFFERENT[name]:
        assert flatten(one) == flatten(one)


@LONGER
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LONG(1), LONG(1) + EPS),
        ((0.5, LONG(1)), (0.5, LONG(1) + EPS)),
        (np.array([LONG(1)]), np.array([LONG(1) + EPS])),
        (np.full(5000, LONG(1)), np.full(5000, LONG(1) + EPS)),
        (np.clongdouble(1), np.clongdouble(LONG(1) + EPS)),
        (LONG("1e4400"), LONG("1e4500")),
        (LONG("1e-4400"), LONG("1e-4500")),
    ],
)
def test_digits_beyond_double_precision_are_kept(one, other):
    assert flatten(one) != flatten(other)


@LONGER
def test_draws_keep_digits_beyond_double_precision():
    rows = np.array([[LONG(1), LONG(2)], [LONG(1) + EPS, LONG(2)]])
    assert len(gathered(rows, 2).counts) == len(gathered(list(map(tuple, rows)), 2).counts) == 1
    assert gathered(rows, 2).same_as(gathered(list(map(tuple, rows)), 2))
    assert len(gathered(rows[:, 0], 2)) == 2


def test_what_numpy_gives_is_what_python_gives():
    for one, other in [
        (np.int64(3), 3),
        (np.uint8(3), 3),
        (np.bool_(True), True),
        (np.float64(0.5), 0.5),
        (np.float32(0.5), 0.5),
        (LONG(0.5), 0.5),
        (np.str_("a"), "a"),
        (np.bytes_(b"a"), b"a"),
    ]:
        assert flatten(one) == flatten(other)


def test_sets_are_read_in_an_order_of_their_own():
    """The same whatever was put in first, and whatever else is in it."""
    things = [3, 10, "b", "a", None, (1, 2), (1, "x"), 0.5, frozenset({2}), b"", 2**60, -1]
    records = {flatten(set(order)) for order in (things, things[::-1], things[5:] + things[:5])}
    assert len(records) == 1
    assert flatten({3, 10, -1})[2] == (-1, 3, 10)


class Odd(int):
    """A whole number that is equal to nothing and has no hash."""

    __hash__ = None

    def __eq__(self, other):
        return False

    def __add__(self, other):
        return self


def test_subclasses_are_read_for_what_they_are():
    assert flatten(Odd(3)) == flatten(3)
    assert hash(flatten((Odd(3), "a"))) == hash(flatten((3, "a")))


@pytest.mark.parametrize(
    "made",
    [
        lambda: (i for i in range(10**9)),
        lambda: [0] * 200_001,
        lambda: nested(MOST_DEEP + 1),
        lambda: nested(100_000),
        lambda: endless(),
        lambda: Sulking(),
        lambda: {"a": Sulking()},
    ],
)
def test_what_cannot_be_read_is_refused_in_words(made):
    with pytest.raises(Unreadable, match=r"^(a|something) "):
        flatten(made())


NUMBERS = st.floats() | st.integers() | st.booleans() | st.sampled_from([0.0, -0.0, 10**1300])


@given(
    st.lists(NUMBERS, max_size=30)
    | st.lists(st.floats(), max_size=30)
    | st.lists(NUMBERS).map(tuple)
)
def test_many_numbers_at_once_are_those_one_by_one(numbers):
    """Those that are all of one kind are not looked at one by one."""
    structure, kinds, values = flatten(numbers)
    each = [flatten(number) for number in numbers]
    assert structure == (type(numbers).__name__, None, (None,) * len(numbers))
    assert kinds == tuple(kind for _, (kind,), _ in each)
    assert repr(values) == repr(tuple(value for _, _, (value,) in each))
    assert flatten({"of": numbers})[1:] == (kinds, values)


def holding(value):
    return lambda: value


def by_default(value):
    def answer(*, rounded=value):
        return rounded

    return answer


class Model:
    def __init__(self, value):
        self.value = value
        self.again = self.predict

    def predict(self):
        return self.value


@given(st.integers() | st.text() | st.tuples(st.integers()), st.integers())
@pytest.mark.parametrize(
    "made",
    [
        holding,
        by_default,
        lambda value: Model(value).predict,
        lambda value: Model(value).again,
        lambda value: Model(value),
        lambda value: functools.partial(holding(value), "x"),
        lambda value: functools.partial(max, key=value),
        lambda value: {"of": value}.get,
        lambda value: [value].__contains__,
    ],
)
def test_a_function_is_what_it_holds(made, one, other):
    """Whoever is given it can call it, and learns that."""
    assert flatten(made(one)) == flatten(made(one))
    assert (flatten(made(one)) == flatten(made(other))) == (flatten(one) == flatten(other))
    assert (flatten([made(one)]) == flatten([made(other)])) == (flatten(one) == flatten(other))


def test_a_function_that_holds_nothing_is_its_name():
    assert flatten(holding) == (None, ("function",), ("holding",))
    assert flatten(len) == (None, ("builtin_function_or_method",), ("len",))


@pytest.mark.parametrize("inside", [lambda thing: thing, lambda thing: {"a": [thing]}])
def test_an_object_that_shows_nothing_is_refused(inside):
    """Two of them would count as the same, whatever they are."""
    with pytest.raises(Unreadable, match="nothing can be seen"):
        flatten(inside(object()))
    flatten(inside(type("Empty", (), {})()))
    flatten(inside(type("Without", (), {"__slots__": ()})()))


def test_where_an_object_is_in_memory_is_no_part_of_an_output():
    locks = [threading.Lock() for _ in range(3)]
    assert len({repr(lock) for lock in locks}) == 3
    assert len({flatten(lock) for lock in locks}) == 1


def nested(depth):
    made: tuple[Any, ...] = ()
    for _ in range(depth):
        made = (made,)
    return made


def endless():
    made: list[Any] = []
    made.append(made)
    return made


class Sulking:
    def __init__(self):
        self.a = 1

    def __getattribute__(self, name):
        if name == "a":
            raise RuntimeError("no")
        return super().__getattribute__(name)


def test_what_is_as_deep_as_may_be_is_read():
    assert flatten(nested(MOST_DEEP)) != flatten(nested(MOST_DEEP - 1))
    assert flatten(i for i in range(3))[2] == (0, 1, 2)


def test_long_arrays_are_summarised_whatever_is_in_them():
    """With no warning, which would be an error here."""
    for odd in (np.inf, -np.inf, np.nan, 1e308):
        numbers = np.full(MOST_ENTRIES + 1, odd)
        numbers[::2] = -numbers[::2]
        structure, kinds, values = flatten(numbers)
        assert structure[1][:5] == ("sum", "least", "greatest", "spread", "digest")
        assert len(kinds) == len(values) == 5 + 64
    assert len(flatten(np.zeros(MOST_ENTRIES))[1]) == MOST_ENTRIES
    assert len(flatten(np.array(["a"] * 5000))[1]) == 69


def test_what_raised_is_a_record_of_its_own():
    records = [failure(KeyError(3)), failure(ValueError()), failure(SystemExit(1))]
    assert len({*records, flatten(KeyError(3)), flatten("raises KeyError")}) == 5
    assert all(map(is_failure, records))
    assert not any(map(is_failure, [flatten(KeyError(3)), flatten("raises KeyError"), flatten(())]))


@pytest.mark.parametrize(
    ("value", "number", "rest"),
    [
        (3, 3.0, 0.0),
        (2**53 + 1, 2.0**53, 1.0),
        (-(2**53) - 1, -(2.0**53), -1.0),
        (10**400, math.inf, math.log2(10**400)),
        (-(10**400), -math.inf, -math.log2(10**400)),
        (2**5000, math.inf, 5000.0),
        (-(2**5000), -math.inf, -5000.0),
        (0.1, 0.1, 0.0),
        (math.inf, math.inf, 0.0),
        (-0.0, 0.0, 0.0),
        (True, 1.0, 0.0),
        (fractions.Fraction(1, 4), 0.25, 0.0),
        (fractions.Fraction(10**400, 3), math.inf, math.log2(10**400) - math.log2(3)),
        (fractions.Fraction(-(10**5000), 3), -math.inf, math.log2(3) - math.log2(10**5000)),
        (decimal.Decimal("1e500"), math.inf, math.log2(10**500)),
        (decimal.Decimal("0.5"), 0.5, 0.0),
        (decimal.Decimal("NaN"), math.nan, math.nan),
        (decimal.Decimal("Infinity"), math.nan, math.nan),
        (decimal.Decimal("1e999999"), math.nan, math.nan),
        (datetime.timedelta(minutes=1), 60.0, 0.0),
        (datetime.date(1970, 1, 2), 86400.0, 0.0),
        (datetime.datetime(1970, 1, 2, tzinfo=datetime.UTC), 86400.0, 0.0),
        (None, math.nan, math.nan),
        (math.nan, math.nan, math.nan),
        ("3", math.nan, math.nan),
        (Colour.RED, math.nan, math.nan),
    ],
    ids=lambda value: f"{value!r:.20}" if isinstance(value, float) else type(value).__name__,
)
def test_the_number_of_a_leaf_and_what_it_leaves_out(value, number, rest):
    _, (kind,), (kept,) = flatten(value)
    assert number_of(kind, kept) == pytest.approx(number, nan_ok=True, rel=0)
    assert rest_of(kind, kept) == pytest.approx(rest, nan_ok=True, rel=1e-15)


@LONGER
def test_the_number_of_a_long_double():
    _, (kind,), (kept,) = flatten(LONG(1) + EPS)
    assert (number_of(kind, kept), rest_of(kind, kept)) == (1.0, float(EPS))
    _, (kind,), (kept,) = flatten(LONG("1e4400"))
    assert (number_of(kind, kept), rest_of(kind, kept)) == (math.inf, pytest.approx(14616.4, abs=1))


class Decimal(enum.Enum):
    """An enum with the name of a number."""

    RED = "red"


class date(enum.Enum):
    RED = "red"


def test_a_name_of_ours_makes_no_number():
    """Enums may be called what numbers are called."""
    for member in (Decimal.RED, date.RED):
        _, (kind,), (kept,) = flatten(member)
        assert math.isnan(number_of(kind, kept))
        assert math.isnan(rest_of(kind, kept))


@given(st.lists(ANYTHING, max_size=8))
@example(["\ud83d\ude00", {"\ud83d\ude00": 1}])
@example([2**5000, -0.0, math.inf, math.nan])
def test_records_survive_the_store(outputs):
    draws = gathered(outputs, len(outputs))
    fields = decode(encode(vars(draws)))
    assert isinstance(fields, dict)
    again = Draws(**fields)
    assert draws.same_as(again)
    assert again.same_as(draws)
    assert [flatten(o) for o in outputs] == [decode(encode(flatten(o))) for o in outputs]


@dataclasses.dataclass
class Late:
    x: int
    y: int = dataclasses.field(init=False)


def test_a_field_that_was_never_set_is_no_field_with_a_value():
    made = Late(1)
    with pytest.raises(Unreadable, match="AttributeError"):
        flatten(made)
    made.y = 2
    assert flatten(made)[2] == (1, 2)
