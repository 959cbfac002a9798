"""Two yardsticks: Target, the search without noise, and asking about everyone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import (
    Instance,
    Law,
    Outputs,
    PrivacyClaim,
    StatisticOfProximity,
    Trajectory,
)

from ..laws.noise import Laplace
from ..samplers.trajectories import Rule, draw_trajectories
from .rounds import check_search, examine, query_limit, ranked, score, targeting, unexamined

__all__ = ["QueryEveryone", "Target", "query_everyone", "search_best_first"]


def search_best_first(
    instance: Instance, found: tuple[int, ...], sop: StatisticOfProximity, stop: int | None
) -> tuple[int, ...]:
    """Query by decreasing statistic, ties by index, while at most ``stop`` have been asked."""
    vertices = unexamined(instance)
    order = ranked(vertices, score(sop, instance, found)[vertices])
    return examine(instance.oracle, order, query_limit(stop, instance.adjacency.shape[0]))


@dataclass(frozen=True, kw_only=True)
class Target:
    """The paper's non-private benchmark Target(k, f); deterministic, promises nothing.

    Parameters
    ----------
    sop : StatisticOfProximity
        The statistic f that ranks the vertices.
    components : int
        Number of components wanted, k.
    stop : int, optional
        A round gives up once more than this many queries were made, N; half of the vertices if
        not given.

    Raises
    ------
    InputError
        If an argument is out of range.
    """

    sop: StatisticOfProximity
    components: int = 2
    stop: int | None = None

    def __post_init__(self) -> None:
        """Check the arguments."""
        check_search(sop=self.sop, components=self.components, stop=self.stop)

    @property
    def claim(self) -> PrivacyClaim:
        """None is made: what is audited is how far from ε = 0 a search without noise is."""
        return PrivacyClaim(0.0, source="none: the non-private benchmark, audited against 0")

    @property
    def claims(self) -> tuple[PrivacyClaim, ...]:
        """What it is audited against."""
        return (self.claim,)

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the targets found, in order, seeds first."""
        return self._search(instance)

    def sample(self, instance: SearchInstance, size: int, rng: np.random.Generator) -> Outputs:
        """Return ``size`` times the one output."""
        return Outputs([self._search(instance.fresh())], np.zeros(size, dtype=np.int64))

    def law(self, instance: SearchInstance) -> Law:
        """Return the point mass on the one output."""
        return Law({self._search(instance.fresh()): 1.0})

    def trajectories(
        self, instance: SearchInstance, budget: int, rngs: Sequence[np.random.Generator]
    ) -> list[Trajectory]:
        """Return how runs go on; see :func:`.draw_trajectories`."""
        rule = Rule(Laplace(0.0), limit=query_limit(self.stop, instance.adjacency.shape[0]))
        return draw_trajectories(instance, self.sop, rule, self.components - 1, budget, rngs)

    def _search(self, instance: Instance) -> tuple[int, ...]:
        return targeting(
            instance,
            self.components,
            lambda found: search_best_first(instance, found, self.sop, self.stop),
        )


def query_everyone(instance: Instance) -> tuple[int, ...]:
    """Return all targeted vertices, ascending; looks at no edge, O(n)."""
    oracle = instance.oracle
    return tuple(v for v in range(instance.adjacency.shape[0]) if oracle(v))


@dataclass(frozen=True, kw_only=True)
class QueryEveryone:
    """The search that asks about everyone; its output does not depend on the edges."""

    @property
    def claim(self) -> PrivacyClaim:
        """The paper's remark: 0-protected differential privacy."""
        return PrivacyClaim(0.0, source="the paper's remark on querying everyone")

    @property
    def claims(self) -> tuple[PrivacyClaim, ...]:
        """All that is promised."""
        return (self.claim,)

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return all targeted vertices, ascending."""
        return query_everyone(instance)

    def sample(self, instance: SearchInstance, size: int, rng: np.random.Generator) -> Outputs:
        """Return ``size`` times the one output."""
        return Outputs([query_everyone(instance.fresh())], np.zeros(size, dtype=np.int64))

    def law(self, instance: SearchInstance) -> Law:
        """Return the point mass on the one output."""
        return Law({query_everyone(instance.fresh()): 1.0})
