"""A search that asks whom a private recommendation names, without statistic-first search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

from pdpaudit.core.composition import basic_composition
from pdpaudit.core.errors import InputError
from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import (
    Instance,
    Law,
    LawUnavailable,
    PrivacyClaim,
    ProvedBound,
    RoundLoss,
    StatisticOfProximity,
    Trajectory,
)

from ..laws.noise import Gumbel
from ..samplers.partition import component_labels, targeted_mask
from .rounds import (
    check_search,
    declared_sensitivity,
    degree_bound,
    examine,
    ranked,
    score,
    unexamined,
)

#: Most outputs of a law that is written out.
MOST = 100_000

WORDS = "each target found is one draw of the exponential mechanism among those left"


@dataclass(frozen=True, kw_only=True)
class Recommended:
    """Ask, one after another, whom the exponential mechanism recommends by a statistic.

    Whoever was asked is a candidate no more, so between two targets that are found the order is
    that of scores with Gumbel noise of scale 2Δ/ε, and the next target found is one draw of the
    exponential mechanism among the targets left: ε for each, whoever is asked in between. PTarget
    follows ties between targets at no cost, and pays for a component what this search pays for
    each of its members; in exchange this one hides ties between targets too.

    The exponential mechanism is that of Machanavajjhala, Korolova and Das Sarma 2011 for social
    recommendations; the factor 2 is due as a rewired person moves utilities both ways.

    Parameters
    ----------
    sop : StatisticOfProximity
        The statistic f that recommends, of the targets found so far.
    epsilon : float
        The privacy parameter ε of each target found, in nats.
    targets : int
        Number of targets wanted, beside the seeds.
    max_degree : int, optional
        Public bound on the degrees; n - 1 if not given.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from pdpaudit.algorithms.statistics import CN
    >>> Recommended(sop=CN(), epsilon=0.1, targets=20).claim.epsilon
    2.0
    """

    sop: StatisticOfProximity
    epsilon: float = 1.0
    targets: int = 1
    max_degree: int | None = None

    def __post_init__(self) -> None:
        """Check the arguments."""
        check_search(sop=self.sop, epsilon=self.epsilon, max_degree=self.max_degree)
        if self.targets < 1:
            raise InputError(f"targets = {self.targets}: must be a whole number, at least 1")

    @property
    def claim(self) -> PrivacyClaim:
        """The promise: ε for each target."""
        epsilon = basic_composition(self.epsilon, self.targets)
        return PrivacyClaim(epsilon, source="exponential mechanism, composed over targets found")

    def noise(self, instance: Instance) -> Gumbel:
        """Return what is added to the scores."""
        bound = degree_bound(self.max_degree, instance)
        return Gumbel(2 * declared_sensitivity(self.sop, bound) / self.epsilon)

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the targets found, in order, seeds first."""
        found, noise = instance.seeds, self.noise(instance)
        for _ in range(self.targets):
            left = unexamined(instance)
            noisy = score(self.sop, instance, found)[left] + noise.draw(len(left), rng)
            new = examine(instance.oracle, ranked(left, noisy), math.inf)
            if not new:
                break
            found += new
        return found

    def law(self, instance: SearchInstance) -> Law:
        """Return the exact law; O(outputs), which are the ordered choices of targets."""
        noise = self.noise(instance)
        every = set(np.flatnonzero(targeted_mask(instance)).tolist()) - set(instance.seeds)
        if noise.scale == 0:
            raise LawUnavailable("without noise there is one output, which a run shows")
        if math.perm(len(every), min(self.targets, len(every))) > MOST:
            raise LawUnavailable(f"a law of more than {MOST:,} outputs is not written out")
        chances = {instance.seeds: 1.0}
        for _ in range(min(self.targets, len(every))):
            chances = {
                (*found, target): chance * math.exp(log)
                for found, chance in chances.items()
                for target, log in self._next(instance, found, every, noise.scale)
            }
        return Law(dict(chances.items()))

    def _next(
        self, instance: SearchInstance, found: tuple[int, ...], every: set[int], scale: float
    ) -> list[tuple[int, float]]:
        """Return the targets left, each with the logarithm of its probability to come next."""
        left = sorted(every - set(found))
        logs = log_softmax(score(self.sop, instance, found)[left] / scale)
        return list(zip(left, logs.tolist(), strict=True))

    def beginning(self) -> Recommended | None:
        """Return the same search ended after its first target; None if it wants no more."""
        return replace(self, targets=1) if self.targets > 1 else None

    def proved_bound(self, instance: SearchInstance) -> ProvedBound:
        """Return what it keeps: what a draw does depends on the targets found alone."""
        return ProvedBound(self.claim.epsilon, WORDS)

    def round_loss(self, instance: SearchInstance) -> RoundLoss:
        """Return what a target found costs."""
        return RoundLoss(self.epsilon, self.epsilon, WORDS, per_target=True)

    def trajectories(
        self, instance: SearchInstance, budget: int, rngs: Sequence[np.random.Generator]
    ) -> list[Trajectory]:
        """Return how runs go on; O((n + m) · targets found) each."""
        return [self._traced(instance, budget, rng) for rng in rngs]

    def _traced(
        self, instance: SearchInstance, budget: int, rng: np.random.Generator
    ) -> Trajectory:
        noise, targeted = self.noise(instance), targeted_mask(instance)
        unasked = np.ones(len(targeted), dtype=np.bool_)
        unasked[list(instance.seeds)] = False
        found, times, calls = list(instance.seeds), list[int](), 0
        while calls < budget and len(times) < self.targets and unasked.any():
            left = np.flatnonzero(unasked)
            noisy = score(self.sop, instance, tuple(found))[left] + noise.draw(len(left), rng)
            order = ranked(left, noisy)
            hits = np.flatnonzero(targeted[order])
            asked = order[: hits[0] + 1 if len(hits) else None]
            unasked[asked] = False
            calls += len(asked)
            if len(hits) and calls <= budget:
                found.append(int(asked[-1]))
                times.append(calls)
        return _trajectory(instance, found, times, min(calls, budget))


def _trajectory(
    instance: SearchInstance, found: list[int], times: list[int], calls: int
) -> Trajectory:
    """Return a run as a curve; a component is met with the first of its targets."""
    labels: npt.NDArray[np.int64] = component_labels(instance)[found]
    first = np.unique(labels, return_index=True)[1] - len(instance.seeds)
    vertices = np.array(found[len(instance.seeds) :], dtype=np.int64)
    at = np.array(times, dtype=np.int64)
    return Trajectory(vertices, at, at[np.sort(first[first >= 0])], calls)
