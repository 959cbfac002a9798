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
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.contracts import Law, LawUnavailable, StatisticOfProximity
from pdpaudit.network import SearchInstance

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

    def key(self) -> Hashable:
        """Return what the answer depends on."""
        arrays: list[npt.NDArray[Any]] = [self.sizes]
        for now in self.rounds:
            arrays += [now.levels, now.level_sizes, now.class_scores, now.explored]
        return tuple((array.shape, array.tobytes()) for array in arrays)


class _Network:
    """A network as the search sees it, scored when it is first needed."""

    def __init__(self, instance: SearchInstance, sop: StatisticOfProximity) -> None:
        self.instance, self.sop = instance, sop
        self.start = seed_components(instance)
        self._seen: dict[Key, tuple[Floats, npt.NDArray[np.bool_]]] = {}
        near = self._state(self.start)[1]
        self.protected = np.flatnonzero(~targeted_mask(instance) & ~near)

    def _state(self, found: Key) -> tuple[Floats, npt.NDArray[np.bool_]]:
        if found not in self._seen:
            members = component_members(self.instance)
            vertices = np.concatenate([members[label] for label in found])
            scores = score(self.sop, self.instance, vertices.tolist())
            self._seen[found] = scores, neighbourhood(self.instance, vertices)
        return self._seen[found]

    def found(self, components: Key) -> Key:
        """Return all components found once ``components`` are, besides the seeds'."""
        return tuple(sorted((*self.start, *components)))

    def targets(self, components: Key) -> tuple[Ints, Floats]:
        """Return the targets left, and their scores."""
        found = self.found(components)
        left = remaining(self.instance, found)
        return left, self._state(found)[0][left]

    def question(self, components: Key) -> _Question:
        """Put the question of the round after ``components`` were found in this order."""
        beginnings = [components[:number] for number in range(len(components) + 1)]
        states = [self._state(self.found(beginning)) for beginning in beginnings]
        columns = [scores[self.protected] for scores, _ in states]
        columns += [near[self.protected].astype(np.float64) for _, near in states]
        classes, sizes = np.unique(np.column_stack(columns), axis=0, return_counts=True)
        rounds = []
        for number, beginning in enumerate(beginnings):
            levels, counts = np.unique(self.targets(beginning)[1], return_counts=True)
            explored = classes[:, len(states) + number] > 0
            rounds.append(PathRound(levels, counts, classes[:, number].copy(), explored))
        return _Question(sizes, rounds)


def law_by_paths(
    instance: SearchInstance,
    sop: StatisticOfProximity,
    calibration: Calibration,
    rounds: int,
    *,
    tolerance: float = TOLERANCE,
    most_cost: float = MOST_COST,
) -> Law:
    """Return the law of statistic-first search and several rounds of SearchCom.

    Parameters
    ----------
    instance : SearchInstance
        The network.
    sop : StatisticOfProximity
        The statistic.
    calibration : Calibration
        The noises and the limit; with noise on the scores and on the limit.
    rounds : int
        Number of search rounds.
    tolerance : float
        Probability that may be left out: beginnings of lists, the least probable first, with all
        that goes on from them.
    most_cost : float
        What the law may cost, see :class:`.Spending`.

    Returns
    -------
    Law
        Lists are left out whole: the probability of one that is there is right to about 1e-9
        relatively, by two computations that must agree (of two rounds or fewer where they do not,
        to 1e-6 by :func:`.path_law`), and ``missing`` bounds that of all others together.

    Raises
    ------
    LawUnavailable
        If it costs more, there are too many lists, or a noise is missing.
    """
    if calibration.score_scale == 0 or calibration.limit_scale == 0:
        raise LawUnavailable(
            f"{rounds} search rounds need noise on the scores and on the limit: ask for 2 "
            "components, or sample (--samples)"
        )
    network, purse = _Network(instance, sop), Spending(most_cost)
    labels = component_labels(instance)
    answers: dict[Hashable, Floats] = {}
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
        questions = {components: network.question(components) for components in going}
        unknown = {question.key(): question for question in questions.values()}
        _afford(unknown.values(), purse, rounds if number == 0 else number + 1)
        for key, question in unknown.items():
            answers[key] = _answer(question, calibration, purse)
        longer: dict[Key, dict[tuple[int, ...], float]] = defaultdict(dict)
        lists = len(done)
        for components, paths in going.items():
            question = questions[components]
            answer = answers[question.key()]
            targets, scores = network.targets(components)
            last = np.searchsorted(question.rounds[-1].levels, scores)
            for path in paths:
                won = answer[_levels(network, components, path)]
                done[path] = float(won[-1])
                for target, mass in zip(targets.tolist(), won[last].tolist(), strict=True):
                    longer[(*components, int(labels[target]))][(*path, target)] = mass
            lists += len(paths) * (1 + len(targets))
            if lists > MOST_OUTPUTS:
                raise LawUnavailable(
                    f"more than {MOST_OUTPUTS} lists of targets: ask for fewer components, or "
                    "sample (--samples)"
                )
        going = longer
    for paths in going.values():
        done.update(paths)
    error = abs(1.0 - math.fsum(done.values()) - missing)
    if error > SUM_ERROR:
        raise LawUnavailable(f"the law is off by {error:.1e} in sum: sample (--samples)")
    outputs = outputs_of(instance, done)
    work = (most_cost - purse.left) / COST_PER_SECOND + SECONDS_EACH * len(answers)
    return Law(dict(zip(outputs, done.values(), strict=True)), missing + error, work)


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


def _answer(question: _Question, calibration: Calibration, purse: Spending) -> Floats:
    """Condense what is hidden between rounds; where that is not exact enough, add all terms."""
    noise, limit = Laplace(calibration.score_scale), calibration.limit
    limit_noise = Laplace(calibration.limit_scale)
    most = min(MOST_LONG, purse.left) if len(question.rounds) > 2 else purse.left
    own = Spending(most)
    try:
        return condensed_path_law(
            question.sizes,
            question.rounds,
            noise=noise,
            threshold=limit,
            threshold_noise=limit_noise,
            purse=own,
        )
    except LawUnavailable:
        if own.left < 0 or len(question.rounds) > 2:
            raise
    finally:
        purse.spend(min(most - own.left, purse.left))
    most = min(MOST_TERMS, purse.left)
    terms = Spending(most)
    answer = path_law(
        question.sizes,
        question.rounds,
        noise=noise,
        threshold=limit,
        threshold_noise=limit_noise,
        purse=terms,
    )
    purse.spend(most - terms.left)
    return answer


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
