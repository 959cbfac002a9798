"""Drawn trajectories against runs, call by call.

What is deterministic must agree to the call. What is random is compared with an implementation
written from the pseudocode, by chi-square tests at pinned seeds that reject equal laws with
probability 1e-4 each: with 16 of them, a right implementation fails one with probability 0.16 %.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pdpaudit.algorithms.samplers.trajectories import order_of_asking
from pdpaudit.algorithms.searches.baselines import Target
from pdpaudit.algorithms.searches.noisy_max import PTargetMainText, PTargetRepaired
from pdpaudit.algorithms.searches.search_com import PTarget
from pdpaudit.algorithms.statistics import CN, Katz3, Path, Triangle
from pdpaudit.core.network import Network, adjacency_from_edges, targeted_components
from pdpaudit.core.statistic import statistic
from pdpaudit.experiments.simulation import logs_of, trace, trajectory_of_log

from . import plain

FALSE_ALARM = 1e-4


@st.composite
def networks(draw, seeds=1):
    n = draw(st.integers(3, 24))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    graph = nx.gnp_random_graph(n, draw(st.sampled_from([0.1, 0.2, 0.4])), seed=rng)
    targeted = np.flatnonzero(rng.random(n) < draw(st.sampled_from([0.3, 0.6])))[: n - 1]
    targeted = targeted if len(targeted) else np.array([0])
    start = rng.choice(targeted, min(seeds, len(targeted)), replace=False)
    return plain.network_of(graph, targeted.tolist(), start.tolist())


@given(networks(), st.data())
def test_exploration_asks_as_statistic_first_search_does(network, data):
    """Whoever has been examined before, targets and calls are those of the plain search."""
    components = targeted_components(network.adjacency, network.targeted)
    start = int(
        data.draw(
            st.sampled_from(components[data.draw(st.integers(0, len(components) - 1))].tolist())
        )
    )
    examined = data.draw(st.sets(st.sampled_from(network.protected.tolist())))
    graph = network.instance().graph
    ask = plain.Log(network.targeted, {start, *examined})
    found = plain.statistic_first(graph, [start], ask)
    order, hit = order_of_asking(network.instance(), (start,), network.n)
    assert order[hit].tolist() == found[1:]
    new = ~np.isin(order, list(examined))
    # Which of several protected vertices between two targets comes first makes no difference.
    assert [(v if network.targeted[v] else -1) for v in order[new]] == [
        (v if network.targeted[v] else -1) for v in ask.asked
    ]
    assert sorted(order[new].tolist()) == sorted(ask.asked)
    most = data.draw(st.integers(1, network.n))
    cut, _ = order_of_asking(network.instance(), (start,), most)
    assert cut.tolist() == order[:most].tolist()


@pytest.mark.parametrize("case", ["main text", "appendix", "repaired, gumbel"])
def test_a_run_is_the_same_whatever_runs_beside_it(case):
    mechanism, _ = CASES[case]
    network = PLACES["dense"]
    generators = [np.random.default_rng(i) for i in range(12)]
    together = trace(mechanism, network, network.instance(), 20, generators)
    for i, run in enumerate(together):
        (one,) = trace(mechanism, network, network.instance(), 20, [np.random.default_rng(i)])
        assert signature(one) == signature(run)
        assert one.vertices.tolist() == run.vertices.tolist()


def quarter(graph, vertex, targets):
    return 0.25 * len(targets & set(graph[vertex])) - 1.0


@given(
    networks(seeds=2),
    st.sampled_from([CN(), Path(1), Path(2), Path(3), Triangle(), Katz3()]),
    st.integers(0, 30),
    st.integers(0, 12),
)
@settings(max_examples=2 * settings().max_examples)
def test_target_goes_on_as_it_runs(network, sop, budget, stop):
    """Without noise every call is determined: nothing may differ."""
    same(Target(sop=sop, components=30, stop=stop), network, budget)


@given(networks(seeds=2), st.integers(0, 30))
def test_a_statistic_without_a_shortcut_and_with_negative_scores(network, budget):
    sop = statistic(sensitivity=0, impact_cardinality=0)(quarter)
    same(Target(sop=sop, components=4), network, budget)
    same(PTargetMainText(sop=sop, components=9), network, budget)
    same(PTargetRepaired(sop=sop, components=9, threshold=-0.75), network, budget)


def same(mechanism, network, budget):
    (drawn,) = trace(mechanism, network, network.instance(), budget, [np.random.default_rng(1)])
    rngs = [np.random.default_rng(1)]
    (log,) = logs_of(mechanism, network, network.instance(), budget, rngs)
    run = trajectory_of_log(network, log)
    assert drawn.vertices.tolist() == run.vertices.tolist()
    assert drawn.found.tolist() == run.found.tolist()
    assert drawn.discoveries.tolist() == run.discoveries.tolist()
    assert drawn.calls == run.calls


#: Noise of the order of the scores, so that who comes first is open.
HARD = {"sop": CN(), "components": 40, "max_degree": 9}
SHARP = statistic(sensitivity=1, impact_cardinality=1)(
    lambda graph, vertex, targets: float(plain.common(graph, vertex, targets or [vertex]))
)
CASES = {
    "main text": (
        PTargetMainText(**HARD),
        lambda graph, n, rng: plain.main_text(graph, plain.common, 1.0, rng),
    ),
    "main text, much noise": (
        PTargetMainText(**HARD, epsilon=0.1),
        lambda graph, n, rng: plain.main_text(graph, plain.common, 10.0, rng),
    ),
    "appendix": (
        PTarget(sop=SHARP, epsilon=4.0, components=40, stop=5),
        lambda graph, n, rng: plain.appendix(graph, plain.common, 1.0, 5, 0.5, rng),
    ),
    "appendix, as declared": (
        PTarget(**HARD),
        lambda graph, n, rng: plain.appendix(graph, plain.common, 4.0, n // 2, 38.0, rng),
    ),
    "repaired, laplace": (
        PTargetRepaired(**HARD, threshold=-2.0),
        lambda graph, n, rng: plain.repaired(
            graph, plain.common, lambda: rng.laplace(0, 2.0), -2.0
        ),
    ),
    "repaired, gumbel": (
        PTargetRepaired(**HARD, threshold=-4.0, noise="gumbel"),
        lambda graph, n, rng: plain.repaired(graph, plain.common, lambda: rng.gumbel(0, 2.0), -4.0),
    ),
    "repaired, exponential": (
        PTargetRepaired(**HARD, threshold=0.5, noise="exponential"),
        lambda graph, n, rng: plain.repaired(
            graph, plain.common, lambda: rng.exponential(2.0), 0.5
        ),
    ),
}
PLACES = {
    "sparse": plain.random_network(8, 26, 2.0, 0.3),
    "dense": plain.random_network(11, 24, 4.0, 0.3),
}


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("case", CASES)
def test_whole_trajectories_have_the_law_of_plain_runs(case, place):
    """The calls at which targets are found and when the run ends, all at once."""
    mechanism, rule = CASES[case]
    network, budget = PLACES[place], 14
    graph = nx.Graph(network.instance().graph)
    instance = network.instance()
    rngs = np.random.default_rng(1).spawn(2_500)
    drawn = Counter(map(signature, trace(mechanism, network, instance, budget, rngs)))
    runs: Counter[Any] = Counter()
    rng = np.random.default_rng(2)
    for _ in range(600):
        search = rule(graph, network.n, rng)
        log = plain.rounds(graph, network.targeted, network.seeds, search, budget)
        runs[signature(trajectory_of_log(network, log))] += 1
    assert len(runs) > 8
    assert homogeneity(drawn, runs) > FALSE_ALARM


def signature(run):
    return (*run.found.tolist(), "end", run.calls, *run.vertices[:2].tolist())


def homogeneity(first, second):
    """p-value of the chi-square test; what is rare is put together."""
    keys = sorted(set(first) | set(second), key=repr)
    table = np.array([[counts.get(key, 0) for key in keys] for counts in (first, second)])
    share = table.sum(axis=1, keepdims=True) / table.sum()
    rare = (table.sum(axis=0) * share).min(axis=0) < 5
    pooled = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    pooled = pooled[:, pooled.sum(axis=0) > 0]
    return 1.0 if pooled.shape[1] < 2 else float(stats.chi2_contingency(pooled).pvalue)


def test_the_comparison_sees_four_times_the_noise():
    """A test of the test: trajectories of other noise are told apart."""
    network = PLACES["sparse"]
    counts = []
    for seed, epsilon in ((1, 1.0), (2, 0.25)):
        mechanism = PTargetMainText(**HARD, epsilon=epsilon)
        rngs = np.random.default_rng(seed).spawn(2_000)
        runs = trace(mechanism, network, network.instance(), 14, rngs)
        counts.append(Counter(map(signature, runs)))
    assert homogeneity(*counts) < FALSE_ALARM


@pytest.mark.parametrize(("n", "targets", "calls"), [(30_000, 600, 1_500), (300_000, 200, 6_000)])
def test_without_ties_people_are_asked_in_a_random_order(n, targets, calls):
    """Whatever the rounds: so what is found by a number of calls is hypergeometric."""
    none = np.empty(0, dtype=np.int64)
    network = Network(
        adjacency_from_edges(n, none, none), np.arange(n) <= targets, seeds=(0,), title="no ties"
    )
    mechanism = PTargetMainText(sop=CN(), components=1 << 30, max_degree=5)
    rngs = [np.random.default_rng([31, i]) for i in range(600)]
    runs = trace(mechanism, network, network.instance(), calls, rngs)
    found = np.array([len(run.found) for run in runs])
    law = stats.hypergeom(n - 1, targets, calls)
    middle = law.ppf(np.linspace(0, 1, 9)[1:-1])
    edges = np.unique([-1.0, *middle, n])
    seen, _ = np.histogram(found, bins=edges + 0.5)
    expected = len(runs) * np.diff(law.cdf(edges))
    assert stats.chisquare(seen, expected).pvalue > FALSE_ALARM
