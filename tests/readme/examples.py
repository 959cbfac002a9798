"""The examples of the README and of the site: what they show is what the commands print.

Run as a script to write their present output into the pages; with names of pages, into these only.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
FILE = re.compile(r"^```python file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = re.compile(r"^```python run\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^```console\n\$ (pdpaudit|head) (.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def printed(program: str, arguments: str) -> str:
    """Return what a command prints on a terminal of 80 columns without colour."""
    from pdpaudit.cli import main

    if program == "head":
        _, count, file = shlex.split(arguments)
        lines = Path(file).read_text(encoding="utf-8").splitlines()[: int(count)]
        return "".join(f"{line}\n" for line in lines)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main(shlex.split(arguments))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


@contextlib.contextmanager
def folder_of(text: str) -> Iterator[None]:
    """Work in a folder that holds the project's examples and the files that a page shows."""
    before = Path.cwd()
    kept = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR", "PATH")}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", folder, dirs_exist_ok=True)
        for name, content in FILE.findall(text):
            Path(folder, name).write_text(content)
        os.chdir(folder)
        # What a page calls python3 is the Python that runs it.
        here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        os.environ.update(COLUMNS="80", NO_COLOR="1", PATH=here)
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
    """Return a page with the present output of every example."""
    with folder_of(text):
        return EXAMPLE.sub(
            lambda found: f"```console\n$ {found[1]} {found[2]}\n{printed(found[1], found[2])}```",
            text,
        )


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:] or PAGES):
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
