"""The appendix's law over several rounds where joint counts are too many."""

from __future__ import annotations

import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest

from pdpaudit.algorithms import hidden_law, hidden_paths
from pdpaudit.algorithms.hidden import Calibration
from pdpaudit.algorithms.laws import (
    Laplace,
    LawUnavailable,
    Stage,
    search_com_rounds_law,
)
from pdpaudit.algorithms.laws.condensed_rounds import condensed_path_law
from pdpaudit.algorithms.laws.hidden_rounds import PathRound, Spending, path_law
from pdpaudit.algorithms.ptarget import PTarget
from pdpaudit.algorithms.simulation import component_labels
from pdpaudit.algorithms.statistics import CN
from pdpaudit.attacks.benchmark_networks import planted_network
from pdpaudit.core.network import Network

from .helpers import fit_p_value, network_of, random_network

# Two classes of protected vertices, of which statistic-first search may examine one.
SIZES = np.array([5, 4])
SCORES = {0: 1.0, 1: 0.0, 2: 0.0}


def isolated(protected: int, targets: int, seed: int) -> Network:
    """A sparse random network of protected vertices, a path of three seeds, isolated targets."""
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(protected, 4.0 / protected, seed=seed)
    graph.add_nodes_from(range(protected, protected + 3 + targets))
    for seed_vertex in range(protected, protected + 3):
        graph.add_edges_from(
            (seed_vertex, int(v)) for v in rng.choice(protected, size=4, replace=False)
        )
    nx.add_path(graph, range(protected, protected + 3))
    return network_of(graph, list(range(protected, len(graph))), (protected,))


def stage(found) -> Stage:
    left = [target for target in SCORES if target not in found]
    return Stage(
        left,
        np.array([SCORES[t] + (t + 1) * len(found) / 2 for t in left]),
        np.array([0.0, 1.0]) + np.array([0.0, 0.5]) * len(found),
        np.array([False, 0 in found]),
    )


def as_round(now: Stage) -> PathRound:
    levels, counts = np.unique(now.target_scores, return_counts=True)
    return PathRound(levels, counts, now.class_scores, now.explored)


@pytest.mark.parametrize(("limit", "scale"), [(2, 3.0), (2, 0.7), (5, 1.5), (9, 1.0), (2, 20.0)])
@pytest.mark.parametrize("first", [0, 1])
def test_two_rounds_are_those_of_the_joint_counts(limit: int, scale: float, first: int) -> None:
    noises = {"noise": Laplace(2.0), "threshold": limit, "threshold_noise": Laplace(scale)}
    expected = search_com_rounds_law(SIZES, stage, 2, **noises).probabilities
    rounds = [as_round(stage(())), as_round(stage((first,)))]
    law = path_law(SIZES, rounds, **noises, purse=Spending(1e8))
    mine = law[np.searchsorted(rounds[0].levels, SCORES[first])]
    assert mine[-1] == pytest.approx(expected[(first,)], rel=1e-9)
    after = stage((first,))
    for target, value in zip(after.targets, after.target_scores, strict=True):
        level = np.searchsorted(rounds[1].levels, value)
        assert mine[level] == pytest.approx(expected[(first, target)], rel=1e-9)


@pytest.mark.slow
def test_three_rounds_are_those_of_the_joint_counts() -> None:
    def plain(found) -> Stage:
        left = [target for target in SCORES if target not in found]
        return Stage(left, np.zeros(len(left)), np.zeros(1), np.array([False]))

    noises = {"noise": Laplace(2.0), "threshold": 3, "threshold_noise": Laplace(4.0)}
    expected = search_com_rounds_law([3], plain, 3, **noises).probabilities
    rounds = [as_round(plain(found)) for found in [(), (1,), (1, 2)]]
    law = path_law(np.array([3]), rounds, **noises, purse=Spending(1e9))
    assert law[0, 0].tolist() == pytest.approx([expected[(1, 2, 0)], expected[(1, 2)]], rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_networks_have_the_law_of_the_joint_counts(seed: int) -> None:
    instance = random_network(seed + 20, n=12, degree=1.0, share=0.4).instance()
    noises = Calibration(3.0, 4, 2.0)
    expected = hidden_law._law_by_counts(instance, CN(), noises, 2, 1e10)
    law = hidden_paths.law_by_paths(instance, CN(), noises, 2, most_cost=1e9)
    assert law.missing < 1e-9
    for output, probability in law.probabilities.items():
        assert probability == pytest.approx(expected.probabilities[output], rel=1e-8)


@pytest.mark.slow
def test_a_network_of_a_thousand_vertices_is_sampled_as_its_law_says() -> None:
    # The comparison rejects a right law with probability 1e-4.
    instance = isolated(1000, 8, seed=5).instance()
    mechanism = PTarget(sop=CN(), components=3, max_degree=8, stop=150)
    law = mechanism.law(instance)
    assert law.missing <= hidden_paths.TOLERANCE
    # Whether two, one or no target is found is all decided by the limit.
    several = sum(p for found, p in law.probabilities.items() if len(found) == 5)
    assert 0.1 < several < 0.9
    outputs = mechanism.sample(instance, 200_000, np.random.default_rng(75))
    assert fit_p_value(outputs.counts(), law.probabilities) > 1e-4


def test_what_is_left_out_is_told_and_the_rest_is_as_before() -> None:
    instance = random_network(3, n=30, degree=2.0, share=0.5).instance()
    # No more are examined than the limit allows, which is quick to compute.
    noises = Calibration(0.3, 30, 5.0)
    full = hidden_paths.law_by_paths(instance, CN(), noises, 2, tolerance=0.0)
    part = hidden_paths.law_by_paths(instance, CN(), noises, 2, tolerance=0.2)
    left_out = full.probabilities.keys() - part.probabilities.keys()
    assert left_out
    mass = math.fsum(full.probabilities[output] for output in left_out)
    assert mass == pytest.approx(part.missing, abs=1e-8)
    assert part.missing <= 0.2 + 1e-8
    for output, probability in part.probabilities.items():
        assert probability == full.probabilities[output]


@pytest.mark.parametrize(
    ("scale", "limit_scale", "cost", "words"),
    [(4.0, 30.0, 1e4, "--samples"), (4.0, 0.0, 1e8, "noise"), (0.0, 30.0, 1e8, "noise")],
)
def test_what_cannot_be_had_is_refused_with_what_to_do(
    scale: float, limit_scale: float, cost: float, words: str
) -> None:
    instance = isolated(100, 6, seed=1).instance()
    noises = Calibration(scale, 50, limit_scale)
    with pytest.raises(LawUnavailable, match=words):
        hidden_paths.law_by_paths(instance, CN(), noises, 2, most_cost=cost)


def crowd_stage(targets: int):
    """Many protected vertices that always score alike, so that joint counts are few."""

    def now(found) -> Stage:
        left = [target for target in range(targets) if target not in found]
        score = np.full(1, len(found) / 2)
        return Stage(left, np.zeros(len(left)), score, np.array([False]))

    return now


@pytest.mark.slow
def test_condensed_rounds_over_many_vertices_are_those_of_the_joint_counts() -> None:
    now = crowd_stage(5)
    noises = {"noise": Laplace(4.0), "threshold": 10, "threshold_noise": Laplace(8.0)}
    expected = search_com_rounds_law([60], now, 2, **noises).probabilities
    rounds = [as_round(now(())), as_round(now((0,)))]
    law = condensed_path_law(np.array([60]), rounds, **noises, purse=Spending(1e9))
    assert law[0].tolist() == pytest.approx([expected[(0, 1)], expected[(0,)]], rel=1e-10)


@pytest.mark.slow
def test_condensed_rounds_are_those_added_term_by_term() -> None:
    # Both classes' scores change, and one is explored on the way.
    rounds = [as_round(stage(())), as_round(stage((0,)))]
    sizes = np.array([70, 30])
    noises = {"noise": Laplace(2.0), "threshold": 20, "threshold_noise": Laplace(9.0)}
    law = condensed_path_law(sizes, rounds, **noises, purse=Spending(1e9))
    expected = path_law(sizes, rounds, **noises, purse=Spending(1e9))
    assert law.ravel().tolist() == pytest.approx(expected.ravel().tolist(), rel=1e-9)


@pytest.mark.slow
def test_three_condensed_rounds_are_those_of_the_joint_counts() -> None:
    now = crowd_stage(4)
    noises = {"noise": Laplace(4.0), "threshold": 8, "threshold_noise": Laplace(6.0)}
    expected = search_com_rounds_law([40], now, 3, **noises).probabilities
    rounds = [as_round(now(tuple(range(number)))) for number in range(3)]
    law = condensed_path_law(np.array([40]), rounds, **noises, purse=Spending(1e9))
    wanted = [expected[(0, 1, 2)], expected[(0, 1)]]
    assert law.ravel().tolist() == pytest.approx(wanted, rel=1e-9)


@pytest.mark.slow
def test_two_targets_among_a_thousand_have_a_law() -> None:
    # The comparison rejects a right law with probability 1e-4.
    instance = isolated(1000, 2, seed=5).instance()
    mechanism = PTarget(sop=CN(), components=3, max_degree=12)
    law = mechanism.law(instance)
    assert law.missing <= 1e-10
    outputs = mechanism.sample(instance, 200_000, np.random.default_rng(76))
    assert fit_p_value(outputs.counts(), law.probabilities) > 1e-4


def test_equal_questions_are_asked_once_and_cost_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(*arguments, **more):
        asked.append(arguments)
        return condensed_path_law(*arguments, **more)

    hidden_paths._answer.cache_clear()
    monkeypatch.setattr(hidden_paths, "condensed_path_law", counted)
    noises = Calibration(4.0, 50, 30.0)
    one, same = (isolated(100, 6, seed=1).instance() for _ in range(2))
    first = hidden_paths.law_by_paths(one, CN(), noises, 2)
    number = len(asked)
    # Six targets that score alike: no more than one question for each round.
    assert number == 2
    again = hidden_paths.law_by_paths(same, CN(), noises, 2)
    assert len(asked) == number
    assert first.work == again.work > 0
    assert first.probabilities == again.probabilities
    assert first.error == hidden_paths.CONDENSED_ERROR
    hidden_paths.law_by_paths(one, CN(), Calibration(4.0, 51, 30.0), 2)
    assert len(asked) == 2 * number


def test_term_by_term_says_that_it_is_less_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_, **__):
        raise LawUnavailable("not to nine digits")

    hidden_paths._answer.cache_clear()
    instance = random_network(3, n=30, degree=2.0, share=0.5).instance()
    noises = Calibration(0.3, 30, 5.0)
    sharp = hidden_paths.law_by_paths(instance, CN(), noises, 2)
    hidden_paths._answer.cache_clear()
    monkeypatch.setattr(hidden_paths, "condensed_path_law", refused)
    terms = hidden_paths.law_by_paths(instance, CN(), noises, 2)
    hidden_paths._answer.cache_clear()
    assert (sharp.error, terms.error) == (1e-9, 1e-6)
    for output, probability in sharp.probabilities.items():
        assert terms.probabilities[output] == pytest.approx(probability, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_a_shorter_search_is_how_a_longer_one_begins(seed: int) -> None:
    """Cut off after the component that the first round found, lists have the shorter one's law."""
    network = random_network(seed + 50, n=14, degree=1.5, share=0.5)
    instance = network.instance()
    longer = PTarget(sop=CN(), components=3, stop=5, max_degree=13)
    shorter = longer.beginning()
    assert shorter == PTarget(sop=CN(), components=2, stop=5, max_degree=13)
    assert shorter.beginning() is None
    labels = component_labels(instance)
    start = {labels[seed_vertex] for seed_vertex in instance.seeds}
    cut: Counter = Counter()
    for output, probability in longer.law(instance).probabilities.items():
        fresh = [labels[vertex] for vertex in output if labels[vertex] not in start]
        kept = [v for v in output if labels[v] in start or labels[v] == fresh[0]]
        cut[tuple(kept)] += probability
    expected = shorter.law(instance).probabilities
    assert cut.keys() == expected.keys()
    for output, probability in expected.items():
        assert cut[output] == pytest.approx(probability, rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("targets", "protected", "components", "stop"), [(9, 2_000, 4, None), (6, 300, 5, 40)]
)
def test_three_and_four_rounds_are_sampled_as_their_law_says(
    targets: int, protected: int, components: int, stop: int | None
) -> None:
    # The comparison rejects a right law with probability 1e-4.
    instance = planted_network(targets, protected).instance()
    mechanism = PTarget(sop=CN(), components=components, stop=stop)
    law = mechanism.law(instance)
    assert law.missing <= hidden_paths.TOLERANCE
    outputs = mechanism.sample(instance, 300_000, np.random.default_rng(76))
    assert fit_p_value(outputs.counts(), law.probabilities) > 1e-4
