"""What statistic-first search does in a component, worked out once for every run that enters it.

Which target comes next depends on the edges inside T alone, and whoever was examined before is
passed over without changing anything. So one plan serves all runs that enter by the same vertex.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.core.network import SearchInstance

from .orders import orders_in_step, step_pays, targets_in_order
from .partition import component_labels, component_members, shelf, targeted_mask

__all__ = ["Exploration", "exploration", "explorations", "explored", "neighbours_of"]

Ints = npt.NDArray[np.int64]

#: Pairs of targets and neighbours looked at together: as many as stay close to the processor.
ROOM = 1 << 17


@dataclass(frozen=True, eq=False)
class Exploration:
    """Statistic-first search from some targets, where nobody was examined before."""

    targets: Ints
    started: int
    protected: Ints
    before: Ints

    def weight(self) -> int:
        """Return how many numbers it holds, about."""
        return 2 * len(self.targets) + len(self.protected)


def exploration(instance: SearchInstance, start: tuple[int, ...], most: int) -> Exploration:
    """Return the plan of :func:`.sfs.sfs` from ``start``; worked out once, then kept."""

    def build() -> Exploration:
        targets, counts = targets_in_order(instance, start, most)
        return _worked_out(instance, targets[None], counts[None], len(start))[0]

    return shelf(instance, "outputs").get(_key(start, most), build, Exploration.weight)


def explorations(
    instance: SearchInstance, starts: Iterable[int], most: int
) -> dict[int, Exploration]:
    """Return :func:`exploration` from each of some targets, those of one component together."""
    kept, labels = shelf(instance, "outputs"), component_labels(instance)
    plans: dict[int, Exploration] = {}
    unknown: dict[int, list[int]] = defaultdict(list)
    for start in sorted(set(starts)):
        known = kept.kept.get(_key((start,), most))
        if known is None:
            unknown[int(labels[start])].append(start)
        else:
            plans[start] = known
    for label, some in unknown.items():
        members = component_members(instance)[label]
        if step_pays(len(some), len(members)) and len(members) <= most:
            orders = orders_in_step(instance, members, np.array(some))
            for start, plan in zip(some, _worked_out(instance, *orders, 1), strict=True):
                kept.keep(_key((start,), most), plan, Exploration.weight)
                plans[start] = plan
        else:
            plans |= {start: exploration(instance, (start,), most) for start in some}
    return plans


def _key(start: tuple[int, ...], most: int) -> tuple[str, tuple[int, ...], int]:
    return "exploration", start, most


def explored(
    plan: Exploration, open_: npt.NDArray[np.bool_], calls: int
) -> tuple[Ints, int, npt.NDArray[np.int64]]:
    """Follow a plan where some vertices were examined before."""
    unknown = open_[plan.protected]
    asked = plan.protected[unknown]
    before = plan.before[plan.started :]
    if not len(before):
        return before, calls + len(asked), asked
    paid = np.zeros(len(unknown) + 1, dtype=np.int64)
    np.cumsum(unknown, out=paid[1:])
    found = np.arange(calls + 1, calls + 1 + len(before)) + paid[before]
    return found, calls + len(before) + len(asked), asked


def neighbours_of(
    adjacency: csr_array, vertices: npt.NDArray[np.integer[Any]]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the neighbours of each vertex, one after the other, and whose they are."""
    start = adjacency.indptr[vertices].astype(np.int64)
    degree = adjacency.indptr[vertices + 1] - start
    owner = np.repeat(np.arange(len(vertices)), degree)
    shift = start - (np.cumsum(degree) - degree)
    place = np.arange(len(owner)) + shift[owner]
    return adjacency.indices[place].astype(np.int64), owner


def _worked_out(
    instance: SearchInstance, targets: Ints, counts: Ints, started: int
) -> list[Exploration]:
    """Return the plans that find the same targets, each in its order, a row of ``targets``."""
    size, n = targets.shape[1], instance.adjacency.shape[0]
    members = np.sort(targets[0])
    x, owner = neighbours_of(instance.adjacency, members)
    outside = ~targeted_mask(instance)[x]
    x, owner = x[outside], owner[outside]
    if not len(x) or size == started:
        protected, before = np.unique(x), np.zeros(size, dtype=np.int64)
        return [Exploration(row, started, protected, before) for row in targets]
    order = np.argsort(x, kind="stable")
    x, owner = x[order], owner[order]
    first = np.flatnonzero(np.diff(x, prepend=-1))
    degree = np.diff(first, append=len(x))
    # The rank by which a target was chosen, as one number: larger is earlier. A vertex met for
    # the r-th time has rank (r, index) until it is met again or asked about.
    width = n + 1
    largest = max(int(counts.max()), int(degree.max())) + 1
    chosen = (counts[:, started:] * width - targets[:, started:]).astype(_kind(largest * width))
    bound = ((np.arange(len(x)) - np.repeat(first, degree) + 1) * width - x).astype(chosen.dtype)
    met = np.maximum(_places(members, targets, n) - (started - 1), 0)
    protected = x[first]
    plans = []
    at_once = max(1, ROOM // len(x))
    for begin in range(0, len(targets), at_once):
        rows = slice(begin, begin + at_once)
        turns = _turns(chosen[rows], met[rows, owner], bound, first)
        asked = protected[np.argsort(turns, axis=1, kind="stable")]
        for row, turn in enumerate(turns):
            before = np.cumsum(np.bincount(turn + started, minlength=size)[:size])
            plans.append(Exploration(targets[begin + row], started, asked[row], before))
    return plans


def _kind(most: int) -> type[np.signedinteger[Any]]:
    """Return the narrowest integers that hold so large a number; half the width, half the time."""
    return next(k for k in (np.int16, np.int32, np.int64) if most <= np.iinfo(k).max)


def _places(members: Ints, targets: Ints, n: int) -> npt.NDArray[Any]:
    """Return the place of each member in each row of targets."""
    size = len(members)
    number = np.empty(n, dtype=np.int32)
    number[members] = np.arange(size)
    places = np.empty(targets.shape, dtype=np.int32)
    np.put_along_axis(places, number[targets], np.arange(size, dtype=np.int32)[None], axis=1)
    return places


def _turns(
    chosen: npt.NDArray[Any], met: npt.NDArray[Any], bound: npt.NDArray[Any], first: Ints
) -> npt.NDArray[Any]:
    """Return before which of the chosen each neighbour is asked about, their number if after all.

    ``met[e, first[i]:first[i + 1]]`` are the times at which neighbour i gets the ranks
    ``bound[first[i]:first[i + 1]]``, in any order. It is asked before the first target chosen with
    a lower rank than its own.
    """
    many, length = chosen.shape
    pairs, stride = met.shape[1], length + 1
    whose = np.repeat(np.arange(len(first)), np.diff(first, append=pairs))
    # One sort puts the times of each neighbour in order.
    shift = (whose * stride).astype(_kind((len(first) + 1) * stride))
    met = np.sort(met + shift, axis=1) - shift
    until = np.empty_like(met)
    until[:, :-1] = met[:, 1:]
    until[:, np.append(first[1:], pairs) - 1] = length
    # Minima over ranges of 2^l; a last column below all stops whoever comes to the end.
    low = np.full((many, stride), np.iinfo(chosen.dtype).min, dtype=chosen.dtype)
    low[:, :-1] = chosen
    minima = [low.reshape(-1)]
    while 1 << len(minima) <= length:
        half = 1 << (len(minima) - 1)
        longer = minima[-1].copy()
        np.minimum(longer[:-half], longer[half:], out=longer[:-half])
        minima.append(longer)
    tables = np.concatenate(minima)
    # A range is the union of two of these, which may overlap: where they begin.
    lengths = np.arange(length + 1)
    level = np.maximum(np.frexp(lengths)[1] - 1, 0)
    row = np.arange(many)[:, None]
    begin, span = met + row * stride, until - met
    one = (level * low.size)[span]
    one += begin
    other = (lengths - (1 << level))[span]
    other += one
    lowest = np.minimum(tables[one], tables[other])
    asked = np.flatnonzero((lowest < bound) & (span > 0))
    who = (row * len(first) + whose).reshape(-1)[asked]
    once = np.flatnonzero(np.diff(who, prepend=-1))
    asked, who = asked[once], who[once]
    at, limit = begin.reshape(-1)[asked], bound[asked % pairs]
    for half in range(len(minima) - 1, -1, -1):
        at += (minima[half][at] >= limit).astype(at.dtype) << half
    turn = np.full(many * len(first), length, dtype=_kind(length))
    turn[who] = at % stride
    return turn.reshape(many, len(first))
