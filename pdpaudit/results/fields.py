"""JSON objects whose fields are asked for by kind, so that a wrong one is named."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeGuard, TypeVar

from pdpaudit.core.errors import InputError
from pdpaudit.outputs.records import JSON

T = TypeVar("T")

Status = Literal["violated", "error", "inconclusive", "not_rejected", "certified", "skipped"]

#: From the worst down.
SEVERITY: tuple[Status, ...] = (
    "violated",
    "error",
    "inconclusive",
    "not_rejected",
    "certified",
    "skipped",
)

#: The one vocabulary of statuses.
STATUS_WORDS: dict[Status, str] = {status: status.replace("_", " ") for status in SEVERITY}

#: How numbers that are not finite are written.
NOT_FINITE = ("inf", "-inf", "nan")


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a piece of JSON is a number that can be computed with."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, float) or abs(value) < 10**300


def whole(value: object) -> int:
    """Return a whole number of a result; anything else is no number of a vertex."""
    if type(value) is not int:
        raise TypeError(f"{value!r} is no whole number")
    return value


def given(**fields: object) -> dict[str, object]:
    """Return the fields that are not None, in their order."""
    return {key: value for key, value in fields.items() if value is not None}


@dataclass(frozen=True)
class Fields:
    """A JSON object whose fields are asked for by kind."""

    body: Mapping[str, object]
    file: str
    place: str

    def fail(self, key: str, kind: str) -> InputError:
        """Return the error that says what a field is, and what it should be."""
        shown = repr(self.body.get(key))
        shown = shown if len(shown) <= 40 else shown[:40] + "…"
        return InputError(
            f"{self.file}: {self.place}{key} is {shown}, not {kind}; write the file again"
        )

    def text(self, key: str) -> str:
        """Return a text; empty where there is none."""
        value = self.body.get(key, "")
        if not isinstance(value, str):
            raise self.fail(key, "text")
        return value

    def name(self, key: str) -> str:
        """Return a text that is not empty."""
        value = self.text(key)
        if not value:
            raise self.fail(key, "a text")
        return value

    def texts(self, key: str, length: int | None = None) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self.listed(key, length)
        if not all(isinstance(item, str) for item in value):
            raise self.fail(key, "a list of texts")
        return tuple(map(str, value))

    def number(self, key: str) -> float | None:
        """Return a number; what is not finite is a string in JSON."""
        value = self.body.get(key)
        if value is None or value == "nan":
            return None
        if value in ("inf", "-inf"):
            return float(value)
        if not is_number(value):
            raise self.fail(key, "a number")
        return None if math.isnan(value) else float(value)

    def with_infinities(self, key: str) -> object:
        """Return a number or many, with what is not finite as a number again."""
        return _with_infinities(self.body.get(key))

    def share(self, key: str) -> float | None:
        """Return a probability, None where there is none; rounding may leave it just above 1."""
        value = self.number(key) if key in self.body else None
        if key in self.body and (value is None or not 0 <= value <= 1 + 1e-9):
            raise self.fail(key, "a probability")
        return None if value is None else min(value, 1.0)

    def required(self, key: str, value: T | None) -> T:
        """Return a value that must not be missing."""
        if value is None:
            raise self.fail(key, "there")
        return value

    def read(self, key: str, kind: str, form: Callable[[JSON], T]) -> T:
        """Return what a function makes of an object, which fails as it likes if it is none."""
        body = self.mapping(key)
        try:
            return form(body)
        except Exception:  # whatever a field that was tampered with leads to
            raise self.fail(key, kind) from None

    def seconds(self, key: str) -> float:
        """Return a length of time; 0 where there is none."""
        value = self.number(key) or 0.0
        if not 0 <= value < math.inf:
            raise self.fail(key, "a number of seconds")
        return value

    def whole(self, key: str) -> int:
        """Return a whole number."""
        value = self.body.get(key)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.fail(key, "a whole number")
        return value

    def count(self, key: str) -> int:
        """Return a whole number that is not below 0."""
        value = self.whole(key)
        if not 0 <= value < 10**15:
            raise self.fail(key, "a count")
        return value

    def wholes(self, key: str) -> tuple[int, ...]:
        """Return a list of whole numbers."""
        value = self.listed(key)
        if not all(type(one) is int for one in value):
            raise self.fail(key, "a list of whole numbers")
        return tuple(map(whole, value))

    def listed(self, key: str, length: int | None = None) -> list[object]:
        """Return a list, of a certain length if one is given; empty where there is none."""
        value = self.body.get(key)
        value = [] if value is None else value
        if not isinstance(value, list) or length not in (None, len(value)):
            raise self.fail(key, "a list" if length is None else f"a list of {length} entries")
        return value

    def numbers(self, key: str, length: int | None = None) -> tuple[float, ...]:
        """Return a list of numbers, nan where one is missing."""
        found = []
        for value in self.listed(key, length):
            if value in NOT_FINITE:
                found.append(float(value))
            elif value is None:
                found.append(math.nan)
            elif is_number(value):
                found.append(float(value))
            else:
                raise self.fail(key, "a list of numbers")
        return tuple(found)

    def rows(self, key: str, width: int) -> tuple[tuple[float, ...], ...]:
        """Return a list of rows of ``width`` finite numbers."""
        found = []
        for row in self.listed(key):
            if not isinstance(row, list) or len(row) != width:
                raise self.fail(key, f"a list of rows of {width} numbers")
            if not all(is_number(value) and math.isfinite(value) for value in row):
                raise self.fail(key, f"a list of rows of {width} numbers")
            found.append(tuple(map(float, row)))
        return tuple(found)

    def flags(self, key: str, length: int) -> tuple[bool, ...]:
        """Return a list of yes and no."""
        value = self.listed(key, length)
        if not all(isinstance(item, bool) for item in value):
            raise self.fail(key, "a list of true and false")
        return tuple(item is True for item in value)

    def mapping(self, key: str) -> dict[str, object]:
        """Return an object; an empty one where there is none."""
        value = self.body.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise self.fail(key, "an object")
        return dict(value)

    def inner(self, key: str) -> Fields:
        """Return the fields of an object within."""
        return Fields(self.mapping(key), self.file, f"{self.place}{key}.")

    def records(self, key: str) -> list[Fields]:
        """Return the fields of each of a list of objects."""
        value = self.body.get(key)
        value = () if value is None else value
        if not isinstance(value, list | tuple):
            raise self.fail(key, "a list of objects")
        found = []
        for i, item in enumerate(value):
            if not isinstance(item, Mapping):
                raise self.fail(key, "a list of objects")
            found.append(Fields(item, self.file, f"{self.place}{key}[{i}]."))
        return found

    def status(self) -> Status:
        """Return the status of a claim or a check."""
        value = self.body.get("status")
        if value not in SEVERITY:
            raise self.fail("status", "one of " + ", ".join(SEVERITY))
        return value


def _with_infinities(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _with_infinities(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_infinities(item) for item in value]
    return float(value) if value in NOT_FINITE else value
