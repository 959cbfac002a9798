"""What statistic-first search does in a component, worked out once for every run that enters it.

Which target comes next depends on the edges inside T alone, and whoever was examined before is
passed over without changing anything. So one plan serves all runs that enter by the same vertex.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.network import SearchInstance

from .simulation import shelf, targeted_mask

__all__ = ["Exploration", "exploration", "explored", "neighbours_of", "targets_in_order"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Exploration:
    """Statistic-first search from some targets, where nobody was examined before.

    Attributes
    ----------
    targets : ndarray of int, shape (J,)
        The targets, in the order found; those it started from come first and cost nothing.
    started : int
        How many it started from.
    protected : ndarray of int, shape (p,)
        The protected vertices it asks about, those between two targets together.
    before : ndarray of int, shape (J,)
        How many of ``protected`` come before each target.
    """

    targets: Ints
    started: int
    protected: Ints
    before: Ints

    def weight(self) -> int:
        """Return how many numbers it holds, about."""
        return 2 * len(self.targets) + len(self.protected)


def exploration(instance: SearchInstance, start: tuple[int, ...], most: int) -> Exploration:
    """Return the plan of :func:`.sfs.sfs` from ``start``; worked out once, then kept.

    Parameters
    ----------
    instance : SearchInstance
        The network.
    start : tuple of int
        Targets to start from.
    most : int
        Targets to find at most; a run that may ask so many questions finds no more.

    Returns
    -------
    Exploration
        O(e log e) for e edges at the component, most of it in array operations.
    """
    key = ("exploration", start, most)
    return shelf(instance, "outputs").get(
        key, lambda: _worked_out(instance, start, most), Exploration.weight
    )


def explored(
    plan: Exploration, open_: npt.NDArray[np.bool_], calls: int
) -> tuple[Ints, int, npt.NDArray[np.int64]]:
    """Follow a plan where some vertices were examined before.

    Parameters
    ----------
    plan : Exploration
        What to do.
    open_ : ndarray of bool, shape (n,)
        The protected vertices not yet examined.
    calls : int
        Oracle calls made before.

    Returns
    -------
    found : ndarray of int, shape (J - started,)
        Calls made when each target was found.
    calls : int
        Calls made in the end.
    asked : ndarray of int
        The protected vertices asked about. O(J + p).
    """
    unknown = open_[plan.protected]
    asked = plan.protected[unknown]
    paid = np.concatenate(([0], np.cumsum(unknown)))
    before = plan.before[plan.started :]
    found = calls + np.arange(1, len(before) + 1) + paid[before]
    return found, calls + len(before) + len(asked), asked


def neighbours_of(
    adjacency: csr_array, vertices: npt.NDArray[np.integer[Any]]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the neighbours of each vertex, one after the other, and whose they are.

    Examples
    --------
    >>> import networkx as nx
    >>> from pdpaudit.network import adjacency_from_networkx
    >>> path, _ = adjacency_from_networkx(nx.path_graph(4))
    >>> [array.tolist() for array in neighbours_of(path, np.array([2, 0]))]
    [[1, 3, 1], [0, 0, 1]]
    """
    start = adjacency.indptr[vertices].astype(np.int64)
    degree = adjacency.indptr[vertices + 1] - start
    owner = np.repeat(np.arange(len(vertices)), degree)
    shift = start - (np.cumsum(degree) - degree)
    place = np.arange(len(owner)) + shift[owner]
    return adjacency.indices[place].astype(np.int64), owner


def _worked_out(instance: SearchInstance, start: tuple[int, ...], most: int) -> Exploration:
    adjacency = instance.adjacency
    targets, counts = targets_in_order(instance, start, most)
    # The rank by which a target was chosen, as one number: larger is earlier.
    width = adjacency.shape[0] + 1
    chosen = counts[len(start) :] * width - targets[len(start) :]
    x, owner = neighbours_of(adjacency, targets)
    outside = ~targeted_mask(instance)[x]
    x, owner = x[outside], owner[outside]
    if not len(x):
        return Exploration(targets, len(start), x, np.zeros(len(targets), dtype=np.int64))
    # A vertex met for the r-th time has rank (r, index) until it is met again or asked about.
    order = np.argsort(x, kind="stable")
    x, owner = x[order], owner[order]
    first = np.flatnonzero(np.diff(x, prepend=-1))
    size = np.diff(np.append(first, len(x)))
    times = np.arange(len(x)) - np.repeat(first, size) + 1
    met = np.maximum(owner - (len(start) - 1), 0)
    turn = np.minimum.reduceat(_first_below(chosen, met, times * width - x), first)
    when = np.argsort(turn, kind="stable")
    before = np.searchsorted(turn[when], np.arange(len(chosen)), side="right")
    before = np.concatenate((np.zeros(len(start), dtype=np.int64), before))
    return Exploration(targets, len(start), x[first][when], before)


def targets_in_order(
    instance: SearchInstance, start: tuple[int, ...], most: int
) -> tuple[Ints, Ints]:
    """Return the targets that statistic-first search finds, and their found neighbours.

    Protected vertices are left out: they come and go between targets without changing the order
    of these, see :func:`.sfs.sfs`.

    Parameters
    ----------
    instance : SearchInstance
        The network.
    start : tuple of int
        Targets to start from.
    most : int
        Targets to find at most.

    Returns
    -------
    targets, counts : ndarray of int, shape (J,)
        The targets in the order found, ``start`` first, and with how many found neighbours each
        was chosen. O(e log e) for e edges between two of them, beside their degrees.

    Examples
    --------
    >>> import networkx as nx
    >>> from pdpaudit.network import Network, adjacency_from_networkx
    >>> adjacency, _ = adjacency_from_networkx(nx.Graph([(0, 1), (0, 2), (0, 3), (2, 3), (1, 4)]))
    >>> targeted = np.array([True, False, True, True, True])
    >>> instance = Network(adjacency, targeted, seeds=(0,)).instance()
    >>> [array.tolist() for array in targets_in_order(instance, (0,), most=9)]
    [[0, 2, 3], [0, 1, 2]]
    """
    near = _targeted_neighbours(instance)
    found, counts = list(start), [0] * len(start)
    path_1 = dict.fromkeys(start, -1)
    heap: list[tuple[int, int]] = []

    def meet(vertex: int) -> None:
        for x in near(vertex):
            count = path_1.get(x, 0)
            if count >= 0:
                path_1[x] = count + 1
                heapq.heappush(heap, (-count - 1, x))

    for vertex in start:
        meet(vertex)
    while heap and len(found) < len(start) + most:
        negative, best = heapq.heappop(heap)
        if -negative == path_1[best]:
            found.append(best)
            counts.append(-negative)
            path_1[best] = -1
            meet(best)
    return np.array(found, dtype=np.int64), np.array(counts, dtype=np.int64)


def _targeted_neighbours(instance: SearchInstance) -> Any:
    """Return what tells the targeted neighbours of a target; each is looked up once."""
    adjacency, targeted = instance.adjacency, targeted_mask(instance)
    known: dict[int, list[int]] = instance.remember("exploration: neighbours", dict)

    def near(vertex: int) -> list[int]:
        if vertex not in known:
            row = adjacency.indices[adjacency.indptr[vertex] : adjacency.indptr[vertex + 1]]
            known[vertex] = row[targeted[row]].tolist()
        return known[vertex]

    return near


def _first_below(values: Ints, begin: Ints, bounds: Ints) -> Ints:
    """Return the first index from ``begin`` on at which ``values`` is below the bound.

    Minima over ranges of 2^l tell in O(log J) steps how far one may go; J where there is none.

    Examples
    --------
    >>> _first_below(np.array([5, 3, 4, 1]), np.array([0, 0, 2, 3]), np.array([4, 1, 4, 9]))
    array([1, 4, 3, 3])
    """
    minima = [values]
    while 2 * (1 << (len(minima) - 1)) <= len(values):
        half = 1 << (len(minima) - 1)
        minima.append(np.minimum(minima[-1][:-half], minima[-1][half:]))
    at = begin.copy()
    for level in range(len(minima) - 1, -1, -1):
        reach = minima[level]
        if not len(reach):
            continue
        inside = at < len(reach)
        at[inside & (reach[np.minimum(at, len(reach) - 1)] >= bounds)] += 1 << level
    return at
