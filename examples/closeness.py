"""Two declarations of one statistic of proximity, one of them wrong: contacts in common.

A protected person who is linked to a target and to a vertex counts there, so rewiring that person
moves the statistic by one, for up to ``d`` vertices beside the person before and ``d`` after.
"""

from __future__ import annotations

import networkx as nx

from pdpaudit import statistic


@statistic(sensitivity=1, impact_cardinality=lambda d: 2 * d + 1)
def right(graph: nx.Graph, vertex: int, targets: frozenset[int]) -> int:
    """Return how many contacts of a vertex have a contact among the targets."""
    return _in_common(graph, vertex, targets)


@statistic(sensitivity=0, impact_cardinality=lambda d: 2 * d + 1)
def wrong(graph: nx.Graph, vertex: int, targets: frozenset[int]) -> int:
    """Return the same, and declare that one protected person never moves it."""
    return _in_common(graph, vertex, targets)


def _in_common(graph: nx.Graph, vertex: int, targets: frozenset[int]) -> int:
    around = {other for target in targets for other in graph[target]}
    return len(around & set(graph[vertex]))
