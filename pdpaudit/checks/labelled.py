"""Exact sensitivity and impact cardinality over every labelled network: what may be certified.

Nothing is assumed of the statistic but that it is a function of its arguments: every graph on the
vertices 0..n-1 is built, in index order as a search gets it, and the scalar form is called for
every set S and every vertex. Then every u, every two neighbourhoods of it are compared.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import combinations

import joblib
import numpy as np
import numpy.typing as npt

from pdpaudit.checks.atlas import neighbourhoods
from pdpaudit.checks.case import Case, build
from pdpaudit.checks.families import Exhaustion, Family, Row, Tally, Values, combined
from pdpaudit.checks.guard import TooSlow, limit, scalar_values
from pdpaudit.checks.measure import PROPERTIES, Declared
from pdpaudit.core.protocols import StatisticOfProximity

__all__ = ["LARGEST_LABELLED", "enumerate_labelled"]

LARGEST_LABELLED = 6  # 32,768 graphs, 12 million values; on 7 vertices it would be 2 billion

Masks = npt.NDArray[np.int64]


def enumerate_labelled(
    sop: StatisticOfProximity,
    declared: Declared,
    *,
    max_vertices: int,
    jobs: int,
    deadline: float,
) -> Exhaustion:
    """Take every neighbouring pair of labelled networks, every S: 2, 8, 64, 1024 networks, ..."""
    rows: list[Row] = []
    cases: dict[str, Case] = {}
    for n in range(1, max_vertices + 1):
        graphs = 1 << (n * (n - 1) // 2)
        batches = 1 if jobs == 1 or n < 5 else min(graphs, 8 * jobs)
        tasks = [(sop, n, range(start, graphs, batches), deadline) for start in range(batches)]
        parts: list[Values | None] = (
            [_scored(*tasks[0])]
            if batches == 1
            else joblib.Parallel(n_jobs=jobs)(joblib.delayed(_scored)(*task) for task in tasks)
        )
        values = np.empty((graphs, (1 << n) - 1, n))
        for start, part in enumerate(parts):
            if part is None:
                return Exhaustion(
                    tuple(rows), cases, f"the time for all labels was over at {n} vertices"
                )
            values[start::batches] = part
        tally = Tally.empty(n)
        wanted = [of for of in PROPERTIES if of not in cases]
        for family in _families(n, values):
            tally.add(family, declared, wanted, with_impact=True)
        row, found = combined([tally], n, with_impact=True)
        cases |= found
        rows.append(row)
    return Exhaustion(tuple(rows), cases)


def _scored(
    sop: StatisticOfProximity, n: int, graphs: Sequence[int], deadline: float
) -> Values | None:
    """Evaluate the statistic on some of the graphs, every S but all of V; None if time is over."""
    pairs = list(combinations(range(n), 2))
    sets = [frozenset(v for v in range(n) if mask >> v & 1) for mask in range((1 << n) - 1)]
    values = np.empty((len(graphs), len(sets), n))
    try:
        for place, code in enumerate(graphs):
            graph = build(n, [pair for i, pair in enumerate(pairs) if code >> i & 1])
            with limit(deadline - time.time()):
                for s, members in enumerate(sets):
                    values[place, s] = scalar_values(sop, graph, members)
            if time.time() > deadline:
                return None
    except TooSlow:
        return None
    return values


def _families(n: int, values: Values) -> Iterator[Family]:
    """Yield the families of every u and H, with the values already there."""
    places = {pair: i for i, pair in enumerate(combinations(range(n), 2))}
    spokes = neighbourhoods(n - 1)
    for u in range(n):
        others = [v for v in range(n) if v != u]
        around = _codes([places[min(u, v), max(u, v)] for v in others])
        sets = _codes(others)
        names = (*others, u)
        inner = list(combinations(range(n - 1), 2))
        rest = [places[others[a], others[b]] for a, b in inner]
        for h, code in enumerate(_codes(rest).tolist()):
            matrix = np.zeros((n - 1, n - 1), dtype=bool)
            for i, (a, b) in enumerate(inner):
                matrix[a, b] = matrix[b, a] = bool(h >> i & 1)
            block = values[code + around][:, sets][:, :, names]
            yield Family(names, matrix, spokes, spokes, block.transpose(1, 0, 2))


def _codes(bits: Sequence[int]) -> Masks:
    """Return every sum of these powers of two, in the order of ``neighbourhoods``."""
    chosen = neighbourhoods(len(bits)).astype(np.int64)
    return np.asarray(chosen @ (1 << np.array(bits, dtype=np.int64)), dtype=np.int64)
