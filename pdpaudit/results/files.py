"""Result files: written whole or not at all, sealed, read again, and their fields by kind."""

from __future__ import annotations

import codecs
import getpass
import hashlib
import json
import math
import os
import platform
import tempfile
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from dataclasses import fields as fields_of
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeGuard, TypeVar, get_args

from pdpaudit.core.errors import InputError
from pdpaudit.io.source import open_file
from pdpaudit.outputs.records import JSON

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
D = TypeVar("D", bound="DataclassInstance")

FORMAT = "pdpaudit-result/1"

#: First bytes of the marks that Excel, PowerShell and Notepad write before a text.
MARKS = (codecs.BOM_UTF8[:1], codecs.BOM_UTF16_LE[:1], codecs.BOM_UTF16_BE[:1])

#: What a result's digest is not about: what differs from one run to the next, and itself.
UNSEALED = ("elapsed_s", "written", "by", "digest")

#: Characters of a file's name that the name of its temporary file begins with.
KEPT = 40


def sealed(body: Mapping[str, object]) -> dict[str, object]:
    """Return the JSON form of a result with the digest of all that does not change from run to run.

    It shows damage and careless edits. It is no signature: whoever forges a result can seal it
    again, so ``replay`` takes nothing on its word that can be computed.
    """
    return {**body, "digest": _digest(body)}


def unchanged(body: Mapping[str, object]) -> bool | None:
    """Say whether a result is as it was when it was sealed; None where it never was."""
    return None if "digest" not in body else body["digest"] == _digest(body)


def _digest(body: Mapping[str, object]) -> str:
    kept = {key: value for key, value in body.items() if key not in UNSEALED}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def versions() -> dict[str, str]:
    """Return the versions a result depends on."""
    packages = ("pdpaudit", "numpy", "scipy", "networkx")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def user() -> str:
    """Return who runs this; empty where the system does not say."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def save(path: Path, body: Mapping[str, object]) -> None:
    """Write JSON whole or not at all."""
    text = json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_text(path, text)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all, as :func:`write_bytes` does."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{path}: cannot be written, a name in it is not valid Unicode ({error.reason}); "
            "correct the name"
        ) from None
    write_bytes(path, data)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, through a temporary file beside it.

    A link is followed, and who may read a file that was there stays; a pipe or device is written to
    as it is, for it cannot be replaced.
    """
    temporary = None
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            path.write_bytes(data)
            return
        real = Path(os.path.realpath(path))  # Path.resolve fails at links that lead in a circle
        handle, temporary = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name[:KEPT]}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, real.stat().st_mode & 0o777 if real.is_file() else 0o666 & ~mask)
        os.replace(temporary, real)
        temporary = None
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror}); choose another path"
        ) from None
    finally:
        if temporary is not None:
            os.unlink(temporary)


def load(path: Path) -> JSON:
    """Read the JSON form of a result.

    Raises
    ------
    InputError
        If the file is missing, is not JSON, or is not a result of this format.
    """
    try:
        with open_file(path) as file:
            start = file.read(1)
            # What begins as no text does is not read on; a mark of UTF-8 or UTF-16 is a beginning.
            text = start in MARKS or (start.isascii() and start > b"\0")
            body = json.loads(start + file.read() if text else b"")
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; name a result file in it") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; check the path") from None
    except (ValueError, RecursionError):  # bad encoding, bad syntax, endless numbers or nesting
        raise InputError(f"{path}: not JSON; give the file of a result") from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise InputError(f"{path}: not a {FORMAT} file; give the file of a result")
    return body


def plain_fields(body: Mapping[str, object]) -> dict[str, object]:
    """Return an object of JSON; what is not finite becomes a string."""
    return {str(key): plain(item) for key, item in body.items()}


def plain(value: object) -> object:
    """Turn numpy scalars, tuples and non-finite floats into what JSON has."""
    if isinstance(value, Mapping):
        return plain_fields(value)
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, Set):
        # Strings hash anew in each process, so a set's own order would differ between two runs.
        return [plain(item) for item in sorted(value, key=repr)]
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


# Fields asked for by kind

Status = Literal["violated", "error", "inconclusive", "not_rejected", "certified", "skipped"]

#: From the worst down.
SEVERITY: tuple[Status, ...] = get_args(Status)

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
            known = math.nan if value is None else value
            if not (known in NOT_FINITE or is_number(known)):
                raise self.fail(key, "a list of numbers")
            found.append(float(known))
        return tuple(found)

    def rows(self, key: str, width: int) -> tuple[tuple[float, ...], ...]:
        """Return a list of rows of ``width`` finite numbers."""
        found = []
        for row in self.listed(key):
            known = row if isinstance(row, list) and len(row) == width else [None]
            if not all(is_number(value) and math.isfinite(value) for value in known):
                raise self.fail(key, f"a list of rows of {width} numbers")
            found.append(tuple(map(float, known)))
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
        known = value if isinstance(value, list | tuple) else [None] * (value is not None)
        if not all(isinstance(item, Mapping) for item in known):
            raise self.fail(key, "a list of objects")
        places = (f"{self.place}{key}[{i}]." for i in range(len(known)))
        return [Fields(item, self.file, at) for item, at in zip(known, places, strict=True)]

    def status(self, key: str = "status") -> Status:
        """Return the status of a claim or a check."""
        value = self.body.get(key)
        if value not in SEVERITY:
            raise self.fail(key, "one of " + ", ".join(SEVERITY))
        return value

    def make(self, kind: type[D], /, **known: object) -> D:
        """Return a dataclass whose fields are asked for by their annotations, if not known."""
        notes = {one.name: str(one.type) for one in fields_of(kind) if one.name not in known}
        return kind(**known, **{name: BY_KIND[note](self, name) for name, note in notes.items()})

    def optional(self, key: str, kind: type[D]) -> D | None:
        """Return what is made of an object within; None where there is none."""
        inner = self.inner(key)
        return inner.make(kind) if inner.body else None


#: How a field of a dataclass is asked for, by its annotation.
BY_KIND: dict[str, Callable[[Fields, str], object]] = {
    "str": Fields.text,
    "int": Fields.count,
    "float": lambda fields, key: fields.required(key, fields.number(key)),
    "float | None": Fields.number,
    "bool | None": lambda fields, key: True if fields.body.get(key) is True else None,
    "tuple[int, ...] | None": lambda one, key: one.wholes(key) if key in one.body else None,
    "Status": Fields.status,
}


def _with_infinities(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _with_infinities(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_infinities(item) for item in value]
    return float(value) if value in NOT_FINITE else value
