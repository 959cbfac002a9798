"""For each check a statistic that is broken in that way alone, and correct ones that pass all."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pytest

from pdpaudit.algorithms.statistics import CN, Path, Triangle
from pdpaudit.checks import Options, check_names, check_sop, name_of, read_witness
from pdpaudit.core.network import Network, adjacency_from_networkx
from pdpaudit.core.statistic import statistic
from pdpaudit.replay.checks import verify_witness

QUICK = Options(max_vertices=4, examples=100)
FINE = ("certified", "not_rejected", "skipped")


def degree_in(graph, vertex, targets):
    return float(sum(other in targets for other in graph[vertex]))


@statistic(sensitivity=0, impact_cardinality=1)
def correct(graph, vertex, targets):
    return degree_in(graph, vertex, targets)


@statistic(sensitivity=0, impact_cardinality=1)
def fails_without_edges(graph, vertex, targets):
    return degree_in(graph, vertex, targets) / graph.degree(vertex) * graph.degree(vertex)


@statistic(sensitivity=0, impact_cardinality=1)
def not_a_number(graph, vertex, targets):
    return float("nan") if not targets else degree_in(graph, vertex, targets)


@statistic(sensitivity=0, impact_cardinality=1)
def returns_text(graph, vertex, targets):
    return str(degree_in(graph, vertex, targets))


CALLS: list[Any] = []


@statistic(sensitivity=0, impact_cardinality=1)
def remembers(graph, vertex, targets):
    CALLS.append(vertex)
    return degree_in(graph, vertex, targets) + len(CALLS) % 2


@statistic(sensitivity=0, impact_cardinality=1)
def marks_the_graph(graph, vertex, targets):
    graph.nodes[vertex]["seen"] = True
    return degree_in(graph, vertex, targets)


@statistic(sensitivity=0, impact_cardinality=1)
def reorders_the_graph(graph, vertex, targets):
    for other in list(graph[vertex]):
        graph.remove_edge(vertex, other)
        graph.add_edge(vertex, other)
    edges = sorted(graph.edges)[:1]
    graph.remove_edges_from(edges)
    graph.add_edges_from(edges)
    return degree_in(graph, vertex, targets)


@statistic(sensitivity=0, impact_cardinality=1)
def seeds_python(graph, vertex, targets):
    random.seed(1)
    return degree_in(graph, vertex, targets)


@statistic(sensitivity=0, impact_cardinality=1)
def draws_from_numpy(graph, vertex, targets):
    np.random.random()  # noqa: NPY002 - the fault
    return degree_in(graph, vertex, targets)


@statistic(sensitivity=1, impact_cardinality=10)
def first_neighbour_counts(graph, vertex, targets):
    return float(next(iter(graph[vertex]), vertex) in targets)


@statistic(sensitivity=0, impact_cardinality=1)
def depends_on_the_number(graph, vertex, targets):
    return degree_in(graph, vertex, targets) * (1 + vertex % 2)


def wrong_for_members(adjacency, targets):
    scores = CN().scores(adjacency, targets)
    scores[targets] = 0
    return scores


wrong_fast_path = statistic(
    sensitivity=1, impact_cardinality=lambda d: 2 * d + 1, scores=wrong_for_members
)(CN())


def writes_to_the_matrix(adjacency, targets):
    scores = CN().scores(adjacency, targets)
    adjacency.data[:] = 0
    return scores


dirty_fast_path = statistic(
    sensitivity=1, impact_cardinality=lambda d: 2 * d + 1, scores=writes_to_the_matrix
)(CN())


@dataclass(frozen=True)
class NotComponentwise:
    """Says that parts do not matter to each other, but divides by the size of S."""

    componentwise = True

    def __call__(self, graph, vertex, targets):
        return degree_in(graph, vertex, targets) / max(len(targets), 1)

    def scores(self, adjacency, targets):
        members = np.zeros(adjacency.shape[0])
        members[targets] = 1 / max(len(targets), 1)
        return adjacency @ members

    def sensitivity(self, max_degree):
        return 0

    def impact_cardinality(self, max_degree):
        return 1


@statistic(sensitivity=0, impact_cardinality=lambda d: 2 * d + 1)
def moves_more(graph, vertex, targets):
    return graph.degree(vertex)


@statistic(sensitivity=1, impact_cardinality=lambda d: 2 * d - (d > 0))
def moves_more_people(graph, vertex, targets):
    return graph.degree(vertex)


@pytest.mark.parametrize(
    ("name", "sop"),
    [
        ("finite", fails_without_edges),
        ("finite", not_a_number),
        ("finite", returns_text),
        ("deterministic", remembers),
        ("graph-unchanged", marks_the_graph),
        ("graph-unchanged", reorders_the_graph),
        ("global-random-state", seeds_python),
        ("global-random-state", draws_from_numpy),
        ("order-independent", first_neighbour_counts),
        ("label-independent", depends_on_the_number),
        ("fast-path", wrong_fast_path),
        ("fast-path", dirty_fast_path),
        ("fast-path", NotComponentwise()),
        ("targeted-sensitivity", moves_more),
        ("impact-cardinality", moves_more_people),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "__name__", "class"),
)
def test_a_broken_statistic_trips_its_check_alone(name, sop):
    results = {result.name: result for result in check_sop(sop, QUICK)}
    assert [n for n, result in results.items() if result.status not in FINE] == [name]
    assert results[name].status == "violated"
    assert results[name].detail
    if name in ("fast-path", "finite") and sop in (
        dirty_fast_path,
        NotComponentwise(),
        returns_text,
    ):
        return  # seen only on a matrix, on a union of graphs, or by the type
    assert verify_witness(read_witness(results[name].witness), sop).reproduced


def test_a_loose_declaration_is_shown_and_is_no_violation():
    results = {result.name: result for result in check_sop(Triangle(), QUICK)}
    assert {result.status for result in results.values()} <= set(FINE)
    assert results["tightness"].detail.startswith("loose: for degree 3, declared 3, exact 0")
    tight = results["tightness"].observed
    assert isinstance(tight, dict)
    assert tight["sensitivity"][4] == [0, 0, 0, 0]


def test_a_statistic_that_fails_only_on_its_network_trips_that_check_alone():
    @statistic(sensitivity=0, impact_cardinality=1)
    def wakes_up_late(graph, vertex, targets):
        return 3.0 * (graph.degree(vertex) > 13)

    graph = nx.random_regular_graph(13, 40, seed=5)
    network = Network(adjacency_from_networkx(graph)[0], np.arange(40) % 2 == 0, seeds=(0,))
    options = Options(max_vertices=4, examples=200, network=network, max_degree=14)
    results = {result.name: result for result in check_sop(wakes_up_late, options)}
    tripped = [name for name, result in results.items() if result.status not in FINE]
    assert tripped == ["own-network"]
    own = results["own-network"]
    assert (own.declared, own.observed) == (0, 3)
    assert "rewiring" in own.detail
    assert verify_witness(read_witness(own.witness), wakes_up_late).reproduced


@pytest.mark.parametrize("fast", [True, False])
def test_too_many_changes_on_its_network_are_found_there(fast):
    def by_degree(adjacency, targets):
        degree = np.diff(adjacency.indptr)
        return np.full(len(degree), float(degree.max(initial=0) > 13))

    # Nobody moves by more than is declared, but everybody moves.
    @statistic(sensitivity=1, impact_cardinality=6, scores=by_degree if fast else None)
    def hears_of_hubs(graph, vertex, targets):
        return float(max(dict(graph.degree).values()) > 13)

    graph = nx.random_regular_graph(13, 40, seed=5)
    network = Network(adjacency_from_networkx(graph)[0], np.arange(40) % 2 == 0, seeds=(0,))
    options = Options(
        max_vertices=2, examples=40, network=network, max_degree=14, select=("own-network",)
    )
    own = check_sop(hears_of_hubs, options)[-1]
    assert (own.name, own.status) == ("own-network", "violated")
    assert own.declared == 6
    # Without a fast path the other protected vertices are not all evaluated.
    assert isinstance(own.observed, float)
    assert own.observed == 40 if fast else 20 < own.observed <= 40
    assert "where 6 are declared" in own.detail
    assert verify_witness(read_witness(own.witness), hears_of_hubs).reproduced


@pytest.mark.parametrize("sop", [correct, CN(), Path(1), Path(2)], ids=name_of)
def test_a_correct_statistic_passes_all(sop):
    results = check_sop(sop, QUICK)
    assert tuple(result.name for result in results) == check_names()
    assert {result.status for result in results} <= set(FINE)
    assert [result.name for result in results if result.status == "skipped"] in (
        ["own-network"],
        ["fast-path", "own-network"],
    )
    by_name = {result.name: result for result in results}
    assert by_name["targeted-sensitivity"].exact
    assert by_name["impact-cardinality"].status == "certified"


def test_the_global_random_state_survives_the_checks():
    random.seed(42)
    np.random.seed(42)  # noqa: NPY002 - what is watched
    before = random.getstate(), str(np.random.get_state())  # noqa: NPY002
    check_sop(seeds_python, QUICK)
    check_sop(correct, QUICK)
    assert before == (random.getstate(), str(np.random.get_state()))  # noqa: NPY002
