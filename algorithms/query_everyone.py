"""Ask about everyone: perfectly private towards the protected, and useless as a search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import Instance, Law, Outputs, PrivacyClaim

__all__ = ["QueryEveryone", "query_everyone"]


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
