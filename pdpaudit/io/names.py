"""What columns are called: the names that say which are the ends, ids, weights and times."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["IDS", "INDEX", "TIMES", "WEIGHTS", "named_ends", "names_columns", "normal"]

_PAIRS = [
    *(("source", "target"), ("from", "to"), ("src", "dst"), ("src", "dest")),
    *(("source", "destination"), ("sender", "receiver"), ("sender", "recipient")),
    *(("ego", "alter"), ("infector", "infectee"), ("case", "contact"), ("caller", "callee")),
    *(("start", "end"), ("startid", "endid"), ("i", "j"), ("u", "v"), ("head", "tail")),
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
_SUFFIX = re.compile(r"(?<=.)(nodeid|vertexid|node|vertex|id|name|label)$")
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
