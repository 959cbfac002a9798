"""PTarget as the Technical Appendix has it: statistic-first search and SearchCom in turn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from pdpaudit.core.composition import basic_composition, paper_composition
from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import (
    Instance,
    LargestLoss,
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
from ..laws.networks import law_of_searches
from ..laws.noise import Laplace
from ..laws.worst_case import search_com_bound
from ..samplers.search_com import sample_searches, state_after_sfs
from ..samplers.trajectories import Rule, draw_trajectories
from .rounds import check_search, targeting
from .search_com import SearchComRound, search_com

__all__ = ["PTarget"]


@dataclass(frozen=True, kw_only=True)
class PTarget:
    """Private search for k targeted components (Kearns et al., PTarget(G, S, f, k, N, ε)).

    Statistic-first search from the seeds, then up to k - 1 rounds of SearchCom, each followed by
    statistic-first search from the vertex found; ends at the first ∅. All share the oracle, so
    that what one of them has investigated is not investigated again. The output is the ordered
    tuple of the targets found, seeds first.

    Parameters
    ----------
    sop : StatisticOfProximity
        The statistic f.
    epsilon : float
        The privacy parameter ε of each search round, in nats.
    components : int
        Number of components wanted, k.
    stop : int, optional
        The stopping threshold N of each search round; half of the vertices if not given.
    max_degree : int, optional
        Public bound on the degrees; n - 1 if not given.
    delta : float
        Slack of the second claim.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from pdpaudit.algorithms.statistics import CN
    >>> [round(claim.epsilon, 3) for claim in PTarget(sop=CN(), components=101).claims]
    [100.0, 105.13]
    """

    sop: StatisticOfProximity
    epsilon: float = 1.0
    components: int = 2
    stop: int | None = None
    max_degree: int | None = None
    delta: float = 1e-6

    def __post_init__(self) -> None:
        """Check the arguments."""
        check_search(
            sop=self.sop,
            epsilon=self.epsilon,
            components=self.components,
            stop=self.stop,
            max_degree=self.max_degree,
            delta=self.delta,
        )

    @property
    def claim(self) -> PrivacyClaim:
        """The appendix's theorem: (k-1)ε."""
        epsilon = basic_composition(self.epsilon, self.components - 1)
        return PrivacyClaim(epsilon, source="Technical Appendix, theorem on PTarget, pure form")

    @property
    def claims(self) -> tuple[PrivacyClaim, ...]:
        """Both of the theorem's forms: (k-1)ε, and 2√(2(k-1)ln(1/δ))·ε with δ."""
        epsilon = paper_composition(self.epsilon, self.components - 1, self.delta)
        source = "Technical Appendix, theorem on PTarget, form with δ"
        return (self.claim, PrivacyClaim(epsilon, self.delta, source))

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the targets found, in order, seeds first."""
        one = SearchComRound.of(self, instance)
        return targeting(
            instance, self.components, lambda found: search_com(instance, found, one, rng)
        )

    def sample(self, instance: SearchInstance, size: int, rng: np.random.Generator) -> Outputs:
        """Return ``size`` outputs, equal in law to as many runs."""
        noises = SearchComRound.of(self, instance).noises
        return sample_searches(instance, self.sop, noises, self.components - 1, size, rng)

    def trajectories(
        self, instance: SearchInstance, budget: int, rngs: Sequence[np.random.Generator]
    ) -> list[Trajectory]:
        """Return how runs go on; see :func:`.draw_trajectories`."""
        noises = SearchComRound.of(self, instance).noises
        rule = Rule(Laplace(noises.score_scale), limit=noises.limit, limit_scale=noises.limit_scale)
        return draw_trajectories(instance, self.sop, rule, self.components - 1, budget, rngs)

    def round_loss(self, instance: SearchInstance) -> RoundLoss:
        """Return what a component found costs: ε as claimed, and what is proved of one round.

        It is the bound of :meth:`proved_bound` for the first round, which has most targets left.
        """
        if SearchComRound.of(self, instance).impact == 0:
            return RoundLoss(self.epsilon, 0.0, "declared to move for nobody: no loss")
        bound, words = self._bound_of_one_round(instance)
        return RoundLoss(
            self.epsilon,
            bound,
            f"at most, by the proof for one round, {words}; that rounds add up is not proved, as "
            "whom they examined stays hidden between them",
        )

    def law(self, instance: SearchInstance) -> Law:
        """Return the exact output law, of at most one search round."""
        noises = SearchComRound.of(self, instance).noises
        return law_of_searches(instance, self.sop, noises, self.components - 1)

    def beginning(self) -> PTarget | None:
        """Return the same search ended after its first round; None if it has no more.

        The targeted components are the same on both networks of a pair, so the list shows where
        the component found in the first round ends.
        """
        return replace(self, components=2) if self.components > 2 else None

    def enclose(
        self, instance: SearchInstance, outputs: frozenset[Hashable]
    ) -> tuple[Fraction, Fraction]:
        """Enclose the probability of ``outputs`` in closed form, of one search round."""
        return self._enclose(instance, outputs, again=False)

    def enclose_again(
        self, instance: SearchInstance, outputs: frozenset[Hashable]
    ) -> tuple[Fraction, Fraction]:
        """Enclose it from the definitions, by verified quadrature."""
        return self._enclose(instance, outputs, again=True)

    def _enclose(
        self, instance: SearchInstance, outputs: frozenset[Hashable], *, again: bool
    ) -> tuple[Fraction, Fraction]:
        if self.components != 2:
            raise LawUnavailable("enclosures are worked out for one search round, 2 components")
        view = round_view(instance, self.sop, explored=True, hidden=True, again=again)
        return enclose_winners(
            view, SearchComRound.of(self, instance).question, outputs, again=again
        )

    def proved_bound(self, instance: SearchInstance) -> ProvedBound | None:
        """Return what one search round keeps; None for more rounds, as I is hidden between them.

        As :func:`.search_com_bound`, but the rewired vertex may be examined by statistic-first
        search on one side only, so one protected vertex more than IC may count differently.
        """
        if self.components == 1:
            return ProvedBound(0.0, "statistic-first search alone")
        if self.components > 2 or SearchComRound.of(self, instance).impact == 0:
            return None
        return ProvedBound(*self._bound_of_one_round(instance))

    def _bound_of_one_round(self, instance: SearchInstance) -> tuple[float, str]:
        """Return what the first search round keeps, and why; the impact cardinality is not 0."""
        one = SearchComRound.of(self, instance)
        movable = one.movable(state_after_sfs(instance, self.sop))
        return (
            search_com_bound(self.epsilon, movable, one.impact, extra=1),
            f"{movable} remaining targets that one protected vertex may move, impact cardinality "
            f"{one.impact}: max(ε/2 + (IC + 1)/IC·ε/2, m'ε/4 + (IC + 1 - m')/IC·ε/2)",
        )

    def largest_loss(self, instance: SearchInstance) -> LargestLoss | None:
        """Search all scores a search round here may meet; None for more rounds than one."""
        if self.components != 2:
            return None
        state = state_after_sfs(instance, self.sop)
        return SearchComRound.of(self, instance).largest_loss(state, extra=1)

    def search_round(self, instance: SearchInstance) -> SearchRound:
        """Return the first search round, after statistic-first search from the seeds."""
        law = SearchComRound.of(self, instance).law_of_scores()
        return SearchRound(self.sop, *found_and_left(instance), True, law)
