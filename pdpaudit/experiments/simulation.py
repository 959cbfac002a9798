"""Searches run many times on one network: their curves, and a part of it to watch them in."""

from __future__ import annotations

import csv
import io
import math
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import networkx as nx
import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError, Misbehaviour, ParameterError, located, whole
from pdpaudit.core.network import IdentityOracle, Network, SearchInstance, targeted_components
from pdpaudit.core.protocols import (
    Mechanism,
    RoundLoss,
    RoundLossMechanism,
    TracingMechanism,
    Trajectory,
)
from pdpaudit.core.statistic import name_of
from pdpaudit.core.subject import Subject
from pdpaudit.outputs.records import JSON
from pdpaudit.sampling import Silent, Watcher, stream
from pdpaudit.sampling.backends import in_workers
from pdpaudit.sampling.engine import WORTH_WORKERS_S
from pdpaudit.sampling.guard import Guard

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


def search_curves(
    runs: Sequence[Trajectory],
    budget: int,
    *,
    seeds: int,
    components: int,
    loss: RoundLoss | None,
) -> JSON:
    """Return what a number of runs of one search look like, as plain numbers."""
    grid = np.unique(np.linspace(0, budget, POINTS).astype(np.int64))
    found = np.array([_within(run.found, grid) for run in runs])
    rounds = np.array([_within(run.discoveries, grid) for run in runs])
    # Runs evenly from the worst to the best by what they found in the end.
    order = np.argsort(found[:, -1], kind="stable")
    place = np.linspace(0, len(order) - 1, min(SHOWN, len(order))).round().astype(int)
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
        "shown": [_shown(runs[i], grid, seeds) for i in order[place].tolist()],
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
    pairs: list[list[int]] = np.stack([calls, seeds + _within(run.found, calls)], axis=1).tolist()
    return pairs


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
    """Return runs of a search as curves, by its own shortcut or by the logs of its oracle."""
    if isinstance(mechanism, TracingMechanism):
        return mechanism.trajectories(instance, budget, rngs)
    logs = logs_of(mechanism, network, instance, budget, rngs)
    return [trajectory_of_log(network, log) for log in logs]


def logs_of(
    mechanism: Mechanism,
    network: Network,
    instance: SearchInstance,
    budget: int,
    rngs: Iterable[np.random.Generator],
) -> list[list[int]]:
    """Return whom runs of a search ask about, each within a budget of calls."""
    logs: list[list[int]] = []
    try:
        with Guard(mechanism, instance) as guard:
            for rng in rngs:
                view = instance.fresh()
                view.oracle = BudgetedOracle(network.targeted, network.seeds, budget=budget)
                with suppress(BudgetSpent):
                    guard.call("one run", mechanism.run, view, rng)
                logs.append(list(map(int, view.oracle.log[:budget])))
    except InputError:
        raise
    except Misbehaviour as error:
        raise InputError(f"{name_of(mechanism)}: {error}") from None
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{name_of(mechanism)}: its run raised {located(error)}; a search that is simulated "
            "must not fail"
        ) from None
    return logs


def trajectory_of_log(network: Network, log: Iterable[int]) -> Trajectory:
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


#: Runs done at once, at least and at most, and in about how many seconds; results never depend on
#: it. Together they share more, but whoever waits wants to see that it goes on.
FEWEST, MOST, CHUNK_S = 8, 256, 1.0

#: Vertices drawn at most: more cannot be distinguished on a page.
MOST_DRAWN = 300

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
    budget, runs, jobs = whole("budget", budget), whole("runs", runs), whole("jobs", jobs)
    if budget < 1:
        raise ParameterError("budget", budget, "a number of oracle calls, at least 1")
    if runs < 1:
        raise ParameterError("runs", runs, "at least 1")
    if not contestants:
        raise InputError("no search to run; name at least one")
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
        loss = None
        if isinstance(one.mechanism, RoundLossMechanism):
            loss = one.mechanism.round_loss(network.instance())
        subject = Subject.of(one.mechanism)
        promised = [claim.epsilon for claim in subject.claims] if subject.claims_something else []
        drawn = trajectories(one, network, budget, runs, seed, jobs=jobs, watcher=watcher)
        searches.append(
            {
                "name": one.name,
                "mechanism": one.kind,
                "private": loss is not None or max(promised, default=0.0) > 0,
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


def trajectories(
    one: Contestant,
    network: Network,
    budget: int,
    runs: int,
    seed: int,
    *,
    jobs: int = 1,
    watcher: Watcher | None = None,
) -> list[Trajectory]:
    """Return ``runs`` trajectories, or one where the search uses no randomness.

    A run that leaves its random stream untouched would go on in the same way with any other.
    """
    watcher = watcher or Silent()
    work = _Work(one, network, network.instance(), budget, seed)
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
        return trace(self.one.mechanism, self.network, self.instance, self.budget, rngs)


def excerpt(network: Network, searches: Sequence[tuple[str, Mechanism]], seed: int) -> JSON:
    """Return the part of the network where the searches part ways, and what one run of each did.

    Shown are seeds and whom every search asked about at first; then, while there is room, whom
    the first search asked about, and of the others' first calls the targets found and everybody
    with a tie into the part shown. Whom noise makes a search ask about far away is not shown.
    """
    whole, calls = network.instance(), 4 * MOST_DRAWN
    logs = [
        logs_of(mechanism, network, whole, calls, [stream(seed, "drawing", name)])[0]
        for name, mechanism in searches
    ]
    alike = _alike(logs)
    first = dict.fromkeys([*network.seeds, *logs[0][max(0, alike - COMMON) : alike]])
    chosen = list(first)[:MOST_DRAWN]
    shown = set(chosen)
    ties = sum(_ties(network, vertex, shown) for vertex in chosen) // 2
    calls = alike
    for step in range(alike, max(map(len, logs))):
        asked = {log[step]: None for log in logs if step < len(log)}
        # Others than the first search show targets, and who has a tie into the part shown.
        own = logs[0][step : step + 1]
        new = [
            vertex
            for vertex in asked
            if vertex not in shown
            and (vertex in own or network.targeted[vertex] or _ties(network, vertex, shown))
        ]
        ties += sum(_ties(network, vertex, shown) for vertex in new)
        if len(shown) + len(new) > MOST_DRAWN or (ties > MOST_TIES and len(shown) >= FEW):
            break
        shown.update(new)
        chosen += new
        calls = step + 1
    vertices = sorted(chosen)
    part = network.adjacency[vertices][:, vertices].tocoo()
    edges = sorted((int(a), int(b)) for a, b in zip(*part.coords, strict=True) if a < b)
    searched, targeted = list[JSON](), network.targeted[vertices].tolist()
    for (name, _), log in zip(searches, logs, strict=True):
        order = {vertex: number for number, vertex in enumerate(log[:calls])}
        examined = [vertex in order or vertex in network.seeds for vertex in vertices]
        found = [one and seen for one, seen in zip(targeted, examined, strict=True)]
        listed = [order.get(vertex) for vertex in vertices]
        searched.append({"name": name, "examined": examined, "found": found, "order": listed})
    return {
        "vertices": [int(vertex) for vertex in vertices],
        "edges": [list(edge) for edge in edges],
        "positions": _places(len(vertices), edges),
        "targeted": targeted,
        "searches": searched,
    }


def _alike(logs: Sequence[Sequence[int]]) -> int:
    """Return how many calls all searches have in common at the beginning."""
    apart = (i for i, asked in enumerate(zip(*logs, strict=False)) if len(set(asked)) > 1)
    return next(apart, min(map(len, logs)))


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
