"""Result files as a report takes them in: every field it relies on is looked at here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pdpaudit.results.fields import Fields
from pdpaudit.results.reader import result_from_json
from pdpaudit.results.results import Result, load

__all__ = ["Source", "read_source", "source_from_json"]


@dataclass(frozen=True)
class Source:
    """One result and where it came from.

    Attributes
    ----------
    name : str
        Name of the file, without its folder.
    result : Result
        What it says.
    versions : mapping of str to str
        What it was made with.
    """

    name: str
    result: Result
    versions: Mapping[str, str] = field(default_factory=dict)


def read_source(path: Path) -> Source:
    """Read a result file.

    Parameters
    ----------
    path : Path
        As written with ``--json``.

    Returns
    -------
    Source
        O(size of the file).

    Raises
    ------
    InputError
        If it is missing, is no result of this format, or a field is not what it must be.
    """
    return source_from_json(load(path), path.name)


def source_from_json(body: Mapping[str, Any], name: str) -> Source:
    """Return what the JSON form of a result says.

    Parameters
    ----------
    body : mapping
        As ``Result.to_json`` returns it; optional fields may be missing.
    name : str
        What to call the file.

    Raises
    ------
    InputError
        If a field is not what it must be.

    Examples
    --------
    >>> source = source_from_json({"command": "audit", "subject": "A", "seed": 1}, "a.json")
    >>> source.result.subject, source.result.status
    ('A', 'skipped')
    >>> source_from_json({"command": "audit", "subject": "A", "seed": "x"}, "a.json")
    Traceback (most recent call last):
        ...
    pdpaudit.core.errors.InputError: a.json: seed is 'x', not a whole number; write the file again \
with --json
    """
    result = result_from_json(body, name)
    versions = {
        str(key): str(value) for key, value in Fields(body, name, "").mapping("versions").items()
    }
    return Source(name, result, versions)
