"""Declared sensitivities of any function: known constants on all small graphs, and their minima."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit import check
from pdpaudit.checks.evaluation import distance
from pdpaudit.checks.sensitivity import Question, check_sensitivity
from pdpaudit.core.errors import InputError
from pdpaudit.core.graphs import Graph
from pdpaudit.core.statistic import statistic
from pdpaudit.relations import Answers, Bounded, Graphs, OneOf, Records
from pdpaudit.replay.checks import replay_sensitivity
from pdpaudit.sampling.store import decode, encode


def declared(**what: object) -> Callable[[Any], Any]:
    """Return what gives a function these attributes."""

    def give(function: Any) -> Any:
        for name, value in what.items():
            setattr(function, name, value)
        return function

    return give


def ties(graph: nx.Graph) -> int:
    return graph.number_of_edges()


def triangles(graph: nx.Graph) -> int:
    return sum(nx.triangles(graph).values()) // 3


def stars(graph: nx.Graph) -> int:
    return sum(math.comb(degree, 2) for _, degree in graph.degree)


def degrees(graph: nx.Graph) -> list[int]:
    return [graph.degree[vertex] for vertex in range(len(graph))]


def shared(graph: nx.Graph) -> list[int]:
    """Contacts that each two people share; those of the last person at the end."""
    around = [set(graph[vertex]) for vertex in range(len(graph))]
    return [len(around[i] & around[j]) for i in range(len(graph)) for j in range(i)]


def truncated(graph: nx.Graph) -> nx.Graph:
    """Return the graph without the ties of whoever has more than two."""
    graph.remove_edges_from(list(graph.edges([v for v, d in graph.degree if d > 2])))
    return graph


def first_two(graph: nx.Graph) -> nx.Graph:
    """Each keeps its first two ties (Blocki, Blum, Datta and Sheffet 2013): it depends on order."""
    seen, kept = dict.fromkeys(graph, 0), nx.empty_graph(len(graph))
    for a, b in sorted(tuple(sorted(tie)) for tie in graph.edges):
        kept.add_edges_from([(a, b)] * (seen[a] < 2 and seen[b] < 2))
        seen[a], seen[b] = seen[a] + 1, seen[b] + 1
    return kept


#: The largest change among n vertices, by hand: of one tie, and of one vertex with all its ties.
KNOWN: list[tuple[Callable[..., Any], Callable[[int], int], Callable[[int], int]]] = [
    (ties, lambda n: 1, lambda n: n - 1),
    (triangles, lambda n: n - 2, lambda n: math.comb(n - 1, 2)),
    (stars, lambda n: 2 * (n - 2), lambda n: math.comb(n - 1, 2) + (n - 1) * (n - 2)),
    (degrees, lambda n: 2, lambda n: 2 * (n - 1)),
    (shared, lambda n: 2 * (n - 2), lambda n: math.comb(n - 1, 2) + (n - 1) * (n - 2)),
    (truncated, lambda n: 1 if n < 4 else 4, lambda n: n - 1),
]
CASES = [
    pytest.param(function, relation, known, id=f"{function.__name__}-{relation}")
    for function, of_edge, of_vertex in KNOWN
    for relation, known in (("edge", of_edge), ("vertex", of_vertex))
]


def found(function: Any, relation: str, declared: Any, **more: Any) -> Any:
    return check_sensitivity(Question.of(function, relation, None, declared), **more)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "relation", "known"), CASES)
def test_known_constants_come_out_on_all_graphs_of_7_vertices(function, relation, known):
    _constants(function, relation, known, 7)


@pytest.mark.parametrize(("function", "relation", "known"), CASES)
def test_known_constants_come_out_on_all_graphs_of_5_vertices(function, relation, known):
    _constants(function, relation, known, 5)


def _constants(function: Any, relation: str, known: Callable[[int], int], most: int) -> None:
    result = found(function, relation, lambda degree: known(degree + 1) if degree else 9, most=most)
    assert result.status == "certified"
    assert result.observed == known(most)
    shown = [f"{n}: {known(n):g} ≤ {known(n):g}" for n in range(2, most + 1)]
    assert "; ".join(shown) in result.detail


@pytest.mark.parametrize(("function", "relation", "known"), CASES)
def test_wrong_constants_are_refuted_by_a_smallest_pair(function, relation, known):
    # What is true up to 3 vertices, and too little from 4 on where it grows at all.
    wrong = known(3) if known(4) > known(3) else known(4) - 1
    result = found(function, relation, wrong, most=5)
    assert result.status == "violated"
    smallest = next(n for n in range(2, 6) if known(n) > wrong)
    left, _ = _sides(result)
    assert left.vertices == smallest
    assert result.declared == wrong
    assert " moves it by " in result.detail
    assert result.detail.startswith("tie " if relation == "edge" else "vertex ")


def _sides(result: Any) -> tuple[Graph, Graph]:
    def side(written: str) -> Graph:
        vertices_and_ties = decode(written.encode())
        assert isinstance(vertices_and_ties, tuple)
        return Graph(*vertices_and_ties)

    left, right = map(side, result.witness["sides"])
    return left, right


def test_a_smallest_pair_has_the_fewest_ties():
    # The first tie that closes a triangle.
    left, right = _sides(found(triangles, "edge", 0, most=5))
    assert (left.vertices, len(left.ties), len(right.ties)) == (3, 2, 3)


def test_where_numbering_matters_all_numberings_are_looked_at():
    result = found(first_two, "edge", 3, most=5)
    assert (result.status, result.observed) == ("certified", 3.0)
    assert "numbered" in result.scope
    assert found(first_two, "edge", 2, most=5).status == "violated"
    # Who vanishes is the last only, and it may matter who does.
    assert found(first_two, "vertex", 9, most=5).status == "not_rejected"


def test_what_depends_on_one_vertex_is_found_in_any_numbering():
    def of_vertex_3(graph):
        return graph.degree[3] if 3 in graph else 0

    assert found(of_vertex_3, "edge", 0, most=5).status == "violated"


def test_rewired_is_what_two_ways_to_wire_a_vertex_differ_by():
    result = found(ties, "rewired", lambda degree: degree, most=6)
    assert (result.status, result.observed) == ("certified", 5.0)


def test_the_mean_is_searched_and_its_counterexample_is_small():
    @declared(domain=Records(Bounded(0, 100), sizes=(1, 20)))
    def mean(rows):
        return sum(rows) / len(rows)

    assert found(mean, "replace", 100).status == "not_rejected"
    result = found(mean, "replace", 10)
    assert result.status == "violated"
    assert "100" in result.detail
    fixed = Records(Bounded(0, 100), sizes=(20, 20))
    rounded = check_sensitivity(Question.of(mean, "replace", fixed, 5.0))
    assert "if that is rounding" in rounded.detail
    mean.error = 1e-9
    held = check_sensitivity(Question.of(mean, "replace", fixed, 5.0))
    assert held.status == "not_rejected"
    assert held.observed == pytest.approx(5.0)


def test_a_counterexample_of_records_replays_and_another_does_not():
    @declared(domain=Records({"age": Bounded(0, 100)}, sizes=(1, 20)), sensitivity=10)
    def mean(rows):
        return sum(row["age"] for row in rows) / len(rows)

    result = found(mean, "replace", None)
    assert result.status == "violated"
    more = {"specification": "mine.py:mean", "sensitivity": None}
    known = replace(result, witness={**result.witness, **more})
    assert replay_sensitivity(known, lambda group, name: mean).reproduced
    for sides in (
        [[{"age": 0}], [{"age": 300}]],
        [[{"age": 0}], [{"age": 100}] * 2],
        [[{"age": 0}], [{"dose": 100}]],
        [[], [{"age": 100}]],
    ):
        written = [encode(side).decode("ascii") for side in sides]
        other = replace(known, witness={**known.witness, "sides": written})
        assert not replay_sensitivity(other, lambda group, name: mean).reproduced


def test_the_search_goes_beyond_the_pairs_it_begins_with():
    @declared(domain=Records(Bounded(0, 100), sizes=(0, 6)))
    def rare(rows):
        return sum(30 < row < 40 for row in rows) * 5

    values = {value for pair in rare.domain.pairs("add-remove") for side in pair for value in side}
    assert not any(30 < value < 40 for value in values)
    result = found(rare, "add-remove", 1)
    assert result.status == "violated"
    # Nothing that stays is needed.
    assert "beside" not in result.detail


def test_few_values_are_all_looked_at():
    @declared(domain=Records(["a", "b"], sizes=(0, 3)))
    def count(rows):
        return rows.count("a")

    result = found(count, "add-remove", 1)
    assert (result.status, result.exact) == ("certified", True)
    assert "all " in result.scope


def test_other_domains_have_sensitivities_too():
    assert check(abs, relation="replace", domain=OneOf(-1, 3), sensitivity=2).checks[0].exact
    largest = check(max, relation="every", domain=Answers(3), sensitivity=1).checks[0]
    assert largest.observed == 1
    halved = check(lambda x: x / 2, relation="replace", domain=Bounded(0, 4), sensitivity=1).checks[
        0
    ]
    assert (halved.status, halved.observed) == ("violated", 2.0)


def test_a_slow_function_is_checked_as_far_as_time_allows():
    def slow(graph):
        time.sleep(0.02)
        return graph.number_of_edges()

    result = found(slow, "edge", 1, time_limit=1.0)
    assert (result.status, result.exact) == ("not_rejected", False)
    assert "the time limit of 1 s is over" in result.scope
    assert found(slow, "edge", 0, time_limit=1.0).status == "violated"


def test_a_function_may_change_its_input():
    def emptied(graph):
        count = graph.number_of_edges()
        graph.clear()
        return count

    assert found(emptied, "edge", 1, most=4).status == "certified"


AGES = Records(Bounded(0, 9, whole=True), sizes=(2, 6))


@pytest.mark.parametrize("remembered", [None, len, lambda given: 0])
@pytest.mark.parametrize(("relation", "domain"), [("edge", None), ("replace", AGES)])
def test_a_function_that_remembers_other_inputs_is_refused(remembered, relation, domain):
    known: dict[object, float] = {}

    def measured(given: Any) -> float:
        total = given.number_of_edges() if domain is None else sum(given)
        key = repr(sorted(given.edges if domain is None else given)), len(given)
        return known.setdefault(key if remembered is None else remembered(given), total)

    question = Question.of(measured, relation, domain, 9)
    if remembered is None:  # what is asked again has the same answer
        assert check_sensitivity(question, most=4, examples=50).status != "violated"
        return
    with pytest.raises(InputError, match="depends on what it was asked before, or on chance"):
        check_sensitivity(question, most=4, examples=50)


def test_a_function_that_draws_is_refused():
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match="or on chance; keep nothing from one call to the next"):
        found(lambda graph: rng.laplace(), "edge", 1e9, most=3)


@pytest.mark.parametrize(
    ("function", "more", "said"),
    [
        (ties, {}, "it declares no sensitivity"),
        (
            statistic(sensitivity=0, impact_cardinality=1)(lambda *_: 0.0),
            {},
            "check it without `relation`",
        ),
        (ties, {"sensitivity": -1}, "at least 0"),
        (ties, {"sensitivity": math.inf}, "give a finite number"),
        (declared(sensitivity=math.nan)(lambda graph: 0), {}, "<lambda>.sensitivity = nan: give"),
        (ties, {"sensitivity": lambda degree: 1 / 0}, r"sensitivity = f\(1\): it raised ZeroDiv"),
        (declared(error="x")(lambda graph: 0), {"sensitivity": 1}, "error = 'x': give a number"),
        (declared(error=-1)(lambda graph: 0), {"sensitivity": 1}, "error = -1: give a finite"),
        (ties, {"sensitivity": 1, "relation": "add-remove"}, "have edge, vertex, rewired"),
        (lambda graph: "many", {"sensitivity": 1}, "no number, vector or graph"),
        (lambda graph: 1 / 0, {"sensitivity": 1}, "raised ZeroDivisionError"),
        (3, {"sensitivity": 1}, "no function"),
    ],
)
def test_what_cannot_be_checked_is_said_in_one_line(function, more, said):
    with pytest.raises(InputError, match=said) as caught:
        check(function, **{"relation": "edge", **more})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("shape", [lambda x: x, lambda x: np.array([1, x]), lambda x: {"a": [x]}])
def test_what_is_undefined_on_both_sides_of_a_pair_is_not_certified(value, shape):
    def undefined(given: Any) -> object:
        return shape(value if given == "no" or len(given) == 3 else 0)

    said = f"undefined: on 3 vertices with no ties its value is .*{value}.*; give finite numbers"
    with pytest.raises(InputError, match=said):
        found(undefined, "edge", 1, most=3)
    # Where it is so on one side alone the change is too large, and there is a witness.
    assert found(undefined, "vertex", 1, most=3).status == "violated"
    declared(domain=OneOf("no", "not"))(undefined)
    with pytest.raises(InputError, match=f"undefined: on no its value is .*{value}"):
        found(undefined, "replace", 1)


@given(
    st.lists(st.floats(allow_nan=True), max_size=4), st.lists(st.floats(allow_nan=True), max_size=4)
)
def test_distances_are_symmetric_and_exact(ours, theirs):
    for norm in ("L1", "L2", "Linf"):
        assert distance(ours, theirs, norm) == distance(theirs, ours, norm)
        assert distance(ours, ours, norm) == 0
    finite = all(map(math.isfinite, [*ours, *theirs]))
    size = max(len(ours), len(theirs))
    padded = [[*side, *[0.0] * (size - len(side))] for side in (ours, theirs)]
    if finite:
        steps = [abs(Fraction(a) - Fraction(b)) for a, b in zip(*padded, strict=True)]
        assert distance(ours, theirs) == (
            sum(steps) if sum(steps) <= sys.float_info.max else math.inf
        )


def test_distances_of_other_values():
    assert distance({"a": 1}, {"b": 2}) == 3
    assert distance(np.zeros((2, 2)), np.eye(2)) == 2
    assert distance(np.zeros(2), np.ones(2), "L2") == pytest.approx(math.sqrt(2))
    assert distance(math.nan, 1.0) == math.inf
    assert distance(10**400, 0) == distance([10**400], [0], "L2") == math.inf
    assert distance([2**60 + 1, 0.5], [0, 0]) == 2**60 + Fraction(3, 2)
    assert distance(nx.path_graph(3), nx.cycle_graph(3)) == 1
    assert distance(True, False) == 1


FILE = """
import networkx as nx

def triangles(graph):
    return sum(nx.triangles(graph).values()) // 3

triangles.sensitivity = 1
"""


def test_the_command_says_what_was_found_and_it_replays(tmp_path, monkeypatch, capsys):
    from pdpaudit.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    command = ["check", "mine.py:triangles", "--relation", "edge", "--max-vertices", "5"]
    with pytest.raises(SystemExit) as ended:
        main([*command, "--json", "found.json", "--seed", "1"])
    assert ended.value.code == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "absent → present (4 vertices with" in said
    assert "moves it by 2, declared 1" in said
    assert "to replay: pdpaudit replay found.json --trust" in said
    with pytest.raises(SystemExit) as ended:
        main(["replay", "found.json", "--trust"])
    assert ended.value.code == 0
    for change in (
        {"declared": 2},
        {"detail": "worse"},
        {"witness": {"relation": "rewired"}},
        {"witness": {"sides": ["[4,[]]", "[4,[[0,1],[0,2],[1,2]]]"]}},
        {"witness": {"sides": ["[4,[]]", "[4,[[0,1]]]"]}},
        {"witness": {"sides": ["[1000000000,[]]", "[1000000000,[[0,1]]]"]}},
    ):
        body = json.loads((tmp_path / "found.json").read_text())
        check = body["checks"][0]
        check |= {key: check[key] | one if key == "witness" else one for key, one in change.items()}
        (tmp_path / "changed.json").write_text(json.dumps(body))
        with pytest.raises(SystemExit) as ended:
            main(["replay", "changed.json", "--trust"])
        assert ended.value.code in (1, 2), change
    with pytest.raises(SystemExit) as ended:
        main([*command, "--sensitivity", "5"])
    assert ended.value.code == 0
    with pytest.raises(SystemExit) as ended:
        main(["report", "found.json", "-o", "found.md"])
    assert "--relation edge" in (tmp_path / "found.md").read_text()


def test_a_class_is_made_before_it_is_asked():
    class Ties:
        sensitivity = 1

        def __call__(self, graph):
            return graph.number_of_edges()

    class Capped(Ties):
        def __init__(self, most):
            self.most = most

    assert check(Ties, relation="edge", domain=Graphs((1, 4))).status == "certified"
    with pytest.raises(InputError, match="Capped cannot be made without arguments"):
        Question.of(Capped, "edge")
