"""Networks and comparisons the tests of the searches share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

import networkx as nx
import numpy as np
from scipy import stats

from pdpaudit.core.network import Network, adjacency_from_networkx
from pdpaudit.core.statistic import statistic


def network_of(graph: nx.Graph, targeted: list[int], seeds: tuple[int, ...]) -> Network:
    ordered = nx.empty_graph(len(graph))
    ordered.add_edges_from(graph.edges)
    mask = np.zeros(len(graph), dtype=np.bool_)
    mask[targeted] = True
    return Network(adjacency_from_networkx(ordered)[0], mask, seeds)


def random_network(seed: int, n: int = 16, degree: float = 3.0, share: float = 0.5) -> Network:
    """A random graph with several targeted components; the seed is the smallest target."""
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(n, degree / (n - 1), seed=int(rng.integers(1 << 30)))
    targeted = sorted(rng.choice(n, int(n * share), replace=False).tolist())
    return network_of(graph, targeted, (targeted[0],))


def _common(graph: nx.Graph, vertex: int, targets: frozenset[int]) -> float:
    near = set().union(*(graph[t] for t in targets)) if targets else set()
    return float(len(near & set(graph[vertex])))


#: Common neighbours, declared so low that the noisy limit on the queries is nearly the limit
#: itself: then which vertices earlier rounds examined shows in the outputs.
sharp_common_neighbours = statistic(sensitivity=1, impact_cardinality=1)(_common)

#: The same declared to be insensitive: no noise on the scores at all.
noiseless_common_neighbours = statistic(sensitivity=0, impact_cardinality=2)(_common)


def fit_p_value(counts: Mapping[Any, int], law: Mapping[Any, float]) -> float:
    """p-value of Pearson's test of the counts against a law; rare outputs are put together."""
    total = sum(counts.values())
    assert set(counts) <= set(law)
    expected = np.array([total * probability for probability in law.values()])
    observed = np.array([counts.get(output, 0) for output in law])
    return _p_value(observed, expected, 0)


def same_law_p_value(first: Mapping[Any, int], second: Mapping[Any, int]) -> float:
    """p-value of the test of homogeneity of two samples; rare outputs are put together."""
    outputs = sorted(set(first) | set(second), key=repr)
    table = np.array([[c.get(o, 0) for o in outputs] for c in (first, second)])
    share = table.sum(axis=1, keepdims=True) / table.sum()
    rare = (table.sum(axis=0) * share).min(axis=0) < 5
    pooled = table[:, ~rare]
    if table[:, rare].sum(axis=0).sum() * share.min() >= 5:
        pooled = np.column_stack([pooled, table[:, rare].sum(axis=1)])
    if pooled.shape[1] < 2:
        return 1.0
    return float(stats.chi2_contingency(pooled, correction=False).pvalue)


def _p_value(observed: np.ndarray, expected: np.ndarray, fitted: int) -> float:
    rare = expected < 5
    obs = np.append(observed[~rare], observed[rare].sum())
    exp = np.append(expected[~rare], expected[rare].sum())
    if exp[-1] < 5:  # too few to stand alone: added to the smallest of the others
        smallest = int(np.argmin(exp[:-1]))
        obs[smallest] += obs[-1]
        exp[smallest] += exp[-1]
        obs, exp = obs[:-1], exp[:-1]
    if len(exp) < 2:
        return 1.0
    exp = exp * obs.sum() / exp.sum()
    return float(stats.chisquare(obs, exp, ddof=fitted).pvalue)


def tally(mechanism, network: Network, size: int, seed: int) -> Counter[Hashable]:
    """Outputs of ``size`` runs of the reference implementation."""
    instance = network.instance()
    rng = np.random.default_rng(seed)
    return Counter(mechanism.run(instance.fresh(), rng) for _ in range(size))
