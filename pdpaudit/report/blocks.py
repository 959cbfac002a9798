"""What a report is made of: text from a user's file made safe to look at, numbers, and blocks.

Nothing is invisible and nothing endless; blocks are HTML, Markdown or lines on a terminal later.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeGuard

if TYPE_CHECKING:  # who only wants text that can be shown is not to wait for numpy
    from pdpaudit.results.results import CheckResult, Status

#: Characters of a name that are shown.
LONGEST_NAME = 60

#: Characters of a sentence that are shown.
LONGEST_SENTENCE = 1500

# C0 but tab and newline, DEL and C1; marks that turn the direction of writing; lone surrogates.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)

# Letters of the scripts written from right to left (Hebrew to Arabic Extended, their presentation
# forms, and the blocks beyond the basic plane).
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"\u27e8U+{code:04X}\u27e9"


def visible(text: str) -> str:
    r"""Replace control characters, marks of direction and lone surrogates by what can be seen."""
    return _UNSEEN.sub(_picture, text)


def clip(text: str, most: int = LONGEST_NAME) -> str:
    """Cut what is too long, and say how long it was."""
    return text if len(text) <= most else f"{text[:most]}\u2026 ({len(text):,} characters)"


# No word of ours is longer; what ends a sentence or a quotation after it is no part of it.
_ENDLESS = re.compile(rf"\S{{{LONGEST_NAME * 2},}}?(?=[^\w\s]{{0,3}}(?!\S))")


def on_terminal(text: str) -> str:
    r"""Return text that a terminal shows as it is: it moves no cursor and fills no screen."""
    lines = visible(text).split("\n")
    cut = (_ENDLESS.sub(lambda word: clip(word[0]), line) for line in lines)
    return "\n".join(clip(line, LONGEST_SENTENCE) for line in cut)


def isolate_names(text: str, names: Iterable[str]) -> list[tuple[str, bool]]:
    """Split a sentence where a name in it needs care: long, or written from right to left."""
    there = (name for name in names if name in text)
    careful = {one for one in there if len(one) > LONGEST_NAME or _RIGHT_TO_LEFT.search(one)}
    if not careful:
        return [(clip(text, LONGEST_SENTENCE), False)]
    longest_first = sorted(careful, key=lambda name: (-len(name), name))
    either = "|".join(map(re.escape, longest_first))
    pieces, left = [], LONGEST_SENTENCE
    for piece in re.split(rf"(?<!\w)({either})(?!\w)", text):
        if piece and left > 0:
            named = piece in careful
            shown = clip(piece, LONGEST_NAME if named else left)
            pieces.append((shown, named))
            left -= len(shown)
    return pieces


def spans(text: str) -> list[tuple[str, bool]]:
    """Split a paragraph into its pieces, and whether each is code."""
    pieces = re.split(r"`([^`\n]+)`", text)
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with that many significant digits; a dash where there is none."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.{digits}g}"


def nats(value: float | None) -> str:
    """Return a privacy loss: three decimals, more where it is small."""
    if value is None or math.isinf(value) or 0 < abs(value) < 0.001 or abs(value) >= 1e5:
        return number(value, 2 if value is not None and abs(value) < 0.001 else 4)
    return f"{value:.3f}"


def count(value: int) -> str:
    """Return a count."""
    return f"{value:,}"


def times(epsilon: float) -> str:
    """Return a privacy loss as a factor of likelihood."""
    if math.isinf(epsilon):
        return "infinitely many times"
    if epsilon > 700:
        return f"e^{epsilon:.6g} times"
    factor = math.exp(epsilon)
    if 1 < factor < 1.5:
        return f"{factor:.3f} times"  # what is claimed and what is found are this near
    return f"{factor:.1f} times" if factor < 1e5 else f"{factor:.1e} times"


def span(seconds: float) -> str:
    """Return a length of time."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


# Blocks


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
    from pdpaudit.results.files import is_number

    return isinstance(row, list) and bool(row) and all(map(is_number, row))
