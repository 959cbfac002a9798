"""What the runs of an audit depend on beside their streams: a store belongs to it for good."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

from pdpaudit.auditing.sources import source_files
from pdpaudit.core.errors import InputError
from pdpaudit.core.registry import Group, registered
from pdpaudit.results.results import versions

__all__ = ["source_digest", "store_settings"]

#: Hexadecimal digits that are shown of a digest.
DIGITS = 16


def store_settings(
    mechanism: Any,
    spec: Mapping[str, Any],
    seed: int,
    *,
    max_degree: int | None = None,
    file: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Return what must be the same for kept runs to be of use.

    How many samples are asked for is not among it, nor are confidence, workers and time limit: what
    another run shares with this one, it finds.
    """
    reading = dict(file or {})
    files = [Path(reading.pop(name)) for name in ("edges", "nodes") if name in reading]
    return {
        "mechanism": json.dumps(dict(spec), sort_keys=True, default=str),
        "--seed": str(seed),
        "--max-degree": str(max_degree),
        "network options": json.dumps(reading, sort_keys=True, default=str),
        "network files (digest)": _digest(files),
        "program (digest of its source)": _digest(_sources()),
        "mechanism (digest of its source)": source_digest(mechanism),
        **versions(),
    }


def source_digest(mechanism: Any) -> str:
    """Return a digest of the source of a mechanism, of its statistic, and of all they import."""
    digest = hashlib.sha256()
    for name, content in sorted((path.name, _digest([path])) for path in source_files(mechanism)):
        digest.update(f"{name}\n{content}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:DIGITS]


def _sources() -> list[Path]:
    """List the source files of the harness and of what is registered."""
    modules = {
        item.place.partition(":")[0] for group in get_args(Group) for item in registered(group)
    }
    packages = {module.rpartition(".")[0] or module for module in modules}
    return sorted({path for name in {"pdpaudit", *packages} for path in _files(name)})


def _files(name: str) -> list[Path]:
    """List the files of a package, or the file of a module."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return []
    folders = spec.submodule_search_locations
    if folders is None:
        return [Path(spec.origin)]
    return [path for folder in folders for path in Path(folder).rglob("*.py")]


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()[:DIGITS]
