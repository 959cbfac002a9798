"""Many outputs at once against one run at a time, and both against the paper's pseudocode.

Every comparison is a chi-square test at pinned seeds that rejects equal laws with probability
1e-4; there are 31 of them, so a right implementation fails one with probability 0.3 %.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
import pytest

from pdpaudit.algorithms.searches.noisy_max import PTargetMainText, PTargetRepaired
from pdpaudit.algorithms.searches.search_com import PTarget, SearchCom
from pdpaudit.algorithms.statistics import CN, Path
from pdpaudit.core.network import Network

from . import naive
from .helpers import (
    network_of,
    noiseless_common_neighbours,
    random_network,
    same_law_p_value,
    sharp_common_neighbours,
    tally,
)

FALSE_ALARM = 1e-4
RUNS, SAMPLES = 2_000, 50_000


def hidden_state_network() -> Network:
    """Fourteen protected vertices that score alike at first, then not.

    Four targets, each a component. To the second search seven of the fourteen score above the
    target it is after, to the third four of those seven and four of the others. Whether a search
    gives up depends on how many of exactly these the ones before have examined.
    """
    graph = nx.empty_graph(29)
    fourteen, near = list(range(15, 29)), {0: [4], 1: [5, 6, 7], 2: [8, 9, 10]}
    for target, middles in near.items():
        graph.add_edges_from((target, middle) for middle in middles)
        graph.add_edge(target + 1, middles[0])
    graph.add_edges_from((middle, v) for middle in near[1] for v in fourteen[:7])
    graph.add_edges_from((middle, v) for middle in near[2] for v in fourteen[3:11])
    return network_of(graph, [0, 1, 2, 3], (0,))


NETWORKS = {
    "random": random_network(3),
    "dense": random_network(11, n=14, degree=5.0, share=0.4),
    "sparse": random_network(8, n=24, degree=1.5, share=0.3),
    "hidden": hidden_state_network(),
}
SHARP = {"sop": sharp_common_neighbours, "epsilon": 4.0}
MECHANISMS = {
    "SearchCom": SearchCom(**SHARP, stop=3),
    "one round": PTarget(**SHARP, stop=3),
    "two rounds": PTarget(**SHARP, stop=5, components=3),
    "four rounds": PTarget(**SHARP, stop=6, components=5),
    "all rounds": PTarget(**SHARP, stop=12, components=40),
    "CN as declared": PTarget(sop=CN(), components=4, max_degree=4),
    "no noise": PTarget(sop=noiseless_common_neighbours, components=4, stop=3),
    "no noise, one search": SearchCom(sop=noiseless_common_neighbours, stop=3),
    "main text": PTargetMainText(sop=CN(), components=4),
    "main text, no noise": PTargetMainText(sop=Path(1), components=4),
    "repaired": PTargetRepaired(sop=CN(), components=4, threshold=0.5),
    "repaired, gumbel": PTargetRepaired(sop=CN(), components=4, noise="gumbel"),
    "repaired, exponential": PTargetRepaired(sop=CN(), components=4, noise="exponential"),
    "repaired, no noise": PTargetRepaired(sop=Path(1), components=4),
}
COMPARED = [
    *(("hidden", name) for name in ("two rounds", "four rounds", "all rounds")),
    *(("random", name) for name in ("one round", "four rounds", "CN as declared")),
    *(("sparse", name) for name in ("SearchCom", "four rounds", "main text")),
    # Without noise on its scores a search is drawn by running it.
    *(("dense", name) for name in MECHANISMS if not name.startswith("no noise")),
]


@pytest.mark.parametrize(("network", "name"), COMPARED)
def test_samples_are_distributed_as_runs(network: str, name: str) -> None:
    mechanism = MECHANISMS[name]
    instance = NETWORKS[network].instance()
    outputs = mechanism.sample(instance, SAMPLES, np.random.default_rng(61))
    assert len(outputs) == SAMPLES
    runs = tally(mechanism, NETWORKS[network], RUNS, seed=62)
    assert same_law_p_value(outputs.counts(), runs) > FALSE_ALARM


def naive_outputs(name: str, network: Network, size: int, seed: int) -> Counter[Any]:
    """Run the pseudocode with the arguments of the mechanism called ``name``."""
    rng = np.random.default_rng(seed)
    graph, start, is_target = naive.instance_of(network)
    m = MECHANISMS[name]
    degree = getattr(m, "max_degree", None) or len(graph) - 1
    f, delta_f = m.sop, m.sop.sensitivity(degree)
    ic_f = m.sop.impact_cardinality(degree)

    def appendix(found, investigated):
        limit = len(graph) // 2 if m.stop is None else m.stop
        return naive.search_com(
            graph, found, is_target, investigated, f, delta_f, ic_f, m.epsilon, limit, rng
        )

    def main_text(found, investigated):
        return naive.main_text_search(
            graph, found, is_target, investigated, f, delta_f, m.epsilon, rng
        )

    def repaired(found, investigated):
        draw = naive.noise_source(m.noise, rng)
        return naive.threshold_search(
            graph, found, is_target, f, delta_f, m.epsilon, m.threshold, draw
        )

    find = {PTarget: appendix, PTargetMainText: main_text, PTargetRepaired: repaired}[type(m)]
    return Counter(naive.search(graph, start, is_target, m.components, find) for _ in range(size))


@pytest.mark.parametrize(
    "name",
    [
        "four rounds",
        "CN as declared",
        "main text",
        "repaired",
        "repaired, gumbel",
        "repaired, exponential",
    ],
)
def test_samples_are_distributed_as_the_pseudocode_says(name: str) -> None:
    network = NETWORKS["dense"]
    outputs = MECHANISMS[name].sample(network.instance(), SAMPLES, np.random.default_rng(63))
    assert same_law_p_value(outputs.counts(), naive_outputs(name, network, 1_500, 64)) > FALSE_ALARM


def test_same_stream_same_outputs_whatever_was_sampled_before() -> None:
    mechanism = MECHANISMS["four rounds"]
    instance = NETWORKS["random"].instance()
    first = mechanism.sample(instance, 5_000, np.random.default_rng(65))
    mechanism.sample(instance, 1_000, np.random.default_rng(66))
    again = mechanism.sample(instance, 5_000, np.random.default_rng(65))
    elsewhere = mechanism.sample(NETWORKS["random"].instance(), 5_000, np.random.default_rng(65))
    assert list(first) == list(again) == list(elsewhere)


def test_a_search_over_exactly_as_many_rounds_as_there_are_components_finds_all() -> None:
    network = random_network(8, n=24, degree=1.5, share=0.3)
    mechanism = PTargetMainText(sop=CN(), components=24)
    outputs = mechanism.sample(network.instance(), 200, np.random.default_rng(67))
    assert all(sorted(found) == np.flatnonzero(network.targeted).tolist() for found in outputs)


@pytest.mark.parametrize("size", [0, 1])
def test_hardly_any_samples(size: int) -> None:
    for mechanism in MECHANISMS.values():
        outputs = mechanism.sample(NETWORKS["random"].instance(), size, np.random.default_rng(1))
        assert len(outputs) == size


def test_a_chunk_larger_than_a_block_is_seamless(monkeypatch: pytest.MonkeyPatch) -> None:
    import pdpaudit.algorithms.samplers.search_com as hidden
    import pdpaudit.algorithms.samplers.search_com as levels

    monkeypatch.setattr(levels, "BLOCK", 50)
    monkeypatch.setattr(hidden, "BLOCK", 64)
    mechanism, network = MECHANISMS["two rounds"], NETWORKS["hidden"]
    small = mechanism.sample(network.instance(), 20_000, np.random.default_rng(68))
    monkeypatch.undo()
    large = mechanism.sample(network.instance(), 20_000, np.random.default_rng(69))
    assert same_law_p_value(small.counts(), large.counts()) > FALSE_ALARM
