"""How exposed the people of one network are: the exact loss of a round, for each protected vertex.

A person is compared with the network in which they are isolated, and with those in which they are
rewired to hurt most within the public degree bound. Only scores enter the law of a round, so all
people whose rewiring changes the same score levels share one computation.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.auditing.config import Silent, Watcher
from pdpaudit.core.errors import InputError
from pdpaudit.core.network import Network, rewire
from pdpaudit.core.protocols import RewiringStatistic, RoundMechanism, SearchRound
from pdpaudit.core.statistic import score_all
from pdpaudit.outputs.records import JSON

Ints = npt.NDArray[np.int64]
Vertices = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]

#: People rewired at their worst where every rewiring means scoring everybody anew.
FEW = 20

#: Rewirings of one person whose loss is worked out in full.
PROMISING = 2

#: Targets' score levels tried one by one as the one that is raised, or is not.
LEVELS = 6


@dataclass(frozen=True)
class Loss:
    """What one rewiring costs."""

    epsilon: float
    levels: tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Exposure:
    """The exposure of everyone protected; NaN where the time limit came first."""

    protected: Ints
    isolated: Floats
    rewired: Floats
    how: dict[int, str]
    through: Callable[[int], str]
    computed: int
    late: bool = False

    @property
    def reached(self) -> int:
        """Number of people of whom anything is known."""
        return int(np.isfinite(self.isolated).sum())

    def remark(self) -> str:
        """Return what the time limit left out, in a sentence; empty where it left out nothing."""
        if not self.late:
            return ""
        whole = f"{len(self.protected):,}"
        return (
            f"the time limit ended the exposure: of {whole} people {self.reached:,} were isolated "
            f"and {int(np.isfinite(self.rewired).sum()):,} rewired at their worst"
        )

    def to_json(self, network: Network, shown: int = 20) -> JSON:
        """Return the most exposed people, the distribution, and the overall figures."""
        worst = np.fmax(self.isolated, self.rewired)
        order = np.argsort(-worst.round(9), kind="stable")[:shown]
        people = []
        for place in order[np.isfinite(worst[order])].tolist():
            vertex = int(self.protected[place])
            people.append(
                {
                    "vertex": vertex,
                    "name": network.name(vertex),
                    "degree": len(network.neighbours(vertex)),
                    "isolated": float(self.isolated[place]),
                    "rewired": _number(self.rewired[place]),
                    "how": self.how.get(vertex, "isolated"),
                    "through": self.through(vertex),
                }
            )
        return {
            "people": self.reached,
            "most_exposed": people,
            "isolated": _distribution(self.isolated[np.isfinite(self.isolated)]),
            "rewired": _distribution(self.rewired[np.isfinite(self.rewired)]),
            "laws_computed": self.computed,
        }


def measure_exposure(
    mechanism: object,
    network: Network,
    *,
    watcher: Watcher | None = None,
    until: float = math.inf,
) -> Exposure:
    """Compute the exact loss of the next round for every protected vertex, as time allows."""
    if not isinstance(mechanism, RoundMechanism):
        raise InputError("`exposure` looks at the next round of a search; this mechanism has none")
    now = mechanism.search_round(network.instance())
    if not len(now.targets):
        raise InputError("nothing is left to find from these seeds, so no round loses anything")
    look = _Look(network, now)
    watcher = watcher or Silent()
    people = network.protected
    watcher.stage("computing everybody's exposure", len(people))
    isolated, rewired = np.full((2, len(people)), np.nan)
    how: dict[int, str] = {}
    alone = np.empty(0, dtype=np.int64)
    worst: dict[int, tuple[Loss, Ints]] = {}
    late = False
    for place, vertex in enumerate(people.tolist()):
        if late := time.monotonic() > until:
            break
        loss = look.loss(vertex, alone)
        isolated[place], worst[vertex] = loss.epsilon, (loss, alone)
        watcher.advance(1)
    chosen: Sequence[int] = range(len(people))
    if not look.fast or until < math.inf:
        chosen = np.argsort(-isolated.round(9), kind="stable").tolist()
    chosen = chosen if look.fast else chosen[:FEW]
    watcher.stage("rewiring people at their worst", len(chosen))
    for place in chosen:
        if late := late or time.monotonic() > until:
            break
        vertex = int(people[place])
        best, how[vertex], ties = look.worst(vertex)
        rewired[place] = best.epsilon
        if best.epsilon > worst[vertex][0].epsilon:
            worst[vertex] = best, ties
        watcher.advance(1)

    def through(vertex: int) -> str:
        return look.event(vertex, *worst[vertex])

    return Exposure(people, isolated, rewired, how, through, look.computed, late)


class _Look:
    """The round as it is, and what any rewiring makes of it."""

    def __init__(self, network: Network, now: SearchRound) -> None:
        self.network, self.now = network, now
        self.computed = 0
        adjacency = network.adjacency
        sop = now.sop
        self.fast = isinstance(sop, RewiringStatistic)
        if isinstance(sop, RewiringStatistic):
            self._changes = sop.rewirer(adjacency, now.found)
        else:
            self._changes = self._rescored
        graph = network.instance()
        members = frozenset(now.found.tolist())
        self.scores = score_all(sop, lambda: graph.graph, adjacency, members)
        self.is_found = np.zeros(network.n, dtype=bool)
        self.is_found[now.found] = True
        self.is_left = np.zeros(network.n, dtype=bool)
        self.is_left[now.targets] = True
        met = np.zeros(network.n, dtype=bool)
        if now.explored:
            met[adjacency[now.found].indices] = True
        self.is_unexamined = ~network.targeted & ~met
        self.levels = Counter(self.scores[self.is_unexamined].tolist())
        self.target_levels = Counter(self.scores[now.targets].tolist())
        self._base = self._law(self.target_levels, self.levels)
        self._known: dict[Any, Loss] = {}
        self._worst: dict[Any, tuple[Loss, str, Ints]] = {}
        degree = np.diff(adjacency.indptr)
        bound = network.n - 1 if network.max_degree is None else network.max_degree
        self.room = min(bound, network.n - 1)
        free = degree < bound
        # Highest scores first: a target that leads is the one whose place tells most.
        left = now.targets[free[now.targets]]
        self.open_left = left[np.argsort(-self.scores[left], kind="stable")]
        self.open_found = now.found[free[now.found]]

    def _rescored(self, vertex: int, neighbours: Vertices) -> tuple[Ints, Floats]:
        """Score everybody on the rewired network."""
        other = rewire(self.network, vertex, neighbours)
        graph = other.instance()
        members = frozenset(self.now.found.tolist())
        scores = score_all(self.now.sop, lambda: graph.graph, other.adjacency, members)
        changed = np.union1d(np.flatnonzero(scores != self.scores), [vertex])
        return changed, scores[changed]

    def loss(self, vertex: int, neighbours: Vertices) -> Loss:
        """Return the exact loss against the network with these neighbours of ``vertex``."""
        return self._of(*self._moves(vertex, neighbours))

    def promise(self, vertex: int, neighbours: Vertices) -> float:
        """Return the loss as it were if no protected vertex counted differently."""
        return self._of(self._moves(vertex, neighbours)[0], Counter()).epsilon

    def _moves(
        self, vertex: int, neighbours: Vertices
    ) -> tuple[Counter[tuple[float, float]], Counter[float]]:
        """Count the targets that move, from what score to what, and change the protected."""
        changed, values = self._changes(vertex, neighbours)
        before = self.scores[changed]
        left = self.is_left[changed]
        moved = Counter(zip(before[left].tolist(), values[left].tolist(), strict=True))
        ahead: Counter[float] = Counter()
        waits = self.is_unexamined[changed] & (changed != vertex)
        ahead.update(values[waits].tolist())
        ahead.subtract(before[waits].tolist())
        if self.is_unexamined[vertex]:
            ahead[float(self.scores[vertex])] -= 1
        if not (self.now.explored and self.is_found[neighbours].any()):
            ahead[float(values[changed == vertex][0])] += 1
        return moved, ahead

    def _of(self, moved: Counter[tuple[float, float]], ahead: Counter[float]) -> Loss:
        key = (
            tuple(sorted((pair, n) for pair, n in moved.items() if pair[0] != pair[1])),
            tuple(sorted((level, n) for level, n in ahead.items() if n)),
        )
        if key not in self._known:
            self._known[key] = self._loss(moved, ahead)
        return self._known[key]

    def _loss(self, moved: Counter[tuple[float, float]], ahead: Counter[float]) -> Loss:
        targets = self.target_levels.copy()
        classes = dict.fromkeys((level, level) for level in targets)
        for (old, new), count in moved.items():
            targets[old] -= count
            targets[new] += count
        staying = self.target_levels.copy()
        for (old, _), count in moved.items():
            staying[old] -= count
        pairs = [pair for pair in classes if staying[pair[0]] > 0]
        pairs += [pair for pair in moved if pair[0] != pair[1]]
        levels = self.levels.copy()
        levels.update(ahead)
        found, none = self._law(targets, levels)
        here, nobody = self._base
        losses = [(abs(here[old] - found[new]), (old, new)) for old, new in pairs]
        worst: tuple[float, tuple[float, float] | None] = max(
            losses, key=lambda one: round(one[0], 9)
        )
        if not np.isneginf(nobody) or not np.isneginf(none):
            gap = abs(nobody - none)
            if gap > worst[0]:
                worst = (gap, None)
        return Loss(float(worst[0]), worst[1])

    def _law(
        self, targets: Counter[float], protected: Counter[float]
    ) -> tuple[dict[float, float], float]:
        """Return the log probability of one target of each level, and of nobody's being found."""
        self.computed += 1
        levels = sorted(level for level, count in targets.items() if count > 0)
        counts = [targets[level] for level in levels]
        ahead = sorted((level, count) for level, count in protected.items() if count > 0)
        log_found, log_none = self.now.law(
            np.repeat(levels, counts),
            np.array([level for level, _ in ahead], dtype=np.float64),
            np.array([count for _, count in ahead], dtype=np.float64),
        )
        first = np.cumsum(counts) - counts
        return dict(zip(levels, log_found[first].tolist(), strict=True)), log_none

    def event(self, vertex: int, loss: Loss, neighbours: Vertices) -> str:
        """Say what tells most of the rewiring whose loss this is."""
        if loss.levels is None:
            return "nobody more is found"
        changed, values = self._changes(vertex, neighbours)
        after = self.scores.copy()
        after[changed] = values
        left = self.now.targets
        old, new = loss.levels
        one = left[(self.scores[left] == old) & (after[left] == new)][0]
        return f"{self.network.name(int(one))} is found first"

    def worst(self, vertex: int) -> tuple[Loss, str, Ints]:
        """Return the worst of the most promising rewirings, and how it is made."""
        now = self.network.neighbours(vertex)
        # Someone whose ties touch nobody's score loses by the new ties alone: so do all like them.
        changed, _ = self._changes(vertex, np.empty(0, dtype=np.int64))
        alike = (float(self.scores[vertex]), bool(self.is_unexamined[vertex]))
        lone = len(changed) == 1 and self.fast
        if lone and alike in self._worst:
            return self._worst[alike]
        tried = list(self._rewirings(vertex, now, lone))
        if self.fast:
            # The targets that move decide, nearly, and few people differ in them; the rest of the
            # law is worked out for the most promising.
            tried.sort(key=lambda one: -round(self.promise(vertex, one[1]), 9))
            del tried[PROMISING:]
        best, words, ties = Loss(0.0, None), "isolated", tried[0][1]
        for way, neighbours in tried:
            loss = self.loss(vertex, neighbours)
            if loss.epsilon > best.epsilon + 1e-9:
                best, words, ties = loss, way, neighbours
        if lone:
            self._worst[alike] = best, words, ties
        return best, words, ties

    def _rewirings(self, vertex: int, now: Vertices, lone: bool) -> Iterator[tuple[str, Ints]]:
        yield "isolated", np.empty(0, dtype=np.int64)
        held = now[self.is_found[now]]
        anchor = (held if len(held) else self.open_found)[:1].astype(np.int64)
        if not len(anchor):
            return
        yield "tied to a target found alone", anchor
        left = self.open_left
        if not lone:
            kept = now[self.is_left[now]].astype(np.int64)
            left = np.concatenate([kept, left[~np.isin(left, kept)]])
        fits = self.room - 1
        if not len(left) or fits < 1:
            return
        most = left[:fits]
        number = "all" if len(most) == len(self.now.targets) else str(len(most))
        yield f"tied to a target found and {number} left to find", np.append(anchor, most)
        seen: list[float] = []
        for target in left.tolist():
            level = float(self.scores[target])
            if level in seen:
                continue
            seen.append(level)
            yield "tied to a target found and one left to find", np.append(anchor, target)
            others = left[left != target][:fits]
            yield (
                f"tied to a target found and {len(others)} left to find, not to a certain one",
                np.append(anchor, others),
            )
            if len(seen) == LEVELS:
                break


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _distribution(values: Floats) -> JSON:
    """Return the figures of a distribution of losses."""
    if not len(values):
        return {}
    shares = (0.5, 0.9, 0.99, 1.0)
    edges = np.linspace(0.0, max(float(values.max()), 1e-12), 21)
    counts, _ = np.histogram(values, edges)
    return {
        "measured": len(values),
        "mean": float(values.mean()),
        "unaffected": int((values <= 1e-9).sum()),
        "quantiles": {f"{share:g}": float(np.quantile(values, share)) for share in shares},
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
    }
