"""Which columns of some outputs are worth a look, and what they hold."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.outputs import Batch, Column, Draws, batch_of
from pdpaudit.outputs.columns import ABSENT, Group, Numbered, embedded_numbers
from pdpaudit.outputs.events import shared_prefix
from pdpaudit.outputs.records import EXACT_KINDS, NUMERIC, WARNINGS, WIDE, Path, layout

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

#: Leaves looked at one by one, numbers looked at in one text, and characters there; these where
#: there are more texts than that.
MOST_PATHS, MOST_EMBEDDED, MOST_BYTES, MANY_TEXTS = 64, 8, 16, 100

#: Rows of arrays that are too many to be read one by one.
MANY_ROWS = 8000

#: Rows looked at to see whether values repeat, and how often they must.
SAMPLED, REPEATED = 1000, 0.5

#: Entries that this share of all entries are distinct of are numbers, and no names of anything.
DISTINCT = 0.25

#: Lists whose outputs repeat this often on average are compared whole.
REPEATS = 20


class Sample:
    """The discovery sample of a pair: left and right, two halves each."""

    def __init__(self, left: tuple[Draws, Draws], right: tuple[Draws, Draws]) -> None:
        self.batches: list[Batch] = [batch_of(half) for half in (*left, *right)]
        self.groups = [group for batch in self.batches for group in batch.groups]
        self.runs = [batch.runs for batch in self.batches]
        self._numbers: dict[Numbered, list[Floats]] = {}

    @property
    def sides(self) -> tuple[float, float]:
        """Runs behind both halves of left, and of right."""
        return float(sum(self.runs[:2])), float(sum(self.runs[2:]))

    def numbers(self, column: Numbered) -> list[Floats]:
        """Return what a column gives in each half, read once."""
        if column not in self._numbers:
            self._numbers[column] = [batch.read(column) for batch in self.batches]
        return self._numbers[column]

    def table(self, column: Column) -> tuple[list[Hashable], Floats]:
        """Return the categories of a column in a fixed order, and their counts in each half."""
        parts = [batch.categories(column) for batch in self.batches]
        distinct = sorted(set().union(*parts), key=repr)
        place = {value: i for i, value in enumerate(distinct)}
        counts = [
            np.bincount(
                np.fromiter((place[value] for value in part), dtype=np.intp, count=len(part)),
                weights=batch.weights,
                minlength=len(distinct),
            )
            for part, batch in zip(parts, self.batches, strict=True)
        ]
        return distinct, np.array(counts, dtype=np.float64)

    @cached_property
    def lists(self) -> list[tuple[Hashable, ...]] | None:
        """The entries of all rows, where all outputs are flat lists; else None."""
        found: list[tuple[Hashable, ...]] = []
        for group in self.groups:
            if None in group.entries:
                return None
            found += [entries for entries in group.entries if entries is not None]
        return found

    @cached_property
    def names(self) -> bool:
        """Whether outputs are lists of things that have names, and not of measured numbers."""
        lists, distinct, total = self.lists, set[Hashable](), 0
        if not lists:
            return False
        for entries in lists:
            if len(set(entries)) < len(entries) or not all(map(_is_name, entries)):
                return False
            distinct.update(entries)
            total += len(entries)
        return len(distinct) <= DISTINCT * total or self.repeats >= REPEATS

    @cached_property
    def finite(self) -> bool:
        """Whether whole outputs repeat, judged by the first rows of arrays."""
        distinct = 0.0
        for group in self.groups:
            if group.array is None:
                distinct += group.size
            else:
                some = group.matrix[:SAMPLED]
                # Of one number each this is much the quicker way.
                rows = some[:, 0] if some.shape[1] == 1 else some
                seen = len(np.unique(rows, axis=0, equal_nan=False))
                distinct += seen * group.size / max(len(some), 1)
        return distinct <= REPEATED * sum(self.runs)

    @cached_property
    def rows(self) -> bool:
        """Whether there are many rows of arrays, whose gaps patterns and counts show."""
        arrays = (one for one in self.groups if one.array is not None and one.array.ndim == 2)
        return sum(group.size for group in arrays) > MANY_ROWS

    @cached_property
    def varied(self) -> bool:
        """Whether outputs differ in structure."""
        return len({group.structure for group in self.groups}) > 1

    @cached_property
    def repeats(self) -> float:
        """How often an output came up, on average."""
        return sum(self.runs) / max(sum(batch.size for batch in self.batches), 1)

    @cached_property
    def ordered(self) -> bool:
        """Whether no output is a set."""
        return all(group.ordered for group in self.groups)

    @cached_property
    def prefix(self) -> int:
        """How many leading entries all lists share."""
        return shared_prefix(self.lists or []) if self.ordered else 0


def _is_name(entry: Hashable) -> bool:
    return type(entry) is str or (type(entry) is int and entry >= 0)


@dataclass
class _Leaf:
    """What was seen at one path."""

    kinds: set[str] = field(default_factory=set)
    texts: set[Any] = field(default_factory=set)
    wide: bool = False
    embedded: int = 0
    longest: int = 0
    values: set[Hashable] = field(default_factory=set)
    lengths: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Candidates:
    """Columns worth a look."""

    numbers: list[Column]
    categories: list[Column]


def candidates(sample: Sample) -> Candidates:
    """Return the columns worth a look, in an order that does not depend on arrival."""
    leaves, containers = _seen(sample)
    numbers: list[Column] = []
    categories: list[Column] = []
    for path, leaf in leaves.items():
        if len(leaf.kinds) > 1 and not (path and sample.rows):
            categories.append(Column("kind", path))
        numeric = leaf.kinds & NUMERIC
        if numeric or leaf.wide:
            numbers.append(Column("number", path))
        if leaf.wide:
            numbers.append(Column("rest", path))
        if leaf.texts:
            categories.append(Column("value", path))
            if leaf.embedded:
                categories.append(Column("template", path))
            if len(leaf.lengths) > 1:
                numbers.append(Column("length", path))
            count = min(leaf.embedded, MOST_EMBEDDED)
            numbers += [Column("embedded", path, i) for i in range(count)]
            if len(leaf.values) > MANY_TEXTS:
                numbers += [Column("byte", path, i) for i in range(min(leaf.longest, MOST_BYTES))]
        elif numeric and "int" in leaf.kinds:
            categories.append(Column("value", path))
    for path, forms in containers.items():
        if len({form[0] for form in forms}) > 1 and path not in leaves:
            categories.append(Column("kind", path))
        if len({form[1] for form in forms}) > 1:
            numbers.append(Column("length", path))
        if len({form[2] for form in forms}) > 1:
            categories.append(Column("keys", path))
    if len({group.warned for group in sample.groups}) > 1:
        categories.append(Column("kind", (WARNINGS,)))
    return Candidates(_most_different(sample, numbers), categories)


def _seen(
    sample: Sample,
) -> tuple[dict[Path, _Leaf], dict[Path, set[tuple[str, int, Any]]]]:
    """Return what was seen at each path of any output."""
    leaves: dict[Path, _Leaf] = {}
    containers: dict[Path, set[tuple[str, int, Any]]] = {}
    for group in sample.groups:
        for path in group.paths:
            _look(leaves.setdefault(path, _Leaf()), group, path)
        for path, form in layout(group.structure).containers.items():
            containers.setdefault(path, set()).add(form)
    # What is missing in one structure is known of all with that structure: one look each.
    structures = {group.structure: group for group in sample.groups}
    for path, leaf in leaves.items():
        inner = {form[0] for form in containers.get(path, ())}
        leaf.kinds |= inner
        if ABSENT in leaf.kinds:
            continue
        lacking = (g.kind_set(path) for g in structures.values() if path not in g.paths)
        leaf.kinds |= next((kinds for kinds in lacking if kinds - inner), set())
    return leaves, containers


def _look(leaf: _Leaf, group: Group, path: Path) -> None:
    """Note what is at one path of outputs of one structure."""
    kinds = group.kind_set(path)
    leaf.kinds |= kinds
    if kinds <= NUMERIC - {"int"} or kinds <= {"nan", *NUMERIC} - {"int"}:
        return
    for kind, value in set(zip(group.kinds(path), group.values(path), strict=True)):
        if kind == "int" or kind in EXACT_KINDS:
            leaf.wide |= kind != "int" or not isinstance(value, int) or abs(value) > WIDE
        elif kind not in NUMERIC and value is not None:
            leaf.texts.add(kind)
            if isinstance(value, (str, bytes)):
                leaf.lengths.add(len(value))
                leaf.embedded = max(leaf.embedded, len(embedded_numbers(value)))
                leaf.longest = max(leaf.longest, len(value))
                if len(leaf.values) <= MANY_TEXTS:
                    leaf.values.add(value)


def _most_different(sample: Sample, columns: list[Column]) -> list[Column]:
    """Return the columns, or where there are many those whose means differ most."""
    if len(columns) <= MOST_PATHS:
        return columns
    scores = []
    for column in columns:
        numbers = sample.numbers(column)
        means, errors = [], []
        for side in (0, 2):
            values = np.concatenate(numbers[side : side + 2])
            weights = np.concatenate([b.weights for b in sample.batches[side : side + 2]])
            ranks = np.arctan(np.clip(np.nan_to_num(values, nan=-1e300), -1e300, 1e300))
            total = max(weights.sum(), 1.0)
            mean = float(weights @ ranks) / total
            means.append(mean)
            errors.append(float(weights @ (ranks - mean) ** 2) / total**2)
        scores.append(abs(means[0] - means[1]) / np.sqrt(sum(errors) + 1e-300))
    kept = np.sort(np.argsort(-np.array(scores).round(9), kind="stable")[:MOST_PATHS])
    return [columns[i] for i in kept]
