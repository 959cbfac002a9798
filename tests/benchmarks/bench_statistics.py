"""How fast the statistics score a real network, beside a plain loop over networkx.

Run with ``python -m pytest tests/benchmarks/bench_statistics.py -s``.
"""

from __future__ import annotations

import time

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from pdpaudit.algorithms.statistics import CN, Path, Triangle
from pdpaudit.core.network import adjacency_from_edges

pytestmark = pytest.mark.benchmark


@pytest.fixture(scope="module")
def coauthors(shared_data):
    edges = pd.read_csv(shared_data / "acl_coauthors" / "edges.csv.gz")
    authors = pd.read_csv(shared_data / "acl_coauthors" / "authors.csv.gz").iloc[:, 0]
    code, _ = pd.factorize(pd.concat([authors, edges["source"], edges["target"]]))
    ends = code[len(authors) :].reshape(2, -1)
    return adjacency_from_edges(int(code.max()) + 1, ends[0], ends[1])


def best_of(times, call):
    """Return the fastest of several calls, in seconds: the least disturbed one."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


@pytest.mark.parametrize(
    ("sop", "limit"), [(CN(), 0.010), (Triangle(), None), (Path(2), None), (Path(3), None)], ids=str
)
def test_all_vertices_of_the_coauthors(sop, limit, coauthors, figure):
    n = coauthors.shape[0]
    rng = np.random.default_rng(7)
    targets = np.sort(rng.choice(n, 1000, replace=False))
    fast = best_of(7, lambda: sop.scores(coauthors, targets))
    graph = nx.from_scipy_sparse_array(coauthors)
    sample = rng.choice(n, 1000, replace=False).tolist()
    members = frozenset(targets.tolist())
    loop = best_of(1, lambda: [sop(graph, v, members) for v in sample]) * n / len(sample)
    print(  # noqa: T201 - a benchmark speaks
        f"\n{sop} on {n} vertices, {coauthors.nnz // 2} edges, |S| = 1000: {fast * 1e3:.2f} ms, "
        f"networkx loop {loop:.2f} s (from 1000 vertices), {loop / fast:.0f} times as long"
    )
    figure(f"{sop} of all co-authors", fast, "s", baseline=loop, limit=limit)
    assert limit is None or fast <= limit
