"""The command that runs all benchmarks finds them."""

from __future__ import annotations

import subprocess

from .run_all import HERE, command


def test_every_benchmark_is_collected() -> None:
    done = subprocess.run(
        [*command([]), "--collect-only"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    programs = {"bench_auditor", "bench_dp_sniper", "bench_utility"}
    for file in HERE.glob("bench_*.py"):
        assert (file.name in done.stdout) == (file.stem not in programs), file.name
