"""Everybody's exposure on all of ``movie_costars``, and a round's law on planted networks.

Run with ``python -m pytest tests/benchmarks/bench_exposure.py -m benchmark -s``.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from pdpaudit.algorithms.laws.one_round import RoundScores, search_com_law, search_com_noises
from pdpaudit.algorithms.searches.noisy_max import PTargetMainText
from pdpaudit.algorithms.searches.search_com import PTarget
from pdpaudit.algorithms.statistics import CN
from pdpaudit.auditing.exposure import measure_exposure
from pdpaudit.experiments.generated_networks import infect
from pdpaudit.io import read_network
from pdpaudit.sampling import stream

pytestmark = pytest.mark.benchmark


def _plant(adjacency: Any, names: Any = None) -> Any:
    source = int(np.diff(adjacency.indptr).argmax())
    return infect(adjacency, source, 0.3, 0.3, 4, stream(1, "infect"))


@pytest.mark.parametrize("kind", [PTarget, PTargetMainText])
def test_everybodys_exposure_unfiltered(shared_data: Any, kind: Any, figure: Any) -> None:
    network = read_network(shared_data / "movie_costars" / "edges.csv.gz", plant=_plant).network
    began = time.process_time()
    found = measure_exposure(kind(sop=CN()), network)
    took = time.process_time() - began
    what = f"exposure of {len(found.protected):,} people, {kind.__name__}, {found.computed} laws"
    figure(what, took, "s", limit=120)
    assert took < 120


def _round_of_200(targets: np.ndarray, left: np.ndarray, scores: np.ndarray, n: int) -> float:
    """Seconds of one law with 200 of these targets left to find, best of five."""
    law = _law(PTarget(sop=CN()).epsilon, n)
    levels, counts = np.unique(scores[left], return_counts=True)
    times = []
    for _ in range(5):
        began = time.process_time()
        law(scores[targets[:200]], levels, counts.astype(float))
        times.append(time.process_time() - began)
    return min(times)


def _law(epsilon: float, n: int) -> Any:
    noise, stop = search_com_noises(epsilon, 1.0, 2 * (n - 1) + 1)

    def law(targets: Any, levels: Any, counts: Any) -> Any:
        scores = RoundScores.from_levels(targets, levels, counts)
        return search_com_law(scores, noise=noise, threshold=n // 2, threshold_noise=stop)

    return law


def test_a_round_with_200_targets_left(shared_data: Any, figure: Any) -> None:
    path = shared_data / "acl_coauthors" / "edges.csv.gz"
    network = read_network(path, plant=_plant).network
    rng = np.random.default_rng(1)
    found = rng.permutation(np.flatnonzero(network.targeted))[:100]
    scores = CN().scores(network.adjacency, found)
    left = network.protected
    targets = np.setdiff1d(np.flatnonzero(network.targeted), found)
    small = _round_of_200(rng.permutation(targets), left, scores, network.n)
    figure("round with 200 targets left on acl_coauthors, after scores", small, "s", limit=0.05)
    assert small < 0.05
    # a million vertices whose scores are distributed as theirs
    large_scores = np.concatenate([scores[targets[:200]], rng.choice(scores[left], 1_000_000)])
    large = _round_of_200(
        np.arange(200), np.arange(200, len(large_scores)), large_scores, len(large_scores)
    )
    figure("the same among a million planted", large, "s", baseline=small)
    assert large < 2 * small
