"""Searches run many times on one network, call by call, and a part of it to watch them in."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import networkx as nx
import numpy as np

from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.network import Network, SearchInstance, targeted_components
from pdpaudit.core.protocols import Mechanism, RoundLoss, RoundLossMechanism, Trajectory
from pdpaudit.experiments.curves import (
    BudgetedOracle,
    BudgetSpent,
    search_curves,
    trace,
    trace_by_running,
)
from pdpaudit.outputs.records import JSON
from pdpaudit.sampling import Silent, Watcher, stream
from pdpaudit.sampling.backends import in_workers

#: Runs done at once, at least and at most, and in about how many seconds; results never depend on
#: it. Together they share more, but whoever waits wants to see that it goes on.
FEWEST, MOST, CHUNK_S = 8, 256, 1.0

#: Seconds of remaining work below which starting worker processes does not pay.
WORTH_WORKERS_S = 4.0


#: Vertices drawn at most: more cannot be distinguished on a page.
MOST = 300

#: Ties between them at most, once there are a few: more are a blot.
MOST_TIES = 900
FEW = 60

#: Of the vertices, how many of what all searches did alike at the beginning.
COMMON = 80


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
    watcher = watcher or Silent()
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
    watcher = watcher or Silent()
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


def excerpt(
    network: Network, searches: Sequence[tuple[str, Mechanism]], seed: int, most: int = MOST
) -> JSON:
    """Return the part of the network where the searches part ways, and what one run of each did.

    Shown are seeds and whom every search asked about at first; then, while there is room, whom
    the first search asked about, and of the others' first calls the targets found and everybody
    with a tie into the part shown. Whom noise makes a search ask about far away is not shown.
    """
    logs = [_log(mechanism, network, name, seed, 4 * most) for name, mechanism in searches]
    alike = _alike(logs)
    chosen = list(dict.fromkeys([*network.seeds, *logs[0][max(0, alike - COMMON) : alike]]))[:most]
    shown = set(chosen)
    ties = sum(_ties(network, vertex, shown) for vertex in chosen) // 2
    calls = alike
    for step in range(alike, max(map(len, logs))):
        more = [
            log[step]
            for number, log in enumerate(logs)
            if step < len(log) and (number == 0 or _joins(network, log[step], shown))
        ]
        new = [vertex for vertex in dict.fromkeys(more) if vertex not in shown]
        ties += sum(_ties(network, vertex, shown) for vertex in new)
        if len(shown) + len(new) > most or (ties > MOST_TIES and len(shown) >= FEW):
            break
        shown.update(new)
        chosen += new
        calls = step + 1
    vertices = sorted(chosen)
    part = network.adjacency[vertices][:, vertices].tocoo()
    edges = sorted((int(a), int(b)) for a, b in zip(*part.coords, strict=True) if a < b)
    searched = []
    for (name, _), log in zip(searches, logs, strict=True):
        order = {vertex: number for number, vertex in enumerate(log[:calls])}
        examined = [vertex in order or vertex in network.seeds for vertex in vertices]
        searched.append(
            {
                "name": name,
                "examined": examined,
                "found": [
                    bool(network.targeted[v]) and seen
                    for v, seen in zip(vertices, examined, strict=True)
                ],
                "order": [order.get(vertex) for vertex in vertices],
            }
        )
    return {
        "vertices": [int(vertex) for vertex in vertices],
        "edges": [list(edge) for edge in edges],
        "positions": _places(len(vertices), edges),
        "targeted": network.targeted[vertices].tolist(),
        "searches": searched,
    }


def _log(mechanism: Mechanism, network: Network, name: str, seed: int, calls: int) -> list[int]:
    view = network.instance()
    view.oracle = BudgetedOracle(network.targeted, network.seeds, budget=calls)
    with suppress(BudgetSpent):
        mechanism.run(view, stream(seed, "drawing", name))
    return [int(vertex) for vertex in view.oracle.log[:calls]]


def _alike(logs: Sequence[Sequence[int]]) -> int:
    """Return how many calls all searches have in common at the beginning."""
    count = 0
    for asked in zip(*logs, strict=False):
        if len(set(asked)) > 1:
            break
        count += 1
    return count


def _joins(network: Network, vertex: int, shown: set[int]) -> bool:
    return bool(network.targeted[vertex]) or _ties(network, vertex, shown) > 0


def _ties(network: Network, vertex: int, shown: set[int]) -> int:
    return len(shown.intersection(network.neighbours(vertex).tolist()))


def _places(n: int, edges: Sequence[tuple[int, int]]) -> list[list[float]]:
    """Return a place in the unit square for each vertex; always the same."""
    graph = nx.empty_graph(n)
    graph.add_edges_from(edges)
    places = nx.spring_layout(graph, seed=1, iterations=80, k=1.6 / max(n, 1) ** 0.5)
    points = np.array([places[vertex] for vertex in range(n)]).reshape(n, 2)
    low, high = points.min(axis=0), points.max(axis=0)
    spread = np.where(high > low, high - low, 1.0)
    scaled: list[list[float]] = ((points - low) / spread).round(4).tolist()
    return scaled
