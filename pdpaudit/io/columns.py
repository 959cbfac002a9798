"""Which columns of a table are the ends of ties, their weight and time, and is there a header."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import pandas as pd

from pdpaudit.core.errors import InputError
from pdpaudit.io.source import (
    IDS,
    INDEX,
    TIMES,
    WEIGHTS,
    is_missing,
    named_ends,
    normal,
    show,
    whole,
)
from pdpaudit.io.table import Table

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
NAMES_COLUMNS = "it names the columns"
_UNNAMED = "the first line does not name two as the ends"
_ENDS_HELP = "say which two columns are the ends with `source_column` and `target_column`"


class EdgeOptions(TypedDict, total=False):
    """What a user says of the columns and rows of an edge list."""

    source_column: str | None
    target_column: str | None
    weight_column: str | None
    time_column: str | None
    since: str | None
    until: str | None
    count_contacts: bool
    keep_missing: bool


@dataclass(frozen=True)
class Ends:
    """The columns of an edge list."""

    source: int
    target: int
    weight: int | None
    time: int | None
    header: bool
    notes: tuple[str, ...] = ()


def choose_columns(table: Table, options: EdgeOptions, ids: Collection[str]) -> Ends:
    """Decide by names, by agreement with people's ``ids``, by what varies like an id."""
    one, other = options.get("source_column"), options.get("target_column")
    if (one is None) != (other is None):
        raise InputError("`source_column` and `target_column` go together: name both or neither")
    chosen = one is not None and other is not None
    named = one in table.head if chosen else bool(named_ends(table.head))
    notes = []
    if named and _lacks_a_name(table):
        notes = [f"{table.head_text}: one name fewer than columns, so the first is skipped"]
        table = replace(table, head=("", *table.head), head_width=table.row_width)
    if one is not None and other is not None:
        ends = find_column(table, one, "source_column"), find_column(table, other, "target_column")
        if ends[0] == ends[1]:
            raise InputError(
                f"`source_column` and `target_column` are both {one!r}; name two columns"
            )
        named = normal(one) in map(normal, table.head)
    else:
        pairs = named_ends(table.head)
        ends = _one_of(table, pairs, ids) if pairs else _by_values(table, ids)
    reason = NAMES_COLUMNS if named else _header_reason(table, ends, ids)
    if named and table.head_width != table.row_width:
        raise InputError(
            f"{table.where(min(1, table.size - 1))}: {table.row_width} columns where the header "
            f"has {table.head_width}; correct the line, or quote names that hold the separator"
        )
    if reason is not None:
        # Only what names columns is quoted: any other line may name people.
        quoted = f" {table.head_text}" if reason == NAMES_COLUMNS else ""
        notes.insert(0, f"first line{quoted} taken as a header because {reason}")
    elif not all(_INTEGER.fullmatch(table.head[end]) for end in ends):
        notes.insert(
            0, f"no header recognised: first line read as an edge (if it is a header, {_ENDS_HELP})"
        )
    names = [*table.head, *[""] * table.width] if named else [""] * table.width
    time = _time(table, options, ends, names)
    weight, more = _weight(table, options, ends, names, time)
    if time is None and table.width == 3 and ends == (1, 2) and reason is None:
        time = 0
    called = [
        f"{what}{show(names[at], 30) if names[at] else at + 1}"
        for what, at in (("", ends[0]), ("and ", ends[1]), (", weight ", weight), (", time ", time))
        if at is not None
    ]
    said = f"{table.source.path}: the ends are columns {' '.join(called[:2])}"
    notes = [said + "".join(called[2:]), *notes, *more]
    return Ends(*ends, weight, time, reason is not None, tuple(notes))


def _lacks_a_name(table: Table) -> bool:
    """Whether the header has no name for the row numbers in front, as R writes them."""
    return table.head_width == table.row_width - 1 and _counts_rows(
        [row[0] for row in table.sample()]
    )


def _one_of(
    table: Table, pairs: Sequence[tuple[int, int]], ids: Collection[str]
) -> tuple[int, int]:
    """Return the only pair, or the only one whose ends are in the people table."""
    if len(pairs) > 1 and ids:
        rows = table.sample()
        agreeing = [pair for pair in pairs if all(_agrees(rows, end, ids) for end in pair)]
        pairs = agreeing or pairs
    if len(pairs) > 1:
        raise _ambiguous(table, pairs)
    last = normal(table.head[pairs[0][1]])
    third = last[:-1] + {"2": "3", "b": "c", "j": "k"}.get(last[-1:], "")
    if third != last[:-1] and third in map(normal, table.head):
        raise _undecided(table, f"columns up to {third!r} are numbered, so there may be more ends")
    return pairs[0]


def _undecided(table: Table, what: str) -> InputError:
    """Return a refusal that shows the first line, and the options that choose."""
    return InputError(
        f"{table.source.path}: {what}; {_ENDS_HELP}, by name or number (first line: "
        f"{_listed(table.head)})"
    )


def _ambiguous(table: Table, pairs: Iterable[tuple[int, int]]) -> InputError:
    readings = " or ".join(f"columns {a + 1} and {b + 1}" for a, b in pairs)
    return _undecided(table, f"the ends may be {readings}")


def _agrees(rows: Sequence[Sequence[str]], column: int, ids: Collection[str]) -> bool:
    values = [whole(row[column]) for row in rows if not is_missing(row[column])]
    return bool(values) and all(value in ids for value in values)


def _counts_rows(values: Sequence[str]) -> bool:
    """Whether the values are whole numbers that grow by one, as an index does."""
    if not values or not all(_INTEGER.fullmatch(value) for value in values):
        return False
    first, numbers = int(values[0]), [int(value) for value in values]
    return first in (0, 1, 2) and numbers == [*range(first, first + len(values))]


def _kind(values: Sequence[str]) -> str:
    """Return what most values of a column are: integer, number, date or word."""
    values = [value for value in values if not is_missing(value)]
    numeric = [value for value in values if is_number(value)]
    if values and 2 * len(numeric) >= len(values):
        all_whole = all(_INTEGER.fullmatch(whole(value)) for value in numeric)
        return "integer" if all_whole and len(numeric) == len(values) else "number"
    if values and all(re.match(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b", value) for value in values):
        return "date"
    return "word"


def is_number(text: str) -> bool:
    """Whether a text is a number as pandas reads one."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _by_values(table: Table, ids: Collection[str]) -> tuple[int, int]:
    """Find the ends without their names."""
    if {"id", "label"} <= {normal(name) for name in table.head}:
        raise _undecided(table, "looks like a nodes file, which is given after `nodes`")
    if table.width == 2:
        _refuse_people(table, ids)
        return 0, 1
    rows = table.sample() or [list(table.head)]
    columns = range(table.width)
    counters = [c for c in columns if _counts_rows([row[c] for row in rows])]
    if ids:
        agreeing = [c for c in columns if _agrees(rows, c, ids)]
        for found in (agreeing, [c for c in agreeing if c not in counters]):
            if len(found) == 2:
                return found[0], found[1]
    if table.width > 3:
        raise _undecided(table, f"{table.width} columns, and {_UNNAMED}")
    # Where the rows hold nothing, the first line says what would be there.
    known = ([row[c] for row in rows if not is_missing(row[c])] for c in columns)
    kinds = [_kind(some or table.head[c : c + 1]) for c, some in enumerate(known)]
    if kinds[2] == "word" and len(table.head) == 3 and is_number(table.head[2]):
        kinds[2] = "number"  # most likely a weight that is wrong on some lines
    return _by_kinds(table, kinds, counters)


def _by_kinds(table: Table, kinds: Sequence[str], counters: Sequence[int]) -> tuple[int, int]:
    """Find the ends among three columns: two that vary alike, beside a weight, time or index."""
    named_index = 0 in counters and normal(table.head[0]) in INDEX
    if kinds[1] == kinds[2] and (named_index or kinds[:2] in (["number", "integer"],)):
        return 1, 2
    if kinds == ["integer"] * 3:
        return _by_shared_values(table, counters)
    beside = ("integer", "number", "date")
    for one, other, third in ((0, 1, 2), (1, 2, 0), (0, 2, 1)):
        if kinds[one] == kinds[other] != kinds[third] and kinds[third] in beside:
            return one, other
    raise _undecided(table, f"3 columns, the third not a weight, and {_UNNAMED}")


def _values(table: Table, column: int) -> set[str]:
    """Return the values of a column, without a first one that may be a name above numbers."""
    rest = set(table.factorize([column], int(table.size > 1))[1])
    return rest | set(filter(is_number, table.head[column : column + 1]))


def _refuse_people(table: Table, ids: Collection[str]) -> None:
    """Refuse two columns of which one names people and the other says what they are."""
    if [normal(name) in IDS for name in table.head] not in ([True, False], [False, True]):
        return
    one, other = (_values(table, column) for column in (0, 1))
    if table.size > 2 and one.isdisjoint(other) and not (one | other <= set(ids)):
        raise _undecided(
            table,
            "looks like people and what they are, which is given after `nodes`, for no value is in "
            "both columns",
        )


def _by_shared_values(table: Table, counters: Sequence[int]) -> tuple[int, int]:
    """Find the ends among three columns of whole numbers: those that share their values.

    Both ends are people, so much of one is in the other; weights and times share values by chance.
    """
    sets = [_values(table, column) for column in range(3)]
    if sets[1] | sets[2] <= {"0", "1"} and table.size > 3:
        raise _undecided(
            table,
            "columns 2 and 3 hold only 0 and 1, as of people and what they are or where they were",
        )
    if len(sets[2]) == 1 < table.size - 1 or sets[2] <= {"0", "1"}:
        return 0, 1  # nobody is met that seldom: a weight
    shared = [len(a & b) / len(a | b) for a, b in ((sets[0], sets[1]), (sets[1], sets[2]))]
    if 0 not in counters:
        if shared[0] >= 2 * shared[1] and shared[0] > 0:
            return 0, 1
        if shared[1] >= 2 * shared[0] and shared[1] > 0:
            return 1, 2
    raise _ambiguous(table, [(0, 1), (1, 2)])


def find_column(table: Table, name: str, parameter: str) -> int:
    """Return the index of a column given by its name, or by its number counted from 1."""
    for form in (str, normal):
        wanted = form(name)
        found = [i for i, other in enumerate(table.head) if form(other) == wanted]
        if len(found) == 1 and found[0] < table.width:
            return found[0]
        if len(found) > 1:
            raise InputError(
                f"{table.source.path}: {len(found)} columns are called {name!r}; give the number "
                f"of the column as `{parameter}`"
            )
    if name.isascii() and name.isdigit() and 1 <= int(name) <= table.width:
        return int(name) - 1
    near = difflib.get_close_matches(name, table.head, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(
        f"{table.source.path}: no column {name!r} (`{parameter}`); {hint}the columns are "
        f"{_listed(table.head)}"
    )


def find_id_column(
    table: Table, id_column: str | None, ends: Collection[str], label_column: str | None
) -> int:
    """Return the column of a people table that names them: by name, or by the ties' ends."""
    if id_column is not None:
        return find_column(table, id_column, "id_column")
    names = [normal(name) for name in table.head]
    for known in IDS:
        if names.count(known) == 1:
            return names.index(known)
    rows = table.sample()
    columns = range(min(table.width, len(table.head)))
    shares = [
        sum(whole(row[c]) in ends for row in rows) if len({row[c] for row in rows}) > 1 else 0
        for c in columns
    ]
    label = None if label_column is None else normal(label_column)
    unlike = [c for c in columns if names[c] != label]
    index = [c for c in unlike if names[c] in INDEX and _counts_rows([row[c] for row in rows])]
    others = [c for c in unlike if c not in index] or unlike
    best = max(others, key=lambda c: shares[c], default=0)
    if ends and shares[best] == 0:
        best = max(columns, key=lambda c: shares[c])
    return best if shares and shares[best] else (others[0] if others else 0)


def _listed(names: Sequence[str], limit: int = 12) -> str:
    shown = ", ".join(show(name, 30) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown}, and {len(names) - limit} more"


def _header_reason(table: Table, ends: tuple[int, int], ids: Collection[str]) -> str | None:
    """Return why the first line is no edge, if it is none."""
    head, rows = table.head, table.sample()
    if _is_size_line(table):
        return "it says how many vertices and edges follow"
    whole_rows = bool(rows) and all(_INTEGER.fullmatch(field) for row in rows for field in row)
    if len(head) != table.width and whole_rows and not all(map(is_number, head)):
        return f"it has {len(head)} columns, words among them, and the others {table.width} numbers"
    if len(head) != table.width:
        raise InputError(
            f"{table.where(0)}: {len(head)} columns that name no ends, and the others have "
            f"{table.width}; correct the line, or remove it"
        )
    if not rows:
        return None
    if any(normal(name) in IDS for name in head):
        return NAMES_COLUMNS
    listed = any(whole(head[end]) in ids for end in ends)
    if ids and not listed and all(_agrees(rows, end, ids) for end in ends):
        return "its ends are nobody's id, unlike those below it"
    if table.width == 3 and ends == (0, 1):
        numeric = sum(is_number(row[2]) for row in rows)
        if not is_number(head[2]) and 2 * numeric >= len(rows):
            return "its last column is no number, unlike those below it"
    columns = range(table.width)
    numbered = [c for c in columns if all(_INTEGER.fullmatch(row[c]) for row in rows)]
    if len(rows) > 1 and any(
        not is_number(head[c]) and (c not in ends or not is_missing(head[c])) for c in numbered
    ):
        return "it has words where the others have numbers"
    return None


def _is_size_line(table: Table) -> bool:
    """Whether the first line says how many vertices and rows follow, as of a matrix."""
    size = [int(value) for value in table.head if value.isdecimal()]
    if not 1 < len(size) == len(table.head) or not 0 < table.size - 1 == size[-1]:
        return False
    if len(size) == table.width > 2:
        return False  # a tie with its weight
    ids = table.factorize([0, 1], 1)[1]
    return all(one.isdecimal() and int(one) <= max(size[:-1]) for one in ids)


def _time(
    table: Table, options: EdgeOptions, ends: tuple[int, int], names: Sequence[str]
) -> int | None:
    if (asked := options.get("time_column")) is not None:
        return find_column(table, asked, "time_column")
    others = {normal(names[c]): c for c in reversed(range(table.width)) if c not in ends}
    return next((others[known] for known in TIMES if known in others), None)


def _weight(
    table: Table,
    options: EdgeOptions,
    ends: tuple[int, int],
    names: Sequence[str],
    time: int | None,
) -> tuple[int | None, list[str]]:
    asked = options.get("weight_column")
    if asked is not None:
        if options.get("count_contacts"):
            raise InputError("`count_contacts` makes the weights; leave `weight_column` out")
        found = find_column(table, asked, "weight_column")
        if found in ends:
            raise InputError(f"`weight_column` {asked!r} is an end; name another column")
        return found, []
    if options.get("count_contacts"):
        return None, []
    others = [
        c
        for c in range(table.width)
        if c not in (*ends, time)
        and not (normal(names[c]) in INDEX and _counts_rows([row[c] for row in table.sample()]))
    ] if any(names) else []  # fmt: skip
    known = [normal(names[c]) for c in others]
    for name in WEIGHTS:
        if known.count(name) == 1:
            return others[known.index(name)], []
    if any(names):
        listed = _listed([names[c] or f"column {c + 1}" for c in others])
        said = f"no weight column recognised among {listed}: all ties count alike (name one with "
        return None, [f"{said}`weight_column`)"] if others else []
    if table.width == 3 and ends == (0, 1) and time is None:
        first = [name for name in table.head[2:] if is_number(name)]
        if _grows_from_zero([*first, *(row[2] for row in table.sample())]):
            return None, ["third column grows from 0: taken as a time, not the weight"]
        return 2, ["third column taken as the weight"]
    return None, []


def _grows_from_zero(values: Sequence[str]) -> bool:
    numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce")
    grows = len(values) and numbers.is_monotonic_increasing and numbers.nunique() > 2
    return bool(grows and numbers[0] == 0)
