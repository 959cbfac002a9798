"""A made-up network to simulate on where none is given, with a population for each regime.

The regimes are those of the experiments of Kearns, Roth, Wu, Yaroslavtsev, "Privacy for the
Protected (Only)": one dominant targeted component, several large ones, or small ones alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pdpaudit.core.errors import ParameterError
from pdpaudit.core.network import Network, targeted_components
from pdpaudit.core.registry import resolve
from pdpaudit.experiments.generated_networks import IMDB, affiliation_network, scaled
from pdpaudit.sampling import stream

#: Of the people of an IMDB-size network.
SHARE = 0.02

#: Root of the network and of its populations.
SEED = 1


@dataclass(frozen=True)
class Infection:
    """How a targeted population was planted by infection."""

    first: int
    p: float
    q: float
    rounds: int


#: Parameters found by trying; what they give is in tests.
REGIMES = {
    "dominant": Infection(3551, 0.3, 0.8, 3),
    "several": Infection(3551, 0.6, 0.96, 3),
    "fragmented": Infection(2340, 0.3, 0.98, 8),
}


def regime_of(sizes: Sequence[int]) -> str | None:
    """Return the regime of targeted components of these sizes, if it is any of the three.

    Dominant: the largest holds at least half of the targets and ten times as many as the second.
    Several: it holds at most two fifths, and at least three hold a twentieth and ten targets each.
    Fragmented: it holds at most a twentieth.
    """
    ordered = sorted(sizes, reverse=True)
    total, largest = sum(ordered), ordered[0]
    second = ordered[1] if len(ordered) > 1 else 0
    if 2 * largest >= total and largest >= 10 * second:
        return "dominant"
    large = [size for size in ordered if 20 * size >= total and size >= 10]
    if 5 * largest <= 2 * total and len(large) >= 3:
        return "several"
    return "fragmented" if 20 * largest <= total else None


def plant(adjacency: Any, infection: Infection, seed: int, title: str) -> Network:
    """Return a network with a population planted by infection.

    A search starts at the first of the second largest component: from within the largest there is
    nothing to look for while it lasts.
    """
    infect = resolve("populations", "infect")
    rng = stream(seed, "infect")
    targeted = infect(adjacency, infection.first, infection.p, infection.q, infection.rounds, rng)
    components = targeted_components(adjacency, targeted)
    start = components[min(1, len(components) - 1)]
    return Network(adjacency, targeted, seeds=(int(start[0]),), title=title)


def embedded_network(regime: str) -> tuple[Network, Infection]:
    """Return a network of 4,714 people with 91,750 ties, and how its targets were planted."""
    if regime not in REGIMES:
        raise ParameterError("regime", regime, f"choose one of {', '.join(REGIMES)}")
    adjacency = affiliation_network(scaled(IMDB, SHARE), stream(SEED, "embedded network"))
    infection = REGIMES[regime]
    return plant(adjacency, infection, SEED, f"made-up actors, {regime}"), infection
