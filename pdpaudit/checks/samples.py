"""The graphs on which the checks of behaviour look: all small ones, and shapes of larger ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from pdpaudit.checks.atlas import graphs_on, neighbourhoods
from pdpaudit.checks.case import Edge

__all__ = ["FAMILIES", "Sample", "large_samples", "relabelled", "shapes", "small_samples"]


class Sample(NamedTuple):
    """A graph as plain data, and a set S."""

    n: int
    edges: tuple[Edge, ...]
    targets: tuple[int, ...]

    @property
    def degree(self) -> int:
        """The largest degree."""
        return max(Counter(chain(*self.edges)).values(), default=0)


def small_samples(max_vertices: int) -> Iterator[Sample]:
    """Yield every labelled graph with up to ``max_vertices`` vertices, with every S."""
    for size in range(1, max_vertices + 1):
        pairs = list(combinations(range(size), 2))
        for edges in chain.from_iterable(combinations(pairs, m) for m in range(len(pairs) + 1)):
            for members in neighbourhoods(size):
                yield Sample(size, edges, tuple(np.flatnonzero(members).tolist()))


def shapes(size: int) -> Iterator[Sample]:
    """Yield one graph on ``size`` vertices of each class up to relabelling, with every S."""
    for matrix in graphs_on(size):
        edges = tuple((int(a), int(b)) for a, b in np.argwhere(np.triu(matrix)))
        for members in neighbourhoods(size):
            yield Sample(size, edges, tuple(np.flatnonzero(members).tolist()))


Family = Callable[[int, np.random.Generator], set[Edge]]


def _empty(n: int, rng: np.random.Generator) -> set[Edge]:
    return set()


def _complete(n: int, rng: np.random.Generator) -> set[Edge]:
    return set(combinations(range(n), 2))


def _star(n: int, rng: np.random.Generator) -> set[Edge]:
    return {(0, v) for v in range(1, n)}


def _path(n: int, rng: np.random.Generator) -> set[Edge]:
    return {(v, v + 1) for v in range(n - 1)}


def _cycle(n: int, rng: np.random.Generator) -> set[Edge]:
    return _path(n, rng) | ({(0, n - 1)} if n > 2 else set())


def _bipartite(n: int, rng: np.random.Generator) -> set[Edge]:
    half = int(rng.integers(1, n)) if n > 1 else 1
    return {(a, b) for a in range(half) for b in range(half, n)}


def _tree(n: int, rng: np.random.Generator) -> set[Edge]:
    return {(int(rng.integers(v)), v) for v in range(1, n)}


def _cliques(n: int, rng: np.random.Generator) -> set[Edge]:
    size = int(rng.integers(2, max(3, n // 2 + 1)))
    return {(a, b) for a, b in combinations(range(n), 2) if a // size == b // size}


def _random(n: int, rng: np.random.Generator) -> set[Edge]:
    density = rng.choice([1.5 / max(n, 2), 0.2, 0.5, 0.8])
    return {edge for edge in combinations(range(n), 2) if rng.random() < density}


def _ring(n: int, rng: np.random.Generator) -> set[Edge]:
    reach = int(rng.integers(2, max(3, n // 3 + 1)))
    pairs = ((v, (v + step) % n) for v in range(n) for step in range(1, reach + 1))
    return {(min(a, b), max(a, b)) for a, b in pairs if a != b}


#: Shapes in which small graphs differ from large ones.
FAMILIES: dict[str, Family] = {
    "empty": _empty,
    "complete": _complete,
    "star": _star,
    "path": _path,
    "cycle": _cycle,
    "bipartite": _bipartite,
    "tree": _tree,
    "cliques": _cliques,
    "random": _random,
    "ring": _ring,
}


def large_samples(seed: int) -> Iterator[Sample]:
    """Yield one graph of each shape and of three sizes up to 30 vertices, with a random set S."""
    rng = np.random.default_rng([seed, 0x5A])
    for n in (7, 13, 30):
        for family in FAMILIES.values():
            edges = tuple(sorted(family(n, rng)))
            members = np.flatnonzero(rng.random(n) < rng.choice([0.1, 0.4, 1.0]))
            yield Sample(n, edges, tuple(members.tolist()))


def relabelled(sample: Sample, order: list[int]) -> Sample:
    """Return the sample in which vertex v is called ``order[v]``."""
    moved = ((order[a], order[b]) for a, b in sample.edges)
    edges = tuple(sorted((min(a, b), max(a, b)) for a, b in moved))
    return Sample(sample.n, edges, tuple(sorted(order[v] for v in sample.targets)))
