"""How far the rewiring of one vertex moves a statistic, and for how many vertices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pdpaudit.conformance.case import Case, Edge, build
from pdpaudit.conformance.guard import fast_values, scalar_values, small_adjacency
from pdpaudit.conformance.tolerance import differ, exceeds
from pdpaudit.contracts import FastStatistic, StatisticOfProximity

__all__ = ["Declared", "Measured", "Property", "evaluator", "measure", "violates"]

#: (n, edges, S) to the values of all vertices
Evaluate = Callable[[int, Sequence[Edge], Sequence[int]], npt.NDArray[np.float64]]
Property = str  # "targeted-sensitivity" or "impact-cardinality"


@dataclass(frozen=True)
class Declared:
    """What a statistic declares, for every degree bound in reach: index d of each tuple."""

    sensitivity: tuple[float, ...]
    impact_cardinality: tuple[float, ...]

    def of(self, of: Property) -> tuple[float, ...]:
        """Return what is declared of a property."""
        return self.sensitivity if of == "targeted-sensitivity" else self.impact_cardinality

    def bound(self, of: Property, max_degree: int) -> float:
        """Return the declared bound of a property for a degree bound."""
        return self.of(of)[max_degree]


@dataclass(frozen=True)
class Measured:
    """The values of a statistic on both networks of a case, and what changed.

    Attributes
    ----------
    left, right : ndarray, shape (n,)
        The values.
    moved : float
        Largest change over the vertices other than u.
    at : int
        The vertex that moves by it.
    changed : int
        Number of vertices, u included, whose value differs.
    """

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


def measure(evaluate: Evaluate, case: Case) -> Measured:
    """Evaluate both networks of a case; 2n evaluations."""
    left, right = (evaluate(case.n, edges, case.targets) for edges in case.sides())
    change = np.abs(left - right)
    changed = int(np.count_nonzero(differ(left, right)))
    change[case.vertex] = -1.0
    at = int(np.argmax(change))
    return Measured(left, right, max(float(change[at]), 0.0), at, changed)


def violates(measured: Measured, case: Case, declared: Declared, of: Property) -> bool:
    """Return whether a case breaks a declaration at the degree bound it obeys."""
    return exceeds(measured.observed(of), declared.bound(of, case.max_degree))
