"""Runs of a search, call by call, and as curves: targets found and risk against oracle calls."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import IdentityOracle, Network, SearchInstance, targeted_components
from pdpaudit.core.protocols import Mechanism, RoundLoss, TracingMechanism, Trajectory
from pdpaudit.outputs.records import JSON

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Numbers of calls at which curves are given, at most.
POINTS = 400

#: Runs that are given by themselves, at most.
SHOWN = 8

#: Decimals of what is written down: far finer than the spread of any number of runs.
DECIMALS = 6

#: Significant digits at most: a multiplier in the billions has processors' own digits at its end.
DIGITS = 10

#: Beyond this exponent a multiplier says nothing, and soon no float holds it.
LARGEST_EXPONENT = 700.0


def grid_of(budget: int) -> Ints:
    """Return the numbers of calls at which curves are given: from 0 to the budget, evenly."""
    return np.unique(np.linspace(0, budget, POINTS).astype(np.int64))


def search_curves(
    runs: Sequence[Trajectory],
    budget: int,
    *,
    seeds: int,
    components: int,
    loss: RoundLoss | None,
) -> JSON:
    """Return what a number of runs of one search look like, as plain numbers."""
    grid = grid_of(budget)
    found = np.array([_within(run.found, grid) for run in runs])
    rounds = np.array([_within(run.discoveries, grid) for run in runs])
    multiplier = None
    if loss is not None:
        paid = found if loss.per_target else rounds
        multiplier = {
            "claimed": _exponential(paid, loss.claimed),
            "true": _exponential(paid, loss.true),
            "how": loss.how,
        }
    return {
        "calls": grid.tolist(),
        **_spread(seeds + found),
        "components": _spread(components + rounds),
        "multiplier": multiplier,
        "shown": [_shown(runs[i], grid, seeds) for i in _representative(found[:, -1])],
        "discoveries": [
            [number, *point]
            for number, run in enumerate(runs)
            for point in _discoveries(run, budget, seeds)
        ],
    }


def curves_csv(simulation: JSON) -> str:
    """Return the mean curves of all searches as CSV, a line for each search and number of calls."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    kinds = ("found", "components", "claimed", "true")
    heads = [f"{kind}_{number}" for kind in kinds for number in ("mean", "sd")]
    table.writerow(["search", "calls", *heads])
    for search in simulation["searches"]:
        multiplier = search["multiplier"] or {}
        spreads = [search, search["components"], multiplier.get("claimed"), multiplier.get("true")]
        columns = [
            [""] * len(search["calls"]) if spread is None else spread[number]
            for spread in spreads
            for number in ("mean", "sd")
        ]
        for row in zip(search["calls"], *columns, strict=True):
            table.writerow([search["name"], *row])
    return text.getvalue()


def _within(times: Ints, grid: Ints) -> Ints:
    return np.searchsorted(times, grid, side="right")


def _spread(values: Ints | Floats) -> dict[str, list[float]]:
    deviation = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1])
    pairs = [_stable(*pair) for pair in zip(values.mean(axis=0), deviation, strict=True)]
    return {name: [pair[i] for pair in pairs] for i, name in enumerate(("mean", "sd"))}


def _stable(mean: float, deviation: float) -> tuple[float, float]:
    """Round to digits that do not depend on the processor.

    Exponentials and sums differ in their last digits, by far less than 1e-10 of the larger number.
    """
    larger = max(abs(mean), abs(deviation), 1.0)
    decimals = min(DECIMALS, DIGITS - 1 - math.floor(math.log10(larger)))
    return round(float(mean), decimals), round(float(deviation), decimals)


def _exponential(rounds: Ints, epsilon: float) -> dict[str, list[float]] | None:
    exponent = rounds * epsilon
    return None if exponent.max() > LARGEST_EXPONENT / 2 else _spread(np.exp(exponent))


def _representative(found: Ints) -> list[int]:
    """Return runs evenly from the worst to the best by what they found in the end."""
    order = np.argsort(found, kind="stable")
    place = np.linspace(0, len(order) - 1, min(SHOWN, len(order))).round().astype(int)
    chosen: list[int] = order[place].tolist()
    return chosen


def _shown(run: Trajectory, grid: Ints, seeds: int) -> JSON:
    """Return the corners of a run's curve, to the resolution of the grid."""
    discoveries = _discoveries(run, int(grid[-1]), seeds)
    calls = np.union1d(grid, np.array([point[0] for point in discoveries], dtype=np.int64))
    found = seeds + _within(run.found, calls)
    corner = np.diff(found, prepend=-1) != 0
    return {
        "calls": calls[corner].tolist(),
        "found": found[corner].tolist(),
        "discoveries": discoveries,
    }


def _discoveries(run: Trajectory, budget: int, seeds: int) -> list[list[int]]:
    calls = run.discoveries[run.discoveries <= budget]
    found = seeds + _within(run.found, calls)
    return [list(pair) for pair in zip(calls.tolist(), found.tolist(), strict=True)]


class BudgetSpent(BaseException):
    """The budget of oracle calls is spent; no mechanism's handler of errors is meant to stop it."""


class BudgetedOracle(IdentityOracle):
    """An identity oracle that ends the run where one more call would be over the budget."""

    def __init__(
        self, targeted: npt.NDArray[np.bool_], seeds: Iterable[int], *, budget: int
    ) -> None:
        super().__init__(targeted, seeds)
        self.budget = budget

    def __call__(self, vertex: int) -> bool:
        """Return whether ``vertex`` is targeted, while the budget lasts; O(1)."""
        if self.count >= self.budget and not self.examined(vertex):
            raise BudgetSpent
        return super().__call__(vertex)


def trace(
    mechanism: Mechanism,
    network: Network,
    instance: SearchInstance,
    budget: int,
    rngs: Sequence[np.random.Generator],
) -> list[Trajectory]:
    """Return runs of a search as curves, by its own shortcut where it has one."""
    if isinstance(mechanism, TracingMechanism):
        return mechanism.trajectories(instance, budget, rngs)
    return [trace_by_running(mechanism, network, instance, budget, rng) for rng in rngs]


def trace_by_running(
    mechanism: Mechanism,
    network: Network,
    instance: SearchInstance,
    budget: int,
    rng: np.random.Generator,
) -> Trajectory:
    """Run a search and look at the log of its oracle; the cost of one run."""
    view = instance.fresh()
    view.oracle = BudgetedOracle(network.targeted, network.seeds, budget=budget)
    with suppress(BudgetSpent):
        mechanism.run(view, rng)
    return trajectory_of_log(network, view.oracle.log[:budget])


def trajectory_of_log(network: Network, log: Iterable[object]) -> Trajectory:
    """Return the curve of a run that asked about these vertices, in this order."""
    asked = np.fromiter(log, dtype=np.int64)
    found = np.flatnonzero(network.targeted[asked]) + 1
    vertices = asked[found - 1]
    labels = np.full(network.n, -1)
    for label, members in enumerate(targeted_components(network.adjacency, network.targeted)):
        labels[members] = label
    theirs = labels[vertices]
    _, first = np.unique(theirs, return_index=True)
    new = np.sort(first[~np.isin(theirs[first], labels[list(network.seeds)])])
    return Trajectory(vertices, found, found[new], len(asked))
