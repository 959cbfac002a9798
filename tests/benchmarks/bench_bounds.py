"""Time of one bound, and what each method shows for the same counts.

Run ``pytest tests/benchmarks/bench_bounds.py -m benchmark -s`` for the table.
"""

import math
import statistics
import time

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from pdpaudit import PrivacyClaim, audit
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


class Noise:
    """Normal noise around 0 or 1."""

    def pairs(self):
        return [(0.0, 1.0)]

    def sample(self, x, size, rng):
        return x + rng.normal(size=size)

    def run(self, x, rng):
        return x + rng.normal()


def by_hand(claim, left, right, thresholds=20):
    """Return the bound from each of some thresholds, Clopper-Pearson limits at a share of 5 %."""
    share, best = 0.05 / (2 * thresholds), 0.0
    for cut in np.linspace(-1.5, 2.5, thresholds):
        x, y = int((right >= cut).sum()), int((left >= cut).sum())
        low = proportion_confint(x, len(right), 2 * share, method="beta")[0]
        high = proportion_confint(y, len(left), 2 * share, method="beta")[1]
        if low > high:
            best = max(best, float(claim.smallest(low, high)))
    return best


@pytest.mark.benchmark
@pytest.mark.parametrize(
    ("claim", "true", "better"),
    [
        (PrivacyClaim.zcdp(0.0), 0.5, True),
        (PrivacyClaim.renyi(2, 0.0), 1.0, True),
        (PrivacyClaim.gaussian(0.0), 1.0, False),
    ],
    ids=["zcdp", "renyi 2", "gaussian"],
)
def test_bounds_in_other_units_beside_those_by_hand_at_equal_draws(
    capsys, figure, claim, true, better
):
    """The median of five seeds; by hand all draws are used, here those of discovery are spent.

    Of normal noise one good threshold shows all of μ, so that nothing is promised there, but only
    part of ρ.
    """
    ours, theirs = [], []
    for seed in range(1, 6):
        [found] = audit(Noise(), claim=claim, samples=50_000, seed=seed).claims
        each, rng = sum(found.samples.values()) // 2, np.random.default_rng(seed)
        ours.append(found.lower_bound or 0.0)
        theirs.append(by_hand(claim, rng.normal(size=each), 1 + rng.normal(size=each)))
    one, other = statistics.median(ours), statistics.median(theirs)
    figure(f"{claim.statement}: bound by hand, as a share of ours", other / one, "")
    with capsys.disabled():
        print(f"\n{claim.statement}, true {true}: {one:.3f}, by hand {other:.3f}")  # noqa: T201
    assert one < true
    assert other < one or not better
