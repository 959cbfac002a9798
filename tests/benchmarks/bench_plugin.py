"""What the pytest plugin costs a session that audits nothing, beside one without it.

Run with ``python -m pytest tests/benchmarks/bench_plugin.py -s``. Whole sessions of 200 empty
tests, in processor time, taken in turns so that both see the same machine.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.benchmark, pytest.mark.slow]

TURNS, TESTS = 10, 200

PROGRAM = """
import sys, time, pytest
status = pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]])
print("seconds", time.process_time(), int(status))
"""


def session(folder: Path, *options: str) -> float:
    """Return the processor time of a process that runs the session, in milliseconds."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, status = done.stdout.splitlines()[-1].split()[1:]
    assert status == "0", done.stdout
    return 1000 * float(seconds)


def test_unused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = f"@pytest.mark.parametrize('n', range({TESTS}))\ndef test_a(n): pass\n"
    (tmp_path / "test_a.py").write_text("import pytest\n" + body)
    for options in ((), ("-p", "no:pdpaudit")):
        session(tmp_path, *options)  # what is compiled and cached once is not of the plugin
    pairs = [(session(tmp_path), session(tmp_path, "-p", "no:pdpaudit")) for _ in range(TURNS)]
    # Whatever else runs only ever adds: the least of many is nearest to what it costs.
    having, without = (min(times) for times in zip(*pairs, strict=True))
    extra = having - without
    with capsys.disabled():
        sys.stdout.write(
            f"\n{'session of 200 empty tests':<30}{'processor time':>16}\n"
            f"{'without the plugin':<30}{without:>13.0f} ms (baseline)\n"
            f"{'with it, unused':<30}{having:>13.0f} ms\n"
            f"{'difference':<30}{extra:>13.0f} ms, to be under 50 ms\n"
        )
    assert extra < 50
