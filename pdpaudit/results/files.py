"""Result files: written whole or not at all, sealed, and read again."""

from __future__ import annotations

import codecs
import getpass
import hashlib
import json
import math
import os
import platform
import tempfile
from collections.abc import Iterable, Mapping, Set
from importlib.metadata import version
from pathlib import Path

from pdpaudit.core.errors import InputError
from pdpaudit.io.source import open_file
from pdpaudit.outputs.records import JSON

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
