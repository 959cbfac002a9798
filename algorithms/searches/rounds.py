"""What the searches share: statistic-first search, arguments, who is left, how they rank."""

from __future__ import annotations

import heapq
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError, Misbehaviour, described
from pdpaudit.core.protocols import Instance, Oracle, StatisticOfProximity
from pdpaudit.core.statistic import name_of, score_all


def sfs(instance: Instance, start: tuple[int, ...]) -> tuple[int, ...]:
    """Explore the targeted components of ``start`` (Kearns et al., algorithm SFS(G, t))."""
    indptr, indices = instance.adjacency.indptr, instance.adjacency.indices
    oracle = instance.oracle
    found = list(start)
    inside = set(start)
    path_1: dict[int, int] = {}
    # Path_1 only grows, so an entry is out of date exactly when it differs from the count kept.
    heap: list[tuple[int, int]] = []

    def meet_neighbours(vertex: int) -> None:
        for x in indices[indptr[vertex] : indptr[vertex + 1]].tolist():
            if x not in inside and not oracle.examined(x):
                path_1[x] = path_1.get(x, 0) + 1
                heapq.heappush(heap, (-path_1[x], x))

    for vertex in start:
        meet_neighbours(vertex)
    while heap:
        negative, best = heapq.heappop(heap)
        if oracle.examined(best) or -negative != path_1[best]:
            continue
        if oracle(best):
            found.append(best)
            inside.add(best)
            meet_neighbours(best)
    return tuple(found)


def check_search(
    *,
    sop: StatisticOfProximity,
    epsilon: float = 1.0,
    components: int = 1,
    stop: int | None = None,
    max_degree: int | None = None,
    delta: float = 0.5,
    **_: object,
) -> None:
    """Refuse arguments that no search can be run with; O(1)."""
    if not isinstance(sop, StatisticOfProximity):
        raise InputError(
            f"sop = {sop!r}: a statistic of proximity is callable and declares sensitivity and "
            "impact_cardinality; see pdpaudit.core.statistic.statistic"
        )
    if not 0 < epsilon < math.inf:
        raise InputError(f"epsilon = {epsilon}: must be a positive, finite number")
    if not 0 < delta < 1:
        raise InputError(f"delta = {delta}: must lie strictly between 0 and 1")
    _whole("components", components, 1)
    if stop is not None:
        _whole("stop", stop, 0)
    if max_degree is not None:
        _whole("max_degree", max_degree, 1)


def _whole(name: str, value: int, least: int) -> None:
    try:
        fits = operator.index(value) >= least
    except TypeError:
        fits = False
    if not fits:
        raise InputError(f"{name} = {value}: must be a whole number, at least {least}")


def degree_bound(max_degree: int | None, instance: Instance) -> int:
    """Return the public degree bound: the mechanism's own, the network's, or that of n vertices.

    It is never read off the network at hand, which would itself reveal protected edges.
    """
    if max_degree is not None:
        return max_degree
    if instance.max_degree is not None:
        return instance.max_degree
    return max(instance.adjacency.shape[0] - 1, 1)


def query_limit(stop: int | None, n: int) -> int:
    """Return the public number of queries after which a search round gives up.

    Without one it is half of the vertices, which is public as their number is: far enough for a
    statistic that is informative, and short of asking everyone.
    """
    return n // 2 if stop is None else stop


def declared(sop: StatisticOfProximity, max_degree: int) -> tuple[float, int]:
    """Return the Δ and IC that ``sop`` declares for the public degree bound."""
    impact = int(_finite(sop, "impact_cardinality", max_degree))
    return declared_sensitivity(sop, max_degree), impact


def declared_sensitivity(sop: StatisticOfProximity, max_degree: int) -> float:
    """Return the Δ that ``sop`` declares, for searches that need no IC."""
    return _finite(sop, "sensitivity", max_degree)


def _finite(sop: StatisticOfProximity, name: str, max_degree: int) -> float:
    try:
        value = float(getattr(sop, name)(max_degree))
    except (InputError, Misbehaviour):
        raise
    except Exception as error:
        raise InputError(
            f"{name_of(sop)}.{name}({max_degree}) fails: {described(error)}; it must return a "
            "finite number, at least 0"
        ) from error
    if not 0 <= value < math.inf:
        raise InputError(
            f"{name_of(sop)} declares {name.replace('_', ' ')} {value:g} at maximum degree "
            f"{max_degree}: must be a finite number, at least 0"
        )
    return value


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
        raise InputError(f"{name_of(sop)} is {scores[vertex]} at vertex {vertex}: must be finite")
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
