"""What is called certified is so: by a loop over labelled pairs, in fractions, of another kind."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import chain, combinations
from operator import ne

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pdpaudit.algorithms.statistics import CN, Path, Triangle
from pdpaudit.checks import (
    Exhaustion,
    Options,
    Row,
    as_listing,
    check_sop,
    read_witness,
)
from pdpaudit.checks.evaluation import change
from pdpaudit.checks.examination import Examination
from pdpaudit.core.errors import InputError
from pdpaudit.core.statistic import statistic
from pdpaudit.replay import replay_check
from pdpaudit.replay.checks import verify_witness
from pdpaudit.results.results import CheckResult

SMALL = Options(max_vertices=4, examples=0)
BOTH = ("targeted-sensitivity", "impact-cardinality")


def by_name(sop, options=SMALL):
    return {result.name: result for result in check_sop(sop, options)}


def cn(graph, vertex, targets):
    return CN()(graph, vertex, targets)


def certified_up_to(result):
    """Return the number of vertices of the certified scope; 0 where nothing is certified."""
    if result.status != "certified":
        return 0
    return int(re.match(r"every labelled network up to (\d) vertices", result.scope)[1])


# ---- the smallest input of each fault


def test_a_small_change_is_a_change_where_none_is_declared():
    sop = statistic(sensitivity=0, impact_cardinality=0)(lambda g, v, s: 1e-12 * g.degree(v))
    results = by_name(sop)
    for name, observed in zip(BOTH, (1e-12, 2), strict=True):
        assert results[name].status == "violated"
        assert results[name].observed == observed
        assert verify_witness(read_witness(results[name].witness), sop).reproduced


def test_a_stated_error_excuses_nothing_where_no_noise_is_declared():
    sop = statistic(sensitivity=0, impact_cardinality=0, error=1e-9)(
        lambda g, v, s: 1e-12 * g.degree(v)
    )
    assert {by_name(sop)[name].status for name in BOTH} == {"violated"}


def test_a_change_beside_a_large_value_is_a_change():
    sop = statistic(sensitivity=1, impact_cardinality=0)(lambda g, v, s: 1e10 + 0.5 + cn(g, v, s))
    impact = by_name(sop)["impact-cardinality"]
    assert impact.status == "violated"
    assert verify_witness(read_witness(impact.witness), sop).reproduced
    assert "values 10000000000.5 10000000000.5" in as_listing(impact.witness)
    assert "values 10000000001.5 10000000000.5" in as_listing(impact.witness)


def test_more_than_declared_by_one_unit_in_the_last_place():
    sop = statistic(sensitivity=0.3, impact_cardinality=9)(
        lambda g, v, s: (0.1 + 0.2) * g.degree(v, weight=None)
    )
    found = by_name(sop)["targeted-sensitivity"]
    assert found.status == "violated"
    assert "0.30000000000000004" in found.detail
    assert verify_witness(read_witness(found.witness), sop).reproduced


def test_a_difference_no_double_holds_is_rounded_up():
    # 1e16 + 1 is no double: rounded to the nearest, the difference would be 1e16, as declared.
    sop = statistic(sensitivity=1e16, impact_cardinality=9)(
        lambda g, v, s: 1e16 if g.degree(v) else -1.0
    )
    found = by_name(sop)["targeted-sensitivity"]
    assert found.status == "violated"
    assert verify_witness(read_witness(found.witness), sop).reproduced


def test_each_number_has_its_own_scope():
    examination = Examination(Path(1), Options(max_vertices=8))
    rows = (Row(7, (0.0,) * 7, (1,) * 7), Row(8, (0.0,) * 8, None))
    vars(examination).update(labelled=Exhaustion((Row(5, (0.0,) * 5, (1,) * 5),)))
    vars(examination).update(exhaustion=Exhaustion(rows))
    certified = "every labelled network up to 5 vertices (degree bounds up to 4); searched by the "
    certified += "fast path: "
    assert examination.scope(BOTH[0]).startswith(certified + "8 vertices")
    assert examination.scope(BOTH[1]).startswith(certified + "7 vertices")


def favours_neighbours_of_zero(graph, vertex, targets):
    return float(cn(graph, vertex, targets) + 100 * (0 in graph[vertex]))


@pytest.mark.parametrize("select", [None, ("targeted-sensitivity",)])
def test_a_bonus_for_neighbours_of_vertex_zero_is_found(select):
    sop = statistic(sensitivity=1, impact_cardinality=99)(favours_neighbours_of_zero)
    found = by_name(sop, Options(max_vertices=4, examples=0, select=select))
    assert found["targeted-sensitivity"].status == "violated"
    assert verify_witness(read_witness(found["targeted-sensitivity"].witness), sop).reproduced


SIX = ((0, 2), (0, 4), (1, 3), (2, 3), (3, 5))


def one_family_of_six(graph, vertex, targets):
    """Move by 100 on one labelled graph of six vertices only."""
    return 100.0 * (sorted(graph.edges) == sorted(SIX) and targets == {1} and vertex == 0)


def test_one_labelled_family_of_six_is_not_certified_away():
    sop = statistic(sensitivity=0, impact_cardinality=1)(one_family_of_six)
    results = by_name(sop, Options(max_vertices=6, examples=0))
    for name in BOTH:
        assert certified_up_to(results[name]) <= 5
        assert len(results[name].observed) <= 5


@pytest.mark.slow
def test_one_labelled_family_of_six_is_found_where_six_are_enumerated():
    sop = statistic(sensitivity=0, impact_cardinality=1)(one_family_of_six)
    options = Options(
        max_vertices=6, labelled_vertices=6, examples=0, time_limit=600.0, select=BOTH[:1]
    )
    assert by_name(sop, options)["targeted-sensitivity"].status == "violated"


def test_what_depends_on_numbers_may_be_right_and_is_certified_as_labelled():
    sop = statistic(sensitivity=0, impact_cardinality=1)(
        lambda g, v, s: Path(1)(g, v, s) * (1 + v % 2)
    )
    results = check_sop(sop, Options(max_vertices=4, examples=0, select=BOTH))
    assert [certified_up_to(result) for result in results] == [4, 4]


def test_what_a_check_rests_on_runs_and_is_shown_where_it_fails():
    sop = statistic(sensitivity=9, impact_cardinality=9)(
        lambda g, v, s: float(next(iter(g[v]), v) in s)
    )
    results = check_sop(sop, Options(max_vertices=3, examples=0, select=BOTH))
    assert [(each.name, each.status) for each in results] == [
        ("order-independent", "violated"),
        ("targeted-sensitivity", "skipped"),
        ("impact-cardinality", "skipped"),
    ]


def test_a_wrong_fast_path_is_not_searched_by_where_only_the_sensitivity_is_asked_for():
    sop = statistic(
        sensitivity=0,
        impact_cardinality=99,
        scores=lambda adjacency, targets: np.zeros(adjacency.shape[0]),
    )(lambda g, v, s: float(g.degree(v) == 5))
    options = Options(max_vertices=6, labelled_vertices=3, examples=0, select=BOTH[:1])
    results = by_name(sop, options)
    assert results["fast-path"].status == "violated"
    assert results["targeted-sensitivity"].status == "violated"


@pytest.mark.parametrize("declared", [(0, 99), (1, 1)])
def test_nothing_is_certified_beside_exceeded(declared):
    sop = statistic(sensitivity=declared[0], impact_cardinality=declared[1])(
        lambda g, v, s: g.degree(v)
    )
    for result in check_sop(sop, SMALL):
        assert result.status != "certified" or "exceeded" not in result.detail
    assert "exceeded for degree 1" in by_name(sop)["tightness"].detail


def test_rounding_needs_to_be_stated():
    def by_order(graph, vertex, targets):
        return sum(1 / (2 + graph.degree(other)) for other in graph[vertex])

    plain = by_name(statistic(sensitivity=9, impact_cardinality=99)(by_order))
    assert plain["order-independent"].status == "violated"
    assert "if that is rounding" in plain["order-independent"].detail
    stated = by_name(statistic(sensitivity=9, impact_cardinality=99, error=1e-14)(by_order))
    assert {stated[name].status for name in BOTH} == {"certified"}
    assert "differences up to 2e-14 count as rounding" in stated["impact-cardinality"].scope


@pytest.mark.parametrize("error", [-1.0, float("nan"), float("inf"), "little", lambda d: 1 / d])
def test_an_error_that_makes_no_sense_is_refused(error):
    sop = statistic(sensitivity=1, impact_cardinality=1, error=error)(cn)
    with pytest.raises(InputError, match=r"error"):
        check_sop(sop, SMALL)


# ---- the replay compares as the check does

PAIR = {
    "format": "pdpaudit-statistic-witness/1", "statistic": "s", "n": 2, "edges": [], "vertex": 1,
    "left": [], "right": [0], "targets": [], "max_degree": 1, "at": 0,
}  # fmt: skip


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("declared", [0, 1e-12])
@pytest.mark.parametrize("error", [0.0, 1e-12])
def test_a_witness_replays_by_the_same_comparison(name, declared, error):
    sop = statistic(sensitivity=declared, impact_cardinality=0, error=error)(
        lambda g, v, s: 1e-12 * g.degree(v)
    )
    found = by_name(sop, Options(max_vertices=2, examples=0))[name]
    replayed = verify_witness(read_witness({**PAIR, "property": name}), sop)
    assert replayed.reproduced == (found.status == "violated")


def test_a_registered_statistic_replays_with_its_error():
    witness = {**PAIR, "property": BOTH[0], "specification": "Katz3"}
    assert not replay_check(CheckResult(BOTH[0], "violated", witness=witness)).reproduced


# ---- certified implies a brute force of another kind


@st.composite
def statistics(draw):
    """Draw a statistic on few vertices: scaled degrees, a bonus by label, an offset and CN."""
    scale = draw(st.sampled_from([0.0, 1e-12, 0.1, 0.5, 1.0, 1 / 3]))
    offset = draw(st.sampled_from([0.0, 0.5, 1e10 + 0.5, -1e16]))
    weight = draw(st.sampled_from([0.0, 1.0, 0.1, 1e-9]))
    bonus = draw(st.sampled_from([0.0, 100.0, 1e-13]))
    at, near = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    size = draw(st.integers(1, 4))

    def function(graph, vertex, targets):
        special = len(graph) >= size and near in graph[vertex] and at in targets
        small = scale * graph.degree(vertex) + weight * cn(graph, vertex, targets)
        return offset + small + bonus * special

    # A bound that is right as it stands, or a little off.
    sensitivity = draw(
        st.sampled_from([0.0, 1e-12, weight, scale, scale + weight, 1.0, 100.0, 2.0])
    )
    slope = draw(st.sampled_from([0, 1, 2, 3]))
    return statistic(
        sensitivity=lambda d: sensitivity * (d > 0),
        impact_cardinality=lambda d: slope * d + (d > 1),
    )(function)


def subsets(items):
    items = list(items)
    return chain.from_iterable(combinations(items, m) for m in range(len(items) + 1))


def families(n):
    """Yield every u, every two labelled networks that differ in its edges, with their degree."""
    for u in range(n):
        rest = [v for v in range(n) if v != u]
        for common in subsets(combinations(rest, 2)):
            sides = []
            for around in subsets(rest):
                graph = nx.empty_graph(n)
                graph.add_edges_from(sorted([*common, *((min(u, v), max(u, v)) for v in around)]))
                sides.append((graph, max(dict(graph.degree).values())))
            yield rest, sides


def held(sop, of, vertices):
    """Say whether a declaration holds on every labelled pair with up to so many vertices."""
    for n in range(1, vertices + 1):
        for others, sides in families(n):
            for targets in map(frozenset, subsets(others)):
                scored = [
                    ([Fraction(float(sop(graph, v, targets))) for v in range(n)], degree)
                    for graph, degree in sides
                ]
                for (a, d), (b, e) in combinations(scored, 2):
                    if of == "impact-cardinality":
                        seen, bound = sum(map(ne, a, b)), sop.impact_cardinality(max(d, e))
                    else:
                        seen = max((abs(a[t] - b[t]) for t in others), default=0)
                        bound = sop.sensitivity(max(d, e))
                    if seen > bound:
                        return False
    return True


@settings(max_examples=settings().max_examples // 5, deadline=None)
@given(statistics(), st.sampled_from([2, 3, 4]), st.sampled_from([None, BOTH, BOTH[:1], BOTH[1:]]))
def test_certified_is_what_a_brute_force_finds(sop, vertices, select):
    options = Options(max_vertices=vertices, examples=0, select=select)
    results = by_name(sop, options)
    for of in BOTH if select is None else select:
        result = results[of]
        assume(result.status != "skipped")
        assert (result.status == "certified") == held(sop, of, vertices)
        assert certified_up_to(result) in (0, vertices)
        if result.status == "violated":
            assert verify_witness(read_witness(result.witness), sop).reproduced


doubles = st.floats(allow_nan=False, allow_infinity=False)


@given(doubles, doubles, st.floats(min_value=0, allow_nan=False))
def test_a_change_exceeds_a_bound_exactly_where_the_fractions_do(a, b, bound):
    exact = abs(Fraction(a) - Fraction(b))
    for limit in (bound, abs(a - b)):
        expected = limit != float("inf") and exact > Fraction(limit)
        assert bool(change(a, b) > limit) == expected


@pytest.mark.parametrize("sop", [CN(), Triangle(), Path(1), Path(2), Path(3)], ids=str)
def test_the_papers_statistics_are_certified(sop):
    results = by_name(sop)
    assert {certified_up_to(results[name]) for name in BOTH} == {4}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sop", "sensitivity", "impact"),
    [
        (CN(), [0, 1, 1, 1, 1, 1], [0, 2, 5, 6, 6, 6]),
        (Triangle(), [0] * 6, [0, 0, 1, 1, 1, 1]),
        (Path(2), [0, 0, 1, 2, 3, 4], [0, 1, 5, 6, 6, 6]),
    ],
    ids=str,
)
def test_the_papers_tables_on_six_vertices_are_certified(sop, sensitivity, impact):
    options = Options(labelled_vertices=6, examples=0, time_limit=600.0, jobs=2, select=BOTH)
    results = by_name(sop, options)
    assert [certified_up_to(results[name]) for name in BOTH] == [6, 6]
    assert results[BOTH[0]].observed == sensitivity
    assert results[BOTH[1]].observed == impact
