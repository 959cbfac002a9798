"""Statistic-first search, and two yardsticks: Target, without noise, and asking about everyone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import Instance, Law, Outputs, PrivacyClaim, StatisticOfProximity

from ..laws.noise import Laplace, Rule
from ..samplers.trajectories import Traced
from .rounds import (
    check_search,
    examine,
    query_limit,
    ranked,
    score,
    sfs,
    targeting,
    unexamined,
)


class _Certain:
    """A search without randomness that promises one thing."""

    @property
    def claim(self) -> PrivacyClaim:
        """The promise."""
        raise NotImplementedError

    def search(self, instance: Instance) -> tuple[int, ...]:
        """Return what is found, in order."""
        raise NotImplementedError

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return what is found, in order."""
        return self.search(instance)

    def sample(self, instance: SearchInstance, size: int, rng: np.random.Generator) -> Outputs:
        """Return ``size`` times the one output."""
        return Outputs([self.search(instance.fresh())], np.zeros(size, dtype=np.int64))

    def law(self, instance: SearchInstance) -> Law:
        """Return the point mass on the one output."""
        return Law({self.search(instance.fresh()): 1.0})


@dataclass(frozen=True, kw_only=True)
class SFS(_Certain):
    """Statistic-first search from the seeds; deterministic.

    Examples
    --------
    >>> SFS().claim.epsilon
    0.0
    """

    @property
    def claim(self) -> PrivacyClaim:
        """The paper's lemma: 0-protected differential privacy."""
        return PrivacyClaim(0.0, source="Technical Appendix, lemma on SFS")

    def search(self, instance: Instance) -> tuple[int, ...]:
        """Return the targets of the seeds' components, in the order found."""
        return sfs(instance, instance.seeds)


@dataclass(frozen=True, kw_only=True)
class Target(Traced, _Certain):
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

    def rule(self, instance: SearchInstance) -> Rule:
        """Return how a round ranks, and when it gives up."""
        return Rule(Laplace(0.0), limit=query_limit(self.stop, instance.adjacency.shape[0]))

    def search(self, instance: Instance) -> tuple[int, ...]:
        """Return the targets found, in order, seeds first."""
        limit = query_limit(self.stop, instance.adjacency.shape[0])

        def best_first(found: tuple[int, ...]) -> tuple[int, ...]:
            vertices = unexamined(instance)
            order = ranked(vertices, score(self.sop, instance, found)[vertices])
            return examine(instance.oracle, order, limit)

        return targeting(instance, self.components, best_first)


@dataclass(frozen=True, kw_only=True)
class QueryEveryone(_Certain):
    """The search that asks about everyone; its output does not depend on the edges."""

    @property
    def claim(self) -> PrivacyClaim:
        """The paper's remark: 0-protected differential privacy."""
        return PrivacyClaim(0.0, source="the paper's remark on querying everyone")

    def search(self, instance: Instance) -> tuple[int, ...]:
        """Return all targeted vertices, ascending; looks at no edge, O(n)."""
        oracle = instance.oracle
        return tuple(v for v in range(instance.adjacency.shape[0]) if oracle(v))
