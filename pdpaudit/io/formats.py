"""Graph files other than edge lists, through networkx and scipy; known by what is in them."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Hashable
from dataclasses import replace
from itertools import islice
from typing import Any

import networkx as nx
import numpy as np
from scipy.io import mminfo, mmread
from scipy.sparse import coo_array

from pdpaudit.core.errors import InputError
from pdpaudit.io.source import Source, show
from pdpaudit.io.ties import Ties
from pdpaudit.io.xml import root_element, without_declaration

__all__ = ["find_format", "read_graph_file", "ties_from_networkx"]

_SUFFIXES = {
    ".gml": "GML",
    ".graphml": "GraphML",
    ".gexf": "GEXF",
    ".mtx": "Matrix Market",
    ".net": "Pajek",
}
_PAJEK = re.compile(r"\*(network|vertices|arcs|edges|matrix)", re.IGNORECASE)
_GML_PREAMBLE = re.compile(r"(#|creator\b|version\b|comment\b)", re.IGNORECASE)
_MOST_VERTICES = 50_000_000


def find_format(source: Source) -> tuple[str | None, tuple[str, ...]]:
    """Return the format of a graph file, ``None`` for an edge list, and a note if the name lies.

    Returns
    -------
    format : str or None
        "GML", "GraphML", "GEXF", "Matrix Market" or "Pajek".
    notes : tuple of str
        O(1).

    Raises
    ------
    InputError
        If it is XML but no graph, or is called a GML, GraphML or GEXF file and is none.
    """
    name = source.path.name.lower().removesuffix(".gz")
    called = next((kind for end, kind in _SUFFIXES.items() if name.endswith(end)), None)
    start = source.data[: 1 << 16].decode(errors="ignore")
    found: str | None = None
    if start.lstrip().startswith("<"):
        root = root_element(source.path, without_declaration(source.data))
        found = {"graphml": "GraphML", "gexf": "GEXF"}.get(root)
        if found is None:
            raise InputError(
                f"{source.path}: XML with root element {show(root, 30)}; GraphML and GEXF are read"
            )
    elif start.lstrip()[:14].lower() == "%%matrixmarket":
        found = "Matrix Market"
    elif any(_PAJEK.match(line) for line in islice(_telling_lines(start, "%"), 1)):
        found = "Pajek"
    elif any(
        re.match(r"graph\s*(\[|$)", line, re.IGNORECASE) for line in islice(_gml_lines(start), 1)
    ):
        found = "GML"
    if found is not None or called is None:
        return found, ()
    if called in ("GML", "GraphML", "GEXF"):
        raise InputError(
            f"{source.path}: is called a {called} file and is none; write it again, or rename "
            "it if it is an edge list"
        )
    return None, (f"{source.path} is not in the {called} format: read as an edge list",)


def _telling_lines(text: str, comment: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith(comment)]


def _gml_lines(text: str) -> list[str]:
    return [line for line in _telling_lines(text, "#") if not _GML_PREAMBLE.match(line)]


def read_graph_file(
    source: Source, kind: str, *, weight_column: str | None = None, label_column: str = "label"
) -> Ties:
    """Read a graph file of a known format.

    Parameters
    ----------
    source : Source
        The file.
    kind : str
        What :func:`find_format` found.
    weight_column : str, optional
        The edge attribute that holds the weight, by default ``weight``.
    label_column : str
        The vertex attribute that says who is targeted: never taken for names unless all differ.

    Returns
    -------
    Ties
        Vertices in the order of the file. O(bytes).

    Raises
    ------
    InputError
        If the file does not follow the format, or holds something other than one plain graph.
    """
    if kind == "Matrix Market":
        return _read_matrix(source, weight_column)
    read: Callable[[Source], nx.Graph] = {
        "GML": _read_gml,
        "GraphML": _read_graphml,
        "GEXF": _read_gexf,
        "Pajek": _read_pajek,
    }[kind]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            graph = read(source)
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"{source.path}: is nested too deeply to be a graph") from None
    except Exception as error:  # whatever a parser trips over, the file is what has to be mended
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"{source.path}: not readable as {kind} ({show(reason, 120)}); write the file again"
        ) from None
    ties = ties_from_networkx(graph, weight=weight_column, place=str(source.path))
    notes = [*source.notes, f"{source.path} read as {kind}"]
    names = ties.names
    labels = ties.attributes.get("label")
    if kind in ("GML", "GEXF") and labels is not None and None not in labels:
        texts = [str(label) for label in labels]
        if len(set(texts)) == len(texts) and all(texts) and texts != names:
            names = texts
            notes.append("vertices are called by their labels")
    ids = None if names is ties.names else ties.names
    return replace(ties, names=names, notes=tuple(notes), ids=ids)


def _read_gml(source: Source) -> nx.Graph:
    return nx.parse_gml(source.data.decode(), label="id")


def _read_graphml(source: Source) -> nx.Graph:
    # Ids are text already; str, the default, would make a vertex "None" of an id that is not there,
    # which networkx otherwise refuses.
    return nx.read_graphml(
        io.BytesIO(without_declaration(source.data)), node_type=lambda text: text
    )


def _read_gexf(source: Source) -> nx.Graph:
    return nx.read_gexf(io.BytesIO(without_declaration(source.data)))


def _read_pajek(source: Source) -> nx.Graph:
    lines = _telling_lines(source.data.decode(), "%")
    declared = 0
    for line in lines:
        word = line.lower().split(None, 1)[0]
        if word in ("*arcslist", "*edgeslist"):
            raise InputError(f"{source.path}: {word} is not read; write the pairs under *Edges")
        if word == "*vertices":
            counts = line.split()[1:]
            if len(counts) != 1 or not counts[0].isdigit():
                raise InputError(f"{source.path}: {show(line)}: one number of vertices is expected")
            declared += int(counts[0])
    graph = nx.parse_pajek(lines)
    # networkx names vertices by their labels: two with one label, or one not listed, would be lost.
    if graph.number_of_nodes() != declared:
        raise InputError(
            f"{source.path}: {declared:,} vertices are announced and {graph.number_of_nodes():,} "
            "found; list each of them under *Vertices, with a label of its own"
        )
    return graph


def _read_matrix(source: Source, weight_column: str | None) -> Ties:
    if weight_column is not None:
        raise InputError(f"{source.path}: a Matrix Market file has no columns; no --weight-column")
    try:
        rows, columns, _, _, kind, symmetry = mminfo(io.BytesIO(source.data))
        if rows != columns:
            raise InputError(
                f"{source.path}: a {rows} by {columns} matrix; the matrix of a network is square"
            )
        if kind == "complex":
            raise InputError(f"{source.path}: a complex matrix; weights are real numbers")
        if rows > _MOST_VERTICES:
            raise InputError(f"{source.path}: {rows:,} vertices; at most {_MOST_VERTICES:,} fit")
        matrix = coo_array(mmread(io.BytesIO(source.data)))
    except InputError:
        raise
    except Exception as error:  # as above
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"{source.path}: not readable as Matrix Market ({show(reason, 120)}); write the file "
            "again"
        ) from None
    ends = np.stack([matrix.row, matrix.col], axis=1).astype(np.int64)
    weights = matrix.data.astype(np.float64)
    if symmetry != "general":
        listed = ends[:, 0] >= ends[:, 1]  # the reader has mirrored what the file lists once
        ends, weights = ends[listed], weights[listed]
    names = [str(vertex) for vertex in range(1, int(rows) + 1)]

    def where(row: int) -> str:
        return f"{source.path}, entry ({ends[row, 0] + 1}, {ends[row, 1] + 1})"

    return Ties(
        names=names,
        ends=ends,
        weights=None if kind == "pattern" else weights,
        where=where,
        notes=(*source.notes, f"{source.path} read as Matrix Market"),
    )


def ties_from_networkx(graph: nx.Graph, *, weight: str | None, place: str) -> Ties:
    """Return the ties of any networkx graph.

    Parameters
    ----------
    graph : networkx.Graph
        Directed or not, with parallel edges or not.
    weight : str, optional
        The edge attribute that holds the weight, by default ``weight``; edges without it weigh 1,
        and if none has it the ties have no weights.
    place : str
        What to begin an error with.

    Returns
    -------
    Ties
        Vertices in the order of the graph, named by ``str``. O(n + m).

    Raises
    ------
    InputError
        If a weight is not a number, or no edge has the attribute asked for.

    Examples
    --------
    >>> ties_from_networkx(nx.path_graph(3), weight=None, place="graph").ends.tolist()
    [[0, 1], [1, 2]]
    """
    nodes: list[Hashable] = list(graph.nodes)
    index = {node: i for i, node in enumerate(nodes)}
    attribute = "weight" if weight is None else weight
    pairs: list[tuple[int, int]] = []
    values: list[Any] = []
    for one, other, data in graph.edges(data=True):
        pairs.append((index[one], index[other]))
        values.append(data.get(attribute))

    def where(row: int) -> str:
        one, other = (str(nodes[end]) for end in pairs[row])
        return f"{place}, edge {show(one, 30)} - {show(other, 30)}"

    weights = None
    if any(value is not None for value in values):
        numbers = np.ones(len(values))
        for row, value in enumerate(values):
            if value is None:
                continue
            try:
                numbers[row] = float(value)
            except (TypeError, ValueError):
                raise InputError(
                    f"{where(row)}: {attribute} {show(str(value))} is not a number; correct it"
                ) from None
        weights = numbers
    elif weight is not None and weight != "weight":
        raise InputError(f"{place}: no edge has {weight!r}; name the attribute of the weight")
    attributes: dict[str, list[Any]] = {}
    for i, node in enumerate(nodes):
        for key, value in graph.nodes[node].items():
            attributes.setdefault(str(key), [None] * len(nodes))[i] = value
    return Ties(
        names=[str(node) for node in nodes],
        ends=np.array(pairs, dtype=np.int64).reshape(-1, 2),
        weights=weights,
        where=where,
        attributes=attributes,
    )
