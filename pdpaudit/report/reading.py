"""Result files as a report takes them in: every field it relies on is looked at here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pdpaudit.results.fields import Fields
from pdpaudit.results.results import Result, load

__all__ = ["Source", "read_source", "source_from_json"]


@dataclass(frozen=True)
class Source:
    """One result and where it came from."""

    name: str
    result: Result
    versions: Mapping[str, str] = field(default_factory=dict)


def read_source(path: Path) -> Source:
    """Read a result file."""
    return source_from_json(load(path), path.name)


def source_from_json(body: Mapping[str, Any], name: str) -> Source:
    """Return what the JSON form of a result says."""
    result = Result.from_json(body, name)
    versions = {
        str(key): str(value) for key, value in Fields(body, name, "").mapping("versions").items()
    }
    return Source(name, result, versions)
