"""Families of hard pairs: how one protected vertex may be rewired to hurt most.

Each family is a function of a network, the public degree bound and a random stream, and yields
valid neighbouring pairs, the most promising first. They know the model, not the mechanism.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from pdpaudit.core.neighbors import NeighborPair
from pdpaudit.core.network import Network

from .view import admissible, exposed, look

__all__ = ["isolate", "pair_of", "random_rewiring", "saturate", "squeeze", "swap", "toggle"]

#: Protected vertices a family tries on one network.
VERTICES = 4

#: Pairs a family that has several choices per vertex draws for each.
CHOICES = 3


def pair_of(
    network: Network,
    vertex: int,
    left: npt.ArrayLike,
    right: npt.ArrayLike,
    family: str,
) -> NeighborPair | None:
    """Return the pair in which ``vertex`` has these neighbours left and right, as far as allowed.

    Returns None where the two sides would be the same network.
    """
    ours = admissible(network, vertex, left)
    theirs = admissible(network, vertex, right)
    if np.array_equal(np.sort(ours), np.sort(theirs)):
        return None
    return NeighborPair(network, vertex, ours, theirs, family)


def isolate(network: Network, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Take all contacts away: the counterfactual in which the person never took part."""
    for u in exposed(network, look(network), VERTICES, rng):
        pair = pair_of(network, u, network.neighbours(u), [], "isolate")
        if pair is not None:
            yield pair


def saturate(network: Network, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Connect the person to everybody the degree bound allows, targets first."""
    view = look(network)
    everybody = np.concatenate([view.found[:1], view.remaining, view.found[1:], network.protected])
    for u in exposed(network, view, VERTICES, rng):
        pair = pair_of(network, u, network.neighbours(u), everybody, "saturate")
        if pair is not None:
            yield pair


def toggle(network: Network, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Add or take away one single contact."""
    view = look(network)
    for u in exposed(network, view, VERTICES, rng):
        now = network.neighbours(u)
        ends = np.concatenate([view.remaining, view.found, now])
        for end in rng.permutation(np.unique(ends[ends != u]))[:CHOICES]:
            other = now[now != end] if end in now else np.append(now, end)
            pair = pair_of(network, u, now, other, "toggle")
            if pair is not None:
                yield pair


def swap(network: Network, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Let one remaining target gain what all others lose: hard for any noisy maximum."""
    view = look(network)
    anchor = view.found[:1]
    for u in exposed(network, view, VERTICES, rng):
        for one in rng.permutation(view.remaining)[:CHOICES]:
            others = view.remaining[view.remaining != one]
            left = np.append(anchor, one)
            right = np.concatenate([anchor, others])
            pair = pair_of(network, u, left, right, "swap")
            if pair is not None:
                yield pair


def squeeze(network: Network, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Move remaining targets up together: hard for a rule that stops on what lies above them."""
    view = look(network)
    anchor = view.found[:1]
    for u in exposed(network, view, VERTICES, rng):
        most = len(view.remaining)
        for size in sorted({most, max(1, most // 2), min(most, 8)}, reverse=True):
            chosen = rng.permutation(view.remaining)[:size]
            left = np.concatenate([anchor, chosen])
            pair = pair_of(network, u, left, anchor, "squeeze")
            if pair is not None:
                yield pair


def random_rewiring(network: Network, rng: np.random.Generator) -> Iterator[NeighborPair]:
    """Rewire at random, to look where nobody thought of."""
    view = look(network)
    most = network.n - 1 if network.max_degree is None else min(network.max_degree, network.n - 1)
    for u in exposed(network, view, VERTICES, rng):
        others = np.delete(np.arange(network.n), u)
        left, right = (
            rng.permutation(others)[: rng.integers(0, min(most, 40) + 1)] for _ in range(2)
        )
        pair = pair_of(network, u, left, right, "random")
        if pair is not None:
            yield pair
