"""SearchCom, a private search for one vertex of a new component, and PTarget, which repeats it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.privacy_loss import basic_composition, paper_composition
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
)

from ..laws.closed_form import enclose_round
from ..laws.networks import (
    Enclose,
    ExactRound,
    Interval,
    Number,
    RoundView,
    enclose_winners,
    found_and_left,
    law_of_search,
    law_of_searches,
    view_again,
    view_of_round,
)
from ..laws.noise import Rule
from ..laws.one_round import RoundScores, law_of_rule, search_com_noises
from ..laws.verify import enclose_by_quadrature
from ..laws.worst_case import search_com_bound, search_com_worst_case
from ..samplers.search_com import (
    State,
    by_running,
    sample_search,
    sample_searches,
    state_after_sfs,
    state_at_seeds,
)
from ..samplers.trajectories import Traced
from .rounds import (
    check_search,
    declared,
    degree_bound,
    examine,
    query_limit,
    ranked,
    score,
    targeting,
    unexamined,
)

Floats = npt.NDArray[np.float64]
RoundLawOfScores = Callable[[Floats, Floats, Floats], tuple[Floats, float]]


class Search:
    """What private searches share: their arguments are checked, and one round can be enclosed."""

    sop: StatisticOfProximity
    epsilon: float
    components: int
    #: Whether statistic-first search comes first, and protected vertices count.
    explored, hidden = True, True

    def __post_init__(self) -> None:
        """Check the arguments."""
        check_search(**vars(self))

    @property
    def claim(self) -> PrivacyClaim:
        """The first promise."""
        raise NotImplementedError

    def question(
        self, instance: SearchInstance, targets: list[Number], protected: list[tuple[Number, int]]
    ) -> ExactRound:
        """State a round in exact numbers."""
        raise NotImplementedError

    def enclose(self, instance: SearchInstance, outputs: frozenset[Hashable]) -> Interval:
        """Enclose the probability of ``outputs`` in closed form."""
        return self._enclose(instance, outputs, view_of_round, enclose_round)

    def enclose_again(self, instance: SearchInstance, outputs: frozenset[Hashable]) -> Interval:
        """Enclose it from the definitions, by verified quadrature."""
        return self._enclose(instance, outputs, view_again, enclose_by_quadrature)

    def _enclose(
        self,
        instance: SearchInstance,
        outputs: frozenset[Hashable],
        view: Callable[..., RoundView],
        enclose: Enclose,
    ) -> Interval:
        if self.components != 2:
            raise LawUnavailable("enclosures are worked out for one search round, 2 components")
        seen = view(instance, self.sop, explored=self.explored, hidden=self.hidden)
        return enclose_winners(seen, partial(self.question, instance), outputs, enclose)


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
    rule = one.rule
    noisy_stop = rule.draw_limits(1, rng)[0]
    vertices = unexamined(instance)
    noise = rule.noise.draw(len(vertices), rng)
    noisy_scores = score(one.sop, instance, found)[vertices] + noise
    return examine(instance.oracle, ranked(vertices, noisy_scores), noisy_stop)


@dataclass(frozen=True)
class SearchComRound:
    """A round of SearchCom with its parameters as they are on one network."""

    sop: StatisticOfProximity
    epsilon: float
    stop: int
    max_degree: int

    @classmethod
    def of(cls, search: _BySearchCom, instance: Instance) -> SearchComRound:
        """Return the round of a search on a network."""
        stop = query_limit(search.stop, instance.adjacency.shape[0])
        return cls(search.sop, search.epsilon, stop, degree_bound(search.max_degree, instance))

    @property
    def impact(self) -> int:
        """The declared impact cardinality."""
        return declared(self.sop, self.max_degree)[1]

    @property
    def rule(self) -> Rule:
        """The noises and the limit."""
        noise, stop = search_com_noises(self.epsilon, *declared(self.sop, self.max_degree))
        return Rule(noise, limit=self.stop, limit_scale=stop.scale)

    def law_of_scores(self) -> RoundLawOfScores:
        """Return the round's law as a function of scores."""
        rule = self.rule

        def law(targets: Floats, levels: Floats, counts: Floats) -> tuple[Floats, float]:
            found = law_of_rule(RoundScores.from_levels(targets, levels, counts), rule)
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
        protected, stop = int(state.classes.sizes.sum()), float(self.stop)
        worst = _worst_case(self.epsilon, self.movable(state), impact, protected, stop, extra=extra)
        event = "nobody is found" if worst.event == "empty" else "a target is found"
        words = f"by a numerical search over the scores that Δ and IC allow, where {event}"
        return LargestLoss(worst.loss, words)


_worst_case = cache(search_com_worst_case)


class _BySearchCom(Search):
    """A search whose rounds are SearchCom's."""

    stop: int | None
    max_degree: int | None

    def question(
        self, instance: SearchInstance, targets: list[Number], protected: list[tuple[Number, int]]
    ) -> ExactRound:
        """State a round in exact numbers."""
        one, epsilon = SearchComRound.of(self, instance), Fraction(self.epsilon)
        delta_f, ic_f = map(Fraction, declared(one.sop, one.max_degree))
        return ExactRound.of(
            targets,
            4 * delta_f / epsilon,
            protected=protected,
            threshold=one.stop,
            threshold_scale=2 * ic_f / epsilon,
        )

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the targets found."""
        raise NotImplementedError

    def sample(self, instance: SearchInstance, size: int, rng: np.random.Generator) -> Outputs:
        """Return ``size`` outputs, equal in law to as many runs."""
        rule = SearchComRound.of(self, instance).rule
        if rule.noise.scale == 0:
            return by_running(self, instance, size, rng)
        if not self.explored:
            return sample_search(instance, self.sop, rule, size, rng)
        return sample_searches(instance, self.sop, rule, self.components - 1, size, rng)

    def law(self, instance: SearchInstance) -> Law:
        """Return the exact output law, of at most one search round."""
        rule = SearchComRound.of(self, instance).rule
        if not self.explored:
            return law_of_search(instance, self.sop, rule)
        return law_of_searches(instance, self.sop, rule, self.components - 1)


@dataclass(frozen=True, kw_only=True)
class SearchCom(_BySearchCom):
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

    components = 2
    explored = False

    @property
    def claim(self) -> PrivacyClaim:
        """The appendix's lemma: ε."""
        return PrivacyClaim(self.epsilon, source="Technical Appendix, lemma on SearchCom")

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return ``(t,)`` or ``()``."""
        return search_com(instance, instance.seeds, SearchComRound.of(self, instance), rng)

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


@dataclass(frozen=True, kw_only=True)
class PTarget(Traced, _BySearchCom):
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
        search = partial(search_com, instance, one=one, rng=rng)
        return targeting(instance, self.components, search)

    def rule(self, instance: SearchInstance) -> Rule:
        """Return how a round ranks, and when it gives up."""
        return SearchComRound.of(self, instance).rule

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

    def beginning(self) -> PTarget | None:
        """Return the same search ended after its first round; None if it has no more.

        The targeted components are the same on both networks of a pair, so the list shows where
        the component found in the first round ends.
        """
        return replace(self, components=2) if self.components > 2 else None

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
