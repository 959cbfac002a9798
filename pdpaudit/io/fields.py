"""Fields and their columns: names that say what they hold, missing values, whole numbers, times."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from operator import ne
from unicodedata import is_normalized, normalize

import numpy as np
import numpy.typing as npt
import pandas as pd

from pdpaudit.core.errors import InputError

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
        found = {
            (form.index(one), form.index(other))
            for one, other in _PAIRS
            if form.count(one) == form.count(other) == 1
        }
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


def times_of(values: Sequence[str], place: str) -> npt.NDArray[np.float64]:
    """Return times as numbers: as they are, or dates as seconds; missing ones as NaN."""
    texts = pd.Series([None if is_missing(value) else value for value in values], dtype=object)
    numbers: npt.NDArray[np.float64] = pd.to_numeric(texts, errors="coerce").to_numpy(np.float64)
    given = texts.notna().to_numpy()
    if not np.isnan(numbers[given]).any():
        return numbers
    dates = pd.to_datetime(texts, errors="coerce", format="ISO8601", utc=True)
    wrong = given & dates.isna().to_numpy()
    if wrong.any():
        raise InputError(
            f"{place}: {values[int(np.flatnonzero(wrong)[0])]!r} is neither a number nor a date "
            "like 2020-03-01; correct it, or name another column with `time_column`"
        )
    seconds = (dates - pd.Timestamp("1970-01-01", tz="UTC")) / pd.Timedelta(seconds=1)
    return np.asarray(seconds.to_numpy(np.float64))
