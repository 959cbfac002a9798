"""The README's examples: what it shows is what the commands print.

Run as a script to write their present output into the README.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
FILE = re.compile(r"^```python file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^```console\n\$ pdpaudit (.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def printed(arguments: str) -> str:
    """Return what a command prints on a terminal of 80 columns without colour."""
    from pdpaudit.cli import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main(shlex.split(arguments))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


@contextlib.contextmanager
def folder_of(text: str) -> Iterator[None]:
    """Work in a folder that holds the files the README shows."""
    before = Path.cwd()
    kept = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR")}
    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILE.findall(text):
            Path(folder, name).write_text(content)
        os.chdir(folder)
        os.environ.update(COLUMNS="80", NO_COLOR="1")
        try:
            yield
        finally:
            os.chdir(before)
            for name, value in kept.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def renewed(text: str) -> str:
    """Return the README with the present output of every example."""
    with folder_of(text):
        return EXAMPLE.sub(
            lambda match: f"```console\n$ pdpaudit {match[1]}\n{printed(match[1])}```", text
        )


if __name__ == "__main__":
    README.write_text(renewed(README.read_text(encoding="utf-8")), encoding="utf-8")
