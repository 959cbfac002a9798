"""What a report is made of, before it is HTML, Markdown or lines on a terminal; tables of data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeGuard

from pdpaudit.report.plaintext import clip, number
from pdpaudit.results.files import is_number
from pdpaudit.results.results import CheckResult, Status

#: Rows of a table made of data that nobody bounded, and characters of a cell.
MOST_ROWS, LONGEST_CELL = 200, 300

#: Degree bounds, or numbers of vertices, that a table of exact values has room for.
WIDEST = 64

TITLES = {
    "targeted-sensitivity": "Targeted sensitivity Δ by degree bound",
    "impact-cardinality": "Impact cardinality IC by degree bound",
    "sensitivity": "Exact targeted sensitivity Δ",
    "impact_cardinality": "Exact impact cardinality IC",
    "sensitivity, up to relabelling": "Targeted sensitivity Δ, searched up to relabelling",
    "impact_cardinality, up to relabelling": "Impact cardinality IC, searched up to relabelling",
}


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


def table_of(value: object, caption: str) -> Table:
    """Return a table of recorded data: the fields of an object, a list of objects, or a value."""
    if isinstance(value, Mapping) and value:
        rows = tuple((clip(str(key)), cell(item)) for key, item in value.items())
    elif isinstance(value, list | tuple) and value and all(isinstance(i, Mapping) for i in value):
        return records_table(value, caption)
    else:
        rows = ((caption, cell(value)),)
    return Table(caption, ("what", "value"), rows[:MOST_ROWS], _left_out(len(rows)))


def records_table(records: Sequence[Mapping[str, object]], caption: str) -> Table:
    """Return a table with a row for each record, and a column for each of their fields."""
    keys = list(dict.fromkeys(key for one in records for key in one))[:20]
    rows = tuple(tuple(cell(one.get(key, "")) for key in keys) for one in records[:MOST_ROWS])
    return Table(caption, tuple(clip(str(key)) for key in keys), rows, _left_out(len(records)))


def _left_out(rows: int) -> str:
    return f"The first {MOST_ROWS} of {rows} rows; the rest is in the file." * (rows > MOST_ROWS)


def cell(value: object, *, within: bool = False) -> str:
    """Return a value as a cell; what is nested ``within`` another goes no deeper."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping | list | tuple) and within:
        return "…"
    if isinstance(value, Mapping):
        parts = [f"{key}: {cell(item, within=True)}" for key, item in list(value.items())[:50]]
        return clip(", ".join(parts), LONGEST_CELL)
    if isinstance(value, list | tuple):
        return clip(", ".join(cell(item, within=True) for item in value[:100]), LONGEST_CELL)
    return clip(str(value), LONGEST_CELL)


def grid_tables(check: CheckResult) -> list[Table]:
    """Return exact values over vertices n and degree bounds d, one table for each property."""
    found, declared = check.observed, check.declared
    if isinstance(found, list) and check.name in TITLES:
        found, declared = {check.name: {str(len(found)): found}}, {check.name: declared}
    tables = []
    for name, sizes in found.items() if isinstance(found, Mapping) else ():
        grid = dict(list(sizes.items())[:MOST_ROWS]) if isinstance(sizes, Mapping) else {}
        width = max(map(len, filter(_numeric, grid.values())), default=0)
        if not (0 < width <= WIDEST and all(map(_numeric, grid.values()))):
            continue
        bounds = declared.get(name) if isinstance(declared, Mapping) else None
        grid = {"declared": bounds[:width], **grid} if _numeric(bounds) else grid
        rows = tuple(
            (str(n), *map(number, row), *[""] * (width - len(row))) for n, row in grid.items()
        )
        columns = ("vertices n", *(f"d = {d}" for d in range(width)))
        caption = TITLES.get(str(name), clip(str(name)))
        tables.append(Table(caption, columns, rows, numeric=True))
    return tables


def _numeric(row: object) -> TypeGuard[list[float]]:
    return isinstance(row, list) and bool(row) and all(map(is_number, row))
