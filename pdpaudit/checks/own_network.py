"""Check what is declared on the author's own network: the worst rewirings within a degree bound."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, cycle
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pdpaudit.checks.evaluation import (
    PROPERTIES,
    RAISED,
    CheckFailed,
    Values,
    apart,
    change,
    raised,
)
from pdpaudit.checks.graphs import Case, Sample
from pdpaudit.checks.search import shrink
from pdpaudit.core.errors import ParameterError
from pdpaudit.core.network import Network, rewire, targeted_components
from pdpaudit.core.protocols import FastStatistic
from pdpaudit.results.results import CheckResult
from pdpaudit.sampling.guard import Limit, TooSlow

if TYPE_CHECKING:
    from pdpaudit.checks.examination import Examination
    from pdpaudit.checks.graphs import PairWitness

Vertices = npt.NDArray[np.int64]

# A statistic without fast path is evaluated at this many targeted vertices, and at this many that
# are neighbours of the rewired one before or after.
SCALAR_SAMPLE = 300
SCALAR_NEAR = 60
SHRINKABLE = 60  # vertices around a violation that are shrunk one by one
LARGEST_WITNESS = 5000  # vertices of a network that is written out
SHOWN = 8  # neighbours named in a sentence


def require_degree(network: Network, max_degree: int) -> None:
    """Refuse a degree bound that the network itself does not obey."""
    largest = int(np.diff(network.adjacency.indptr).max())
    if largest > max_degree:
        raise ParameterError(
            "max_degree",
            max_degree,
            f"the network has a vertex of degree {largest}; give {largest} or more",
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


@dataclass
class Worst:
    """The rewirings found that move a targeted vertex most and that change most vertices."""

    moves_most: Move | None = None
    changes_most: Move | None = None
    looked_at: int = 0


def own_network(examination: Examination) -> CheckResult:
    """Check the declarations at the public degree bound by rewirings of the given network."""
    network = examination.options.network
    if network is None:
        return CheckResult("own-network", "skipped", detail="no network was given")
    degree = examination.options.max_degree
    bound = network.n - 1 if degree is None else degree
    declared = examination.declared
    sensitivity, impact = (declared.bound(of, bound) for of in PROPERTIES)
    worst = _search(examination, network, bound)
    most, widest = worst.moves_most, worst.changes_most
    if most is None or widest is None:
        return CheckResult("own-network", "inconclusive", detail="time limit reached")
    moved, changed = most.moved, len(widest.changed)
    # Where both are broken, the sensitivity is shown.
    too_far = moved > declared.allowed("targeted-sensitivity", bound)
    too_many = changed > impact and not too_far
    witness = None
    if too_far or too_many:
        shown, of = (most, PROPERTIES[0]) if too_far else (widest, PROPERTIES[1])
        witness = _witness(examination, network, shown, bound, of)
    promise = f"degree {bound}" + (" (n - 1, as none was given)" if degree is None else "")
    members = _named(network, most.targets)
    detail = (
        f"{_rewiring(network, most)} moves {network.name(most.at)} from {most.before:.6g} to "
        f"{most.after:.6g}, with S = {members} (the targets found so far); "
        f"{_rewiring(network, widest)} changes {changed} vertices"
    )
    return CheckResult(
        "own-network",
        "violated" if too_far or too_many else "not_rejected",
        declared=impact if too_many else sensitivity,
        observed=float(changed) if too_many else moved,
        scope=f"{worst.looked_at} rewirings on {network.title}, {promise}",
        witness=None if witness is None else witness.to_json(),
        detail=detail + (f", where {impact:g} are declared" if too_many else ""),
    )


def _named(network: Network, vertices: Sequence[int]) -> str:
    names = ", ".join(network.name(v) for v in vertices[:SHOWN])
    more = f" and {len(vertices) - SHOWN} more" if len(vertices) > SHOWN else ""
    return f"{{{names}{more}}}"


def _rewiring(network: Network, move: Move) -> str:
    left, right = _named(network, move.left), _named(network, move.right)
    return f"rewiring {network.name(move.vertex)} from {left} to {right}"


def _search(examination: Examination, network: Network, max_degree: int) -> Worst:
    """Search for the rewirings of one protected vertex that move, and change, most."""
    require_degree(network, max_degree)
    degree = np.diff(network.adjacency.indptr)
    rng = np.random.default_rng([examination.options.seed, 0x0E])
    deadline = max(examination.deadline, time.time() + 2.0)
    targeted = np.flatnonzero(network.targeted)
    sample = np.sort(rng.permutation(targeted)[:SCALAR_SAMPLE])
    sets = _sets(network, rng)
    vertices = _vertices(network, degree, rng)
    worst = Worst()
    with suppress(TooSlow), Limit(deadline - time.time()):
        while worst.looked_at < max(examination.options.examples // 8, 40):
            vertex = next(vertices)
            members = sets[int(rng.integers(len(sets)))]
            options = list(_neighbourhoods(network, vertex, members, max_degree, degree, rng))
            seen = np.arange(network.n) if examination.fast else _near(sample, vertex, options)
            scored = []
            for neighbours in options:
                rewired = rewire(network, vertex, neighbours)
                scored.append(_values(examination, rewired, members, seen))
                worst.looked_at += 1
            slack = examination.declared.slack_at(max_degree)
            _keep_worst(worst, network, vertex, members, options, seen, scored, slack)
    return worst


def _keep_worst(
    worst: Worst,
    network: Network,
    vertex: int,
    members: Vertices,
    options: Sequence[Sequence[int]],
    seen: Vertices,
    scored: Sequence[Values],
    slack: float,
) -> None:
    """Compare every two neighbourhoods of a vertex, by the values of the vertices looked at."""
    where = np.flatnonzero(network.targeted[seen])
    for (a, left), (b, right) in combinations(enumerate(scored), 2):
        shift, differing = change(left, right), apart(left, right, slack)
        place = where[shift[where].argmax()]
        further = worst.moves_most is None or shift[place] > worst.moves_most.moved
        count = np.count_nonzero(differing)
        wider = worst.changes_most is None or count > len(worst.changes_most.changed)
        if not (further or wider):
            continue
        move = Move(
            vertex,
            tuple(options[a]),
            tuple(options[b]),
            tuple(members.tolist()),
            int(seen[place]),
            float(left[place]),
            float(right[place]),
            tuple(seen[differing].tolist()),
        )
        worst.moves_most = move if further else worst.moves_most
        worst.changes_most = move if wider else worst.changes_most


def _near(sample: Vertices, vertex: int, options: Sequence[Sequence[int]]) -> Vertices:
    """Return where to evaluate a statistic without fast path: a sample, u, and some next to u."""
    around = np.unique([v for neighbours in options for v in neighbours]).astype(np.int64)
    return np.union1d(np.append(sample, vertex), around[:SCALAR_NEAR])


def _values(
    examination: Examination, network: Network, members: Vertices, seen: Vertices
) -> Values:
    sop = examination.sop
    sample = Sample(network.n, (), tuple(members.tolist()))  # too large to be written out
    try:
        if examination.fast and isinstance(sop, FastStatistic):
            values = np.asarray(sop.scores(network.adjacency, members), dtype=np.float64)[seen]
        else:
            graph, targets = network.instance().graph, frozenset(members.tolist())
            values = np.array([float(sop(graph, v, targets)) for v in seen.tolist()])
    except RAISED as error:
        raise raised("finite", error, sample) from None
    if not np.isfinite(values).all():
        raise CheckFailed("finite", "a value is not finite", sample)
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
    for vertex in cycle(protected[np.argsort(-degree[protected], kind="stable")].tolist()):
        yield vertex
        yield int(rng.choice(protected))


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
        return sorted(rng.permutation(wanted[free[wanted]])[:max_degree].tolist())

    near = np.unique(network.adjacency[members].indices.astype(np.int64))
    targeted = np.flatnonzero(network.targeted)
    yield from (own.tolist(), [])
    yield from map(some, (targeted, members, near, np.setdiff1d(targeted, members)))
    if len(members):
        one = some(np.array([rng.choice(members)]))
        rest = some(np.setdiff1d(targeted, members))
        yield sorted({*one, *rest[: max(max_degree - len(one), 0)]})
    yield some(np.arange(network.n))


def _witness(
    examination: Examination, network: Network, move: Move, bound: int, of: str
) -> PairWitness | None:
    """Cut a violation out of its network, if it survives that; otherwise take all of it."""
    centre = {move.vertex, move.at, *move.left[:SHOWN], *move.right[:SHOWN]}
    if of == "impact-cardinality":
        centre.update(move.changed[:SHRINKABLE])
    near = set(centre)
    for v in centre:
        near.update(network.neighbours(v).tolist()[:SHOWN])
    for kept in (sorted(near)[:SHRINKABLE], range(network.n)):
        case = _cut(network, move, sorted({*kept, move.vertex, move.at}))
        if examination.breaks(case, of, bound):
            if case.n <= SHRINKABLE:
                until = time.time() + 5.0
                case = shrink(case, lambda c: examination.breaks(c, of, bound), until)
            if case.n > LARGEST_WITNESS:
                return None
            named = of if of == "impact-cardinality" else "own-network"
            return replace(examination.pair_witness(case, of, bound), property=named)
    return None


def _cut(network: Network, move: Move, kept: Sequence[int]) -> Case:
    """Return the pair on some of the vertices only."""
    inside = np.transpose(network.adjacency[kept][:, kept].nonzero()).tolist()
    edges = ((kept[a], kept[b]) for a, b in inside if a < b)
    others = tuple(edge for edge in edges if move.vertex not in edge)
    return Case(network.n, others, move.vertex, move.left, move.right, move.targets).on(kept)
