"""All graphs with up to 7 vertices, and all sets S on them, up to relabelling."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from math import factorial

import networkx as nx
import numpy as np
import numpy.typing as npt

__all__ = ["LARGEST", "graphs_on", "neighbourhoods", "subset_classes"]

LARGEST = 7  # vertices in the atlas

Bits = npt.NDArray[np.bool_]


@lru_cache(maxsize=1)
def _by_size() -> dict[int, list[Bits]]:
    sizes: dict[int, list[Bits]] = {size: [] for size in range(LARGEST + 1)}
    for graph in nx.graph_atlas_g():
        matrix = np.zeros((len(graph), len(graph)), dtype=bool)
        for a, b in graph.edges:
            matrix[a, b] = matrix[b, a] = True
        sizes[len(graph)].append(matrix)
    return sizes


def graphs_on(size: int) -> list[Bits]:
    """Return the adjacency matrices of all graphs on ``size`` vertices, one per class.

    They come from the atlas of Read and Wilson as networkx has it, by number of edges.
    """
    return _by_size()[size]


def neighbourhoods(size: int) -> Bits:
    """Return all subsets of ``size`` vertices as rows, shape ``(2**size, size)``."""
    bits = (np.arange(1 << size)[:, None] >> np.arange(size)) & 1
    return np.asarray(bits, dtype=bool)


@lru_cache(maxsize=LARGEST + 1)
def _permutations(size: int) -> npt.NDArray[np.int8]:
    return np.array(list(permutations(range(size))), dtype=np.int8).reshape(factorial(size), size)


def subset_classes(matrix: Bits) -> npt.NDArray[np.int64]:
    """Return one subset of each class under the automorphisms of a graph, as bit masks.

    An automorphism of H carries a pair of neighbourhoods and a set S to another pair and set with
    the same values, so one set of each class is enough while the neighbourhoods take all values.
    """
    size = len(matrix)
    orders = _permutations(size).astype(np.int64)
    # Compare one vertex's row at a time, so that few of the orders are compared in full.
    for vertex in range(size):
        row = matrix[orders[:, vertex, None], orders]
        orders = orders[(row == matrix[vertex]).all(axis=1)]
    masks = neighbourhoods(size).astype(np.int64)
    smallest = np.arange(1 << size)
    for block in np.array_split(orders, max(1, len(orders) // 256)):
        images = masks @ (1 << block).T
        smallest = np.minimum(smallest, images.min(axis=1))
    return np.unique(smallest)
