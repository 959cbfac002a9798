"""Laws from another law's nodes against those computed by themselves, and against convolution."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial.legendre import leggauss

from pdpaudit.algorithms.laws.nearby import NearbyLaws
from pdpaudit.algorithms.laws.noise import Laplace
from pdpaudit.algorithms.laws.one_round import RoundScores, search_com_law, search_com_noises


def by_itself(scores, noise, threshold, stop):
    return search_com_law(scores, noise=noise, threshold=threshold, threshold_noise=stop)


def worst_gap(one, other):
    """Largest difference of logarithms; what cannot happen on both sides is no difference."""
    here = np.append(one.log_found, one.log_none)
    there = np.append(other.log_found, other.log_none)
    differ = here != there
    return np.abs(here[differ] - there[differ]).max(initial=0.0)


def neighbour(rng, targets, levels, counts, unit):
    """Scores after some rewiring: some targets and some protected vertices move."""
    moved = targets + unit * rng.choice([-1, 0, 0, 1], targets.size)
    levels, counts = list(levels), list(counts)
    for _ in range(rng.integers(0, 4)):
        place = int(rng.integers(len(counts)))
        some = min(counts[place], int(rng.integers(0, 7)))
        counts[place] -= some
        levels.append(levels[place] + unit * rng.choice([-1.0, 1.0, 2.5]))
        counts.append(some)
    return RoundScores.from_levels(moved, levels, counts)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    epsilon=st.sampled_from([0.1, 0.5, 1.0, 3.0]),
    impact=st.integers(1, 80),
    share=st.floats(0.0, 1.0),
    size=st.integers(1, 4),
)
def test_agrees_with_the_law_by_itself(seed, epsilon, impact, share, size):
    rng = np.random.default_rng(seed)
    unit = float(rng.choice([1.0, 0.37]))
    targets = rng.integers(0, 8, rng.integers(1, 25)) * unit
    levels = rng.permutation(15)[: rng.integers(1, 9)] * unit
    counts = rng.integers(1, 10**size + 1, levels.size).astype(float)
    noise, stop = search_com_noises(epsilon, unit, impact)
    threshold = float(np.floor(share * counts.sum()))
    laws = NearbyLaws(noise, threshold, stop)
    first = RoundScores.from_levels(targets, levels, counts)
    assert worst_gap(laws(first), by_itself(first, noise, threshold, stop)) == 0
    for _ in range(3):
        scores = neighbour(rng, targets, levels, counts, unit)
        alone = by_itself(scores, noise, threshold, stop)
        assert worst_gap(laws(scores), alone) < 1e-11


def test_most_neighbours_of_a_crowd_are_cheap():
    rng = np.random.default_rng(3)
    targets = rng.integers(0, 9, 100).astype(float)
    levels, counts = np.arange(12.0), np.round(3000 * 0.6 ** np.arange(12)) + 1
    noise, stop = search_com_noises(1.0, 1.0, 201)
    laws = NearbyLaws(noise, counts.sum() // 2, stop)
    laws(RoundScores.from_levels(targets, levels, counts))
    for _ in range(20):
        laws(neighbour(rng, targets, levels, counts, 1.0))
    assert laws.cheap == 20


def test_a_whole_other_crowd_is_computed_by_itself():
    noise, stop = search_com_noises(1.0, 1.0, 9)
    laws = NearbyLaws(noise, 500, stop)
    laws(RoundScores.from_levels([1.0, 0.0], [0.0], [1000]))
    for scores in (
        RoundScores.from_levels([1.0, 0.0], [0.0], [1500]),
        RoundScores.from_levels([1.0, 0.0], [0.0], [3]),
        RoundScores.from_levels([300.0, 0.0], [0.0], [1000]),
        RoundScores.from_levels([1.0, 0.0], [9.0], [1000]),
        RoundScores.from_levels([1.0, 0.0], np.arange(100.0), [10] * 100),
        RoundScores.from_levels([], [0.0], [1000]),
        RoundScores.from_levels([1.0, 0.0], [], []),
    ):
        told, alone = laws(scores), by_itself(scores, noise, 500, stop)
        assert told.log_none == alone.log_none
        assert told.log_found.tolist() == alone.log_found.tolist()
    assert laws.cheap == 0
    assert laws.whole == 8


@pytest.mark.parametrize("crowd", [1104, 1500])
def test_a_crowd_that_comes_to_reach_the_limit_is_computed_by_itself(crowd):
    """First no count can reach K, and the closed form holds everywhere; then some do."""
    noise, stop = search_com_noises(1.0, 1.0, 9)
    laws = NearbyLaws(noise, 1100, stop)
    for size in (1000, 1010, crowd):
        scores = RoundScores.from_levels([1.0, 0.0], [0.0], [size])
        assert worst_gap(laws(scores), by_itself(scores, noise, 1100, stop)) < 1e-11
    assert (laws.cheap, laws.whole) == (1, 2)


@pytest.mark.parametrize(
    ("noise", "threshold", "stop"),
    [
        (Laplace(4.0), 3.0, Laplace(0.0)),
        (Laplace(0.0), 3.0, Laplace(5.0)),
        (Laplace(4.0), np.inf, Laplace(5.0)),
    ],
)
def test_without_noise_or_limit_every_law_is_whole(noise, threshold, stop):
    laws = NearbyLaws(noise, threshold, stop)
    for ahead in (5, 6):
        scores = RoundScores.from_levels([1.0, 0.5], [0.0], [ahead])
        assert worst_gap(laws(scores), by_itself(scores, noise, threshold, stop)) == 0
    assert laws.cheap == 0


def test_against_convolution_and_plain_quadrature():
    """An oracle that shares nothing: binomials convolved, 30 nodes on each of many panels."""
    targets, levels = np.array([2.0, 0.0, 0.0, 1.0]), np.array([0.0, 1.0, 2.0])
    counts = np.array([60.0, 25.0, 10.0])
    noise, stop = search_com_noises(1.0, 1.0, 7)
    laws = NearbyLaws(noise, 40, stop)
    laws(RoundScores.from_levels(targets, levels, counts))
    after, changed = np.array([1.0, 1.0, 0.0, 1.0]), np.array([57.0, 26.0, 11.0, 2.0])
    every = np.append(levels, 3.5)
    law = laws(RoundScores.from_levels(after, every, changed))
    assert laws.cheap == 1
    passing = np.exp(stop.logsf(np.arange(changed.sum() + 1) - 40.0))
    nodes, weights = leggauss(30)
    found, none = np.zeros(4), 0.0
    ends = np.unique(np.concatenate([np.linspace(-40, 190, 47), every, after]))
    for left, right in pairwise(ends):
        for node, weight in zip(nodes, weights, strict=True):
            x = (left + right) / 2 + (right - left) / 2 * node
            count = np.ones(1)
            for level, size in zip(every, changed, strict=True):
                p = float(np.exp(noise.logsf(x - level)))
                for _ in range(int(size)):
                    count = np.convolve(count, [1 - p, p])
            g = float(count @ passing)
            below = np.exp(noise.logcdf(x - after))
            density = np.exp(noise.logpdf(x - after))
            race = density * below.prod() / below * weight * (right - left) / 2
            found += race * g
            none += race.sum() * (1 - g)
    assert law.log_found == pytest.approx(np.log(found), abs=1e-11)
    assert law.log_none == pytest.approx(np.log(none), abs=1e-11)
