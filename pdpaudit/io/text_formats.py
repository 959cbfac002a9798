"""Text formats of other programs: TGF, GDF, LGL, adjacency lists, Pajek and UCINET DL."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError
from pdpaudit.io.source import Source, show
from pdpaudit.io.ties import Row, Ties, listed_ties, matrix_ties


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.data.decode().splitlines(), start=1):
        if line.strip():
            yield number, line.strip()


def _at(fields: Sequence[str], place: int) -> str | None:
    return fields[place] if place < len(fields) else None


def read_tgf(source: Source) -> Ties:
    """Read ids and labels above a lone ``#``, and below it pairs of ids."""
    labels: dict[str, object] = {}
    rows: list[Row] = []
    above = True
    for number, line in _lines(source):
        fields = line.split(None, 1 if above else 2)
        if line == "#":
            above = False
        elif above:
            labels[fields[0]] = _at(fields, 1) or fields[0]
        elif len(fields) < 2 or not {*fields[:2]} <= labels.keys():
            raise InputError(f"{source.path}, line {number}: two ids listed above the # expected")
        else:
            rows.append((number, fields[0], fields[1], None))
    return listed_ties(source.path, rows, list(labels), {"label": list(labels.values())})


def read_gdf(source: Source) -> Ties:
    """Read GUESS's tables of nodes and edges, one below the other."""
    people: list[list[str]] = []
    rows: list[Row] = []
    heads: dict[str, list[str]] = {"nodedef": [], "edgedef": []}
    table = "nodedef"
    for number, line in _lines(source):
        fields = next(csv.reader([line], skipinitialspace=True))
        if line.lower().startswith(("nodedef>", "edgedef>")):
            table, fields[0] = line[:7].lower(), fields[0].partition(">")[2]
            heads[table] = [field.split()[0].lower() for field in fields]
        elif len(fields) < min(len(heads[table]), 1 if table == "nodedef" else 2):
            raise InputError(f"{source.path}, line {number}: fewer fields than columns")
        elif table == "nodedef":
            people.append([*fields, *[""] * len(heads[table])])
        else:
            weight = dict(zip(heads[table], fields, strict=False)).get("weight")
            rows.append((number, fields[0], fields[1], weight))
    columns = {key: [row[i] for row in people] for i, key in enumerate(heads["nodedef"]) if i}
    return listed_ties(source.path, rows, [row[0] for row in people], columns)


def read_listing(source: Source, form: Literal["LGL", "SIF", "adjacency list"]) -> Ties:
    """Read lines of a name and those it is tied to; in SIF a kind of tie stands between them.

    In LGL the name stands on a line of its own, behind ``#``, and each of the others on one.
    """
    rows: list[Row] = []
    names: dict[str, None] = {}
    current = ""
    for number, line in _lines(source):
        fields = line.split("\t" if form == "SIF" and "\t" in line else None)
        if line.startswith("#") and form != "SIF":
            current = line[1:].strip()
            listed = [current] if form == "LGL" else []
        elif form == "LGL":
            listed = fields[:1]
            rows.append((number, current, fields[0], _at(fields, 1)))
        else:
            if form == "SIF" and len(fields) == 2:
                raise InputError(f"{source.path}, line {number}: a kind of tie and nobody after it")
            listed = [fields[0], *fields[2 if form == "SIF" else 1 :]]
            rows += [(number, fields[0], other, None) for other in listed[1:]]
        names.update(dict.fromkeys(listed))
    return listed_ties(source.path, rows, list(names))


def _fields(text: str, between: str = r"\s") -> list[str]:
    return [field.strip('"') for field in re.findall(rf'"[^"]*"|[^{between}]+', text)]


def read_pajek(source: Source) -> Ties:
    """Read one Pajek network, all its relations together, and the partitions of its vertices."""
    labels: dict[int, str] = {}
    rows: list[Row] = []
    matrix: list[list[str]] = []
    partitions: dict[str, list[object]] = {}
    size, section, first = -1, "", 0
    values: list[object] = []
    for number, text in enumerate(source.data.decode().splitlines(), start=1):
        line, where = text.strip(), f"{source.path}, line {number}"
        fields = _fields(line)
        if not line or line.startswith("%"):
            continue
        if line.startswith("*"):
            word = fields[0].lower().partition(":")[0]
            if word in ("*arcslist", "*edgeslist"):
                raise InputError(f"{where}: {word} is not read; write the pairs under *Edges")
            if word == "*vertices" and section == "*partition":
                continue
            if word == "*vertices":
                size = _announced(where, fields, again=size >= 0)
            elif word == "*partition":
                values = partitions.setdefault(" ".join(fields[1:]) or "partition", [])
            section, first = word, number + 1
        elif section == "*vertices":
            labels[int(fields[0])] = _at(fields, 1) or fields[0]
        elif section in ("*arcs", "*edges"):
            if len(fields) < 2 or not all(end.isdigit() for end in fields[:2]):
                raise InputError(
                    f"{where}: not readable as Pajek; two numbers of vertices expected"
                )
            most = max(map(int, fields[:2]))
            if most > size or min(map(int, fields[:2])) < 1:
                raise InputError(f"{where}: {size} vertices are announced and {most} found")
            rows.append((number, fields[0], fields[1], _at(fields, 2)))
        elif section == "*matrix":
            matrix.append(fields)
        elif section == "*partition":
            values.append(fields[0])
    if len(labels) not in (0, size) or (labels and max(labels) > size):
        raise InputError(
            f"{source.path}: Pajek with {size:,} vertices announced and {len(labels):,} listed; "
            "list each of them under *Vertices, or none"
        )
    numbers = [str(i) for i in range(1, size + 1)]
    names = [labels.get(i, str(i)) for i in range(1, size + 1)]
    attributes = {key: values for key, values in partitions.items() if len(values) == size}
    if len(attributes) == 1 and "label" not in attributes:
        attributes["label"] = next(iter(attributes.values()))
    ties = listed_ties(source.path, rows, numbers, attributes)
    if matrix:
        of = _numbers(source, first, matrix, size)
        ties = replace(
            matrix_ties(lambda row: f"{source.path}, line {first + row}", numbers, of),
            attributes=attributes,
        )
    if len(set(names)) < len(names):
        said = "labels of vertices repeat, so they are called by their numbers"
        return replace(ties, notes=(said,))
    return replace(ties, names=names, ids=numbers)


def _announced(where: str, fields: Sequence[str], *, again: bool) -> int:
    """Return the number of vertices that Pajek announces."""
    if len(fields) != 2 or not fields[1].isdigit():
        raise InputError(f"{where}: {show(' '.join(fields))}: one number of vertices is expected")
    if again:
        raise InputError(f"{where}: a second network; write one network a file")
    return int(fields[1])


def _numbers(
    source: Source, line: int, rows: Sequence[Sequence[str]], size: int
) -> npt.NDArray[np.float64]:
    """Return a square matrix of numbers, or refuse the line that does not fit."""
    for i, row in enumerate(rows):
        if len(row) != size or len(rows) != size:
            raise InputError(
                f"{source.path}, line {line + i}: {len(row)} numbers in one of {len(rows)} rows; "
                f"the matrix of {size} people has {size} rows of {size}"
            )
    try:
        return np.array(rows, dtype=np.float64).reshape(size, size)
    except ValueError as error:
        raise InputError(f"{source.path}: the matrix holds {error}; correct it") from None


def read_partition(source: Source) -> list[str] | None:
    """Return the values of a Pajek ``.clu`` file, one a vertex; ``None`` if it is none."""
    lines = [line.strip() for line in source.data.decode().splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("%")]
    if not re.match(r"\*(vertices|partition)\b", lines[0] if lines else "", re.IGNORECASE):
        return None
    return [line for line in lines if not line.startswith("*")]


def read_dl(source: Source) -> Ties:
    """Read UCINET's DL: a full matrix, an edge list or a node list, with labels or without."""
    text = source.data.decode()
    head, found, body = re.split(r"(\bdata:)", text, maxsplit=1, flags=re.IGNORECASE) or [text]
    size = re.search(r"\bn\s*=\s*(\d+)", head, re.IGNORECASE)
    form = re.search(r"\bformat\s*=\s*(\w+)", head, re.IGNORECASE)
    kind = form[1].lower() if form else "fullmatrix"
    if not found or size is None or kind not in ("fullmatrix", "fm", "edgelist1", "nodelist1"):
        raise InputError(
            f"{source.path}: this kind of UCINET DL is not read; export one matrix with n=, as "
            "fullmatrix, edgelist1 or nodelist1"
        )
    if re.search(r"\bnm\s*=\s*(?!1\b)|diagonal\s*=?\s*absent", head, re.IGNORECASE):
        raise InputError(f"{source.path}: several matrices, or no diagonal; export one full matrix")
    n, start = int(size[1]), head.count("\n") + 1
    labels = re.search(r"\blabels:(.*)", head, re.IGNORECASE | re.DOTALL)
    names = _fields(labels[1], r"\s,") if labels else []
    embedded = re.search(r"\blabels\s+embedded", head, re.IGNORECASE) is not None
    lines = enumerate(body.split("\n"), start)
    rows = [(number, _fields(line, r"\s,")) for number, line in lines if line.strip()]
    if kind in ("fullmatrix", "fm"):
        if embedded:
            names = rows[0][1]
            rows = [(number, fields[1:]) for number, fields in rows[1:]]
        flat = [field for _, fields in rows for field in fields]
        table = [flat[i : i + n] for i in range(0, len(flat), n)]
        matrix = _numbers(source, rows[0][0] if rows else start, table, n)
        names = names or [str(i) for i in range(1, n + 1)]
        if len(set(names)) != n:
            raise InputError(
                f"{source.path}: {len(set(names))} different labels for {n} people; give each one"
            )
        return matrix_ties(lambda row: f"{source.path}, row {row + 1} of the matrix", names, matrix)
    ties: list[Row] = []
    for number, fields in rows:
        if kind == "edgelist1":
            ties += [(number, fields[0], other, _at(fields, 2)) for other in fields[1:2]]
        else:
            ties += [(number, fields[0], other, None) for other in fields[1:]]
    found_ties = listed_ties(
        source.path, ties, [] if embedded else [str(i) for i in range(1, n + 1)]
    )
    if len(found_ties.names) > n:
        raise InputError(f"{source.path}: n={n} is announced and {len(found_ties.names)} found")
    return replace(found_ties, names=names) if len(names) == n and not embedded else found_ties
