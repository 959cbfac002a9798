"""The searches' exact laws against their samplers, and against sums that must come out."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from pdpaudit.algorithms.samplers.partition import component_labels
from pdpaudit.algorithms.searches.baselines import SFS, QueryEveryone, Target
from pdpaudit.algorithms.searches.noisy_max import PTargetMainText, PTargetRepaired
from pdpaudit.algorithms.searches.search_com import PTarget, SearchCom, SearchComRound
from pdpaudit.algorithms.statistics import CN, Path
from pdpaudit.core.protocols import LawfulMechanism, LawUnavailable

from .helpers import (
    fit_p_value,
    noiseless_common_neighbours,
    random_network,
    sharp_common_neighbours,
    tally,
)
from .joint_counts import law_by_counts

# Each of 33 comparisons rejects a right sampler with probability 1e-4.
FALSE_ALARM = 1e-4
MECHANISMS = {
    "SearchCom": SearchCom(sop=CN(), stop=3, max_degree=3),
    "SearchCom, sharp": SearchCom(sop=sharp_common_neighbours, stop=2, epsilon=4.0),
    "SearchCom, no noise": SearchCom(sop=noiseless_common_neighbours, stop=3),
    "appendix": PTarget(sop=sharp_common_neighbours, stop=3, epsilon=4.0),
    "appendix, no noise": PTarget(sop=noiseless_common_neighbours, stop=3),
    "main text": PTargetMainText(sop=CN(), components=4),
    "main text, no noise": PTargetMainText(sop=Path(1), components=4),
    "repaired": PTargetRepaired(sop=CN(), components=4, threshold=0.5),
    "repaired, gumbel": PTargetRepaired(sop=CN(), components=3, noise="gumbel"),
    "repaired, exponential": PTargetRepaired(sop=CN(), components=4, noise="exponential"),
    "repaired, no noise": PTargetRepaired(sop=Path(1), components=4),
}
NETWORKS = [
    random_network(3),
    random_network(11, n=14, degree=5.0, share=0.4),
    random_network(8, n=24, degree=1.5, share=0.3),
]


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
@pytest.mark.parametrize("network", NETWORKS, ids=["random", "dense", "sparse"])
def test_samples_follow_the_exact_law(mechanism, network, repetitions) -> None:
    instance = network.instance()
    law = mechanism.law(instance)
    assert law.missing < 1e-10
    assert math.fsum(law.probabilities.values()) == pytest.approx(1, abs=1e-10)
    outputs = mechanism.sample(instance, repetitions(10_000, 200_000), np.random.default_rng(71))
    assert fit_p_value(outputs.counts(), law.probabilities) > FALSE_ALARM
    assert isinstance(mechanism, LawfulMechanism)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sop", [CN(), sharp_common_neighbours], ids=["CN", "sharp"])
def test_the_appendix_over_two_search_rounds_follows_its_law(seed: int, sop) -> None:
    # Each of 6 comparisons rejects a right sampler with probability 1e-4.
    network = random_network(seed, n=11, degree=3.0, share=0.4)
    mechanism = PTarget(sop=sop, components=3, stop=2, epsilon=4.0)
    instance = network.instance()
    rule = SearchComRound.of(mechanism, instance).rule
    law = law_by_counts(instance, sop, rule, 2)
    assert math.fsum(law.probabilities.values()) == pytest.approx(1, abs=1e-10)
    outputs = mechanism.sample(instance, 100_000, np.random.default_rng(74))
    assert fit_p_value(outputs.counts(), law.probabilities) > FALSE_ALARM


def test_the_appendix_over_several_rounds_has_no_exact_law() -> None:
    with pytest.raises(LawUnavailable, match="`samples`"):
        PTarget(sop=CN(), components=3).law(random_network(3).instance())


@pytest.mark.parametrize("seed", range(6))
def test_a_shorter_search_is_how_a_longer_one_begins(seed: int) -> None:
    """Cut off after the component that the first round found, lists have the shorter one's law."""
    instance = random_network(seed + 50, n=14, degree=1.5, share=0.5).instance()
    longer = PTarget(sop=CN(), components=3, stop=5, max_degree=13)
    shorter = longer.beginning()
    assert shorter == PTarget(sop=CN(), components=2, stop=5, max_degree=13)
    assert shorter.beginning() is None
    labels = component_labels(instance)
    start = {labels[seed_vertex] for seed_vertex in instance.seeds}
    cut: dict[Any, float] = defaultdict(float)
    law = law_by_counts(instance, CN(), SearchComRound.of(longer, instance).rule, 2)
    listed: Any = law.probabilities.items()
    for output, probability in listed:
        fresh = [labels[vertex] for vertex in output if labels[vertex] not in start]
        kept = [v for v in output if labels[v] in start or labels[v] == fresh[0]]
        cut[tuple(kept)] += probability
    expected = shorter.law(instance).probabilities
    assert cut.keys() == expected.keys()
    for output, probability in expected.items():
        assert cut[output] == pytest.approx(probability, rel=1e-8)


def test_one_component_is_statistic_first_search() -> None:
    instance = NETWORKS[0].instance()
    expected = SFS().law(instance)
    for mechanism in (PTarget, PTargetMainText, PTargetRepaired, Target):
        assert mechanism(sop=CN(), components=1).law(instance) == expected


@pytest.mark.parametrize("mechanism", [SFS(), QueryEveryone(), Target(sop=CN(), components=3)])
def test_deterministic_searches_have_one_output(mechanism) -> None:
    for network in NETWORKS:
        (output,) = tally(mechanism, network, 3, seed=72)
        instance = network.instance()
        assert mechanism.law(instance).probabilities == {output: 1.0}
        rng = np.random.default_rng(73)
        assert mechanism.sample(instance, 5, rng).counts() == {output: 5}
