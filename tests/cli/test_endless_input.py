"""Input that never ends, or unpacks without end, is refused within a second and 100 MB."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pdpaudit.core.errors import InputError
from pdpaudit.io.source import read_source
from pdpaudit.results.files import load

#: Of memory, and of processor time, which other work on the machine does not change.
MOST_BYTES, MOST_S = 100 << 20, 2.0


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def bomb(path: Path) -> Path:
    """Two gigabytes of lines in two megabytes."""
    block = gzip.compress(b"ann,bob\n" * (1 << 21), 9)
    path.write_bytes(block * 128)
    return path


def zeros(path: Path) -> Path:
    with path.open("wb") as file:
        file.truncate(1 << 40)
    return path


ENDLESS: dict[str, Callable[[Path], Path]] = {
    "pipe": pipe,
    "device": lambda _: Path("/dev/zero"),
    "random": lambda _: Path("/dev/urandom"),
    "bomb": bomb,
    "zeros": zeros,
}

MEASURED = """
import resource, sys, time
from pathlib import Path
from pdpaudit.core.errors import InputError
from pdpaudit.{module} import {function} as read

before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
try:
    read(Path(sys.argv[1]))
except InputError as error:
    said = str(error)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(time.process_time() - began, 1024 * (after - before), said, sep="\\n")
"""


@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("reader", [("io.source", "read_source"), ("results.files", "load")])
def test_what_never_ends_is_refused_at_once(
    tmp_path: Path, kind: str, reader: tuple[str, str]
) -> None:
    path = ENDLESS[kind](tmp_path / "input")
    script = MEASURED.format(module=reader[0], function=reader[1])

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

    ran = subprocess.run(
        [sys.executable, "-c", script, path], preexec_fn=limited, capture_output=True, text=True,
        timeout=600,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    seconds, grown, said = ran.stdout.splitlines()
    assert float(seconds) < MOST_S
    assert int(grown) < MOST_BYTES
    assert said.startswith(f"{path}: ")


@pytest.mark.parametrize("option", ["--edges", "--nodes"])
def test_the_command_refuses_a_silent_pipe(run, tmp_path: Path, option: str) -> None:
    pipe(tmp_path / "silent")
    files = {"--edges": "edges.csv", "--nodes": "nodes.csv", option: "silent"}
    ran = run("audit", "SFS", *(word for pair in files.items() for word in pair))
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "silent: is a pipe into which nothing is written" in ran.err


@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_that_is_written_to_is_read_whole(tmp_path: Path, packed: bool) -> None:
    text = b"ann,bob\n" * 100_000
    path = pipe(tmp_path / "pipe")
    writer = threading.Thread(
        target=path.write_bytes, args=(gzip.compress(text) if packed else text,)
    )
    writer.start()
    assert read_source(path).data == text
    writer.join()


def test_a_file_packed_as_text_is_packed_is_unpacked(tmp_path: Path) -> None:
    text = b"".join(b"%d,%d\n" % (i, i * i % 99_991) for i in range(100_000))
    path = tmp_path / "edges.csv.gz"
    path.write_bytes(gzip.compress(text[:1000]) + gzip.compress(text[1000:]))
    assert read_source(path).data == text


@pytest.mark.parametrize("text", [b"", b"\0" * 10, b"\xff", b"[", b"{", b"[]", b'"', b"{}"])
def test_what_is_no_result_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "r.json").write_bytes(text)
    with pytest.raises(InputError, match="give the file of a result"):
        load(tmp_path / "r.json")
