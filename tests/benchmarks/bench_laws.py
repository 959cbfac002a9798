"""Time of one round's exact law and of several rounds', of a proof and of its re-verification.

Run ``pytest tests/benchmarks/bench_laws.py -m benchmark -s`` for the table.
"""

import time

import numpy as np
import pytest

from pdpaudit.algorithms.laws.noise import Exponential, Laplace
from pdpaudit.algorithms.laws.one_round import (
    RoundScores,
    first_target_law,
    search_com_law,
    search_com_noises,
)
from pdpaudit.algorithms.laws.verify import enclose_by_quadrature
from tests.laws.losses import enclose_loss, search_com_round, verify_loss


def seconds(work, repeats=5):
    """Best processor time of several runs: the machine is shared."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def crowd(n, levels=50, targets=200):
    """Whole scores as common neighbours give them: most vertices low, a few high."""
    rng = np.random.default_rng(0)
    counts = np.bincount(np.minimum(rng.geometric(0.25, size=n) - 1, levels - 1), minlength=levels)
    scores = rng.integers(0, levels, targets).astype(float)
    return RoundScores.from_levels(scores, np.arange(levels), np.maximum(counts, 1))


@pytest.mark.benchmark
def test_time_of_one_round(capsys, figure):
    noise, stop = search_com_noises(0.5, 1.0, 101)
    lines = ["one round, 200 targets, 50 protected levels (processor time, best of 5)"]
    worst: dict[int, float] = {}
    for n in (60_000, 1_000_000):
        scores = crowd(n)
        for threshold in (100, 1_000, n // 2):
            taken = seconds(
                lambda s=scores, k=threshold: search_com_law(
                    s, noise=noise, threshold=k, threshold_noise=stop
                )
            )
            worst[n] = max(worst.get(n, 0.0), taken)
            lines.append(f"  n={n:>9,} K={threshold:>7,}: {1e3 * taken:6.1f} ms")
    targets = crowd(10).targets
    for name, work in [
        ("main text", lambda: first_target_law(targets, Laplace(2.0))),
        (
            "threshold stop, Laplace",
            lambda: first_target_law(targets, Laplace(4.0), stop_score=25.0),
        ),
        (
            "threshold stop, exponential",
            lambda: first_target_law(targets, Exponential(4.0), stop_score=25),
        ),
    ]:
        lines.append(f"  {name}: {1e3 * seconds(work):6.1f} ms")
    with capsys.disabled():
        print("\n".join(["", *lines]))  # noqa: T201
    figure("law of one round, n = 60,000", worst[60_000], "s", limit=0.1)
    figure("law of one round, n = 10^6", worst[1_000_000], "s", baseline=worst[60_000])
    assert worst[60_000] < 0.1
    assert worst[1_000_000] < 2 * max(worst[60_000], 0.05)


@pytest.mark.benchmark
def test_time_of_a_proof(capsys, figure):
    def squeeze(score):
        return search_com_round(
            [score] * 8,
            [(0, 2000)],
            impact_cardinality=19,
            threshold=1000,
        )

    pair = squeeze(0), squeeze(1)
    spread = search_com_round(
        [0, 1, 2, 3],
        [(0, 1700), (1, 200), (2, 80), (3, 20)],
        impact_cardinality=9,
        threshold=1000,
    )
    proof = seconds(lambda: enclose_loss(*pair, None), 1)
    again = seconds(lambda: verify_loss(*pair, None), 1)
    levels = seconds(lambda: enclose_loss(spread, spread, None), 1) / 2
    other = seconds(lambda: enclose_by_quadrature(spread, None), 1)
    with capsys.disabled():
        print(  # noqa: T201
            f"\n2,000 protected vertices (processor time): proof of a loss {proof:.2f} s, "
            f"verified again {again:.2f} s; one probability with 4 levels "
            f"{levels:.2f} s, again {other:.2f} s"
        )
    figure("proof of a loss, 2,000 protected", proof, "s", limit=10)
    figure("verified again", again, "s", baseline=proof, limit=30)
    assert proof < 10
    assert again < 30
