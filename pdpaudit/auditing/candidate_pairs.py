"""Which pairs to try: from every family on every network, a mechanism's own, and local moves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat, zip_longest
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pdpaudit.auditing.other_claims import Weighed
from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.domains import Change, Domain, InputPair, Movable
from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.graphs import Graph
from pdpaudit.core.input_words import difference_words
from pdpaudit.core.network import ANYBODY, ONE_TIE, PROTECTED, NeighborPair, Network
from pdpaudit.core.privacy_loss import ExactLoss
from pdpaudit.core.protocols import Law
from pdpaudit.core.registry import given_by, registered
from pdpaudit.core.subject import Subject
from pdpaudit.outputs import Draws, Event, Side
from pdpaudit.results.pairs import OwnPair
from pdpaudit.sampling import stream
from pdpaudit.sampling.store import as_text, decode

#: Most vertices of a benchmark network that a mechanism is run on one run at a time.
LARGEST = 1000


#: Makes pairs near one, another draw of them each time.
Near: TypeAlias = Callable[[np.random.Generator], Iterable["CandidatePair"]]


@dataclass(frozen=True, eq=False)
class CandidatePair:
    """One pair of inputs worth trying; ``family`` is what it is counted with.

    ``there`` and ``back`` say what differs where the label does not. Inputs with the same key are
    the same, and are run once. ``near`` makes small changes of it; ``sides`` writes both inputs
    down where no number says which they are.
    """

    label: str
    inputs: Callable[[], tuple[object, object]]
    pair: NeighborPair | None = None
    number: int = 0
    family: str = ""
    there: str = ""
    back: str = ""
    keys: tuple[str, str] | None = None
    near: Near | None = None
    sides: tuple[str, str] | None = None

    @property
    def group(self) -> str:
        """What it is counted with: its family, else itself."""
        return self.family or self.label

    def words(self, side: Side) -> str:
        """Say what differs, towards the side named."""
        return (self.back if side == "left" else self.there) or self.label


def benchmark_networks() -> list[Network]:
    """Return every built-in network to attack on."""
    return [one for item in registered("networks") for one in given_by(item, Network)]


def within_degree_bound(networks: Sequence[Network], max_degree: int | None) -> list[Network]:
    """Return the networks under another public degree bound, those that keep it."""
    if max_degree is None:
        return list(networks)
    kept = []
    for network in networks:
        with suppress(InputError):
            kept.append(replace(network, max_degree=max_degree))
    if not kept:
        raise ParameterError("max_degree", max_degree, "no built-in network keeps it; raise it")
    return kept


def networks_for(
    mechanism: Subject,
    networks: Network | Sequence[Network] | None,
    max_degree: int | None = None,
    *,
    budget: str = "default",
) -> list[Network]:
    """Return the networks to rewire: those given, else the benchmark ones where any are needed.

    Where each output is a whole run, only the thorough budget has time for the large ones.
    """
    if mechanism.has("pairs"):
        refuse_beside_pairs(networks=networks, max_degree=max_degree)
        return []
    if networks is None:
        if isinstance(mechanism.domain, Network):
            return within_degree_bound([mechanism.domain], max_degree)
        found = benchmark_networks()
        if budget != "thorough" and not (mechanism.has("sample") or mechanism.has("law")):
            found = [network for network in found if network.n <= LARGEST]
        return within_degree_bound(found, max_degree)
    several = list(networks) if isinstance(networks, Iterable) else [networks]
    if not several or not all(isinstance(network, Network) for network in several):
        raise InputError("networks: give a Network or several; read_network makes one of files")
    if max_degree is None:
        return several
    return [replace(network, max_degree=max_degree) for network in several]


def refuse_beside_pairs(**given: object) -> None:
    """Refuse what says which networks to rewire where a mechanism's own pairs are tried."""
    for name, value in given.items():
        if value is not None:
            raise InputError(
                f"`{name}`: the mechanism or its domain brings the pairs of inputs, so no network "
                "is rewired; leave it out"
            )


def candidate_pairs(
    mechanism: object, networks: Sequence[Network], seed: int
) -> list[CandidatePair]:
    """Return the pairs to try: the mechanism's own, or each family's on each network.

    The families take turns, so that cutting the list short cuts all of them alike.
    """
    subject = Subject.of(mechanism)
    if subject.has("pairs"):
        return own_pairs(subject)
    sources: list[Iterator[CandidatePair]] = []
    for network in networks:
        if subject.relation not in ("", PROTECTED):
            rng = stream(seed, "relation", network.stream_key or network.title, subject.relation)
            found = network_pairs(network, subject.relation, rng)
            sources.append(map(network_candidate, found))
            continue
        for attack in registered("attacks"):
            rng = stream(seed, "pairs", network.stream_key or network.title, attack.name)
            found = given_by(attack, NeighborPair, network, rng)
            sources.append(map(network_candidate, found))
    rows = zip_longest(*sources)
    return [candidate for row in rows for candidate in row if candidate is not None]


def own_pairs(mechanism: Subject) -> list[CandidatePair]:
    """Return the pairs a mechanism brings or its domain makes, with what differs.

    Names of graphs of our own say that already.
    """
    domain, relation, own = mechanism.domain, mechanism.relation, mechanism.pairs()
    made, inputs = "", [(left, right) for _, left, right in own]
    nears: Iterable[Near | None] = repeat(None)
    if relation and isinstance(domain, Domain):
        made, inputs = f"{relation}: {domain.words}", domain.pairs(relation)
        if isinstance(domain, Movable) and not domain.complete(relation):
            nears = [partial(_near, domain, made, one) for one in domain.changes(relation)]
    several = len(own) > MOST_LISTED and not any(name for name, *_ in own)
    family = made or "its own" * several
    found = []
    rows = zip(own, inputs, nears, strict=False)
    for number, ((name, *pair), shown, near) in enumerate(rows, 1):
        there, back = difference_words(*shown), difference_words(*shown[::-1])
        if name and isinstance(shown[0], Graph):
            there = back = ""
        elif name or not made:
            there, back = (f"{name or f'pair {number}'} ({said})" for said in (there, back))
        sides = partial(_sides, *pair)
        keys = (repr(shown[0]), repr(shown[1])) if made else None
        label = name or there
        found.append(CandidatePair(label, sides, None, number, family, there, back, keys, near))
    return found


def _near(
    domain: Movable, family: str, change: Change, rng: np.random.Generator
) -> Iterator[CandidatePair]:
    """Yield pairs that a few small changes lead to."""
    for _ in range(NEAR):
        moved = change
        for _ in range(int(rng.integers(1, FARTHEST + 1))):
            moved = domain.varied(moved, rng)
        pair = domain.joined(moved)
        # What cannot be written down could not be replayed.
        with suppress(TypeError):
            written = (as_text(pair[0]), as_text(pair[1]))
            if repr(pair[0]) != repr(pair[1]):
                near = partial(_near, domain, family, moved)
                yield replace(_made(domain, family, pair), near=near, sides=written)


def _made(domain: Movable, family: str, pair: InputPair) -> CandidatePair:
    """Return two inputs of a domain that are none of its own pairs."""
    there, back = difference_words(*pair), difference_words(*pair[::-1])
    keys = (repr(pair[0]), repr(pair[1]))
    inputs = partial(_formed, domain.form, *pair)
    return CandidatePair(there, inputs, None, 0, family, there, back, keys)


def _formed(form: Callable[[object], object], left: object, right: object) -> tuple[object, object]:
    return form(left), form(right)


def recorded_pair(mechanism: Subject, pair: OwnPair) -> CandidatePair:
    """Return the pair of a mechanism's own, or of its domain, that a witness names.

    Raises
    ------
    ValueError
        If it is none.
    """
    written, domain = pair.sides, mechanism.domain
    if written is not None:
        left, right = (decode(side.encode("ascii")) for side in written)
        relation = mechanism.relation
        if not isinstance(domain, Movable) or not domain.neighbours(relation, left, right):
            raise ValueError(f"its two inputs are no {relation} pair")
        made = _made(domain, f"{relation}: {domain.words}", (left, right))
        return replace(made, sides=written)
    own, number = own_pairs(mechanism), pair.number or 0
    if not 1 <= number <= len(own):
        raise ValueError(f"the mechanism has {len(own)} pairs, none of number {number}")
    return own[number - 1]


def _sides(left: object, right: object) -> tuple[object, object]:
    return left, right


def local_moves(candidate: CandidatePair, seed: int, *step: int) -> list[CandidatePair]:
    """Return small changes of a pair, another draw of them at each step."""
    if candidate.near is None:
        return []
    return list(candidate.near(stream(seed, "moves", *step)))


def _refined(pair: NeighborPair, rng: np.random.Generator) -> Iterator[CandidatePair]:
    for refinement in registered("refinements"):
        yield from map(network_candidate, given_by(refinement, NeighborPair, pair, rng))


def network_candidate(pair: NeighborPair) -> CandidatePair:
    """Return a pair of networks as one to try.

    Refinements rewire protected vertices at will, so pairs of other relations have none.
    """
    return CandidatePair(
        f"{pair.family} on {pair.network.title}",
        lambda: (pair.left.instance(), pair.right.instance()),
        pair,
        near=partial(_refined, pair) if pair.relation == PROTECTED else None,
    )


#: Discovery samples: left and right, each in two halves.
Halves = tuple[tuple[Draws, Draws], tuple[Draws, Draws]]

#: Pairs without a name that are listed one by one.
MOST_LISTED = 8

#: Pairs near one of a domain at each step, and the small changes that lead to them at most.
NEAR, FARTHEST = 24, 3

#: Rounds without gain after which climbing ends.
PATIENCE = 2


def empty_halves() -> Halves:
    """Return discovery samples with nothing in them yet."""
    return (Draws(), Draws()), (Draws(), Draws())


#: Runs of each side inside an event, and of how many a side; what is learned is no whole number.
Counts = tuple[float, float, float]


@dataclass
class MeasuredPair:
    """A pair with what discovery learned about it; ``seconds`` are those of a run on each side."""

    candidate: CandidatePair
    score: float = -math.inf
    losses: dict[PrivacyClaim, ExactLoss] = field(default_factory=dict)
    laws: tuple[Law, Law] | None = field(default=None, repr=False)
    halves: Halves = field(default_factory=empty_halves)
    events: list[Event] = field(default_factory=list)
    learned: list[Counts] = field(default_factory=list)
    tested: list[Counts] = field(default_factory=list)
    tests: int = 0
    thresholds: list[tuple[Event, ...]] = field(default_factory=list)
    weighed: list[Weighed | None] = field(default_factory=list)
    wanted: int = 0
    runs: int = 0
    scores: list[float] = field(default_factory=list)
    seconds: float = 0.0


def local_search(
    best: MeasuredPair,
    found: list[MeasuredPair],
    measure: Callable[[CandidatePair], MeasuredPair],
    moves: int,
    seed: int,
) -> list[MeasuredPair]:
    """Follow local moves uphill; return everything measured."""
    patience = PATIENCE
    for step in range(moves):
        if math.isinf(best.score) or not patience:
            break
        tried = [measure(candidate) for candidate in local_moves(best.candidate, seed, step)]
        if not tried:
            break
        found = found + tried
        top = max(tried, key=lambda one: one.score)
        if top.score > best.score * (1 + 1e-6):
            best, patience = top, PATIENCE
        else:
            patience -= 1
    return found


def by_score(found: Iterable[MeasuredPair]) -> list[MeasuredPair]:
    """Return what was found, worst leak first."""
    return sorted(found, key=lambda one: -one.score)


# Networks under other relations than that of Kearns et al.: a single tie does most where a person
# whom a found target has only one more tie to stands beside all targets that are left.

#: Vertices that are rewired on one network, and ties of each that are added or taken away.
VERTICES, TIES = 8, 4

Vertices = npt.NDArray[np.int64]


def network_pairs(
    network: Network, relation: str, rng: np.random.Generator
) -> Iterator[NeighborPair]:
    """Yield pairs in which one tie changes, or all of one vertex.

    Of the vertices that may be rewired those with the most ties come first, then some at random.
    """
    degree = np.diff(network.adjacency.indptr)
    may = np.arange(network.n) if relation in ANYBODY else network.protected
    order = np.asarray(may)[np.argsort(-degree[may], kind="stable")]
    best, rest = order[: VERTICES // 2], order[VERTICES // 2 :]
    others = rng.choice(rest, min(len(rest), VERTICES // 2), replace=False)
    changes = _one_tie if relation in ONE_TIE else _all_ties
    for vertex in map(int, (*best, *others)):
        now = np.asarray(network.neighbours(vertex), dtype=np.int64)
        if relation in ONE_TIE and vertex not in network.seeds:
            yield from _tie_to_seed(network, vertex, relation)
        for then in changes(network, vertex, now, rng):
            if len(now) != len(then) or not np.array_equal(np.sort(now), np.sort(then)):
                yield NeighborPair(network, vertex, now, then, relation, relation=relation)


def _free(network: Network, vertex: int, now: Vertices) -> Vertices:
    """Return whom the vertex can be tied to within the public degree bound, targets first."""
    degree = np.diff(network.adjacency.indptr)
    open_ = degree < (network.n if network.max_degree is None else network.max_degree)
    open_[now] = open_[vertex] = False
    free = np.flatnonzero(open_)
    return free[np.argsort(~network.targeted[free], kind="stable")]


def _tie_to_seed(network: Network, vertex: int, relation: str) -> Iterator[NeighborPair]:
    """Yield pairs in which one who has ties to all targets that may have one more gains a seed's.

    All other targets but the seeds, and as many as there is place for beside the seed.
    """
    seeds = np.array(network.seeds[:1], dtype=np.int64)
    free = _free(network, vertex, seeds)
    targets = free[network.targeted[free] & ~np.isin(free, network.seeds)]
    most = network.n if network.max_degree is None else network.max_degree
    degree = np.diff(network.adjacency.indptr)
    full = degree[seeds] - np.isin(seeds, network.neighbours(vertex)) >= most
    if most > 0 and not full.any():
        beside = targets[: most - 1]
        yield NeighborPair(
            network, vertex, beside, np.append(beside, seeds), relation, relation=relation
        )


def _one_tie(
    network: Network, vertex: int, now: Vertices, rng: np.random.Generator
) -> Iterator[Vertices]:
    for other in rng.permutation(now)[: TIES // 2]:
        yield now[now != other]
    free = _free(network, vertex, now)
    if network.max_degree is None or len(now) < network.max_degree:
        targets = free[network.targeted[free]]
        some = rng.permutation(targets)[: TIES // 2], rng.permutation(free)[: TIES // 2]
        for other in np.unique(np.concatenate(some)):
            yield np.append(now, other)


def _all_ties(
    network: Network, vertex: int, now: Vertices, rng: np.random.Generator
) -> Iterator[Vertices]:
    free = _free(network, vertex, now)
    most = network.n if network.max_degree is None else network.max_degree
    targets = free[network.targeted[free]]
    yield now[:0]
    yield np.concatenate([now, free])[:most]
    yield targets[:most]
    yield rng.permutation(free)[: min(max(len(now), 1), most)]
