"""Tables in which a person has several records: neighbours differ in one person, and no other."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit import audit
from pdpaudit.core.domains import MOST_PAIRS, Movable
from pdpaudit.core.errors import InputError
from pdpaudit.relations import Bounded, OneOf, People

people = st.builds(
    lambda least_most, records, values: People(
        {"shop": values, "paid": Bounded(0, 9)}, tuple(least_most), records
    ),
    st.tuples(st.integers(0, 5), st.integers(1, 8)).map(sorted),
    st.integers(1, 4),
    st.lists(st.text(max_size=2), min_size=1, max_size=3, unique=True),
)


def by_person(rows: object) -> dict[object, list[str]]:
    found = defaultdict(list)
    assert isinstance(rows, list)
    for row in rows:
        found[row["person"]].append(repr((row["shop"], row["paid"])))
    return dict(found)


def differ_in_one(domain: People, relation: str, left: object, right: object) -> bool:
    """Say whether two tables differ in one person, by definition."""
    ours, theirs = by_person(left), by_person(right)
    changed = [one for one in {*ours, *theirs} if ours.get(one) != theirs.get(one)]
    least, most = domain.sizes
    return (
        len(changed) == 1
        and (changed[0] in ours and changed[0] in theirs) == (relation == "replace")
        and all(least <= len(side) <= most for side in (ours, theirs))
        and all(len(one) <= domain.records for side in (ours, theirs) for one in side.values())
    )


@given(people, st.integers(0, 2**32))
def test_pairs_and_those_near_them_differ_in_all_of_one_person(domain: People, seed: int) -> None:
    assert isinstance(domain, Movable)
    rng = np.random.default_rng(seed)
    for relation in domain.relations:
        changes = domain.changes(relation)
        assert domain.pairs(relation) == [domain.joined(one) for one in changes]
        assert len(changes) <= MOST_PAIRS
        near = [domain.varied(one, rng) for one in changes[:20]]
        for change in (*changes, *near):
            pair = domain.joined(change)
            if change.ours != change.theirs:
                assert differ_in_one(domain, relation, *pair)
                assert domain.neighbours(relation, *pair)


def test_a_person_with_many_records_and_with_one_is_tried() -> None:
    domain = People({"shop": ["a", "b"]}, sizes=(0, 3), records=3)
    alone = [pair[0] for pair in domain.pairs("add-remove") if not pair[1]]
    shops = [[row["shop"] for row in rows] for rows in alone if isinstance(rows, list)]
    assert ["a"] in shops
    assert ["b", "b", "b"] in shops
    assert ["a", "b", "a"] in shops


@pytest.mark.parametrize(("left", "right"), [
    ([{"person": 0, "shop": "a"}], [{"person": 1, "shop": "a"}]),
    ([{"person": 0, "shop": "a"}] * 4, []),
    ([{"person": 0, "shop": "c"}], []),
    ([{"shop": "a"}], []),
    ([{"person": 0, "shop": "a"}], [{"person": 0, "shop": "b"}]),
])  # fmt: skip
def test_other_tables_are_no_neighbours_when_a_person_is_added(left: object, right: object) -> None:
    assert not People({"shop": ["a", "b"]}, records=3).neighbours("add-remove", left, right)


@pytest.mark.parametrize("make", [
    lambda: People({"person": ["a"]}),
    lambda: People({"shop": ["a"]}, records=0),
    lambda: People(OneOf("a")),  # type: ignore[arg-type]
    lambda: People({"shop": ["a"]}, sizes=(3, 2)),
])  # fmt: skip
def test_what_describes_no_table_is_refused_in_one_line(make: Callable[[], object]) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert "\n" not in str(caught.value)


CLIPPED = """
from pdpaudit import PrivacyClaim
from pdpaudit.relations import People

class Visits:
    claim = PrivacyClaim(1.0)
    domain = People({"shop": ["a", "b"]}, sizes=(0, 4), records=3)
    def __init__(self, by_person=True):
        self.by_person = by_person
    def run(self, rows, rng):
        counted = {row["person"] for row in rows} if self.by_person else rows
        return len(counted) + round(rng.laplace(scale=1.0))
"""


@pytest.mark.usefixtures("without_power")
def test_a_count_of_records_is_broken_by_a_person_and_one_of_people_is_not(tmp_path: Path) -> None:
    """One verdict that it stands, at 0.1 %, seed 1."""
    (tmp_path / "visits.py").write_text(CLIPPED, encoding="utf-8")
    (tmp_path / "records.py").write_text(
        CLIPPED.replace("by_person=True", "by_person=False"), encoding="utf-8"
    )
    name = f"{tmp_path / 'records.py'}:Visits"
    here, elsewhere = (
        audit(name, seed=1, python=one, samples=400).claims[0] for one in (None, sys.executable)
    )
    assert here.status == elsewhere.status == "violated"
    assert here.lower_bound == elsewhere.lower_bound
    [stands] = audit(
        f"{tmp_path / 'visits.py'}:Visits", seed=1, confidence=0.999, samples=1000
    ).claims
    assert stands.status == "not_rejected"
