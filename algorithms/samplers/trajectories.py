"""How a search goes on, call by call, at the cost of its rounds and not of the network.

A round ends at its best target, so all that is needed is that target's noisy score and which of
the unexamined protected vertices have a larger one. Vertices of score 0 are many and alike: how
many of them come first is one binomial draw, and which they are matters only once one of them is
looked at. Statistic-first search passes over whoever was examined before, so the order in which
it asks, worked out once for each vertex it starts from, serves all runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import StatisticOfProximity, Trajectory

from ..laws.noise import Noise, Rule
from ..searches.rounds import score
from ..statistics import CN, Path, Triangle
from .partition import (
    component_labels,
    members,
    members_of,
    remaining,
    shelf,
    targeted_mask,
    targets_in_order,
)

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Traced:
    """A search whose runs are drawn by its rule for a round."""

    sop: StatisticOfProximity
    components: int

    def rule(self, instance: SearchInstance) -> Rule:
        """Return how a round ranks, and when it gives up."""
        raise NotImplementedError

    def trajectories(
        self, instance: SearchInstance, budget: int, rngs: Sequence[np.random.Generator]
    ) -> list[Trajectory]:
        """Return how runs go on: statistic-first search and search rounds in turn."""

        def build() -> _Run:
            start = _Run(instance, self.sop, budget)
            # Nobody has been examined yet, so nothing is drawn.
            start.explore(instance.seeds, np.random.default_rng(0))
            return start

        n, rule = instance.adjacency.shape[0], self.rule(instance)
        start = shelf(instance, "states").get(("runs", self.sop, budget), build, lambda _: 8 * n)
        return [start.copy().finish(rule, self.components - 1, rng) for rng in rngs]


def order_of_asking(
    instance: SearchInstance, start: tuple[int, ...], most: int
) -> tuple[Ints, Bools]:
    """Return whom statistic-first search from ``start`` asks about, in order, and who is a target.

    Where nobody was examined before; not more than ``most``.
    """

    def build() -> tuple[Ints, Bools]:
        targets, counts = targets_in_order(instance, start, most)
        protected, turns = _turns(instance, targets, counts, len(start))
        # Who is asked before the target of a turn stands before it.
        everyone = np.concatenate((protected, targets[len(start) :]))
        turn = np.concatenate((turns, np.arange(len(start), len(targets))))
        order = np.argsort(turn, kind="stable")[:most]
        return everyone[order], order >= len(protected)

    key = ("asked", start, most)
    return shelf(instance, "outputs").get(key, build, lambda plan: len(plan[0]))


def _turns(
    instance: SearchInstance, targets: Ints, counts: Ints, started: int
) -> tuple[Ints, Ints]:
    """Return the protected neighbours of targets, and before which of these each is asked about.

    A vertex that r targets found so far are next to has rank (r, index); it is asked about before
    the first target that is chosen, at a lower rank, while it has this one.
    """
    labels, inside = members_of(instance, tuple(targets[:started].tolist()))

    def build() -> tuple[Ints, Ints, Ints, Ints]:
        rows = instance.adjacency[inside]
        outside = np.flatnonzero(~targeted_mask(instance)[rows.indices])
        order = outside[np.argsort(rows.indices[outside], kind="stable")]
        x = rows.indices[order].astype(np.int64)
        first = np.diff(x, prepend=-1) > 0
        number = np.cumsum(first) - 1
        times = np.arange(1, len(x) + 1) - np.flatnonzero(first)[number]
        owner = np.repeat(np.arange(len(inside)), np.diff(rows.indptr))[order]
        return x, owner, number, times

    x, owner, number, times = shelf(instance, "outputs").get(
        ("protected neighbours", labels), build, lambda found: 4 * len(found[0])
    )
    size, width = len(targets), instance.adjacency.shape[0] + 1
    place = np.full(len(inside), size)
    place[np.searchsorted(inside, targets)] = np.arange(size)
    # When each is met, in order.
    shift = number * (size + 1)
    met = np.sort(place[owner] + shift) - shift
    rank = times * width - x
    chosen = counts * width - targets
    chosen[:started] = np.iinfo(np.int64).max
    # Minima over 2^l targets; whoever comes to the end is asked after all of them.
    minima = [np.append(chosen, np.iinfo(np.int64).min)]
    while 1 << len(minima) <= size:
        half = 1 << (len(minima) - 1)
        minima.append(np.minimum(minima[-1][:-half], minima[-1][half:]))
    turn = np.minimum(met + 1, size)
    for level in range(len(minima) - 1, -1, -1):
        there = np.minimum(turn, len(minima[level]) - 1)
        turn += (minima[level][there] >= rank).astype(np.int64) << level
    # Until it is met again, which gives it another rank.
    again = np.append(np.where(times[1:] > 1, met[1:], size), size)
    asked = np.flatnonzero((turn <= again) & (met < size))
    once = asked[np.flatnonzero(np.diff(number[asked], prepend=-1))]
    return x[once], turn[once]


class _Run:
    """What a run has found and examined, and when.

    Protected vertices that are far, whose score has always been 0, are all alike: who of them was
    examined is drawn when one of them is looked at for the first time, until then it is a number.
    """

    def __init__(self, instance: SearchInstance, sop: StatisticOfProximity, budget: int) -> None:
        self._instance, self._budget = instance, budget
        self._labels = component_labels(instance)
        self._scores = _Scores(instance, sop)
        self._left = remaining(instance, ())
        self._far = ~targeted_mask(instance)
        self._number_far = int(self._far.sum())
        self._far_examined = 0
        #: Protected vertices not known to be examined.
        self._open = self._far.copy()
        #: Protected vertices that have had another score.
        self._near = np.empty(0, dtype=np.int64)
        self._calls = 0
        self._vertices: list[Ints] = []
        self._found: list[Ints] = []
        self._discoveries: list[int] = []

    def copy(self) -> _Run:
        """Return the same run, to be carried on by itself."""
        new = object.__new__(_Run)
        vars(new).update(vars(self))
        new._scores = self._scores.copy()
        new._far, new._open = self._far.copy(), self._open.copy()
        new._vertices, new._found = [*self._vertices], [*self._found]
        new._discoveries = [*self._discoveries]
        return new

    def finish(self, rule: Rule, rounds: int, rng: np.random.Generator) -> Trajectory:
        """Search and explore in turn until a round gives up or the budget is spent."""
        for _ in range(rounds):
            if self._calls >= self._budget:
                break
            winner = self._search(rule, rng)
            if winner < 0:
                break
            self.explore((winner,), rng)
        return Trajectory(
            np.concatenate(self._vertices),
            np.concatenate(self._found),
            np.array(self._discoveries, dtype=np.int64),
            min(self._calls, self._budget),
        )

    def explore(self, start: tuple[int, ...], rng: np.random.Generator) -> None:
        """Explore the components of some targets, as far as the budget goes."""
        # As many calls as are left find all that are needed: the others were made before.
        order, hit = order_of_asking(self._instance, start, self._budget)
        self._look_at(order[~hit], rng)
        new = np.flatnonzero(hit | self._open[order])[: self._budget - self._calls]
        asked, hits = order[new], np.flatnonzero(hit[new])
        self._vertices.append(asked[hits])
        self._found.append(self._calls + 1 + hits)
        self._calls += len(asked)
        self._open[asked] = False
        if self._calls < self._budget:
            self._learn(sorted({*self._labels[list(start)].tolist()}), rng)

    def _learn(self, labels: Sequence[int], rng: np.random.Generator) -> None:
        """Score everyone with these components found."""
        for label in labels:
            self._left = self._left[self._labels[self._left] != label]
            fresh = self._look_at(self._scores.add(label), rng)
            self._near = np.concatenate((self._near, fresh))

    def _look_at(self, vertices: Ints, rng: np.random.Generator) -> Ints:
        """Draw who of those far away among some distinct vertices was examined; return the others.

        O(their number).
        """
        theirs = vertices[self._far[vertices]]
        if not len(theirs):
            return theirs
        examined = 0
        if self._far_examined:
            others = self._number_far - self._far_examined
            examined = int(rng.hypergeometric(self._far_examined, others, len(theirs)))
        self._far[theirs] = False
        self._number_far -= len(theirs)
        if not examined:
            return theirs
        self._far_examined -= examined
        self._open[theirs[_choose(examined, len(theirs), rng)]] = False
        return theirs[self._open[theirs]]

    def _search(self, rule: Rule, rng: np.random.Generator) -> int:
        """Play a round; return the target found, or -1."""
        limit, noise = float(rule.draw_limits(1, rng)[0]), rule.noise
        floor = -math.inf
        if rule.threshold is not None:
            floor = rule.threshold + float(noise.draw(1, rng)[0])
        winner, value = -1, -math.inf
        if len(self._left):
            noisy = self._scores.values[self._left] + noise.draw(len(self._left), rng)
            best = int(noisy.argmax())
            winner, value = int(self._left[best]), float(noisy[best])
        if value < floor:
            winner, value = -1, floor
        near, others = self._ahead(noise, value, winner, rng)
        ahead = len(near) + others
        if ahead > limit:
            winner, ahead = -1, max(0, math.floor(limit) + 1)
        self._calls += ahead
        if winner < 0 or self._calls >= self._budget:
            return -1
        self._open[near] = False
        self._far_examined += others
        self._calls += 1
        self._vertices.append(np.array([winner]))
        self._found.append(np.array([self._calls]))
        self._discoveries.append(self._calls)
        return winner

    def _ahead(
        self, noise: Noise, value: float, winner: int, rng: np.random.Generator
    ) -> tuple[Ints, int]:
        """Draw the unexamined protected vertices whose noisy score is above ``value``.

        Returns some of them, and how many of those far away there are besides.
        """
        scores = self._scores.values
        if noise.scale == 0:
            everyone = np.flatnonzero(self._open)
            first = everyone < winner if winner >= 0 else True
            tied = (scores[everyone] == value) & first
            return everyone[(scores[everyone] > value) | tied], 0
        others = self._number_far - self._far_examined
        if value == -math.inf:
            return self._near[self._open[self._near]], others
        # None is above more often than the one with the largest score: choose by that, then thin.
        top, far = np.exp(noise.logsf(np.array([value - self._scores.largest, value]))).tolist()
        near = self._near[_choose(int(rng.binomial(len(self._near), top)), len(self._near), rng)]
        near = near[self._open[near]]
        if len(near):
            above = np.exp(noise.logsf(value - scores[near]))
            near = near[top * rng.random(len(near)) < above]
        return near, int(rng.binomial(others, far))


class _Scores:
    """Scores of every vertex, as components are found one by one.

    CN changes near what is new in N(S). A path or a triangle ends in one component of S, so these
    counts add up over components. Any other statistic is scored anew, once for each set met.
    """

    def __init__(self, instance: SearchInstance, sop: StatisticOfProximity) -> None:
        n = instance.adjacency.shape[0]
        self._instance, self._sop = instance, sop
        self._labels: tuple[int, ...] = ()
        #: Who has had a score other than 0, and who is in N(S), for CN.
        self._seen, self._around = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
        self.values: Floats = np.zeros(n)
        #: A bound on the scores from above, at least 0.
        self.largest = 0.0

    def copy(self) -> _Scores:
        """Return the same scores, to grow by themselves."""
        new = object.__new__(_Scores)
        vars(new).update(vars(self))
        for name in ("_seen", "_around", "values"):
            setattr(new, name, getattr(self, name).copy())
        return new

    def add(self, label: int) -> Ints:
        """Count one component more; return whose score is other than 0 for the first time."""
        self._labels = tuple(sorted((*self._labels, label)))
        if isinstance(self._sop, CN):
            changed = self._add_common_neighbours(label)
        elif isinstance(self._sop, Path | Triangle):
            changed, more = self._of((label,))
            self.values[changed] += more
        else:
            changed, scores = self._of(self._labels)
            self.values[:] = 0.0
            self.values[changed] = scores
        self.largest = max(self.largest, float(self.values[changed].max(initial=0.0)))
        fresh: Ints = changed[~self._seen[changed]]
        self._seen[changed] = True
        return fresh

    def _of(self, labels: tuple[int, ...]) -> tuple[Ints, Floats]:
        """Return who has a score other than 0 with some components found, and the scores."""

        def build() -> tuple[Ints, Floats]:
            found = members(self._instance, labels)
            scores = score(self._sop, self._instance, found.tolist())
            vertices = np.flatnonzero(scores)
            return vertices, scores[vertices]

        key = ("scores", self._sop, labels)
        return shelf(self._instance, "states").get(key, build, lambda share: 2 * len(share[0]))

    def _add_common_neighbours(self, label: int) -> Ints:
        """Whoever joins N(S) counts for each of its neighbours; return these."""

        def build() -> tuple[Ints, Ints, Floats]:
            adjacency = self._instance.adjacency
            around = np.unique(adjacency[members(self._instance, (label,))].indices).astype(
                np.int64
            )
            counted, counts = np.unique(adjacency[around].indices, return_counts=True)
            return around, counted.astype(np.int64), counts.astype(np.float64)

        kept = shelf(self._instance, "outputs")
        around, counted, counts = kept.get(
            ("around", label), build, lambda share: len(share[0]) + 2 * len(share[1])
        )
        before = around[self._around[around]]
        self.values[counted] += counts
        if len(before):
            np.subtract.at(self.values, self._instance.adjacency[before].indices, 1.0)
        self._around[around] = True
        return counted


def _choose(many: int, of: int, rng: np.random.Generator) -> Ints:
    """Return ``many`` distinct numbers below ``of``, uniformly, in any order."""
    if many * many < of:
        some = (rng.random(many) * of).astype(np.int64)
        # Given that they are distinct they are uniform; it is cheap to try.
        if len(set(some.tolist())) == many:
            return some
    return rng.permutation(of)[:many]
