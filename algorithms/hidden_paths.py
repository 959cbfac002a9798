"""The exact law of the appendix search over several rounds, path by path, improbable ones left out.

What is found fixes whom each round has to choose among; the noisy scores at which the winners won
are integrated over. So the cost does not grow with the joint counts of unexamined vertices, but
with a power of the rounds, and with the sets of components that are likely to be found.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import Law, LawUnavailable, StatisticOfProximity

from .hidden import Calibration
from .laws.condensed_rounds import condensed_path_law, least_cost
from .laws.hidden_rounds import COST_PER_SECOND, PathRound, Spending, path_law
from .laws.noise import Laplace
from .outputs import outputs_of
from .searching import score
from .simulation import (
    component_labels,
    component_members,
    neighbourhood,
    remaining,
    seed_components,
    targeted_mask,
)

__all__ = ["TOLERANCE", "law_by_paths"]

#: Probability that may be left out altogether.
TOLERANCE = 1e-6

#: What a law may cost, see :class:`.Spending`: a minute or two.
MOST_COST = 9e8

#: What one question of three rounds or more may cost: some ten seconds. Whatever costs more does
#: so for every list, and is refused before the first of them has been paid for.
MOST_LONG = 1e8

#: What a question may cost that can only be answered term by term: some ten seconds.
MOST_TERMS = 4e7

#: Seconds a question takes, about, however little it costs.
SECONDS_EACH = 0.1

#: Lists of targets beyond which a law is not written out.
MOST_OUTPUTS = 200_000

#: Answers kept: the two networks of a pair, and pairs of the same network, ask much the same.
ANSWERS_KEPT = 4_096

#: Relative errors of a probability, condensed and term by term.
CONDENSED_ERROR, TERMS_ERROR = 1e-9, 1e-6

#: The error of a sum that is an error of nothing else.
SUM_ERROR = 1e-8

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Key = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Question:
    """What has to be integrated for all lists that find the same components in the same order."""

    sizes: Ints
    rounds: list[PathRound]

    @cached_property
    def key(self) -> Hashable:
        """What the answer depends on."""
        arrays: list[npt.NDArray[Any]] = [self.sizes]
        for now in self.rounds:
            arrays += [now.levels, now.level_sizes, now.class_scores, now.explored]
        return tuple((array.shape, array.tobytes()) for array in arrays)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Question) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True, eq=False)
class _Answer:
    """The law of a question's last round, jointly with the winners before; and what it cost."""

    chances: Floats
    error: float
    cost: float


@dataclass(frozen=True, eq=False)
class _State:
    """What a round sees: scores of all; of the protected those examined, and numbers of equals."""

    scores: Floats
    near: npt.NDArray[np.bool_]
    alike: Ints
    targets: Ints


class _Network:
    """A network as the search sees it, scored when it is first needed."""

    def __init__(self, instance: SearchInstance, sop: StatisticOfProximity) -> None:
        self.instance, self.sop = instance, sop
        self.start = seed_components(instance)
        self._seen: dict[Key, _State] = {}
        near = neighbourhood(instance, self._vertices(self.start))
        self.protected = np.flatnonzero(~targeted_mask(instance) & ~near)

    def _vertices(self, found: Key) -> Ints:
        members = component_members(self.instance)
        return np.concatenate([members[label] for label in found])

    def _state(self, found: Key) -> _State:
        if found not in self._seen:
            vertices = self._vertices(found)
            scores = score(self.sop, self.instance, vertices.tolist())
            near = neighbourhood(self.instance, vertices)[self.protected]
            _, rank = np.unique(scores[self.protected], return_inverse=True)
            targets = remaining(self.instance, found)
            self._seen[found] = _State(scores, near, 2 * rank.ravel() + near, targets)
        return self._seen[found]

    def found(self, components: Key) -> Key:
        """Return all components found once ``components`` are, besides the seeds'."""
        return tuple(sorted((*self.start, *components)))

    def targets(self, components: Key) -> tuple[Ints, Floats]:
        """Return the targets left, and their scores."""
        state = self._state(self.found(components))
        return state.targets, state.scores[state.targets]

    def question(self, components: Key) -> _Question:
        """Put the question of the round after ``components`` were found in this order."""
        beginnings = [components[:number] for number in range(len(components) + 1)]
        states = [self._state(self.found(beginning)) for beginning in beginnings]
        classes, first = np.zeros_like(self.protected), np.zeros(1, dtype=np.int64)
        for state in states:
            # Numbered anew each time, so that the numbers stay small.
            numbers = classes * (2 * len(classes) + 2) + state.alike
            _, first, classes = np.unique(numbers, return_index=True, return_inverse=True)
        rounds = []
        for state in states:
            levels, counts = np.unique(state.scores[state.targets], return_counts=True)
            scores = state.scores[self.protected[first]]
            rounds.append(PathRound(levels, counts, scores, state.near[first]))
        return _Question(np.bincount(classes), rounds)


def law_by_paths(
    instance: SearchInstance,
    sop: StatisticOfProximity,
    calibration: Calibration,
    rounds: int,
    *,
    tolerance: float = TOLERANCE,
    most_cost: float = MOST_COST,
) -> Law:
    """Return the law of statistic-first search and several rounds of SearchCom."""
    if calibration.score_scale == 0 or calibration.limit_scale == 0:
        raise LawUnavailable(
            f"{rounds} search rounds need noise on the scores and on the limit: ask for 2 "
            "components, or sample (--samples)"
        )
    network, purse = _Network(instance, sop), Spending(most_cost)
    labels = component_labels(instance)
    answers: dict[_Question, _Answer] = {}
    done: dict[tuple[int, ...], float] = {}
    missing = 0.0
    # For the components found, in order, the lists of targets that find them.
    going: dict[Key, dict[tuple[int, ...], float]] = {(): {(): 1.0}}
    for number in range(rounds):
        allowed = tolerance * number / max(rounds - 1, 1)
        going, left_out = _pruned(going, allowed - missing)
        missing += left_out
        for components in [key for key in going if not len(network.targets(key)[0])]:
            done.update(going.pop(components))
        lists = len(done) + sum(
            len(paths) * (1 + len(network.targets(components)[0]))
            for components, paths in going.items()
        )
        if lists > MOST_OUTPUTS:
            raise LawUnavailable(
                f"more than {MOST_OUTPUTS} lists of targets: ask for fewer components, or "
                "sample (--samples)"
            )
        questions = {components: network.question(components) for components in going}
        unknown = dict.fromkeys(questions.values())
        _afford(unknown, purse, rounds if number == 0 else number + 1)
        for question in unknown:
            answers[question] = _answer(question, calibration, most_cost)
            # As much as if it had not been asked before, so that a law's work is always the same.
            purse.spend(answers[question].cost)
        longer: dict[Key, dict[tuple[int, ...], float]] = defaultdict(dict)
        for components, paths in going.items():
            question = questions[components]
            chances = answers[question].chances
            targets, scores = network.targets(components)
            last = np.searchsorted(question.rounds[-1].levels, scores)
            for path in paths:
                won = chances[_levels(network, components, path)]
                done[path] = float(won[-1])
                for target, mass in zip(targets.tolist(), won[last].tolist(), strict=True):
                    longer[(*components, int(labels[target]))][(*path, target)] = mass
        going = longer
    for paths in going.values():
        done.update(paths)
    error = abs(1.0 - math.fsum(done.values()) - missing)
    if error > SUM_ERROR:
        raise LawUnavailable(f"the law is off by {error:.1e} in sum: sample (--samples)")
    outputs = outputs_of(instance, done)
    work = (most_cost - purse.left) / COST_PER_SECOND + SECONDS_EACH * len(answers)
    return Law(
        dict(zip(outputs, done.values(), strict=True)),
        missing=missing + error,
        error=max((answer.error for answer in answers.values()), default=0.0),
        work=work,
    )


def _pruned(
    going: dict[Key, dict[tuple[int, ...], float]], allowed: float
) -> tuple[dict[Key, dict[tuple[int, ...], float]], float]:
    """Leave out the least probable components, of no more probability than is allowed."""
    order = sorted(
        going, key=lambda components: (math.fsum(going[components].values()), components)
    )
    left_out = 0.0
    for position, components in enumerate(order):
        mass = math.fsum(going[components].values())
        if left_out + mass > allowed:
            return {key: going[key] for key in sorted(order[position:])}, left_out
        left_out += mass
    return {}, left_out


@lru_cache(maxsize=ANSWERS_KEPT)
def _answer(question: _Question, calibration: Calibration, most_cost: float) -> _Answer:
    """Condense what is hidden between rounds; where that is not exact enough, add all terms."""
    stated: dict[str, Any] = {
        "noise": Laplace(calibration.score_scale),
        "threshold": calibration.limit,
        "threshold_noise": Laplace(calibration.limit_scale),
    }
    long = len(question.rounds) > 2
    most = min(MOST_LONG, most_cost) if long else most_cost
    purse = Spending(most)
    try:
        chances = condensed_path_law(question.sizes, question.rounds, **stated, purse=purse)
        return _Answer(chances, CONDENSED_ERROR, most - purse.left)
    except LawUnavailable:
        if purse.left < 0 or long:
            raise
    begun = min(MOST_TERMS, purse.left)
    terms = Spending(begun)
    chances = path_law(question.sizes, question.rounds, **stated, purse=terms)
    return _Answer(chances, TERMS_ERROR, most - purse.left + begun - terms.left)


def _afford(questions: Iterable[_Question], purse: Spending, rounds: int) -> None:
    """Raise at once if not even the least that the questions may cost is left."""
    least = sum(least_cost(question.sizes.size, rounds) for question in questions)
    if least > purse.left:
        purse.spend(least)


def _levels(network: _Network, components: Key, path: tuple[int, ...]) -> tuple[int, ...]:
    """Return the level of each target found among those that were left."""
    levels = []
    for number, target in enumerate(path):
        targets, scores = network.targets(components[:number])
        own = scores[np.searchsorted(targets, target)]
        levels.append(int(np.searchsorted(np.unique(scores), own)))
    return tuple(levels)
