"""All numberings of graphs of few vertices, by a fast path of the function that is checked.

A function may bring ``values(adjacencies)``: from graphs as a bool array of shape ``(graphs, n,
n)`` to what it gives of each, whole numbers or floats of shape ``(graphs,)`` or ``(graphs, m)``,
or the adjacencies of the graphs that it gives. That is compared with the function on all graphs of
few vertices and on some larger ones. It shows which pairs may be too far apart, whole numbers being
compared as such; of these the function decides.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from pdpaudit.checks.evaluation import ROOT, distance
from pdpaudit.core.errors import InputError, located
from pdpaudit.core.graphs import (
    Adjacencies,
    Graph,
    Tie,
    adjacencies,
    graph_of,
    numbered_graph,
    ties_at,
)
from pdpaudit.core.input_words import input_words, is_graph
from pdpaudit.core.statistic import name_of
from pdpaudit.sampling import stream

if TYPE_CHECKING:
    from pdpaudit.checks.sensitivity import Found, Question
    from pdpaudit.core.domains import Graphs

#: Vertices up to which it is compared with the function on every graph, and how many times three
#: graphs of each size beyond: with half, a quarter and three quarters of all ties.
EVERY, DRAWN = 4, 50

#: Graphs, and pairs, that are looked at at once; and how many bytes the values of one size may
#: take.
GRAPHS, PAIRS = 1 << 13, 1 << 17
MOST_BYTES = 352 << 20

Array = npt.NDArray[Any]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class FastPath:
    """The values of a function on many graphs at once."""

    question: Question
    values: Callable[[Adjacencies], object]

    def compare(self, n: int, seed: int) -> None:
        """Compare it with the function on graphs of n vertices; raise where they differ."""
        numbers = np.arange(1 << math.comb(n, 2))
        if n > EVERY:
            one, other = stream(seed, "fast-path", n).integers(len(numbers), size=(2, DRAWN))
            numbers = np.concatenate([one, one & other, one | other])
        given = adjacencies(n, numbers)
        for graph, row in zip(map(graph_of, given), self.of(given), strict=True):
            plain, fast = self.question.value(graph), graph_of(row) if self.to_graphs else row
            if distance(plain, fast, self.question.norm) > 2 * Fraction(self.question.error):
                words = f"function {input_words(plain)}, fast path {input_words(fast)}"
                raise self.refusal(words, graph)

    def refusal(self, words: str, graph: Graph) -> InputError:
        """Return what is wrong with it on a graph."""
        return InputError(f"{name_of(self.question.function)}: {words} (on {input_words(graph)})")

    @cached_property
    def to_graphs(self) -> bool:
        """Whether the function gives graphs."""
        return is_graph(self.question.value(Graph(max(1, self.question.least), ())))

    def of(self, given: Adjacencies, row: tuple[int, ...] | None = None) -> Array:
        """Return the values, of which each has a shape, shape ``(graphs, *row)``."""
        kept, at = given.copy(), 0
        try:
            values = np.asarray(self.values(given))
        except Exception as error:
            words = f"the fast path raised {located(error)}"
            raise self.refusal(words, graph_of(kept[0])) from None
        row = kept.shape[1:] if self.to_graphs else values.shape[1:] if row is None else row
        if not np.array_equal(given, kept):
            words = "changed the array it was given"
        elif values.shape != (len(kept), *row) or values.dtype.kind not in "biuf":
            words = f"returned {values.dtype} of shape {values.shape}, not numbers of shape "
            words += f"{(len(kept), *row)}"
        elif not np.isfinite(values).all():
            words = "returned a value that is not finite"
            at = int(np.argwhere(~np.isfinite(values))[0, 0])
        else:
            return values
        raise self.refusal(f"the fast path {words}", graph_of(kept[at]))

    def row(self, n: int) -> tuple[int, ...]:
        """Return the shape of a value on n vertices."""
        return self.of(adjacencies(n, np.zeros(1, dtype=np.int64))).shape[1:]

    def table(self, n: int, shape: tuple[int, ...]) -> Array:
        """Return the values on all graphs of n vertices, shape ``(m, graphs)``.

        Each is filled up with zeros to a shape. Whole numbers have a type that holds the sum of
        their differences.
        """
        count, row = 1 << math.comb(n, 2), self.row(n)
        table = np.empty((0, count), dtype=np.int8)
        for low in range(0, count, GRAPHS):
            values = self.of(adjacencies(n, np.arange(low, min(low + GRAPHS, count))), row)
            block = np.zeros((len(values), *shape), dtype=values.dtype)
            block[(slice(None), *map(slice, row))] = values
            block = block[:, *np.triu_indices(shape[0], 1)] if self.to_graphs else block
            block = block.reshape(len(values), -1).T
            block = _small(block if len(block) else np.zeros((1, len(values)), dtype=np.int8))
            if (needed := len(block) * count * block.itemsize) > MOST_BYTES:
                words = f"the fast path gives {len(block)} numbers for each of {count:,} graphs, "
                words += f"{needed >> 20} MiB; look at fewer vertices, or leave it out"
                raise self.refusal(words, Graph(n, ()))
            if not low:
                table = np.empty((len(block), count), dtype=block.dtype)
            table = table.astype(np.promote_types(table.dtype, block.dtype), copy=False)
            table[:, low : low + GRAPHS] = block
        return table


def _small(values: Array) -> Array:
    """Return whole numbers in a type that holds the sum of their differences, others as floats."""
    bound = 2 * len(values) * _largest(values)
    whole = values.dtype.kind != "f" or bool((values == np.rint(values)).all())
    return values.astype(np.min_scalar_type(-1 - int(bound)) if whole and bound < 2**52 else float)


def _largest(values: Array) -> float:
    return max(abs(float(values.max())), abs(float(values.min())))


# All pairs


@dataclass
class _Sides:
    """Both sides of all pairs of n vertices: their values, and how many ties they have."""

    path: FastPath
    norm: str
    vertices: tuple[int, int]
    tables: tuple[Array, Array]
    #: Whether any vertex may vanish, or the last only.
    anyone: bool
    #: What the smallest pair that is too far apart is known by: its ties, and the numbers of both
    #: graphs; nothing before one is found.
    first: tuple[int, ...] = ()
    #: A distance up to which a pair is of no interest.
    least: float = -1.0
    kept: set[bytes] = field(default_factory=set)

    @classmethod
    def of(cls, path: FastPath, n: int, *, anyone: bool) -> _Sides:
        """Return those of n vertices; graphs are as far apart as ties in which they differ."""
        fewer = n - (path.question.relation == "vertex")
        rows = path.row(n), path.row(fewer)
        if len(rows[0]) != len(rows[1]):
            raise path.refusal(f"the fast path gives shapes {rows[0]} and {rows[1]}", Graph(n, ()))
        shape = tuple(map(max, *rows))
        table = path.table(n, shape)
        other = table if fewer == n else path.table(fewer, shape)
        norm = "L1" if path.to_graphs else path.question.norm
        return cls(path, norm, (n, fewer), (table, other), anyone)

    @cached_property
    def ties(self) -> tuple[Array, Array]:
        """How many ties each graph has."""
        ours, theirs = (_sums([1] * math.comb(n, 2)).astype(np.int8) for n in self.vertices)
        return ours, theirs

    def pair(self, left: int, right: int) -> tuple[Graph, Graph]:
        """Return two graphs by their numbers."""
        return numbered_graph(self.vertices[0], left), numbered_graph(self.vertices[1], right)

    @cached_property
    def rounding(self) -> float:
        """How far a distance may be off for the way it is added up; whole numbers are exact."""
        ours, theirs = self.tables
        if self.norm != "L2" and "f" not in ours.dtype.kind + theirs.dtype.kind:
            return 0.0
        largest = max(map(_largest, self.tables))
        return 2.0**-51 * len(ours) * (len(ours) + 2) * largest

    def pairs(self) -> Iterator[tuple[int, Numbers, Numbers]]:
        """Yield blocks: how many pairs, and the numbers of both sides.

        These are to be broadcast. Of rewired graphs a row of all that differ at one vertex is left
        out where no two are further apart than what is still of interest.
        """
        n, question = self.vertices[0], self.path.question
        relation, domain = question.relation, cast("Graphs", question.domain)
        ties = list(itertools.combinations(range(n), 2))
        bits = {tie: 1 << i for i, tie in enumerate(reversed(ties))}
        for known, own in _places(domain, relation, n, anyone=self.anyone):
            ways = _sums(bit for tie, bit in bits.items() if tie in own)
            rests = _sums(bit for tie, bit in bits.items() if tie not in {*own, *known})
            rests += sum(bits[tie] for tie, present in known.items() if present)
            each = len(ways) if relation == "vertex" else len(ways) ** 2
            for low in range(0, len(rests), size := max(1, PAIRS // each)):
                graphs = rests[low : low + size, None] | ways
                if relation == "edge":
                    yield len(graphs), graphs[:, :1], graphs[:, 1:]
                elif relation == "vertex":  # what is left of a row, among graphs of fewer vertices
                    yield graphs.size, graphs, np.arange(low, low + len(graphs))[:, None]
                else:  # either graph may come first
                    count = graphs.size * (len(ways) - 1)
                    graphs = graphs[self.spread(graphs) > self.least]
                    yield count, graphs[:, :, None], graphs[:, None, :]

    def apart(self, left: Numbers, right: Numbers) -> Array:
        """Return how far apart the values of graphs are, by their numbers."""
        sides = zip(*self.tables, strict=True)
        return _apart(((ours[left], theirs[right]) for ours, theirs in sides), self.norm)

    def spread(self, graphs: Numbers) -> Array:
        """Return how far apart the values in each row of graphs are at most."""
        columns = (values[graphs] for values in self.tables[0])
        return _apart(((one.max(axis=1), one.min(axis=1)) for one in columns), self.norm)

    def moved(self, pair: tuple[Graph, Graph], seen: float) -> float:
        """Return how far apart the function's values are; refuse a fast path that shows others."""
        question = self.path.question
        moved = float(question.moved(pair))
        if moved != seen and abs(moved - seen) > 4 * question.error + self.rounding:
            words = f"it moves by {moved:.6g} from here, its fast path by {seen:.6g}"
            raise self.path.refusal(words, pair[0])
        return moved

    def decide(self, found: Found, left: Numbers, right: Numbers, moved: Array) -> None:
        """Ask the function of pairs that seem too far apart, the smallest first, until one is.

        Pairs of the same values are asked for once.
        """
        weight = self.ties[0][left] + self.ties[1][right]
        order = np.lexsort((right, left, weight))
        order = order[weight[order] <= self.first[0]] if self.first else order
        sides = zip(self.tables, (left[order], right[order]), strict=True)
        values = np.concatenate([table[:, side] for table, side in sides])
        for at in np.sort(np.unique(values, axis=1, return_index=True)[1]).tolist():
            i, alike = order[at], values[:, at].tobytes()
            key = int(weight[i]), int(left[i]), int(right[i])
            if self.first and key >= self.first:
                return
            if alike in self.kept:
                continue
            pair = self.pair(*key[1:])
            self.moved(pair, moved[i].item())
            if self.path.question.excess(pair) > 0:
                self.first, found.broken = key, pair
                return
            self.kept.add(alike)


def _places(
    domain: Graphs, relation: str, n: int, *, anyone: bool
) -> Iterator[tuple[dict[Tie, bool], Sequence[Tie]]]:
    """Yield where graphs may differ, and ties that both have or lack: they decide what may."""
    if relation == "vertex":
        for gone in range(n) if anyone else [n - 1]:
            # Whoever is served stays, and so do those whom they know.
            if gone or not domain.served:
                ties = ties_at(n, gone)
                yield dict.fromkeys(ties[: domain.served], False), ties[domain.served :]
        return
    known = [(0, one) for one in range(1, n)] * (relation == "secret")
    for present in itertools.product((False, True), repeat=len(known)):
        contacts = {one for (_, one), has in zip(known, present, strict=True) if has}
        for own in domain.groups(relation, n, contacts):
            yield dict(zip(known, present, strict=True)), own


def look(path: FastPath, found: Found, n: int, *, anyone: bool) -> None:
    """Take note of the changes over all pairs of n vertices, in all numberings."""
    question, sides = path.question, _Sides.of(path, n, anyone=anyone)
    allowed, rounding = question.allowed(sides.pair(0, 0)), sides.rounding
    bound = Fraction(allowed) + 2 * Fraction(question.error)
    most = max(0.0, float(bound) - rounding) if rounding else math.floor(bound)
    smaller, top = found.broken is not None, -1.0
    for count, left, right in sides.pairs():
        found.pairs += count
        moved = sides.apart(left, right)
        if (largest := moved.max(initial=-1).item()) > top:
            at = np.unravel_index(int(moved.argmax()), moved.shape)
            numbers = (int(np.broadcast_to(side, moved.shape)[at]) for side in (left, right))
            top, pair = largest, sides.pair(*numbers)
            found.declared[n] = allowed
            found.largest[n] = max(found.largest.get(n, 0.0), sides.moved(pair, top))
        if largest > most and not smaller:
            near = moved > most
            left, right = (np.broadcast_to(side, near.shape)[near] for side in (left, right))
            sides.decide(found, left, right, moved[near])
        sides.least = top if smaller else min(top, most)


def _apart(sides: Iterable[tuple[Array, Array]], norm: str) -> Array:
    """Return how far apart vectors are, whose entries come one by one."""
    join = np.maximum if norm == "Linf" else np.add
    kind = np.float64 if norm == "L2" else None
    moved: Array | None = None
    step: Array | None = None
    with np.errstate(over="ignore"):
        for ours, theirs in sides:
            step = np.subtract(ours, theirs, out=step, dtype=kind)
            (np.square if norm == "L2" else np.abs)(step, out=step)
            moved = step.copy() if moved is None else join(moved, step, out=moved)
        assert moved is not None, "a value has a number at least"
        return np.sqrt(moved) * (1 - ROOT) if norm == "L2" else moved


def _sums(bits: Iterable[int]) -> Numbers:
    """Return the sums of all sets of numbers; ascending, where these are bits that ascend."""
    sums = np.zeros(1, dtype=np.int64)
    for bit in bits:
        sums = np.concatenate([sums, sums + bit])
    return sums
