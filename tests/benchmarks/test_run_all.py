"""The command that runs all benchmarks finds them."""

from __future__ import annotations

import subprocess

from .conftest import collect_ignore
from .run_all import HERE, command


def test_every_benchmark_is_collected() -> None:
    done = subprocess.run(
        [*command([]), "--collect-only"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    for file in HERE.glob("bench_*.py"):
        assert (file.name in done.stdout) == (file.name not in collect_ignore), file.name
