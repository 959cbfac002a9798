"""The relations that claims on graphs are made for: all their pairs on small graphs.

People of one role are alike, so that one graph of each class under renumbering stands for all,
unless a mechanism looks at the numbers: then all graphs are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from pdpaudit.core.graphs import (
    Graph,
    GraphPair,
    coloured_graphs,
    edge_pairs,
    labelled_graphs,
    rewired_pairs,
    small_graphs,
    vertex_pairs,
)

from .one_sided import exchanged
from .small_graphs import SmallGraphs

__all__ = [
    "ASKED",
    "EDGE",
    "EXCHANGED",
    "HIDDEN",
    "NUMBERED",
    "OTHERS",
    "REWIRED",
    "SERVED",
    "SOURCE",
    "VERTEX",
    "asking",
    "scored",
    "serving",
]


def serving(vertices: int) -> list[int]:
    """Return roles: vertex 0 is served, or protected, and all others are alike."""
    return [0, *[1] * (vertices - 1)]


def asking(vertices: int) -> list[int]:
    """Return roles: vertex 0 asks, vertices 1 and 2 are infected, and all others are not."""
    return [0, 1, 1, *[2] * vertices][:vertices]


def scored(vertices: int) -> list[int]:
    """Return roles: vertex 0 is served, vertex 1 tested positive, and all others did not."""
    return [0, 1, *[2] * vertices][:vertices]


def _with(
    roles: Callable[[int], Sequence[int]], least: int, most: int, candidates: int = 0
) -> Iterator[Graph]:
    """Yield one graph of each class, where vertex 0 has no tie to that many people at least."""
    for vertices in range(least, most + 1):
        for graph in coloured_graphs(roles(vertices)):
            if len(graph.contacts()[0]) < vertices - candidates:
                yield graph


def _hidden(graph: Graph) -> Iterator[GraphPair]:
    """Yield a graph with any other ties of each candidate to the contacts of vertex 0."""
    contacts = graph.contacts()
    for one in set(range(1, graph.vertices)) - contacts[0]:
        places = [(min(one, other), max(one, other)) for other in sorted(contacts[0])]
        kept = set(graph.ties) - set(places)
        for size in range(len(places) + 1):
            for chosen in itertools.combinations(places, size):
                other = Graph(graph.vertices, tuple(sorted({*kept, *chosen})))
                if other != graph:
                    ties = " ".join(f"{a}-{b}" for a, b in graph.ties)
                    name = f"{graph.vertices} vertices with {ties}; those of {one} to contacts now "
                    yield GraphPair(f"{name}{list(chosen)}", graph, other)


EDGE = SmallGraphs(
    lambda most: edge_pairs(small_graphs(most, 2)), "that differ in one tie, up to renumbering"
)
NUMBERED = SmallGraphs(
    lambda most: (pair for n in range(2, most + 1) for pair in edge_pairs(labelled_graphs(n))),
    "that differ in one tie, with every numbering",
)
VERTEX = SmallGraphs(
    lambda most: vertex_pairs(small_graphs(most, 2)),
    "of which one lacks one vertex of the other, up to renumbering",
)
REWIRED = SmallGraphs(
    lambda most: rewired_pairs(small_graphs(most, 2)),
    "that differ in one person's ties, up to renumbering",
)
SOURCE = SmallGraphs(
    lambda most: edge_pairs(_with(serving, 2, most)),
    "that differ in one tie, wherever walks start, up to renumbering",
)
SERVED = SmallGraphs(
    lambda most: edge_pairs(_with(serving, 3, most, candidates=2), spared=0),
    "that differ in one tie of others, whoever is served, up to renumbering, where there are two "
    "candidates at least",
)
ASKED = SmallGraphs(
    lambda most: edge_pairs(_with(asking, 2, most)),
    "that differ in one tie, whoever asks and whichever two are infected, up to renumbering",
)
OTHERS = SmallGraphs(
    lambda most: edge_pairs(_with(scored, 2, most), spared=0),
    "that differ in one tie of others, whoever is served and whoever tested positive, up to "
    "renumbering",
)
HIDDEN = SmallGraphs(
    lambda most: (pair for one in _with(serving, 3, most, candidates=2) for pair in _hidden(one)),
    "that differ in a candidate's ties to contacts of who is served, up to renumbering",
)
EXCHANGED = SmallGraphs(
    lambda most: (pair for graph in _with(serving, 3, most) for pair in exchanged(graph)),
    "that exchange a tie of a protected person for another, whoever is protected, up to "
    "renumbering",
)
