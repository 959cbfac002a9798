"""What the pytest plugin costs a session that audits nothing, beside one without it.

Run with ``python -m pytest tests/benchmarks/bench_plugin.py -s``. Sessions of 200 empty tests
in processor time, in turns so that both see the same machine; the import is measured cold.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.benchmark, pytest.mark.slow]

TESTS = 200

PROGRAM = """
import contextlib, io, json, sys, time
import pytest, _pytest.config, _pytest.python

def took(call):
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        call()
    return 1000 * (time.process_time() - start)

def load():
    import pdpaudit.testing.pytest_plugin, pdpaudit.testing.session

def session(*options):
    return took(lambda: pytest.main(["-q", "-p", "no:cacheprovider", *options]))

imports = took(load)
turns = [(session(), session("-p", "no:pdpaudit")) for _ in range(8)]
# Whatever else runs only ever adds: the least of many is nearest to what it costs.
print(json.dumps([imports, *map(min, zip(*turns))]))
"""


def measure(folder: Path) -> tuple[float, float, float]:
    """Return milliseconds of the import, and of a session with the plugin and without."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=folder, capture_output=True, text=True, check=True
    )
    imports, having, without = json.loads(done.stdout.splitlines()[-1])
    return imports, having, without


def test_unused(tmp_path: Path, capsys: pytest.CaptureFixture[str], figure: Any) -> None:
    body = f"@pytest.mark.parametrize('n', range({TESTS}))\ndef test_a(n): pass\n"
    (tmp_path / "test_a.py").write_text("import pytest\n" + body)
    measure(tmp_path)  # what is compiled and cached once is not of the plugin
    imports, having, without = map(min, zip(*(measure(tmp_path) for _ in range(3)), strict=True))
    total = imports + having - without
    with capsys.disabled():
        sys.stdout.write(
            f"\n{f'session of {TESTS} empty tests':<32}{'processor time':>16}\n"
            f"{'without the plugin':<32}{without:>13.1f} ms (baseline)\n"
            f"{'with it, unused':<32}{having:>13.1f} ms\n"
            f"{'importing it':<32}{imports:>13.1f} ms\n"
            f"{'start-up and hooks together':<32}{total:>13.1f} ms, to be under 50 ms\n"
        )
    figure("the plugin, unused", total, "ms", baseline=without, limit=50)
    assert total < 50
