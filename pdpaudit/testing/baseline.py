"""The recorded losses: a JSON file made to be read in a diff."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pdpaudit.core.errors import InputError
from pdpaudit.io.files import open_file
from pdpaudit.results.results import write_text

__all__ = ["FORMAT", "baseline_text", "read_baseline", "write_baseline"]

FORMAT = "pdpaudit-baseline/1"


def read_baseline(path: Path, missing_ok: bool = False) -> dict[str, Any]:
    """Return the entries of a baseline by test."""
    if missing_ok and not path.exists():
        return {}
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is no file; check the path of the baseline")
    try:
        with open_file(path) as file:
            body = json.loads(file.read())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; check the path of the baseline") from None
    except (ValueError, RecursionError):
        body = None
    if (
        not isinstance(body, dict)
        or body.get("format") != FORMAT
        or not isinstance(body.get("losses"), dict)
        or not all(isinstance(entry, dict) for entry in body["losses"].values())
    ):
        raise InputError(f"{path}: not a {FORMAT} file; record one anew with --pdp-update-baseline")
    losses: dict[str, Any] = body["losses"]
    return losses


def write_baseline(path: Path, losses: Mapping[str, Any]) -> None:
    """Write a baseline whole or not at all."""
    write_text(path, baseline_text(losses))


def baseline_text(losses: Mapping[str, Any]) -> str:
    """Return a baseline as text: sorted, one line for each thing a reviewer would look at."""
    entries = []
    for name in sorted(losses):
        fields = [f"   {_line(key)}: {_line(losses[name][key])}" for key in sorted(losses[name])]
        entries.append(f"  {_line(name)}: {{\n" + ",\n".join(fields) + "\n  }")
    body = "{\n" + ",\n".join(entries) + "\n }" if entries else "{}"
    return f'{{\n "format": "{FORMAT}",\n "losses": {body}\n}}\n'


def _line(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False)
