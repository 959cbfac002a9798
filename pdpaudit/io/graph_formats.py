"""Graph files other than edge lists: known by what is in them, and read as ties.

They are read through networkx and scipy, which take long to import, or by ``text_formats``.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

import numpy as np

from pdpaudit.core.errors import InputError
from pdpaudit.io.source import Source, show, whole
from pdpaudit.io.text_formats import read_dl, read_gdf, read_listing, read_pajek, read_tgf
from pdpaudit.io.ties import Row, Ties, listed_ties

if TYPE_CHECKING:
    import networkx as nx

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


_DECLARATION = re.compile(rb"^\s*<\?xml[^>]*\?>")
_PROLOG = re.compile(rb"^(\s|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)


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


_MOST_VERTICES = 50_000_000
#: Attributes of edges that are surely no weights.
_NO_WEIGHTS = {"id", "key", "label", "source", "target", "type"}
_SPACES = {
    "GraphML": "http://graphml.graphdrawing.org/xmlns",
    "GEXF": "http://www.gexf.net/1.2draft",
}
_TYPES = {
    "GraphML": ("int", "integer", "long", "float", "double", "string", "boolean"),
    "GEXF": ("integer", "long", "float", "double", "string", "boolean", "liststring", "anyURI"),
}


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
        ties = ties_from_networkx(found, weight_column, source.path)
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
        held = data["elements"]
        data = {key: [one["data"] for one in held.get(key, [])] for key in ("nodes", "edges")}
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
    ids = [whole(str(node.get(key, i))) for i, node in enumerate(nodes)]
    if any(node.get(key, i) is None for i, node in enumerate(nodes)):
        raise InputError(f"{source.path}: a node's {key} is null; give each node its own")
    graph = nx.MultiGraph()
    graph.add_nodes_from(zip(ids, nodes, strict=True))
    if len(graph) < len(nodes):
        raise InputError(f"{source.path}: two nodes have one {key}; give each node its own")
    for link in links:
        ends = [link["source"], link["target"]] if "source" in link else [link["from"], link["to"]]
        ends = [end.get("id", end.get("index")) if isinstance(end, dict) else end for end in ends]
        if key == "name":  # d3 counts them from 0
            ends = [ids[end] if isinstance(end, int) else end for end in ends]
        one, other = (whole(str(end)) for end in ends)
        if one not in graph or other not in graph:
            raise InputError(
                f"{source.path}: link {show(one, 30)} - {show(other, 30)} has an end that is no "
                "node; add the node, or remove the link"
            )
        graph.add_edge(one, other, **{k: v for k, v in link.items() if k != "key"})
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

    return Ties(names=names, ends=ends, weights=None if kind == "pattern" else weights, where=where)


class _Format(NamedTuple):
    """How a format is read, what its files are called, and whether such a name has to be true."""

    read: Callable[[Source], Ties | nx.Graph]
    suffixes: tuple[str, ...] = ()
    strict: bool = False


FORMATS = {
    "GML": _Format(_read_gml, (".gml",), strict=True),
    "GraphML": _Format(_read_graphml, (".graphml",), strict=True),
    "GEXF": _Format(_read_gexf, (".gexf",), strict=True),
    "JSON": _Format(_read_json, (".json",), strict=True),
    "GDF": _Format(read_gdf, (".gdf",), strict=True),
    "UCINET DL": _Format(read_dl, (".dl",), strict=True),
    "Matrix Market": _Format(_read_matrix, (".mtx",)),
    "Pajek": _Format(read_pajek, (".net", ".paj")),
    "TGF": _Format(read_tgf, (".tgf",)),
    "LGL": _Format(partial(read_listing, form="LGL"), (".lgl",)),
    "SIF": _Format(partial(read_listing, form="SIF"), (".sif",)),
    "adjacency list": _Format(partial(read_listing, form="adjacency list"), (".adjlist",)),
    "networkx edge list": _Format(_read_networkx),
}


def ties_from_networkx(graph: nx.Graph, weight: str | None, path: Path) -> Ties:
    """Return the ties of a networkx graph, vertices in its order, named by ``str``.

    Edges without the attribute of the weight, by default ``weight``, weigh 1; if none has it the
    ties have no weights.
    """
    attribute = weight or "weight"
    edges = list(graph.edges(data=True))
    rows: list[Row] = [(None, str(a), str(b), data.get(attribute)) for a, b, data in edges]
    weighted = any(row[3] is not None for row in rows)
    if not weighted and attribute != "weight":
        raise InputError(f"{path}: no edge has {weight!r}; name the attribute of the weight")
    others = sorted({str(key) for *_, data in edges for key in data} - _NO_WEIGHTS)
    said = (
        f"no edge has a weight, so all ties count alike; edges have {', '.join(others[:12])}: "
        "name a weight with `weight_column`"
    )
    attributes: dict[str, list[object]] = {}
    for i, (_, data) in enumerate(graph.nodes(data=True)):
        for key, value in data.items():
            attributes.setdefault(str(key), [None] * len(graph))[i] = value
    ties = listed_ties(path, rows, list(map(str, graph)), attributes)
    return replace(ties, notes=() if weighted or not others else (said,))


def righted(path: Path, data: bytes, kind: str) -> bytes:
    """Return GraphML or GEXF as networkx reads it whole: one graph, known types and namespace."""
    root = ElementTree.fromstring(without_declaration(data))
    own = _split(root.tag)[0]
    nested = 0
    people: Counter[str] = Counter()
    ends: dict[str, None] = {}
    keys: set[str] = set()
    used: set[str] = set()
    for element in root.iter():
        space, name = _split(element.tag)
        if space not in (own, ""):
            continue
        for part in [part for part in element if _split(part.tag)[1] == "spells"]:
            element.remove(part)  # times, at which networkx trips over what Gephi writes
        element.tag = f"{{{_SPACES[kind]}}}{name}"
        if name == "graph":
            nested += 1
        elif name == "node":
            people[element.get("id", "")] += 1
            nested -= element.get("yfiles.foldertype") == "group"  # networkx looks into these
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
            ends |= dict.fromkeys(filter(None, map(element.get, ("source", "target"))))
        elif name == "attribute" and element.get("type") not in _TYPES[kind]:
            element.set("type", "string")
    if nested > 1:
        raise InputError(
            f"{path}: holds {nested} graphs, beside or inside each other, of which one would be "
            "read; write one graph with everybody in it"
        )
    # networkx would make one vertex of two, and another of an end that is no node.
    twice = next((name for name, times in people.items() if times > 1), None)
    unknown = next((end for end in ends if end not in people), None)
    if twice is not None or unknown is not None:
        what = f"node {show(unknown or '', 30)} is an end of an edge and is not listed"
        what = what if twice is None else f"node {show(twice, 30)} is listed twice"
        raise InputError(f"{path}: {what}; list each node once")
    for key in sorted(used - keys) if kind == "GraphML" else ():
        described = {"id": key, "for": "node", "attr.name": key, "attr.type": "string"}
        root.insert(0, ElementTree.Element(f"{{{_SPACES[kind]}}}key", described))
    return ElementTree.tostring(root)


def _split(tag: str) -> tuple[str, str]:
    space, _, name = tag.rpartition("}")
    return space.lstrip("{").strip(), name
