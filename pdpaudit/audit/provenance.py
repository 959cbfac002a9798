"""Where what is audited comes from: its source file, and the git commit of its folder."""

from __future__ import annotations

import inspect
import os
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["commit_of", "source_files"]

#: Seconds git may take to name a commit.
LIMIT_S = 5.0

#: Folders of installed packages: the repository around them is not theirs.
INSTALLED = ("site-packages", "dist-packages")


def source_files(subject: Any) -> list[Path]:
    """Return the files that define a mechanism or statistic, and whatever it wraps."""
    files = []
    for one in _unwrapped(subject):
        named = one if inspect.isfunction(one) or inspect.isclass(one) else type(one)
        # A class knows its module by name only, and another may have that name by now; its methods
        # know their file.
        for part in (named, *vars(named).values()):
            try:
                file = inspect.getsourcefile(part)
            except (OSError, TypeError):  # made where there is no file
                continue
            if file is not None:
                files.append(Path(file))
    return files


def commit_of(subject: Any) -> str:
    """Return the git commit of the folder a mechanism or statistic is from; empty if there is none.

    Examples
    --------
    >>> commit_of(3)
    ''
    """
    own = Path(__file__).parent
    for file in reversed(source_files(subject)):
        folder = file.resolve().parent
        if file.is_file() and own not in (folder, *folder.parents):
            return "" if set(INSTALLED) & set(folder.parts) else _commit(folder)
    return ""


@cache
def _commit(folder: Path) -> str:
    try:
        asked = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return asked.stdout.strip() if asked.returncode == 0 else ""


def _unwrapped(subject: Any) -> Iterator[Any]:
    """Yield an object, and what it wraps under the names that wrappers use here."""
    seen: list[Any] = []
    while subject is not None and not any(one is subject for one in seen):
        yield subject
        seen.append(subject)
        inner = inspect.getattr_static(subject, "mechanism", None)
        subject = inspect.getattr_static(subject, "function", None) if inner is None else inner
