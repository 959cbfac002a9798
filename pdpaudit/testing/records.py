"""Put what was found into few words: for a failure, a table row, a JUnit property."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pdpaudit.auditing.provenance import commit_of, source_digest
from pdpaudit.report.plaintext import clip, visible
from pdpaudit.results.results import Result, save
from pdpaudit.testing.budget import Budget

__all__ = ["labelled", "record", "saved", "short"]

#: Characters of a sentence that are shown.
LONGEST = 400


def short(text: object, most: int = LONGEST) -> str:
    r"""Return text on one line, nothing in it invisible or endless."""
    return clip(" ".join(visible(str(text)).split()), most)


def labelled(pairs: Iterable[tuple[str, object]]) -> list[str]:
    """Return lines of a label and what it is, the labels in a column; empty ones are left out."""
    shown = [(label, short(text)) for label, text in pairs if text not in ("", None)]
    width = max((len(label) for label, _ in shown), default=0)
    return [f"  {label:<{width}}  {text}" for label, text in shown]


def record(budget: Budget, **row: object) -> None:
    """Keep a row for the session's summary and the test's JUnit properties.

    Values are plain, since they cross processes. What is kept under a name that begins with an
    underscore is no property, and kept as it is.
    """
    recorded = {
        key.removeprefix("_"): short(value) if isinstance(value, str) and key[0] != "_" else value
        for key, value in row.items()
    }
    budget.rows.append({**recorded, "test": short(budget.nodeid), "tests": budget.tests})
    budget.properties += [
        (f"pdp_{key}", recorded[key])
        for key in row
        if key[0] != "_" and recorded[key] not in ("", None) and not isinstance(recorded[key], bool)
    ]


def saved(budget: Budget, result: Result, *, failed: bool, about: object = None) -> str:
    """Write a result where it was asked for, a failure's in any case if there is a place.

    The source of what it is ``about`` is looked up only then: that takes longer than many checks.
    """
    folder = budget.settings.report or (budget.cache if failed else None)
    if folder is None:
        return ""
    if not result.source and about is not None:
        result = replace(result, source=source_digest(about), commit=commit_of(about))
    folder.mkdir(parents=True, exist_ok=True)
    test = budget.nodeid.rpartition("::")[2]
    slug = re.sub(r"[^A-Za-z0-9]+", "-", test).strip("-")[:40] or "test"
    mark = hashlib.sha256(budget.nodeid.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    budget.files += 1
    last = "" if budget.files == 1 else f"-{budget.files}"
    path = folder / f"{slug}-{mark}{last}.json"
    save(path, result.to_json())
    return relative(path, budget.base)


def relative(path: Path, base: Path) -> str:
    """Return a path as one would type it in ``base``."""
    whole, here = path.resolve(), base.resolve()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)
