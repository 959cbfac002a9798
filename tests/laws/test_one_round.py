"""One round's law against published values, mpmath, enumeration and plain simulation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import stats

from pdpaudit.algorithms.laws.noise import Exponential, Gumbel, Laplace
from pdpaudit.algorithms.laws.one_round import (
    RoundScores,
    first_target_law,
    search_com_law,
    search_com_noises,
)
from pdpaudit.core.errors import InputError


def squeeze(m, n, threshold, epsilon=1.0):
    """All m targets move together from 0 to 1 while n protected vertices stay at 0."""
    noise, stop = search_com_noises(epsilon, 1.0, 2 * (m + 1) + 1)
    return [
        search_com_law(
            RoundScores.from_levels([score] * m, [0.0], [n]),
            noise=noise,
            threshold=threshold,
            threshold_noise=stop,
        )
        for score in (1.0, 0.0)
    ]


@pytest.mark.parametrize(
    ("m", "loss"), [(2, 0.9648), (3, 1.4246), (5, 1.7590), (10, 1.9450), (20, 1.9953)]
)
def test_main_text_loses_up_to_twice_its_claim(m, loss):
    near = first_target_law([1.0] + [0.0] * (m - 1), Laplace(1.0))
    far = first_target_law([0.0] + [1.0] * (m - 1), Laplace(1.0))
    assert near.log_found[0] - far.log_found[0] == pytest.approx(loss, abs=5.1e-5)
    if m == 10:
        assert near.found[0] == pytest.approx(0.257336, abs=5.1e-7)
        assert far.found[0] == pytest.approx(0.036797, abs=5.1e-7)


@pytest.mark.parametrize(
    ("n", "threshold", "m", "loss"),
    [
        (2000, 1000, 4, 0.9961),
        (2000, 1000, 5, 1.2430),
        (2000, 1000, 6, 1.4877),
        (2000, 1000, 8, 1.9637),
        (2000, 1000, 10, 2.3923),
        (2000, 1400, 8, 1.9999),
        (400, 200, 4, 0.8668),
        (400, 200, 5, 0.9492),
        (400, 200, 6, 0.9120),
    ],
)
def test_empty_answer_of_the_appendix_algorithm(n, threshold, m, loss):
    near, far = squeeze(m, n, threshold)
    assert far.log_none - near.log_none == pytest.approx(loss, abs=5.1e-5)
    assert near.total == pytest.approx(1.0, abs=1e-10)
    assert far.total == pytest.approx(1.0, abs=1e-10)


def test_empty_answer_to_more_digits():
    near, far = squeeze(8, 2000, 1000)
    assert far.log_none - near.log_none == pytest.approx(1.9637394630037, abs=5e-13)
    near, far = squeeze(6, 2000, 1000)
    assert near.none == pytest.approx(3.652e-3, abs=5.1e-7)
    assert far.none == pytest.approx(1.617e-2, abs=5.1e-6)
    near, far = squeeze(8, 2000, 1400)
    assert near.none == pytest.approx(1.149e-5, abs=5.1e-9)
    assert far.none == pytest.approx(8.489e-5, abs=5.1e-9)


def mp_round(targets, protected, noise, threshold, stop):
    """The law by its integral over 30-digit numbers; the count above by one convolution."""
    with mp.workdps(30):
        b = mpf(noise)

        def cdf(z):
            return mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2

        def passes(x):
            law = [mpf(1)]
            for score in protected:
                p = cdf((mpf(score) - x) / b)
                law = [
                    (law[i] if i < len(law) else 0) * (1 - p) + (law[i - 1] * p if i else 0)
                    for i in range(len(law) + 1)
                ]
            total = mpf(0)
            for count, weight in enumerate(law):
                gap = count - mpf(threshold)
                survival = mpf(gap <= 0) if stop == 0 else 1 - cdf(gap / mpf(stop))
                total += weight * survival
            return total

        def density(j, x):
            value = mp.exp(-abs(x - mpf(targets[j])) / b) / (2 * b)
            for other, score in enumerate(targets):
                if other != j:
                    value *= cdf((x - mpf(score)) / b)
            return value

        kinks = sorted({mpf(s) for s in [*targets, *protected]})
        steps = [mpf(k) * b for k in (4, 10, 20, 45)]
        points = [kinks[0] - s for s in reversed(steps)] + kinks + [kinks[-1] + s for s in steps]
        found = [
            mp.quad(lambda x, j=j: density(j, x) * passes(x), points) for j in range(len(targets))
        ]
        none = mp.quad(
            lambda x: sum(density(j, x) for j in range(len(targets))) * (1 - passes(x)), points
        )
    return [float(v) for v in found], float(none)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))]
)
def test_against_mpmath(seed):
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, 4, size=rng.integers(1, 4)).astype(float)
    protected = rng.integers(0, 4, size=rng.integers(0, 6)) / 2
    noise, stop = float(rng.uniform(0.5, 6)), float(rng.choice([0.0, 0.7, 8.0]))
    threshold = float(rng.choice([0.0, 1.0, 2.5, 4.0]))
    law = search_com_law(
        RoundScores.from_vertices(targets, protected),
        noise=Laplace(noise),
        threshold=threshold,
        threshold_noise=Laplace(stop),
    )
    found, none = mp_round(targets, protected, noise, threshold, stop)
    assert law.found == pytest.approx(found, abs=1e-11, rel=1e-9)
    assert law.none == pytest.approx(none, abs=1e-11, rel=1e-9)


def grid_round(targets, protected, scale, threshold, stop, cells):
    """Enumerate every joint cell of equally likely noise values, winner and count by sorting."""
    u = (np.arange(cells) + 0.5) / cells
    draws = stats.laplace(scale=scale).ppf(u)
    found, none = np.zeros(len(targets)), 0.0
    scores = np.array([*targets, *protected])
    for cell in product(range(cells), repeat=scores.size):
        noisy = scores + draws[list(cell)]
        # between equal midpoints both orders are equally likely: average over them
        best = noisy[: len(targets)].max()
        winners = np.flatnonzero(noisy[: len(targets)] == best)
        above = (noisy[len(targets) :] > best).sum()
        level = (noisy[len(targets) :] == best).sum()
        tied = level + winners.size
        passes = 0.0
        for extra in range(level + 1):
            # the first winner among `tied` equals has `extra` protected ones ahead of it
            weight = 1.0
            for i in range(extra):
                weight *= (level - i) / (tied - i)
            weight *= winners.size / (tied - extra)
            passes += weight * stats.laplace.sf((above + extra - threshold) / stop)
        found[winners] += passes / winners.size
        none += 1.0 - passes
    return found / cells**scores.size, none / cells**scores.size


@pytest.mark.slow
def test_against_brute_force_over_all_noise_values():
    # Three vertices, 20 equally likely values each: error O(1/cells^2), shown by extrapolation.
    arguments = ([0.3, 0.0], [0.8], 1.5, 0.4, 2.0)
    coarse, coarse_none = grid_round(*arguments, 10)
    fine, fine_none = grid_round(*arguments, 20)
    law = search_com_law(
        RoundScores.from_vertices(arguments[0], arguments[1]),
        noise=Laplace(1.5),
        threshold=0.4,
        threshold_noise=Laplace(2.0),
    )
    gap = np.abs(fine - coarse).max() + abs(fine_none - coarse_none)
    assert gap < 1e-2
    assert law.found == pytest.approx(fine, abs=gap)
    assert law.none == pytest.approx(fine_none, abs=gap)


def simulate(rule, targets, protected, noise, threshold, stop, draws, rng):
    """Literal runs: sort the noisy scores, query one by one, count queries."""
    m = len(targets)
    outcomes = np.zeros(m + 1)
    scores = np.array([*targets, *protected])
    base = {"laplace": rng.laplace, "gumbel": rng.gumbel}
    for _ in range(draws):
        if rule == "exponential" or noise[0] == "exponential":
            z = rng.exponential(noise[1], size=scores.size + 1)
        else:
            z = base[noise[0]](0.0, noise[1], size=scores.size + 1)
        noisy = scores + z[:-1]
        limit = threshold + (rng.laplace(0.0, stop) if stop else 0.0)
        result = m
        for count, v in enumerate(np.argsort(-noisy)):
            if rule == "count" and count > limit:
                break
            if rule == "score" and noisy[v] < threshold + z[-1]:
                break
            if v < m:
                result = v
                break
        outcomes[result] += 1
    return outcomes


def test_laws_agree_with_literal_simulation():
    """Chi-square over 60 instances; family-wise false-alarm rate 1e-3 (Bonferroni), seed pinned."""
    rng = np.random.default_rng(20240611)
    draws, instances, level = 1500, 60, 1e-3
    for case in range(instances):
        rule = ("count", "first", "score")[case % 3]
        targets = rng.integers(0, 3, size=rng.integers(1, 5)).astype(float)
        protected = rng.integers(0, 3, size=rng.integers(0, 7)).astype(float)
        scale, stop = float(rng.uniform(0.5, 4)), float(rng.choice([0.0, 2.0]))
        threshold = float(rng.integers(0, 4))
        kind, make = [("laplace", Laplace), ("gumbel", Gumbel), ("exponential", Exponential)][
            case // 3 % 3 if rule != "count" else 0
        ]
        if rule == "count":
            law = search_com_law(
                RoundScores.from_vertices(targets, protected),
                noise=Laplace(scale),
                threshold=threshold,
                threshold_noise=Laplace(stop),
            )
        elif rule == "first":
            law = first_target_law(targets, make(scale))
        else:
            law = first_target_law(targets, make(scale), stop_score=threshold)
        seen = simulate(rule, targets, protected, (kind, scale), threshold, stop, draws, rng)
        expected = draws * np.append(law.found, law.none)
        assert np.all(seen[expected == 0] == 0)
        keep = expected > 0
        # merge rare outcomes so that the chi-square approximation is good
        order = np.argsort(expected[keep])
        e, s = expected[keep][order], seen[keep][order]
        while e.size > 1 and e[0] < 5:
            e = np.append(e[0] + e[1], e[2:])
            s = np.append(s[0] + s[1], s[2:])
        if e.size > 1:
            statistic = float(((s - e) ** 2 / e).sum())
            assert stats.chi2.sf(statistic, e.size - 1) > level / instances, (case, e, s)


SCORES = st.lists(st.integers(-3, 6), min_size=1, max_size=8)


@settings(max_examples=settings().max_examples * 3 // 5, deadline=None)
@given(
    targets=SCORES,
    protected=st.dictionaries(st.integers(-4, 8), st.integers(1, 50_000), max_size=6),
    scale=st.floats(0.2, 60),
    stop=st.sampled_from([0.0, 0.5, 30.0, 2000.0]),
    share=st.floats(-0.1, 1.1),
)
def test_law_sums_to_one_and_treats_equals_alike(targets, protected, scale, stop, share):
    threshold = share * sum(protected.values())
    law = search_com_law(
        RoundScores.from_levels(targets, list(protected), list(protected.values())),
        noise=Laplace(scale),
        threshold=threshold,
        threshold_noise=Laplace(stop),
    )
    assert law.total == pytest.approx(1.0, abs=1e-10)
    for score in set(targets):
        same = law.log_found[np.array(targets) == score]
        assert np.all(same == same[0])


def test_extreme_configurations_still_sum_to_one(repetitions):
    """Far and near scores, wide and narrow noise, up to 10^5 vertices a level: no warning."""
    rng = np.random.default_rng(1)
    for _ in range(repetitions(30, 200)):
        m, levels = int(rng.integers(1, 7)), int(rng.integers(1, 5))
        spread = 10 ** rng.uniform(-2, 2.5)
        targets = np.round(rng.normal(size=m) * spread, 2)
        protected = np.round(rng.normal(size=levels) * spread, 2)
        counts = np.floor(10 ** rng.uniform(0, 5, size=levels))
        scale = 10 ** rng.uniform(-0.5, 1.5)
        threshold = np.floor(counts.sum() * rng.uniform())
        law = search_com_law(
            RoundScores.from_levels(targets, protected, counts),
            noise=Laplace(scale),
            threshold=threshold,
            threshold_noise=Laplace(float(rng.choice([0.0, 10 ** rng.uniform(-2, 3)]))),
        )
        assert law.total == pytest.approx(1.0, abs=1e-12)


def test_a_wide_gap_between_scores_hides_nothing():
    # a panel seen at 60 % by both rules once passed for resolved
    law = search_com_law(
        RoundScores.from_levels([1.0, 1.0], [-275.98, -35.98, 275.98], [17, 183, 200]),
        noise=Laplace(4.0),
        threshold=200,
        threshold_noise=Laplace(38.0),
    )
    assert law.total == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("make", [Laplace, Gumbel, Exponential])
def test_repaired_search_never_exceeds_its_claim(make, repetitions):
    """Random pairs at scale 2 sensitivity / epsilon; all events, both ways."""
    rng = np.random.default_rng(5)
    for _ in range(repetitions(100, 1000)):
        m = int(rng.integers(1, 9))
        a = rng.integers(0, 4, size=m).astype(float)
        b = a + rng.choice([-1.0, 0.0, 1.0], size=m)
        epsilon, stop = float(rng.choice([0.1, 1.0, 3.0])), float(rng.integers(-1, 4))
        one, two = (first_target_law(s, make(2.0 / epsilon), stop_score=stop) for s in (a, b))
        loss = np.append(one.log_found, one.log_none) - np.append(two.log_found, two.log_none)
        assert np.abs(loss).max() <= epsilon + 1e-10


def test_main_text_with_twice_the_noise_never_exceeds_its_claim(repetitions):
    """Random pairs, 1,000 with --slow."""
    rng = np.random.default_rng(6)
    for _ in range(repetitions(100, 1000)):
        m = int(rng.integers(1, 12))
        a = rng.integers(0, 4, size=m).astype(float)
        b = a + rng.choice([-1.0, 0.0, 1.0], size=m)
        epsilon = float(rng.choice([0.1, 1.0, 3.0]))
        one, two = (first_target_law(s, Laplace(2.0 / epsilon)) for s in (a, b))
        assert np.abs(one.log_found - two.log_found).max() <= epsilon + 1e-10


def test_permute_and_flip_matches_its_own_definition():
    # permute, then accept each with probability exp((score - best) / scale)
    scores, scale = np.array([1.0, 0.0, 0.5, 0.0]), 0.8
    accept = np.exp((scores - scores.max()) / scale)

    def run(left):
        result = np.zeros(scores.size)
        for v in left:
            result[v] += accept[v] / len(left)
            if len(left) > 1:
                result += (1 - accept[v]) / len(left) * run([w for w in left if w != v])
        return result

    law = first_target_law(scores[:3], Exponential(scale), stop_score=0.0)
    assert np.append(law.found, law.none) == pytest.approx(run(list(range(4))), rel=1e-12)


def test_two_targets_under_laplace_have_a_closed_form():
    # Pr[X > Y + d] for two Laplace variables: exp(-d)(2 + d)/4
    for d in (0.1, 1.0, 5.0, 30.0):
        law = first_target_law([0.0, d], Laplace(1.0))
        assert law.log_found[0] == pytest.approx(np.log((2 + d) / 4) - d, abs=1e-11)


def test_million_protected_vertices_of_one_score():
    # g is a step in x: the winner must lie above the K-th largest of a million
    n, K = 1_000_000, 500_000
    scores = RoundScores.from_levels([0.0], [0.0], [n])
    law = search_com_law(scores, noise=Laplace(4.0), threshold=K, threshold_noise=Laplace(0.0))
    # the target is equally likely in every rank among n + 1
    assert law.found[0] == pytest.approx((K + 1) / (n + 1), rel=1e-11)
    assert law.none == pytest.approx((n - K) / (n + 1), rel=1e-11)


@pytest.mark.parametrize(
    ("n", "K"), [(50, 0), (1000, 3), (200_000, 0), (1000, 999), (100_000, 99_999)]
)
def test_rank_of_equals(n, K):
    m = 3
    law = search_com_law(
        RoundScores.from_levels([2.0] * m, [2.0], [n]),
        noise=Laplace(0.3),
        threshold=K,
        threshold_noise=Laplace(0.0),
    )
    # Pr[at least K + 1 protected vertices precede every target], all orders equally likely
    log_none = sum(np.log((n - i) / (n + m - i)) for i in range(K + 1))
    assert law.log_none == pytest.approx(log_none, rel=1e-11, abs=1e-11)


def test_without_noise_the_order_decides():
    scores = RoundScores.from_vertices([1.0, 1.0], [2.0, 1.0, 1.0, 0.0], [9, 4], [0, 3, 5, 1])
    assert (scores.first, scores.ahead) == (1, 2)
    law = search_com_law(scores, noise=Laplace(0.0), threshold=1.0, threshold_noise=Laplace(2.0))
    assert law.found == pytest.approx([0.0, 0.5 * np.exp(-0.5)])
    assert law.none == pytest.approx(1 - 0.5 * np.exp(-0.5))
    for threshold, outcome in [(1.9, [0, 0, 1]), (2.0, [0, 1, 0])]:
        law = search_com_law(
            scores, noise=Laplace(0.0), threshold=threshold, threshold_noise=Laplace(0.0)
        )
        assert [*law.found, law.none] == outcome
    assert first_target_law([1.0, 1.0], Laplace(0.0), [9, 4]).found.tolist() == [0.0, 1.0]
    assert first_target_law([1.0, 0.0], Gumbel(0.0), stop_score=1.0).found.tolist() == [1.0, 0.0]
    assert first_target_law([1.0, 0.0], Gumbel(0.0), stop_score=1.5).none == 1.0
    with pytest.raises(InputError, match="vertex numbers"):
        search_com_law(
            RoundScores.from_levels([1.0], [1.0], [2]),
            noise=Laplace(0.0),
            threshold=1.0,
            threshold_noise=Laplace(0.0),
        )


def test_no_targets_and_no_limit():
    empty = RoundScores.from_levels([], [0.0], [5])
    nothing = search_com_law(empty, noise=Laplace(1.0), threshold=3.0, threshold_noise=Laplace(1.0))
    assert nothing.none == 1.0
    assert first_target_law([], Laplace(1.0)).none == 1.0
    assert first_target_law([], Laplace(1.0), stop_score=0.0).none == 1.0
    endless = search_com_law(
        RoundScores.from_levels([0.0, 1.0], [0.0], [5]),
        noise=Laplace(1.0),
        threshold=np.inf,
        threshold_noise=Laplace(1.0),
    )
    assert endless.found == pytest.approx(first_target_law([0.0, 1.0], Laplace(1.0)).found)
