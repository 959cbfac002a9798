"""Where an ordering is cut, and which cuts are kept."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from pdpaudit.attacks.thresholds import (
    BEND,
    MISFIT,
    SLOPE,
    Curve,
    apart,
    blended,
    calibrated,
    levels,
)


@pytest.mark.parametrize("count", [2, 5, 8, 96])
def test_levels_are_symmetric_and_dense_at_the_ends(count):
    shares = levels(count)
    half = max(2, count // 2)
    assert len(shares) == 2 * half - 1
    np.testing.assert_allclose(shares[:half], np.geomspace(1e-4, 0.5, half))
    np.testing.assert_allclose(shares, 1.0 - shares[::-1])
    assert np.all(np.diff(shares) > 0)


def test_levels_of_next_to_nothing_are_still_both_ends_and_the_middle():
    assert levels(0).tolist() == pytest.approx([1e-4, 0.5, 1.0 - 1e-4])


def test_those_kept_differ_by_half_in_size():
    # Sizes count from 1: 19 + 1 against 29 + 1 is exactly half more, which is not enough.
    assert apart(np.array([0.4, 0.3, 0.2]), [19, 29, 30], 3) == [0, 2]
    assert apart(np.array([0.4, 0.3, 0.2]), [30, 20, 18], 3) == [0, 2]
    assert apart(np.array([0.4, 0.3, 0.2]), [0, 1, 4], 3) == [0, 1, 2]


def test_the_first_of_equals_is_kept_and_no_more_than_asked():
    assert apart(np.array([0.1, 0.5, 0.5, 0.5]), [1, 10, 11, 100], 2) == [1, 3]
    assert apart(np.zeros(40), [3**i for i in range(40)], 3) == [0, 1, 2]
    assert apart(np.array([0.1, 0.9]), [1, 100], 1) == [1]
    many = np.random.default_rng(3).integers(0, 3, 300) / 10
    in_order = sorted(range(300), key=lambda i: -many[i])
    assert apart(many, 4.0 ** np.arange(300), 300) == in_order


def drawn(slope, size, seed, level=0.0):
    """Scores of runs whose true log likelihood ratio is ``slope`` times the score."""
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.normal(size=size))[::-1]
    ours = rng.random(size) < 1 / (1 + np.exp(-level - slope * scores))
    return scores, ours.astype(float), 1.0 - ours


@pytest.mark.parametrize("slope", [0.0, 0.2, 1.0])
def test_the_promise_is_the_log_ratio_where_the_score_is_right_up_to_a_factor(slope):
    """Within four of its own standard errors, at three places; seed pinned, chance below 1e-3."""
    scores, ours, theirs = drawn(slope, 40_000, 12)
    sizes = np.array([400, 4000, 20_000])
    curve = calibrated(scores, ours, theirs, sizes)
    fine = np.linspace(-8, 8, 40_001)
    weight = np.exp(-(fine**2) / 2)
    true = []
    for size in sizes:
        above = fine >= scores[size - 1]
        share = 1 / (1 + np.exp(-slope * fine))
        one, other = weight * share, weight * (1 - share)
        true.append(np.log(one[above].sum() / one.sum()) - np.log(other[above].sum() / other.sum()))
    assert np.all(np.abs(curve.promised - true) <= 4 * curve.error)
    assert np.all(curve.error < 0.08)
    assert curve.ours.tolist() == [ours[:size].sum() for size in sizes]
    assert curve.theirs.tolist() == [theirs[:size].sum() for size in sizes]


def test_unequal_numbers_of_runs_do_not_shift_the_promise():
    scores, ours, theirs = drawn(0.5, 20_000, 13)
    some = np.array([200, 2000])
    alike = calibrated(scores, ours, theirs, some)
    fewer = calibrated(scores, ours, theirs / 5, some)
    np.testing.assert_allclose(fewer.promised, alike.promised, atol=0.05)
    assert np.all(fewer.error > alike.error)


def test_counts_of_outcomes_stand_for_so_many_runs():
    scores = np.array([0.9, 0.1, -0.4])
    ours, theirs = np.array([50.0, 30.0, 20.0]), np.array([25.0, 30.0, 45.0])
    cuts = np.array([1, 2])
    weighed = calibrated(scores, ours, theirs, cuts)
    runs = np.repeat(np.tile(scores, 2), np.concatenate([ours, theirs]).astype(int))
    known = np.repeat([1.0, 0.0], [100, 100])
    order = np.argsort(-runs, kind="stable")
    single = calibrated(runs[order], known[order], 1 - known[order], np.array([75, 135]))
    np.testing.assert_allclose(weighed.promised, single.promised, atol=1e-6)
    np.testing.assert_allclose(weighed.error, single.error, rtol=1e-3)
    assert weighed.ours.tolist() == single.ours.tolist() == [50, 80]


def test_a_score_that_separates_all_promises_a_lot_but_a_number():
    scores = np.array([1.0, 1.0, -1.0, -1.0])
    curve = calibrated(scores, np.array([9.0, 9, 0, 0]), np.array([0, 0, 9.0, 9]), np.array([2, 4]))
    assert 2.0 < curve.promised[0] < 20.0
    assert curve.promised[1] == pytest.approx(0.0, abs=1e-6)
    assert np.all(np.isfinite(curve.error))


def test_a_side_without_runs_promises_nothing_and_is_not_believed():
    none = calibrated(np.array([1.0, 0.0]), np.array([3.0, 4.0]), np.zeros(2), np.array([1, 2]))
    assert none.promised.tolist() == [0.0, 0.0]
    assert none.ours.tolist() == [3.0, 7.0]
    assert np.all(none.error > 1.0)
    other = calibrated(np.array([1.0, 0.0]), np.zeros(2), np.array([3.0, 4.0]), np.array([1, 2]))
    assert (other.ours.tolist(), other.theirs.tolist()) == ([0.0, 0.0], [3.0, 7.0])
    assert other.promised.tolist() == [0.0, 0.0]


def curve_of(ours, theirs, promised, error):
    return Curve(
        *(np.atleast_1d(np.asarray(v, dtype=float)) for v in (ours, theirs, promised, error))
    )


def test_the_more_precise_estimate_carries_the_day():
    # Counts alone say ln 2; the score says 0.1, first surely, then hardly.
    for error, least, most in ((1e-3, 0.09, 0.14), (10.0, 0.6, 0.7)):
        p, q, _ = blended([curve_of(200, 100, 0.1, error)], (1000, 1000), 0.0)
        assert least < np.log(p / q)[0] < most
        assert (p + q)[0] == pytest.approx(0.3, rel=0.01)


def test_many_counts_are_believed_more_than_a_score_that_may_be_wrong():
    p, q, _ = blended([curve_of(2e6, 1e6, 1.2, 1e-6)], (1e7, 1e7), 0.0)
    assert np.log(p / q)[0] == pytest.approx(np.log(2), abs=1e-3)


def test_parts_add_their_counts_and_share_their_promise():
    one, other = curve_of(10, 5, 0.2, 0.1), curve_of(30, 25, 0.4, 0.1)
    both = curve_of(40, 30, 0.3, 0.1 / np.sqrt(2))
    for found, expected in zip(
        blended([one, other], (100, 90), 1.0), blended([both], (100, 90), 1.0), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_caution_takes_so_many_errors_off_the_ratio():
    curve = curve_of(200, 100, 0.0, 1e6)
    ratios = [np.log(np.divide(*blended([curve], (1e3, 1e3), c)[:2]))[0] for c in (0.0, 1.0, 2.0)]
    error = np.sqrt(0.8 / 200 + 0.9 / 100)
    assert ratios[0] == pytest.approx(np.log(2), abs=0.01)
    assert np.diff(ratios).tolist() == pytest.approx([-error] * 2, rel=0.02)


def test_probabilities_stay_probabilities():
    p, q, _ = blended([curve_of([100, 0], [100, 0], [3.0, -50], [0.01, 0.1])], (100, 100), 0.0)
    assert np.all((p > 0) & (p <= 1) & (q > 0) & (q <= 1))
    # One run each, and both hit: the promise moves more than there is to one side.
    p, q, _ = blended([curve_of([1, 1], [1, 1], [3.0, -3.0], [0.01, 0.01])], (1, 1), 0.0)
    assert (p[0], q[1]) == (1.0, 1.0)
    assert p[1] == pytest.approx(q[0], rel=1e-9)
    assert 0 < p[1] < 0.5


def test_promises_and_errors_are_those_of_a_logistic_regression():
    """Fitted by a general optimiser; the scores are far from centred and one side has more runs.

    Scores and their squares have mean 0 and deviation 1, and are not correlated.
    """
    scores = np.array([3.0, 2.5, 2.0, 0.5])
    ours, theirs = np.array([90.0, 70.0, 40.0, 30.0]), np.array([120.0, 160.0, 140.0, 200.0])
    share = ours / ours.sum() + theirs / theirs.sum()
    root = np.sqrt(share / share.sum())[:, None]
    design = np.linalg.qr(root * np.vander(scores, 3, increasing=True))[0] / root
    design *= np.sign(design[0])
    penalty = np.array([0.0, SLOPE**-2, BEND**-2])

    def loss(at):
        z = design @ at
        return float(((ours + theirs) * np.logaddexp(0, z) - ours * z).sum() + at**2 @ penalty / 2)

    fitted = optimize.minimize(loss, np.zeros(3), tol=1e-12).x
    chance = 1 / (1 + np.exp(-design @ fitted))
    weight = (ours + theirs) * chance * (1 - chance)
    errors = np.sqrt(np.diag(np.linalg.inv((design.T * weight) @ design + np.diag(penalty))))
    prior = np.log(ours.sum() / theirs.sum())

    def promise(tried, cut):
        part = share[:cut] / (1 + np.exp(prior - design[:cut] @ tried))
        return float(np.log(part.sum() / (share[:cut].sum() - part.sum())))

    curve = calibrated(scores, ours, theirs, np.array([1, 2, 3]))
    for i, cut in enumerate((1, 2, 3)):
        assert curve.promised[i] == pytest.approx(promise(fitted, cut), rel=1e-3)
        moved = [promise(fitted + np.eye(3)[k] * errors[k], cut) for k in (1, 2)]
        error = np.hypot(*(np.array(moved) - promise(fitted, cut)))
        assert curve.error[i] == pytest.approx(error, rel=1e-2)


def test_a_curve_that_counts_show_to_be_wrong_is_not_believed_beyond():
    """A ratio that is the same in the whole tail, and a score that says it grows."""
    scores = np.linspace(9.0, 0.0, 10)
    both = 20_000 * np.geomspace(2e-3, 1.0, 10)
    ours = both * np.where(scores > 2, 0.7, 0.4)
    curve = calibrated(scores, ours, both - ours, np.arange(1, 10))
    true = np.log(0.7 / 0.3 * (both - ours).sum() / ours.sum())
    assert abs(curve.promised[0] - true) < 3 * curve.error[0]
    p, q = blended([curve], (float(ours.sum()), float((both - ours).sum())), 0.0)[:2]
    assert np.log(p / q)[:6] == pytest.approx([true] * 6, abs=0.5)


@pytest.mark.parametrize("scores", [np.zeros(3), np.full(3, 5.0)])
def test_equal_scores_promise_nothing(scores):
    curve = calibrated(scores, np.array([5.0, 1, 2]), np.array([1.0, 5, 2]), np.array([1, 2]))
    assert np.all(np.isfinite(curve.promised))
    assert np.all(np.abs(curve.promised) < 1e-9)


@pytest.mark.parametrize("score", [0.0, 0.7, -3.3, 1e-4, 200.0])
def test_equal_scores_promise_nothing_whatever_is_counted(score):
    """However many runs there are, and of whatever size the score is."""
    ours, theirs = np.array([5e4, 1e4, 2e4, 777]), np.array([1e4, 5e4, 2e4, 9999])
    curve = calibrated(np.full(4, score), ours, theirs, np.array([1, 2]))
    assert np.all(np.abs(curve.promised) < 1e-9)
    assert np.all(np.isfinite(blended([curve], (ours.sum(), theirs.sum()), 1.0)))


@pytest.mark.parametrize("scale", [1e-6, 1e3])
def test_scores_of_any_size_are_scores(scale):
    counts = np.array([90.0, 10]), np.array([10.0, 90])
    curve = calibrated(scale * np.array([1.0, -1.0]), *counts, np.array([1]))
    assert curve.promised[0] == pytest.approx(np.log(9), rel=0.02)


def test_a_score_that_is_upside_down_promises_little():
    scores = np.array([1.0, 1.0, -1.0, -1.0])
    curve = calibrated(scores, np.array([0, 0, 9.0, 9]), np.array([9.0, 9, 0, 0]), np.array([2]))
    assert -20.0 < curve.promised[0] < -2.0


@pytest.mark.parametrize("caution", [0.0, 1.5])
def test_the_weighing_from_its_definition(caution):
    x, y, n, m, promised, error = 70, 20, 400, 200, 1.5, 0.2
    p, q = (x + 0.375) / (n + 0.75), (y + 0.375) / (m + 0.75)
    noise = (1 - p) / (x + 0.375) + (1 - q) / (y + 0.375)
    doubt = error**2 + (MISFIT * promised) ** 2
    ratio = (np.log(p / q) / noise + promised / doubt) / (1 / noise + 1 / doubt)
    ratio -= caution * (1 / noise + 1 / doubt) ** -0.5
    one, other, runs = blended([curve_of(x, y, promised, error)], (n, m), caution)
    error = 1 / (1 / noise + 1 / doubt)
    known = ((1 - one) / one + (1 - other) / other) / error
    assert runs == pytest.approx(known)
    assert np.log(one / other)[0] == pytest.approx(ratio, rel=1e-9)
    assert (one + other)[0] == pytest.approx(p + q, rel=1e-12)


def test_many_events_are_weighed_at_once():
    together = curve_of([70, 90], [20, 50], [1.5, 0.5], [0.2, 0.1])
    single = [curve_of(70, 20, 1.5, 0.2), curve_of(90, 50, 0.5, 0.1)]
    found = np.array(blended([together], (400, 200), 1.0))
    apart_ = np.hstack([blended([one], (400, 200), 1.0) for one in single])
    np.testing.assert_allclose(found, apart_, rtol=1e-12)
    assert found.shape == (3, 2)


@pytest.mark.parametrize("seed", range(5))
def test_many_scores_are_read_at_once_as_one_by_one(seed):
    """Shorter ones filled with nothing, and one that was never seen on a side."""
    rng, sizes, most = np.random.default_rng(seed), (3, 40, 17, 5), 40
    scores, ours, theirs = np.zeros((3, len(sizes), most))
    cuts = np.zeros((len(sizes), most), dtype=np.intp)
    for row, size in enumerate(sizes):
        scores[row, :size] = -np.sort(rng.normal(size=size))
        ours[row, :size], theirs[row, :size] = rng.poisson(9.0, (2, size))
        cuts[row] = np.minimum(np.arange(most) + 1, size)
    theirs[-1] = 0
    together = calibrated(scores, ours, theirs, cuts)
    for row, size in enumerate(sizes):
        alone = calibrated(*(part[row, :size] for part in (scores, ours, theirs, cuts)))
        for name in ("ours", "theirs", "promised", "error"):
            found = getattr(together, name)[row, :size]
            np.testing.assert_allclose(found, getattr(alone, name), rtol=1e-7, atol=1e-9)
