"""From nothing to a red test for a broken statistic, and to a report, with the README alone.

A new project folder gets the files that the README shows, and the commands of its section "In
your tests" are run as they stand there, in a shell. Installing is the README's first command, which
CI runs before anything else; it is not repeated here.

Run as a script to follow it, and to write what pytest says of it at present into the README.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
FILE = re.compile(r"^```python file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^## In your tests\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"(?<=^```text of=pytest\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
WORKFLOW = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """One command as it was typed, and what came of it."""

    command: str
    status: int
    printed: str
    seconds: float


def section_of(text: str) -> str:
    """Return the README's section on tests."""
    found = SECTION.search(text)
    assert found is not None, "the README has no section on tests"
    return found[1]


def follow(text: str, folder: Path) -> list[Step]:
    """Write the README's files into a folder and run its commands there."""
    for name, content in FILE.findall(text):
        (folder / name).write_text(content, encoding="utf-8")
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    kept.pop("GITHUB_STEP_SUMMARY", None)
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    commands = [line for block in SHELL.findall(section_of(text)) for line in block.splitlines()]
    steps = []
    for command in commands:
        began = time.monotonic()
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env={**kept, "PATH": path, "NO_COLOR": "1", "COLUMNS": "80"},
            capture_output=True,
            text=True,
            check=False,
        )
        printed = done.stdout + done.stderr
        steps.append(Step(command, done.returncode, printed, time.monotonic() - began))
    return steps


def failures(printed: str) -> str:
    """Return what pytest says of the failures, as the README shows it."""
    lines = [line for line in printed.splitlines() if line.startswith("E ")]
    return "".join(f"{line[8:].rstrip()}\n" for line in lines)


if __name__ == "__main__":
    readme = README.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        followed = follow(readme, Path(name))
    for step in followed:
        sys.stdout.write(f"$ {step.command}\n{step.printed}{step.seconds:.1f} s\n\n")
    told = failures(followed[0].printed)
    README.write_text(SHOWN.sub(lambda _: told, readme), encoding="utf-8")
