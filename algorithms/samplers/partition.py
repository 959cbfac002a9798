"""What a sampler knows of a network and a search does not, worked out once for each instance.

A sampler draws from the law of a search; it is not the search that is deployed. So it may ask an
oracle of its own about everyone, and keep what it learns with the instance.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from pdpaudit.core.network import SearchInstance, targeted_components
from pdpaudit.core.protocols import Outputs

T = TypeVar("T")

#: How many numbers are kept with an instance: of states of the search, and of outputs.
ROOM = {"states": 1 << 23, "outputs": 1 << 21}


class Shelf:
    """Keeps what was worked out until there is no room left; the first thing always fits.

    The states a search of many rounds can be in outgrow any memory; those met first are the most
    frequent, and only they are worth keeping.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.kept: dict[Hashable, Any] = {}

    def get(
        self,
        key: Hashable,
        build: Callable[[], T],
        weight: Callable[[T], int],
        *,
        keep: bool = True,
    ) -> T:
        """Return what is kept under ``key``, or build it, and keep it if there is room.

        ``weight`` says how much room it takes.
        """
        if key in self.kept:
            known: T = self.kept[key]
            return known
        value = build()
        if keep and self.room > 0:
            self.room -= weight(value)
            self.kept[key] = value
        return value


def shelf(instance: SearchInstance, name: str) -> Shelf:
    """Return the instance's shelf of ``"states"`` or of ``"outputs"``."""
    kept: Shelf = instance.remember(f"simulation: {name}", lambda: Shelf(ROOM[name]))
    return kept


def targeted_mask(instance: SearchInstance) -> npt.NDArray[np.bool_]:
    """Return the partition, by asking an oracle of our own about everyone; O(n) the first time."""
    mask: npt.NDArray[np.bool_] = instance.remember(
        "simulation: targeted", lambda: instance.fresh().oracle.everyone()
    )
    return mask


def component_members(instance: SearchInstance) -> list[npt.NDArray[np.int64]]:
    """Return the components of the targeted subgraph; O(n + m) the first time."""
    parts: list[npt.NDArray[np.int64]] = instance.remember(
        "simulation: components",
        lambda: targeted_components(instance.adjacency, targeted_mask(instance)),
    )
    return parts


def component_labels(instance: SearchInstance) -> npt.NDArray[np.int64]:
    """Return each vertex's component as an index into :func:`component_members`, -1 if none."""

    def build() -> npt.NDArray[np.int64]:
        labels = np.full(instance.adjacency.shape[0], -1)
        for label, part in enumerate(component_members(instance)):
            labels[part] = label
        return labels

    labels: npt.NDArray[np.int64] = instance.remember("simulation: component labels", build)
    return labels


def members(instance: SearchInstance, labels: Iterable[int]) -> npt.NDArray[np.int64]:
    """Return the members of some components, in the order of these."""
    parts = component_members(instance)
    return np.concatenate([parts[label] for label in labels])


def seed_components(instance: SearchInstance) -> tuple[int, ...]:
    """Return the labels of the components that statistic-first search finds from the seeds."""
    return tuple(sorted({int(component_labels(instance)[seed]) for seed in instance.seeds}))


def remaining(instance: SearchInstance, found: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return the targets outside the components labelled ``found``, ascending; O(|T|)."""
    targets: npt.NDArray[np.int64] = instance.remember(
        "simulation: targets", lambda: np.flatnonzero(targeted_mask(instance))
    )
    gone = np.zeros(len(component_members(instance)), dtype=np.bool_)
    gone[list(found)] = True
    return targets[~gone[component_labels(instance)[targets]]]


def neighbourhood(
    instance: SearchInstance, vertices: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return who has a neighbour among ``vertices``, shape ``(n,)``; O(n + their degrees)."""
    mask = np.zeros(instance.adjacency.shape[0], dtype=np.bool_)
    mask[instance.adjacency[vertices].indices] = True
    return mask


def members_of(instance: SearchInstance, start: tuple[int, ...]) -> tuple[tuple[int, ...], Ints]:
    """Return the labels of the components of some targets, and their members, ascending."""
    labels = tuple(sorted({*component_labels(instance)[list(start)].tolist()}))
    return labels, np.sort(members(instance, labels))


def targets_in_order(
    instance: SearchInstance, start: tuple[int, ...], most: int
) -> tuple[Ints, Ints]:
    """Return the targets that statistic-first search finds, and their found neighbours.

    Protected vertices are left out: they come and go between targets without changing the order
    of these, see :func:`.sfs.sfs`.
    """
    labels, everybody = members_of(instance, start)

    def build() -> list[list[int]]:
        rows = instance.adjacency[everybody]
        inside = targeted_mask(instance)[rows.indices]
        ends = np.concatenate(([0], np.cumsum(inside)))[rows.indptr[1:-1]]
        places = np.searchsorted(everybody, rows.indices[inside])
        return [part.tolist() for part in np.split(places, ends)]

    neighbours = shelf(instance, "outputs").get(
        ("neighbours", labels), build, lambda lists: sum(map(len, lists))
    )
    found = np.searchsorted(everybody, start).tolist()
    counts = [0] * len(found)
    # A vertex and its count as one number: the smallest is who has the most found neighbours, and
    # of these the smallest vertex. Who is found has a number larger than all.
    unit = len(everybody)
    ranks = list(range(unit))
    for vertex in found:
        ranks[vertex] = unit
    heap: list[int] = []
    push, pop = heapq.heappush, heapq.heappop
    for turn, vertex in enumerate(found, start=1):  # which grows on the way
        for x in neighbours[vertex]:
            rank = ranks[x]
            if rank < unit:
                ranks[x] = rank = rank - unit
                push(heap, rank)
        # All of the start meet their neighbours before anybody is chosen.
        while heap and turn == len(found) < len(start) + most:
            rank = pop(heap)
            best = rank % unit
            if ranks[best] == rank:
                found.append(best)
                counts.append((best - rank) // unit)
                ranks[best] = unit
    return everybody[found], np.array(counts, dtype=np.int64)


def component_order(instance: SearchInstance, start: tuple[int, ...]) -> tuple[int, ...]:
    """Return the targets found from ``start``, in order.

    Which vertices were examined before makes no difference, nor do protected neighbours: see
    :func:`.sfs.sfs`.
    """

    def build() -> tuple[int, ...]:
        targets, _ = targets_in_order(instance, start, instance.adjacency.shape[0])
        return tuple(targets.tolist())

    alone = component_members(instance)[component_labels(instance)[start[0]]]
    if len(start) == len(alone) == 1:
        return start
    return shelf(instance, "outputs").get(("component", start), build, len)


def output_of(instance: SearchInstance, path: tuple[int, ...]) -> tuple[int, ...]:
    """Return all targets found, in order, by a search whose rounds found the vertices ``path``.

    O(targets found), beside the components not met before.
    """
    return shelf(instance, "outputs").get(path, lambda: written_out(instance, path), len)


def written_out(instance: SearchInstance, path: tuple[int, ...]) -> tuple[int, ...]:
    """Return the output that belongs to a path, which is not kept."""
    # The lists of a law differ in a few people at their ends: to join tuples copies the rest.
    orders = (component_order(instance, (winner,)) for winner in path)
    return sum(orders, component_order(instance, instance.seeds))


def coding_of(instance: SearchInstance) -> str:
    """Return what instances share on which equal paths are equal outputs; O(m).

    Protected vertices make no difference to an output, see :func:`component_order`.
    """
    targets = np.flatnonzero(targeted_mask(instance))
    inside = instance.adjacency[targets][:, targets]
    digest = hashlib.blake2b(repr([*map(int, instance.seeds)]).encode(), digest_size=16)
    for array in (targets, inside.indptr, inside.indices):
        digest.update(np.ascontiguousarray(array, dtype=np.int64).data)
    return digest.hexdigest()


def outputs_of(instance: SearchInstance, paths: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the output that belongs to each path.

    Most are known; asking the dictionary first spares a call for each.
    """
    known = shelf(instance, "outputs").kept
    return [known[path] if path in known else output_of(instance, path) for path in paths]


Ints = npt.NDArray[np.int64]


def by_label(winners: Ints, labels: Ints) -> list[tuple[int, Ints]]:
    """Sort runs by the component they found; O(g log g)."""
    going = np.flatnonzero(winners >= 0)
    reached = labels[winners[going]]
    order = np.argsort(reached, kind="stable")
    distinct, first = np.unique(reached[order], return_index=True)
    return list(zip(distinct.tolist(), np.split(going[order], first[1:]), strict=False))


def outputs_of_rounds(instance: SearchInstance, winners: Ints) -> Outputs:
    """Return the outputs of searches that alternate with statistic-first search."""
    n = instance.adjacency.shape[0]
    codes = np.zeros(winners.shape[1], dtype=np.int64)
    for found in winners:
        # A path is coded by the code of its beginning and its end.
        codes = pd.factorize(codes * (n + 1) + found + 1)[0].astype(np.int64)
    # Written out once, in the end: to prolong each in every round would be quadratic in the rounds.
    _, first = np.unique(codes, return_index=True)
    rows = winners[:, first].T
    lengths = np.count_nonzero(rows >= 0, axis=1)
    paths = (
        tuple(row[:length]) for row, length in zip(rows.tolist(), lengths.tolist(), strict=True)
    )
    return Outputs(outputs_of(instance, paths), codes)
