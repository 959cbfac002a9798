"""Several rounds: against single rounds, a double integral, and literal runs."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from pdpaudit.algorithms.laws.noise import Laplace
from pdpaudit.algorithms.laws.one_round import (
    RoundScores,
    search_com_law,
)
from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import LawUnavailable

from . import joint_counts as rounds_module
from .joint_counts import Stage, search_com_rounds_law

# What later rounds see: scores of targets and classes after each list of winners.
TARGETS = {0: 1.0, 1: 0.0, 2: 0.0}
SIZES = np.array([3, 2, 2])


def stage(found):
    """Winners raise scores; finding 0 lets statistic-first search examine the last class."""
    left = [t for t in TARGETS if t not in found]
    scores = np.array([TARGETS[t] + (t + 1) * len(found) / 2 for t in left])
    classes = np.array([0.0, 1.0, 0.5]) + np.array([0.0, 0.5, 1.0]) * len(found)
    return Stage(left, scores, classes, np.array([False, False, 0 in found]))


def test_one_round_is_the_round():
    law = search_com_rounds_law(
        SIZES, stage, 1, noise=Laplace(2.0), threshold=2, threshold_noise=Laplace(3.0)
    )
    now = stage(())
    single = search_com_law(
        RoundScores.from_levels(now.target_scores, now.class_scores, SIZES),
        noise=Laplace(2.0),
        threshold=2,
        threshold_noise=Laplace(3.0),
    )
    assert [law.probabilities[(t,)] for t in now.targets] == pytest.approx(single.found, abs=1e-13)
    assert law.probabilities[()] == pytest.approx(single.none, abs=1e-13)
    assert law.missing == 0.0


@pytest.mark.parametrize("stop", [0.0, 2.5])
def test_two_rounds_of_one_class_against_a_double_integral(stop):
    """Both winners' noisy values on one grid, both counts summed, hidden count included."""
    n, threshold, scale = 5, 2, 1.5

    def one_class(found):
        left = [t for t in (0, 1) if t not in found]
        return Stage(left, np.array([0.5, 0.0])[left], np.array([0.2]), np.array([False]))

    law = search_com_rounds_law(
        [n],
        one_class,
        2,
        noise=Laplace(scale),
        threshold=threshold,
        threshold_noise=Laplace(stop),
    )

    def survival(b):
        return float(b <= threshold) if stop == 0 else stats.laplace.sf((b - threshold) / stop)

    # Gauss-Legendre between the kinks, by scipy's distributions
    nodes, weights = np.polynomial.legendre.leggauss(40)
    ends = np.array([-60.0, -20.0, -6.0, 0.0, 0.2, 0.5, 3.0, 8.0, 20.0, 60.0])
    x = np.concatenate([(a + b) / 2 + (b - a) / 2 * nodes for a, b in pairwise(ends)])
    w = np.concatenate([(b - a) / 2 * weights for a, b in pairwise(ends)])
    noise = stats.laplace(scale=scale)
    q = noise.sf(x - 0.2)
    first = w * noise.pdf(x - 0.5) * noise.cdf(x)
    second = w * noise.pdf(x)
    total = 0.0
    for hidden in range(n + 1):
        before = float(first @ stats.binom.pmf(hidden, n, q)) * survival(hidden)
        after = sum(
            float(second @ stats.binom.pmf(b, n - hidden, q)) * survival(b)
            for b in range(n - hidden + 1)
        )
        total += before * after
    assert law.probabilities[(0, 1)] == pytest.approx(total, abs=1e-11)


def test_rounds_agree_with_literal_runs():
    """Chi-square of 6,000 runs over all lists; false-alarm rate 1e-3, seed pinned."""
    rng = np.random.default_rng(404)
    runs, threshold, scale, stop = 6000, 2, 1.2, 1.0
    law = search_com_rounds_law(
        SIZES, stage, 3, noise=Laplace(scale), threshold=threshold, threshold_noise=Laplace(stop)
    )
    owner = np.repeat(np.arange(3), SIZES)
    seen = dict.fromkeys(law.probabilities, 0)
    for _ in range(runs):
        found: tuple[int, ...] = ()
        examined = np.zeros(owner.size, dtype=bool)
        for _ in range(3):
            now = stage(found)
            examined |= now.explored[owner]
            if not now.targets:
                break
            protected = np.flatnonzero(~examined)
            scores = np.concatenate([now.target_scores, now.class_scores[owner[protected]]])
            order = np.argsort(-(scores + rng.laplace(0.0, scale, scores.size)))
            limit, winner = threshold + rng.laplace(0.0, stop), None
            for count, v in enumerate(order):
                if count > limit:
                    break
                if v < len(now.targets):
                    winner = now.targets[v]
                    break
                examined[protected[v - len(now.targets)]] = True
            if winner is None:
                break
            found += (winner,)
        seen[found] += 1
    observed = np.array([seen[k] for k in law.probabilities])
    expected = runs * np.array(list(law.probabilities.values()))
    assert expected.min() > 5
    statistic = float(((observed - expected) ** 2 / expected).sum())
    assert stats.chi2.sf(statistic, expected.size - 1) > 1e-3


def test_hidden_set_matters():
    # Were every round to start afresh, the second would fail more or less often.
    def same(found):
        left = [t for t in (0, 1) if t not in found]
        return Stage(left, np.zeros(len(left)), np.zeros(1), np.array([False]))

    law = search_com_rounds_law(
        [6], same, 2, noise=Laplace(1.0), threshold=1, threshold_noise=Laplace(0.0)
    )
    afresh = search_com_law(
        RoundScores.from_levels([0.0], [0.0], [6]),
        noise=Laplace(1.0),
        threshold=1,
        threshold_noise=Laplace(0.0),
    )
    second = law.probabilities[(0, 1)] / (law.probabilities[(0, 1)] + law.probabilities[(0,)])
    assert second > afresh.found[0] + 0.005


def test_no_targets_left_and_no_rounds():
    law = search_com_rounds_law(
        SIZES, stage, 5, noise=Laplace(1.0), threshold=50, threshold_noise=Laplace(0.5)
    )
    assert sum(law.probabilities.values()) == pytest.approx(1.0, abs=1e-12)
    assert max(len(found) for found in law.probabilities) == 3
    nothing = search_com_rounds_law(
        SIZES, stage, 0, noise=Laplace(1.0), threshold=1, threshold_noise=Laplace(0.5)
    )
    assert nothing.probabilities == {(): 1.0}
    unprotected = search_com_rounds_law(
        [],
        lambda found: Stage([0], np.zeros(1), np.zeros(0), np.zeros(0, dtype=bool)),
        1,
        noise=Laplace(1.0),
        threshold=0,
        threshold_noise=Laplace(1.0),
    )
    assert unprotected.probabilities[(0,)] == pytest.approx(0.5, abs=1e-12)


def test_refuses_what_it_cannot_do():
    arguments = {"threshold": 1, "threshold_noise": Laplace(1.0)}
    with pytest.raises(LawUnavailable, match="most_work"):
        search_com_rounds_law(
            [1000, 1000],
            lambda found: Stage([0], np.zeros(1), np.zeros(2), np.zeros(2, dtype=bool)),
            2,
            noise=Laplace(1.0),
            **arguments,
        )
    with pytest.raises(InputError, match="noise"):
        search_com_rounds_law(SIZES, stage, 1, noise=Laplace(0.0), **arguments)
    with pytest.raises(InputError, match="rounds"):
        search_com_rounds_law(SIZES, stage, -1, noise=Laplace(1.0), **arguments)
    with pytest.raises(InputError, match="whole"):
        search_com_rounds_law([0.5], stage, 1, noise=Laplace(1.0), **arguments)


def test_counting_is_not_begun_where_the_next_round_would_be_too_expensive(
    monkeypatch: pytest.MonkeyPatch,
):
    begun = []
    monkeypatch.setattr(rounds_module, "one_round", lambda *_: begun.append(1))
    with pytest.raises(LawUnavailable, match="multiplications"):
        search_com_rounds_law(
            [60, 60],
            lambda found: Stage(
                [t for t in range(3) if t not in found],
                np.zeros(3 - len(found)),
                np.array([0.0, 1.0]),
                np.zeros(2, dtype=bool),
            ),
            2,
            noise=Laplace(1.0),
            threshold=60,
            threshold_noise=Laplace(1.0),
            most_work=1e10,
        )
    assert not begun


@pytest.mark.parametrize("size", [1, 2, 40, 1_200])
def test_thinning_is_binomial(size: int):
    above = np.array([0.0, 1e-300, 0.3, 0.999, 1.0])
    counts = np.arange(size)
    expected = stats.binom.pmf(counts, counts[:, None], 1.0 - above[:, None, None])
    assert np.abs(rounds_module.thinning(size, above) - expected).max() < 1e-12
