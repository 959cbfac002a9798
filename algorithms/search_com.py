"""SearchCom: a private search for one vertex of a new targeted component."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

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

from .arguments import check_search, declared, degree_bound, query_limit
from .exact import law_of_search
from .hidden import Calibration, State, sample_search, state_at_seeds
from .laws import Laplace, NearbyLaws, RoundScores
from .laws.exact_round import ExactRound, Number, exact_search_com
from .laws.worst_case import search_com_bound, search_com_worst_case
from .proving import Question, enclose_winners, view_again, view_of_round
from .searching import examine, ranked, score, unexamined

__all__ = [
    "SearchCom",
    "calibration",
    "largest_loss_of_round",
    "law_of_scores",
    "search_com",
    "search_com_question",
]

Floats = npt.NDArray[np.float64]
RoundLawOfScores = Callable[[Floats, Floats, Floats], tuple[Floats, float]]


def search_com(
    instance: Instance,
    found: tuple[int, ...],
    sop: StatisticOfProximity,
    epsilon: float,
    stop: int,
    max_degree: int,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """Search for a new targeted component (Kearns et al., SearchCom(G, T̃, I, f, ε, K)).

    The investigated vertices I are those whose status the oracle has told already; this search's
    own queries join them.
    """
    delta_f, ic_f = declared(sop, max_degree)
    noisy_stop = stop + rng.laplace(0.0, 2 * ic_f / epsilon)
    vertices = unexamined(instance)
    noise = rng.laplace(0.0, 4 * delta_f / epsilon, len(vertices))
    noisy_scores = score(sop, instance, found)[vertices] + noise
    return examine(instance.oracle, ranked(vertices, noisy_scores), noisy_stop)


def calibration(
    sop: StatisticOfProximity, epsilon: float, stop: int | None, max_degree: int, n: int
) -> Calibration:
    """Return the noises and the limit of :func:`search_com` on n vertices."""
    delta_f, ic_f = declared(sop, max_degree)
    return Calibration(4 * delta_f / epsilon, query_limit(stop, n), 2 * ic_f / epsilon)


def search_com_question(
    sop: StatisticOfProximity, epsilon: float, stop: int | None, max_degree: int, n: int
) -> Question:
    """Return how a round of :func:`search_com` on n vertices is stated in exact numbers."""
    delta_f, ic_f = declared(sop, max_degree)

    def stated(targets: list[Number], protected: list[tuple[Number, int]]) -> ExactRound:
        return exact_search_com(
            targets,
            protected,
            epsilon=epsilon,
            sensitivity=delta_f,
            impact_cardinality=ic_f,
            threshold=query_limit(stop, n),
        )

    return stated


def law_of_scores(noises: Calibration) -> RoundLawOfScores:
    """Return the law of a round of :func:`search_com` as a function of scores alone.

    Scores much like those asked about first cost least; see :class:`.NearbyLaws`.
    """
    laws = NearbyLaws(Laplace(noises.score_scale), noises.limit, Laplace(noises.limit_scale))

    def law(targets: Floats, levels: Floats, counts: Floats) -> tuple[Floats, float]:
        found = laws(RoundScores.from_levels(targets, levels, counts))
        return found.log_found, found.log_none

    return law


def largest_loss_of_round(
    state: State,
    sop: StatisticOfProximity,
    epsilon: float,
    stop: int,
    max_degree: int,
    *,
    extra: int = 0,
) -> LargestLoss | None:
    """Return the largest loss found over all scores of a round of this size."""
    delta_f, impact = declared(sop, max_degree)
    movable = min(len(state.targets.members), impact)
    if delta_f == 0 or movable == 0:
        return None
    protected = int(state.classes.sizes.sum())
    worst = _worst_case(epsilon, movable, int(impact), protected, float(stop), extra=extra)
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
        n = instance.adjacency.shape[0]
        return search_com(
            instance,
            instance.seeds,
            self.sop,
            self.epsilon,
            query_limit(self.stop, n),
            degree_bound(self.max_degree, instance),
            rng,
        )

    def sample(self, instance: SearchInstance, size: int, rng: np.random.Generator) -> Outputs:
        """Return ``size`` outputs, equal in law to as many runs; see :func:`.sample_search`."""
        n = instance.adjacency.shape[0]
        noises = calibration(
            self.sop, self.epsilon, self.stop, degree_bound(self.max_degree, instance), n
        )
        return sample_search(instance, self.sop, noises, size, rng)

    def law(self, instance: SearchInstance) -> Law:
        """Return the exact output law; see :func:`.law_of_search`."""
        n = instance.adjacency.shape[0]
        noises = calibration(
            self.sop, self.epsilon, self.stop, degree_bound(self.max_degree, instance), n
        )
        return law_of_search(instance, self.sop, noises)

    def enclose(
        self, instance: SearchInstance, outputs: frozenset[Hashable]
    ) -> tuple[Fraction, Fraction]:
        """Enclose the probability of ``outputs`` in closed form; see :mod:`.proving`."""
        view = view_of_round(instance, self.sop, explored=False, hidden=True)
        return enclose_winners(view, self._question(instance), outputs, again=False)

    def enclose_again(
        self, instance: SearchInstance, outputs: frozenset[Hashable]
    ) -> tuple[Fraction, Fraction]:
        """Enclose it from the definitions, by verified quadrature; see :mod:`.proving`."""
        view = view_again(instance, self.sop, explored=False, hidden=True)
        return enclose_winners(view, self._question(instance), outputs, again=True)

    def proved_bound(self, instance: SearchInstance) -> ProvedBound:
        """Return what one round keeps; see :func:`.search_com_bound`."""
        _, impact = declared(self.sop, degree_bound(self.max_degree, instance))
        movable = min(len(state_at_seeds(instance, self.sop).targets.members), impact)
        return ProvedBound(
            search_com_bound(self.epsilon, movable, impact),
            f"{movable} remaining targets that one protected vertex may move, impact cardinality "
            f"{impact}: max(ε, m'ε/4 + (1 - m'/IC)ε/2)",
        )

    def largest_loss(self, instance: SearchInstance) -> LargestLoss | None:
        """Search all scores a round here may meet; see :func:`.search_com_worst_case`."""
        return largest_loss_of_round(
            state_at_seeds(instance, self.sop),
            self.sop,
            self.epsilon,
            query_limit(self.stop, instance.adjacency.shape[0]),
            degree_bound(self.max_degree, instance),
        )

    def search_round(self, instance: SearchInstance) -> SearchRound:
        """Return its one round."""
        targets = state_at_seeds(instance, self.sop).targets.members
        n = instance.adjacency.shape[0]
        noises = calibration(
            self.sop, self.epsilon, self.stop, degree_bound(self.max_degree, instance), n
        )
        found = np.unique(np.array(instance.seeds, dtype=np.int64))
        return SearchRound(self.sop, found, np.sort(targets), False, law_of_scores(noises))

    def _question(self, instance: SearchInstance) -> Question:
        max_degree = degree_bound(self.max_degree, instance)
        n = instance.adjacency.shape[0]
        return search_com_question(self.sop, self.epsilon, self.stop, max_degree, n)
