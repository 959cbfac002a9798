"""The course of a simulation: searches run many times on one network, call by call."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.network import Network, SearchInstance, targeted_components
from pdpaudit.core.protocols import Mechanism, RoundLoss, RoundLossMechanism, Trajectory
from pdpaudit.experiments.curves import search_curves, trace, trace_by_running
from pdpaudit.experiments.excerpt import excerpt
from pdpaudit.outputs.records import JSON
from pdpaudit.sampling import stream
from pdpaudit.sampling.backends import in_workers

#: Runs done at once, at least and at most, and in about how many seconds; results never depend on
#: it. Together they share more, but whoever waits wants to see that it goes on.
FEWEST, MOST, CHUNK_S = 8, 256, 1.0

#: Seconds of remaining work below which starting worker processes does not pay.
WORTH_WORKERS_S = 4.0


class Watcher(Protocol):
    """Follows how far the simulation is."""

    def stage(self, words: str, total: int) -> None:
        """Begin a new stage of ``total`` units."""

    def advance(self, done: int) -> None:
        """Finish ``done`` more units."""


class _Silent:
    def stage(self, words: str, total: int) -> None:
        """Say nothing."""

    def advance(self, done: int) -> None:
        """Say nothing."""


@dataclass(frozen=True)
class Contestant:
    """A search to simulate."""

    name: str
    mechanism: Mechanism
    kind: str


def default_budget(network: Network) -> int:
    """Return a budget of oracle calls: a fifth of the people, from 2,000 to 20,000."""
    return min(max(2_000, min(network.n // 5, 20_000)), network.n - len(network.seeds))


def simulate(
    network: Network,
    contestants: Sequence[Contestant],
    *,
    budget: int,
    runs: int,
    seed: int,
    jobs: int = 1,
    watcher: Watcher | None = None,
    excerpted: bool = True,
) -> JSON:
    """Run searches many times and return their curves, as plain numbers."""
    if budget < 1:
        raise ParameterError("budget", budget, "a number of oracle calls, at least 1")
    if runs < 1:
        raise ParameterError("runs", runs, "at least 1")
    names = [one.name for one in contestants]
    if len(set(names)) < len(names):
        raise InputError(f"two searches are called {max(names, key=names.count)!r}; rename one")
    watcher = watcher or _Silent()
    components = targeted_components(network.adjacency, network.targeted)
    seeds = set(network.seeds)
    theirs = [members for members in components if seeds.intersection(members.tolist())]
    searches = []
    for one in contestants:
        watcher.stage(one.name, runs)
        loss = round_loss(one.mechanism, network.instance())
        drawn = trajectories(one, network, budget, runs, seed, jobs=jobs, watcher=watcher)
        searches.append(
            {
                "name": one.name,
                "mechanism": one.kind,
                "private": loss is not None or one.mechanism.claim.epsilon > 0,
                "runs": len(drawn),
                "epsilon": None if loss is None else loss.claimed,
                **search_curves(drawn, budget, seeds=len(seeds), components=len(theirs), loss=loss),
            }
        )
    drawing = None
    if excerpted:
        watcher.stage("drawing", 1)
        drawing = excerpt(network, [(one.name, one.mechanism) for one in contestants], seed)
    return {
        "network": {
            "source": network.title,
            "vertices": network.n,
            "edges": network.edges,
            "targets": int(network.targeted.sum()),
            "components": [len(members) for members in components],
            "seed_component": sum(map(len, theirs)),
            "min_weight": None,
        },
        "population": None,
        "regime": None,
        "budget": budget,
        "runs": runs,
        "searches": searches,
        "drawing": drawing,
    }


def round_loss(mechanism: Mechanism, instance: SearchInstance) -> RoundLoss | None:
    """Return what a component found costs, or None where the search does not say."""
    return mechanism.round_loss(instance) if isinstance(mechanism, RoundLossMechanism) else None


def trajectories(
    one: Contestant,
    network: Network,
    budget: int,
    runs: int,
    seed: int,
    *,
    jobs: int = 1,
    watcher: Watcher | None = None,
    plain: bool = False,
) -> list[Trajectory]:
    """Return ``runs`` trajectories, or one where the search uses no randomness.

    A run that leaves its random stream untouched would go on in the same way with any other.
    """
    watcher = watcher or _Silent()
    work = _Work(one, network, network.instance(), budget, seed, plain)
    began = time.perf_counter()
    first, random = work.first()
    watcher.advance(1)
    if not random:
        watcher.advance(runs - 1)
        return [first]
    done: dict[int, list[Trajectory]] = {}
    spent, start = time.perf_counter() - began, 1
    # The first works out what all runs share; later ones tell the price of one.
    while start < runs and (jobs == 1 or start == 1 or spent * (runs - start) <= WORTH_WORKERS_S):
        part = range(start, min(start + _fitting(spent), runs))
        began = time.perf_counter()
        done[start] = work(part)
        spent = (time.perf_counter() - began) / len(part)
        watcher.advance(len(part))
        start = part.stop
    size = _fitting(spent)
    parts = [range(some, min(some + size, runs)) for some in range(start, runs, size)]
    tasks = ((part.start, (part,)) for part in parts)
    for some, theirs in in_workers(work, tasks, jobs) if parts else ():
        done[some] = theirs
        watcher.advance(len(theirs))
    return [first, *(run for some in sorted(done) for run in done[some])]


def _fitting(spent: float) -> int:
    """Return how many runs to do at once, if one takes ``spent`` seconds."""
    return min(max(FEWEST, int(CHUNK_S / max(spent, 1e-9))), MOST)


@dataclass(frozen=True, eq=False)
class _Work:
    """What a worker needs to run a search again and again."""

    one: Contestant
    network: Network
    instance: SearchInstance
    budget: int
    seed: int
    plain: bool

    def first(self) -> tuple[Trajectory, bool]:
        """Return run 0, and whether it used any randomness."""
        rng = stream(self.seed, "simulate", self.one.name, 0)
        before = repr(rng.bit_generator.state)
        (run,) = self._runs([rng])
        return run, repr(rng.bit_generator.state) != before

    def __call__(self, numbers: Sequence[int]) -> list[Trajectory]:
        """Return these runs."""
        return self._runs([stream(self.seed, "simulate", self.one.name, i) for i in numbers])

    def _runs(self, rngs: Sequence[np.random.Generator]) -> list[Trajectory]:
        arguments = self.one.mechanism, self.network, self.instance, self.budget
        if self.plain:
            return [trace_by_running(*arguments, rng) for rng in rngs]
        return trace(*arguments, rngs)
