"""A file's bytes as text, unpacked by what they are and not by its name; and what a field says."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import select
import stat
import zipfile
import zlib
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import ne
from pathlib import Path
from typing import BinaryIO
from unicodedata import is_normalized, normalize

from pdpaudit.core.errors import InputError

_PACKED = "unpack it, or pack it with gzip"
_OFFICE = "unpack it, pack it with gzip, or save the table in it as CSV"
# What is no text, by its first bytes: what it is, and what to do instead.
_FOREIGN = {
    b"PK\x03\x04": ("a zip archive or office document", _OFFICE),
    b"BZh": ("packed with bzip2", _PACKED),
    b"\xfd7zXZ\x00": ("packed with xz", _PACKED),
    b"\x28\xb5\x2f\xfd": ("packed with zstd", _PACKED),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", _PACKED),
    **dict.fromkeys((b"RDX2\n", b"RDX3\n", b"X\n\0\0"), ("an R data file", "R's write.csv")),
    **dict.fromkeys((*(bytes([0x80, n]) for n in range(2, 6)), b"ccopy_reg\n"),
       ("a Python pickle, which could run code", "networkx.write_graphml")),
    **dict.fromkeys((b">>graph6<<", b">>sparse6<<"), ("a graph6 file", "networkx.write_graphml")),
    "⛾ gt".encode(): ("a graph-tool file", "graph-tool's save to GraphML"),
    b"\x89HDF": ("an HDF5 file", "a table as CSV"),
    b"PAR1": ("a Parquet file", "pandas' to_csv"),
    b"SQLite format 3": ("a SQLite database", "a query's result as CSV"),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", "the sheet as CSV or .xlsx"),
    b"\x93NUMPY": ("a numpy array", "numpy.savetxt"),
    b"%PDF": ("a PDF document", "the table in it as CSV"),
    b"$FL2": ("an SPSS file", "a table as CSV"),
}  # fmt: skip
_DECLARED = re.compile(rb"<\?xml[^>]*encoding=[\"']([A-Za-z0-9_-]+)[\"']")
_CODED = re.compile(r"(iso-?8859-?\d+|windows-?125\d|koi8-?[ru]|gbk?\d*|big5|shift_jis|euc-\w+)")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Control characters no text editor writes; tab, line ends, form feed and escape are left out.
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
_BLOCK = 1 << 24
_GZIP = b"\x1f\x8b"
# Bytes that are looked at before the rest is read.
_START = 1 << 16
# Edge lists are packed to a third or a tenth, by gzip to a thousandth at most; what is below the
# small size is unpacked anyway.
_DENSEST, _SMALL = 100, 1 << 25


def show(text: str, limit: int = 80) -> str:
    """Return ``text`` quoted on one line, cut to ``limit`` characters."""
    return repr(text if len(text) <= limit else text[:limit] + "…")


@dataclass(frozen=True)
class Source:
    """What a file says: its text in UTF-8, without byte order mark."""

    path: Path
    data: bytes
    notes: tuple[str, ...] = ()


def read_source(path: Path) -> Source:
    """Read a text file, gzipped or not, or the first sheet of a workbook.

    Text is UTF-8, UTF-16 with its mark, what XML declares, or else Windows-1252.
    """
    try:
        with open_file(path) as file:
            start = file.read(_START)
            workbook = start.startswith(b"PK\x03\x04") and path.suffix.lower() == ".xlsx"
            if not workbook:
                _require_text(path, start)
            data = start + file.read()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory; name one of the files in it") from None
    except PermissionError:
        raise InputError(f"{path}: not readable; check its permissions") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    if workbook:
        return _read_workbook(path, data)
    while data.startswith(_GZIP):
        data = _gunzip(path, data)
        _require_text(path, data[:_START])
    data, notes = _as_utf8(path, data)
    if not data.strip():
        raise InputError(f"{path}: is empty; give a file with at least one row")
    return Source(path, data, notes)


def _read_workbook(path: Path, data: bytes) -> Source:
    """Return the first sheet of an Excel workbook as a table."""
    import pandas as pd

    try:
        sheets = pd.read_excel(io.BytesIO(data), sheet_name=None, header=None, dtype=str)
    except ImportError:
        raise InputError(
            f"{path}: reading .xlsx needs openpyxl (pip install openpyxl); or save the sheet as CSV"
        ) from None
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: damaged workbook ({error}); save the sheet as CSV") from None
    name, sheet = next((item for item in sheets.items() if len(item[1])), ("", pd.DataFrame()))
    if not len(sheet):
        raise InputError(f"{path}: is empty; give a file with at least one row")
    text = sheet.fillna("").to_csv(index=False, header=False)
    return Source(path, text.encode(), (f"{path}: sheet {name!r} of {len(sheets)} is read",))


def _require_text(path: Path, start: bytes) -> None:
    """Refuse a file by its first bytes, before the rest takes room."""
    for magic, (what, way) in _FOREIGN.items():
        if start.startswith(magic):
            way = way if way in (_PACKED, _OFFICE) else f"write it as text: {way}"
            raise InputError(f"{path}: is {what}, which is not read; {way}")
    zero = start.find(0)
    if zero >= 0 and not start.startswith((_GZIP, *_UTF16)):
        raise InputError(f"{path}: is not text (byte {zero} is zero); give a text file in UTF-8")


def _gunzip(path: Path, data: bytes) -> bytes:
    """Unpack block by block, no further than text can have been packed."""
    packed, size, parts = io.BytesIO(data), 0, []
    try:
        with gzip.GzipFile(fileobj=packed) as file:
            while part := file.read(_BLOCK):
                parts.append(part)
                size += len(part)
                if size > max(_SMALL, _DENSEST * packed.tell()):
                    raise InputError(
                        f"{path}: unpacks to over {_DENSEST} times its size, as no network does; "
                        "unpack it to see what it holds"
                    )
        return b"".join(parts)
    except EOFError:
        raise InputError(f"{path}: the gzip data end too early; copy the file again") from None
    except (OSError, zlib.error) as error:
        raise InputError(f"{path}: damaged gzip data ({error}); copy the file again") from None


def _as_utf8(path: Path, data: bytes) -> tuple[bytes, tuple[str, ...]]:
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    elif data.startswith(_UTF16):
        try:
            return data.decode("utf-16").encode(), ()
        except UnicodeError as error:
            raise InputError(f"{path}: damaged UTF-16 text ({error}); save it as UTF-8") from None
    zero = data.find(0)
    if zero >= 0:
        raise InputError(f"{path}: is not text (byte {zero} is zero); give a text file in UTF-8")
    with suppress(UnicodeDecodeError):
        data.decode()
        return data, ()
    declared = _DECLARED.match(data)
    if declared and _CODED.fullmatch(declared[1].decode().lower()):
        try:
            return data.decode(declared[1].decode()).encode(), ()
        except (UnicodeError, LookupError):
            raise InputError(
                f"{path}: is not {declared[1].decode()}, as it declares; save it as UTF-8"
            ) from None
    if data.translate(None, _CONTROLS) != data:
        raise InputError(f"{path}: is not text (control bytes, not UTF-8); give a text file")
    try:
        text = data.decode("cp1252")
    except UnicodeError:
        raise InputError(
            f"{path}: is neither UTF-8 nor Windows-1252 text; save it as UTF-8"
        ) from None
    return text.encode(), (f"{path} is not UTF-8: read as Windows-1252 (Latin-1)",)


#: Seconds that the writer of a pipe is waited for.
PATIENCE_S = 0.5


def open_file(path: Path) -> BinaryIO:
    """Open a file, or a pipe with a writer such as ``<(zcat FILE)``, to read its bytes."""
    # Opening a pipe waits for a writer, which may never come.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(21, "Is a directory")
        if stat.S_ISFIFO(mode):
            _await_writer(path, handle)
        elif not stat.S_ISREG(mode):
            raise InputError(f"{path}: is a device, which never ends; give a file")
        with suppress(AttributeError):  # Windows has no such mode
            os.set_blocking(handle, True)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _await_writer(path: Path, handle: int) -> None:
    """Refuse a pipe that has no writer, or one that is silent."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    if not any(event & select.POLLIN for _, event in waiting.poll(1000 * PATIENCE_S)):
        raise InputError(f"{path}: is a pipe into which nothing is written; give a file")


# What a field says


_PAIRS = [
    *(("source", "target"), ("from", "to"), ("src", "dst"), ("src", "dest")),
    *(("source", "destination"), ("sender", "receiver"), ("sender", "recipient")),
    *(("ego", "alter"), ("infector", "infectee"), ("case", "contact"), ("caller", "callee")),
    *(("start", "end"), ("startid", "endid"), ("i", "j"), ("u", "v"), ("head", "tail")),
    *(("infector", "case"), ("infector", "id"), ("infectedby", "case"), ("infectedby", "id")),
    *(("sourceperson", "contact"), ("source", "contact"), ("anumber", "bnumber")),
    *(("parent", "child"), ("follower", "followee"), ("follower", "followed"), ("giver", "taker")),
    *((f"{what}{i}", f"{what}{j}") for what in ("node", "vertex", "id", "person", "name", "actor")
      for i, j in ("12", "ab", "ij")),
    *((f"{what}{i}", f"{what}{j}") for what in ("author", "user", "member", "individual", "contact",
      "case", "v", "n") for i, j in ("12", "ab", "ij")),
]  # fmt: skip
WEIGHTS = ("weight", "weights", "w", "count", "value", "strength", "frequency", "n")
TIMES = ("time", "timestamp", "t", "date", "datetime", "contactdate", "contacttime", "day")
IDS = ("id", "caseid", "personid", "nodeid", "vertexid", "participantid", "subjectid", "patientid")
INDEX = ("", "unnamed0", "index", "rowname", "rownames", "rowid", "row", "x", "rownumber")
_SUFFIX = re.compile(r"(?<=.)(nodeid|vertexid|node|vertex|uid|id|name|label)$")
_NEO4J = re.compile(r"^(?P<name>.*?):(?P<kind>[A-Za-z_]+)(\[\])?(\(.*\))?$")
_NEO4J_KINDS = ("int", "long", "float", "double", "boolean", "byte", "short", "char", "string")


def normal(name: str) -> str:
    """Return a column's name in lower case without marks, and without Neo4j's types."""
    typed = _NEO4J.match(name)
    if typed:
        kind = typed["kind"]
        if kind.upper() in ("ID", "START_ID", "END_ID", "LABEL", "TYPE"):
            name = kind
        elif kind.lower() in _NEO4J_KINDS:
            name = typed["name"]
    return re.sub(r"[\W_]+", "", name.lower())


def named_ends(head: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of columns that their names say are the two ends."""
    names = [normal(name) for name in head]
    for form in (names, [_SUFFIX.sub("", name) for name in names]):
        once = ((a, b) for a, b in _PAIRS if form.count(a) == form.count(b) == 1)
        found = {(form.index(one), form.index(other)) for one, other in once}
        if found:
            return sorted(found)
    return []


def names_columns(head: Sequence[str]) -> bool:
    """Whether a row names the columns of ties or of people."""
    names = [normal(name) for name in head]
    return bool(named_ends(head)) or any(known in names for known in IDS)


# What spreadsheets, R, pandas, Stata, SAS and databases write where there is nothing.
_GAPS = [
    *("na", "n/a", "n.a.", "nan", "none", "null", "<na>", "(null)", "[null]", "\\n"),
    *("-", "--", "---", "#n/a", "#ref!", "#value!", "#name?", "#div/0!", "#null!", "#num!"),
]
_MISSING = frozenset(
    ["", "NaN", "NaT", *(form(word) for word in _GAPS for form in (str, str.upper, str.capitalize))]
)
#: The same for an end, where whoever is not known is nobody.
NOBODY = _MISSING | {form("unknown") for form in (str, str.upper, str.capitalize)}
_WHOLE = re.compile(r"([+-]?\d+)(\.0+|,0)", re.ASCII)
_ROUNDED = re.compile(r"\d\.\d{5}E\+\d{2}", re.ASCII)  # as Excel shows more than 11 digits
# Blanks that do not break, and characters without width.
_SEEN = dict.fromkeys((0xA0, 0x2007, 0x202F), " ") | dict.fromkeys((0x200B, 0x2060, 0xFEFF), "")
_UNSEEN = re.compile("[" + "".join(map(chr, _SEEN)) + "]")
_POWER = re.compile(r"\d+(\.\d+)?[eE]\+?\d{1,2}", re.ASCII)
_A_POWER = re.compile(rf"^{_POWER.pattern}$", re.ASCII | re.MULTILINE)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE]\+?\d{1,2})?", re.ASCII)


def is_missing(text: str) -> bool:
    """Whether a field stands for nothing, or for nobody."""
    return text.strip() in NOBODY


def gaps(texts: Sequence[str], words: Collection[str] = _MISSING) -> list[bool]:
    """Return which fields stand for nothing; a point does among numbers, as in Stata and SAS."""
    if "." in texts and all(
        text == "." or text in words or _NUMBER.fullmatch(text) for text in texts
    ):
        words = {*words, "."}
    return [text.strip() in words for text in texts]


def whole(text: str) -> str:
    """Return ``2.0`` as ``2``, as a gap in a column of whole numbers makes of it."""
    found = _WHOLE.fullmatch(text) if text.endswith("0") else None
    return found[1] if found else text


def folded(names: Sequence[str]) -> list[str]:
    """Return names without case, leading zeros and repeated blanks."""
    text = "\n".join(names).casefold()  # at once, for there may be a million
    if "  " in text:
        text = re.sub(" +", " ", text)
    if text.startswith("0") or "\n0" in text:
        text = re.sub("^0+(?=.)", "", text, flags=re.MULTILINE)
    return text.split("\n") if names else []


def unify(names: Sequence[str], place: str) -> tuple[list[str], list[str]]:
    """Return names with what is one person's in one form, and what is to be said about that.

    ``1e+05`` is a whole number only where all names are numbers: elsewhere it may be a code.
    """
    text = "\n".join(names)  # searched at once, for there may be a million
    said: list[str] = []
    found = list(names)
    if not text.isascii() and (_UNSEEN.search(text) or not is_normalized("NFC", text)):
        found = [normalize("NFC", name.translate(_SEEN)).strip() for name in names]
        said = [
            f"{place}: names are read without characters that cannot be seen, accents in one form"
        ]
    if ".0" in text or ",0" in text:
        found = [whole(name) for name in found]
    if (
        _A_POWER.search(text)
        and any(map(_POWER.fullmatch, found))
        and all(_NUMBER.fullmatch(name) or is_missing(name) for name in found)
    ):
        rounded = next(filter(_ROUNDED.fullmatch, found), None)
        if rounded is not None:
            raise InputError(
                f"{place}: ids like {rounded} have lost their last digits in a spreadsheet; format "
                "the column as text there and export it again"
            )
        found = [
            str(int(float(name))) if _POWER.fullmatch(name) and float(name).is_integer() else name
            for name in found
        ]
    changed = sum(map(ne, names, found))
    if changed and not said:
        said = [f"{place}: {changed:,} whole numbers written like 2.0 are read as 2"]
    return found, said
