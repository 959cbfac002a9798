"""Neighbouring networks: one vertex rewired, everything else the same.

By default a protected one at will. Other relations let any vertex be rewired, or one tie only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.core.network import Network

#: The relation of Kearns et al., and those under which targeted vertices are rewired as well, and
#: under which one tie changes.
PROTECTED = "protected"
ANYBODY, ONE_TIE = frozenset({"edge", "rewired"}), frozenset({"edge", "protected-edge"})

#: The side of a pair that is as in the file that the network was read from.
Own = Literal["left", "right", "neither"]

Vertices = Sequence[int] | npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class NeighborPair:
    """Two neighbouring networks: one network, and two ways to wire one vertex."""

    network: Network
    vertex: int
    left_neighbours: npt.NDArray[np.integer]
    right_neighbours: npt.NDArray[np.integer]
    family: str = ""
    own: Own | None = None
    relation: str = PROTECTED

    @property
    def own_side(self) -> Own | None:
        """The side that is as in the file; None where the network is no file's."""
        if self.own is not None or self.network.stream_key is None:
            return self.own
        real = self.network.neighbours(self.vertex)
        if np.array_equal(np.sort(self.left_neighbours), real):
            return "left"
        return "right" if np.array_equal(np.sort(self.right_neighbours), real) else "neither"

    @property
    def left(self) -> Network:
        """The one network, made anew each time so that many pairs can be held; O(n + m)."""
        return self._wired(self.left_neighbours)

    @property
    def right(self) -> Network:
        """The other network; O(n + m)."""
        return self._wired(self.right_neighbours)

    def _wired(self, neighbours: Vertices) -> Network:
        anybody = self.relation in ANYBODY
        return rewire(self.network, self.vertex, neighbours, anybody=anybody)


def rewire(
    network: Network, vertex: int, neighbours: Vertices, *, anybody: bool = False
) -> Network:
    """Return the network in which ``vertex`` has exactly these neighbours."""
    chosen = np.sort(np.asarray(neighbours, dtype=np.int64))
    if not 0 <= vertex < network.n:
        raise ValueError(f"{vertex} is not a vertex; vertices are 0..{network.n - 1}")
    if network.targeted[vertex] and not anybody:
        raise ValueError(f"vertex {vertex} is targeted: only a protected vertex is rewired")
    if len(chosen) and (chosen[0] < 0 or chosen[-1] >= network.n):
        raise ValueError(f"neighbours of {vertex} must be vertices 0..{network.n - 1}")
    if (chosen == vertex).any() or (np.diff(chosen) == 0).any():
        raise ValueError(f"neighbours of {vertex} must be distinct and other than itself")
    return network.with_adjacency(_rewired(network.adjacency, vertex, chosen))


def _rewired(old: csr_array, vertex: int, chosen: npt.NDArray[np.int64]) -> csr_array:
    """Return the matrix with other entries in one row and column, the others copied as they lie.

    Building it anew would sort all edges for each of many hundred pairs.
    """
    start, end = old.indptr[vertex : vertex + 2]
    before = old.indices[start:end]
    spokes = _places(old.indptr, old.indices, before, vertex)
    indices = np.delete(old.indices, np.concatenate([spokes, np.arange(start, end)]))
    degree = np.diff(old.indptr)
    degree[before] -= 1
    degree[vertex] = 0
    indptr = np.concatenate([[0], np.cumsum(degree)]).astype(old.indptr.dtype)
    rows = np.concatenate([chosen, np.full(len(chosen), vertex)])
    columns = np.concatenate([np.full(len(chosen), vertex), chosen])
    mine = np.full(len(chosen), indptr[vertex])
    places = np.concatenate([_places(indptr, indices, chosen, vertex), mine])
    # Where an empty row lies between two others all three begin at one place.
    order = np.lexsort((columns, rows))
    indices = np.insert(indices, places[order], columns[order])
    degree[chosen] += 1
    degree[vertex] = len(chosen)
    indptr = np.concatenate([[0], np.cumsum(degree)]).astype(old.indptr.dtype)
    ones = np.ones(len(indices), dtype=np.int8)
    matrix = csr_array((ones, indices, indptr), shape=old.shape)
    matrix.has_canonical_format = True
    return matrix


def _places(
    indptr: npt.NDArray[np.integer],
    indices: npt.NDArray[np.integer],
    rows: npt.NDArray[np.integer],
    column: int,
) -> npt.NDArray[np.int64]:
    """Return where in ``indices`` a column stands, or would, in each of these rows."""
    starts, ends = indptr[rows].tolist(), indptr[rows + 1].tolist()
    bounds = zip(starts, ends, strict=True)
    wanted = indices.dtype.type(column)  # of another type, it would have each row copied
    places = [start + int(indices[start:end].searchsorted(wanted)) for start, end in bounds]
    return np.array(places, dtype=np.int64)


def difference(left: Network, right: Network, vertex: int, relation: str = PROTECTED) -> str | None:
    """Say why two networks are not neighbours through ``vertex``, or None if they are.

    It shares nothing with :func:`rewire`: it compares the two edge sets themselves.
    """
    if left.n != right.n or not np.array_equal(left.targeted, right.targeted):
        return "the two networks do not share vertices and partition"
    if left.seeds != right.seeds:
        return "the two networks do not share their seeds"
    if left.max_degree != right.max_degree:
        return "the two networks do not share their public degree bound"
    if left.targeted[vertex] and relation not in ANYBODY:
        return f"vertex {vertex} is targeted"
    # A search that works on the matrix would see a weight, or an entry stored twice.
    for a, b in sorted(_repeated(left.adjacency) | _repeated(right.adjacency)):
        return f"edge {a}-{b} is not stored once, as 1"
    n = left.n
    ours, theirs = _arcs(left.adjacency), _arcs(right.adjacency)
    for arcs in (ours, theirs):
        one_way = np.setdiff1d(arcs, arcs % n * n + arcs // n, assume_unique=True)
        wrong = np.concatenate([one_way, arcs[arcs % n == arcs // n]])
        if len(wrong):
            a, b = divmod(int(wrong.min()), n)
            return f"edge {a}-{b} is a loop or has no reverse"
    apart = np.setxor1d(ours, theirs, assume_unique=True)
    foreign = apart[(apart // n != vertex) & (apart % n != vertex)]
    if len(foreign):
        a, b = divmod(int(foreign[0]), n)
        return f"edge {a}-{b} differs and does not touch vertex {vertex}"
    if relation in ONE_TIE and len(apart) != 2:
        return f"{len(apart) // 2} ties differ, not one"
    return None


def _arcs(adjacency: csr_array) -> npt.NDArray[np.int64]:
    """Return a number for each entry, ascending: its row times n, and its column."""
    rows, columns = adjacency.nonzero()
    # Sorted here, as numpy's sets are found by hashing, which takes a hundred times as long.
    return np.sort(rows.astype(np.int64) * adjacency.shape[0] + columns)


def _repeated(adjacency: csr_array) -> set[tuple[int, int]]:
    whole = adjacency.tocsr(copy=True)
    whole.sum_duplicates()
    coo = whole.tocoo()
    odd = coo.data != 1
    return set(zip(coo.row[odd].tolist(), coo.col[odd].tolist(), strict=True))
