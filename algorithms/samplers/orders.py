"""In which order statistic-first search finds targets: from some of them, or from many at once."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import SearchInstance

from .partition import targeted_mask

__all__ = ["orders_in_step", "step_pays", "targets_in_order"]

Ints = npt.NDArray[np.int64]

#: Fewer searches than this are done one by one.
FEW = 8

#: In a component of more members a heap, which does not look at all of them, costs less.
MOST_MEMBERS = 1 << 13

#: A row of counts is a multiple of so many: what is left over is looked at one by one.
VECTOR = 128

#: Counts that may be kept at once.
ROOM = 1 << 20


def targets_in_order(
    instance: SearchInstance, start: tuple[int, ...], most: int
) -> tuple[Ints, Ints]:
    """Return the targets that statistic-first search finds, and their found neighbours.

    Protected vertices are left out: they come and go between targets without changing the order
    of these, see :func:`.sfs.sfs`.
    """
    near = _targeted_neighbours(instance)
    unit = instance.adjacency.shape[0]
    found, counts = list(start), [0] * len(start)
    # A vertex and its count as one number: the smallest is who has the most found neighbours, and
    # of these the smallest vertex. Who is found has a number larger than all.
    ranks = dict.fromkeys(start, unit)
    heap: list[int] = []

    def meet(vertex: int) -> None:
        for x in near(vertex):
            rank = ranks.get(x, x)
            if rank < unit:
                ranks[x] = rank - unit
                heapq.heappush(heap, rank - unit)

    for vertex in start:
        meet(vertex)
    while heap and len(found) < len(start) + most:
        rank = heapq.heappop(heap)
        best = rank % unit
        if ranks[best] == rank:
            found.append(best)
            counts.append((best - rank) // unit)
            ranks[best] = unit
            meet(best)
    return np.array(found, dtype=np.int64), np.array(counts, dtype=np.int64)


def step_pays(searches: int, members: int) -> bool:
    """Say whether so many searches of a component of so many members are cheaper together."""
    return searches >= FEW and members <= MOST_MEMBERS


def orders_in_step(instance: SearchInstance, members: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """Return :func:`targets_in_order` from many members of one component.

    Every search takes one target a step. So their counts are one matrix, a step is one search for
    the largest entry of each row, and what it costs in Python is shared.
    """
    at_once = max(1, ROOM // len(members))
    places = np.searchsorted(members, starts)
    inside = instance.adjacency[members]
    targeted = targeted_mask(instance)[inside.indices]
    ends: Ints = np.concatenate(([0], np.cumsum(targeted)))[inside.indptr]
    neighbours: Ints = np.searchsorted(members, inside.indices[targeted])
    parts = [
        _in_step(ends, neighbours, places[first : first + at_once])
        for first in range(0, len(places), at_once)
    ]
    targets, counts = (np.concatenate(some) for some in zip(*parts, strict=True))
    return members[targets], counts


def _in_step(ends: Ints, neighbours: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """Return orders and counts in a graph of rows ``neighbours[ends[i]:ends[i + 1]]``."""
    many, size = len(starts), len(ends) - 1
    begin, degree = ends[:-1], np.diff(ends)
    kind = np.int16 if degree.max() < np.iinfo(np.int16).max else np.int32
    # Who is found stays below 0, however often it is met again. Rows end where vectors do.
    found = np.iinfo(kind).min
    width = -(-size // VECTOR) * VECTOR
    counts = np.full((many, width), found, dtype=kind)
    counts[:, :size] = 0
    flat = counts.reshape(-1)
    targets, chosen = np.empty((size, many), dtype=np.int64), np.zeros((size, many), dtype=kind)
    corner = np.arange(many) * width
    winner = starts
    for step in range(size):
        if step:
            # The first of the largest: the smallest vertex.
            winner = counts.argmax(axis=1)
            chosen[step] = flat[corner + winner]
        targets[step] = winner
        flat[corner + winner] = found
        theirs = degree[winner]
        last = np.cumsum(theirs)
        met = np.repeat(begin[winner] - last + theirs, theirs) + np.arange(last[-1])
        flat[np.repeat(corner, theirs) + neighbours[met]] += 1
    return targets.T, chosen.T.astype(np.int64)


def _targeted_neighbours(instance: SearchInstance) -> Callable[[int], Sequence[int]]:
    """Return what tells the targeted neighbours of a target; each is looked up once."""
    adjacency, targeted = instance.adjacency, targeted_mask(instance)
    known: dict[int, list[int]] = instance.remember("exploration: neighbours", dict)

    def near(vertex: int) -> list[int]:
        if vertex not in known:
            row = adjacency.indices[adjacency.indptr[vertex] : adjacency.indptr[vertex + 1]]
            known[vertex] = row[targeted[row]].tolist()
        return known[vertex]

    return near
