"""Scores that follow the targets found, as the set grows, without scoring everybody anew."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import StatisticOfProximity

from ..searches.rounds import score
from ..statistics import CN, Path, Triangle
from .exploration import neighbours_of
from .partition import component_members, shelf

__all__ = ["Growing", "growing"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Growing(Protocol):
    """A statistic of every vertex with respect to components found one by one."""

    @property
    def scores(self) -> Floats:
        """The scores now, shape ``(n,)``; not to be modified."""
        ...

    @property
    def largest(self) -> float:
        """A bound on the scores from above, at least 0."""
        ...

    def add(self, label: int) -> Ints:
        """Count one component more; return whose score is other than 0 for the first time."""
        ...

    def copy(self) -> Growing:
        """Return the same scores, to grow by themselves."""
        ...


def growing(instance: SearchInstance, sop: StatisticOfProximity) -> Growing:
    """Return the scores of a run that has found nothing yet.

    CN changes near what is new in N(S). A path or a triangle ends in one component of S, so these
    counts add up over components. Any other statistic is scored anew, once for each set met.
    """
    if isinstance(sop, CN):
        return _CommonNeighbours(instance)
    if isinstance(sop, Path | Triangle):
        return _Sums(instance, sop)
    return _Anew(instance, sop)


class _CommonNeighbours:
    """CN: whoever joins N(S) counts for each of its neighbours."""

    def __init__(self, instance: SearchInstance) -> None:
        n = instance.adjacency.shape[0]
        self._instance = instance
        self._near = np.zeros(n, dtype=np.bool_)
        self.scores: Floats = np.zeros(n)
        self.largest = 0.0

    def add(self, label: int) -> Ints:
        around, counted, counts = self._share(label)
        # Who was in N(S) before counts already, and whoever it counts for has been met.
        before = around[self._near[around]]
        old = self.scores[counted]
        new = old + counts
        self.scores[counted] = new
        self.largest = max(self.largest, float(new.max(initial=0.0)))
        if len(before):
            indptr, indices = self._instance.adjacency.indptr, self._instance.adjacency.indices
            rows = zip(indptr[before].tolist(), indptr[before + 1].tolist(), strict=True)
            twice = np.concatenate([indices[begin:end] for begin, end in rows])
            np.subtract.at(self.scores, twice, 1.0)
        self._near[around] = True
        fresh: Ints = counted[old == 0]
        return fresh

    def copy(self) -> Growing:
        """Return the same scores, to grow by themselves."""
        return _copied(self, "_near", "scores")

    def _share(self, label: int) -> tuple[Ints, Ints, Floats]:
        """Return N(component), and the CN of everyone with it alone where it is not 0."""

        def build() -> tuple[Ints, Ints, Floats]:
            adjacency = self._instance.adjacency
            members = component_members(self._instance)[label]
            around = np.unique(neighbours_of(adjacency, members)[0])
            counted, counts = np.unique(neighbours_of(adjacency, around)[0], return_counts=True)
            return around, counted, counts.astype(np.float64)

        return shelf(self._instance, "outputs").get(
            ("around", label), build, lambda share: len(share[0]) + 2 * len(share[1])
        )


class _Sums:
    """A statistic that adds up over components."""

    def __init__(self, instance: SearchInstance, sop: StatisticOfProximity) -> None:
        self._instance, self._sop = instance, sop
        self._seen = np.zeros(instance.adjacency.shape[0], dtype=np.bool_)
        self.scores: Floats = np.zeros(instance.adjacency.shape[0])
        self.largest = 0.0

    def add(self, label: int) -> Ints:
        vertices, values = self._share(label)
        fresh = vertices[~self._seen[vertices]]
        self._seen[vertices] = True
        self.scores[vertices] += values
        self.largest = max(self.largest, float(self.scores[vertices].max(initial=0.0)))
        return fresh

    def copy(self) -> Growing:
        """Return the same scores, to grow by themselves."""
        return _copied(self, "_seen", "scores")

    def _share(self, label: int) -> tuple[Ints, Floats]:
        def build() -> tuple[Ints, Floats]:
            members = component_members(self._instance)[label]
            values = score(self._sop, self._instance, members.tolist())
            vertices = np.flatnonzero(values)
            return vertices, values[vertices]

        key: Any = ("share", self._sop, label)
        return shelf(self._instance, "states").get(key, build, lambda share: 2 * len(share[0]))


class _Anew:
    """Any statistic."""

    def __init__(self, instance: SearchInstance, sop: StatisticOfProximity) -> None:
        self._instance, self._sop = instance, sop
        self._seen = np.zeros(instance.adjacency.shape[0], dtype=np.bool_)
        self._labels: tuple[int, ...] = ()
        self.scores: Floats = np.zeros(instance.adjacency.shape[0])
        self.largest = 0.0

    def add(self, label: int) -> Ints:
        self._labels = tuple(sorted((*self._labels, label)))

        def build() -> Floats:
            members = component_members(self._instance)
            found = np.concatenate([members[known] for known in self._labels])
            return score(self._sop, self._instance, found.tolist())

        key: Any = ("scores", self._sop, self._labels)
        self.scores = shelf(self._instance, "states").get(key, build, len)
        self.largest = float(self.scores.max(initial=0.0))
        fresh = np.flatnonzero((self.scores != 0) & ~self._seen)
        self._seen[fresh] = True
        return fresh

    def copy(self) -> Growing:
        """Return the same scores, to grow by themselves."""
        return _copied(self, "_seen")


def _copied(one: Growing, *own: str) -> Growing:
    """Return a copy that shares everything but some arrays."""
    new: Growing = object.__new__(type(one))
    vars(new).update(vars(one))
    vars(new).update({name: getattr(one, name).copy() for name in own})
    return new
