"""Call an author's code under a time limit, and say on which graph it failed."""

from __future__ import annotations

import math
import signal
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.core.errors import described
from pdpaudit.core.protocols import FastStatistic, StatisticOfProximity

__all__ = [
    "EvaluationFailed",
    "TooSlow",
    "author_trace",
    "fast_values",
    "limit",
    "place_of",
    "scalar_values",
    "small_adjacency",
]


class TooSlow(BaseException):
    """The time given is over; no Exception, so that an author's ``except`` lets it through."""


class EvaluationFailed(Exception):
    """An evaluation gave no finite real number."""

    def __init__(self, check: str, message: str, place: dict[str, Any], trace: str = "") -> None:
        super().__init__(check, message, place, trace)
        self.check = check
        self.message = message
        self.place = place
        self.trace = trace


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise :class:`TooSlow` inside the block once the time is over.

    It interrupts Python code in the main thread of a process that has interval timers; elsewhere
    the block runs to its end. So does one call into compiled code that does not return to Python:
    such a call is interrupted only once it returns. An outer limit stays in force.
    """
    if (
        math.isinf(seconds)
        or not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def ring(signum: int, frame: object) -> None:
        raise TooSlow

    outer, _ = signal.getitimer(signal.ITIMER_REAL)
    start = time.monotonic()
    previous = signal.signal(signal.SIGALRM, ring)
    seconds = max(seconds, 1e-6)
    signal.setitimer(signal.ITIMER_REAL, min(seconds, outer) if outer else seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        if outer:
            left = outer - (time.monotonic() - start)
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-6))


def place_of(graph: nx.Graph, vertex: int | None, targets: frozenset[int]) -> dict[str, Any]:
    """Return where an evaluation happened, as plain data."""
    return {
        "n": graph.number_of_nodes(),
        "edges": sorted([min(a, b), max(a, b)] for a, b in graph.edges),
        "vertex": vertex,
        "targets": sorted(targets),
    }


def scalar_values(
    sop: StatisticOfProximity, graph: nx.Graph, targets: frozenset[int]
) -> npt.NDArray[np.float64]:
    """Evaluate the scalar form at every vertex, ``0..n-1``."""
    n = graph.number_of_nodes()
    m = graph.number_of_edges()
    values = np.empty(n)
    vertex: int | None = None
    try:
        for vertex in range(n):
            values[vertex] = sop(graph, vertex, targets)
    except Exception as error:
        place = place_of(graph, vertex, targets)
        message = described(error)
        raise EvaluationFailed("finite", message, place, author_trace(error)) from None
    if not np.isfinite(values).all():
        vertex = int(np.flatnonzero(~np.isfinite(values))[0])
        place = place_of(graph, vertex, targets)
        raise EvaluationFailed("finite", f"the value is {values[vertex]}", place)
    if graph.number_of_nodes() != n or graph.number_of_edges() != m:
        place = place_of(graph, None, targets)
        raise EvaluationFailed("graph-unchanged", "the statistic changed the graph", place)
    return values


def fast_values(
    sop: FastStatistic, adjacency: csr_array, targets: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Evaluate the fast path."""
    n = adjacency.shape[0]

    def failed(message: str, trace: str = "") -> EvaluationFailed:
        rows, columns = adjacency.nonzero()
        pairs = zip(rows.tolist(), columns.tolist(), strict=True)
        edges = sorted([a, b] for a, b in pairs if a < b)
        place = {"n": n, "edges": edges, "vertex": None, "targets": targets.tolist()}
        return EvaluationFailed("fast-path", message, place, trace)

    try:
        values = np.asarray(sop.scores(adjacency, targets), dtype=np.float64)
    except Exception as error:
        raise failed(described(error), author_trace(error)) from None
    if values.shape != (n,):
        raise failed(f"the fast path returned shape {values.shape}, not ({n},)")
    if not np.isfinite(values).all():
        raise failed("the fast path returned a value that is not finite")
    return values


def small_adjacency(n: int, edges: Sequence[tuple[int, int]]) -> csr_array:
    """Return the canonical matrix of a small graph, through a dense one; O(n²)."""
    dense = np.zeros((n, n), dtype=bool)
    if edges:
        a, b = np.array(edges).T
        dense[a, b] = dense[b, a] = True
    indices = np.flatnonzero(dense) % max(n, 1)
    start = np.concatenate([[0], np.cumsum(dense.sum(axis=1))])
    data = np.ones(len(indices), dtype=np.int8)
    return csr_array((data, indices.astype(np.int32), start.astype(np.int32)), shape=(n, n))


def author_trace(error: Exception) -> str:
    """Return the traceback below this module's own frame."""
    frames = error.__traceback__.tb_next if error.__traceback__ else None
    return "".join(traceback.format_exception(type(error), error, frames))
