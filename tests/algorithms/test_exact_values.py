"""Outcome frequencies of the searches on two pairs whose laws are known exactly.

The exact values come from quadrature written here; the two losses they give, 1.9450 for the main
text with ten targets and 1.4877 for the appendix with six, agree with values computed elsewhere.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from pdpaudit.algorithms.searches.noisy_max import PTargetMainText
from pdpaudit.algorithms.searches.search_com import PTarget, SearchCom
from pdpaudit.algorithms.statistics import CN
from pdpaudit.core.network import Network

from .helpers import fit_p_value, network_of, tally

# Each test below rejects a right sampler with probability 1e-4; there are 16 of them.
FALSE_ALARM = 1e-4


def star_pair(targets: int, touched: list[int], others: int) -> Network:
    """Seed 0, targets 1..m, protected u = m+1 next to the seed and to ``touched``."""
    graph = nx.empty_graph(targets + 2 + others)
    graph.add_edges_from((targets + 1, t) for t in [0, *touched])
    return network_of(graph, list(range(targets + 1)), (0,))


@cache
def first_of(scores: tuple[float, ...], i: int) -> float:
    """Probability that the i-th of the scores is the largest after Lap(1) noise."""

    def density(z: float) -> float:
        return 0.5 * math.exp(-abs(z))

    def cdf(z: float) -> float:
        return density(z) if z < 0 else 1 - density(z)

    def integrand(x: float) -> float:
        others = math.prod(cdf(x - a) for j, a in enumerate(scores) if j != i)
        return density(x - scores[i]) * others

    return quad(integrand, -40, 40, points=[0.0, 1.0], limit=400, epsabs=1e-12)[0]


@cache
def empty_answer(targets: int, score: float, others: int, limit: int) -> float:
    """Probability of ∅ at ε = 1: m targets with one score, protected vertices with score 0."""
    impact = 2 * (targets + 1) + 1
    counts = np.arange(others + 1)
    accepted = stats.laplace.sf((counts - limit) / (2 * impact))  # Pr[noisy limit ≥ count]

    def integrand(x: float) -> float:
        z = x - score
        winner = targets * stats.laplace.cdf(z / 4) ** (targets - 1) * stats.laplace.pdf(z / 4) / 4
        return float(winner * (stats.binom.pmf(counts, others, stats.laplace.sf(x / 4)) @ accepted))

    found = quad(integrand, -60, 160, points=[0.0, score], limit=800, epsabs=1e-9)[0]
    return 1 - found


def test_quadrature_gives_the_known_losses() -> None:
    near = first_of((1.0,) + (0.0,) * 9, 0)
    far = first_of((0.0,) + (1.0,) * 9, 0)
    assert near == pytest.approx(0.257336, abs=5e-7)
    assert far == pytest.approx(0.036797, abs=5e-7)
    assert math.log(near / far) == pytest.approx(1.9450, abs=5e-5)
    low, high = empty_answer(6, 1.0, 2000, 1000), empty_answer(6, 0.0, 2000, 1000)
    assert low == pytest.approx(3.652e-3, abs=5e-7)
    assert high == pytest.approx(1.617e-2, abs=5e-6)
    assert math.log(high / low) == pytest.approx(1.4877, abs=5e-5)


def main_text_law(touched: list[int]) -> dict[tuple[int, ...], float]:
    scores = tuple(1.0 if t in touched else 0.0 for t in range(1, 11))
    return {(0, t): first_of(scores, t - 1) for t in range(1, 11)}


MAIN_TEXT_PAIR = [[1], list(range(2, 11))]


@pytest.mark.parametrize("touched", MAIN_TEXT_PAIR)
def test_main_text_samples(touched: list[int]) -> None:
    instance = star_pair(10, touched, 3).instance()
    outputs = PTargetMainText(sop=CN()).sample(instance, 1_000_000, np.random.default_rng(51))
    assert fit_p_value(outputs.counts(), main_text_law(touched)) > FALSE_ALARM


@pytest.mark.parametrize("touched", MAIN_TEXT_PAIR)
def test_main_text_runs(touched: list[int]) -> None:
    counts = tally(PTargetMainText(sop=CN()), star_pair(10, touched, 3), 5_000, seed=52)
    assert fit_p_value(counts, main_text_law(touched)) > FALSE_ALARM


def searches(targets: int, limit: int) -> list[tuple[Any, int, tuple[int, ...]]]:
    """SearchCom alone may examine u, PTarget's SFS already has: same law, one vertex less."""
    arguments = {"sop": CN(), "stop": limit, "max_degree": targets + 1}
    return [(SearchCom(**arguments), 1, ()), (PTarget(**arguments), 0, (0,))]


def appendix_law(
    targets: int, score: float, others: int, limit: int, prefix: tuple[int, ...]
) -> dict[tuple[int, ...], float]:
    empty = empty_answer(targets, score, others, limit)
    law = {(*prefix, t): (1 - empty) / targets for t in range(1, targets + 1)}
    return law | {prefix: empty}


@pytest.mark.parametrize("score", [0, 1])
@pytest.mark.parametrize("which", [0, 1])
def test_appendix_samples(score: int, which: int) -> None:
    mechanism, extra, prefix = searches(6, 1000)[which]
    touched = list(range(1, 7)) if score else []
    instance = star_pair(6, touched, 2000 - extra).instance()
    outputs = mechanism.sample(instance, 2_000_000, np.random.default_rng(53))
    law = appendix_law(6, float(score), 2000, 1000, prefix)
    assert fit_p_value(outputs.counts(), law) > FALSE_ALARM


@pytest.mark.parametrize("score", [0, 1])
@pytest.mark.parametrize("which", [0, 1])
def test_appendix_runs(score: int, which: int) -> None:
    mechanism, extra, prefix = searches(2, 60)[which]
    touched = [1, 2] if score else []
    counts = tally(mechanism, star_pair(2, touched, 120 - extra), 5_000, seed=54)
    law = appendix_law(2, float(score), 120, 60, prefix)
    assert fit_p_value(counts, law) > FALSE_ALARM


@pytest.mark.parametrize("score", [0, 1])
@pytest.mark.parametrize("which", [0, 1])
def test_appendix_samples_where_counts_decide(score: int, which: int) -> None:
    # Few vertices and little noise on the limit, so that the count is drawn, not settled.
    mechanism, extra, prefix = searches(2, 60)[which]
    touched = [1, 2] if score else []
    instance = star_pair(2, touched, 120 - extra).instance()
    outputs = mechanism.sample(instance, 1_000_000, np.random.default_rng(55))
    law = appendix_law(2, float(score), 120, 60, prefix)
    assert fit_p_value(outputs.counts(), law) > FALSE_ALARM
