"""What a simulator may know of an instance that the search itself may not, worked out once.

A sampler draws from the law of a search; it is not the search that is deployed. So it may ask an
oracle of its own about everyone, and keep what it learns with the instance.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pdpaudit.network import SearchInstance, targeted_components

from .sfs import sfs

__all__ = [
    "component_labels",
    "component_members",
    "component_order",
    "kept",
    "neighbourhood",
    "output_of",
    "seed_components",
    "targeted_mask",
]

T = TypeVar("T")

#: States kept with an instance; beyond, they are worked out each time they are met.
STATES_KEPT = 4096


def kept(instance: SearchInstance, key: Hashable, build: Callable[[], T]) -> T:
    """Return what is kept under ``key``, or build it; at most ``STATES_KEPT`` are kept.

    The states a search of many rounds can be in outgrow any memory; those met first are the most
    frequent, and only they are worth keeping.
    """
    shelf: dict[Hashable, T] = instance.remember("simulation states", dict)
    if key in shelf:
        return shelf[key]
    value = build()
    if len(shelf) < STATES_KEPT:
        shelf[key] = value
    return value


def targeted_mask(instance: SearchInstance) -> npt.NDArray[np.bool_]:
    """Return the partition, by asking an oracle of our own about everyone; O(n) the first time."""

    def build() -> npt.NDArray[np.bool_]:
        n = instance.adjacency.shape[0]
        return np.fromiter(map(instance.fresh().oracle, range(n)), dtype=np.bool_, count=n)

    mask: npt.NDArray[np.bool_] = instance.remember("simulation: targeted", build)
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


def component_order(instance: SearchInstance, start: tuple[int, ...]) -> tuple[int, ...]:
    """Return the targets found from ``start``, in order.

    Which vertices were examined before makes no difference: see :func:`.sfs.sfs`.
    """
    return kept(instance, ("order", start), lambda: sfs(instance.fresh(), start))


def output_of(instance: SearchInstance, path: tuple[int, ...]) -> tuple[int, ...]:
    """Return all targets found, in order, by a search whose rounds found the vertices ``path``."""
    output = component_order(instance, instance.seeds)
    for winner in path:
        output += component_order(instance, (winner,))
    return output


def neighbourhood(
    instance: SearchInstance, vertices: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return who has a neighbour among ``vertices``, shape ``(n,)``; O(n + their degrees)."""
    mask = np.zeros(instance.adjacency.shape[0], dtype=np.bool_)
    mask[instance.adjacency[vertices].indices] = True
    return mask
