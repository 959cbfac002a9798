"""Check that the order in which the graph was built does not matter."""

from __future__ import annotations

from itertools import chain

import networkx as nx
import numpy as np

from pdpaudit.conformance.case import build
from pdpaudit.conformance.check import Check, each_sample, failed_on_graph, place_of_sample
from pdpaudit.conformance.examination import Examination
from pdpaudit.conformance.samples import large_samples, small_samples
from pdpaudit.conformance.tolerance import differ
from pdpaudit.results import CheckResult

__all__ = ["ORDER_INDEPENDENT"]

SMALL = 4


def _run(examination: Examination) -> CheckResult:
    scope = (
        f"all graphs with up to {SMALL} vertices, all S, and 30 graphs with up to 30 vertices, "
        "each in two other orders"
    )
    rng = np.random.default_rng([examination.options.seed, 0x0D])
    samples = chain(small_samples(SMALL), large_samples(examination.options.seed))
    for sample in each_sample(examination, samples):
        targets = frozenset(sample.targets)
        straight = examination.scalar(build(sample.n, sample.edges), targets)
        for backwards in (True, False):
            nodes = list(reversed(range(sample.n)))
            edges = [(b, a) for a, b in reversed(sample.edges)]
            if not backwards:
                nodes = rng.permutation(nodes).tolist()
                edges = [edges[i] for i in rng.permutation(len(edges))]
            graph = nx.Graph()
            graph.add_nodes_from(nodes)
            graph.add_edges_from(edges)
            wrong = np.flatnonzero(differ(straight, examination.scalar(graph, targets)))
            if len(wrong):
                return failed_on_graph(
                    examination,
                    "order-independent",
                    place_of_sample(sample, int(wrong[0])),
                    "the same graph built in another order has another value",
                    scope,
                    node_order=nodes,
                    edge_order=[list(edge) for edge in edges],
                )
    return CheckResult("order-independent", "not_rejected", scope=scope)


ORDER_INDEPENDENT = Check(
    "order-independent",
    "independent of the order in which the graph was built",
    _run,
    ("finite", "deterministic", "graph-unchanged"),
)
