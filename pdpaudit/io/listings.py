"""Text formats that look like edge lists: TGF, GDF, LGL and adjacency lists."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pdpaudit.core.errors import InputError
from pdpaudit.io.source import Source, show
from pdpaudit.io.ties import Ties

__all__ = ["listed_ties", "read_adjacency_list", "read_gdf", "read_lgl", "read_tgf"]

Row = tuple[int, str, str, str | None]  # line, both ends, weight


def listed_ties(
    source: Source,
    rows: Sequence[Row],
    names: Sequence[str] = (),
    attributes: Mapping[str, Sequence[object]] | None = None,
) -> Ties:
    """Return ties from rows of names; people listed in ``names`` come first."""
    index = {name: i for i, name in enumerate(names)}
    ends = np.empty((len(rows), 2), dtype=np.int64)
    weights = np.ones(len(rows))
    for i, (line, one, other, weight) in enumerate(rows):
        ends[i] = [index.setdefault(name, len(index)) for name in (one, other)]
        if weight is not None:
            try:
                weights[i] = float(weight)
            except ValueError:
                raise InputError(
                    f"{source.path}, line {line}: weight {show(weight)} is not a number; correct it"
                ) from None
    return Ties(
        names=list(index),
        ends=ends,
        weights=weights if any(row[3] is not None for row in rows) else None,
        where=lambda row: f"{source.path}, line {rows[row][0]}",
        attributes=attributes or {},
    )


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.data.decode().splitlines(), start=1):
        if line.strip():
            yield number, line.strip()


def read_tgf(source: Source) -> Ties:
    """Read ids and labels above a lone ``#``, and below it pairs of ids."""
    labels: dict[str, str] = {}
    rows: list[Row] = []
    above = True
    for number, line in _lines(source):
        fields = line.split(None, 1 if above else 2)
        if line == "#":
            above = False
        elif above:
            labels[fields[0]] = fields[1] if len(fields) > 1 else fields[0]
        elif len(fields) < 2 or not {*fields[:2]} <= labels.keys():
            raise InputError(f"{source.path}, line {number}: two ids listed above the # expected")
        else:
            rows.append((number, fields[0], fields[1], None))
    ties = listed_ties(source, rows, list(labels), {"label": list(labels.values())})
    texts = list(labels.values())
    if len(set(texts)) == len(texts):
        return Ties(texts, ties.ends, None, ties.where, attributes=ties.attributes, ids=ties.names)
    return ties


def read_gdf(source: Source) -> Ties:
    """Read GUESS's tables of nodes and edges, one below the other."""
    names: list[str] = []
    columns: dict[str, list[object]] = {}
    rows: list[Row] = []
    head: list[str] = []
    weight: int | None = None
    above = True
    for number, line in _lines(source):
        fields = next(csv.reader(io.StringIO(line), skipinitialspace=True))
        if line.lower().startswith(("nodedef>", "edgedef>")):
            above = line.lower().startswith("nodedef>")
            fields[0] = fields[0].partition(">")[2]
            head = [field.split()[0].lower() for field in fields]
            weight = head.index("weight") if "weight" in head and not above else None
        elif len(fields) < min(len(head), 1 if above else 2):
            raise InputError(f"{source.path}, line {number}: fewer fields than columns")
        elif above:
            names.append(fields[0])
            for key, value in zip(head[1:], [*fields[1:], *[""] * len(head)], strict=False):
                columns.setdefault(key, []).append(value)
        else:
            rows.append((number, fields[0], fields[1], None if weight is None else fields[weight]))
    return listed_ties(source, rows, names, columns)


def read_lgl(source: Source) -> Ties:
    """Read ``# name`` followed by those it is tied to, with a weight or without."""
    rows: list[Row] = []
    current = ""
    names: dict[str, None] = {}
    for number, line in _lines(source):
        fields = line.split()
        if line.startswith("#"):
            current = line[1:].strip()
            names[current] = None
        else:
            rows.append((number, current, fields[0], fields[1] if len(fields) > 1 else None))
            names[fields[0]] = None
    return listed_ties(source, rows, list(names))


def read_adjacency_list(source: Source) -> Ties:
    """Read lines of a name and those it is tied to."""
    names: dict[str, None] = {}
    rows: list[Row] = []
    for number, line in _lines(source):
        if not line.startswith("#"):
            first, *others = line.split()
            names.update(dict.fromkeys([first, *others]))
            rows += [(number, first, other, None) for other in others]
    return listed_ties(source, rows, list(names))
