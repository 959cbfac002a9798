"""The search that asks whom a private recommendation names."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from pdpaudit.algorithms.searches.noisy_max import Recommended
from pdpaudit.algorithms.statistics import CN, Path
from pdpaudit.attacks.pair_families import planted_network
from pdpaudit.auditing import Config, audit
from pdpaudit.core.errors import InputError
from pdpaudit.core.network import NeighborPair, Network, adjacency_from_edges
from pdpaudit.core.privacy_loss import exact_loss
from pdpaudit.core.protocols import LawUnavailable
from pdpaudit.experiments.simulation import Contestant, logs_of, simulate, trajectory_of_log

TIES = np.array([(0, 4), (4, 1), (4, 2), (1, 2), (3, 5), (0, 5), (5, 6), (6, 7)])


def _network():
    """Return vertex 0 as seed, targets 1 to 3, and four protected people."""
    adjacency = adjacency_from_edges(8, TIES[:, 0], TIES[:, 1])
    return Network(adjacency, np.arange(8) <= 3, (0,), title="of 8")


def _search(**options):
    return Recommended(sop=CN(), **{"epsilon": 2.0, "targets": 2, **options})


def _fits(law, drawn):
    expected = np.array([chance * len(drawn) for chance in law.values()])
    counts = Counter(drawn)
    assert set(counts) <= set(law)
    return stats.chisquare([counts[output] for output in law], expected).pvalue


def test_the_law_is_that_of_the_runs_and_of_the_trajectories():
    """Pearson's tests at 1e-6: a false rejection in 500,000 seeds."""
    network, search, rng = _network(), _search(), np.random.default_rng(5)
    law = search.law(network.instance()).probabilities
    assert sum(law.values()) == pytest.approx(1)
    runs = [search.run(network.instance().fresh(), rng) for _ in range(2000)]
    assert _fits(law, runs) > 1e-6
    rngs = [np.random.default_rng((5, i)) for i in range(2000)]
    traced = search.trajectories(network.instance(), 100, rngs)
    assert _fits(law, [(0, *run.vertices.tolist()) for run in traced]) > 1e-6


def test_trajectories_ask_as_the_runs_do():
    """The number of calls until the second target, by Kolmogorov and Smirnov at 1e-6."""
    network, search = _network(), _search(epsilon=6.0)
    rngs = [np.random.default_rng((6, i)) for i in range(3000)]
    traced = search.trajectories(network.instance(), 100, rngs)
    rngs = [np.random.default_rng((7, i)) for i in range(3000)]
    logs = logs_of(search, network, network.instance(), 100, rngs)
    run = [trajectory_of_log(network, log) for log in logs]
    assert stats.ks_2samp([one.calls for one in traced], [one.calls for one in run]).pvalue > 1e-6
    for key in ("found", "discoveries"):
        sums = [sum(getattr(one, key).tolist()[-1] for one in side) for side in (traced, run)]
        assert sums[0] == pytest.approx(sums[1], rel=0.05)


@pytest.mark.parametrize("targets", [3, 10, 40])
def test_the_loss_of_one_target_comes_near_epsilon(targets):
    """One score of 1 falls and all others rise: ln((m - 1)√e + 1) - ln(√e + m - 1) + 1/2."""
    n = targets + 2
    adjacency = adjacency_from_edges(n, np.array([], dtype=int), np.array([], dtype=int))
    network = Network(adjacency, np.arange(n) <= targets, (0,), title="stars")
    last = n - 1
    ways = np.array([0, 1]), np.array([0, *range(2, targets + 1)])
    pair = NeighborPair(network, last, *ways)
    search = Recommended(sop=CN(), epsilon=1.0)
    loss = exact_loss(*(search.law(side.instance()) for side in (pair.left, pair.right))).epsilon
    root = math.exp(0.5)
    hand = math.log(((targets - 1) * root + 1) / (root + targets - 1)) + 0.5
    assert loss == pytest.approx(hand)
    assert loss < 1


def test_an_audit_does_not_reject_it():
    search = _search(epsilon=1.0, targets=1)
    (claim,) = audit(search, [planted_network(8, 24)], Config(seed=1), subject="it").claims
    assert claim.status == "not_rejected"
    assert claim.exact > 0.8


def test_each_target_is_paid_for():
    network = _network()
    contestant = Contestant("Recommended", _search(epsilon=0.5, targets=3), "Recommended")
    body = simulate(network, [contestant], budget=7, runs=5, seed=1, excerpted=False)
    (search,) = body["searches"]
    assert search["mean"][-1] == 4
    assert search["components"]["mean"][-1] == 3
    assert search["multiplier"]["true"]["mean"][-1] == pytest.approx(math.exp(3 * 0.5))


def test_a_budget_ends_a_run():
    search = _search(targets=3)
    for calls in range(1, 7):
        (run,) = search.trajectories(_network().instance(), calls, [np.random.default_rng(3)])
        assert run.calls <= calls
        assert all(time <= calls for time in run.found)


def test_what_has_no_law_says_so():
    with pytest.raises(LawUnavailable, match="more than"):
        _search(targets=8).law(planted_network(20, 10).instance())
    with pytest.raises(LawUnavailable, match="one output"):
        Recommended(sop=Path(1)).law(_network().instance())


def test_no_target_wanted_is_refused():
    with pytest.raises(InputError, match="at least 1"):
        _search(targets=0)
    assert _search(targets=1).beginning() is None
    assert _search(targets=4).beginning().targets == 1
