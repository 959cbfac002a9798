"""Run every command of the golden master, and write down what each gave.

    python tests/golden/record.py                  all of them
    python tests/golden/record.py --only 'sfs*'    some of them

What differs between two runs, processors, paths or versions is masked, and so are the package's own
module names. Entry points that changed are known only after ``pip install -e .`` once more.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from fnmatch import fnmatch
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from commands import FILES, SCENARIOS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RECORDED = HERE / "recorded"

#: Commands at a time, each with one worker where it does not say otherwise.
AT_A_TIME = 2
PARALLEL = ("audit", "check", "claims", "simulate", "replay")

#: Characters from which a record is kept compressed.
LARGE = 20_000

#: Fields of a result that differ from one run, version or processor to the next.
VOLATILE = ("versions", "written", "by", "elapsed_s", "digest", "commit")

#: A digest or a commit: hexadecimal digits, at least one of them a letter.
DIGEST = r"\b(?=\d*[a-f])(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32}|[0-9a-f]{16})\b"

#: Seconds after which a command is stopped, as an error of this tool.
LIMIT_S = 900

ENVIRONMENT = {"COLUMNS": "80", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}


class _Text(HTMLParser):
    """The visible text of a page, a line for each piece."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden += tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        if not self.hidden and data.strip():
            self.lines.append(" ".join(data.split()))


def masked(text: str, folder: str = "") -> str:
    """Return text without what differs between two runs of the same program."""
    for path, name in ((folder, "<folder>"), (str(ROOT), "<root>")):
        text = text.replace(path, name) if path else text
    text = re.sub(DIGEST, "<digest>", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\+00:00|Z| UTC)?", "<time>", text)
    text = re.sub(r"\bTook .*?(?= with |\.$|\. )", "Took <duration>", text, flags=re.M)
    text = re.sub(r"\b(python|numpy|scipy|networkx|pdpaudit) \d+\.\d+[\w.]*", r"\1 <version>", text)
    text = re.sub(r"\bpdpaudit(\.[A-Za-z_]\w*)+", "<module>", text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def rounded(value: Any) -> Any:
    """Return a JSON value with floats of nine significant digits; what is below 1e-12 is zero."""
    if isinstance(value, float):
        return float(f"{value:.9g}") if abs(value) >= 1e-12 else 0.0
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def normalised(path: Path, folder: str) -> str:
    """Return a file that a command wrote, in the form in which it is kept."""
    if path.suffix == ".db":
        return "<store>"
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        body = rounded(json.loads(text))
        body = {key: "<masked>" if key in VOLATILE else body[key] for key in sorted(body)}
        if "source" in body:
            body["source"] = "<masked>"
        text = json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False)
        # A list of numbers or names takes one line.
        text = re.sub(r"\[[^\[\]{}]*\]", lambda m: " ".join(m[0].split()), text)
    elif path.suffix == ".csv":
        text = re.sub(r"-?\d+\.\d{9,}(e-?\d+)?", lambda m: f"{float(m[0]):.9g}", text)
    elif path.suffix == ".html":
        page = _Text()
        page.feed(text)
        text = "\n".join(page.lines)
    return masked(text, folder)


def run(command: str, folder: Path) -> str:
    """Run one command, and return all it gave: status, output, files written or changed."""
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    words = shlex.split(command)[1:]
    if words[0] in PARALLEL and "--jobs" not in words:
        words += ["--jobs", "1"]
    environment = {**os.environ, **ENVIRONMENT, "HOME": str(folder)}
    ended = subprocess.run(
        [sys.executable, "-m", "pdpaudit", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=LIMIT_S,
    )
    parts = [f"$ {command}", f"exit status {ended.returncode}"]
    for name, text in (("stdout", ended.stdout), ("stderr", ended.stderr)):
        parts += [f"----- {name}", masked(text, str(folder))]
    for path in sorted(folder.iterdir()):
        if path.is_file() and before.get(path) != path.stat().st_mtime_ns:
            parts += [f"----- {path.name}", normalised(path, str(folder))]
    return "\n".join(parts) + "\n"


def run_scenario(name: str) -> dict[str, tuple[str, float]]:
    """Run one scenario in a folder of its own: each command's record and processor seconds."""
    with tempfile.TemporaryDirectory(prefix="golden") as made:
        folder = Path(made).resolve()
        for file, text in FILES.items():
            (folder / file).write_text(text, encoding="utf-8")
        records = {}
        for index, line in enumerate(SCENARIOS[name], 1):
            begun = processor_s()
            text = run(line, folder)
            records[f"{name}.{index}.{shlex.split(line)[1]}"] = text, processor_s() - begun
        return records


def processor_s() -> float:
    """Return what all commands of this process have used of the processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_all(only: str) -> Iterator[tuple[str, str, float]]:
    """Run the scenarios whose names match a pattern, and yield each command's record."""
    spec = importlib.util.find_spec("pdpaudit")
    if spec is None or spec.origin is None or ROOT not in Path(spec.origin).resolve().parents:
        raise SystemExit(f"pdpaudit is not installed from {ROOT}: use the environment of this tree")
    names = [name for name in SCENARIOS if fnmatch(name, only)]
    if not names:
        raise SystemExit(f"--only {only}: no such scenario; there are {', '.join(SCENARIOS)}")
    with ProcessPoolExecutor(AT_A_TIME) as pool:
        for done in as_completed([pool.submit(run_scenario, name) for name in names]):
            for name, (text, used) in done.result().items():
                yield name, text, used


def write(name: str, text: str) -> None:
    """Keep a record, compressed where it is long."""
    for path in (RECORDED / f"{name}.txt", RECORDED / f"{name}.txt.gz"):
        path.unlink(missing_ok=True)
    if len(text) > LARGE:
        (RECORDED / f"{name}.txt.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        (RECORDED / f"{name}.txt").write_text(text, encoding="utf-8")


def read(name: str) -> str | None:
    """Return a record, None where there is none."""
    if (plain := RECORDED / f"{name}.txt").exists():
        return plain.read_text(encoding="utf-8")
    packed = RECORDED / f"{name}.txt.gz"
    return gzip.decompress(packed.read_bytes()).decode() if packed.exists() else None


def main() -> None:
    """Record."""
    parser = argparse.ArgumentParser(description="Record what the commands give.")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="names of scenarios")
    only = parser.parse_args().only
    if only == "*":
        shutil.rmtree(RECORDED, ignore_errors=True)
    RECORDED.mkdir(exist_ok=True)
    begun, total = time.monotonic(), 0.0
    for name, text, used in run_all(only):
        write(name, text)
        total += used
        sys.stdout.write(f"{name}: {text.splitlines()[1]}, {used:.1f} s\n")
        sys.stdout.flush()
    sys.stdout.write(f"{total:.0f} s of processors in {time.monotonic() - begun:.0f} s\n")


if __name__ == "__main__":
    main()
