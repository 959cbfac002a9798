"""What a simulator may know of an instance that the search itself may not, worked out once.

A sampler draws from the law of a search; it is not the search that is deployed. So it may ask an
oracle of its own about everyone, and keep what it learns with the instance.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import SearchInstance, targeted_components

__all__ = [
    "Shelf",
    "component_labels",
    "component_members",
    "neighbourhood",
    "remaining",
    "seed_components",
    "shelf",
    "targeted_mask",
]

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
        if keep:
            self.keep(key, value, weight)
        return value

    def keep(self, key: Hashable, value: T, weight: Callable[[T], int]) -> None:
        """Keep what was worked out elsewhere, if there is room."""
        if self.room > 0:
            self.room -= weight(value)
            self.kept[key] = value


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
    members: list[npt.NDArray[np.int64]] = instance.remember(
        "simulation: components",
        lambda: targeted_components(instance.adjacency, targeted_mask(instance)),
    )
    return members


def component_labels(instance: SearchInstance) -> npt.NDArray[np.int64]:
    """Return each vertex's component as an index into :func:`component_members`, -1 if none."""

    def build() -> npt.NDArray[np.int64]:
        labels = np.full(instance.adjacency.shape[0], -1)
        for label, members in enumerate(component_members(instance)):
            labels[members] = label
        return labels

    labels: npt.NDArray[np.int64] = instance.remember("simulation: component labels", build)
    return labels


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
