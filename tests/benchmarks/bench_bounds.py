"""Time of one bound, and what each method shows for the same counts.

Run ``pytest tests/benchmarks/bench_bounds.py -m benchmark -s`` for the table.
"""

import math
import time

import pytest

from pdpaudit.inference import detectable, lower_bound

CASES = [
    (1_000, 0.05, 1.0),
    (10_000, 0.01, 1.0),
    (200_000, 0.05, 1.0),
    (200_000, 0.01, 0.1),
    (200_000, 0.4, 0.1),
    (200_000, 0.001, 3.0),
    (10_000_000, 0.05, 1.0),
    (10_000_000, 0.4, 0.1),
]


@pytest.mark.benchmark
def test_time_and_sharpness_of_the_bounds(capsys, figure):
    lines = [f"{'n':>10} {'q':>6} {'true':>5}  bounds (milliseconds of processor time)"]
    for n, q, epsilon in CASES:
        x, y = round(n * q * math.exp(epsilon)), round(n * q)
        parts = []
        for method in ("exact", "clopper-pearson", "betting"):
            start = time.process_time()
            bound = float(lower_bound(x, n, y, n, 0.05, method=method))
            parts.append(f"{method} {bound:.4f} ({1e3 * (time.process_time() - start):.0f})")
            spent = time.process_time() - start
            if method == "exact" and n == 200_000:
                figure(f"exact bound, n = {n:,}, q = {q:g}", spent, "s", limit=1.0)
                assert spent < 1.0
        lines.append(f"{n:>10} {q:>6} {epsilon:>5}  " + "  ".join(parts))
    for n in (1_000, 200_000, 10_000_000):
        start = time.process_time()
        found = detectable(n, 0.05, 0.05, claimed=0.5)
        lines.append(f"detectable, n={n}: {found:.4f} in {time.process_time() - start:.2f} s")
    with capsys.disabled():
        print("\n".join(["", *lines]))  # noqa: T201
