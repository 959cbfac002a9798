"""A text file as a table: its separator found, comments and blanks set aside, columns by pandas."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pdpaudit.core.errors import InputError
from pdpaudit.io.source import Source, names_columns, show

SAMPLE = 200
_FIELD = re.compile(r'"(?:[^"]|"")*"(?=[ \t]|$)|[^ \t]+')
_SEPARATORS = "\t;|, "  # a name may hold what comes later in this list without quotes
_NAMES = {"\t": "tab", ";": "semicolon", ",": "comma", " ": "space", "|": "bar", ":": "colon"}
_SEP_LINE = re.compile(rb"sep=(.)[ \t,;]*(?=\n)", re.IGNORECASE)  # a spreadsheet's first line
_ESCAPED = re.compile(rb'\\"(?=[^,;\t |\n])')
_BLOCK = 1 << 20
_TEXT = np.dtype(object)
_NUMBER = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_ROWS = 3_000  # parsed at once: what they hold stays in the processor's cache

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a text file; row 0 is the head, which may be a header."""

    source: Source
    separator: str
    head: tuple[str, ...]
    width: int  # of the rows after the head; columns at the end that are always empty do not count
    head_width: int  # before such columns were taken off
    row_width: int
    blank_rows: int
    notes: tuple[str, ...]
    _body: bytes  # the rows after the head, and nothing else
    _lines: Rows

    @property
    def size(self) -> int:
        """Number of rows, head included."""
        return len(self._lines)

    @property
    def quoted(self) -> bool:
        """Whether a row after the head holds a quote, or the head a line break."""
        return b'"' in self._body or any("\n" in field for field in self.head)

    @property
    def head_text(self) -> str:
        """The first row as a person would quote it."""
        return show(self.separator.join(self.head))

    def line(self, row: int) -> int:
        """Return the line of the file on which ``row`` starts."""
        return int(self._lines[row])

    def where(self, row: int) -> str:
        """Return ``file, line n``, to begin an error with."""
        return f"{self.source.path}, line {self.line(row)}"

    def sample(self) -> list[list[str]]:
        """Return the fields of the first rows after the head."""
        return self.rows(SAMPLE)

    def rows(self, most: int | None = None) -> list[list[str]]:
        """Return the fields of the rows after the head."""
        rows = chain.from_iterable(self._parts(range(self.row_width), most))
        return [[field.strip(" \t") for field in row[: self.width]] for row in rows]

    def factorize(self, columns: Sequence[int], first_row: int) -> tuple[Rows, list[str], Rows]:
        """Return numbers of the distinct values of some columns in order of appearance, row by row.

        Codes (rows, columns), the values, and the row in which each appears first.
        """
        head = [self.head[column] for column in columns] if first_row == 0 else []
        codes, names = self._numbers(columns, head) or self._texts(columns, head)
        texts = [name.strip(" \t") for name in names]
        if texts != names:
            merged, values = pd.factorize(np.array(texts, dtype=object))
            codes, texts = merged[codes], values.tolist()
        rows = _first(codes, len(texts)) // len(columns) + first_row
        return codes.reshape(-1, len(columns)), texts, rows

    def floats(self, column: int) -> npt.NDArray[np.float64] | None:
        """Return a column after the head as numbers, None where any field is none or not finite."""
        try:
            numbers = [part.ravel() for part in self._parts([column], kind=np.dtype(np.float64))]
        except InputError:
            return None
        found = np.concatenate(numbers)
        return found if np.isfinite(found).all() else None

    def _numbers(
        self, columns: Sequence[int], head: Sequence[str]
    ) -> tuple[Rows, list[str]] | None:
        """Return codes and values of fields that are whole numbers."""
        if not (self._plain and all(map(_NUMBER.fullmatch, head))):
            return None
        try:
            parts = [np.array(list(map(int, head)), dtype=np.int64)]
            parts += [part.ravel() for part in self._parts(columns, kind=np.dtype(np.int64))]
        except (InputError, OverflowError):  # a gap, or a very long number
            return None
        codes, values = pd.factorize(np.concatenate(parts))
        return codes, list(map(str, values.tolist()))

    def _texts(self, columns: Sequence[int], head: Sequence[str]) -> tuple[Rows, list[str]]:
        """Return codes and values of fields as they are."""
        parts = [np.array(head, dtype=object), *map(np.ravel, self._parts(columns))]
        codes, values = pd.factorize(np.concatenate(parts))
        return codes, values.tolist()

    @cached_property
    def _plain(self) -> bool:
        """Whether the rows hold nothing but whole numbers as Python writes them, and gaps."""
        separator = self.separator.encode()
        if self._body.translate(None, b"0123456789\n" + separator):
            return False
        return not re.search(rb"[\n" + re.escape(separator) + rb"]0[0-9]", b"\n" + self._body)

    def _parts(
        self, columns: Sequence[int], most: int | None = None, kind: np.dtype[Any] = _TEXT
    ) -> Iterator[npt.NDArray[Any]]:
        """Give the fields of some columns after the head, some thousand rows at a time."""
        if self.size == 1:
            return
        rows = 0
        try:
            for frame in pd.read_csv(
                io.BytesIO(self._body),
                sep=r"\s+" if self.separator == " " else self.separator,
                header=None,
                names=range(self.row_width),
                index_col=False,
                usecols=list(columns),
                nrows=most,
                dtype=kind,
                na_filter=False,
                skipinitialspace=True,
                skip_blank_lines=False,
                low_memory=False,
                chunksize=_ROWS,
                encoding="utf-8",
            ):
                rows += len(frame)
                yield frame[list(columns)].to_numpy()
            if rows != min(self.size - 1, most or self.size):
                raise ValueError(f"{self.size - 1:,} rows, read as {rows:,}")
        except (pd.errors.ParserError, ValueError) as error:
            reason = " ".join(str(error).split())
            # A quote left open runs to the end, so it is in the last row.
            where = self.where(self.size - 1) if "EOF inside string" in reason else self.source.path
            raise InputError(
                f"{where}: not readable as a table ({show(reason, 80)}); close the "
                "quotes, or double a quote that is part of a name"
            ) from None


def _first(codes: Rows, count: int) -> Rows:
    """Return where each code appears first."""
    first = np.empty(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last assignment stays
    return first


def read_table(source: Source, *, header: bool) -> Table:
    """Find the rows and fields of a text file; with ``header`` one column is enough.

    The separator is the tab, semicolon, comma or run of blanks that cuts most of the first lines
    into equally many columns, unless a first line ``sep=;`` says it.
    """
    data = source.data
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b'\\"' in data and _ESCAPED.search(data):
        data = re.sub(rb'\\(["\\])', lambda found: found[1].replace(b'"', b'""'), data)
    if not data.endswith(b"\n"):
        data += b"\n"
    said = _SEP_LINE.match(data)
    if said:
        data = b" " * said.end() + data[said.end() :]
    separator = said[1].decode() if said else ""
    # What an open quote runs over may be as long as the file.
    longest = csv.field_size_limit(max(csv.field_size_limit(), len(data)))
    try:
        data, comments = _without_comments(source, data, separator, header)
        if not data.strip():
            raise InputError(f"{source.path}: holds nothing but comments; give a file with rows")
        separator = separator or _find_separator(source, data, header)
        return _assemble(source, data, separator, header, comments)
    finally:
        csv.field_size_limit(longest)


def _without_comments(
    source: Source, data: bytes, separator: str, header: bool
) -> tuple[bytes, tuple[str, ...]]:
    """Return the text with its comments blanked, and what is to be said about them."""
    if b"#" not in data and b"%" not in data:
        return data, ()
    marked = list(re.finditer(rb"^[ \t]*[#%][^\n]*", data, re.MULTILINE))
    if not marked:
        return data, ()
    rest = _blanked(data, marked)
    first = len(rest) - len(rest.lstrip())
    # A comment is a line that is no row: one with other columns, or with a blank after its mark.
    close = [found for found in marked if re.match(rb"[ \t]*[#%][^#% \t\n]", found[0])]
    model = rest if rest.strip() else b"\n".join(found[0] for found in close)
    if not model.strip():
        return rest, ()
    if not separator:
        separator = _find_separator(source, model, header)
    sample = [line for line in model[: 1 << 16].decode(errors="ignore").split("\n") if line.strip()]
    width = Counter(_count(line, separator) for line in sample[1:] or sample).most_common(1)[0][0]
    rows = [found for found in close if _count(found[0].decode(), separator) == width]
    rows = [
        found for found in rows if found.start() > first or _is_row(source, found, rest, separator)
    ]
    kept = {found.start() for found in rows}
    comments = [found for found in marked if found.start() not in kept]
    notes = []
    for what, lines in (
        ("lines that begin with # or % skipped as comments", comments),
        ("rows that begin with # or % read as rows, with as many columns as the others", rows),
    ):
        if lines:
            at = [str(data.count(b"\n", 0, found.start()) + 1) for found in lines[:5]]
            more = ", …" if len(lines) > 5 else ""
            notes.append(f"{source.path}: {len(lines):,} {what} (line {', '.join(at)}{more})")
    return _blanked(data, comments), tuple(notes)


def _blanked(data: bytes, lines: Sequence[re.Match[bytes]]) -> bytes:
    """Blank lines rather than cut them out, so that the others keep their numbers."""
    changed = bytearray(data)
    for found in lines:
        changed[found.start() : found.end()] = b" " * (found.end() - found.start())
    return bytes(changed)


def _is_row(source: Source, found: re.Match[bytes], rest: bytes, separator: str) -> bool:
    """Decide about a marked line above all others, or refuse to: ids of the file may be marked."""
    fields = _fields(found[0].decode(), separator)
    if names_columns([fields[0].lstrip("#%"), *fields[1:]]):
        return False
    if not rest.strip() or any(field[:1] == fields[0][:1] for field in fields[1:]):
        return True
    if re.search(rb"(?m)(^|[\s,;\"])" + re.escape(fields[0].encode()) + rb"([\s,;\"]|$)", rest):
        return True
    line = 1 + found.string.count(b"\n", 0, found.start())
    raise InputError(
        f"{source.path}, line {line}: may be a comment or a row whose first name begins with "
        f"{fields[0][:1]}; put a blank after the mark of a comment, or quote the name"
    )


def _find_separator(source: Source, data: bytes, header: bool) -> str:
    text = data[: 1 << 20].decode(errors="ignore")
    sample = [line for line in text.split("\n") if line.strip(" \t")][: SAMPLE + 1]
    best: tuple[bool, bool, int] | None = None
    chosen, chosen_width, chosen_counts = "", 0, set[int]()
    for rank, separator in enumerate(_SEPARATORS):
        counts = [_count(line, separator) for line in sample]
        usable = Counter(count for count in counts[1:] or counts if count > 1)
        if not usable:
            continue
        width, votes = usable.most_common(1)[0]
        agrees = counts[0] == width
        if header and separator == " " and not agrees:
            continue  # a single column of names with spaces in them
        # Where most lines, but not all, have as many fields by tabs as all have words.
        if separator == " " and chosen == "\t" and {*counts} == {chosen_width} != chosen_counts:
            return separator
        merit = (2 * votes >= len(counts[1:] or counts), agrees, -rank)
        if best is None or merit > best:
            best, chosen, chosen_width, chosen_counts = merit, separator, width, {*counts}
    if best is None:
        if header:
            return "\t"
        raise InputError(
            f"{source.path}: no line has two columns (the first is {show(sample[0])}); write one "
            "edge a line, the two ends separated by a comma, tab, semicolon or space"
        )
    return chosen


def _count(line: str, separator: str) -> int:
    if separator == " ":
        return len(_FIELD.findall(line))
    try:
        reader = csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True)
        return len(next(reader))
    except (csv.Error, StopIteration):
        return 0


def _fields(line: str, separator: str) -> list[str]:
    """Return the fields of one row, as pandas reads them."""
    if separator == " ":
        return [
            field[1:-1].replace('""', '"') if len(field) > 1 and field[0] == '"' == field[-1]
            else field
            for field in _FIELD.findall(line)
        ]  # fmt: skip
    reader = csv.reader(io.StringIO(line, newline=""), delimiter=separator, skipinitialspace=True)
    return [field.strip(" \t") for field in next(reader, [])]


def _layout(data: bytes, separator: str) -> tuple[Rows, Rows, Rows]:
    """Return where each row starts in the file, on which line, and how many fields it has."""
    buffer = np.frombuffer(data, dtype=np.uint8)
    ends = _positions(buffer, "\n")
    starts = np.concatenate([[0], ends[:-1] + 1])
    if b'"' not in data:
        if separator == " ":
            counts = _fields_up_to(buffer, ends)
        else:
            counts = np.searchsorted(_positions(buffer, separator), ends)
        counts = np.diff(counts, prepend=0) + (separator != " ")
        return starts, np.arange(1, len(starts) + 1), counts
    lines = data.decode().split("\n")[:-1]
    if separator == " ":
        sizes = np.array([len(_FIELD.findall(line)) for line in lines], dtype=np.int64)
        return starts, np.arange(1, len(starts) + 1), sizes
    reader = csv.reader((line + "\n" for line in lines), delimiter=separator, skipinitialspace=True)
    found, number = [], 0
    for row in reader:
        found.append((number, len(row)))
        number = reader.line_num
    rows = np.array(found, dtype=np.int64)
    return starts[rows[:, 0]], rows[:, 0] + 1, rows[:, 1]


def _positions(buffer: npt.NDArray[np.uint8], character: str) -> Rows:
    """Return where a character is; block by block, so that the work stays in the cache."""
    code = ord(character)
    starts = range(0, len(buffer), _BLOCK)
    return np.concatenate([np.flatnonzero(buffer[i : i + _BLOCK] == code) + i for i in starts])


def _fields_up_to(buffer: npt.NDArray[np.uint8], ends: Rows) -> Rows:
    """Return the number of runs of anything but blanks that begin before each place."""
    solid = np.zeros(256, dtype=np.bool_)
    solid[:] = True
    solid[list(b" \t\n")] = False
    found, before = [], False
    for start in range(0, len(buffer), _BLOCK):
        block = solid[buffer[start : start + _BLOCK]]
        begins = block & ~np.concatenate([[before], block[:-1]])
        before = bool(block[-1])
        found.append(np.flatnonzero(begins) + start)
    return np.searchsorted(np.concatenate(found), ends)


def _assemble(
    source: Source, data: bytes, separator: str, header: bool, comments: tuple[str, ...]
) -> Table:
    starts, lines, counts = _layout(data, separator)
    stops = np.append(starts[1:], len(data))
    kept, blank_rows = _filled(data, separator, starts, stops)
    if not kept.any():
        raise InputError(f"{source.path}: holds nothing but blank rows; give a file with rows")
    clean = kept.all()
    if not clean:
        starts, stops, lines, counts = starts[kept], stops[kept], lines[kept], counts[kept]
    body = counts[1:] if len(counts) > 1 else counts
    votes = np.bincount(body)
    width = len(votes) - 1 - int(votes[::-1].argmax())  # of a tie, the wider

    def text(row: int) -> str:
        return data[starts[row] : stops[row]].decode().rstrip("\n")

    titles, more = _titles([text(row) for row in range(min(6, len(counts)))], separator, width)
    starts, stops, lines, counts = starts[titles:], stops[titles:], lines[titles:], counts[titles:]
    body = counts[1:] if len(counts) > 1 else counts
    odd = np.flatnonzero(body != width)
    if len(odd):
        row = int(odd[0]) + (len(counts) > 1)
        _refuse_row(f"{source.path}, line {lines[row]}", text(row), separator, width)
    if width == 1 and not header:
        row = int(len(counts) > 1)
        raise InputError(
            f"{source.path}, line {lines[row]}: 1 column; an edge needs two ends, separated by a "
            "comma, tab, semicolon or space"
        )
    head = _fields(text(0), separator)
    table = Table(
        source=source,
        separator=separator,
        head=(),
        width=width,
        head_width=len(head),
        row_width=width,
        blank_rows=blank_rows,
        notes=(*comments, *more),
        _body=data[stops[0] :] if clean else _joined(data, starts[1:], stops[1:]),
        _lines=lines,
    )
    used = width
    sample = table.sample()
    # The sample first: to read a whole column only to see that it is not empty takes long.
    # Where there is a name or a value on the first line only, that line may be a row.
    while (
        used > 2
        and sample
        and not any(row[used - 1] for row in sample)
        and not any(head[used - 1 :])
    ):
        if table.factorize([used - 1], 1)[1] != [""]:
            break
        used -= 1
    while len(head) > used and not head[-1]:
        head.pop()
    return replace(table, head=tuple(head), width=used)


def _joined(data: bytes, starts: Rows, stops: Rows) -> bytes:
    """Return some rows of a text, one after the other."""
    return b"".join([data[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)])


def _titles(first: Sequence[str], separator: str, width: int) -> tuple[int, tuple[str, ...]]:
    """Return how many lines above the header are titles, and what is to be said about them."""
    fields = [_fields(text, separator) for text in first]
    filled = [sum(map(bool, row)) for row in fields]
    count = next((i for i, n in enumerate(filled) if n > 1), 0)
    if width < 2 or count == 0 or not all(row[0] for row in fields[:count]):
        return 0, ()
    wide = [len(row) > 1 for row in fields[:count]]
    if any(wide) and width < 3 and not names_columns(fields[count]):
        return 0, ()
    if count == 1 and not wide[0]:
        said = f"first line taken as a header because it has 1 column and the others {width}"
    else:
        said = f"{count} line{'s' * (count > 1)} above the header taken as a title and left out"
    return count, (said,)


def _filled(
    data: bytes, separator: str, starts: Rows, stops: Rows
) -> tuple[npt.NDArray[np.bool_], int]:
    """Return which rows hold anything, and how many are nothing but separators."""
    kept = np.ones(len(starts), dtype=np.bool_)
    blank_rows = 0
    bytes_ = np.frombuffer(data, dtype=np.uint8)[starts]
    for row in np.flatnonzero(np.isin(bytes_, list(f' \t\n"{separator}'.encode()))).tolist():
        line = data[starts[row] : stops[row]].strip()
        empty = not line.strip(f' \t\n"{separator}'.encode())
        if empty and not any(_fields(line.decode(), separator)):
            kept[row] = False
            blank_rows += bool(line)
    return kept, blank_rows


def _refuse_row(where: str, text: str, separator: str, width: int) -> None:
    """Refuse a row with more or fewer fields than the others."""
    fields = _fields(text, separator)
    if "\n" in text:
        raise InputError(
            f"{where}: the quoted field {show(fields[-1], 40)} runs over several lines; close the "
            "quotes, or double a quote that is part of a name"
        )
    columns = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
    name = _NAMES.get(separator, separator)
    raise InputError(
        f"{where}: {columns} where the other lines have {width} ({name}-separated); correct the "
        f"line, or quote a name that holds a {name}"
    )
