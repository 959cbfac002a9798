"""Two searches that claim to cost no protected person anything, one of them wrongly."""

from __future__ import annotations

import numpy as np

from pdpaudit import PrivacyClaim
from pdpaudit.core.protocols import Instance


class Wrong:
    """Asks about whoever has most contacts first; protected people's contacts change the order."""

    claim = PrivacyClaim(0.0, source="its author")

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the targeted people, in the order in which they were found."""
        ranked = sorted(instance.graph, key=instance.graph.degree, reverse=True)
        return tuple(v for v in ranked if instance.oracle(v))


class Right:
    """Goes from target to target along ties between targeted people, and looks at nobody else."""

    claim = PrivacyClaim(0.0, source="its author")

    def run(self, instance: Instance, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the targeted people reached from the seeds, in the order of their numbers."""
        found, todo = set(instance.seeds), list(instance.seeds)
        while todo:
            for other in instance.graph[todo.pop()]:
                if other not in found and instance.oracle(other):
                    found.add(other)
                    todo.append(other)
        return tuple(sorted(found))
