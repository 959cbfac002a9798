"""One run of a search, call by call: how many targets it has found after how many oracle calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import IdentityOracle, Network, SearchInstance, targeted_components
from pdpaudit.core.protocols import Mechanism, TracingMechanism, Trajectory


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
