"""Whom the searches ask, how often, and that what one of them knows the others know."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from pdpaudit.algorithms.searches.baselines import SFS, QueryEveryone, Target
from pdpaudit.algorithms.searches.noisy_max import PTargetMainText, PTargetRepaired
from pdpaudit.algorithms.searches.rounds import sfs, unexamined
from pdpaudit.algorithms.searches.search_com import PTarget, SearchCom, SearchComRound, search_com
from pdpaudit.algorithms.statistics import CN
from pdpaudit.core.network import IdentityOracle

from .helpers import network_of, noiseless_common_neighbours, random_network


class Spy:
    """An oracle that writes down every question, also those answered from memory."""

    def __init__(self, oracle: IdentityOracle) -> None:
        self.oracle = oracle
        self.questions: list[int] = []

    def __call__(self, vertex: int) -> bool:
        assert type(vertex) is int
        self.questions.append(vertex)
        return self.oracle(vertex)

    def __getattr__(self, name: str):
        return getattr(self.oracle, name)


class View:
    """An instance with nothing but what the contract promises."""

    def __init__(self, network) -> None:
        instance = network.instance()
        self.graph, self.adjacency, self.seeds = instance.graph, instance.adjacency, instance.seeds
        self.max_degree = instance.max_degree
        self.oracle = Spy(instance.oracle)


SEARCHES = [
    SFS(),
    SearchCom(sop=CN(), stop=5),
    PTarget(sop=CN(), components=4, stop=5),
    PTargetMainText(sop=CN(), components=4),
    Target(sop=CN(), components=4, stop=5),
]


@pytest.mark.parametrize("mechanism", SEARCHES, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("seed", range(5))
def test_nobody_is_asked_about_twice_and_no_seed_at_all(mechanism, seed: int) -> None:
    network = random_network(seed, n=40)
    view = View(network)
    found = mechanism.run(view, np.random.default_rng(seed))
    assert view.oracle.questions == list(view.oracle.log)
    assert not set(view.oracle.log) & set(network.seeds)
    assert set(found) <= set(view.oracle.log) | set(network.seeds)
    assert all(network.targeted[list(found)])


def test_the_repaired_search_asks_again_but_never_pays_twice() -> None:
    network = random_network(2, n=40)
    view = View(network)
    mechanism = PTargetRepaired(sop=CN(), components=6, threshold=-100.0)
    mechanism.run(view, np.random.default_rng(1))
    assert len(view.oracle.questions) > len(set(view.oracle.questions)) == view.oracle.count


def test_found_in_the_order_asked() -> None:
    network = random_network(4, n=60)
    for mechanism in SEARCHES[2:]:
        instance = network.instance()
        found = mechanism.run(instance, np.random.default_rng(5))
        targets = [v for v in instance.oracle.log if network.targeted[v]]
        assert list(found) == [*network.seeds, *targets]


def test_search_com_leaves_out_what_statistic_first_search_examined() -> None:
    # Without noise, 1 ranks first for having most in common with the seed; but SFS knows it.
    graph = nx.Graph([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)])
    graph.add_node(4)
    network = network_of(graph, [0, 3, 4], (0,))
    rng = np.random.default_rng(1)
    alone, after = network.instance(), network.instance()
    one = SearchComRound(noiseless_common_neighbours, 1e9, 100, 3)
    assert search_com(alone, (0,), one, rng) == (3,)
    assert alone.oracle.log == (3,)
    sfs(after, (0,))
    assert after.oracle.log == (1, 2)
    assert unexamined(after).tolist() == [3, 4]
    assert search_com(after, (0,), one, rng) == (3,)
    assert after.oracle.log == (1, 2, 3)


def test_what_a_failed_search_examined_is_known_to_the_next() -> None:
    network = network_of(nx.empty_graph(6), [0, 5], (0,))
    instance = network.instance()
    rng = np.random.default_rng(1)
    # The limit's noise is negligible: a search makes its two queries, in index order.
    one = SearchComRound(noiseless_common_neighbours, 1e9, 1.5, 3)
    assert search_com(instance, (0,), one, rng) == ()
    assert instance.oracle.log == (1, 2)
    assert search_com(instance, (0,), one, rng) == ()
    assert instance.oracle.log == (1, 2, 3, 4)
    assert search_com(instance, (0,), one, rng) == (5,)


def test_queries_are_made_while_their_number_is_at_most_the_limit() -> None:
    # A limit of K allows K + 1 queries, as the pseudocode counts.
    network = network_of(nx.empty_graph(8), [0, 4], (0,))
    assert Target(sop=CN(), stop=2).run(network.instance(), None) == (0,)
    assert Target(sop=CN(), stop=3).run(network.instance(), None) == (0, 4)


def test_a_search_with_all_targets_found_ends() -> None:
    network = network_of(nx.path_graph(5), [0, 1], (0,))
    for mechanism in (PTarget, PTargetMainText, PTargetRepaired, Target):
        instance = network.instance()
        rng = np.random.default_rng(1)
        assert mechanism(sop=CN(), components=9).run(instance, rng) == (0, 1)
        samples = mechanism(sop=CN(), components=9).sample(network.instance(), 10, rng)
        assert samples.counts() == {(0, 1): 10}


def test_querying_everyone_pays_for_everyone_but_the_seeds() -> None:
    network = random_network(1)
    instance = network.instance()
    found = QueryEveryone().run(instance, np.random.default_rng(1))
    assert list(found) == np.flatnonzero(network.targeted).tolist()
    assert instance.oracle.count == network.n - len(network.seeds)


@pytest.mark.parametrize("mechanism", SEARCHES, ids=lambda m: type(m).__name__)
def test_sampling_and_laws_leave_the_instances_oracle_alone(mechanism) -> None:
    instance = random_network(1).instance()
    mechanism.sample(instance, 100, np.random.default_rng(1))
    if mechanism != SEARCHES[2]:
        mechanism.law(instance)
    assert instance.oracle.count == 0
