"""How far the rewiring of one vertex moves a statistic, and for how many vertices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pdpaudit.checks.case import Case, Edge, build
from pdpaudit.checks.difference import apart, change
from pdpaudit.checks.guard import fast_values, scalar_values, small_adjacency
from pdpaudit.core.protocols import FastStatistic, StatisticOfProximity
from pdpaudit.core.statistic import stated_error

__all__ = [
    "PROPERTIES",
    "Declared",
    "Measured",
    "Property",
    "evaluator",
    "measure",
    "slack_at",
    "violates",
]

#: (n, edges, S) to the values of all vertices
Evaluate = Callable[[int, Sequence[Edge], Sequence[int]], npt.NDArray[np.float64]]
Property = str
PROPERTIES: tuple[Property, ...] = ("targeted-sensitivity", "impact-cardinality")


def slack_at(sop: StatisticOfProximity, max_degree: int) -> float:
    """Return by how much two values may differ that would be equal without error.

    Nothing where the declared sensitivity is 0: no noise then hides the smallest difference.
    """
    return 2 * stated_error(sop, max_degree) if sop.sensitivity(max_degree) > 0 else 0.0


@dataclass(frozen=True)
class Declared:
    """What a statistic declares, for every degree bound in reach: index d of each tuple."""

    sensitivity: tuple[float, ...]
    impact_cardinality: tuple[float, ...]
    slack: tuple[float, ...]

    def of(self, of: Property) -> tuple[float, ...]:
        """Return what is declared of a property."""
        return self.sensitivity if of == "targeted-sensitivity" else self.impact_cardinality

    def bound(self, of: Property, max_degree: int) -> float:
        """Return the declared bound of a property for a degree bound."""
        return self.of(of)[max_degree]

    def allowed(self, of: Property, max_degree: int) -> float:
        """Return what breaks no declaration: the bound, with the slack of values, not counts."""
        slack = self.slack[max_degree] if of == "targeted-sensitivity" else 0.0
        return self.bound(of, max_degree) + slack


@dataclass(frozen=True)
class Measured:
    """The values of a statistic on both networks of a case, and what changed."""

    left: npt.NDArray[np.float64]
    right: npt.NDArray[np.float64]
    moved: float
    at: int
    changed: int

    def observed(self, of: Property) -> float:
        """Return the measured value of a property."""
        return self.moved if of == "targeted-sensitivity" else float(self.changed)


def evaluator(sop: StatisticOfProximity, *, fast: bool) -> Evaluate:
    """Return how to evaluate a statistic at every vertex of a graph given as plain data."""
    if fast and isinstance(sop, FastStatistic):
        quick = sop

        def by_fast_path(
            n: int, edges: Sequence[Edge], targets: Sequence[int]
        ) -> npt.NDArray[np.float64]:
            return fast_values(quick, small_adjacency(n, edges), np.array(targets, dtype=np.int64))

        return by_fast_path
    return lambda n, edges, targets: scalar_values(sop, build(n, edges), frozenset(targets))


def measure(evaluate: Evaluate, case: Case, slack: float) -> Measured:
    """Evaluate both networks of a case; 2n evaluations."""
    left, right = (evaluate(case.n, edges, case.targets) for edges in case.sides())
    changes = change(left, right)
    changed = int(np.count_nonzero(apart(left, right, slack)))
    changes[case.vertex] = -1.0
    at = int(np.argmax(changes))
    return Measured(left, right, max(float(changes[at]), 0.0), at, changed)


def violates(measured: Measured, case: Case, declared: Declared, of: Property) -> bool:
    """Return whether a case breaks a declaration at the degree bound it obeys."""
    return measured.observed(of) > declared.allowed(of, case.max_degree)
