"""A small part of a network in which two searches can be watched side by side."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import networkx as nx
import numpy as np

from pdpaudit.core.network import Network
from pdpaudit.core.protocols import Mechanism
from pdpaudit.experiments.curves import BudgetedOracle, BudgetSpent
from pdpaudit.outputs.records import JSON
from pdpaudit.sampling import stream

#: Vertices drawn at most: more cannot be distinguished on a page.
MOST = 300

#: Ties between them at most, once there are a few: more are a blot.
MOST_TIES = 900
FEW = 60

#: Of the vertices, how many of what all searches did alike at the beginning.
COMMON = 80


def excerpt(
    network: Network, searches: Sequence[tuple[str, Mechanism]], seed: int, most: int = MOST
) -> JSON:
    """Return the part of the network where the searches part ways, and what one run of each did.

    Shown are seeds and whom every search asked about at first; then, while there is room, whom
    the first search asked about, and of the others' first calls the targets found and everybody
    with a tie into the part shown. Whom noise makes a search ask about far away is not shown.
    """
    logs = [_log(mechanism, network, name, seed, 4 * most) for name, mechanism in searches]
    alike = _alike(logs)
    chosen = list(dict.fromkeys([*network.seeds, *logs[0][max(0, alike - COMMON) : alike]]))[:most]
    shown = set(chosen)
    ties = sum(_ties(network, vertex, shown) for vertex in chosen) // 2
    calls = alike
    for step in range(alike, max(map(len, logs))):
        more = [
            log[step]
            for number, log in enumerate(logs)
            if step < len(log) and (number == 0 or _joins(network, log[step], shown))
        ]
        new = [vertex for vertex in dict.fromkeys(more) if vertex not in shown]
        ties += sum(_ties(network, vertex, shown) for vertex in new)
        if len(shown) + len(new) > most or (ties > MOST_TIES and len(shown) >= FEW):
            break
        shown.update(new)
        chosen += new
        calls = step + 1
    vertices = sorted(chosen)
    part = network.adjacency[vertices][:, vertices].tocoo()
    edges = sorted((int(a), int(b)) for a, b in zip(*part.coords, strict=True) if a < b)
    searched = []
    for (name, _), log in zip(searches, logs, strict=True):
        order = {vertex: number for number, vertex in enumerate(log[:calls])}
        examined = [vertex in order or vertex in network.seeds for vertex in vertices]
        searched.append(
            {
                "name": name,
                "examined": examined,
                "found": [
                    bool(network.targeted[v]) and seen
                    for v, seen in zip(vertices, examined, strict=True)
                ],
                "order": [order.get(vertex) for vertex in vertices],
            }
        )
    return {
        "vertices": [int(vertex) for vertex in vertices],
        "edges": [list(edge) for edge in edges],
        "positions": _places(len(vertices), edges),
        "targeted": network.targeted[vertices].tolist(),
        "searches": searched,
    }


def _log(mechanism: Mechanism, network: Network, name: str, seed: int, calls: int) -> list[int]:
    view = network.instance()
    view.oracle = BudgetedOracle(network.targeted, network.seeds, budget=calls)
    with suppress(BudgetSpent):
        mechanism.run(view, stream(seed, "drawing", name))
    return [int(vertex) for vertex in view.oracle.log[:calls]]


def _alike(logs: Sequence[Sequence[int]]) -> int:
    """Return how many calls all searches have in common at the beginning."""
    count = 0
    for asked in zip(*logs, strict=False):
        if len(set(asked)) > 1:
            break
        count += 1
    return count


def _joins(network: Network, vertex: int, shown: set[int]) -> bool:
    return bool(network.targeted[vertex]) or _ties(network, vertex, shown) > 0


def _ties(network: Network, vertex: int, shown: set[int]) -> int:
    return len(shown.intersection(network.neighbours(vertex).tolist()))


def _places(n: int, edges: Sequence[tuple[int, int]]) -> list[list[float]]:
    """Return a place in the unit square for each vertex; always the same."""
    graph = nx.empty_graph(n)
    graph.add_edges_from(edges)
    places = nx.spring_layout(graph, seed=1, iterations=80, k=1.6 / max(n, 1) ** 0.5)
    points = np.array([places[vertex] for vertex in range(n)]).reshape(n, 2)
    low, high = points.min(axis=0), points.max(axis=0)
    spread = np.where(high > low, high - low, 1.0)
    scaled: list[list[float]] = ((points - low) / spread).round(4).tolist()
    return scaled
