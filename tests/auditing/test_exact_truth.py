"""The losses known of the paper's searches, through pair and law; and who keeps theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pdpaudit.algorithms.laws.noise import Exponential, Gumbel, Laplace
from pdpaudit.algorithms.laws.one_round import (
    RoundScores,
    first_target_law,
    search_com_law,
    search_com_noises,
)
from pdpaudit.algorithms.laws.worst_case import search_com_bound
from pdpaudit.algorithms.searches.noisy_max import PTargetMainText
from pdpaudit.algorithms.searches.search_com import SearchCom
from pdpaudit.algorithms.statistics import CN
from pdpaudit.attacks.pair_families import planted_network
from pdpaudit.core.network import rewire
from pdpaudit.core.privacy_loss import exact_loss


def _loss(mechanism: Any, network: Any, left: list[int], right: list[int]) -> Any:
    u = int(network.protected[0])
    return exact_loss(
        mechanism.law(rewire(network, u, left).instance()),
        mechanism.law(rewire(network, u, right).instance()),
    )


@pytest.mark.parametrize(
    ("m", "loss"), [(2, 0.9648), (3, 1.4246), (5, 1.7590), (10, 1.9450), (20, 1.9953)]
)
def test_the_main_text_loses_up_to_twice_its_claim(m: int, loss: float) -> None:
    network = planted_network(m, 1)
    found = _loss(PTargetMainText(sop=CN()), network, [0, 1], [0, *range(2, m + 1)])
    assert found.epsilon == pytest.approx(loss, abs=5.1e-5)
    if m == 10:
        assert found.event == {(0, 1)}
        assert found.probabilities == pytest.approx((0.257336, 0.036797), abs=5.1e-7)


@pytest.mark.parametrize(
    ("n", "k", "m", "loss", "probabilities"),
    [
        (2000, 1000, 4, 0.9961, None),
        (2000, 1000, 5, 1.2430, None),
        (2000, 1000, 6, 1.4877, (3.652e-3, 1.617e-2)),
        (2000, 1000, 8, 1.9637, None),
        (2000, 1000, 10, 2.3923, None),
        (2000, 1400, 8, 1.9999, (1.149e-5, 8.489e-5)),
        (400, 200, 4, 0.8668, None),
        (400, 200, 5, 0.9492, None),
        (400, 200, 6, 0.9120, None),
    ],
)
def test_the_empty_answer_of_search_com_leaks(
    n: int, k: int, m: int, loss: float, probabilities: tuple[float, float] | None
) -> None:
    network = planted_network(m, n)
    mechanism = SearchCom(sop=CN(), stop=k)
    u = int(network.protected[0])
    sides = [
        mechanism.law(rewire(network, u, ties).instance()).probabilities[()]
        for ties in ([0, *range(1, m + 1)], [0])
    ]
    assert np.log(sides[1] / sides[0]) == pytest.approx(loss, abs=5.1e-5)
    if probabilities is not None:
        assert sides == pytest.approx(probabilities, rel=2e-4)


#: Random rounds for each of those that keep their claim: every one is a pair it might fail on.
Repetitions = Callable[[int, int], int]

#: Random pairs: by default, and with --slow.
PAIRS = 100, 1000


def _random_pair(rng: np.random.Generator) -> tuple[Any, Any]:
    """Scores of the remaining targets on two sides, none further apart than Δ = 1."""
    m = int(rng.integers(1, 13))
    here = rng.integers(0, 5, m).astype(float)
    kind = rng.integers(0, 3)
    if kind == 0:
        step = rng.integers(-1, 2, m).astype(float)
    elif kind == 1:  # all but one go the other way
        step = np.where(np.arange(m) == rng.integers(m), 1.0, -1.0) * rng.choice([-1, 1])
    else:
        step = rng.uniform(-1, 1, m)
    return here, here + step


def _log_loss(one: Any, two: Any) -> float:
    here = np.append(one.log_found, one.log_none)
    there = np.append(two.log_found, two.log_none)
    live = np.isfinite(here) | np.isfinite(there)
    return float(np.abs(here[live] - there[live]).max())


@pytest.mark.parametrize("noise", [Laplace, Gumbel, Exponential])
def test_the_threshold_stop_keeps_its_claim_on_random_pairs(
    noise: Any, repetitions: Repetitions
) -> None:
    rng = np.random.default_rng(20)
    worst = 0.0
    for _ in range(repetitions(*PAIRS)):
        epsilon = float(rng.choice([0.1, 1.0, 3.0]))
        threshold = float(rng.integers(-1, 5))
        laws = [
            first_target_law(scores, noise(2 / epsilon), stop_score=threshold)
            for scores in _random_pair(rng)
        ]
        ratio = _log_loss(*laws) / epsilon
        assert ratio <= 1 + 1e-9
        worst = max(worst, ratio)
    assert worst > 0.6  # the pairs are hard enough to mean something


def test_twice_the_noise_mends_the_main_text_on_random_pairs(repetitions: Repetitions) -> None:
    rng = np.random.default_rng(21)
    worst = {1: 0.0, 2: 0.0}
    for _ in range(repetitions(*PAIRS)):
        epsilon = float(rng.choice([0.1, 1.0, 3.0]))
        pair = _random_pair(rng)
        for factor in worst:
            laws = [first_target_law(scores, Laplace(factor / epsilon)) for scores in pair]
            worst[factor] = max(worst[factor], _log_loss(*laws) / epsilon)
    assert worst[2] <= 1 + 1e-9
    assert worst[1] > 1.5  # as claimed it would not have passed


def test_search_com_keeps_its_proved_bound_on_random_pairs(repetitions: Repetitions) -> None:
    rng = np.random.default_rng(22)
    for _ in range(repetitions(*PAIRS) // 2):
        epsilon = float(rng.choice([0.5, 1.0, 3.0]))
        here, there = _random_pair(rng)
        movable = int((here != there).sum())
        spare = int(rng.integers(0, 4))
        impact = max(movable + spare, 1)
        levels = rng.integers(0, 5, 3).astype(float)
        counts = rng.integers(1, 40, 3)
        noise, stop = search_com_noises(epsilon, 1.0, impact)
        limit = float(rng.integers(0, counts.sum() + 1))
        # Spare protected vertices may move anywhere: their scores have no sensitivity.
        sides = [
            RoundScores.from_levels(
                scores, [*levels, place], [*counts, min(spare, impact - movable)]
            )
            for scores, place in ((here, -9.0), (there, float(rng.integers(-9, 9))))
        ]
        laws = [
            search_com_law(side, noise=noise, threshold=limit, threshold_noise=stop)
            for side in sides
        ]
        bound = search_com_bound(epsilon, movable, impact)
        assert _log_loss(*laws) <= bound + 1e-9
