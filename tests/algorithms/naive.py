"""The searches once more, straight from the paper's pseudocode, with networkx and plain loops.

Nothing here is shared with the implementation under test but the statistic that is handed in.
"""

from __future__ import annotations

import networkx as nx
import numpy as np


def path_1(graph, x, targets):
    return sum(1 for t in targets if graph.has_edge(x, t))


def sfs(graph, start, is_target, investigated):
    found = [start]
    investigated.add(start)
    while True:
        frontier = {x for t in found for x in graph[t]} - investigated
        if not frontier:
            return found
        best = min(frontier, key=lambda x: (-path_1(graph, x, found), x))
        investigated.add(best)
        if is_target(best):
            found.append(best)


def search_com(graph, found, is_target, investigated, f, delta_f, ic_f, epsilon, limit, rng):
    noisy_limit = limit + (rng.laplace(0, 2 * ic_f / epsilon) if ic_f else 0.0)
    noisy = {}
    for v in graph.nodes:
        if v not in investigated:
            noise = rng.laplace(0, 4 * delta_f / epsilon) if delta_f else 0.0
            noisy[v] = f(graph, v, frozenset(found)) + noise
    count = 0
    while noisy and count <= noisy_limit:
        best = min(noisy, key=lambda v: (-noisy[v], v))
        del noisy[best]
        investigated.add(best)
        count += 1
        if is_target(best):
            return best
    return None


def main_text_search(graph, found, is_target, investigated, f, delta_f, epsilon, rng):
    noisy = {
        v: f(graph, v, frozenset(found)) + (rng.laplace(0, delta_f / epsilon) if delta_f else 0.0)
        for v in graph.nodes
        if v not in investigated
    }
    for v in sorted(noisy, key=lambda v: (-noisy[v], v)):
        investigated.add(v)
        if is_target(v):
            return v
    return None


def threshold_search(graph, found, is_target, f, delta_f, epsilon, threshold, draw):
    """Report noisy max over the targets not found and a dummy, by definition."""
    scale = 2 * delta_f / epsilon
    best, best_value = None, threshold + draw() * scale
    for v in sorted(graph.nodes, reverse=True):
        if v in found or not is_target(v):
            continue
        value = f(graph, v, frozenset(found)) + draw() * scale
        if value >= best_value:
            best, best_value = v, value
    return best


def search(graph, seed, is_target, components, find):
    """Alternate SFS and ``find(found, investigated)``."""
    investigated: set[int] = set()
    found = sfs(graph, seed, is_target, investigated)
    for _ in range(components - 1):
        new = find(found, investigated)
        if new is None:
            break
        found = found + sfs(graph, new, is_target, investigated)
    return tuple(found)


def instance_of(network) -> tuple[nx.Graph, int, object]:
    graph = nx.Graph(network.instance().graph)
    return graph, network.seeds[0], lambda v: bool(network.targeted[v])


def noise_source(name: str, rng: np.random.Generator):
    return {
        "laplace": lambda: rng.laplace(),
        "gumbel": lambda: rng.gumbel(),
        "exponential": lambda: rng.exponential(),
    }[name]
