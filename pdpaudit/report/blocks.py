"""What a report is made of, before it is HTML, Markdown or lines on a terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pdpaudit.results.results import Status


@dataclass(frozen=True)
class Badge:
    """A status in a table."""

    status: Status


@dataclass(frozen=True)
class Link:
    """A name in a table that leads to a section; ``of`` says whose it is."""

    text: str
    anchor: str
    of: str = ""


Cell = str | Badge | Link


@dataclass(frozen=True)
class Table:
    """A table whose first column names the row; of ``facts`` each row is a name and a value.

    ``names`` are those that its cells may hold.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    numeric: bool = False
    names: tuple[str, ...] = ()
    kind: Literal["", "facts", "people", "spread", "verdicts"] = ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, which may begin with a status or a label; ``coded`` has code in backticks."""

    text: str
    names: tuple[str, ...] = ()
    status: Status | None = None
    label: str = ""
    kind: Literal["", "lead", "note", "banner"] = ""
    coded: bool = False


@dataclass(frozen=True)
class Code:
    """A program or a command, and what it does."""

    label: str
    text: str
    language: str = "sh"


@dataclass(frozen=True)
class Points:
    """A list of sentences with code in backticks."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Picture:
    """A chart, drawn where it is shown; ``note`` is only said beside the picture."""

    anchor: str
    draw: Callable[[str], str]
    caption: str = ""
    names: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Pictures:
    """Pictures side by side, or one so wide that it scrolls; a program may stand beside them."""

    items: tuple[Picture, ...]
    kind: Literal["", "wide", "scroll"] = ""
    beside: Code | None = None


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    blocks: tuple[Block, ...]
    anchor: str
    names: tuple[str, ...] = ()


Block = Table | Paragraph | Code | Points | Pictures | Section
