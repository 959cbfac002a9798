"""Target: the same search without noise, the yardstick for what privacy costs."""

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

from .arguments import check_search, query_limit
from .laws.noise import Laplace
from .searching import examine, ranked, score, targeting, unexamined
from .trajectories import Rule, draw_trajectories

__all__ = ["Target", "search_best_first"]


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
