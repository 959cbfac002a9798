"""What privacy costs a search: targets found for each oracle call, at the same true guarantee.

The searches are given the parameter with which a round really loses at most ε: half of it for the
main text, what its proved bound leaves for the appendix, all of it for the repaired one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.algorithms.laws.networks import found_and_left
from pdpaudit.algorithms.laws.worst_case import search_com_bound
from pdpaudit.algorithms.searches.baselines import Target
from pdpaudit.algorithms.searches.noisy_max import PTargetMainText, PTargetRepaired
from pdpaudit.algorithms.searches.search_com import PTarget
from pdpaudit.core.network import Network
from pdpaudit.core.protocols import Mechanism, StatisticOfProximity
from pdpaudit.sampling import stream

__all__ = ["Contender", "Curve", "contenders", "curves"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Contender:
    """A search, and what it truly promises for one search round."""

    name: str
    mechanism: Mechanism
    epsilon: float


@dataclass(frozen=True, eq=False)
class Curve:
    """What one search found, averaged over runs."""

    found: Floats
    calls: float
    total: float
    spread: float

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "found": self.found.tolist(),
            "calls": self.calls,
            "total": self.total,
            "standard_error": self.spread,
        }


def contenders(
    network: Network,
    sop: StatisticOfProximity,
    epsilon: float,
    components: int,
    max_degree: int,
) -> list[Contender]:
    """Return the searches to compare, with ``epsilon`` truly kept by each search round.

    The appendix's search is calibrated for as many movable targets as are left to find, which it
    would not know: that favours it. A statement about its later rounds rests on one round's bound
    each, as what they examined stays hidden.
    """
    _, left = found_and_left(network.instance())
    impact = sop.impact_cardinality(max_degree)
    appendix = epsilon / max(search_com_bound(1.0, min(len(left), impact), impact), 1.0)
    common: dict[str, Any] = {"sop": sop, "components": components}
    private = {**common, "max_degree": max_degree}
    return [
        Contender("Target, not private", Target(**common), np.inf),
        Contender(
            "repaired, exponential noise",
            PTargetRepaired(**private, epsilon=epsilon, noise="exponential"),
            epsilon,
        ),
        Contender("repaired, Laplace noise", PTargetRepaired(**private, epsilon=epsilon), epsilon),
        Contender(
            "main text, recalibrated", PTargetMainText(**private, epsilon=epsilon / 2), epsilon
        ),
        Contender("appendix, recalibrated", PTarget(**private, epsilon=appendix), epsilon),
    ]


def curves(
    network: Network, searches: Sequence[Contender], budgets: Sequence[int], runs: int, seed: int
) -> Mapping[str, Curve]:
    """Run each search a number of times, and count what it finds within each budget of calls.

    Counting begins once the seeds' components are explored, which all searches do alike.
    """
    instance = network.instance()
    first, _ = found_and_left(instance)
    known = set(first.tolist())
    for vertex in first.tolist():
        known.update(network.neighbours(vertex).tolist())
    result = {}
    for search in searches:
        times = 1 if np.isinf(search.epsilon) else runs
        found = np.zeros((times, len(budgets)))
        calls, total = np.zeros(times), np.zeros(times)
        for run in range(times):
            view = instance.fresh()
            search.mechanism.run(view, stream(seed, "utility", search.name, run))
            asked = np.array([v for v in view.oracle.log if v not in known], dtype=np.int64)
            hits = np.concatenate([[0], np.cumsum(network.targeted[asked])])
            found[run] = hits[np.minimum(budgets, len(asked))]
            calls[run], total[run] = len(asked), hits[-1]
        error = 0.0 if times == 1 else float(total.std(ddof=1) / np.sqrt(times))
        result[search.name] = Curve(
            found.mean(axis=0), float(calls.mean()), float(total.mean()), error
        )
    return result
