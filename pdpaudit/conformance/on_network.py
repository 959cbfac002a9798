"""Look for the worst rewiring on one given network, within a public degree bound."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pdpaudit.conformance.guard import EvaluationFailed, TooSlow, author_trace, limit
from pdpaudit.contracts import FastStatistic, StatisticOfProximity
from pdpaudit.errors import InputError
from pdpaudit.neighbors import rewire
from pdpaudit.network import Network, targeted_components

__all__ = ["Move", "require_degree", "worst_move"]

Vertices = npt.NDArray[np.int64]

SCALAR_SAMPLE = 300  # targeted vertices a statistic without fast path is evaluated at


def require_degree(network: Network, max_degree: int) -> None:
    """Refuse a degree bound that the network itself does not obey.

    Raises
    ------
    InputError
        If a vertex has more neighbours.
    """
    largest = int(np.diff(network.adjacency.indptr).max())
    if largest > max_degree:
        raise InputError(
            f"the network has a vertex of degree {largest}, above the public bound {max_degree}; "
            f"give --max-degree {largest} or more"
        )


@dataclass(frozen=True)
class Move:
    """One rewiring, and the targeted vertex it moves most.

    Attributes
    ----------
    vertex : int
        The protected vertex.
    left, right : tuple of int
        Its neighbours before and after.
    targets : tuple of int
        The set S.
    at : int
        The targeted vertex that moves most.
    before, after : float
        Its values.
    looked_at : int
        Number of rewirings evaluated in the whole search.
    """

    vertex: int
    left: tuple[int, ...]
    right: tuple[int, ...]
    targets: tuple[int, ...]
    at: int
    before: float
    after: float
    looked_at: int

    @property
    def moved(self) -> float:
        """By how much."""
        return abs(self.after - self.before)


def worst_move(
    sop: StatisticOfProximity,
    network: Network,
    max_degree: int,
    *,
    fast: bool,
    steps: int,
    seed: int,
    deadline: float,
) -> Move | None:
    """Search for the rewiring of one protected vertex that moves a targeted vertex most.

    Parameters
    ----------
    sop : StatisticOfProximity
        The statistic.
    network : Network
        Graph and partition.
    max_degree : int
        Public degree bound, which both networks obey.
    fast : bool
        Whether to use the fast path.
    steps : int
        Rewirings to evaluate at most.
    seed : int
        Of the search.
    deadline : float
        Value of ``time.time()`` to stop at.

    Returns
    -------
    Move or None
        The best found, by no means the worst there is; None if the time was over at once.

    Raises
    ------
    InputError
        If the network itself exceeds the degree bound.
    EvaluationFailed
        If the statistic fails.
    """
    require_degree(network, max_degree)
    degree = np.diff(network.adjacency.indptr)
    rng = np.random.default_rng([seed, 0x0E])
    targeted = np.flatnonzero(network.targeted)
    seen = targeted if fast else np.sort(rng.permutation(targeted)[:SCALAR_SAMPLE])
    sets = _sets(network, rng)
    vertices = _vertices(network, degree, rng)
    best: Move | None = None
    looked_at = 0
    try:
        while looked_at < steps and time.time() < deadline:
            vertex = next(vertices)
            members = sets[int(rng.integers(len(sets)))]
            options = list(_neighbourhoods(network, vertex, members, max_degree, degree, rng))
            scored = []
            for neighbours in options:
                with limit(deadline - time.time()):
                    values = _values(sop, rewire(network, vertex, neighbours), members, seen, fast)
                scored.append(values)
                looked_at += 1
            stacked = np.stack(scored)
            spread = stacked.max(axis=0) - stacked.min(axis=0)
            place = int(spread.argmax())
            if best is None or spread[place] > best.moved:
                low, high = int(stacked[:, place].argmin()), int(stacked[:, place].argmax())
                best = Move(
                    vertex,
                    tuple(options[low]),
                    tuple(options[high]),
                    tuple(members.tolist()),
                    int(seen[place]),
                    float(stacked[low, place]),
                    float(stacked[high, place]),
                    looked_at,
                )
    except TooSlow:
        pass
    if best is None:
        return None
    return Move(**{**best.__dict__, "looked_at": looked_at})


def _values(
    sop: StatisticOfProximity, network: Network, members: Vertices, seen: Vertices, fast: bool
) -> npt.NDArray[np.float64]:
    try:
        if fast and isinstance(sop, FastStatistic):
            values = np.asarray(sop.scores(network.adjacency, members), dtype=np.float64)[seen]
        else:
            graph, targets = network.instance().graph, frozenset(members.tolist())
            values = np.array([float(sop(graph, v, targets)) for v in seen.tolist()])
    except Exception as error:
        place = {"n": network.n, "edges": [], "vertex": None, "targets": members.tolist()}
        raise EvaluationFailed(
            "finite", f"{type(error).__name__}: {error}", place, author_trace(error)
        ) from None
    if not np.isfinite(values).all():
        place = {"n": network.n, "edges": [], "vertex": None, "targets": members.tolist()}
        raise EvaluationFailed("finite", "a value is not finite", place)
    return values


def _sets(network: Network, rng: np.random.Generator) -> list[Vertices]:
    """Return sets S worth trying: all targets, components, halves, single ones."""
    targeted = np.flatnonzero(network.targeted)
    components = targeted_components(network.adjacency, network.targeted)
    sets = [targeted, np.sort(components[0]), np.array(network.seeds, dtype=np.int64)]
    sets.extend(targeted[rng.random(len(targeted)) < 0.5] for _ in range(2))
    sets.extend(np.array([v]) for v in rng.choice(targeted, size=min(3, len(targeted))))
    return sets


def _vertices(
    network: Network, degree: npt.NDArray[np.int32], rng: np.random.Generator
) -> Iterator[int]:
    """Yield protected vertices for ever: the best connected, and random ones, in turn."""
    protected = network.protected
    ranked = protected[np.argsort(-degree[protected], kind="stable")]
    turn = 0
    while True:
        yield int(ranked[turn % len(ranked)])
        yield int(rng.choice(protected))
        turn += 1


def _neighbourhoods(
    network: Network,
    vertex: int,
    members: Vertices,
    max_degree: int,
    degree: npt.NDArray[np.int32],
    rng: np.random.Generator,
) -> Iterator[Sequence[int]]:
    """Yield ways to wire a vertex: as it is, not at all, to targets, to S, to what is near S."""
    own = network.neighbours(vertex).astype(np.int64)
    free = degree < max_degree
    free[own] = True
    free[vertex] = False

    def some(wanted: Vertices) -> list[int]:
        allowed = wanted[free[wanted]]
        chosen = rng.permutation(allowed)[:max_degree]
        return sorted(chosen.tolist())

    near = np.unique(network.adjacency[members].indices.astype(np.int64))
    targeted = np.flatnonzero(network.targeted)
    yield own.tolist()
    yield []
    yield some(targeted)
    yield some(members)
    yield some(near)
    yield some(np.setdiff1d(targeted, members))
    if len(members):
        one = some(np.array([rng.choice(members)]))
        rest = some(np.setdiff1d(targeted, members))
        yield sorted({*one, *rest[: max(max_degree - len(one), 0)]})
    yield some(np.arange(network.n))
