"""What differs between two inputs, in words."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit.core.graphs import Graph
from pdpaudit.core.input_words import difference_words


class Silent:
    """What its author's own code cannot write."""

    def __repr__(self):
        raise RuntimeError("no")


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


@dataclass(frozen=True)
class Person:
    age: int
    likes: Colour = Colour.RED
    born: date = date(1990, 1, 1)
    paid: Decimal = Decimal("1.50")


class Visit(NamedTuple):
    who: Person
    scores: list[float]


class Plain:
    """What Python writes by its place alone."""

    def __init__(self, **given):
        vars(self).update(given)


CLARA = Person(31)
LONG = "of many letters that two texts begin with " * 9

ADA, BOB = {"age": 31, "sex": "f"}, {"age": 9, "sex": "m"}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (0, 1, "0 → 1"),
        (0.1, math.nan, "0.1 → nan"),
        (1 / 3, 0.0, "0.333333 → 0.0"),
        (1.0, 1.0 + 2**-52, "1.0 → 1.0000000000000002"),
        ("a", "b", "a → b"),
        ([ADA, BOB], [BOB], "row 1: age 31, sex f → absent (beside age 9, sex m)"),
        ([BOB], [BOB, ADA], "row 2: absent → age 31, sex f (beside age 9, sex m)"),
        ([ADA], [{**ADA, "age": 32}], "row 1: age 31 → 32"),
        ([1] * 9, [1] * 8, "row 9: 1 → absent (beside 8 times 1)"),
        ((0.0, 0.0, 7.0), (0.0, 1.0, 7.0), "entry 2: 0.0 → 1.0 (beside 0.0; 7.0)"),
        ((0.0, 0.0), (1.0, 1.0), "(0.0, 0.0) → (1.0, 1.0)"),
        (np.zeros(2), np.array([0.0, 5.0]), "row 2: 0.0 → 5.0 (beside 0.0)"),
        ({"a": 1}, {"a": 1, "b": 2}, "b absent → 2"),
        (pd.DataFrame([ADA, BOB]), pd.DataFrame([BOB]), "row 1: age 31, sex f → absent"),
        (0, 10**400, "0 → a whole number of 1329 bits"),
        (Graph(3, ()), Graph(3, ((0, 1),)), "tie 0-1 absent → present (3 vertices with 0-1)"),
        (Graph(2, ((0, 1),)), Graph(1, ()), "vertex 1 → absent (2 vertices with 0-1)"),
        (nx.Graph([("x", "y")]), nx.empty_graph(["x", "y"]), "tie x-y present → absent"),
        (nx.empty_graph(2), nx.empty_graph(2), "no difference (2 vertices with no ties)"),
        ([], [], "no difference"),
        (SimpleNamespace(x=1), 3, "namespace(x=1) → 3"),
        ("a\x1b[31mb", "c", "'a\\x1b[31mb' → c"),
        (object(), 3, "<object object> → 3"),
        (object(), object(), "<object object> → <object object>"),
        ([object(), 1], [object(), 1], "row 1: <object object> → <object object> (beside 1)"),
        (CLARA, replace(CLARA, age=9), "age 31 → 9"),
        (
            [CLARA, replace(CLARA, age=5)],
            [replace(CLARA, likes=Colour.BLUE, paid=Decimal(2)), replace(CLARA, age=5)],
            "row 1: likes Colour.RED → Colour.BLUE, paid 1.50 → 2 (beside age 5, likes Colour.RED, "
            "born 1990-01-01, paid 1.50)",
        ),
        ([CLARA], [], "row 1: age 31, likes Colour.RED, born 1990-01-01, paid 1.50 → absent"),
        (
            [Plain(age=1), Plain(age=2)],
            [Plain(age=1), Plain(age=3)],
            "row 2: age 2 → 3 (beside age 1)",
        ),
        (Visit(CLARA, [0.5]), Visit(replace(CLARA, age=9), [0.5]), "who (age 31 → 9)"),
        (Visit(CLARA, [1, 2]), Visit(CLARA, [1, 3]), "scores (row 2: 2 → 3 (beside 1))"),
        (
            {"x": np.zeros(5000)},
            {"x": np.eye(1, 5000, 7)[0]},
            "x (row 8: 0.0 → 1.0 (beside 4999 times 0.0))",
        ),
        (f"{LONG}a", f"{LONG}b", "… a' → … b'"),
        (date(2020, 1, 1), date(2020, 1, 2), "2020-01-01 → 2020-01-02"),
        (Colour.RED, Colour.BLUE, "Colour.RED → Colour.BLUE"),
        (Silent(), 3, "a Silent that raises when it is written → 3"),
    ],
)
def test_a_difference_is_said_in_few_words(before, after, said):
    words = difference_words(before, after)
    assert words.startswith(said)
    if "beside" in said:
        assert words == said


@given(st.recursive(st.none() | st.integers() | st.floats() | st.text(), st.lists), st.data())
def test_whatever_it_is_there_is_one_printable_line(value, data):
    other = data.draw(st.sampled_from([None, 3, [value], {"a": value}, value]))
    words = difference_words(value, other)
    assert "\n" not in words
    assert len(words) < 2000
    assert all(char.isprintable() for char in words)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=40), st.data())
def test_one_entry_less_is_one_entry_absent(entries, data):
    at = data.draw(st.integers(0, len(entries) - 1))
    fewer = entries[:at] + entries[at + 1 :]
    absent = f": {entries[at]} → absent"
    words = difference_words(entries, fewer)
    assert words.count("absent") == words.count(absent) == 1
    row = int(words.removeprefix("row ").split(":")[0])
    assert entries[: row - 1] + entries[row:] == fewer
    back = difference_words(fewer, entries)
    assert back == words.replace(absent, f": absent → {entries[at]}")


@pytest.mark.parametrize("form", [list, tuple, np.array])
def test_what_differs_in_long_inputs_is_said_at_once(form):
    """By pairs of their entries it would take the rest of the day."""
    entries = [i % 7 for i in range(200_000)]
    fewer = [*entries[:9], 8, *entries[10:100_000], *entries[100_010:]]
    words = difference_words(form(entries), form(fewer))
    assert words.split(" ", 1)[1].startswith("10: 2 → absent")
    assert len(words) < 200
    other = difference_words(form(entries), form([8, *entries[1:]]))
    assert other.split(" ", 1)[1] == "1: 0 → 8 (beside 199,999 others)"
    graph = nx.empty_graph(20_000)
    assert difference_words(graph, nx.empty_graph(19_999)).startswith("vertex 19999 → absent")
