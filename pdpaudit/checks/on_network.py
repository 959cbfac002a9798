"""Look for the worst rewirings on one given network, within a public degree bound."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from pdpaudit.checks.difference import apart, change
from pdpaudit.checks.guard import EvaluationFailed, TooSlow, author_trace, limit
from pdpaudit.checks.measure import slack_at
from pdpaudit.core.errors import InputError, described
from pdpaudit.core.neighbors import rewire
from pdpaudit.core.network import Network, targeted_components
from pdpaudit.core.protocols import FastStatistic, StatisticOfProximity

__all__ = ["Move", "Worst", "require_degree", "worst_moves"]

Vertices = npt.NDArray[np.int64]

# A statistic without fast path is evaluated at so many targeted vertices, and so many that are
# neighbours of the rewired one before or after.
SCALAR_SAMPLE = 300
SCALAR_NEAR = 60


def require_degree(network: Network, max_degree: int) -> None:
    """Refuse a degree bound that the network itself does not obey."""
    largest = int(np.diff(network.adjacency.indptr).max())
    if largest > max_degree:
        raise InputError(
            f"the network has a vertex of degree {largest}, above the public bound {max_degree}; "
            f"give --max-degree {largest} or more"
        )


@dataclass(frozen=True)
class Move:
    """One rewiring, the targeted vertex it moves most, and the vertices it changes."""

    vertex: int
    left: tuple[int, ...]
    right: tuple[int, ...]
    targets: tuple[int, ...]
    at: int
    before: float
    after: float
    changed: tuple[int, ...]

    @property
    def moved(self) -> float:
        """By how much the targeted vertex moves."""
        return float(change(self.after, self.before))


@dataclass(frozen=True)
class Worst:
    """What a search on one network found."""

    moves_most: Move
    changes_most: Move
    looked_at: int


def worst_moves(
    sop: StatisticOfProximity,
    network: Network,
    max_degree: int,
    *,
    fast: bool,
    steps: int,
    seed: int,
    deadline: float,
) -> Worst | None:
    """Search for the rewirings of one protected vertex that move, and change, most."""
    require_degree(network, max_degree)
    degree = np.diff(network.adjacency.indptr)
    slack = slack_at(sop, max_degree)
    rng = np.random.default_rng([seed, 0x0E])
    targeted = np.flatnonzero(network.targeted)
    sample = np.sort(rng.permutation(targeted)[:SCALAR_SAMPLE])
    sets = _sets(network, rng)
    vertices = _vertices(network, degree, rng)
    moves: Move | None = None
    changes: Move | None = None
    looked_at = 0
    try:
        while looked_at < steps and time.time() < deadline:
            vertex = next(vertices)
            members = sets[int(rng.integers(len(sets)))]
            options = list(_neighbourhoods(network, vertex, members, max_degree, degree, rng))
            seen = np.arange(network.n) if fast else _near(sample, vertex, options)
            scored = []
            for neighbours in options:
                with limit(deadline - time.time()):
                    values = _values(sop, rewire(network, vertex, neighbours), members, seen, fast)
                scored.append(values)
                looked_at += 1
            stacked = np.stack(scored)
            where = np.flatnonzero(network.targeted[seen])
            for a, b in combinations(range(len(options)), 2):
                shift = change(stacked[a], stacked[b])
                differing = apart(stacked[a], stacked[b], slack)
                count = int(np.count_nonzero(differing))
                place = where[shift[where].argmax()]
                further = moves is None or shift[place] > moves.moved
                wider = changes is None or count > len(changes.changed)
                if not (further or wider):
                    continue
                move = Move(
                    vertex,
                    tuple(options[a]),
                    tuple(options[b]),
                    tuple(members.tolist()),
                    int(seen[place]),
                    float(stacked[a, place]),
                    float(stacked[b, place]),
                    tuple(seen[differing].tolist()),
                )
                moves = move if further else moves
                changes = move if wider else changes
    except TooSlow:
        pass
    if moves is None or changes is None:
        return None
    return Worst(moves, changes, looked_at)


def _near(sample: Vertices, vertex: int, options: Sequence[Sequence[int]]) -> Vertices:
    """Return where to evaluate a statistic without fast path: a sample, u, and some next to u."""
    around = np.unique([v for neighbours in options for v in neighbours]).astype(np.int64)
    return np.union1d(np.append(sample, vertex), around[:SCALAR_NEAR])


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
        raise EvaluationFailed("finite", described(error), place, author_trace(error)) from None
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
