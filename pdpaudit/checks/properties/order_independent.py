"""Check that the order in which the graph was built does not matter."""

from __future__ import annotations

from itertools import chain

import networkx as nx
import numpy as np

from pdpaudit.checks.check import Check, Samples, advice, failed_on_graph, place_of_sample
from pdpaudit.checks.examination import Examination
from pdpaudit.checks.guard import scalar_values
from pdpaudit.checks.samples import large_samples, small_samples
from pdpaudit.results.results import CheckResult

__all__ = ["ORDER_INDEPENDENT"]

SMALL = 4


def _run(examination: Examination) -> CheckResult:
    rng = np.random.default_rng([examination.options.seed, 0x0D])
    samples = Samples(
        examination,
        chain(small_samples(SMALL), large_samples(examination.options.seed)),
        f"all labelled graphs up to {SMALL} vertices, 30 up to 30, two orders",
    )
    for sample in samples:
        targets = frozenset(sample.targets)
        straight = examination.scalar(sample.n, sample.edges, sample.targets)
        for backwards in (True, False):
            nodes = list(reversed(range(sample.n)))
            edges = [(b, a) for a, b in reversed(sample.edges)]
            if not backwards:
                nodes = rng.permutation(nodes).tolist()
                edges = [edges[i] for i in rng.permutation(len(edges))]
            graph = nx.Graph()
            graph.add_nodes_from(nodes)
            graph.add_edges_from(edges)
            other = scalar_values(examination.sop, graph, targets)
            wrong = examination.differing(sample, straight, other)
            if len(wrong):
                return failed_on_graph(
                    examination,
                    "order-independent",
                    place_of_sample(sample, int(wrong[0])),
                    "the same graph built in another order has another value"
                    + advice(straight[wrong[0]], other[wrong[0]]),
                    samples.meant,
                    node_order=nodes,
                    edge_order=[list(edge) for edge in edges],
                )
    return samples.passed("order-independent", exhaustive=False)


ORDER_INDEPENDENT = Check(
    "order-independent",
    "independent of the order in which the graph was built",
    _run,
    ("finite", "deterministic", "graph-unchanged"),
)
