"""A text file as a table: separator found, comments and blanks set aside, fields as spans.

Nothing is copied out of the file until it is asked for: a field is where it starts and ends. That
keeps a file of millions of rows within a few hundred mebibytes and a few seconds.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError
from pdpaudit.io.factorize import PADDING, factorize_spans
from pdpaudit.io.source import Source, show

__all__ = ["Table", "read_table"]

_LINE_END = re.compile(r"\r\n|\n|\r")
_LINE_END_BYTES = re.compile(rb"[\r\n]")
_FIELD = re.compile(r'"(?:[^"]|"")*"(?=[ \t]|$)|[^ \t]+')
_SEPARATORS = "\t;, "  # a name may hold what comes later in this list without quotes
_NAMES = {"\t": "tab", ";": "semicolon", ",": "comma", " ": "space"}
_SAMPLE = 200
_BLOCK = 1 << 18
_QUOTE = ord('"')

Spans = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a text file.

    Attributes
    ----------
    source : Source
        The file.
    separator : str
        What is between two fields; a space stands for any run of spaces and tabs.
    head : tuple of str
        The fields of the first row, which may be a header.
    width : int
        Number of columns of the rows after it; trailing columns that are always empty do not count.
    blank_rows : int
        Rows of nothing but separators, which were left out.
    """

    source: Source
    separator: str
    head: tuple[str, ...]
    width: int
    blank_rows: int
    _data: bytes  # the text, padded
    _starts: Spans
    _ends: Spans
    _rows: Spans  # for each row, head included, its first field
    _lines: Spans | None  # line of each row, where the buffer is not the file itself

    @property
    def size(self) -> int:
        """Number of rows, head included."""
        return len(self._rows)

    @property
    def head_text(self) -> str:
        """The first row as a person would quote it."""
        return show(self.separator.join(self.head))

    def line(self, row: int) -> int:
        """Return the line of the file on which ``row`` starts; O(size of the file)."""
        if self._lines is not None:
            return int(self._lines[row])
        before = self._data[: self._starts[self._rows[row]]]
        return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")

    def where(self, row: int) -> str:
        """Return ``file, line n``, to begin an error with."""
        return f"{self.source.path}, line {self.line(row)}"

    def fields(self, row: int) -> list[str]:
        """Return the fields of one row after the first."""
        return self._texts(np.arange(self._rows[row], self._rows[row] + self.width))

    def sample(self) -> list[list[str]]:
        """Return the fields of the first rows after the head."""
        return [self.fields(row) for row in range(1, min(self.size, 1 + _SAMPLE))]

    def factorize(
        self, columns: Sequence[int], first_row: int
    ) -> tuple[npt.NDArray[np.int64], list[str], Spans]:
        """Give the distinct values of some columns numbers in order of appearance, row by row.

        Parameters
        ----------
        columns : sequence of int
            Which columns.
        first_row : int
            0 to begin with the head, 1 to leave it out.

        Returns
        -------
        codes : ndarray of int64, shape (rows, len(columns))
            Number of each value.
        values : list of str
            The distinct values.
        rows : ndarray of int64
            The row in which each of them appears first. O(bytes) expected.
        """
        at = (self._rows[first_row:, None] + np.asarray(columns)).ravel()
        buffer = np.frombuffer(self._data, dtype=np.uint8)
        codes, first = factorize_spans(buffer, self._starts[at], self._ends[at])
        values = self._texts(at[first])
        return codes.reshape(-1, len(columns)), values, first // len(columns) + first_row

    @property
    def quoted(self) -> bool:
        """Whether there is a quote in the file."""
        return b'"' in self._data

    def _texts(self, fields: Spans) -> list[str]:
        if not len(fields):
            return []
        # The fields are copied side by side, a zero between two (the file has none), so that they
        # can be decoded and cut apart at one go.
        starts = self._starts[fields]
        lengths = self._ends[fields] - starts + 1
        shifts = starts - (np.cumsum(lengths) - lengths)
        places = np.arange(int(lengths.sum())) + np.repeat(shifts, lengths)
        joined = np.frombuffer(self._data, dtype=np.uint8)[places]
        joined[np.cumsum(lengths) - 1] = 0
        text: str = joined[:-1].tobytes().decode()
        # A quote inside a field can only be a doubled one: others were sorted out before.
        return text.replace('""', '"').split("\0")


def read_table(source: Source, *, header: bool) -> Table:
    """Find the rows and fields of a text file.

    The separator is the tab, semicolon, comma or run of blanks that cuts most of the first lines
    into equally many columns. Lines that begin with ``#`` or ``%`` are comments. Fields may be
    quoted; blanks around unquoted fields are not part of them.

    Parameters
    ----------
    source : Source
        The file.
    header : bool
        Whether the first row is known to be a header; such a file may have a single column.

    Returns
    -------
    Table
        O(bytes).

    Raises
    ------
    InputError
        If nothing but comments is there, no separator is found, or a row has more or fewer columns
        than the others.
    """
    data = source.data
    data = _without_comments(data)
    if data is not source.data and not data.strip():
        raise InputError(f"{source.path}: holds nothing but comments; a network needs edges")
    separator = _find_separator(source, data, header)
    found = _spans(data, separator)
    lines = None
    if found is None:
        data, lines = _requote(source, data, separator)
        found = _spans(data, ",")
        assert found is not None, "what the csv module wrote is well quoted"
    return _assemble(source, separator, found, lines, header)


def _without_comments(data: bytes) -> bytes:
    """Blank the comments rather than cut them out, so that places in the file stay what they are.

    Most ``#`` are parts of names: which of them begin a line is found without a search by line.
    """
    if b"#" not in data and b"%" not in data:
        return data
    buffer = np.frombuffer(data, dtype=np.uint8)
    marks = _positions(buffer, "#%")
    before = marks - 1
    blanks = np.arange(len(marks))
    while len(blanks):
        blanks = blanks[before[blanks] >= 0]
        blanks = blanks[np.isin(buffer[before[blanks]], (ord(" "), ord("\t")))]
        before[blanks] -= 1
    begins = (before < 0) | np.isin(buffer[before], (ord("\n"), ord("\r")))
    if not begins.any():
        return data
    changed = bytearray(data)
    for start in marks[begins].tolist():
        end = _LINE_END_BYTES.search(data, start)
        stop = len(data) if end is None else end.start()
        changed[start:stop] = b" " * (stop - start)
    return bytes(changed)


def _find_separator(source: Source, data: bytes, header: bool) -> str:
    sample = [line for line in _first_lines(data) if line.strip(" \t")]
    best: tuple[bool, bool, int] | None = None
    chosen = ""
    for rank, separator in enumerate(_SEPARATORS):
        counts = [_count(line, separator) for line in sample]
        usable = Counter(count for count in counts[1:] or counts if count > 1)
        if not usable:
            continue
        width, votes = usable.most_common(1)[0]
        agrees = counts[0] == width
        if header and separator == " " and not agrees:
            continue  # a single column of names with spaces in them
        merit = (2 * votes >= len(counts[1:] or counts), agrees, -rank)
        if best is None or merit > best:
            best, chosen = merit, separator
    if best is None:
        if header:
            return "\t"
        raise InputError(
            f"{source.path}: no line has two columns (the first is {show(sample[0])}); write one "
            "edge a line, the two ends separated by a comma, tab, semicolon or space"
        )
    return chosen


def _first_lines(data: bytes) -> list[str]:
    text = data[: 1 << 20].decode(errors="ignore")
    lines = [line for line in _LINE_END.split(text) if line.strip(" \t")]
    return lines[: _SAMPLE + 1]


def _count(line: str, separator: str) -> int:
    if separator == " ":
        return len(_FIELD.findall(line))
    try:
        return len(
            next(csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True))
        )
    except (csv.Error, StopIteration):
        return 0


@dataclass(frozen=True)
class _Spans:
    data: bytes
    starts: Spans
    ends: Spans
    first: Spans  # first field of each line
    counts: Spans  # number of fields of each line


def _spans(data: bytes, separator: str) -> _Spans | None:
    """Cut the text into fields; ``None`` if its quotes do not enclose whole fields."""
    data += b"\n" + bytes(PADDING)
    buffer = np.frombuffer(data, dtype=np.uint8)
    cuts = " \t\n\r" if separator == " " else f"{separator}\n\r"
    at = _positions(buffer[:-PADDING], cuts)
    quotes = _positions(buffer[:-PADDING], '"') if b'"' in data else np.empty(0, dtype=np.int64)
    if len(quotes):
        if not _well_quoted(buffer, quotes, cuts):
            return None
        at = at[np.searchsorted(quotes, at) % 2 == 0]
    starts = np.empty_like(at)
    starts[0] = 0
    starts[1:] = at[:-1] + 1
    cut = buffer[at]
    line_ends = np.flatnonzero((cut == ord("\n")) | (cut == ord("\r"))) + 1
    ends = at
    if separator == " ":
        kept = ends > starts
        line_ends = np.concatenate([[0], np.cumsum(kept)])[line_ends]
        starts, ends = starts[kept], ends[kept]
    else:
        starts, ends = _strip(buffer, starts, ends)
    if len(quotes):
        quoted = (buffer[starts] == _QUOTE) & (ends > starts)
        starts, ends = starts + quoted, ends - quoted
    first = np.concatenate([[0], line_ends[:-1]])
    return _Spans(data, starts, ends, first, line_ends - first)


def _positions(buffer: npt.NDArray[np.uint8], characters: str) -> Spans:
    """Return where the characters are; block by block, so that the work stays in the cache."""
    found = []
    for start in range(0, len(buffer), _BLOCK):
        block = buffer[start : start + _BLOCK]
        there = np.zeros(len(block), dtype=np.bool_)
        for character in characters.encode():
            there |= block == character
        found.append(np.flatnonzero(there) + start)
    return np.concatenate(found)


def _well_quoted(buffer: npt.NDArray[np.uint8], quotes: Spans, cuts: str) -> bool:
    if len(quotes) % 2:
        return False
    allowed = np.zeros(256, dtype=np.bool_)
    allowed[list((cuts + '"').encode())] = True
    opening, closing = quotes[::2], quotes[1::2]
    before = allowed[buffer[opening - 1]] | (opening == 0)
    return bool(before.all() and allowed[buffer[closing + 1]].all())


def _strip(buffer: npt.NDArray[np.uint8], starts: Spans, ends: Spans) -> tuple[Spans, Spans]:
    blank = np.zeros(256, dtype=np.bool_)
    blank[list(b" \t")] = True
    left = np.flatnonzero(blank[buffer[starts]] & (starts < ends))
    while len(left):
        starts[left] += 1
        left = left[blank[buffer[starts[left]]] & (starts[left] < ends[left])]
    right = np.flatnonzero(blank[buffer[ends - 1]] & (starts < ends))
    if len(right):
        ends = ends.copy()
    while len(right):
        ends[right] -= 1
        right = right[blank[buffer[ends[right] - 1]] & (starts[right] < ends[right])]
    return starts, ends


def _requote(source: Source, data: bytes, separator: str) -> tuple[bytes, Spans]:
    """Rewrite a file whose quotes are not all around whole fields, keeping the line of each row."""
    text = data.decode()
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    lines: list[int] = []
    if separator == " ":
        for number, line in enumerate(_LINE_END.split(text), start=1):
            if fields := _FIELD.findall(line):
                lines.append(number)
                writer.writerow([_unquote(field) for field in fields])
    else:
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True
        )
        number = 1
        try:
            for row in reader:
                if len(row) > 1 or (row and row[0].strip(" \t")):
                    lines.append(number)
                    writer.writerow([field.strip(" \t") for field in row])
                number = reader.line_num + 1
        except csv.Error as error:
            raise InputError(
                f"{source.path}, line {number}: {error}; close the quotes, or double a quote that "
                "is part of a name"
            ) from None
    return out.getvalue().encode(), np.array(lines, dtype=np.int64)


def _unquote(field: str) -> str:
    quoted = len(field) > 1 and field[0] == field[-1] == '"'
    return field[1:-1].replace('""', '"') if quoted else field


def _assemble(
    source: Source, separator: str, spans: _Spans, lines: Spans | None, header: bool
) -> Table:
    lengths = spans.ends - spans.starts
    first, counts = spans.first, spans.counts
    # A line is empty if it has no field, or one that is empty; a blank row has several of them.
    empty = counts > 0
    empty[empty] = lengths[first[empty]] == 0
    kept = (counts > 1) | ((counts == 1) & ~empty)
    doubtful = np.flatnonzero(kept & empty)
    if len(doubtful):
        bounds = np.stack([first[doubtful], first[doubtful] + counts[doubtful]], axis=1).ravel()
        filled = np.add.reduceat(np.append(lengths, 0), bounds)[::2]
        doubtful = doubtful[filled == 0]
        kept[doubtful] = False
    rows, widths = first[kept], counts[kept]
    if not len(rows):
        raise InputError(f"{source.path}: holds nothing but blank rows; a network needs edges")
    body = widths[1:] if len(rows) > 1 else widths
    votes = np.bincount(body)
    width = len(votes) - 1 - int(votes[::-1].argmax())  # of a tie, the wider
    kept_lines = np.flatnonzero(kept)
    table = Table(
        source=source,
        separator=separator,
        head=(),
        width=width,
        blank_rows=len(doubtful),
        _data=spans.data,
        _starts=spans.starts,
        _ends=spans.ends,
        _rows=rows,
        _lines=None if lines is None else lines[kept_lines],
    )
    odd = np.flatnonzero(body != width)
    if len(odd):
        row, found = int(odd[0]) + 1, int(body[odd[0]])
        columns = "1 column" if found == 1 else f"{found} columns"
        last = table._texts(rows[row : row + 1] + found - 1)[0]
        if "\n" in last or "\r" in last:
            raise InputError(
                f"{table.where(row)}: the quoted field {show(last, 40)} runs over several lines; "
                "close the quotes, or double a quote that is part of a name"
            )
        raise InputError(
            f"{table.where(row)}: {columns} where the other lines have {width} "
            f"({_NAMES[separator]}-separated); correct the line, or quote a name that holds a "
            f"{_NAMES[separator]}"
        )
    if width == 1 and not header:
        raise InputError(
            f"{table.where(len(rows) > 1)}: 1 column; an edge needs two ends, separated by a "
            "comma, tab, semicolon or space"
        )
    head = table._texts(np.arange(rows[0], rows[0] + widths[0]))
    used_width = width
    while used_width > 2 and len(rows) > 1 and not lengths[rows[1:] + used_width - 1].any():
        used_width -= 1
    while len(head) > used_width and not head[-1]:
        head.pop()
    return Table(**{**table.__dict__, "head": tuple(head), "width": used_width})
