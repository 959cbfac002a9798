"""Fast paths of functions of graphs: the same verdicts as without, and broken ones are named."""

from __future__ import annotations

import json
import math
import time
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit import check
from pdpaudit.checks import numberings
from pdpaudit.checks.sensitivity import Question, check_sensitivity
from pdpaudit.cli import main
from pdpaudit.core.domains import Graphs, unchanged
from pdpaudit.core.errors import InputError
from pdpaudit.core.graphs import (
    Graph,
    adjacencies,
    batched,
    graph_of,
    labelled_graphs,
    number_of,
)


class Drawn:
    """A function whose values on graphs are drawn, as numbers, vectors or graphs."""

    def __init__(self, seed: int, kind: str, steps: int) -> None:
        rng = np.random.default_rng(seed)
        self.tables: dict[int, Any] = {}
        for n in range(1, 5):
            count = 1 << math.comb(n, 2)
            size = {"number": (), "vector": (n,), "pairs": (n, 2), "graph": ()}[kind]
            drawn = rng.integers(4, size=(count, *size))
            made = adjacencies(n, drawn % count) if kind == "graph" else drawn
            self.tables[n] = made if steps == 1 else made / steps

    def __call__(self, graph: Graph) -> Any:
        value = self.values(adjacency(graph)[None])[0]
        return graph_of(value) if value.dtype == bool else value.tolist()

    def values(self, given: Any) -> Any:
        ends = np.triu_indices(given.shape[1], 1)
        bits = 1 << np.arange(len(ends[0]))[::-1]
        return self.tables[given.shape[1]][given[:, *ends] @ bits]


def adjacency(graph: Graph) -> Any:
    made = np.zeros((graph.vertices, graph.vertices), dtype=bool)
    for one, other in graph.ties:
        made[one, other] = made[other, one] = True
    return made


def to_odd_contacts(vertices: int, contacts: frozenset[int]) -> list[list[tuple[int, int]]]:
    """The ties of one candidate to contacts with an odd number."""
    odd = [one for one in contacts if one % 2]
    return [[(v, c) for c in odd] for v in range(1, vertices) if v not in contacts]


@given(
    st.integers(0, 2**32),
    st.sampled_from(["number", "vector", "pairs", "graph"]),
    st.sampled_from([1, 10]),
    st.sampled_from(["edge", "vertex", "rewired", "secret"]),
    st.sampled_from(["L1", "L2", "Linf"]),
    st.sampled_from([0, 0.2, 0.3, math.sqrt(2), 2, 3, 5.5]),
    st.sampled_from([0.0, 1e-12, 0.5]),
    st.sampled_from([1, 3]),
    st.booleans(),
)
def test_a_fast_path_leads_to_what_the_function_leads_to(
    seed, kind, steps, relation, norm, declared, error, least, served
):
    function: Any = Drawn(seed, kind, 1 if kind == "graph" else steps)
    secret = to_odd_contacts if relation == "secret" else None
    domain = Graphs((least, 4), form=unchanged, served=served, secret=secret)
    function.norm, function.error = norm, error
    plain = by(None, function, norm=norm, error=error)
    slow = check_sensitivity(Question.of(plain, relation, domain, declared))
    with patch.object(numberings, "EVERY", 2):
        fast = check_sensitivity(Question.of(function, relation, domain, declared))
    assert (fast.status, fast.exact, fast.declared) == (slow.status, slow.exact, slow.declared)
    assert fast.witness == slow.witness
    assert fast.observed == pytest.approx(slow.observed, rel=1e-12, abs=0)
    if steps == 1 or kind == "number":
        assert fast.detail == slow.detail
        assert fast.observed == slow.observed


def test_graphs_by_number_are_those_that_are_listed():
    for n in range(1, 5):
        listed = list(labelled_graphs(n))
        given = adjacencies(n, np.arange(len(listed)))
        assert list(map(graph_of, given)) == listed
        assert [number_of(graph) for graph in listed] == [*range(len(listed))]
        assert (given == [adjacency(graph) for graph in listed]).all()


def ties(graph: Graph) -> int:
    return len(graph.ties)


def by(values: Any, function: Any = ties, **more: Any) -> Any:
    """Return a function of graphs with a fast path, by its own name."""

    def named(graph):
        return function(graph)

    for name, value in {"values": values, **more}.items():
        setattr(named, name, value)
    return named


def found(function: Any, declared: Any = 1, relation: str = "edge", **more: Any) -> Any:
    domain = Graphs((1, 7), form=unchanged)
    return check_sensitivity(Question.of(function, relation, domain, declared), **more)


def counted(given: Any) -> Any:
    return given.sum(axis=(1, 2)) // 2


def test_all_numberings_of_7_vertices_are_looked_at():
    result = found(by(counted))
    assert (result.status, result.exact, result.observed) == ("certified", True, 1.0)
    assert result.scope == "edge: all graphs of 1 to 7 vertices, all numberings, by the fast path"
    # Each tie of 7 vertices is there in half of 2^21 graphs.
    pairs = sum(math.comb(n, 2) << math.comb(n, 2) - 1 for n in range(2, 8))
    assert f"({pairs:,} pairs)" in result.detail


def test_one_pair_of_millions_is_found():
    special = adjacencies(7, np.array([1234567]))[0]

    def values(given):
        return (
            (given == special).all(axis=(1, 2)) * 2 if given.shape[1] == 7 else counted(given) * 0
        )

    def function(graph):
        return 2 * (graph == graph_of(special))

    result = found(by(values, function))
    assert (result.status, result.observed) == ("violated", 2.0)
    ties = [list(tie) for tie in graph_of(special).ties]
    # The smallest pair is that without a tie, and of those that with the lowest number.
    assert [json.loads(side) for side in result.witness["sides"]] == [[7, ties[1:]], [7, ties]]


def changed(given: Any) -> Any:
    count = counted(given)
    given[:] = False
    return count


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (lambda given: 1 / 0, r"the fast path raised ZeroDivisionError"),
        (lambda given: counted(given)[:-1], r"returned int64 of shape \(0,\), not .*\(1,\)"),
        (lambda given: 3, r"returned int64 of shape \(\), not"),
        (lambda given: counted(given).astype(str), r"returned <U\d+ of shape"),
        (lambda given: counted(given) * math.nan, r"a value that is not finite \(on 1 vertex with"),
        (changed, r"changed the array it was given"),
        (lambda given: counted(given) + given[:, -1, 0], r"function 1, fast path 2 \(on 2 vert"),
        (lambda given: counted(given)[::-1], r"function 0, fast path 1 \(on 2 vertices"),
        (lambda given: counted(given) + 1e-9, r"function 0, fast path 1e-09"),
        (lambda given: given, r"function 1, fast path \(\[False, True\], \[True, False\]\)"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_broken_fast_path_is_named(values, said):
    with pytest.raises(InputError, match=rf"^named: .*{said}") as caught:
        found(by(values))
    assert "\n" not in str(caught.value)


def test_where_a_fast_path_shows_too_much_the_function_is_asked():
    """One graph of two million, which is not among those compared, has another value."""
    special = adjacencies(7, np.array([1234567]))[0]

    def values(given):
        wrong = (given == special).all(axis=(1, 2)) if given.shape[1] == 7 else False
        return counted(given) + wrong

    with pytest.raises(InputError, match="named: it moves by 1 from here, its fast path by 2"):
        found(by(values))
    # The last tie of all moves both by 4, so that the graph is not where the change is largest.
    complete = by(
        lambda given: values(given) + 3 * (counted(given) == 21),
        lambda graph: len(graph.ties) + 3 * (len(graph.ties) == 21),
    )
    with pytest.raises(InputError, match="named: it moves by 1 from here, its fast path by 2"):
        found(complete)


def test_what_is_reached_but_for_rounding_is_decided_by_the_function():
    def mean(graph):
        return 2 * len(graph.ties) / graph.vertices

    def values(given):
        return given.sum(axis=(1, 2)) / given.shape[1]

    def claimed(degree):
        return 2 / (degree + 1)

    rounded = found(by(values, mean), claimed)
    assert rounded.status == "violated"
    assert "if that is rounding" in rounded.detail
    assert found(by(values, mean, error=1e-12), claimed).status == "certified"


def test_a_time_limit_ends_it():
    def slow(given):
        time.sleep(0.5 * (given.shape[1] == 7))
        return counted(given)

    result = found(by(slow), time_limit=2.0)
    assert (result.status, result.exact) == ("not_rejected", False)
    assert "the time limit of 2 s is over" in result.scope
    assert result.observed == 1.0


def test_values_that_take_too_much_memory_are_refused():
    wide = by(
        lambda given: counted(given)[:, None] * np.linspace(0, 1, 60),
        lambda graph: [*(len(graph.ties) * np.linspace(0, 1, 60))],
    )
    with pytest.raises(
        InputError, match="60 numbers for each of 2,097,152 graphs, 960 MiB; look at fewer"
    ):
        found(wide, 60)
    assert found(wide, 60, most=6).exact


@pytest.mark.parametrize(
    ("fast", "most"), [(False, 5), pytest.param(False, 6, marks=pytest.mark.slow), (True, 6)]
)
def test_a_leak_that_only_numbers_show_is_found_whoever_vanishes(fast, most):
    """The degree of vertex 0: the last takes one tie away, but without 0 another one is 0."""

    def first(graph):
        return graph.degrees()[0] if graph.vertices else 0

    values = (lambda given: given[:, 0].sum(axis=1)) if fast else None
    function = by(values, first)
    result = found(function, 1, "vertex", most=most)
    assert (result.status, result.observed) == ("violated", most - 1)
    # The middle of a path of 3 vanishes.
    sides = [json.loads(side) for side in result.witness["sides"]]
    assert sides == [[3, [[0, 1], [0, 2]]], [2, []]]
    assert result.detail.startswith(
        "vertex 0 → absent, later ones move up (3 vertices with 0-1, 0-2) moves it by 2"
    )
    kept = found(function, lambda degree: max(1, degree), "vertex", most=most)
    assert (kept.status, kept.exact) == ("certified", True)
    how = ", by the fast path" if fast else ""
    assert kept.scope.startswith(
        f"vertex: all graphs of 1 to {most} vertices, all numberings, whoever vanishes{how}"
    )
    assert ("none larger" in kept.scope) == (not fast)


def test_of_a_number_for_each_vertex_that_of_who_vanishes_is_the_last():
    def degrees(graph):
        return graph.degrees()

    result = found(by(lambda given: given.sum(axis=2), degrees), lambda n: 2 * n, "vertex", most=6)
    assert (result.status, result.exact) == ("certified", True)
    weighted = by(
        lambda given: given.sum(axis=2) * np.arange(given.shape[1]),
        lambda graph: [one * degree for one, degree in enumerate(graph.degrees())],
    )
    result = found(weighted, lambda n: 2 * n * n, "vertex", most=6)
    assert (result.status, result.exact) == ("not_rejected", False)
    assert "all numberings, by the fast path; who vanishes has the last number" in result.scope


def test_a_batched_method_is_a_function_of_one_graph_and_of_many():
    class Made:
        @batched(int)
        def count(self, given):
            """Return the number of ties."""
            return counted(given)

    count = Made().count
    assert (count(Graph(3, ((0, 1), (1, 2)))), type(count(Graph(1, ())))) == (2, int)
    assert count.values(adjacencies(3, np.arange(8))).tolist() == [0, 1, 1, 2, 1, 2, 2, 3]
    assert count.__doc__ == "Return the number of ties."
    assert check(
        count, relation="edge", sensitivity=1, domain=Graphs((1, 4), form=unchanged)
    ).checks


FILE = """
import networkx as nx


def triangles(graph):
    return sum(nx.triangles(graph).values()) // 3


def many(adjacencies):
    ties = adjacencies.astype(float)
    return (ties @ ties * ties).sum(axis=(1, 2)) // {divisor}


triangles.values = many
triangles.sensitivity = lambda degree: max(degree - 1, 0)
"""


@pytest.mark.parametrize(("divisor", "status"), [(6, 0), (3, 2)])
def test_the_command_uses_it_and_refuses_a_broken_one(
    divisor, status, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE.format(divisor=divisor))
    with pytest.raises(SystemExit) as ended:
        main(["check", "mine.py:triangles", "--relation", "edge", "--max-vertices", "6"])
    assert ended.value.code == status
    printed = capsys.readouterr()
    said = " ".join((printed.out + printed.err).split())
    wanted = (
        "all graphs of 1 to 6 vertices, all numberings, by the fast path"
        if divisor == 6
        else "triangles: function 1, fast path 2.0 (on 3 vertices with 0-1, 0-2, 1-2)"
    )
    assert wanted in said
