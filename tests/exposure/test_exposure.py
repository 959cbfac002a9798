"""Exposure against the whole law of the mechanism on both networks, person by person."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpaudit.algorithms.searches.noisy_max import PTargetMainText, PTargetRepaired
from pdpaudit.algorithms.searches.search_com import PTarget, SearchCom
from pdpaudit.algorithms.statistics import CN, Path
from pdpaudit.algorithms.zoo import ReportNoisyMax1
from pdpaudit.attacks.pair_families import karate_club, les_miserables, planted_network
from pdpaudit.auditing.exposure import _Look, measure_exposure
from pdpaudit.core.errors import InputError
from pdpaudit.core.network import Network, rewire
from pdpaudit.core.privacy_loss import exact_loss
from pdpaudit.core.statistic import score_all
from pdpaudit.testing.strategies import networks

MECHANISMS = [SearchCom, PTarget, PTargetMainText, PTargetRepaired]


def _whole_loss(mechanism: Any, network: Network, vertex: int, neighbours: Any) -> float:
    other = rewire(network, vertex, neighbours)
    return exact_loss(mechanism.law(network.instance()), mechanism.law(other.instance())).epsilon


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("sop", [CN(), Path(2)], ids=str)
def test_isolation_costs_what_the_whole_laws_say(kind: Any, sop: Any) -> None:
    mechanism = kind(sop=sop)
    for network in [*karate_club(), *les_miserables()]:
        found = measure_exposure(mechanism, network)
        for place in range(0, len(found.protected), 7 if network.n > 40 else 3):
            vertex = int(found.protected[place])
            whole = _whole_loss(mechanism, network, vertex, [])
            assert found.isolated[place] == pytest.approx(whole, abs=1e-8)


@pytest.mark.parametrize("kind", MECHANISMS)
def test_any_rewiring_costs_what_the_whole_laws_say(kind: Any) -> None:
    rng = np.random.default_rng(7)
    mechanism = kind(sop=CN())
    (network,) = karate_club()
    look = _Look(network, mechanism.search_round(network.instance()))
    for vertex in rng.permutation(network.protected)[:8].tolist():
        others = np.delete(np.arange(network.n), vertex)
        neighbours = rng.permutation(others)[: rng.integers(0, 12)]
        whole = _whole_loss(mechanism, network, vertex, neighbours)
        assert look.loss(vertex, neighbours).epsilon == pytest.approx(whole, abs=1e-8)


def test_the_worst_rewiring_finds_the_known_pairs() -> None:
    (m, epsilon) = (10, 1.0)
    network = planted_network(m, 50)
    main = measure_exposure(PTargetMainText(sop=CN(), epsilon=epsilon), network)
    assert (main.isolated == 0).all()
    # Everybody is alike: no tie at all against a tie to the seed and to all targets but one.
    assert np.ptp(main.rewired) == 0
    assert main.computed < 20
    assert 0.8 < main.rewired[0] < 2 * epsilon
    crowd = planted_network(8, 2000)
    appendix = measure_exposure(PTarget(sop=CN()), crowd)
    whole = _whole_loss(PTarget(sop=CN()), crowd, int(appendix.protected[0]), range(9))
    assert whole > 1.9
    assert appendix.rewired.max() == pytest.approx(whole, abs=1e-8)
    assert "all left" in appendix.how[int(appendix.protected[0])]
    assert appendix.through(int(appendix.protected[0])) == "nobody more is found"


def test_rewirings_keep_the_public_degree_bound() -> None:
    (network,) = karate_club()
    bound = int(np.diff(network.adjacency.indptr).max())
    capped = Network(
        network.adjacency, network.targeted, network.seeds, network.names, "capped", bound
    )
    look = _Look(capped, PTargetMainText(sop=CN()).search_round(capped.instance()))
    for vertex in capped.protected.tolist():
        for lone in (False, True):
            for _, neighbours in look._rewirings(vertex, capped.neighbours(vertex), lone):
                rewired = rewire(capped, vertex, neighbours)  # refuses what breaks the bound
                assert len(rewired.neighbours(vertex)) <= bound


@settings(max_examples=settings().max_examples * 3 // 5, deadline=None)
@given(network=networks(max_vertices=10), data=st.data())
def test_cn_says_what_a_rewiring_changes(network: Network, data: st.DataObject) -> None:
    sop = CN()
    vertex = data.draw(st.sampled_from(network.protected.tolist()))
    others = [v for v in range(network.n) if v != vertex]
    neighbours = np.array(sorted(data.draw(st.sets(st.sampled_from(others)))), dtype=np.int64)
    found = np.flatnonzero(network.targeted)[:2]
    changed, values = sop.rewirer(network.adjacency, found)(vertex, neighbours)
    before = sop.scores(network.adjacency, found)
    told = before.copy()
    told[changed] = values
    other = rewire(network, vertex, neighbours)
    after = score_all(
        sop, lambda: other.instance().graph, other.adjacency, frozenset(found.tolist())
    )
    assert told.tolist() == after.tolist()
    assert set(changed.tolist()) <= {vertex} | set(np.flatnonzero(before != after).tolist())


def test_what_has_no_round_is_refused() -> None:
    with pytest.raises(InputError, match="has none"):
        measure_exposure(ReportNoisyMax1(1.0), planted_network(2, 3))
    network = planted_network(1, 3)
    everything = Network(network.adjacency, network.targeted, (0, 1))
    with pytest.raises(InputError, match="nothing is left"):
        measure_exposure(PTarget(sop=CN()), everything)


def test_the_table_names_the_most_exposed() -> None:
    (network,) = les_miserables()
    body = measure_exposure(PTarget(sop=CN()), network).to_json(network, shown=5)
    losses = [max(one["isolated"], one["rewired"]) for one in body["most_exposed"]]
    assert losses == sorted(losses, reverse=True)
    assert body["people"] == len(network.protected)
    assert body["most_exposed"][0]["name"] in network.names
    for one in body["most_exposed"]:
        who = one["through"].removesuffix(" is found first")
        assert who == "nobody more is found" or network.targeted[network.names.index(who)]
    assert sum(body["isolated"]["histogram"]["counts"]) == body["people"]
