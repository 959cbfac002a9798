"""Events: sets of outputs, described by what is read off columns of one output alone."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from pdpaudit.outputs.columns import (
    CATEGORIES,
    READERS,
    Atom,
    Batch,
    Coded,
    Column,
    Crossed,
    Group,
    Numbered,
    Whole,
    batch_of,
    batch_of_outputs,
    whole_of,
)
from pdpaudit.outputs.draws import Draws
from pdpaudit.outputs.records import JSON, Path, Record, Structure, flatten

Floats = npt.NDArray[np.float64]
Side = Literal["left", "right"]

#: What no UTF-8 can hold, and two of which JSON reads back as one character.
SURROGATE = re.compile("[\ud800-\udfff]")

#: Up to this many edges a number is compared with each.
FEW_EDGES = 32


@dataclass(frozen=True)
class _Event:
    """What all events have."""

    side: Side

    def inside(self, batch: Batch) -> npt.NDArray[np.bool_]:
        """Return which rows belong to the event."""
        raise NotImplementedError

    def count(self, draws: Draws) -> int:
        """Return how many runs belong to the event."""
        batch = batch_of(draws)
        return int(batch.weights[self.inside(batch)].sum())

    def __contains__(self, output: object) -> bool:
        """Return whether one output belongs to the event."""
        return bool(self.inside(batch_of_outputs([output]))[0])


@dataclass(frozen=True)
class Membership(_Event):
    """Outputs whose category in one column is one of several."""

    column: Column
    values: frozenset[Hashable]

    @property
    def feature(self) -> str:
        """What is looked at."""
        return self.column.aspect

    @property
    def prefix(self) -> int:
        """Leading entries of a list that are not looked at."""
        return self.column.prefix

    def inside(self, batch: Batch) -> npt.NDArray[np.bool_]:
        """Return which rows belong to the event."""
        found = (self.column.numbered(g, self.values.__contains__) for g in batch.groups)
        return np.concatenate([np.empty(0), *found]).astype(np.bool_)

    def to_json(self) -> dict[str, object]:
        """Return the JSON form; values in a stable order."""
        return {
            "feature": self.column.aspect,
            "path": value_json(self.column.path),
            "at": value_json(self.column.at),
            "values": sorted((value_json(value) for value in self.values), key=repr),
            "side": self.side,
            "prefix": self.column.prefix,
        }


@dataclass(frozen=True)
class Range(_Event):
    """Outputs of which one number lies in a range, ends included."""

    column: Numbered
    low: float
    high: float

    feature = "range"

    def inside(self, batch: Batch) -> npt.NDArray[np.bool_]:
        """Return which rows belong to the event."""
        number = batch.read(self.column)
        return (number >= self.low) & (number <= self.high)

    def to_json(self) -> dict[str, object]:
        """Return the JSON form; an open end is null."""
        return {
            "feature": "range",
            "side": self.side,
            "column": column_json(self.column),
            "low": None if self.low == -math.inf else value_json(self.low),
            "high": None if self.high == math.inf else value_json(self.high),
        }


@dataclass(frozen=True)
class Term:
    """What one number of an output adds to its score."""

    column: Numbered
    edges: tuple[float, ...]
    weights: tuple[float, ...]
    atoms: tuple[tuple[float, float], ...] = ()
    missing: float = 0.0

    def of(self, numbers: Floats) -> Floats:
        """Return what each number is given, shape ``(size,)``."""
        cells = cells_of(numbers, self.edges, tuple(value for value, _ in self.atoms))
        table = np.array([*self.weights, *(weight for _, weight in self.atoms), self.missing])
        return table[cells]

    def turned(self) -> Term:
        """Return the same with the signs of all weights changed."""
        return Term(
            self.column,
            self.edges,
            tuple(-weight for weight in self.weights),
            tuple((value, -weight) for value, weight in self.atoms),
            -self.missing,
        )


def cells_of(
    numbers: Floats, edges: tuple[float, ...], atoms: tuple[float, ...]
) -> npt.NDArray[np.intp]:
    """Return the cell of each number: between edges, then the atoms, then nan; O(log) each."""
    if len(edges) <= FEW_EDGES:
        # Numbers come in no order, and then comparing with a few is quicker than searching.
        cells = np.zeros(len(numbers), dtype=np.intp)
        for edge in edges:
            cells += numbers >= edge
    else:
        cells = np.searchsorted(np.array(edges), numbers, side="right")
    if atoms:
        known = np.array(atoms)
        place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
        cells = np.where(known[place] == numbers, len(edges) + 1 + place, cells)
    return np.where(np.isnan(numbers), len(edges) + 1 + len(atoms), cells)


#: Decimals of a score that are compared: the last digits of a sum differ between processors.
SCORE_DECIMALS = 9


@dataclass(frozen=True)
class Score(_Event):
    """Outputs whose score, the sum of their terms, reaches a threshold."""

    terms: tuple[Term, ...]
    threshold: float

    feature = "score"

    def inside(self, batch: Batch) -> npt.NDArray[np.bool_]:
        """Return which rows belong to the event."""
        return self.scores(batch) >= self.threshold

    def scores(self, batch: Batch) -> Floats:
        """Return the score of each row."""
        total = np.zeros(batch.size)
        for term in self.terms:
            total += term.of(batch.read(term.column))
        return total.round(SCORE_DECIMALS)

    def to_json(self) -> dict[str, object]:
        """Return the JSON form, with all that is needed to score again."""
        terms = [
            {
                "column": column_json(term.column),
                "edges": value_json(term.edges),
                "weights": list(term.weights),
                "atoms": value_json(term.atoms),
                "missing": term.missing,
            }
            for term in self.terms
        ]
        return {"feature": "score", "side": self.side, "terms": terms, "threshold": self.threshold}


Event: TypeAlias = Membership | Range | Score


def _floats(body: Iterable[object]) -> tuple[float, ...]:
    return tuple(map(_number, body))


def _number(body: object) -> float:
    value = value_from_json(body)
    if isinstance(value, int | float):
        return float(value)
    raise TypeError(f"{value!r} is no number")


def _path(body: object) -> Path:
    value = value_from_json(body)
    if not isinstance(value, tuple):
        raise TypeError(f"{value!r} is no path")
    return tuple(step if isinstance(step, int) else str(step) for step in value)


def _is_record(value: Hashable) -> TypeGuard[Record]:
    return isinstance(value, tuple) and len(value) == 3 and len(value[1]) == len(value[2])


def complexity(event: Event) -> int:
    """Return how hard an event is to check for a person: 0 for one column and one condition."""
    if isinstance(event, Score):
        return 2 + len(event.terms)
    if isinstance(event, Membership):
        return int(len(event.values) > 1 or event.column.aspect in ("structure", "output"))
    return int(not isinstance(event.column, Column) or event.column.aspect != "number")


@dataclass(frozen=True)
class Several:
    """Several events counted on the same draws."""

    events: tuple[Event, ...]

    def count(self, draws: Draws) -> npt.NDArray[np.int64]:
        """Return how many runs belong to each event, shape ``(events,)``."""
        batch = batch_of(draws)
        weights = batch.weights
        # Scores that differ in their thresholds alone are computed once.
        known: dict[tuple[Term, ...], Floats] = {}
        found = []
        for event in self.events:
            if isinstance(event, Score):
                if event.terms not in known:
                    known[event.terms] = event.scores(batch)
                inside = known[event.terms] >= event.threshold
            else:
                inside = event.inside(batch)
            found.append(int(weights[inside].sum()))
        return np.array(found, dtype=np.int64)


def event_from_json(body: JSON) -> Event:
    """Return the event of a JSON form."""
    side: Side = body["side"]
    if side not in ("left", "right"):
        raise KeyError(str(side))
    if "values" in body:
        return _membership(body, side)
    if body["feature"] == "range":
        low, high = body["low"], body["high"]
        return Range(
            side,
            column_from_json(body["column"]),
            -math.inf if low is None else _number(low),
            math.inf if high is None else _number(high),
        )
    if body["feature"] != "score":
        raise KeyError(str(body["feature"]))
    terms = tuple(
        Term(
            column_from_json(term["column"]),
            _floats(term["edges"]),
            tuple(map(float, term["weights"])),
            tuple((value, weight) for value, weight in map(_floats, term["atoms"])),
            float(term["missing"]),
        )
        for term in body["terms"]
    )
    return Score(side, terms, float(body["threshold"]))


#: What distinguishes outputs, the simplest first; of what is no list there is only all.
LIST_ASPECTS = ("first", "last", "length", "output")


def simplest(
    outputs: Iterable[object], inside: frozenset[object], side: Side, shared: int = 0
) -> Membership:
    """Return the simplest description of a set of outputs among all that can occur.

    Where all are tuples known to share their first entries, only what follows these is looked at.
    """

    def record(output: object) -> Record:
        return flatten(output[shared:] if shared and isinstance(output, tuple) else output)

    wanted = frozenset(map(record, inside))  # 1 and True are equal, and two outputs
    parts: dict[Structure, list[Record]] = {}
    for one in map(record, outputs):
        parts.setdefault(one[0], []).append(one)
    batch = Batch(tuple(Group(structure, records, None) for structure, records in parts.items()))
    known = [one for records in parts.values() for one in records]
    lists = [entries for group in batch.groups for entries in group.entries]
    prefix = shared_prefix(lists) if all(group.ordered for group in batch.groups) else 0
    aspects = LIST_ASPECTS if shared or any(lists) else LIST_ASPECTS[-1:]
    for aspect in aspects:
        column = Column(aspect, prefix=prefix)
        split: tuple[set[Hashable], set[Hashable]] = (set(), set())
        for output, value in zip(known, batch.categories(column), strict=True):
            split[output in wanted].add(value)
        if split[0].isdisjoint(split[1]):
            return Membership(side, replace(column, prefix=shared + prefix), frozenset(split[1]))
    raise AssertionError("the whole output tells outputs apart")


def shared_prefix(lists: Sequence[tuple[Hashable, ...] | None]) -> int:
    """Return how many leading entries all lists share; none where one is no list."""
    if not lists or None in lists:
        return 0
    shared: tuple[Hashable, ...] = lists[0] or ()
    for entries in lists[1:]:
        if entries is not None and entries[: len(shared)] != shared:
            differs = (i for i, (a, b) in enumerate(zip(shared, entries, strict=False)) if a != b)
            shared = shared[: next(differs, len(entries))]
    return len(shared)


def _membership(body: JSON, side: Side) -> Membership:
    """Return an event on categories, from this form or the one before it."""
    kind, *rest = body["feature"].split()
    if kind not in CATEGORIES:
        raise KeyError(str(kind))
    at = value_from_json(body.get("at", 0))
    if rest:  # "order 5 7": the form before had the vertices in the name
        vertices = tuple(map(int, rest))
        at = vertices if kind == "order" else vertices[0]
    column = Column(kind, _path(body.get("path", [])), at, int(body["prefix"]))
    values = frozenset(map(value_from_json, body["values"]))
    if "path" not in body and kind in ("output", "first", "last", "begins"):
        values = frozenset(_category(value, kind) for value in values)
    return Membership(side, column, values)


def _category(value: object, kind: str) -> Hashable:
    """Return the category of a value of the form before, where None was also what is no entry."""
    if value is None and kind != "output":
        return None
    if isinstance(value, str) and value.startswith("error ") and value[6:].isidentifier():
        return Atom(f"raises {value[6:]}", None)
    return whole_of(flatten(value))


def column_json(column: Numbered) -> dict[str, object]:
    """Return the JSON form of a column."""
    if isinstance(column, Coded):
        values = [value_json(value) for value in column.values]
        return {"coded": column_json(column.column), "values": values}
    if isinstance(column, Crossed):
        return {
            "crossed": [column_json(one) for one in column.columns],
            "edges": value_json(column.edges),
        }
    path, at = value_json(column.path), value_json(column.at)
    return {"aspect": column.aspect, "path": path, "at": at, "prefix": column.prefix}


def column_from_json(body: JSON) -> Numbered:
    """Return the column of a JSON form."""
    if "coded" in body:
        inner = column_from_json(body["coded"])
        if not isinstance(inner, Column):
            raise KeyError("coded")
        return Coded(inner, tuple(map(value_from_json, body["values"])))
    if "crossed" in body:
        first, second = map(column_from_json, body["crossed"])
        one, other = map(_floats, body["edges"])
        if isinstance(first, Crossed) or isinstance(second, Crossed):
            raise KeyError("crossed")
        return Crossed((first, second), (one, other))
    if body["aspect"] not in READERS and body["aspect"] not in CATEGORIES:
        raise KeyError(str(body["aspect"]))
    at = value_from_json(body["at"])
    return Column(body["aspect"], _path(body["path"]), at, int(body["prefix"]))


def value_json(value: object) -> object:
    """Return the JSON form of a category: tuples as lists, what JSON lacks by its kind's name."""
    if isinstance(value, tuple):
        return [value_json(item) for item in value]
    if isinstance(value, Atom):
        return {"kind": value.kind, "value": value_json(value.value)}
    if isinstance(value, Whole):
        return {"record": value_json(value.record)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, str) and not value.isascii() and SURROGATE.search(value):
        return {"text": value.encode("utf-8", "surrogatepass").hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value


def value_from_json(body: object) -> Hashable:
    """Return the category of a JSON form."""
    if isinstance(body, list):
        return tuple(map(value_from_json, body))
    if isinstance(body, Mapping):
        if "kind" in body:
            return Atom(str(body["kind"]), value_from_json(body["value"]))
        if "record" in body:
            record = value_from_json(body["record"])
            if not _is_record(record):
                raise TypeError(f"{record!r} is no record")
            return Whole(record)
        if "float" in body:
            return float(body["float"])
        if "text" in body:
            return bytes.fromhex(body["text"]).decode("utf-8", "surrogatepass")
        if "frozenset" in body:  # of the form before
            return frozenset(map(value_from_json, body["frozenset"]))
        return bytes.fromhex(body["bytes"])
    return body
