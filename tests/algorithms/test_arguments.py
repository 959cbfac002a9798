"""What the searches refuse, and what they promise."""

from __future__ import annotations

import math
import pickle
from typing import Any

import networkx as nx
import numpy as np
import pytest

from pdpaudit.algorithms.searches.baselines import SFS, QueryEveryone, Target
from pdpaudit.algorithms.searches.noisy_max import PTargetMainText, PTargetRepaired
from pdpaudit.algorithms.searches.search_com import PTarget, SearchCom, SearchComRound
from pdpaudit.algorithms.statistics import CN
from pdpaudit.core.errors import InputError, Misbehaviour
from pdpaudit.core.statistic import statistic
from pdpaudit.core.subject import Subject

from .helpers import network_of

ALL = [
    SFS(),
    QueryEveryone(),
    *(m(sop=CN()) for m in (SearchCom, PTarget, PTargetMainText, PTargetRepaired, Target)),
]
NOISY = [SearchCom, PTarget, PTargetMainText, PTargetRepaired]


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("mechanism", NOISY)
def test_epsilon_must_be_positive_and_finite(mechanism, epsilon: float) -> None:
    with pytest.raises(InputError, match=r"^epsilon = "):
        mechanism(sop=CN(), epsilon=epsilon)


@pytest.mark.parametrize(
    ("mechanism", "arguments"),
    [
        (PTarget, {"components": 0}),
        (PTarget, {"components": 1.5}),
        (PTargetMainText, {"components": -3}),
        (PTargetRepaired, {"components": 0}),
        (Target, {"components": 0}),
        (PTarget, {"stop": -1}),
        (SearchCom, {"stop": -1}),
        (Target, {"stop": 2.5}),
        (PTarget, {"max_degree": 0}),
        (PTargetMainText, {"max_degree": 0}),
        (PTarget, {"delta": 0.0}),
        (PTarget, {"delta": 1.0}),
        (PTargetRepaired, {"delta": math.nan}),
        (PTargetRepaired, {"threshold": math.nan}),
        (PTargetRepaired, {"noise": "normal"}),
    ],
)
def test_arguments_out_of_range_are_named(mechanism, arguments) -> None:
    (name,) = arguments
    with pytest.raises(InputError, match=f"^{name} = "):
        mechanism(sop=CN(), **arguments)


def test_a_statistic_must_declare_itself() -> None:
    with pytest.raises(InputError, match=r"^sop = "):
        PTarget(sop=lambda graph, vertex, targets: 0.0)


@pytest.mark.parametrize("declares", [math.nan, -1.0, math.inf])
@pytest.mark.parametrize("which", ["sensitivity", "impact_cardinality"])
def test_declarations_must_be_finite(which: str, declares: float) -> None:
    numbers: dict[str, Any] = {"sensitivity": 1.0, "impact_cardinality": 1} | {which: declares}
    sop = statistic(**numbers)(lambda graph, vertex, targets: 0.0)
    with pytest.raises(InputError, match=which.replace("_", " ")):
        _ = SearchComRound(sop, 1.0, 5, 9).rule


@pytest.mark.parametrize("which", ["sensitivity", "impact_cardinality"])
@pytest.mark.parametrize(
    ("declares", "said"),
    [
        (lambda d: None, r"\(9\) fails: TypeError"),
        (lambda d: "many", r"\(9\) fails: ValueError"),
        (lambda d: {}[d], r"\(9\) fails: KeyError: 9; it must return a finite number"),
    ],
)
def test_declarations_that_fail_are_named(which: str, declares, said: str) -> None:
    sop = CN()
    object.__setattr__(sop, which, declares)
    with pytest.raises(InputError, match=which + said):
        _ = SearchComRound(sop, 1.0, 5, 9).rule


def test_a_statistic_that_fails_is_named() -> None:
    @statistic(sensitivity=1, impact_cardinality=1)
    def broken(graph, vertex, targets):
        raise ValueError(f"no such\n  vertex: {vertex}")

    instance = network_of(nx.path_graph(4), [0, 3], (0,)).instance()
    said = r"^the statistic raised ValueError: no such vertex: 0; `pdpaudit check`"
    mechanism = PTarget(sop=broken)
    with pytest.raises(InputError, match=said):
        mechanism.law(instance)
    with pytest.raises(InputError, match=said):
        mechanism.run(instance, np.random.default_rng(1))


@pytest.mark.parametrize("error", [InputError("k = 0"), Misbehaviour("it did not end")])
def test_what_a_statistic_is_refused_for_is_passed_on(error: Exception) -> None:
    @statistic(sensitivity=1, impact_cardinality=1)
    def refusing(graph, vertex, targets):
        raise error

    instance = network_of(nx.path_graph(4), [0, 3], (0,)).instance()
    with pytest.raises(type(error)) as caught:
        PTarget(sop=refusing).law(instance)
    assert caught.value is error


def test_a_fast_path_must_score_every_vertex() -> None:
    class Short(CN):
        def scores(self, adjacency, targets):
            return super().scores(adjacency, targets)[1:]

    instance = network_of(nx.path_graph(4), [0, 3], (0,)).instance()
    with pytest.raises(InputError, match=r"scores have shape \(3,\); \(4,\) is needed"):
        PTarget(sop=Short()).law(instance)


def test_scores_must_be_finite() -> None:
    sop = statistic(sensitivity=1, impact_cardinality=1)(lambda graph, vertex, targets: math.nan)
    instance = network_of(nx.path_graph(4), [0, 3], (0,)).instance()
    with pytest.raises(InputError, match="nan at vertex 0"):
        PTarget(sop=sop).run(instance, np.random.default_rng(1))


@pytest.mark.parametrize("mechanism", ALL, ids=lambda m: type(m).__name__)
def test_mechanisms_travel_compare_and_hash(mechanism) -> None:
    again = pickle.loads(pickle.dumps(mechanism))
    assert again == mechanism
    assert hash(again) == hash(mechanism)
    claims = Subject.of(mechanism).claims
    assert mechanism.claim == claims[0]
    assert all(claim.source for claim in claims)


def test_claims() -> None:
    def numbers(mechanism):
        return [(claim.epsilon, claim.delta) for claim in Subject.of(mechanism).claims]

    arguments = {"sop": CN(), "epsilon": 0.5}
    assert numbers(SFS()) == numbers(QueryEveryone()) == numbers(Target(sop=CN())) == [(0, 0)]
    assert numbers(SearchCom(**arguments)) == [(0.5, 0)]
    assert numbers(PTargetMainText(**arguments, components=4)) == [(1.5, 0)]
    paper = 2 * math.sqrt(2 * 3 * math.log(100)) * 0.5
    general = 0.5 * math.sqrt(2 * 3 * math.log(100)) + 3 * 0.5 * (math.exp(0.5) - 1)
    assert numbers(PTarget(**arguments, components=4, delta=0.01)) == [
        (1.5, 0),
        (pytest.approx(paper), 0.01),
    ]
    assert numbers(PTargetRepaired(**arguments, components=4, delta=0.01)) == [
        (1.5, 0),
        (pytest.approx(general), 0.01),
    ]
    assert all(m(sop=CN(), components=1).claim.epsilon == 0 for m in NOISY[1:])


def test_the_degree_bound_is_public() -> None:
    # Two networks with different largest degrees are given the same noise.
    for stop, max_degree, n, expected in [
        (None, 9, 10, (8.0, 5, 76.0)),
        (3, 4, 10, (8.0, 3, 36.0)),
        (3, 4, 10_000, (8.0, 3, 36.0)),
    ]:
        search = SearchCom(sop=CN(), epsilon=0.5, stop=stop, max_degree=max_degree)
        instance = network_of(nx.empty_graph(n), [0], (0,)).instance()
        rule = SearchComRound.of(search, instance).rule
        assert (rule.noise.scale, rule.limit, rule.limit_scale) == expected
