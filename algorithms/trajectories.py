"""How a search goes on, call by call, at the cost of its rounds and not of the network.

A round ends at its best target, so all that is needed is that target's noisy score and which of
the unexamined protected vertices have a larger one. Vertices of score 0 are many and alike: how
many of them come first is one binomial draw, and which they are is uniform. Statistic-first search
follows a plan that all runs share (:mod:`.exploration`), and scores grow with the targets found
(:mod:`.growing`).

To draw so, one must know the partition. A simulator may; see :mod:`.simulation`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.contracts import StatisticOfProximity, Trajectory
from pdpaudit.network import SearchInstance

from .counting import survival
from .exploration import exploration, explored
from .growing import Growing, growing
from .laws.noise import Gumbel, Laplace, Noise
from .simulation import (
    component_labels,
    remaining,
    seed_components,
    shelf,
    targeted_mask,
)

__all__ = ["Rule", "draw_trajectory"]

Ints = npt.NDArray[np.int64]
Vertices = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rule:
    """How a round ranks the vertices, and when it gives up.

    Attributes
    ----------
    noise : Noise
        What is added to every score; without noise ties go to the smallest index.
    threshold : float, optional
        A score that gets noise too; nobody below it is examined.
    limit : float
        A round goes on while at most so many have been asked.
    limit_scale : float
        Scale of the Laplace noise on ``limit``.
    """

    noise: Noise
    threshold: float | None = None
    limit: float = math.inf
    limit_scale: float = 0.0


def draw_trajectory(
    instance: SearchInstance,
    sop: StatisticOfProximity,
    rule: Rule,
    rounds: int,
    budget: int,
    rng: np.random.Generator,
) -> Trajectory:
    """Draw one run of statistic-first search and search rounds in turn.

    Parameters
    ----------
    instance : SearchInstance
        The network; what all runs share is kept with it.
    sop : StatisticOfProximity
        The statistic.
    rule : Rule
        How its rounds go.
    rounds : int
        Search rounds at most.
    budget : int
        Oracle calls at most.
    rng : Generator
        Source of all randomness.

    Returns
    -------
    Trajectory
        Equal in law to a run cut off there. A round costs a random number for each target left
        and each unexamined vertex whose score is not 0, beside the vertices asked about.

    Examples
    --------
    >>> import networkx as nx
    >>> from pdpaudit.algorithms.statistics import CN
    >>> from pdpaudit.network import Network, adjacency_from_networkx
    >>> adjacency, _ = adjacency_from_networkx(nx.path_graph(5))
    >>> network = Network(adjacency, np.array([True, False, True, False, True]), seeds=(0,))
    >>> rule, rng = Rule(Laplace(0.0)), np.random.default_rng(1)
    >>> run = draw_trajectory(network.instance(), CN(), rule, 5, 10, rng)
    >>> run.vertices.tolist(), run.found.tolist(), run.discoveries.tolist()
    ([2, 4], [2, 4], [2, 4])
    """
    labels = component_labels(instance)
    discoveries: list[int] = []
    state, calls, vertices, found = _after_seeds(instance, sop, budget)
    for _ in range(rounds):
        if calls >= budget:
            break
        winner, asked = state.search(rule, budget - calls, rng)
        calls += asked
        if winner < 0:
            break
        calls += 1
        if calls > budget:
            break
        vertices.append(np.array([winner]))
        found.append(np.array([calls]))
        discoveries.append(calls)
        new = (int(labels[winner]),)
        calls = state.explore((winner,), new, calls, budget, vertices, found)
    all_found = np.concatenate(found)
    within = int(np.searchsorted(all_found, budget, side="right"))
    return Trajectory(
        np.concatenate(vertices)[:within],
        all_found[:within],
        np.array(discoveries, dtype=np.int64),
        min(calls, budget),
    )


def _after_seeds(
    instance: SearchInstance, sop: StatisticOfProximity, budget: int
) -> tuple[_State, int, list[Ints], list[Ints]]:
    """Return the state of every run that has explored the seeds' components, and its calls."""

    def build() -> tuple[_State, int, list[Ints], list[Ints]]:
        state = _State(instance, sop)
        vertices: list[Ints] = []
        found: list[Ints] = []
        labels = seed_components(instance)
        calls = state.explore(instance.seeds, labels, 0, budget, vertices, found)
        return state, calls, vertices, found

    n = instance.adjacency.shape[0]
    key = ("trajectories", sop, budget)
    state, calls, vertices, found = shelf(instance, "states").get(key, build, lambda _: 8 * n)
    return state.copy(), calls, [*vertices], [*found]


class _Pool:
    """Vertices that are all alike, to choose from and to take out of."""

    def __init__(self, members: Ints, n: int) -> None:
        self._members = members.astype(np.int32)
        self._place = np.full(n, -1, dtype=np.int32)
        self._place[members] = np.arange(len(members))
        self._size = len(members)

    def __len__(self) -> int:
        return self._size

    def copy(self) -> _Pool:
        """Return the same pool, to be used up by another run."""
        new = object.__new__(_Pool)
        new._members, new._place = self._members.copy(), self._place.copy()
        new._size = self._size
        return new

    def take(self, many: int, rng: np.random.Generator) -> Vertices:
        """Take out ``many`` members, chosen uniformly, in any order."""
        return self._take(rng.choice(self._size, many, replace=False, shuffle=False))

    def remove(self, vertices: Vertices) -> None:
        """Take out those of some distinct vertices that are in; O(their number)."""
        places = self._place[vertices]
        self._take(places[places >= 0])

    def _take(self, places: Vertices) -> Vertices:
        taken: Vertices = self._members[places]
        if not len(taken):
            return taken
        self._place[taken] = -1
        # Who is left at the end moves into the gaps further up.
        self._size -= len(taken)
        end = self._members[self._size : self._size + len(taken)]
        movers = end[self._place[end] >= 0]
        gaps = places[places < self._size]
        self._members[gaps] = movers
        self._place[movers] = gaps
        return taken


class _State:
    """What a run has found and examined."""

    def __init__(self, instance: SearchInstance, sop: StatisticOfProximity) -> None:
        n = instance.adjacency.shape[0]
        self._instance = instance
        self._labels = component_labels(instance)
        self._growing: Growing = growing(instance, sop)
        self._left = remaining(instance, ())
        #: The unexamined protected vertices; those never seen with a score other than 0; the rest.
        self._open = ~targeted_mask(instance)
        self._far = _Pool(np.flatnonzero(self._open), n)
        self._near = np.empty(0, dtype=np.int64)

    def explore(
        self,
        start: tuple[int, ...],
        labels: Sequence[int],
        calls: int,
        budget: int,
        vertices: list[Ints],
        found: list[Ints],
    ) -> int:
        """Explore the components of ``start``; return the calls made in the end."""
        plan = exploration(self._instance, start, budget)
        times, calls, asked = explored(plan, self._open, calls)
        vertices.append(plan.targets[plan.started :])
        found.append(times)
        for label in labels:
            self._left = self._left[self._labels[self._left] != label]
            fresh = self._growing.add(label)
            fresh = fresh[self._open[fresh]]
            self._far.remove(fresh)
            self._near = np.concatenate((self._near, fresh))
        self._close(asked)
        return calls

    def copy(self) -> _State:
        """Return the same state, to be carried on by another run."""
        new = object.__new__(_State)
        vars(new).update(vars(self))
        new._growing, new._far = self._growing.copy(), self._far.copy()
        new._open = self._open.copy()
        return new

    def search(self, rule: Rule, most: int, rng: np.random.Generator) -> tuple[int, int]:
        """Play a round; return the target found, or -1, and how many others were asked about.

        Where these are ``most`` or more the run is over, and who they are is not drawn.
        """
        limit = rule.limit
        if rule.limit_scale:
            limit += rng.laplace(0.0, rule.limit_scale)
        floor = -math.inf
        if rule.threshold is not None:
            floor = rule.threshold + float(_draw(rule.noise, 1, rng)[0])
        winner, value = -1, -math.inf
        if len(self._left):
            noisy = self._growing.scores[self._left] + _draw(rule.noise, len(self._left), rng)
            best = int(np.argmax(noisy))
            winner, value = int(self._left[best]), float(noisy[best])
        if value < floor:
            winner, value = -1, floor
        near, others = self._ahead(rule.noise, value, winner, rng)
        ahead = len(near) + others
        if ahead > limit:
            return -1, max(0, math.floor(limit) + 1)
        if ahead < most and winner >= 0:
            self._close(near)
            self._open[self._far.take(others, rng)] = False
        return winner, ahead

    def _close(self, vertices: Ints) -> None:
        self._open[vertices] = False
        self._far.remove(vertices)

    def _ahead(
        self, noise: Noise, value: float, winner: int, rng: np.random.Generator
    ) -> tuple[Ints, int]:
        """Draw the unexamined protected vertices whose noisy score is above ``value``.

        Returns some of them, and how many of those far away there are besides.
        """
        if value == -math.inf:
            return np.flatnonzero(self._open), 0
        if noise.scale == 0:
            everyone = np.flatnonzero(self._open)
            scores = self._growing.scores[everyone]
            first = everyone < winner if winner >= 0 else True
            return everyone[(scores > value) | ((scores == value) & first)], 0
        self._near = self._near[self._open[self._near]]
        scores = self._growing.scores[self._near]
        # None is above more often than the one with the largest score: choose by that, then thin.
        top, others = _survival(noise, value - np.array((scores.max(initial=0.0), 0.0))).tolist()
        chosen = rng.random(len(scores)) < top
        above = _survival(noise, value - scores[chosen])
        near = self._near[chosen][top * rng.random(len(above)) < above]
        return near, int(rng.binomial(len(self._far), others))


def _draw(noise: Noise, size: int, rng: np.random.Generator) -> Floats:
    if noise.scale == 0:
        return np.zeros(size)
    if isinstance(noise, Laplace):
        return rng.laplace(0.0, noise.scale, size)
    if isinstance(noise, Gumbel):
        return rng.gumbel(0.0, noise.scale, size)
    return rng.exponential(noise.scale, size)


def _survival(noise: Noise, x: Floats) -> Floats:
    if isinstance(noise, Laplace):
        return survival(noise, x)
    return np.asarray(np.exp(noise.logsf(x)))
