"""Domains: every pair is of the relation, stays in the domain, and holds the telling values."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit.core.domains import MOST_PAIRS
from pdpaudit.core.errors import InputError
from pdpaudit.core.graphs import Graph
from pdpaudit.core.subject import Subject
from pdpaudit.relations import Answers, Bounded, Domain, Graphs, OneOf, Records

bounds = st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)).map(sorted)
sizes = st.tuples(st.integers(0, 6), st.integers(1, 12)).map(sorted).filter(lambda pair: pair[1])
columns = st.one_of(
    st.builds(lambda ends: Bounded(*ends), bounds),
    st.lists(st.text(max_size=3), min_size=1, max_size=4, unique=True).map(lambda x: OneOf(*x)),
)
tables = st.builds(
    lambda kinds, least_most: Records(kinds, tuple(least_most)),
    st.one_of(columns, st.dictionaries(st.text(min_size=1, max_size=3), columns, min_size=1)),
    sizes,
)


def admitted(column: Any, value: Any) -> bool:
    if isinstance(column, OneOf):
        return value in column.options
    return column.low <= value <= column.high


@given(tables)
def test_records_stay_in_their_domain_and_differ_in_one(domain: Any) -> None:
    is_one = isinstance(domain, Domain)
    assert is_one
    kinds = domain.columns if isinstance(domain.columns, dict) else {"": domain.columns}
    for relation in domain.relations:
        pairs = domain.pairs(relation)
        assert len(pairs) <= MOST_PAIRS
        for left, right in pairs:
            for side in (left, right):
                assert domain.sizes[0] <= len(side) <= domain.sizes[1]
                assert all(map(domain.admits, side))
                for row in side:
                    values = row if isinstance(domain.columns, dict) else {"": row}
                    assert values.keys() == kinds.keys()
                    assert all(admitted(kinds[name], value) for name, value in values.items())
            assert one_apart(relation, list(map(repr, left)), list(map(repr, right)))


def one_apart(relation: str, left: list[str], right: list[str]) -> bool:
    """Say whether two lists differ in one record, by trying every place."""
    if relation == "replace":
        return len(left) == len(right) and sum(map(str.__ne__, left, right)) == 1
    longer, shorter = sorted((left, right), key=len, reverse=True)
    drops = [longer[:i] + longer[i + 1 :] for i in range(len(longer))]
    return shorter in drops


@given(tables, st.integers(0, 2**32))
def test_varied_changes_stay_in_their_domain(domain, seed):
    rng = np.random.default_rng(seed)
    for relation in domain.relations:
        for change in domain.changes(relation)[:3]:
            for _ in range(10):
                change = domain.varied(change, rng)
                left, right = domain.joined(change)
                ends = len(left), len(right)
                assert domain.sizes[0] <= min(ends) <= max(ends) <= domain.sizes[1]
                same = list(map(repr, left)) == list(map(repr, right))
                assert same or one_apart(relation, [*map(repr, left)], [*map(repr, right)])


def test_the_values_where_implementations_break_are_tried():
    values = Bounded(-5, 100).values()
    assert {-5.0, 100.0, 0.0, 1.0, math.ulp(0.0)} <= {*values}
    assert "-0.0" in map(repr, values)
    assert all(map(math.isfinite, values))
    unbounded = Bounded().values()
    assert max(unbounded) == -min(unbounded) == np.finfo(float).max
    odd = Bounded(0, 1, unusual=True).values()
    assert any(map(math.isnan, odd))
    assert {math.inf, -math.inf} <= {*odd}
    assert 10**400 in Bounded(0, 1, whole=True, unusual=True).values()
    assert all(isinstance(value, int) for value in Bounded(0, 9, whole=True).values())


def test_lists_are_empty_single_and_of_duplicates():
    pairs: Any = Records(Bounded(0, 9)).pairs("add-remove")
    lists = [side for pair in pairs for side in pair]
    assert [] in lists
    assert any(len(rows) == 1 for rows in lists)
    assert any(len(rows) > 5 and len(set(rows)) == 1 for rows in lists)
    assert any(len(rows) == 10 for rows in lists)


@pytest.mark.parametrize("sensitivity", [1.0, 0.5, 3.0])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_answers_move_by_their_sensitivity_in_each_norm(count, sensitivity):
    domain: Any = Answers(count, sensitivity, norm="L2")
    assert domain.relations[0] == "L2"
    orders = {"every": math.inf, "one": 1, "L1": 1, "L2": 2}
    for relation, order in orders.items():
        moved = [np.subtract(*pair) for pair in domain.pairs(relation)]
        assert max(np.linalg.norm(step, order) for step in moved) == pytest.approx(sensitivity)
        if relation == "one":
            assert all(np.count_nonzero(step) == 1 for step in moved)


def test_graphs_are_neighbours_of_their_relation():
    domain: Any = Graphs((2, 5))
    for left, right in domain.pairs("edge"):
        assert left.vertices == right.vertices
        assert len({*left.ties} ^ {*right.ties}) == 1
    for left, right in domain.pairs("vertex"):
        last = left.vertices - 1
        assert right == Graph(last, tuple(tie for tie in left.ties if last not in tie))
        assert right.vertices >= 2
    for left, right in domain.pairs("rewired"):
        changed = [{*tie} for tie in {*left.ties} ^ {*right.ties}]
        assert set.intersection(*changed)
    given = domain.form(Graph(3, ((0, 2),)))
    assert list(given.nodes) == [0, 1, 2]
    assert list(given.edges) == [(0, 2)]


def test_the_form_is_what_a_mechanism_is_given():
    class Mechanism:
        domain = Records(Bounded(0, 1), sizes=(1, 2), form=np.array)

        def run(self, rows, rng):
            return rows.sum()

    subject = Subject(Mechanism())
    assert subject.relation == "add-remove"
    assert all(isinstance(side, np.ndarray) for _, *pair in subject.pairs() for side in pair)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bounded(2, 1),
        lambda: Bounded(math.nan, 1),
        lambda: Bounded(math.inf, math.inf),
        lambda: OneOf(),
        lambda: Records(Bounded(), sizes=(3, 2)),
        lambda: Records(Bounded(), sizes=(0, 0)),
        lambda: Records(Bounded(), sizes=cast("tuple[int, int]", (20,))),
        lambda: Records(Bounded(), sizes=cast("tuple[int, int]", 20)),
        lambda: Records({}),
        lambda: Records(cast(Any, {"age": 3})),
        lambda: Records("text"),
        lambda: Answers(0),
        lambda: Answers(cast("int", "two")),
        lambda: Answers(cast("int", 1.5)),
        lambda: Answers(2, cast("float", "one")),
        lambda: Graphs(cast("tuple[int, int]", 3)),
        lambda: Graphs(cast("tuple[int, int]", "ab")),
        lambda: Graphs(cast("tuple[int, int]", (1, 2.5))),
        lambda: Answers(2, math.inf),
        lambda: Answers(2, norm="L7"),
        lambda: Graphs((3, 2)),
        lambda: Bounded(*cast(Any, ("a", "b"))),
    ],
)
def test_what_describes_no_input_is_refused_in_one_line(make):
    with pytest.raises(InputError) as caught:
        make()
    assert "\n" not in str(caught.value)
