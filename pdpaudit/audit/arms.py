"""Where and what to attack: pairs of inputs from every family on every ground, and local moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import Any

from pdpaudit.contracts import Mechanism
from pdpaudit.errors import InputError, described
from pdpaudit.neighbors import NeighborPair
from pdpaudit.network import Network
from pdpaudit.registry import registered
from pdpaudit.sampling import stream

__all__ = ["Arm", "arms_of", "as_candidate", "grounds", "moves_of", "own_candidates", "promised"]


@dataclass(frozen=True, eq=False)
class Arm:
    """One pair of inputs worth trying.

    Attributes
    ----------
    label : str
        Where and how.
    inputs : callable
        Returns the two instances; called when needed, so that many arms can be held.
    pair : NeighborPair, optional
        The neighbouring networks, for a graph search.
    number : int
        Which of the mechanism's own pairs, counted from 1; 0 for a graph search.
    """

    label: str
    inputs: Callable[[], tuple[Any, Any]]
    pair: NeighborPair | None = None
    number: int = 0


def grounds() -> list[Network]:
    """Return every built-in network to attack on."""
    return [network for item in registered("grounds") for network in item.load()()]


def promised(networks: Sequence[Network], max_degree: int | None) -> list[Network]:
    """Return the networks under another public degree bound, those that keep it.

    Raises
    ------
    InputError
        If none does.
    """
    if max_degree is None:
        return list(networks)
    kept = []
    for network in networks:
        with suppress(InputError):
            kept.append(replace(network, max_degree=max_degree))
    if not kept:
        raise InputError(f"--max-degree {max_degree}: no built-in network keeps it; raise it")
    return kept


def arms_of(mechanism: Mechanism, networks: Sequence[Network], seed: int) -> list[Arm]:
    """Return the pairs to try: the mechanism's own, or each family's on each network.

    The families take turns, so that cutting the list short cuts all of them alike.

    Raises
    ------
    InputError
        If the mechanism's own pairs cannot be had, or are none.
    """
    own = getattr(mechanism, "pairs", None)
    if own is not None:
        return own_candidates(own)
    sources = []
    for network in networks:
        for attack in registered("attacks"):
            rng = stream(seed, "pairs", network.title, attack.name)
            sources.append(map(as_candidate, attack.load()(network, rng)))
    rows = zip_longest(*sources)
    return [arm for row in rows for arm in row if arm is not None]


def own_candidates(pairs: Callable[[], Iterable[Any]]) -> list[Arm]:
    """Return the pairs a mechanism brings, as many as it gives.

    Raises
    ------
    InputError
        If they cannot be had, or are none.
    """
    try:
        given = list(pairs())
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"its pairs() raised {described(error)}") from None
    arms = [
        Arm(_label(i, pair), partial(_sides, pair), number=i) for i, pair in enumerate(given, 1)
    ]
    if not arms:
        raise InputError("its pairs() gives none; give at least one pair of inputs")
    for arm, pair in zip(arms, given, strict=True):
        try:
            arm.inputs()
        except (TypeError, ValueError):
            raise InputError(
                f"its pairs() gives {pair!r}, which is no pair; give two inputs, or a name and two"
            ) from None
    return arms


def _label(number: int, pair: Any) -> str:
    return str(getattr(pair, "name", f"pair {number}"))


def _sides(pair: Any) -> tuple[Any, Any]:
    """Return the two inputs of a mechanism's own pair, which may carry a name before them."""
    left, right = tuple(pair)[-2:]
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
