"""Curves, budgets and figures that follow from trajectories by arithmetic."""

from __future__ import annotations

import csv
import io
import math
import sys
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit import PrivacyClaim
from pdpaudit.algorithms.searches.noisy_max import PTargetMainText, PTargetRepaired
from pdpaudit.algorithms.searches.search_com import PTarget
from pdpaudit.algorithms.statistics import CN
from pdpaudit.core.errors import InputError
from pdpaudit.core.network import targeted_components
from pdpaudit.core.protocols import RoundLoss, Trajectory
from pdpaudit.core.registry import make_mechanism
from pdpaudit.experiments.generated_networks import REGIMES, embedded_network, regime_of
from pdpaudit.experiments.simulation import (
    Contestant,
    curves_csv,
    search_curves,
    simulate,
    trajectories,
)
from pdpaudit.sampling import guard

from . import plain


@st.composite
def runs(draw):
    """A few trajectories within 60 calls."""
    made = []
    for _ in range(draw(st.integers(1, 5))):
        found = sorted(draw(st.sets(st.integers(1, 60), max_size=12)))
        new = sorted(draw(st.sets(st.sampled_from(found)))) if found else []
        made.append(Trajectory(np.arange(len(found)), np.array(found, int), np.array(new, int), 60))
    return made


@given(runs(), st.integers(1, 60))
def test_curves_are_what_counting_gives(some, budget):
    told = search_curves(some, budget, seeds=2, components=1, loss=RoundLoss(0.05, 0.1, "so"))
    for place, calls in enumerate(told["calls"]):
        found = [2 + sum(time <= calls for time in run.found) for run in some]
        rounds = [sum(time <= calls for time in run.discoveries) for run in some]
        assert told["mean"][place] == pytest.approx(np.mean(found), abs=1e-6)
        assert told["components"]["mean"][place] == pytest.approx(1 + np.mean(rounds), abs=1e-6)
        for key, epsilon in (("claimed", 0.05), ("true", 0.1)):
            price = np.exp(epsilon * np.array(rounds))
            assert told["multiplier"][key]["mean"][place] == pytest.approx(price.mean(), abs=1e-6)
            spread = price.std(ddof=1) if len(some) > 1 else 0.0
            assert told["multiplier"][key]["sd"][place] == pytest.approx(spread, abs=1e-6)
    assert all(calls <= budget for _, calls, _ in told["discoveries"])
    for shown in told["shown"]:
        assert all(a < b for a, b in zip(shown["found"], shown["found"][1:], strict=False))
        assert len(shown["calls"]) == len(shown["found"]) <= 401


def test_the_grid_is_small_and_ends_at_the_budget():
    for budget in (1, 399, 400, 12_345):
        run = Trajectory(np.arange(1), np.array([1]), np.array([1]), 1)
        grid = search_curves([run], budget, seeds=1, components=1, loss=None)["calls"]
        assert (grid[0], grid[-1], len(grid) <= 400) == (0, budget, True)


def test_a_multiplier_beyond_all_bounds_is_left_out():
    run = Trajectory(np.arange(3), np.array([1, 2, 3]), np.array([1, 2, 3]), 3)
    told = search_curves([run], 3, seeds=1, components=1, loss=RoundLoss(1.0, 900.0, "so"))
    assert told["multiplier"]["true"] is None
    assert told["multiplier"]["claimed"]["mean"][-1] == pytest.approx(np.exp(3))


@pytest.mark.parametrize(
    ("mechanism", "claimed", "true"),
    [
        (PTargetMainText(sop=CN(), epsilon=0.05), 0.05, 0.1),
        (PTargetRepaired(sop=CN(), epsilon=0.05), 0.05, 0.05),
    ],
)
def test_what_a_component_costs(mechanism, claimed, true):
    loss = mechanism.round_loss(plain.random_network(1, 20, 3.0, 0.4).instance())
    assert (loss.claimed, loss.true) == pytest.approx((claimed, true))


def test_the_appendix_costs_its_proved_bound():
    network = plain.random_network(1, 20, 3.0, 0.4)
    one = PTarget(sop=CN(), epsilon=0.5)
    assert one.round_loss(network.instance()).true == one.proved_bound(network.instance()).epsilon


@pytest.fixture(scope="module")
def small():
    return plain.random_network(3, 60, 4.0, 0.3)


def contestants():
    made = []
    for name in ("Target", "PTarget:main-text", "PTarget:repaired"):
        mechanism, _ = make_mechanism(name, {"components": 99})
        made.append(Contestant(name, mechanism, name))
    return made


def test_runs_depend_on_their_seed_alone(small):
    """Worker processes, the other searches and the number of runs change no run."""
    alone = simulate(small, contestants(), budget=40, runs=9, seed=5, excerpted=False)
    assert alone == simulate(small, contestants(), budget=40, runs=9, seed=5, excerpted=False)
    private = contestants()[1]
    few = trajectories(private, small, 40, 4, 5)
    many = trajectories(private, small, 40, 9, 5)
    for one, other in zip(few, many, strict=False):
        assert one.found.tolist() == other.found.tolist()
    other_seed = simulate(small, contestants(), budget=40, runs=9, seed=6, excerpted=False)
    assert other_seed["searches"][0] == alone["searches"][0]
    assert other_seed["searches"][1] != alone["searches"][1]


def test_workers_change_nothing(small, monkeypatch):
    monkeypatch.setattr("pdpaudit.experiments.simulation.WORTH_WORKERS_S", 0.0)
    here, there = (
        simulate(small, contestants()[:2], budget=40, runs=20, seed=5, jobs=jobs, excerpted=False)
        for jobs in (1, 2)
    )
    assert curves_csv(here) == curves_csv(there)
    assert here == there


def test_a_search_without_randomness_runs_once(small):
    told = simulate(small, contestants(), budget=40, runs=9, seed=5, excerpted=False)
    assert [search["runs"] for search in told["searches"]] == [1, 9, 9]
    assert [search["private"] for search in told["searches"]] == [False, True, True]


class Loud:
    """A search of a person's own, without any shortcut: asks in a random order."""

    @property
    def claim(self):
        return make_mechanism("PTarget:repaired", {})[0].claim

    def run(self, instance, rng):
        order = rng.permutation(instance.adjacency.shape[0])
        return tuple(int(v) for v in order if instance.oracle(int(v)))


def test_a_search_of_ones_own_is_run_call_by_call(small):
    told = simulate(
        small, [contestants()[0], Contestant("own", Loud(), "own")], budget=30, runs=5, seed=1
    )
    own = told["searches"][1]
    assert own["multiplier"] is None
    assert own["private"]
    assert own["mean"][-1] > own["mean"][0] == 1
    drawing = told["drawing"]
    n = len(drawing["vertices"])
    assert all(0 <= a < b < n for a, b in drawing["edges"])
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in drawing["positions"])
    assert [len(search["order"]) for search in drawing["searches"]] == [n, n]


def test_csv_has_a_line_for_each_search_and_number_of_calls(small):
    told = simulate(small, contestants(), budget=40, runs=3, seed=5, excerpted=False)
    rows = list(csv.DictReader(io.StringIO(curves_csv(told))))
    assert len(rows) == 3 * 41
    assert rows[-1]["search"] == "PTarget:repaired"
    assert float(rows[-1]["found_mean"]) == told["searches"][2]["mean"][-1]
    assert rows[0]["claimed_mean"] == ""


@pytest.mark.parametrize("regime", REGIMES)
def test_the_embedded_network_has_its_regimes(regime):
    network, _ = embedded_network(regime)
    sizes = [len(part) for part in targeted_components(network.adjacency, network.targeted)]
    assert regime_of(sizes) == regime
    assert network.n == 4714
    # The search starts in the second largest component.
    assert any(
        network.seeds[0] in part
        for part in targeted_components(network.adjacency, network.targeted)[1:2]
    )


class Asking:
    """Asks about vertex 0, promises several things, and may fail after that."""

    claims = (PrivacyClaim(0.0), PrivacyClaim(1.0, 1e-6))

    def __init__(self, error=None):
        self.error = error

    def run(self, instance, rng):
        sys.stdout.write(f"asked: {instance.oracle(0)}")
        if self.error is not None:
            raise self.error
        return ()


def asking(error: Exception | None = None) -> list[Contestant]:
    mechanism: Any = Asking(error)
    return [Contestant("one", mechanism, "one")]


def test_a_search_may_promise_several_things(small, capsys):
    found = simulate(small, asking(), budget=1, runs=1, seed=1)
    assert capsys.readouterr().out == ""
    assert found["searches"][0]["private"] is True


def test_a_search_that_fails_is_named_with_its_line(small):
    with pytest.raises(InputError, match=r"Asking: its run raised KeyError.*test_curves\.py:\d+"):
        simulate(small, asking(KeyError("table")), budget=1, runs=2, seed=1)


@pytest.mark.parametrize("caught", [(), (Exception,)])
def test_a_search_that_hangs_is_ended_and_named(small, monkeypatch, caught):
    class Endless:
        claim = None

        def run(self, instance: object, rng: object) -> None:
            while True:
                with suppress(*caught):
                    sum(range(1000))

    monkeypatch.setattr(guard.Guard.__init__, "__defaults__", (0.2, math.inf))
    with pytest.raises(InputError, match=r"^Endless: one run did not end within 0\.2 s; correct"):
        simulate(small, [Contestant("one", Endless(), "one")], budget=1, runs=2, seed=1)


def test_what_cannot_be_simulated_is_refused(small):
    with pytest.raises(InputError, match="budget = 0"):
        simulate(small, contestants(), budget=0, runs=1, seed=1)
    with pytest.raises(InputError, match="runs = 0"):
        simulate(small, contestants(), budget=1, runs=0, seed=1)
    with pytest.raises(InputError, match="two searches are called 'Target'"):
        simulate(small, contestants()[:1] * 2, budget=1, runs=1, seed=1)
    with pytest.raises(InputError, match="regime"):
        embedded_network("odd")
