"""Searches with a log, straight from the paper's pseudocode: sets, loops, nothing shared.

Each function asks ``ask(vertex)`` and returns nothing of use: what it asked is the trajectory.
"""

from __future__ import annotations

import networkx as nx
import numpy as np

from pdpaudit.core.network import Network, adjacency_from_networkx


class Log:
    """Answers, and writes down who was asked about for the first time."""

    def __init__(self, targeted, known):
        self.targeted, self.known, self.asked = targeted, set(known), []

    def __call__(self, vertex):
        if vertex not in self.known:
            self.known.add(vertex)
            self.asked.append(vertex)
        return bool(self.targeted[vertex])


class RunOnly:
    """A search without its shortcut to trajectories."""

    def __init__(self, mechanism):
        self.claim, self.run = mechanism.claim, mechanism.run


def statistic_first(graph, start, ask):
    found = list(start)
    while True:
        frontier = {x for t in found for x in graph[t]} - ask.known
        if not frontier:
            return found
        best = min(frontier, key=lambda x: (-len(set(graph[x]) & set(found)), x))
        if ask(best):
            found.append(best)


def common(graph, vertex, found):
    around = set().union(*(graph[t] for t in found))
    return len(around & set(graph[vertex]))


def rounds(graph, targeted, seeds, search, budget):
    """Statistic-first search and ``search(found, ask)`` in turn; the vertices asked about."""
    ask = Log(targeted, seeds)
    found = statistic_first(graph, seeds, ask)
    while len(ask.asked) < budget:
        new = search(found, ask)
        if new is None:
            break
        found += statistic_first(graph, [new], ask)
    return ask.asked[:budget]


def main_text(graph, f, scale, rng):
    def search(found, ask):
        noisy = {v: f(graph, v, found) + rng.laplace(0, scale) for v in set(graph) - ask.known}
        return next((v for v in sorted(noisy, key=noisy.get, reverse=True) if ask(v)), None)

    return search


def appendix(graph, f, scale, limit, limit_scale, rng):
    def search(found, ask):
        most = limit + rng.laplace(0, limit_scale)
        noisy = {v: f(graph, v, found) + rng.laplace(0, scale) for v in set(graph) - ask.known}
        for count, v in enumerate(sorted(noisy, key=noisy.get, reverse=True)):
            if count > most:
                return None
            if ask(v):
                return v
        return None

    return search


def repaired(graph, f, draw, threshold):
    def search(found, ask):
        floor = threshold + draw()
        noisy = {v: f(graph, v, found) + draw() for v in set(graph) - set(found)}
        for v in sorted(noisy, key=noisy.get, reverse=True):
            if noisy[v] < floor:
                return None
            if ask(v):
                return v
        return None

    return search


def network_of(graph: nx.Graph, targeted, seeds) -> Network:
    ordered = nx.empty_graph(len(graph))
    ordered.add_edges_from(graph.edges)
    mask = np.zeros(len(graph), dtype=np.bool_)
    mask[list(targeted)] = True
    return Network(adjacency_from_networkx(ordered)[0], mask, tuple(seeds))


def random_network(seed, n, degree, share) -> Network:
    """A random graph in which some are targeted; the search starts from the first of them."""
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(n, min(1.0, degree / (n - 1)), seed=int(rng.integers(1 << 30)))
    targeted = sorted(rng.choice(n, max(1, int(n * share)), replace=False).tolist())
    return network_of(graph, targeted, targeted[:1])
