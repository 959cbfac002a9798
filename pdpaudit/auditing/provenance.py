"""Where what is audited comes from: the git commit of its folder."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from pdpaudit.auditing.sources import source_files

__all__ = ["commit_of"]

#: Seconds git may take to name a commit.
LIMIT_S = 5.0

#: Folders of installed packages: the repository around them is not theirs.
INSTALLED = ("site-packages", "dist-packages")


def commit_of(subject: Any) -> str:
    """Return the git commit of the folder a mechanism or statistic is from, or nothing."""
    own = Path(__file__).parent
    for file in source_files(subject):
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
