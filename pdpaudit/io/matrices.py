"""Networks as matrices and numbered vertices: Pajek, UCINET DL, adjacency matrices in tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError
from pdpaudit.io.listings import Row, listed_ties
from pdpaudit.io.names import named_ends
from pdpaudit.io.source import Source, show
from pdpaudit.io.table import Table
from pdpaudit.io.ties import Ties

__all__ = ["matrix_ties", "read_dl", "read_matrix_table", "read_pajek", "read_partition"]

_TOKEN = re.compile(r'"[^"]*"|\S+')
_MOST_ROWS = 20_000


def matrix_ties(
    place: Callable[[int], str], names: Sequence[str], matrix: npt.NDArray[np.float64]
) -> Ties:
    """Return the ties of a square matrix; one that is symmetric says each of them once."""
    symmetric = bool((matrix == matrix.T).all())
    one, other = np.nonzero(np.triu(matrix) if symmetric else matrix)
    return Ties(
        names=list(names),
        ends=np.stack([one, other], axis=1).astype(np.int64),
        weights=matrix[one, other],
        where=lambda row: place(int(one[row])),
    )


def _fields(line: str) -> list[str]:
    return [field.strip('"') for field in _TOKEN.findall(line)]


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
                if len(fields) != 2 or not fields[1].isdigit():
                    raise InputError(f"{where}: {show(line)}: one number of vertices is expected")
                if size >= 0:
                    raise InputError(f"{where}: a second network; write one network a file")
                size = int(fields[1])
            elif word == "*partition":
                values = partitions.setdefault(" ".join(fields[1:]) or "partition", [])
            section, first = word, number + 1
        elif section == "*vertices":
            labels[int(fields[0])] = fields[1] if len(fields) > 1 else fields[0]
        elif section in ("*arcs", "*edges"):
            if len(fields) < 2 or not all(end.isdigit() for end in fields[:2]):
                raise InputError(
                    f"{where}: not readable as Pajek; two numbers of vertices expected"
                )
            most = max(map(int, fields[:2]))
            if most > size or min(map(int, fields[:2])) < 1:
                raise InputError(f"{where}: {size} vertices are announced and {most} found")
            rows.append((number, fields[0], fields[1], fields[2] if len(fields) > 2 else None))
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
    ties = listed_ties(source, rows, numbers, attributes)
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
    names = re.findall(r'"[^"]*"|[^\s,]+', labels[1]) if labels else []
    names = [name.strip('"') for name in names]
    lines = [
        (start + i, re.findall(r'"[^"]*"|[^\s,]+', line))
        for i, line in enumerate(body.split("\n"))
        if line.strip()
    ]
    embedded = re.search(r"\blabels\s+embedded", head, re.IGNORECASE) is not None
    rows = [(number, [field.strip('"') for field in fields]) for number, fields in lines]
    if kind in ("fullmatrix", "fm"):
        if embedded:
            names = rows[0][1]
            rows = [(number, fields[1:]) for number, fields in rows[1:]]
        flat = [field for _, fields in rows for field in fields]
        table = [flat[i : i + n] for i in range(0, len(flat), n)]
        matrix = _numbers(source, rows[0][0] if rows else start, table, n)
        names = names or [str(i) for i in range(1, n + 1)]
        return matrix_ties(lambda row: f"{source.path}, row {row + 1} of the matrix", names, matrix)
    ties: list[Row] = []
    for number, fields in rows:
        others = fields[1:2] if kind == "edgelist1" else fields[1:]
        weight = fields[2] if kind == "edgelist1" and len(fields) > 2 else None
        ties += [(number, fields[0], other, weight) for other in others]
    numbers = [] if embedded else [str(i) for i in range(1, n + 1)]
    found_ties = listed_ties(source, ties, numbers)
    if len(found_ties.names) > n:
        raise InputError(f"{source.path}: n={n} is announced and {len(found_ties.names)} found")
    return replace(found_ties, names=names) if len(names) == n and not embedded else found_ties


def read_matrix_table(table: Table) -> Ties | None:
    """Return the ties of a table that is an adjacency matrix, ``None`` of any other."""
    if table.width < 3 or table.size > _MOST_ROWS or named_ends(table.head):
        return None
    rows, head, n = table.rows(), list(table.head), table.width
    first = [row[0] for row in rows]
    named = head == first or (head[1:] == first and not head[0].replace(".", "").isdigit())
    if table.size == n and named and len(set(first)) == len(first):
        names, body, start = first, [row[1:] for row in rows], 1
    elif table.size == n and len(head) == n:
        names, body, start = [str(i) for i in range(1, n + 1)], [head, *rows], 0
    elif table.size == n + 1 and len(head) == n == len(set(head)):
        names, body, start = head, rows, 1
    else:
        return None
    try:
        matrix = np.array([[field or "0" for field in row] for row in body], dtype=np.float64)
    except ValueError:
        return None
    plain = bool((matrix == matrix.T).all()) and not matrix.diagonal().any()
    if start == 0 and n == 3 and plain:
        raise InputError(
            f"{table.source.path}: three edges with weights or the matrix of three people; give "
            "edges a header, or the matrix names"
        )
    if (n == 3 and names != first and not plain) or len(matrix) != len(matrix.T):
        return None
    said = f"{table.source.path} read as an adjacency matrix of {len(matrix)} people"
    ties = matrix_ties(lambda row: table.where(row + start), names, matrix)
    return replace(ties, notes=(*table.notes, said))
