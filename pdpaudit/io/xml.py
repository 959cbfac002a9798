"""Look at an XML file before it is parsed, and refuse what could reach beyond it."""

from __future__ import annotations

import re
from pathlib import Path
from xml.parsers import expat

from pdpaudit.core.errors import InputError

__all__ = ["root_element", "without_declaration"]

_DECLARATION = re.compile(rb"^\s*<\?xml[^>]*\?>")


class _Doctype(Exception):
    """The document brings a document type along."""


class _Root(Exception):
    """The root element was reached; its name is the argument."""


def without_declaration(data: bytes) -> bytes:
    """Return UTF-8 XML without its ``<?xml …?>``, whose encoding no longer holds.

    Examples
    --------
    >>> without_declaration(b'<?xml version="1.0" encoding="latin-1"?><gexf/>')
    b'<gexf/>'
    """
    return _DECLARATION.sub(b"", data, count=1).lstrip()


def root_element(path: Path, data: bytes) -> str:
    """Return the name of the root element, without namespace and in lower case.

    A document type is where entities are declared and outside files are named, and it can only
    stand before the root element: reading no further is enough to refuse it.

    Parameters
    ----------
    path : Path
        The file, to be named in errors.
    data : bytes
        UTF-8 XML without declaration.

    Returns
    -------
    str
        O(length of what comes before the root element).

    Raises
    ------
    InputError
        If there is a DOCTYPE, or the beginning is not XML.

    Examples
    --------
    >>> root_element(Path("a.gexf"), b'<gexf xmlns="http://www.gexf.net/1.2draft"/>')
    'gexf'
    """
    parser = expat.ParserCreate("utf-8", namespace_separator=" ")

    def doctype(*_: object) -> None:
        raise _Doctype

    def start(name: str, _: dict[str, str]) -> None:
        raise _Root(name)

    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = start
    try:
        parser.Parse(data, True)
    except _Root as found:
        return str(found.args[0]).rpartition(" ")[2].lower()
    except _Doctype:
        raise InputError(
            f"{path}: has a DOCTYPE, and entities and outside files are not followed; remove the "
            "<!DOCTYPE …> from the file"
        ) from None
    except expat.ExpatError as error:
        raise InputError(f"{path}: damaged XML ({error}); write the file again") from None
    raise InputError(f"{path}: XML without an element; write the file again")
