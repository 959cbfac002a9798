"""Where two runs with the same random stream first differ, on the two inputs of a pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from pdpaudit.results.fields import Fields

__all__ = ["Difference", "FirstDifference", "Kind"]

#: What differs: which statement comes next, a random draw or an oracle call, a value, the output.
Kind = Literal["line", "draw", "oracle", "value", "output"]

#: Runs that are compared at most.
MOST_RUNS = 10_000


@dataclass(frozen=True)
class Difference:
    """A statement where runs differ, in how many of them; ``ours`` is where the event is likelier.

    ``code`` is the statement's first line, ``ours`` and ``theirs`` are texts of what differs.
    """

    kind: Kind
    file: str
    line: int
    code: str
    runs: int
    ours: str = ""
    theirs: str = ""

    @classmethod
    def from_json(cls, fields: Fields) -> Difference:
        """Return the difference of a JSON form, every field looked at."""
        kind = fields.text("kind")
        if kind not in get_args(Kind):
            raise fields.fail("kind", f"one of {', '.join(get_args(Kind))}")
        texts = {key: fields.text(key) for key in ("file", "code", "ours", "theirs")}
        return cls(kind=kind, line=fields.count("line"), runs=fields.count("runs"), **texts)  # type: ignore[arg-type]


@dataclass(frozen=True)
class FirstDifference:
    """The places where runs differ, first the one that explains most; none where nothing does."""

    runs: int
    places: tuple[Difference, ...] = ()

    @classmethod
    def from_json(cls, fields: Fields) -> FirstDifference:
        """Return the object of a JSON form, every field looked at."""
        runs = fields.count("runs")
        if not 0 < runs <= MOST_RUNS:
            raise fields.fail("runs", f"a count of at most {MOST_RUNS:,}")
        return cls(runs, tuple(map(Difference.from_json, fields.records("places"))))
