"""Graph files as ties: read through networkx, scipy, or what is written for other programs."""

from __future__ import annotations

import io
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import numpy as np
from scipy.io import mminfo, mmread
from scipy.sparse import coo_array

from pdpaudit.core.errors import InputError
from pdpaudit.io.fields import whole
from pdpaudit.io.formats import without_declaration
from pdpaudit.io.source import Source, show
from pdpaudit.io.text_formats import read_dl, read_gdf, read_listing, read_pajek, read_tgf
from pdpaudit.io.ties import Row, Ties, listed_ties

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
            found = READERS[kind](source)
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
    text = source.data.decode()
    if not re.search(r"\bmultigraph\b", text):  # a repeated edge is no fault
        text = re.sub(r"\bgraph\s*\[", "graph [ multigraph 1 ", text, count=1, flags=re.IGNORECASE)
    return nx.parse_gml(text, label="id")


def _read_graphml(source: Source) -> nx.Graph:
    # Ids are text already; str, the default, would make a vertex "None" of an id that is not there,
    # which networkx otherwise refuses.
    data = righted(source.path, source.data, "GraphML")
    return nx.read_graphml(io.BytesIO(data), node_type=lambda text: text)


def _read_gexf(source: Source) -> nx.Graph:
    return nx.read_gexf(io.BytesIO(righted(source.path, source.data, "GEXF")))


def _read_networkx(source: Source) -> nx.Graph:
    return nx.parse_edgelist(source.data.decode().splitlines(), create_using=nx.MultiGraph)


def _read_json(source: Source) -> nx.Graph:
    """Read node-link data as networkx, d3 and Cytoscape write them."""
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


READERS: dict[str, Callable[[Source], Ties | nx.Graph]] = {
    "GML": _read_gml,
    "GraphML": _read_graphml,
    "GEXF": _read_gexf,
    "JSON": _read_json,
    "GDF": read_gdf,
    "UCINET DL": read_dl,
    "Matrix Market": _read_matrix,
    "Pajek": read_pajek,
    "TGF": read_tgf,
    "LGL": partial(read_listing, form="LGL"),
    "SIF": partial(read_listing, form="SIF"),
    "adjacency list": partial(read_listing, form="adjacency list"),
    "networkx edge list": _read_networkx,
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
