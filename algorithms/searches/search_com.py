"""SearchCom: a private search for one vertex of a new targeted component."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import (
    Instance,
    LargestLoss,
    Law,
    Outputs,
    PrivacyClaim,
    ProvedBound,
    SearchRound,
    StatisticOfProximity,
)

from ..laws.enclosures import enclose_winners, round_view
from ..laws.exact_round import ExactRound, Number, exact_search_com
from ..laws.nearby import NearbyLaws
from ..laws.networks import law_of_search
from ..laws.noise import Laplace
from ..laws.one_round import RoundScores
from ..laws.worst_case import search_com_bound, search_com_worst_case
from ..samplers.search_com import Calibration, State, sample_search, state_at_seeds
from .rounds import (
    check_search,
    declared,
    degree_bound,
    examine,
    query_limit,
    ranked,
    score,
    unexamined,
)

__all__ = ["SearchCom", "SearchComRound", "search_com"]

Floats = npt.NDArray[np.float64]
RoundLawOfScores = Callable[[Floats, Floats, Floats], tuple[Floats, float]]


def search_com(
    instance: Instance,
    found: tuple[int, ...],
    one: SearchComRound,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """Search for a new targeted component (Kearns et al., SearchCom(G, T̃, I, f, ε, K)).

    The investigated vertices I are those the oracle has answered about already; this search's
    own queries join them.
    """
    noises = one.noises
    noisy_stop = noises.draw_limits(1, rng)[0]
    vertices = unexamined(instance)
    noise = rng.laplace(0.0, noises.score_scale, len(vertices))
    noisy_scores = score(one.sop, instance, found)[vertices] + noise
    return examine(instance.oracle, ranked(vertices, noisy_scores), noisy_stop)


class _Parameters(Protocol):
    @property
    def sop(self) -> StatisticOfProximity: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def stop(self) -> int | None: ...
    @property
    def max_degree(self) -> int | None: ...


@dataclass(frozen=True)
class SearchComRound:
    """A round of SearchCom with its parameters as they are on one network."""

    sop: StatisticOfProximity
    epsilon: float
    stop: int
    max_degree: int

    @classmethod
    def of(cls, search: _Parameters, instance: Instance) -> SearchComRound:
        """Return the round of a search on a network."""
        stop = query_limit(search.stop, instance.adjacency.shape[0])
        return cls(search.sop, search.epsilon, stop, degree_bound(search.max_degree, instance))

    @property
    def impact(self) -> int:
        """The declared impact cardinality."""
        return declared(self.sop, self.max_degree)[1]

    @property
    def noises(self) -> Calibration:
        """The noises and the limit."""
        delta_f, ic_f = declared(self.sop, self.max_degree)
        return Calibration(4 * delta_f / self.epsilon, self.stop, 2 * ic_f / self.epsilon)

    def question(self, targets: list[Number], protected: list[tuple[Number, int]]) -> ExactRound:
        """State the round in exact numbers."""
        delta_f, ic_f = declared(self.sop, self.max_degree)
        return exact_search_com(
            targets,
            protected,
            epsilon=self.epsilon,
            sensitivity=delta_f,
            impact_cardinality=ic_f,
            threshold=self.stop,
        )

    def law_of_scores(self) -> RoundLawOfScores:
        """Return the round's law as a function of scores; like scores share work."""
        noises = self.noises
        laws = NearbyLaws(Laplace(noises.score_scale), noises.limit, Laplace(noises.limit_scale))

        def law(targets: Floats, levels: Floats, counts: Floats) -> tuple[Floats, float]:
            found = laws(RoundScores.from_levels(targets, levels, counts))
            return found.log_found, found.log_none

        return law

    def movable(self, state: State) -> int:
        """Return how many remaining targets one protected vertex may move."""
        return min(len(state.targets.members), self.impact)

    def largest_loss(self, state: State, *, extra: int = 0) -> LargestLoss | None:
        """Return the largest loss found over all scores of a round of this size."""
        delta_f, impact = declared(self.sop, self.max_degree)
        if delta_f == 0 or self.movable(state) == 0:
            return None
        protected = int(state.classes.sizes.sum())
        worst = _worst_case(
            self.epsilon, self.movable(state), impact, protected, float(self.stop), extra=extra
        )
        event = "nobody is found" if worst.event == "empty" else "a target is found"
        return LargestLoss(
            worst.loss,
            f"by a numerical search over the scores that Δ and IC allow, where {event}",
        )


_worst_case = cache(search_com_worst_case)


@dataclass(frozen=True, kw_only=True)
class SearchCom:
    """One round of SearchCom that starts from the seeds: T̃ and I are the seeds.

    Parameters
    ----------
    sop : StatisticOfProximity
        The statistic f.
    epsilon : float
        The privacy parameter ε, in nats.
    stop : int, optional
        The stopping threshold K; half of the vertices if not given.
    max_degree : int, optional
        Public bound on the degrees; n - 1 if not given.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from pdpaudit.algorithms.statistics import CN
    >>> SearchCom(sop=CN(), epsilon=0.5).claim.epsilon
    0.5
    """

    sop: StatisticOfProximity
    epsilon: float = 1.0
    stop: int | None = None
    max_degree: int | None = None

    def __post_init__(self) -> None:
        """Check the arguments."""
        check_search(sop=self.sop, epsilon=self.epsilon, stop=self.stop, max_degree=self.max_degree)

    @property
    def claim(self) -> PrivacyClaim:
        """The appendix's lemma: ε."""
        return PrivacyClaim(self.epsilon, source="Technical Appendix, lemma on SearchCom")

    @property
    def claims(self) -> tuple[PrivacyClaim, ...]:
        """All that is promised."""
        return (self.claim,)

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return ``(t,)`` or ``()``."""
        return search_com(instance, instance.seeds, SearchComRound.of(self, instance), rng)

    def sample(self, instance: SearchInstance, size: int, rng: np.random.Generator) -> Outputs:
        """Return ``size`` outputs, equal in law to as many runs."""
        return sample_search(
            instance, self.sop, SearchComRound.of(self, instance).noises, size, rng
        )

    def law(self, instance: SearchInstance) -> Law:
        """Return the exact output law."""
        return law_of_search(instance, self.sop, SearchComRound.of(self, instance).noises)

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

    def _enclose(
        self, instance: SearchInstance, outputs: frozenset[Hashable], *, again: bool
    ) -> tuple[Fraction, Fraction]:
        view = round_view(instance, self.sop, explored=False, hidden=True, again=again)
        return enclose_winners(
            view, SearchComRound.of(self, instance).question, outputs, again=again
        )

    def proved_bound(self, instance: SearchInstance) -> ProvedBound:
        """Return what one round keeps; see :func:`.search_com_bound`."""
        one = SearchComRound.of(self, instance)
        movable = one.movable(state_at_seeds(instance, self.sop))
        return ProvedBound(
            search_com_bound(self.epsilon, movable, one.impact),
            f"{movable} remaining targets that one protected vertex may move, impact cardinality "
            f"{one.impact}: max(ε, m'ε/4 + (1 - m'/IC)ε/2)",
        )

    def largest_loss(self, instance: SearchInstance) -> LargestLoss | None:
        """Search all scores a round here may meet; see :func:`.search_com_worst_case`."""
        state = state_at_seeds(instance, self.sop)
        return SearchComRound.of(self, instance).largest_loss(state)

    def search_round(self, instance: SearchInstance) -> SearchRound:
        """Return its one round."""
        targets = state_at_seeds(instance, self.sop).targets.members
        found = np.unique(np.array(instance.seeds, dtype=np.int64))
        law = SearchComRound.of(self, instance).law_of_scores()
        return SearchRound(self.sop, found, np.sort(targets), False, law)
