"""What every search for a new component shares: who is left, how they rank, whom to ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Instance, Oracle, StatisticOfProximity
from pdpaudit.core.statistic import score_all

from .sfs import sfs

__all__ = ["examine", "ranked", "score", "targeting", "unexamined"]

Vertices = npt.NDArray[np.integer[Any]]


def unexamined(instance: Instance) -> npt.NDArray[np.int64]:
    """Return the vertices not in I, ascending: neither a seed nor asked about so far; O(n)."""
    left = np.ones(instance.adjacency.shape[0], dtype=np.bool_)
    left[list(instance.seeds)] = False
    left[np.asarray(instance.oracle.log, dtype=np.int64)] = False
    return np.flatnonzero(left)


def score(
    sop: StatisticOfProximity, instance: Instance, found: Iterable[int] | npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return f(G, v, T̃) for every vertex, shape ``(n,)``; an array lists each of T̃ once."""
    members = np.sort(found) if isinstance(found, np.ndarray) else frozenset(found)
    scores = score_all(sop, lambda: instance.graph, instance.adjacency, members)
    if not np.isfinite(scores).all():
        vertex = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise InputError(f"the statistic is {scores[vertex]} at vertex {vertex}: must be finite")
    return scores


def ranked(vertices: Vertices, values: npt.NDArray[np.float64]) -> Vertices:
    """Return ``vertices`` (ascending) by decreasing value, ties by index; O(n log n)."""
    return vertices[np.argsort(-values, kind="stable")]


def examine(oracle: Oracle, order: Vertices, limit: float) -> tuple[int, ...]:
    """Ask about ``order`` while the number asked so far is at most ``limit``."""
    for count, vertex in enumerate(order):
        if count > limit:
            break
        if oracle(int(vertex)):
            return (int(vertex),)
    return ()


def targeting(
    instance: Instance,
    components: int,
    search: Callable[[tuple[int, ...]], tuple[int, ...]],
) -> tuple[int, ...]:
    """Alternate statistic-first search and a search for a new component (PTarget and Target)."""
    found = sfs(instance, instance.seeds)
    for _ in range(components - 1):
        new = search(found)
        if not new:
            break
        found += sfs(instance, new)
    return found
