"""PTarget repaired: a noisy threshold on the score ends a round, not a number of queries."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from pdpaudit.core.composition import basic_composition, general_composition
from pdpaudit.core.errors import InputError
from pdpaudit.core.network import SearchInstance
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

from ..laws.enclosures import enclose_winners, found_and_left, round_view
from ..laws.exact_round import ExactRound, Number, exact_threshold_stop
from ..laws.networks import law_of_winners
from ..laws.noise import Exponential, Gumbel, Laplace, Noise
from ..laws.one_round import threshold_stop_law
from ..samplers.noisy_max import sample_winners
from ..samplers.trajectories import Rule, draw_trajectories
from .rounds import (
    check_search,
    declared_sensitivity,
    degree_bound,
    examine,
    ranked,
    score,
    targeting,
)

__all__ = ["NoiseName", "PTargetRepaired", "search_above_threshold"]

Floats = npt.NDArray[np.float64]

NoiseName = Literal["laplace", "gumbel", "exponential"]


def search_above_threshold(
    instance: Instance,
    found: tuple[int, ...],
    sop: StatisticOfProximity,
    epsilon: float,
    threshold: float,
    max_degree: int,
    rng: np.random.Generator,
    noise: NoiseName = "laplace",
) -> tuple[int, ...]:
    """Query by decreasing noisy score until a target is met, or the scores fall below τ̂.

    Every vertex not found yet takes part, also one known to be protected: then what a round does
    depends on earlier outputs alone. Both f̂ = f + noise and τ̂ = τ + noise have scale 2Δ(f)/ε.
    """
    n = instance.adjacency.shape[0]
    delta_f = declared_sensitivity(sop, max_degree)
    added = _DISTRIBUTIONS[noise](2 * delta_f / epsilon)
    noisy_threshold = threshold + added.draw(1, rng)[0]
    vertices = np.setdiff1d(np.arange(n), found)
    noisy_scores = score(sop, instance, found)[vertices] + added.draw(len(vertices), rng)
    above = noisy_scores >= noisy_threshold
    return examine(instance.oracle, ranked(vertices[above], noisy_scores[above]), np.inf)


_DISTRIBUTIONS: dict[NoiseName, type[Laplace | Gumbel | Exponential]] = {
    "laplace": Laplace,
    "gumbel": Gumbel,
    "exponential": Exponential,
}


@dataclass(frozen=True, kw_only=True)
class PTargetRepaired:
    """Private search for k targeted components that keeps its promise.

    As PTarget, with :func:`search_above_threshold` as the search for a new component: no impact
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

    def __post_init__(self) -> None:
        """Check the arguments."""
        check_search(
            sop=self.sop,
            epsilon=self.epsilon,
            components=self.components,
            max_degree=self.max_degree,
            delta=self.delta,
        )
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
        max_degree = degree_bound(self.max_degree, instance)

        def search(found: tuple[int, ...]) -> tuple[int, ...]:
            return search_above_threshold(
                instance,
                found,
                self.sop,
                self.epsilon,
                self.threshold,
                max_degree,
                rng,
                self.noise,
            )

        return targeting(instance, self.components, search)

    def sample(self, instance: SearchInstance, size: int, rng: np.random.Generator) -> Outputs:
        """Return ``size`` outputs, equal in law to as many runs; see :func:`.sample_winners`."""
        noise = self.distribution(instance)
        rounds = self.components - 1
        return sample_winners(instance, self.sop, noise, rounds, size, rng, self.threshold)

    def trajectories(
        self, instance: SearchInstance, budget: int, rngs: Sequence[np.random.Generator]
    ) -> list[Trajectory]:
        """Return how runs go on; see :func:`.draw_trajectories`."""
        rule = Rule(self.distribution(instance), threshold=self.threshold)
        return draw_trajectories(instance, self.sop, rule, self.components - 1, budget, rngs)

    def round_loss(self, instance: SearchInstance) -> RoundLoss:
        """Return what a component found costs: what is claimed, which is proved."""
        if self.distribution(instance).scale == 0:
            return RoundLoss(self.epsilon, 0.0, "declared insensitive: no noise, and no loss")
        return RoundLoss(self.epsilon, self.epsilon, "ε a round, proved: report noisy max")

    def law(self, instance: SearchInstance) -> Law:
        """Return the exact output law; see :func:`.law_of_winners`."""
        noise = self.distribution(instance)
        return law_of_winners(instance, self.sop, noise, self.components - 1, self.threshold)

    def distribution(self, instance: Instance) -> Noise:
        """Return what is added to every score, and to τ, on this network."""
        delta_f = declared_sensitivity(self.sop, degree_bound(self.max_degree, instance))
        return _DISTRIBUTIONS[self.noise](2 * delta_f / self.epsilon)

    def enclose(
        self, instance: SearchInstance, outputs: frozenset[Hashable]
    ) -> tuple[Fraction, Fraction]:
        """Enclose the probability of ``outputs`` in closed form."""
        return self._enclose(instance, outputs, again=False)

    def enclose_again(
        self, instance: SearchInstance, outputs: frozenset[Hashable]
    ) -> tuple[Fraction, Fraction]:
        """Enclose it from the definitions, by verified quadrature."""
        return self._enclose(instance, outputs, again=True)

    def proved_bound(self, instance: SearchInstance) -> ProvedBound:
        """Return the claim, which is proved."""
        return ProvedBound(self.claim.epsilon, self.claim.source)

    def search_round(self, instance: SearchInstance) -> SearchRound:
        """Return the first search round, after statistic-first search from the seeds."""
        noise, threshold = self.distribution(instance), self.threshold

        def law(scores: Floats, levels: Floats, counts: Floats) -> tuple[Floats, float]:
            found = threshold_stop_law(scores, threshold, noise)
            return found.log_found, found.log_none

        return SearchRound(self.sop, *found_and_left(instance), True, law)

    def _enclose(
        self, instance: SearchInstance, outputs: frozenset[Hashable], *, again: bool
    ) -> tuple[Fraction, Fraction]:
        if self.components != 2 or self.noise != "laplace":
            raise LawUnavailable("enclosures are worked out for one search round, Laplace noise")
        delta_f = declared_sensitivity(self.sop, degree_bound(self.max_degree, instance))
        if delta_f == 0:
            raise LawUnavailable("there is no noise on the scores, so nothing to integrate")
        scale = 2 * Fraction(delta_f) / Fraction(self.epsilon)

        def stated(targets: list[Number], _: list[tuple[Number, int]]) -> ExactRound:
            return exact_threshold_stop(targets, self.threshold, scale)

        view = round_view(instance, self.sop, explored=True, hidden=False, again=again)
        return enclose_winners(view, stated, outputs, again=again)
