"""What has gone wrong in other auditors, once each."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from pdpaudit.auditing import Config, audit
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.inference import METHODS, lower_bound


class Same:
    """Real values that have nothing to do with the input, and a claim that says so."""

    claim = PrivacyClaim(0.0, source="it ignores its input")

    def pairs(self):
        yield 0, 1

    def run(self, instance, rng):
        return tuple(rng.normal(size=3).tolist())

    def sample(self, instance, size, rng):
        return rng.normal(size=(size, 3))


@pytest.mark.usefixtures("without_power")
def test_scores_without_information_show_no_loss(repetitions):
    """Another auditor reports about 4 here: the best of all thresholds, uncorrected."""
    audits = repetitions(6, 40)
    bounds = [
        audit(Same(), [], Config(seed=seed, samples=1000), subject="same").claims[0].lower_bound
        for seed in range(audits)
    ]
    # One in 20 at most is expected; more than this with probability 0.001. Seeds pinned.
    assert sum(bound > 0 for bound in bounds) <= stats.binom.ppf(0.999, audits, 0.05)
    assert max(bounds) < 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("x", "y", "n"), [(0, 0, 1), (1, 0, 1), (0, 1, 1), (50, 0, 50), (50, 50, 50), (7, 0, 1000)]
)
@pytest.mark.parametrize("delta", [0.0, 0.5, 0.999999])
def test_no_count_crashes_or_gives_infinity(method, x, y, n, delta):
    bound = float(lower_bound(x, n, y, n, 0.05, delta, method=method))
    assert 0.0 <= bound < math.inf


@pytest.mark.parametrize("method", METHODS)
def test_the_bound_is_the_lower_end(method):
    x, y, n = np.array([30, 300, 900]), np.array([10, 250, 100]), 1000
    bounds = lower_bound(x, n, y, n, 0.05, method=method)
    assert np.all(bounds < np.log(x / y))


def test_the_bound_is_a_function_of_the_counts():
    """Averaging p-values over random thinnings is no test; nothing here is random."""
    once, again = (lower_bound(37, 400, 11, 400, 0.05) for _ in range(2))
    assert once == again


class Stops:
    """Ends early on one side, where nothing comes out at all."""

    claim = PrivacyClaim(0.5, source="test")

    def pairs(self):
        yield "long", "short"

    def run(self, instance, rng):
        if instance == "short":
            raise StopIteration("ended early")
        return 0


def test_a_mechanism_that_ends_early_on_one_side_is_distinguished_by_that():
    result = audit(Stops(), [], Config(seed=1, samples=400), subject="stops")
    claim = result.claims[0]
    assert claim.status == "violated"
    assert claim.event.to_json()["inside"] == 400
    assert claim.event.to_json()["inside_other"] == 0
    assert any("ended early" in words for words in result.remarks)


def test_a_single_outcome_shows_nothing():
    class Constant:
        claim = PrivacyClaim(0.0, source="test")

        def pairs(self):
            yield 0, 1

        def run(self, instance, rng):
            return ()

    claim = audit(Constant(), [], Config(seed=1, samples=400), subject="constant").claims[0]
    assert claim.lower_bound == 0.0


def test_one_sample_is_enough_not_to_crash():
    claim = audit(Same(), [], Config(seed=1, samples=1), subject="same").claims[0]
    assert claim.lower_bound == 0.0
    assert claim.status == "inconclusive"
