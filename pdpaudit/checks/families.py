"""The networks that differ in the neighbours of one vertex, and what a statistic does on them.

Fix a vertex u, the graph H on the other vertices, and a set S without u; let A run over all
neighbourhoods of u. The largest change of a vertex t over all pairs whose networks both obey a
degree bound is the largest minus the smallest value of t over the admissible A: linear in the
number of networks. Every vertex but u may be targeted, as more targets only allow more. How many
vertices change at once does need the pairs; they are compared on arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pdpaudit.checks.atlas import Bits
from pdpaudit.checks.case import Case
from pdpaudit.checks.difference import change
from pdpaudit.checks.measure import PROPERTIES, Declared

__all__ = ["Exhaustion", "Family", "Row", "Tally", "Values", "combined", "degrees", "order"]

Values = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Row:
    """The largest values over networks on n vertices, for every degree bound d = 0..n-1."""

    n: int
    sensitivity: tuple[float, ...]
    impact_cardinality: tuple[int, ...] | None


@dataclass(frozen=True)
class Exhaustion:
    """What an exhaustive search found."""

    rows: tuple[Row, ...]
    cases: dict[str, Case] = field(default_factory=dict)
    stopped: str = ""


@dataclass(frozen=True)
class Family:
    """The networks of one u and H, with some sets S and the values of all vertices."""

    names: tuple[int, ...]
    matrix: Bits
    spokes: Bits
    sets: Bits
    values: Values

    def case(self, members: Bits, left: Bits, right: Bits) -> Case:
        """Return two of the networks, with a set S, as a pair."""
        named = np.array(self.names)
        edges = named[np.argwhere(np.triu(self.matrix))].tolist()
        sides = (tuple(named[:-1][x].tolist()) for x in (left, right, members))
        return Case(len(named), tuple((a, b) for a, b in edges), self.names[-1], *sides)


@dataclass
class Tally:
    """What some families contribute; combined by maxima and minima only."""

    sensitivity: Values
    impact: Counts
    cases: dict[str, Case] = field(default_factory=dict)
    complete: bool = True

    @classmethod
    def empty(cls, n: int) -> Tally:
        """Return what no network on n vertices contributes."""
        return cls(np.zeros(n), np.zeros(n, dtype=np.int64))

    def add(
        self, family: Family, declared: Declared, wanted: Sequence[str], *, with_impact: bool
    ) -> None:
        """Take in one family: largest changes, counts, and the smallest violations wanted."""
        degree = degrees(family.matrix, family.spokes)
        slack = np.array(declared.slack)[np.maximum.outer(degree, degree)]
        self._largest_change(family.values, degree)
        counts = _counts(family.values, slack) if with_impact else None
        if counts is not None:
            np.maximum.at(self.impact, np.maximum.outer(degree, degree), counts.max(axis=0))
        n = len(family.names)
        for of in wanted:
            worst = self.sensitivity if of == "targeted-sensitivity" else self.impact
            allowed = np.array([declared.allowed(of, d) for d in range(n)])
            if (worst > allowed).any():
                seen = _changes(family.values) if of == "targeted-sensitivity" else counts
                if seen is not None:
                    self._smallest(family, of, seen, allowed[np.maximum.outer(degree, degree)])

    def _largest_change(self, values: Values, degree: Counts) -> None:
        """Take the largest minus the smallest value over the neighbourhoods each bound admits."""
        others = values[:, :, :-1]
        if not others.size:
            return
        for d in np.unique(degree).tolist():
            admitted = others[:, degree <= d]
            spread = change(admitted.max(axis=1), admitted.min(axis=1)).max()
            self.sensitivity[d] = max(self.sensitivity[d], float(spread))

    def _smallest(self, family: Family, of: str, seen: Values | Counts, allowed: Values) -> None:
        """Keep the smallest pair that breaks a declaration, if this family has one."""
        spokes = family.spokes
        together = (spokes[:, None] | spokes[None]).sum(axis=2)
        both = np.add.outer(spokes.sum(axis=1), spokes.sum(axis=1))
        for members, found in zip(family.sets, seen, strict=True):
            bad = np.argwhere(np.triu(found > allowed))
            for a, b in bad[np.lexsort((both[*bad.T], together[*bad.T]))][:1].tolist():
                case = family.case(members, spokes[a], spokes[b])
                if of not in self.cases or order(case) < order(self.cases[of]):
                    self.cases[of] = case


def combined(tallies: Sequence[Tally], n: int, *, with_impact: bool) -> tuple[Row, dict[str, Case]]:
    """Return the row of all families together, and the smallest violation of each property."""
    moved = np.maximum.accumulate(np.max([tally.sensitivity for tally in tallies], axis=0))
    impact = np.maximum.accumulate(np.max([tally.impact for tally in tallies], axis=0))
    counted = tuple(int(x) for x in impact) if with_impact else None
    cases = {}
    for of in PROPERTIES:
        found = [tally.cases[of] for tally in tallies if of in tally.cases]
        if found:
            cases[of] = min(found, key=order)
    return Row(n, tuple(float(x) for x in moved), counted), cases


def order(case: Case) -> tuple[object, ...]:
    """Order counterexamples by size, then by themselves, so that the smallest is unique."""
    return (case.size, case.n - case.vertex, case.edges, case.left, case.right, case.targets)


def degrees(matrix: Bits, spokes: Bits) -> Counts:
    """Return the maximum degree of H joined with each neighbourhood of u."""
    others = (matrix.sum(axis=1) + spokes).max(axis=1, initial=0)
    return np.asarray(np.maximum(others, spokes.sum(axis=1)), dtype=np.int64)


def _changes(values: Values) -> Values:
    """Return the largest change of a vertex but u, for each S and each two neighbourhoods."""
    others = values[:, :, :-1]
    return np.asarray(change(others[:, :, None], others[:, None]).max(axis=3, initial=0))


def _counts(values: Values, slack: Values) -> Counts:
    """Count the vertices that differ, for each S and each two neighbourhoods."""
    left, right = values[:, :, None], values[:, None]
    if not slack.any():
        return np.asarray((left != right).sum(axis=3))
    return np.asarray((change(left, right) > slack[None, :, :, None]).sum(axis=3))
