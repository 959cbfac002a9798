"""Counts kept on disk, some chunks at a time, so that a run that was killed goes on where it was.

A chunk's outputs depend on its stream alone, so a run that takes some chunks from the store and
draws the others gives what an uninterrupted run gives. The store is one SQLite file with a rollback
journal: whatever kills the process, what was committed is there and the rest is not. Outputs are
written down exactly and without pickling, as bytes that hold no code.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import sqlite3
import struct
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from typing import Generic, TypeVar

import joblib
import numpy as np

from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.io.source import open_file
from pdpaudit.outputs import Unreadable, flatten

#: Fast, and outputs repeat a lot.
LEVEL = 1

#: Bytes that a chunk's outputs take at most, written down.
MOST = 1 << 30

#: Bytes that are not worth setting up a compressor.
SHORT = 4096

WRITER = json.JSONEncoder(separators=(",", ":"))

AS_THEY_ARE = {int, bool, type(None)}

#: Two of these would be read back as one character.
SURROGATE = re.compile("[\ud800-\udfff]")


def as_text(value: object) -> str:
    """Write a value down as ASCII text, which :func:`decode` reads too."""
    return WRITER.encode(_tagged(value))


def encode(value: object) -> bytes:
    """Write a value down so that :func:`decode` returns its equal."""
    text = as_text(value).encode("ascii")
    return text if len(text) < SHORT else zlib.compress(text, LEVEL)


def decode(written: bytes) -> object:
    """Return the value that was written down."""
    try:
        # No JSON begins like a compressed stream, with an "x".
        text = _inflated(written) if written[:1] == b"x" else written
        return _plain(json.loads(text))
    except (zlib.error, LookupError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"not written by encode: {error}") from None


def _inflated(written: bytes) -> bytes:
    """Decompress no more than a chunk can hold: a few bytes may stand for all of the memory."""
    stream = zlib.decompressobj()
    text = stream.decompress(written, MOST)
    if not stream.eof:
        raise ValueError("it is cut off, or endless")
    return text


def _tagged(value: object) -> object:
    """Return a value as JSON knows it: a list is a tuple, an object is anything else, by tag."""
    kind = type(value)
    if kind in AS_THEY_ARE:  # nearly everything: every vertex of every output comes by here
        return value
    if type(value) is tuple:
        return [item if type(item) in AS_THEY_ARE else _tagged(item) for item in value]
    if isinstance(value, str):
        text = str(value)
        if text.isascii() or not SURROGATE.search(text):
            return text
        return {"text": text.encode("utf-8", "surrogatepass").hex()}
    if isinstance(value, np.generic) and not isinstance(value, np.longdouble | np.clongdouble):
        return _tagged(value.item())
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, tuple):
        return [_tagged(item) for item in value]
    if isinstance(value, list):
        return {"list": [_tagged(item) for item in value]}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, frozenset):
        return {"set": sorted((_tagged(item) for item in value), key=repr)}
    if isinstance(value, dict):
        return {"counter" if kind is Counter else "dict": _items(value)}
    if isinstance(value, complex):
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        raw = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return {"array": [value.dtype.str, list(value.shape), raw]}
    raise TypeError(f"a {type(value).__name__} cannot be written down")


def _items(value: dict[object, object]) -> list[list[object]]:
    """Return keys and items in an order that does not depend on when they came."""
    items = [[_tagged(key), _tagged(item)] for key, item in value.items()]
    return sorted(items, key=lambda item: repr(item[0]))


def _plain(coded: object) -> object:
    if isinstance(coded, list):
        return tuple(_plain(item) for item in coded)
    if isinstance(coded, dict):
        ((tag, body),) = coded.items()
        return _read(tag, body)
    return coded


def _read(tag: str, body: object) -> object:
    """Return the value that stands under a tag."""
    match tag, body:
        case "float", str():
            return float.fromhex(body)
        case "list", list():
            return [_plain(item) for item in body]
        case "set", list():
            return frozenset(_plain(item) for item in body)
        case "dict", list():
            return {_plain(key): _plain(item) for key, item in body}
        case "counter", list():
            return Counter({_plain(key): int(item) for key, item in body})
        case "text", str():
            return bytes.fromhex(body).decode("utf-8", "surrogatepass")
        case "bytes", str():
            return base64.b64decode(body)
        case "complex", [str(real), str(imaginary)]:
            return complex(float.fromhex(real), float.fromhex(imaginary))
        case "array", [str(dtype), list(shape), str(raw)] if np.dtype(dtype).kind in "biuf":
            return np.frombuffer(base64.b64decode(raw), dtype).reshape(shape).copy()
    raise ValueError(f"nothing is written as {tag!r}")


T = TypeVar("T")

#: "pdpa", in the header of every store, so that no other SQLite file is taken for one.
APPLICATION = 0x70647061

#: Of the tables and of how outputs are written down.
FORMAT = 2

#: Seconds of work that a kill may cost, on a disk that is quick, and on any: a commit waits for the
#: disk, so there is not one a chunk, and they take no more than that share of the time.
COMMIT_S, COMMIT_MOST_S, COMMIT_SHARE = 1.0, 10.0, 1 / 300

#: Bytes that wait for a commit at most.
COMMIT_BYTES = 32 << 20

#: Seconds to wait for another process that writes to the same store.
BUSY_S = 60.0

#: Characters of a file's name that the name of its temporary file begins with.
KEPT = 40

MAGIC = b"SQLite format 3\x00"

SCHEMA = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE chunks (
    stream BLOB NOT NULL, chunk INTEGER NOT NULL, runs INTEGER NOT NULL,
    outputs BLOB NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (stream, chunk, runs)
);
"""


class Store:
    """A file of finished chunks, for one set of settings."""

    def __init__(self, path: Path, settings: Mapping[str, str]) -> None:
        self.path = Path(path)
        self.found = self.added = 0
        self._settings = hashlib.sha256(json.dumps(dict(settings), sort_keys=True).encode())
        self._waiting: list[tuple[bytes, int, int, bytes, bytes]] = []
        self._bytes = 0
        self._committed, self._pause = time.monotonic(), COMMIT_S
        with self._explained():
            if not self.path.exists():
                self._make(settings)
        self._look()
        with self._explained():
            uri = f"{Path(os.path.realpath(self.path)).as_uri()}?mode=rw"
            self._base = sqlite3.connect(uri, uri=True, timeout=BUSY_S, isolation_level=None)
        try:
            with self._explained():
                self._base.execute("PRAGMA trusted_schema = OFF")
                self._base.execute("PRAGMA synchronous = EXTRA")
                self._check(settings)
        except BaseException:
            self._base.close()
            raise

    def __enter__(self) -> Store:
        """Return the store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Commit what waits, whatever happened, and close."""
        try:
            self.commit()
        finally:
            self._base.close()

    def kept(
        self,
        kind: type[T],
        key: Sequence[str | int],
        seed: int,
        instance: object,
        event: object = None,
    ) -> Kept[T]:
        """Return the chunks of one stream on one instance."""
        digest, prints = self._settings.copy(), map(self._fingerprint, (instance, event))
        digest.update(encode((kind.__name__, seed, tuple(key), *prints)))
        return Kept(self, kind, digest.digest())

    def commit(self) -> None:
        """Write to disk what waits; returns when it is there."""
        self._committed = began = time.monotonic()
        if not self._waiting:
            return
        with self._explained(), self._transaction():
            # Another process may have drawn the same chunk, which is the same to the last bit.
            query = "INSERT OR IGNORE INTO chunks VALUES (?, ?, ?, ?, ?)"
            self._base.executemany(query, self._waiting)
        self._waiting, self._bytes = [], 0
        self._committed = time.monotonic()
        took = self._committed - began
        self._pause = min(max(COMMIT_S, took / COMMIT_SHARE), COMMIT_MOST_S)

    def chunks(self, stream: bytes) -> set[tuple[int, int]]:
        """Return number and runs of what was kept of a stream; more runs are of several chunks."""
        with self._explained():
            query = "SELECT chunk, runs FROM chunks WHERE stream = ?"
            rows = self._base.execute(query, (stream,)).fetchall()
        return {(int(chunk), int(runs)) for chunk, runs in rows}

    def load(self, stream: bytes, chunk: int, runs: int) -> dict[str, object]:
        """Return the fields of what was kept of a chunk, unless it was damaged since."""
        with self._explained():
            query = "SELECT outputs, digest FROM chunks WHERE stream = ? AND chunk = ? AND runs = ?"
            outputs, digest = self._base.execute(query, (stream, chunk, runs)).fetchone()
        if digest != _digest(stream, chunk, runs, outputs):
            raise self._damaged(f"chunk {chunk} is not what was written")
        self.found += runs
        try:
            fields = decode(outputs)
        except ValueError as error:
            raise self._damaged(error) from None
        if not isinstance(fields, dict):
            raise self._damaged(f"chunk {chunk} has no fields")
        return fields

    def keep(self, stream: bytes, chunk: int, runs: int, value: object) -> None:
        """Take a chunk; it is on disk within some seconds, and after :meth:`commit`."""
        try:
            outputs = encode(value)
        except TypeError as error:
            remedy = "return tuples of numbers and strings, or leave `store` out"
            raise self._refused(f"{error}; {remedy}") from None
        self._waiting.append((stream, chunk, runs, outputs, _digest(stream, chunk, runs, outputs)))
        self._bytes += len(outputs)
        self.added += runs
        if time.monotonic() - self._committed >= self._pause or self._bytes >= COMMIT_BYTES:
            self.commit()

    def _fingerprint(self, thing: object) -> str | None:
        """Return what tells one instance or event apart from others, here and next time."""
        if thing is None:
            return None
        own = getattr(thing, "fingerprint", None)
        if callable(own):
            return str(own())
        events = getattr(thing, "events", (thing,))
        forms = [form() for one in events if callable(form := getattr(one, "to_json", None))]
        if len(forms) == len(events):
            return json.dumps(forms, sort_keys=True, default=repr)
        try:
            return str(joblib.hash(thing, hash_name="sha1"))
        except Exception:  # what cannot be pickled can be taken apart
            try:
                return hashlib.sha256(repr(flatten(thing)).encode()).hexdigest()
            except Unreadable as error:
                raise self._refused(
                    f"a {type(thing).__name__} has no digest, it holds {error}; give it "
                    "fingerprint(), or leave `store` out"
                ) from None

    def _make(self, settings: Mapping[str, str]) -> None:
        """Make the file, whole from the beginning: a kill leaves an empty store or none."""
        handle, name = tempfile.mkstemp(prefix=f".{self.path.name[:KEPT]}.", dir=self.path.parent)
        os.close(handle)
        try:
            base = sqlite3.connect(name, isolation_level=None)
            try:
                base.execute("PRAGMA synchronous = FULL")
                base.executescript(SCHEMA)
                base.executemany("INSERT INTO settings VALUES (?, ?)", settings.items())
            finally:
                base.close()
            with suppress(FileExistsError):  # another process was first
                try:
                    os.link(name, self.path)
                except (AttributeError, NotImplementedError, PermissionError):
                    os.rename(name, self.path)
        finally:
            Path(name).unlink(missing_ok=True)

    def _look(self) -> None:
        """Refuse a file that is no store before SQLite touches it."""
        if self.path.exists() and not (self.path.is_file() or self.path.is_dir()):
            raise ParameterError(
                "store", self.path, "is no file, but a pipe or device; name a file"
            )
        try:
            with open_file(self.path) as file:
                head = file.read(100)
        except OSError as error:
            raise self._refused(f"cannot be read ({error.strerror}); name a file") from None
        left = "it was left as it is, give the name of another"
        if head[: len(MAGIC)] != MAGIC or len(head) < 100:
            raise self._refused(f"is {'no store' if head else 'an empty file'}; {left}")
        version, application = struct.unpack(">I4xI", head[60:72])
        if application != APPLICATION:
            raise self._refused(f"is a database, but no store; {left}")
        if version != FORMAT:
            raise self._refused(
                f"has format {version}, this version of pdpaudit writes format {FORMAT}; give the "
                "name of another"
            )

    def _check(self, settings: Mapping[str, str]) -> None:
        found = self._base.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise self._damaged(" ".join(str(found).split()))
        other = "SELECT count(*) FROM sqlite_schema WHERE type IN ('view', 'trigger')"
        if self._base.execute(other).fetchone()[0]:
            raise self._damaged("it holds more than tables")
        kept = dict(self._base.execute("SELECT name, value FROM settings"))
        for name in sorted({*kept, *settings}):
            if kept.get(name) != settings.get(name):
                raise self._refused(
                    f"was begun with {_setting(name, kept)}, this run has "
                    f"{_setting(name, settings)}; nothing of it fits, so give the same again or "
                    "the name of another store"
                )

    def _refused(self, words: str) -> InputError:
        return InputError(f"`store` {self.path}: {words}")

    def _damaged(self, why: object) -> InputError:
        left = "it was left as it is, restore a copy or give the name of another"
        return self._refused(f"is damaged ({why}); {left}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # a full disk has rolled back already
                self._base.execute("ROLLBACK")
            raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in words what the disk said."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._in_words(error) from None
        except OSError as error:
            words = f"cannot be made ({error.strerror}); choose another place"
            raise self._refused(words) from None

    def _in_words(self, error: sqlite3.Error) -> InputError:
        name = getattr(error, "sqlite_errorname", "")
        stays = "what was kept before is still there; the same command goes on from it"
        if name.startswith("SQLITE_FULL"):
            return ParameterError("store", self.path, f"the disk is full: make room; {stays}")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return self._refused(f"another process has held it for {BUSY_S:g} s: end that; {stays}")
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return self._damaged(error)
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            remedy = "see to its permissions, or choose another place"
            return self._refused(f"cannot be written ({error}): {remedy}")
        return ParameterError("store", self.path, f"cannot be written ({error}): {stays}")


class Kept(Generic[T]):
    """The chunks of one stream on one instance."""

    def __init__(self, store: Store, kind: type[T], stream: bytes) -> None:
        self._store, self._kind, self._stream = store, kind, stream

    def spans(self, sizes: Sequence[int]) -> list[range]:
        """Return runs of chunks that were kept together, of those sizes; none overlaps another.

        Two processes on one store may have drawn the same chunk, each with others; then the span
        that begins first is taken, the longer of two, and what is left of the other drawn again.
        """
        starts = [0, *accumulate(sizes)]
        where = {start: chunk for chunk, start in enumerate(starts)}
        spans: list[range] = []
        free = 0
        kept = self._store.chunks(self._stream)
        for chunk, runs in sorted(kept, key=lambda row: (row[0], -row[1])):
            if free <= chunk < len(sizes) and (end := where.get(starts[chunk] + runs)):
                spans.append(range(chunk, end))
                free = end
        return spans

    def load(self, chunk: int, runs: int) -> T:
        """Return what was kept of a chunk; see :meth:`Store.load`."""
        return self._kind(**self._store.load(self._stream, chunk, runs))

    def keep(self, chunk: int, runs: int, value: T) -> None:
        """Take a chunk; see :meth:`Store.keep`."""
        self._store.keep(self._stream, chunk, runs, vars(value))


def _digest(stream: bytes, chunk: int, runs: int, outputs: bytes) -> bytes:
    return hashlib.sha256(stream + struct.pack(">qq", chunk, runs) + outputs).digest()


def _setting(name: str, settings: Mapping[str, str]) -> str:
    return f"{name} {settings[name]}" if name in settings else f"no {name}"
