"""A network: compact graph, fixed partition, public seeds, names; what a search sees; neighbours.

Neighbouring networks have one vertex rewired and everything else the same: by default a protected
one at will. Other relations let any vertex be rewired, or one tie only.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, SupportsIndex, TypeVar, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.outputs.records import JSON

if TYPE_CHECKING:
    import networkx as nx

T = TypeVar("T")


def distinct(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return numbers from 0 once each, ascending; of millions numpy's hashing takes ten times."""
    ordered = np.sort(numbers)
    found: npt.NDArray[np.int64] = ordered[np.diff(ordered, prepend=-1) != 0]
    return found


def pair_keys(
    n: int, one: npt.NDArray[np.integer], other: npt.NDArray[np.integer]
) -> npt.NDArray[np.int64]:
    """Return each pair of two vertices once, as ``low · n + high``, ascending."""
    low, high = np.minimum(one, other).astype(np.int64), np.maximum(one, other).astype(np.int64)
    return distinct((low * n + high)[low != high])


def adjacency_from_edges(
    n: int, sources: npt.NDArray[np.integer], targets: npt.NDArray[np.integer]
) -> csr_array:
    """Return the symmetric 0/1 matrix, canonical, of a simple undirected graph; O(n + m log m).

    Duplicate and reversed edges collapse, self-loops are dropped.
    """
    low, high = np.divmod(pair_keys(n, sources, targets), max(n, 1))
    rows = np.concatenate([low, high]).astype(np.int32)
    columns = np.concatenate([high, low]).astype(np.int32)
    # The edges come sorted by (low, high), so converting by row leaves each row's indices in two
    # sorted runs; sorting them makes the form canonical, so that equal graphs are equal arrays.
    matrix = csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(n, n))
    matrix.sort_indices()
    return matrix


def adjacency_from_networkx(graph: nx.Graph) -> tuple[csr_array, tuple[Hashable, ...]]:
    """Return the adjacency matrix of any networkx graph, and its nodes in index order.

    Directions, multiplicities and self-loops are forgotten: the result is simple and undirected.
    """
    nodes = tuple(graph.nodes)
    index = {node: i for i, node in enumerate(nodes)}
    ends = np.array([(index[a], index[b]) for a, b in graph.edges()], dtype=np.int64).reshape(-1, 2)
    return adjacency_from_edges(len(nodes), ends[:, 0], ends[:, 1]), nodes


class IdentityOracle:
    """Counts, caches and logs the questions asked about the partition.

    Parameters
    ----------
    targeted : ndarray of bool, shape (n,)
        The partition, kept from the mechanism.
    seeds : iterable of int
        Public targeted vertices, known for free.

    Examples
    --------
    >>> oracle = IdentityOracle(np.array([True, False, True]), seeds=[0])
    >>> oracle(2), oracle(2), oracle(0), oracle.count, oracle.log
    (True, True, True, 1, (2,))
    """

    def __init__(self, targeted: npt.NDArray[np.bool_], seeds: Iterable[int]) -> None:
        self._targeted = targeted
        self._known: dict[int, bool] = dict.fromkeys(seeds, True)
        self._log: list[int] = []
        self._rest: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def __call__(self, vertex: int) -> bool:
        """Return whether ``vertex`` is targeted, a whole number from 0 to n - 1; O(1)."""
        if type(vertex) is not int:
            vertex = self._whole(vertex)
        answer = self._known.get(vertex)
        if answer is None:
            if not 0 <= vertex < len(self._targeted):
                remedy = f"the vertices are 0 to {len(self._targeted) - 1}"
                raise IndexError(f"oracle(vertex): vertex = {vertex}; {remedy}")
            answer = bool(self._targeted[vertex])
            if not len(self._rest):
                self._known[vertex] = answer
                self._log.append(vertex)
        return answer

    @staticmethod
    def _whole(vertex: object) -> int:
        """Return a whole number of numpy's as one of Python's, and refuse what is none."""
        if not isinstance(vertex, bool | np.bool_):
            with suppress(TypeError):
                return operator.index(cast("SupportsIndex", vertex))
        raise TypeError(f"oracle(vertex): vertex = {vertex!r}; give a whole number")

    def everyone(self) -> npt.NDArray[np.bool_]:
        """Ask about every vertex in the order of the indices, at once; shape ``(n,)``, O(n).

        Examples
        --------
        >>> oracle = IdentityOracle(np.array([True, False, True]), seeds=[0])
        >>> oracle.everyone().tolist(), oracle.count, oracle.log, oracle.examined(1)
        ([True, False, True], 2, (1, 2), True)
        """
        if not len(self._rest):
            left = np.ones(len(self._targeted), dtype=np.bool_)
            left[list(self._known)] = False
            self._rest = np.flatnonzero(left)
        return self._targeted.copy()

    @property
    def count(self) -> int:
        """Number of vertices paid for."""
        return len(self._log) + len(self._rest)

    @property
    def log(self) -> tuple[int, ...]:
        """The vertices paid for, in order."""
        return (*self._log, *self._rest.tolist())

    def examined(self, vertex: int) -> bool:
        """Return whether the status of ``vertex`` is known already."""
        return len(self._rest) > 0 or vertex in self._known


class SearchInstance:
    """A network as a search sees it: graph, oracle, seeds, and a public memory.

    Each run is given an oracle of its own by :meth:`fresh`; graph and memory are shared.
    """

    def __init__(
        self,
        adjacency: csr_array,
        targeted: npt.NDArray[np.bool_],
        seeds: tuple[int, ...],
        memory: dict[Hashable, object] | None = None,
        *,
        max_degree: int | None = None,
    ) -> None:
        self._targeted = targeted
        self._memory: dict[Hashable, object] = {} if memory is None else memory
        self.adjacency = adjacency
        self.seeds = seeds
        self.max_degree = max_degree
        self.oracle = IdentityOracle(targeted, seeds)

    def __getstate__(self) -> JSON:
        """Travel without the memory: whatever is in it can be worked out again."""
        return {**self.__dict__, "_memory": {}}

    @property
    def graph(self) -> nx.Graph:
        """The network as networkx has it, frozen, built once: neighbours in index order."""

        def build() -> nx.Graph:
            import networkx as nx  # takes long to import

            graph = nx.empty_graph(self.adjacency.shape[0])
            rows = np.repeat(np.arange(graph.number_of_nodes()), np.diff(self.adjacency.indptr))
            upper = rows < self.adjacency.indices
            ends = zip(rows[upper].tolist(), self.adjacency.indices[upper].tolist(), strict=True)
            graph.add_edges_from(ends)
            return nx.freeze(graph)

        graph: nx.Graph = self.remember("graph", build)
        return graph

    def remember(self, key: Hashable, build: Callable[[], T]) -> T:
        """Return what is remembered under ``key``, working it out the first time.

        What is kept must be a function of the instance and the key alone; it spares a mechanism
        that is run many times on one network from scoring it anew each time.
        """
        if key not in self._memory:
            self._memory[key] = build()
        return cast("T", self._memory[key])

    def fingerprint(self) -> str:
        """Return a digest of what a search can learn: graph, partition, seeds, degree bound; O(m).

        Examples
        --------
        >>> import networkx as nx
        >>> adjacency, _ = adjacency_from_networkx(nx.path_graph(3))
        >>> one = SearchInstance(adjacency, np.array([True, False, True]), (0,))
        >>> one.fingerprint() == one.fresh().fingerprint()
        True
        """
        known = (self.adjacency.shape, [*map(int, self.seeds)], self.max_degree)
        digest = hashlib.blake2b(repr(known).encode(), digest_size=32)
        for array, kind in (
            (self.adjacency.indptr, np.int64),
            (self.adjacency.indices, np.int64),
            (self.adjacency.data, self.adjacency.dtype),
            (self._targeted, np.bool_),
        ):
            digest.update(np.ascontiguousarray(array, dtype=kind).data)
        return digest.hexdigest()

    def fresh(self) -> SearchInstance:
        """Return the same instance with an oracle that has not been asked anything."""
        return SearchInstance(
            self.adjacency, self._targeted, self.seeds, self._memory, max_degree=self.max_degree
        )


@dataclass(frozen=True, eq=False)
class Network:
    """A simple undirected graph with its partition, public seeds and names.

    Attributes
    ----------
    adjacency : csr_array of int8, shape (n, n)
        Symmetric 0/1 matrix with sorted indices and zero diagonal.
    targeted : ndarray of bool, shape (n,)
        The partition: ``True`` for targeted, ``False`` for protected.
    seeds : tuple of int
        Public targeted vertices.
    names : sequence of str, optional
        What the user's file calls each vertex; indices where absent.
    title : str
        What the reports call this network.
    stream_key : str, optional
        What random draws on it are keyed by, by default the title: a file may be renamed.

    Raises
    ------
    InputError
        If the partition is trivial or not boolean, a seed is missing, protected or out of range,
        or the names are not as many as the vertices.

    Examples
    --------
    >>> import networkx as nx
    >>> adjacency, nodes = adjacency_from_networkx(nx.path_graph(3))
    >>> network = Network(adjacency, np.array([True, False, True]), seeds=(0,))
    >>> network.n, network.edges, network.name(1), network.neighbours(1).tolist()
    (3, 2, '1', [0, 2])
    """

    adjacency: csr_array
    targeted: npt.NDArray[np.bool_]
    seeds: tuple[int, ...]
    names: Sequence[str] | None = None
    title: str = field(default="network")
    max_degree: int | None = None
    stream_key: str | None = None

    def __repr__(self) -> str:
        """Say in one line how large it is, and call nobody by name."""
        known = f"{self.n:,} vertices, {self.edges:,} edges, {int(self.targeted.sum()):,} targeted"
        return f"<Network: {self.title}, {known}>"

    def __post_init__(self) -> None:
        """Refuse a network no search can be audited on."""
        n = self.adjacency.shape[0]
        if self.targeted.shape != (n,):
            raise InputError(f"the partition has shape {self.targeted.shape}, not ({n},)")
        # ~ of whole numbers is no complement: 0/1 labels would make everybody protected.
        if self.targeted.dtype != np.bool_:
            raise InputError(
                f"the partition holds {self.targeted.dtype}, not bool; convert it with astype(bool)"
            )
        if self.names is not None and len(self.names) != n:
            raise InputError(f"{len(self.names)} names for {n} vertices; give each vertex one")
        if not self.targeted.any():
            raise InputError(
                "no targeted vertex: a search needs at least one; check the label column and "
                "`targeted_value`"
            )
        if self.targeted.all():
            raise InputError(
                "every vertex is targeted, so there is no protected vertex to rewire; check the "
                "label column and `targeted_value`"
            )
        if not self.seeds:
            raise InputError("no seed: name at least one targeted vertex with `seeds`")
        for seed in self.seeds:
            if not 0 <= seed < n:
                raise InputError(f"seed {seed} is not a vertex; vertices are 0..{n - 1}")
            if not self.targeted[seed]:
                raise InputError(
                    f"seed {self.name(seed)!r} is protected: seeds are public and must be "
                    "targeted; choose another with `seeds`"
                )
        if self.max_degree is not None and self.max_degree < 1:
            raise ParameterError("max_degree", self.max_degree, "must be at least 1")
        degree = np.diff(self.adjacency.indptr)
        if self.max_degree is not None and degree.max() > self.max_degree:
            raise ParameterError(
                "max_degree",
                self.max_degree,
                f"{self.name(int(degree.argmax()))!r} has degree {degree.max()}; the bound is a "
                "public promise that every network keeps, so raise it or leave it out",
            )

    @property
    def n(self) -> int:
        """Number of vertices."""
        return int(self.adjacency.shape[0])

    @property
    def edges(self) -> int:
        """Number of edges."""
        return int(self.adjacency.nnz // 2)

    @cached_property
    def protected(self) -> npt.NDArray[np.int64]:
        """Indices of the protected vertices, ascending."""
        return np.flatnonzero(~self.targeted)

    def name(self, vertex: int) -> str:
        """Return what the user calls ``vertex``."""
        if self.names is None or not 0 <= vertex < len(self.names):
            return str(vertex)
        return self.names[vertex]

    def neighbours(self, vertex: int) -> npt.NDArray[np.int32]:
        """Return the neighbours of ``vertex``, ascending; O(degree)."""
        start, end = self.adjacency.indptr[vertex : vertex + 2]
        found: npt.NDArray[np.int32] = self.adjacency.indices[start:end]
        return found

    def instance(self) -> SearchInstance:
        """Return what a search sees of this network."""
        return SearchInstance(self.adjacency, self.targeted, self.seeds, max_degree=self.max_degree)

    def with_adjacency(self, adjacency: csr_array) -> Network:
        """Return the same people with other edges."""
        return replace(self, adjacency=adjacency)


def targeted_components(
    adjacency: csr_array, targeted: npt.NDArray[np.bool_]
) -> list[npt.NDArray[np.int64]]:
    """Return the components of the targeted, largest first, then by smallest index; O(n + m)."""
    members = np.flatnonzero(targeted)
    if not len(members):
        return []
    from scipy.sparse.csgraph import connected_components  # takes long to import

    count, label = connected_components(adjacency[members][:, members], directed=False)
    grouped = members[np.argsort(label, kind="stable")]
    sizes = np.bincount(label, minlength=count)
    ends = np.cumsum(sizes)
    order = np.lexsort((grouped[ends - sizes], -sizes))
    # Slices of one array: a call of numpy for each of many thousand components would be seen.
    bounds = zip((ends - sizes)[order].tolist(), ends[order].tolist(), strict=True)
    return [grouped[start:end] for start, end in bounds]


def default_seeds(adjacency: csr_array, targeted: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the smallest-index vertex of the largest targeted component."""
    components = targeted_components(adjacency, targeted)
    if not components:
        raise InputError("no targeted vertex: a search needs at least one to start from")
    return (int(components[0][0]),)


# Neighbours: one vertex rewired, everything else the same


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
