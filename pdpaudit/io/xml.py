"""XML graph files: refused where they reach beyond the file, put as networkx reads them whole."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from pdpaudit.core.errors import InputError

__all__ = ["righted", "root_element", "without_declaration"]

_DECLARATION = re.compile(rb"^\s*<\?xml[^>]*\?>")
_SPACES = {
    "GraphML": "http://graphml.graphdrawing.org/xmlns",
    "GEXF": "http://www.gexf.net/1.2draft",
}
_TYPES = {
    "GraphML": ("int", "integer", "long", "float", "double", "string", "boolean"),
    "GEXF": ("integer", "long", "float", "double", "string", "boolean", "liststring", "anyURI"),
}


class _Doctype(Exception):
    """The document brings a document type along."""


class _Root(Exception):
    """The root element was reached; its name is the argument."""


def without_declaration(data: bytes) -> bytes:
    """Return UTF-8 XML without its ``<?xml …?>``, whose encoding no longer holds."""
    return _DECLARATION.sub(b"", data, count=1).lstrip()


def root_element(path: Path, data: bytes) -> str:
    """Return the name of the root element, without namespace and in lower case.

    A document type is where entities are declared and outside files are named, and it can only
    stand before the root element: reading no further is enough to refuse it.
    """
    parser = expat.ParserCreate("utf-8", namespace_separator="\n")

    def doctype(*_: object) -> None:
        raise _Doctype

    def start(name: str, _: dict[str, str]) -> None:
        raise _Root(name)

    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = start
    try:
        parser.Parse(data, True)
    except _Root as found:
        return str(found.args[0]).rpartition("\n")[2].lower()
    except _Doctype:
        raise InputError(
            f"{path}: has a DOCTYPE, and entities and outside files are not followed; remove the "
            "<!DOCTYPE …> from the file"
        ) from None
    except expat.ExpatError as error:
        raise InputError(f"{path}: damaged XML ({error}); write the file again") from None
    raise InputError(f"{path}: XML without an element; write the file again")


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
