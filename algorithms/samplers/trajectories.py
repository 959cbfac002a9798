"""How a search goes on, call by call, at the cost of its rounds and not of the network.

A round ends at its best target, so all that is needed is that target's noisy score and which of
the unexamined protected vertices have a larger one. Vertices of score 0 are many and alike: how
many of them come first is one binomial draw, and which they are matters only once one of them is
looked at. Statistic-first search follows a plan that runs share (:mod:`.exploration`), and scores
grow with the targets found (:mod:`.growing`).

To draw so, one must know the partition. A simulator may; see :mod:`.simulation`.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import StatisticOfProximity, Trajectory

from ..laws.noise import Gumbel, Laplace, Noise
from .exploration import Exploration, exploration, explorations, explored
from .growing import Growing, growing
from .partition import component_labels, remaining, shelf, targeted_mask
from .score_levels import survival

__all__ = ["Rule", "draw_trajectories"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Runs go on side by side as long as they know no more than so many vertices together.
ROOM = 1 << 23


@dataclass(frozen=True)
class Rule:
    """How a round ranks the vertices, and when it gives up."""

    noise: Noise
    threshold: float | None = None
    limit: float = math.inf
    limit_scale: float = 0.0


def draw_trajectories(
    instance: SearchInstance,
    sop: StatisticOfProximity,
    rule: Rule,
    rounds: int,
    budget: int,
    rngs: Sequence[np.random.Generator],
) -> list[Trajectory]:
    """Draw runs of statistic-first search and search rounds in turn."""
    at_once = max(1, ROOM // instance.adjacency.shape[0])
    done: list[Trajectory] = []
    for first in range(0, len(rngs), at_once):
        runs = [
            _run(_after_seeds(instance, sop, budget), rule, rounds, budget, rng)
            for rng in rngs[first : first + at_once]
        ]
        done += _together(instance, runs, budget)
    return done


#: A run, which asks what statistic-first search does from the target its round has found.
Run: TypeAlias = Generator[int, Exploration | None, Trajectory]


def _together(instance: SearchInstance, runs: Sequence[Run], budget: int) -> list[Trajectory]:
    """Let runs go on side by side, so that what they ask is worked out together."""
    ended: dict[int, Trajectory] = {}
    answers: dict[int, Exploration | None] = dict.fromkeys(range(len(runs)))
    while answers:
        asked: dict[int, int] = {}
        for number, answer in answers.items():
            try:
                asked[number] = runs[number].send(answer)
            except StopIteration as end:
                ended[number] = end.value
        plans = explorations(instance, asked.values(), budget)
        answers = {number: plans[winner] for number, winner in asked.items()}
    return [ended[number] for number in range(len(runs))]


@dataclass(eq=False)
class _Course:
    """A run so far: what it knows, the calls made, the targets found and when."""

    state: _State
    calls: int
    vertices: list[Ints]
    found: list[Ints]


def _run(course: _Course, rule: Rule, rounds: int, budget: int, rng: np.random.Generator) -> Run:
    state, calls = course.state, course.calls
    vertices, found = [*course.vertices], [*course.found]
    discoveries: list[int] = []
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
        plan = yield winner
        assert plan is not None
        times, calls = state.explore(plan, calls, budget, rng)
        vertices.append(plan.targets[plan.started :])
        found.append(times)
    all_found = np.concatenate(found)
    within = int(np.searchsorted(all_found, budget, side="right"))
    return Trajectory(
        np.concatenate(vertices)[:within],
        all_found[:within],
        np.array(discoveries, dtype=np.int64),
        min(calls, budget),
    )


def _after_seeds(instance: SearchInstance, sop: StatisticOfProximity, budget: int) -> _Course:
    """Return a run that has explored the seeds' components; its state is its own."""

    def build() -> _Course:
        state = _State(instance, sop)
        plan = exploration(instance, instance.seeds, budget)
        # Nobody has been examined yet, so nothing is drawn.
        times, calls = state.explore(plan, 0, budget, np.random.default_rng(0))
        return _Course(state, calls, [plan.targets[plan.started :]], [times])

    n = instance.adjacency.shape[0]
    key = ("trajectories", sop, budget)
    course = shelf(instance, "states").get(key, build, lambda _: 8 * n)
    return replace(course, state=course.state.copy())


class _State:
    """What a run has found and examined.

    Protected vertices that are far, whose score has always been 0, are all alike: who of them was
    examined is drawn when one of them is looked at for the first time, until then it is a number.
    """

    def __init__(self, instance: SearchInstance, sop: StatisticOfProximity) -> None:
        self._labels = component_labels(instance)
        self._growing: Growing = growing(instance, sop)
        self._shared = False
        self._left = remaining(instance, ())
        self._far = ~targeted_mask(instance)
        self._number_far = int(self._far.sum())
        self._far_examined = 0
        #: Not known to be examined.
        self._open = self._far.copy()
        #: Protected vertices that have had another score.
        self._near = np.empty(0, dtype=np.int64)

    def copy(self) -> _State:
        """Return the same state, to be carried on by another run."""
        new = object.__new__(_State)
        vars(new).update(vars(self))
        new._shared = True
        new._far, new._open = self._far.copy(), self._open.copy()
        return new

    def explore(
        self, plan: Exploration, calls: int, budget: int, rng: np.random.Generator
    ) -> tuple[Ints, int]:
        """Follow a plan; return when its targets are found, and the calls made in the end.

        Where these are ``budget`` or more the run is over, and what it has learnt is not kept.
        """
        self._look_at(plan.protected, rng)
        times, calls, asked = explored(plan, self._open, calls)
        if calls < budget:
            self._open[asked] = False
            self._learn(sorted({*self._labels[plan.targets[: plan.started]].tolist()}), rng)
        return times, calls

    def _learn(self, labels: Sequence[int], rng: np.random.Generator) -> None:
        """Score everyone with these components found."""
        if self._shared:
            self._growing, self._shared = self._growing.copy(), False
        for label in labels:
            self._left = self._left[self._labels[self._left] != label]
            fresh = self._look_at(self._growing.add(label), rng)
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
            best = int(noisy.argmax())
            winner, value = int(self._left[best]), float(noisy[best])
        if value < floor:
            winner, value = -1, floor
        near, others = self._ahead(rule.noise, value, winner, rng)
        ahead = len(near) + others
        if ahead > limit:
            return -1, max(0, math.floor(limit) + 1)
        if ahead < most and winner >= 0:
            self._open[near] = False
            self._far_examined += others
        return winner, ahead

    def _ahead(
        self, noise: Noise, value: float, winner: int, rng: np.random.Generator
    ) -> tuple[Ints, int]:
        """Draw the unexamined protected vertices whose noisy score is above ``value``.

        Returns some of them, and how many of those far away there are besides.
        """
        if noise.scale == 0:
            everyone = np.flatnonzero(self._open)
            scores = self._growing.scores[everyone]
            first = everyone < winner if winner >= 0 else True
            return everyone[(scores > value) | ((scores == value) & first)], 0
        others = self._number_far - self._far_examined
        if value == -math.inf:
            return self._near[self._open[self._near]], others
        return self._near_ahead(noise, value, rng), int(
            rng.binomial(others, _survival_at(noise, value))
        )

    def _near_ahead(self, noise: Noise, value: float, rng: np.random.Generator) -> Ints:
        near, scores = self._near, self._growing.scores
        # None is above more often than the one with the largest score.
        top = _survival_at(noise, value - self._growing.largest)
        if (top * len(near)) ** 2 > len(near):
            self._near = near = near[self._open[near]]
            return near[scores[near] + _draw(noise, len(near), rng) > value]
        # Few can be: choose by that, then thin.
        near = near[_choose(int(rng.binomial(len(near), top)), len(near), rng)]
        near = near[self._open[near]]
        if not len(near):
            return near
        return near[top * rng.random(len(near)) < _survival(noise, value - scores[near])]


def _choose(many: int, of: int, rng: np.random.Generator) -> Ints:
    """Return so many distinct numbers below ``of``, uniformly, in any order."""
    if many * many < of:
        some = (rng.random(many) * of).astype(np.int64)
        # Given that they are distinct they are uniform; it is cheap to try.
        if len(set(some.tolist())) == many:
            return some
    return rng.permutation(of)[:many]


def _draw(noise: Noise, size: int, rng: np.random.Generator) -> Floats:
    if noise.scale == 0:
        return np.zeros(size)
    if isinstance(noise, Laplace):
        # As the difference of two exponentials, each of which costs a quarter of a logarithm.
        return noise.scale * (rng.standard_exponential(size) - rng.standard_exponential(size))
    if isinstance(noise, Gumbel):
        return rng.gumbel(0.0, noise.scale, size)
    return rng.exponential(noise.scale, size)


def _survival(noise: Noise, x: Floats) -> Floats:
    if isinstance(noise, Laplace):
        return survival(noise, x)
    return np.asarray(np.exp(noise.logsf(x)))


def _survival_at(noise: Noise, x: float) -> float:
    """Return :func:`_survival` of one number, without an array."""
    if not isinstance(noise, Laplace):
        return float(np.exp(noise.logsf(x)))
    tail = 0.5 * math.exp(-abs(x) / noise.scale)
    return tail if x > 0 else 1 - tail
