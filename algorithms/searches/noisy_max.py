"""PTarget by a noisy maximum: as the main text has it, and repaired by a noisy threshold.

What a round does depends on earlier outputs alone. The main text has no stopping rule, and half
the noise it needs; repaired, a noisy threshold on the score ends a round, not a number of queries.
Recommended, without statistic-first search, asks whom a private recommendation names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

from pdpaudit.core.errors import InputError
from pdpaudit.core.network import SearchInstance
from pdpaudit.core.privacy_loss import basic_composition, general_composition
from pdpaudit.core.protocols import (
    Instance,
    Law,
    LawUnavailable,
    Outputs,
    PrivacyClaim,
    ProvedBound,
    RoundLoss,
    SearchRound,
    StatisticOfProximity,
    Trajectory,
)

from ..laws.networks import ExactRound, Number, found_and_left, law_of_winners
from ..laws.noise import Exponential, Gumbel, Laplace, Noise, Rule
from ..laws.one_round import first_target_law
from ..laws.worst_case import main_text_bound
from ..samplers.partition import component_labels, targeted_mask
from ..samplers.search_com import sample_winners
from ..samplers.trajectories import Traced
from .rounds import (
    check_search,
    declared_sensitivity,
    degree_bound,
    examine,
    ranked,
    score,
    targeting,
    unexamined,
)
from .search_com import Search

Floats = npt.NDArray[np.float64]

NoiseName = Literal["laplace", "gumbel", "exponential"]

_DISTRIBUTIONS: dict[NoiseName, type[Laplace | Gumbel | Exponential]] = {
    "laplace": Laplace,
    "gumbel": Gumbel,
    "exponential": Exponential,
}


class _NoisyMax(Traced, Search):
    """A search whose rounds take the target of the largest noisy score."""

    max_degree: int | None
    threshold: float | None = None
    noise: NoiseName = "laplace"
    hidden = False
    #: Scale of the noise, in units of Δ(f)/ε; what a component found costs in truth, in ε; and why.
    factor: ClassVar[int]
    cost: ClassVar[int]
    why: ClassVar[str]

    def sensitivity(self, instance: Instance) -> float:
        """Return the Δ(f) declared on this network."""
        return declared_sensitivity(self.sop, degree_bound(self.max_degree, instance))

    def distribution(self, instance: Instance) -> Noise:
        """Return what is added to every score on this network, and to τ."""
        scale = self.factor * self.sensitivity(instance) / self.epsilon
        return _DISTRIBUTIONS[self.noise](scale)

    def sample(self, instance: SearchInstance, size: int, rng: np.random.Generator) -> Outputs:
        """Return ``size`` outputs, equal in law to as many runs; see :func:`.sample_winners`."""
        noise, rounds = self.distribution(instance), self.components - 1
        return sample_winners(instance, self.sop, noise, rounds, size, rng, self.threshold)

    def rule(self, instance: SearchInstance) -> Rule:
        """Return how a round ranks, and when it gives up."""
        return Rule(self.distribution(instance), self.threshold)

    def law(self, instance: SearchInstance) -> Law:
        """Return the exact output law; see :func:`.law_of_winners`."""
        noise = self.distribution(instance)
        return law_of_winners(instance, self.sop, noise, self.components - 1, self.threshold)

    def round_loss(self, instance: SearchInstance) -> RoundLoss:
        """Return what a component found costs, as claimed and in truth.

        A statistic that declares no sensitivity gets no noise, and then nothing is lost.
        """
        if self.sensitivity(instance) == 0:
            return RoundLoss(self.epsilon, 0.0, "declared insensitive: no noise, and no loss")
        return RoundLoss(self.epsilon, self.cost * self.epsilon, self.why)

    def search_round(self, instance: SearchInstance) -> SearchRound:
        """Return the first search round, after statistic-first search from the seeds."""
        noise, threshold = self.distribution(instance), self.threshold

        def law(scores: Floats, levels: Floats, counts: Floats) -> tuple[Floats, float]:
            found = first_target_law(scores, noise, stop_score=threshold)
            return found.log_found, found.log_none

        return SearchRound(self.sop, *found_and_left(instance), True, law)

    def question(
        self, instance: SearchInstance, targets: list[Number], protected: list[tuple[Number, int]]
    ) -> ExactRound:
        """State a round in exact numbers."""
        if self.noise != "laplace":
            raise LawUnavailable("enclosures are worked out for Laplace noise")
        scale = self.factor * Fraction(self.sensitivity(instance)) / Fraction(self.epsilon)
        return ExactRound.of(targets, scale, stop_score=self.threshold)


@dataclass(frozen=True, kw_only=True)
class PTargetMainText(_NoisyMax):
    """Private search for k targeted components (Kearns et al., section 3, PTarget(k, f, ε)).

    Parameters
    ----------
    sop : StatisticOfProximity
        The statistic f.
    epsilon : float
        The privacy parameter ε of each search round, in nats.
    components : int
        Number of components wanted, k.
    max_degree : int, optional
        Public bound on the degrees; n - 1 if not given.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from pdpaudit.algorithms.statistics import CN
    >>> PTargetMainText(sop=CN(), epsilon=0.5, components=3).claim
    PrivacyClaim(epsilon=1.0, delta=0.0, source='Theorem 1')
    """

    sop: StatisticOfProximity
    epsilon: float = 1.0
    components: int = 2
    max_degree: int | None = None

    factor, cost = 1, 2  # see :func:`.main_text_bound`
    why = (
        "2ε a round by the exact law, and no less will do: to keep a winner its noise is raised "
        "by 2Δ"
    )

    @property
    def claim(self) -> PrivacyClaim:
        """The main text's theorem: (k-1)ε."""
        epsilon = basic_composition(self.epsilon, self.components - 1)
        return PrivacyClaim(epsilon, source="Theorem 1")

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the targets found, in order, seeds first."""
        noise = self.distribution(instance)

        def search(found: tuple[int, ...]) -> tuple[int, ...]:
            """Query by decreasing f + Lap(Δ(f)/ε) until a target is met."""
            vertices = unexamined(instance)
            noisy = score(self.sop, instance, found)[vertices] + noise.draw(len(vertices), rng)
            return examine(instance.oracle, ranked(vertices, noisy), np.inf)

        return targeting(instance, self.components, search)

    def proved_bound(self, instance: SearchInstance) -> ProvedBound:
        """Return (k-1)·2ε; see :func:`.main_text_bound`. Rounds depend on earlier outputs alone."""
        rounds = self.components - 1
        return ProvedBound(
            rounds * main_text_bound(self.epsilon),
            f"{rounds} search round{'s' * (rounds != 1)} of 2ε each: to keep a winner its noise "
            "is raised by 2Δ",
        )


@dataclass(frozen=True, kw_only=True)
class PTargetRepaired(_NoisyMax):
    """Private search for k targeted components that keeps its promise.

    As PTarget, but a round ends where the noisy scores fall below a noisy threshold: no impact
    cardinality, half the noise, and (k-1)ε by composition, because what a round does depends on
    earlier outputs alone. The number of oracle calls is not part of the promise and not bounded.

    Parameters
    ----------
    sop : StatisticOfProximity
        The statistic f.
    epsilon : float
        The privacy parameter ε of each search round, in nats.
    components : int
        Number of components wanted, k.
    threshold : float
        The public threshold τ a vertex's statistic is compared with. At 0 a search by a count of
        common neighbours or paths competes with one vertex that shares nothing.
    max_degree : int, optional
        Public bound on the degrees; n - 1 if not given.
    delta : float
        Slack of the second claim.
    noise : {"laplace", "gumbel", "exponential"}
        Distribution of the noise.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from pdpaudit.algorithms.statistics import CN
    >>> PTargetRepaired(sop=CN(), epsilon=0.5, components=3).claim.epsilon
    1.0
    """

    sop: StatisticOfProximity
    epsilon: float = 1.0
    components: int = 2
    threshold: float = 0.0
    max_degree: int | None = None
    delta: float = 1e-6
    noise: NoiseName = "laplace"

    factor, cost = 2, 1
    why = "ε a round, proved: report noisy max"

    def __post_init__(self) -> None:
        """Check the arguments."""
        super().__post_init__()
        if not math.isfinite(self.threshold):
            raise InputError(f"threshold = {self.threshold}: must be a finite number")
        if self.noise not in get_args(NoiseName):
            names = ", ".join(get_args(NoiseName))
            raise InputError(f"noise = {self.noise!r}: must be one of {names}")

    @property
    def claim(self) -> PrivacyClaim:
        """(k-1)ε, by Report Noisy Max and composition."""
        epsilon = basic_composition(self.epsilon, self.components - 1)
        return PrivacyClaim(epsilon, source="report noisy max with a threshold, composed")

    @property
    def claims(self) -> tuple[PrivacyClaim, ...]:
        """The pure form, and the general form of advanced composition."""
        epsilon = general_composition(self.epsilon, self.components - 1, self.delta)
        source = "report noisy max with a threshold, advanced composition, general form"
        return (self.claim, PrivacyClaim(epsilon, self.delta, source))

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the targets found, in order, seeds first."""
        noise = self.distribution(instance)

        def search(found: tuple[int, ...]) -> tuple[int, ...]:
            """Query by decreasing noisy score until a target is met, or the scores fall below τ̂.

            Every vertex not found yet takes part, also one known to be protected: then what a
            round does depends on earlier outputs alone.
            """
            floor = self.threshold + noise.draw(1, rng)[0]
            vertices = np.setdiff1d(np.arange(instance.adjacency.shape[0]), found)
            scores = score(self.sop, instance, found)[vertices] + noise.draw(len(vertices), rng)
            above = scores >= floor
            return examine(instance.oracle, ranked(vertices[above], scores[above]), np.inf)

        return targeting(instance, self.components, search)

    def proved_bound(self, instance: SearchInstance) -> ProvedBound:
        """Return the claim, which is proved."""
        return ProvedBound(self.claim.epsilon, self.claim.source)


# Recommended


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
            before, chances = chances, {}
            for found, chance in before.items():
                left = sorted(every - set(found))
                logs = log_softmax(score(self.sop, instance, found)[left] / noise.scale)
                for target, log in zip(left, logs.tolist(), strict=True):
                    chances[*found, target] = chance * math.exp(log)
        return Law(dict(chances.items()))

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
        # A component is met with the first of its targets.
        first = np.unique(component_labels(instance)[found], return_index=True)[1]
        first -= len(instance.seeds)
        vertices = np.array(found[len(instance.seeds) :], dtype=np.int64)
        at = np.array(times, dtype=np.int64)
        return Trajectory(vertices, at, at[np.sort(first[first >= 0])], min(calls, budget))
