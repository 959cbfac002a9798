"""PTarget as the paper's main text has it: no stopping rule, half the noise it needs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pdpaudit.core.composition import basic_composition
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
from ..laws.exact_round import ExactRound, Number, exact_first_target
from ..laws.networks import law_of_winners
from ..laws.noise import Laplace
from ..laws.one_round import first_target_law
from ..laws.worst_case import main_text_bound
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
    unexamined,
)

__all__ = ["PTargetMainText", "search_until_found"]

Floats = npt.NDArray[np.float64]


def search_until_found(
    instance: Instance,
    found: tuple[int, ...],
    sop: StatisticOfProximity,
    epsilon: float,
    max_degree: int,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """Query by decreasing f + Lap(Δ(f)/ε) until a target is met."""
    delta_f = declared_sensitivity(sop, max_degree)
    vertices = unexamined(instance)
    noise = rng.laplace(0.0, delta_f / epsilon, len(vertices))
    noisy_scores = score(sop, instance, found)[vertices] + noise
    return examine(instance.oracle, ranked(vertices, noisy_scores), np.inf)


@dataclass(frozen=True, kw_only=True)
class PTargetMainText:
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

    def __post_init__(self) -> None:
        """Check the arguments."""
        check_search(
            sop=self.sop,
            epsilon=self.epsilon,
            components=self.components,
            max_degree=self.max_degree,
        )

    @property
    def claim(self) -> PrivacyClaim:
        """The main text's theorem: (k-1)ε."""
        epsilon = basic_composition(self.epsilon, self.components - 1)
        return PrivacyClaim(epsilon, source="Theorem 1")

    @property
    def claims(self) -> tuple[PrivacyClaim, ...]:
        """All that the main text promises."""
        return (self.claim,)

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the targets found, in order, seeds first."""
        max_degree = degree_bound(self.max_degree, instance)

        def search(found: tuple[int, ...]) -> tuple[int, ...]:
            return search_until_found(instance, found, self.sop, self.epsilon, max_degree, rng)

        return targeting(instance, self.components, search)

    def sample(self, instance: SearchInstance, size: int, rng: np.random.Generator) -> Outputs:
        """Return ``size`` outputs, equal in law to as many runs; see :func:`.sample_winners`."""
        noise = self.distribution(instance)
        return sample_winners(instance, self.sop, noise, self.components - 1, size, rng)

    def trajectories(
        self, instance: SearchInstance, budget: int, rngs: Sequence[np.random.Generator]
    ) -> list[Trajectory]:
        """Return how runs go on; see :func:`.draw_trajectories`."""
        rule = Rule(self.distribution(instance))
        return draw_trajectories(instance, self.sop, rule, self.components - 1, budget, rngs)

    def round_loss(self, instance: SearchInstance) -> RoundLoss:
        """Return what a component found costs: ε as claimed, and twice that in truth.

        See :func:`.main_text_bound`. A statistic that declares no sensitivity gets no noise, and
        then nothing is lost.
        """
        if self.distribution(instance).scale == 0:
            return RoundLoss(self.epsilon, 0.0, "declared insensitive: no noise, and no loss")
        return RoundLoss(
            self.epsilon,
            main_text_bound(self.epsilon),
            "2ε a round by the exact law, and no less will do: to keep a winner its noise is "
            "raised by 2Δ",
        )

    def law(self, instance: SearchInstance) -> Law:
        """Return the exact output law; see :func:`.law_of_winners`."""
        noise = self.distribution(instance)
        return law_of_winners(instance, self.sop, noise, self.components - 1)

    def distribution(self, instance: Instance) -> Laplace:
        """Return what is added to every score on this network."""
        delta_f = declared_sensitivity(self.sop, degree_bound(self.max_degree, instance))
        return Laplace(delta_f / self.epsilon)

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
        """Return (k-1)·2ε; see :func:`.main_text_bound`. Rounds depend on earlier outputs alone."""
        rounds = self.components - 1
        return ProvedBound(
            rounds * main_text_bound(self.epsilon),
            f"{rounds} search round{'s' * (rounds != 1)} of 2ε each: to keep a winner its noise "
            "is raised by 2Δ",
        )

    def search_round(self, instance: SearchInstance) -> SearchRound:
        """Return the first search round, after statistic-first search from the seeds."""
        noise = self.distribution(instance)

        def law(scores: Floats, levels: Floats, counts: Floats) -> tuple[Floats, float]:
            found = first_target_law(scores, noise)
            return found.log_found, found.log_none

        return SearchRound(self.sop, *found_and_left(instance), True, law)

    def _enclose(
        self, instance: SearchInstance, outputs: frozenset[Hashable], *, again: bool
    ) -> tuple[Fraction, Fraction]:
        if self.components != 2:
            raise LawUnavailable("enclosures are worked out for one search round, 2 components")
        delta_f = declared_sensitivity(self.sop, degree_bound(self.max_degree, instance))
        if delta_f == 0:
            raise LawUnavailable("there is no noise on the scores, so nothing to integrate")
        scale = Fraction(delta_f) / Fraction(self.epsilon)

        def stated(targets: list[Number], _: list[tuple[Number, int]]) -> ExactRound:
            return exact_first_target(targets, scale)

        view = round_view(instance, self.sop, explored=True, hidden=False, again=again)
        return enclose_winners(view, stated, outputs, again=again)
