"""Graph files other than edge lists, known by what is in them and read through networkx."""

from __future__ import annotations

import io
import json
import re
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from pdpaudit.core.errors import InputError
from pdpaudit.io.source import Source, show
from pdpaudit.io.text_formats import (
    read_dl,
    read_gdf,
    read_listing,
    read_pajek,
    read_tgf,
)
from pdpaudit.io.ties import Ties

if TYPE_CHECKING:
    import networkx as nx  # where it is used, for most files need none of it

__all__ = ["find_format", "read_graph_file", "ties_from_networkx"]

_BEGINNINGS = [
    (r"%%matrixmarket", "Matrix Market"),
    (r"[{\[]", "JSON"),
    (r"(%[^\n]*\n\s*)*\*(network|vertices|arcs|edges|matrix)", "Pajek"),
    (r"dl\s+(n|nr|format|nm)\b", "UCINET DL"),
    (r"nodedef>", "GDF"),
    (r"((#|creator\b|version\b|comment\b)[^\n]*\n\s*)*graph\s*(\[|$)", "GML"),
]
_MARKED_NAME = re.compile(r"#[ \t]*[^\s,;|]+$")
# Text that other programs read, and what to do instead.
_UNREAD = [
    (r"(strict\s+)?(di)?graph\b[^\[\n]*\{", "a Graphviz file", "convert it to GML with gv2gml"),
    (r"\*node data\b", "a NetDraw VNA file", "write a table of its ties"),
    (r"LEDA\.GRAPH", "a LEDA file", "write it as GML"),
    (r"(c\b.*\n)*p (edge|col|sp|max)\b", "a DIMACS file", "write a table of its ties"),
    (r"\(\d+,\s*\d+\)\s", "a sparse matrix as Matlab shows it", "write it with mmwrite"),
    (r"\{\\rtf", "a text document", "save it as plain text"),
    (r"<(!doctype )?html\b", "a web page", "save the table in it as CSV"),
]
_MOST_VERTICES = 50_000_000


def find_format(source: Source) -> tuple[str | None, tuple[str, ...]]:
    """Return the format of a graph file, ``None`` for an edge list, and a note if the name lies."""
    name = source.path.name.lower().removesuffix(".gz")
    called = next((kind for kind, form in FORMATS.items() if name.endswith(form.suffixes)), None)
    found = _format_of(source, called)
    if found is not None or called is None:
        return found, ()
    if FORMATS[called].strict:
        raise InputError(
            f"{source.path}: is called a {called} file and is none; write it again, or rename "
            "it if it is an edge list"
        )
    return None, (f"{source.path} is not in the {called} format: read as an edge list",)


def _format_of(source: Source, called: str | None) -> str | None:
    start = re.sub(r"\r\n?", "\n", source.data[: 1 << 16].decode(errors="ignore")).lstrip()
    for beginning, what, way in _UNREAD:
        if re.match(beginning, start, re.IGNORECASE):
            raise InputError(f"{source.path}: is {what}, which is not read; {way}")
    if start.startswith("<"):
        root = root_element(source.path, without_declaration(source.data))
        if root not in ("graphml", "gexf"):
            raise InputError(
                f"{source.path}: XML with root element {show(root, 30)}; GraphML and GEXF are read"
            )
        return "GraphML" if root == "graphml" else "GEXF"
    for beginning, kind in _BEGINNINGS:
        if re.match(beginning, start, re.IGNORECASE):
            return kind
    return _listing(source, called, [line.strip() for line in start.split("\n") if line.strip()])


def _listing(source: Source, called: str | None, lines: Sequence[str]) -> str | None:
    """Recognise formats that look like edge lists."""
    if "#" in lines[1:] and _is_tgf(lines):
        return "TGF"
    marked = [i for i, line in enumerate(lines) if _MARKED_NAME.match(line)]
    rows = [line.split() for line in lines if not line.startswith("#")]
    if marked[:1] == [0] and rows and all(len(row) <= 2 for row in rows):
        lone = any(len(row) == 1 for row in rows)
        if called == "LGL" or (len(marked) > 1 and (lone or len(marked) * 2 < len(lines))):
            return "LGL"
    dated = any(re.match(r"#\s*GMT ", line) for line in lines[:4])
    if called == "SIF":
        return called
    if called == "adjacency list" or dated:
        if any("{" in line for line in lines):
            raise InputError(
                f"{source.path}: a list with attributes in braces, as networkx writes it, is not "
                "read; write the network with networkx.write_graphml"
            )
        return "adjacency list"
    if any(line.endswith("}") and re.search(r"\{('|\})", line) for line in lines[:2]):
        return "networkx edge list"
    return None


def _is_tgf(lines: Sequence[str]) -> bool:
    """Whether the first fields above a lone ``#`` are what the rows below it tie."""
    at = lines.index("#")
    people = {line.split()[0] for line in lines[:at]}
    ties = [line.split() for line in lines[at + 1 :]]
    return bool(people) and all(len(tie) > 1 and {*tie[:2]} <= people for tie in ties[:100])


def read_graph_file(source: Source, kind: str, *, weight_column: str | None = None) -> Ties:
    """Read a graph file of the format that :func:`find_format` found."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = FORMATS[kind].read(source)
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"{source.path}: {kind} nested too deeply to be a graph") from None
    except Exception as error:  # whatever a parser trips over, the file is what has to be fixed
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"{source.path}: not readable as {kind} ({show(reason, 120)}); write the file again"
        ) from None
    if isinstance(found, Ties):
        if weight_column is not None:
            raise InputError(f"{source.path}: a {kind} file has no columns; no `weight_column`")
        ties = found
    else:
        for items, default in ((found.nodes, "node_default"), (found.edges, "edge_default")):
            for *_, data in items(data=True):
                data.update({**found.graph.get(default, {}), **data})
        ties = ties_from_networkx(found, weight=weight_column, place=str(source.path))
    return _named(ties, (*source.notes, f"{source.path} read as {kind}", *ties.notes))


def _named(ties: Ties, notes: tuple[str, ...]) -> Ties:
    """Call vertices by their labels or names, where each has one of its own."""
    for attribute in ("label", "name") if ties.ids is None else ():
        texts = [
            "" if label is None else str(label) for label in ties.attributes.get(attribute, ())
        ]
        if texts and len(set(texts)) == len(texts) and all(texts) and texts != ties.names:
            said = f"vertices are called by their {attribute}s"
            return replace(ties, names=texts, notes=(*notes, said), ids=ties.names)
    return replace(ties, notes=notes)


def _read_gml(source: Source) -> nx.Graph:
    import networkx as nx

    text = source.data.decode()
    if not re.search(r"\bmultigraph\b", text):  # a repeated edge is no fault
        text = re.sub(r"\bgraph\s*\[", "graph [ multigraph 1 ", text, count=1, flags=re.IGNORECASE)
    return nx.parse_gml(text, label="id")


def _read_graphml(source: Source) -> nx.Graph:
    import networkx as nx

    # Ids are text already; str, the default, would make a vertex "None" of an id that is not there,
    # which networkx otherwise refuses.
    data = righted(source.path, source.data, "GraphML")
    return nx.read_graphml(io.BytesIO(data), node_type=lambda text: text)


def _read_gexf(source: Source) -> nx.Graph:
    import networkx as nx

    return nx.read_gexf(io.BytesIO(righted(source.path, source.data, "GEXF")))


def _read_networkx(source: Source) -> nx.Graph:
    import networkx as nx

    return nx.parse_edgelist(source.data.decode().splitlines(), create_using=nx.MultiGraph)


def _read_json(source: Source) -> nx.Graph:
    """Read node-link data as networkx, d3 and Cytoscape write them."""
    import networkx as nx

    data = json.loads(source.data)
    if isinstance(data, Mapping) and isinstance(data.get("graph"), Mapping):
        data = data if "nodes" in data else data["graph"]
    if isinstance(data, Mapping) and isinstance(data.get("elements"), Mapping):
        data = {
            key: [one["data"] for one in data["elements"].get(key, [])]
            for key in ("nodes", "edges")
        }
    links = data.get("links", data.get("edges")) if isinstance(data, Mapping) else None
    nodes = data.get("nodes") if isinstance(data, Mapping) else None
    if isinstance(nodes, Mapping):
        nodes = [{"id": key, **value} for key, value in nodes.items()]
    if not isinstance(nodes, list) or not isinstance(links, list):
        raise InputError(
            f"{source.path}: JSON without lists of nodes and links; write node-link data, or a "
            "table with one edge a row"
        )
    key = next((key for key in ("id", "key") if all(key in node for node in nodes)), "name")
    ids = [str(node.get(key, i)) for i, node in enumerate(nodes)]
    graph = nx.MultiGraph()
    graph.add_nodes_from(zip(ids, nodes, strict=True))
    if len(graph) < len(nodes):
        raise InputError(f"{source.path}: two nodes have one {key}; give each node its own")
    for link in links:
        ends = [link["source"], link["target"]] if "source" in link else [link["from"], link["to"]]
        ends = [end.get("id", end.get("index")) if isinstance(end, dict) else end for end in ends]
        if key == "name":  # d3 counts them from 0
            ends = [ids[end] if isinstance(end, int) else end for end in ends]
        if not all(str(end) in graph for end in ends):
            raise InputError(f"{source.path}: a link with an end that is no node; add the node")
        graph.add_edge(*map(str, ends), **{k: v for k, v in link.items() if k != "key"})
    return graph


def _read_matrix(source: Source) -> Ties:
    from scipy.io import mminfo, mmread
    from scipy.sparse import coo_array

    rows, columns, _, _, kind, symmetry = mminfo(io.BytesIO(source.data))
    if rows != columns:
        raise InputError(
            f"{source.path}: a {rows} by {columns} matrix; the matrix of a network is square"
        )
    if kind == "complex":
        raise InputError(f"{source.path}: a complex matrix; weights are real numbers")
    if rows > _MOST_VERTICES:
        raise InputError(f"{source.path}: {rows:,} vertices; at most {_MOST_VERTICES:,} fit")
    # Without the last line's end scipy may read beyond the file, and crash.
    matrix = coo_array(mmread(io.BytesIO(source.data + b"\n")))
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
    )


class _Format(NamedTuple):
    """What a file of a format is called, how it is read, and whether its name has to be true."""

    suffixes: tuple[str, ...]
    read: Callable[[Source], Ties | nx.Graph]
    strict: bool = False


FORMATS = {
    "GML": _Format((".gml",), _read_gml, strict=True),
    "GraphML": _Format((".graphml",), _read_graphml, strict=True),
    "GEXF": _Format((".gexf",), _read_gexf, strict=True),
    "JSON": _Format((".json",), _read_json, strict=True),
    "GDF": _Format((".gdf",), read_gdf, strict=True),
    "UCINET DL": _Format((".dl",), read_dl, strict=True),
    "Matrix Market": _Format((".mtx",), _read_matrix),
    "Pajek": _Format((".net", ".paj"), read_pajek),
    "TGF": _Format((".tgf",), read_tgf),
    "LGL": _Format((".lgl",), partial(read_listing, form="LGL")),
    "SIF": _Format((".sif",), partial(read_listing, form="SIF")),
    "adjacency list": _Format((".adjlist",), partial(read_listing, form="adjacency list")),
    "networkx edge list": _Format((), _read_networkx),
}


def ties_from_networkx(graph: nx.Graph, *, weight: str | None, place: str) -> Ties:
    """Return the ties of any networkx graph, vertices in its order, named by ``str``.

    Edges without the attribute of the weight, by default ``weight``, weigh 1; if none has it the
    ties have no weights. ``place`` is what to begin an error with.
    """
    nodes: list[Hashable] = list(graph.nodes)
    index = {node: i for i, node in enumerate(nodes)}
    attribute = "weight" if weight is None else weight
    pairs: list[tuple[int, int]] = []
    values: list[object] = []
    for one, other, data in graph.edges(data=True):
        pairs.append((index[one], index[other]))
        values.append(data.get(attribute))

    def where(row: int) -> str:
        one, other = (str(nodes[end]) for end in pairs[row])
        return f"{place}, edge {show(one, 30)} - {show(other, 30)}"

    weights = None
    if any(value is not None for value in values):
        given = pd.Series([1.0 if value is None else value for value in values], dtype=object)
        weights = pd.to_numeric(given, errors="coerce").to_numpy(np.float64)
        for row in np.flatnonzero(np.isnan(weights)).tolist():
            if str(values[row]).lower() != "nan":
                raise InputError(
                    f"{where(row)}: {attribute} {show(str(values[row]))} is not a number; "
                    "correct it"
                )
    elif weight is not None and weight != "weight":
        raise InputError(f"{place}: no edge has {weight!r}; name the attribute of the weight")
    attributes: dict[str, list[object]] = {}
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


_DECLARATION = re.compile(rb"^\s*<\?xml[^>]*\?>")
_PROLOG = re.compile(rb"^(\s|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_SPACES = {
    "GraphML": "http://graphml.graphdrawing.org/xmlns",
    "GEXF": "http://www.gexf.net/1.2draft",
}
_TYPES = {
    "GraphML": ("int", "integer", "long", "float", "double", "string", "boolean"),
    "GEXF": ("integer", "long", "float", "double", "string", "boolean", "liststring", "anyURI"),
}


def without_declaration(data: bytes) -> bytes:
    """Return UTF-8 XML without its ``<?xml …?>``, whose encoding no longer holds."""
    return _DECLARATION.sub(b"", data, count=1).lstrip()


def root_element(path: Path, data: bytes) -> str:
    """Return the name of the root element, without namespace and in lower case.

    A document type is where entities are declared and outside files are named, and it can only
    stand before the root element, among comments and instructions.
    """
    rest = _PROLOG.sub(b"", data, count=1)
    if rest.startswith(b"<!DOCTYPE"):
        raise InputError(
            f"{path}: has a DOCTYPE, and entities and outside files are not followed; remove the "
            "<!DOCTYPE …> from the file"
        )
    found = re.match(rb"<(?:[\w.-]+:)?([\w.-]+)[\s/>]", rest)
    if found is None:
        raise InputError(f"{path}: damaged XML, without an element; write the file again")
    return found[1].decode().lower()


def righted(path: Path, data: bytes, kind: str) -> bytes:
    """Return GraphML or GEXF as networkx reads it whole: one graph, known types and namespace."""
    root = ElementTree.fromstring(without_declaration(data))
    own = _split(root.tag)[0]
    nested = 0
    keys: set[str] = set()
    used: set[str] = set()
    for element in root.iter():
        space, name = _split(element.tag)
        if space not in (own, ""):
            continue
        element.tag = f"{{{_SPACES[kind]}}}{name}"
        if name == "graph":
            nested += 1
        elif name == "node" and element.get("yfiles.foldertype") == "group":
            nested -= 1  # networkx looks into these
        elif name == "key" and kind == "GraphML":
            keys.add(element.get("id", ""))
            if element.get("attr.name") is None and element.get("yfiles.type") is None:
                element.set("attr.name", element.get("id", ""))
            if element.get("attr.type", "string") not in _TYPES[kind]:
                element.set("attr.type", "string")
            if element.get("for") in (None, "all"):
                element.set("for", "node")
        elif name == "data":
            used.add(element.get("key", ""))
        elif name == "edge":
            element.attrib.pop("directed", None)  # both are ties, and a mixture is refused
        elif name == "attribute" and element.get("type") not in _TYPES[kind]:
            element.set("type", "string")
    if nested > 1:
        raise InputError(
            f"{path}: holds {nested} graphs, beside or inside each other, of which one would be "
            "read; write one graph with everybody in it"
        )
    for key in sorted(used - keys) if kind == "GraphML" else ():
        described = {"id": key, "for": "node", "attr.name": key, "attr.type": "string"}
        root.insert(0, ElementTree.Element(f"{{{_SPACES[kind]}}}key", described))
    return ElementTree.tostring(root)


def _split(tag: str) -> tuple[str, str]:
    space, _, name = tag.rpartition("}")
    return space.lstrip("{").strip(), name
