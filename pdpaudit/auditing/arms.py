"""Where and what to attack: pairs of inputs from every family on every network, and local moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import Any

from pdpaudit.core.errors import InputError
from pdpaudit.core.neighbors import NeighborPair
from pdpaudit.core.network import Network
from pdpaudit.core.registry import registered
from pdpaudit.core.subject import Subject
from pdpaudit.sampling import stream

__all__ = [
    "Arm",
    "arms_of",
    "as_candidate",
    "benchmark_networks",
    "moves_of",
    "networks_for",
    "own_candidates",
    "promised",
]


@dataclass(frozen=True, eq=False)
class Arm:
    """One pair of inputs worth trying."""

    label: str
    inputs: Callable[[], tuple[Any, Any]]
    pair: NeighborPair | None = None
    number: int = 0


def benchmark_networks() -> list[Network]:
    """Return every built-in network to attack on."""
    return [network for item in registered("networks") for network in item.load()()]


def promised(networks: Sequence[Network], max_degree: int | None) -> list[Network]:
    """Return the networks under another public degree bound, those that keep it."""
    if max_degree is None:
        return list(networks)
    kept = []
    for network in networks:
        with suppress(InputError):
            kept.append(replace(network, max_degree=max_degree))
    if not kept:
        raise InputError(f"--max-degree {max_degree}: no built-in network keeps it; raise it")
    return kept


def networks_for(
    mechanism: Subject, networks: Network | Sequence[Network] | None, max_degree: int | None = None
) -> list[Network]:
    """Return the networks to rewire: those given, else the benchmark ones where any are needed."""
    if networks is None:
        return [] if mechanism.has("pairs") else promised(benchmark_networks(), max_degree)
    several = [networks] if isinstance(networks, Network) else list(networks)
    if max_degree is None:
        return several
    return [replace(network, max_degree=max_degree) for network in several]


def arms_of(mechanism: object, networks: Sequence[Network], seed: int) -> list[Arm]:
    """Return the pairs to try: the mechanism's own, or each family's on each network.

    The families take turns, so that cutting the list short cuts all of them alike.
    """
    subject = Subject.of(mechanism)
    if subject.has("pairs"):
        return own_candidates(subject)
    sources = []
    for network in networks:
        for attack in registered("attacks"):
            rng = stream(seed, "pairs", network.title, attack.name)
            sources.append(map(as_candidate, attack.load()(network, rng)))
    rows = zip_longest(*sources)
    return [arm for row in rows for arm in row if arm is not None]


def own_candidates(mechanism: Subject) -> list[Arm]:
    """Return the pairs a mechanism brings, as many as it gives."""
    return [
        Arm(name or f"pair {i}", partial(_sides, left, right), number=i)
        for i, (name, left, right) in enumerate(mechanism.pairs(), 1)
    ]


def _sides(left: Any, right: Any) -> tuple[Any, Any]:
    return left, right


def moves_of(pair: NeighborPair, seed: int, step: int) -> Iterator[Arm]:
    """Return small changes of a pair, another draw of them at each step."""
    rng = stream(seed, "moves", step)
    for refinement in registered("refinements"):
        yield from map(as_candidate, refinement.load()(pair, rng))


def as_candidate(pair: NeighborPair) -> Arm:
    """Return a pair of networks as one to try."""
    return Arm(
        f"{pair.family} on {pair.network.title}",
        lambda: (pair.left.instance(), pair.right.instance()),
        pair,
    )
