"""Check that the graph handed over is left as it was, attributes and order included."""

from __future__ import annotations

from itertools import chain
from typing import Any

import networkx as nx

from pdpaudit.checks.case import build
from pdpaudit.checks.check import Check, Samples, failed_on_graph, place_of_sample
from pdpaudit.checks.examination import Examination
from pdpaudit.checks.samples import large_samples, small_samples
from pdpaudit.results.results import CheckResult

__all__ = ["GRAPH_UNCHANGED"]

SMALL = 4


def _picture(graph: nx.Graph) -> tuple[Any, ...]:
    """Return all there is to a graph: nodes and neighbours in order, and every attribute."""
    return (
        dict(graph.graph),
        [(node, dict(data)) for node, data in graph.nodes(data=True)],
        [
            (node, [(other, dict(data)) for other, data in around.items()])
            for node, around in graph.adjacency()
        ],
    )


def _run(examination: Examination) -> CheckResult:
    samples = Samples(
        examination,
        chain(small_samples(SMALL), large_samples(examination.options.seed)),
        f"all labelled graphs up to {SMALL} vertices, 30 up to 30",
    )
    for sample in samples:
        graph = build(sample.n, sample.edges)
        before = _picture(graph)
        targets = frozenset(sample.targets)
        for vertex in range(sample.n):
            examination.ask(graph, vertex, targets)
            if _picture(graph) != before:
                return failed_on_graph(
                    examination,
                    "graph-unchanged",
                    place_of_sample(sample, vertex),
                    "the graph is not what it was before the call",
                    samples.meant,
                )
    return samples.passed("graph-unchanged", exhaustive=True)


GRAPH_UNCHANGED = Check(
    "graph-unchanged", "the graph it was given stays as it was", _run, ("finite",)
)
