"""What the maker of a result says of it, before the report's own parts.

A published result carries, under ``context.dossier``, a title, how it was made, and sections of
prose, points and tables. They are data like the rest of the file: a report shows them as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pdpaudit.core.errors import InputError
from pdpaudit.report.tables import Table

__all__ = ["KEY", "Preface", "Section", "preface_of", "section", "spans"]

#: Where a result's context holds it.
KEY = "dossier"

#: Nobody reads more; what is longer is no dossier.
MOST_SECTIONS = 100


@dataclass(frozen=True)
class Section:
    """One section."""

    heading: str
    text: tuple[str, ...]
    tables: tuple[Table, ...]
    points: tuple[str, ...]


@dataclass(frozen=True)
class Preface:
    """What comes first."""

    title: str
    text: tuple[str, ...]
    made: str
    replay: str
    sections: tuple[Section, ...]


def section(
    heading: str,
    *,
    text: Sequence[str] = (),
    tables: Sequence[Table] = (),
    points: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a section in the form it has in a file."""
    listed = [
        {
            "caption": table.caption,
            "columns": list(table.columns),
            "rows": [list(row) for row in table.rows],
            **({"note": table.note} if table.note else {}),
            **({"numeric": True} if table.numeric else {}),
        }
        for table in tables
    ]
    parts = {"text": list(text), "tables": listed, "points": list(points)}
    return {"heading": heading, **{key: value for key, value in parts.items() if value}}


def preface_of(context: Mapping[str, Any], file: str) -> Preface | None:
    """Return what a result's context says before all else; None where it says nothing."""
    if KEY not in context:
        return None
    try:
        body = _mapping(context[KEY])
        parts = body.get("sections", [])
        if not isinstance(parts, list) or len(parts) > MOST_SECTIONS:
            raise TypeError
        return Preface(
            title=_text(body["title"]),
            text=_texts(body.get("text", [])),
            made=_text(body.get("made", "")),
            replay=_text(body.get("replay", "")),
            sections=tuple(map(_section, parts)),
        )
    except (KeyError, TypeError):
        raise InputError(
            f"{file}: context.{KEY} is not a title with sections of text, tables and points; write "
            "the file again with the command that made it"
        ) from None


def spans(text: str) -> list[tuple[str, bool]]:
    """Split a paragraph into its pieces, and whether each is code."""
    pieces = re.split(r"`([^`\n]+)`", text)
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]


def _section(body: Any) -> Section:
    body = _mapping(body)
    tables = body.get("tables", [])
    if not isinstance(tables, list):
        raise TypeError
    return Section(
        heading=_text(body["heading"]),
        text=_texts(body.get("text", [])),
        tables=tuple(map(_table, tables)),
        points=_texts(body.get("points", [])),
    )


def _table(body: Any) -> Table:
    body = _mapping(body)
    columns, rows = _texts(body["columns"]), body["rows"]
    if not columns or not isinstance(rows, list):
        raise TypeError
    cells = tuple(map(_texts, rows))
    if any(len(row) != len(columns) for row in cells):
        raise TypeError
    return Table(
        _text(body["caption"]), columns, cells, _text(body.get("note", "")), "numeric" in body
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(map(_text, value))
