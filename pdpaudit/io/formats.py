"""Graph files other than edge lists, known by what is in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pdpaudit.core.errors import InputError
from pdpaudit.io.source import Source, show

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


class _Format(NamedTuple):
    """What a file of a format is called, and whether its name has to be true."""

    suffixes: tuple[str, ...] = ()
    strict: bool = False


FORMATS = {
    "GML": _Format((".gml",), strict=True),
    "GraphML": _Format((".graphml",), strict=True),
    "GEXF": _Format((".gexf",), strict=True),
    "JSON": _Format((".json",), strict=True),
    "GDF": _Format((".gdf",), strict=True),
    "UCINET DL": _Format((".dl",), strict=True),
    "Matrix Market": _Format((".mtx",)),
    "Pajek": _Format((".net", ".paj")),
    "TGF": _Format((".tgf",)),
    "LGL": _Format((".lgl",)),
    "SIF": _Format((".sif",)),
    "adjacency list": _Format((".adjlist",)),
    "networkx edge list": _Format(),
}


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
