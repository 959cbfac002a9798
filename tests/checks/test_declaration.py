"""What is no statistic, or declares nonsense, is refused with what to do."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pdpaudit.algorithms.statistics import CN, Path
from pdpaudit.checks import check_sop, name_of, require_statistic
from pdpaudit.core.errors import InputError
from pdpaudit.core.statistic import statistic


def value(graph, vertex, targets):
    return 0.0


def of_two(graph, vertex):
    return 0.0


OF_TWO: Any = of_two


class Needs:
    def __init__(self, k):
        self.k = k


class Fails:
    def __init__(self):
        raise OSError("no such table")


class NoDeclaration:
    def __call__(self, graph, vertex, targets):
        return 0.0

    def sensitivity(self, max_degree):
        return 1


def declared(sensitivity=1, impact=1):
    return statistic(sensitivity=sensitivity, impact_cardinality=impact)(value)


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        ("CN", "cannot be called"),
        (17, "cannot be called"),
        (value, "value declares no sensitivity"),
        (NoDeclaration(), "declares no impact_cardinality"),
        (Needs, r"Needs cannot be made without arguments .*'k'\); name an object"),
        (Fails, "Fails cannot be made"),
        (declared(sensitivity=10**400), r"sensitivity\(0\) fails: OverflowError"),
        (declared(sensitivity="one"), "declare a number"),
        (declared(sensitivity=-1), "declare a number"),
        (declared(sensitivity=math.nan), "declare a number"),
        (declared(sensitivity=True), "declare a number"),
        (declared(impact=lambda d: None), r"impact_cardinality\(0\) is None"),
        (declared(sensitivity=lambda d: 1 / d), r"sensitivity\(0\) fails: ZeroDivisionError"),
        (declared(sensitivity=lambda d: 10 - d), "a bound cannot fall"),
        (
            statistic(sensitivity=1, impact_cardinality=1)(OF_TWO),
            r"must take \(graph, vertex, targets\)",
        ),
    ],
)
def test_refused_with_what_to_do(thing, words):
    with pytest.raises(InputError, match=words):
        check_sop(thing)


def test_a_class_is_made_without_arguments():
    sop, bounds = require_statistic(Path)
    assert sop == Path(2)
    assert bounds.bound("targeted-sensitivity", 5) == 5


def test_no_bound_is_a_declaration_too():
    _, bounds = require_statistic(declared(sensitivity=math.inf))
    assert bounds.bound("targeted-sensitivity", 3) == math.inf


@pytest.mark.parametrize("what", ["sensitivity", "impact"])
def test_a_table_of_bounds_that_is_too_short_is_named(what):
    _, bounds = require_statistic(declared(**{what: lambda d: list(range(31))[d]}))
    of = {"sensitivity": "targeted-sensitivity", "impact": "impact-cardinality"}[what]
    assert bounds.bound(of, 30) == 30
    with pytest.raises(InputError, match=r"\(31\) fails: IndexError"):
        bounds.bound(of, 31)


def test_names():
    assert [name_of(thing) for thing in (CN(), Path(3), declared(), value)] == [
        "CN",
        "Path_3",
        "value",
        "value",
    ]
