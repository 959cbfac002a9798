"""Scores: cells, log ratios, tables of pairs, and what thresholds promise."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit.attacks import scores
from pdpaudit.attacks.half_lines import best_ranges
from pdpaudit.attacks.number_table import cells_between, nearest
from pdpaudit.attacks.scores import (
    best_scores,
    crossed_pairs,
    log_ratios,
    score_curves,
    score_kinds,
)
from pdpaudit.attacks.vector_events import choose_regions
from pdpaudit.outputs import Coded, Column, Crossed, batch_of, gathered
from tests.attacks.samples import CAREFUL, ENTRIES, table_of, two_sides

STEPS = [Column("step", at=j) for j in (1, 2)]
STOPPED = [Column("stopped", at=2)]
ALIKE, PAIRED = [("common", 8), ("common", 2)], [("crossed", 0)] * 2
KINDS = [Coded(Column("kind", (j,)), ("None", "float")) for j in range(2)]


def both(cells, *names):
    """Scores of all columns, then of few."""
    return [(f"{name}{few}", cells) for few in ("", ", few") for name in names]


@pytest.mark.parametrize(
    ("simple", "more", "coded", "thorough", "expected"),
    [
        (1, [], 0, True, [("entry", 8)]),
        (1, [], 0, False, [("entry", 8)]),
        (2, [], 0, True, [*both(8, "entry"), *ALIKE, *PAIRED]),
        (2, [], 0, False, [*both(4, "entry"), *ALIKE, *PAIRED]),
        (1, [], 1, True, [*both(8, "entry"), *PAIRED]),
        (1, [], 1, False, [*both(4, "entry"), *PAIRED]),
        (2, STEPS, 1, True, [*both(8, "entry", "step"), *ALIKE, *ALIKE, *PAIRED]),
        (2, STEPS, 0, False, [*both(4, "entry", "step"), *ALIKE, *ALIKE, *PAIRED]),
        (2, STOPPED, 0, True, [*both(8, "entry", "reached"), *ALIKE, *PAIRED]),
    ],
)
def test_scores_are_learnt_from_what_there_is(monkeypatch, simple, more, coded, thorough, expected):
    table = SimpleNamespace()
    table.simple, table.coded = ENTRIES[:simple], KINDS[:coded]
    table.ordered = [*table.simple, *more]
    table.columns = [*table.ordered, *table.coded]
    monkeypatch.setattr(scores, "crossed_pairs", lambda _: ["one pair", "another"])
    kinds = score_kinds(table, thorough)
    assert [(name, cells) for name, _, cells in kinds] == expected
    looked = {name: columns for name, columns, _ in kinds}
    assert looked["entry"] == [*table.simple, *table.coded]
    assert looked.get("reached", looked["entry"]) == looked["entry"]
    stepped = [*table.simple[:1], *more, *table.coded]
    assert looked.get("step", stepped) == stepped
    alike = more if more == STEPS else table.simple
    assert looked.get("common", alike) == alike
    assert looked.get("crossed", ["another"]) == ["another"]


def far_apart(pair, left, right):
    """How far two tables of cells are from each other: 0 for equal ones, 2 for disjoint ones."""
    sides = [
        np.concatenate([batch_of(gathered(h, len(h))).read(pair) for h in side])
        for side in (left, right)
    ]
    shares = [{c: float(np.mean(side == c)) for c in np.concatenate(sides)} for side in sides]
    p, q = (np.array([share[c] for c in sorted(shares[0])]) for share in shares)
    return float(((p - q) ** 2 / (p + q)).sum())


def test_the_pairs_that_differ_most_are_cut_into_a_few_ranges(monkeypatch):
    """Two of the six that four columns have, and none where chance may explain the difference."""
    rng = np.random.default_rng(9)
    sides = []
    for shift in (0.0, 0.8):
        rows = rng.normal(size=(2, 400, 3))
        rows[:, :, 2] += shift * np.sign(rows[:, :, 0])
        words = rng.choice(list("abc"), size=(2, 400))
        sides.append(
            [
                [(*row, word) for row, word in zip(half.tolist(), some.tolist(), strict=True)]
                for half, some in zip(rows, words, strict=True)
            ]
        )
    word = Coded(Column("value", (3,)), tuple("abc"))
    table = table_of(sides[0], sides[1], ENTRIES, [word])
    numbers = [np.sort([row[j] for side in sides for half in side for row in half]) for j in (0, 2)]
    first_cuts, second_cuts = (
        tuple(np.quantile(n, [0.05, 0.25, 0.5, 0.75, 0.95], method="nearest").tolist())
        for n in numbers
    )
    clear = crossed_pairs(table)
    assert clear[0] == Crossed((ENTRIES[0], ENTRIES[2]), (first_cuts, second_cuts))
    assert crossed_pairs(table_of(sides[0], sides[0][::-1], ENTRIES, [word])) == []
    monkeypatch.setattr(scores, "APART", -1e9)
    first, second = crossed_pairs(table)
    assert first == clear[0]
    monkeypatch.setattr(scores, "CROSSED", 99)
    every = crossed_pairs(table)
    assert {pair.columns for pair in every} == {*combinations([word, *ENTRIES], 2)}
    apart = [far_apart(pair, *sides) for pair in every]
    assert apart == sorted(apart, reverse=True)
    assert every[:2] == [first, second]
    edges = {c: e for pair in every for c, e in zip(pair.columns, pair.edges, strict=True)}
    assert edges[word] == (0.5, 1.5)


def test_pairs_of_categories_beyond_the_first_share_a_cell(monkeypatch):
    """A number that no run has is not cut, and of one column alone there is no pair."""
    monkeypatch.setattr(scores, "APART", -1e9)
    words = "abcdefghijkl"
    rows = [[(1.0, 2.0, 3.0, word) for word in words] * 9] * 2
    other = [[(1.0, 2.0, 3.0, "a")] * 99] * 2
    many = Coded(Column("value", (3,)), tuple(words))
    missing = Column("number", (7,))
    (pair,) = crossed_pairs(table_of(rows, other, [missing], [many]))
    assert pair.edges == (tuple(i + 0.5 for i in range(7)), ())
    assert crossed_pairs(table_of(rows, rows, ENTRIES[:1])) == []


def test_cells_are_between_quantiles_and_common_numbers_stand_for_themselves():
    rng = np.random.default_rng(2)
    numbers = np.sort(np.concatenate([rng.permutation(900) + 0.5, np.full(60, 7.0)]))
    rest = np.arange(900) + 0.5

    def at(shares):
        return np.quantile(rest, shares, method="nearest").tolist()

    edges, atoms = cells_between(numbers, 4, ordered=True)
    assert atoms == (7.0,)
    assert edges == tuple(at([0.25, 0.5, 0.75]))
    edges, _ = cells_between(numbers, 8, ordered=True)
    assert edges == tuple(at([0.01, 0.04, *(np.arange(1, 8) / 8), 0.96, 0.99]))
    assert len(cells_between(numbers, 24, ordered=True)[0]) == 27


def test_what_is_too_rare_or_too_little_has_no_cells_of_its_own():
    def cells(numbers, ordered=True):
        return cells_between(np.sort(numbers), 4, ordered=ordered)

    assert cells(np.empty(0)) == ((), ())
    assert cells(np.arange(7.0)) == ((), ())
    assert len(cells(np.arange(8.0))[0]) == 3
    # Three times at least, and more than one in a hundred.
    assert cells(np.array([1.0, 1.0, 2.0, 2.0, 2.0])) == ((), (2.0,))
    numbers = np.concatenate([np.arange(990) + 0.5, np.full(10, 3.0)])
    assert cells(numbers)[1] == ()
    numbers[0] = 3.0
    assert cells(numbers)[1] == (3.0,)
    edges, _ = cells(np.repeat([1.0, 2.0, 3.0], [40, 40, 40]) + 1e-9 * np.arange(120))
    assert len(edges) == len(set(edges)) == 3
    # Of what has no order each stands for itself.
    assert cells(np.array([1.0, 1.0, 2.0, 5.0]), ordered=False) == ((), (1.0, 2.0, 5.0))


@given(
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=300),
    st.lists(st.floats(0, 1), min_size=1, max_size=9),
)
def test_quantiles_of_sorted_numbers_are_those_of_numpy(numbers, shares):
    ordered, at = np.sort(numbers), np.array(shares)
    assert nearest(ordered, at).tolist() == np.quantile(ordered, at, method="nearest").tolist()


@given(
    st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf]), max_size=60),
    st.integers(2, 8),
)
def test_numbers_with_a_cell_of_their_own_are_the_common_ones_and_no_edges(numbers, most):
    """Infinite ones too."""
    pooled = np.sort(np.array(numbers, dtype=float))
    edges, atoms = cells_between(pooled, most, ordered=True)
    assert list(edges) == sorted(set(edges))
    assert list(atoms) == sorted(
        {x for x in numbers if numbers.count(x) > max(2, len(numbers) / 100)}
    )
    assert not {*edges} & {*atoms}
    assert cells_between(pooled, most, ordered=False) == ((), tuple(sorted(set(numbers))))


def test_log_ratios_shrink_by_what_chance_alone_would_give():
    counts = np.array([[60, 30, 0, 10, 0], [30, 30, 0, 20, 0]])
    (weights,) = ratios_of("entry", counts)
    plain = np.log((counts[0] + 1) / 105) - np.log((counts[1] + 1) / 85)
    energy = ((counts[0] / 100 + counts[1] / 80) / 2) @ plain**2
    kept = 1 - 2 * (1 / 100 + 1 / 80) / energy
    assert 0.3 < kept < 0.9
    assert weights == pytest.approx(plain * kept, rel=1e-12)


def ratios_of(name, *columns):
    """The log ratios of columns, each given as counts of its cells on either side."""
    return log_ratios(name, [np.array(column, dtype=float) for column in columns])


def test_what_was_not_reached_has_no_weight():
    """The other cells have the ratios of the runs that were."""
    counts = ([300, 100, 600], [100, 300, 600])
    (weights,) = ratios_of("reached", counts)
    assert weights[2] == 0.0
    assert weights[:2] == pytest.approx([np.log(3), -np.log(3)], rel=0.02)
    # Half of one side stops earlier: nothing, once it is reached.
    (stopped,) = ratios_of("reached", ([500, 500, 0], [250, 250, 500]))
    assert stopped.tolist() == [0.0, 0.0, 0.0]
    assert ratios_of("entry", ([500, 500, 0], [250, 250, 500]))[0][2] < -5


def test_a_score_of_few_columns_leaves_out_what_chance_may_explain():
    """Two errors apart is little more than chance, ten is not; each by its number of cells."""
    clear, weak = ([700, 300], [500, 500]), ([530, 470], [485, 515])
    several = ([280, 240, 240, 240], [245, 245, 255, 255])
    columns = (clear, weak, several)
    assert [bool(w.any()) for w in ratios_of("entry", *columns)] == [True, True, True]
    few = ratios_of("entry, few", *columns)
    assert [bool(w.any()) for w in few] == [True, False, False]
    assert few[0].tolist() == ratios_of("entry", *columns)[0].tolist()


def test_columns_that_are_alike_share_their_ratios():
    one, other = ([600, 400], [500, 500]), ([560, 440], [480, 520])
    first, second = ratios_of("common", one, other)
    assert first.tolist() == second.tolist()
    (together,) = ratios_of("entry", ([1160, 840], [980, 1020]))
    assert first == pytest.approx(together)


@pytest.mark.parametrize("name", ["entry", "common"])
def test_counted_outcomes_are_scored_as_runs_are(name):
    """Whole numbers, which are counted, and the same numbers in arrays."""
    left, right = two_sides(2, digits=0)
    whole = [[[tuple(map(int, row)) for row in half] for half in side] for side in (left, right)]
    kind = (name, ENTRIES, 8)
    plain, counted = (
        best_scores(table_of(sides[0], sides[1], ENTRIES), kind, CAREFUL)
        for sides in ((left, right), whole)
    )
    assert [one.expected for one in counted] == pytest.approx([one.expected for one in plain])
    for one, other in zip(counted, plain, strict=True):
        assert one.event.threshold == pytest.approx(other.event.threshold, abs=1e-6)
        inside = [
            event.count(gathered(half, len(half)))
            for event, half in ((one.event, whole[0][0]), (other.event, left[0]))
        ]
        assert inside[0] == inside[1]


def test_what_is_always_the_same_gives_no_score():
    """Nor does what is never a number."""
    nothing = np.full((50, 1), np.nan)
    table = table_of((nothing,) * 2, (nothing,) * 2, ENTRIES[:1])
    for name, columns in (("entry", ENTRIES[:1]), ("common", ENTRIES)):
        assert best_scores(table, (name, columns, 8), CAREFUL) == []
    assert best_ranges(table, CAREFUL) == []
    assert choose_regions(table.sample, ENTRIES[:1], [], CAREFUL) == []


def test_log_ratios_no_larger_than_chance_are_not_kept():
    for counts in (([50, 52], [52, 50]), ([40, 40], [40, 40]), ([0, 0], [3, 4])):
        assert ratios_of("entry", counts)[0].tolist() == [0.0, 0.0]


def curve_of(ours, theirs, shares):
    """The curve of one fold, from the largest score on."""
    return score_curves([(ours, theirs)], shares)[0][0]


def test_curves_fitted_at_once_are_those_fitted_one_by_one():
    """Of folds of any size, with scores that repeat and that do not, in both directions."""
    rng, shares = np.random.default_rng(11), np.array([0.02, 0.1, 0.4, 0.6, 0.97])
    folds = []
    for runs, digits in ((5, 1), (400, 1), (300, 0), (2000, 9)):
        sides = [rng.normal(shift, size=runs).round(digits) for shift in (0.3, 0.0)]
        folds.append(tuple((one, rng.integers(1, 4, runs).astype(float)) for one in sides))
    up, down = score_curves(folds, shares)
    for (ours, theirs), first, second in zip(folds, up, down, strict=True):
        ours_turned, theirs_turned = ((-scores, weights) for scores, weights in (ours, theirs))
        for alone, one in (
            (curve_of(ours, theirs, shares), first),
            (curve_of(theirs_turned, ours_turned, shares), second),
        ):
            for name, values in vars(alone).items():
                np.testing.assert_allclose(getattr(one, name), values, rtol=1e-7, atol=1e-9)


def test_runs_of_one_score_are_cut_together():
    """Whether each is a run or stands for several, and last digits of a sum make no difference."""
    ours, theirs = np.array([1.0, 3.0, 2.0, 3.0]), np.array([3.0 - 1e-12, 0.0, 2.0, 1.0, 0.0, 0.5])
    shares = np.array([0.05, 0.25, 0.35, 0.55, 0.75, 0.95])
    curve = curve_of((ours, np.ones(len(ours))), (theirs, np.ones(len(theirs))), shares)
    assert curve.ours.tolist() == [2, 2, 3, 4, 4, 4]
    assert curve.theirs.tolist() == [1, 1, 2, 3, 4, 6]
    few = [np.array([3.0, 2.0, 1.0]), np.array([0.0, 3.0 - 1e-12, 2.0, 1.0, 0.5])]
    times = [np.array([2.0, 1, 1]), np.array([2.0, 1, 1, 1, 1])]
    weighed = curve_of((few[0], times[0]), (few[1], times[1]), shares)
    assert (weighed.ours.tolist(), weighed.theirs.tolist()) == (
        curve.ours.tolist(),
        curve.theirs.tolist(),
    )
    np.testing.assert_allclose(weighed.promised, curve.promised, atol=1e-6)


@pytest.mark.parametrize("name", ["entry", "entry, few", "common"])
@pytest.mark.parametrize("digits", [None, 0])
def test_what_a_score_is_known_to_hold_it_holds(name, digits):
    """On fresh runs, within four standard errors of both; four events a kind, chance below 1e-3.

    Columns depend on each other, so the weights overstate, and the curve must take that back.
    """
    left, right = two_sides(2, sizes=((3000, 5000), (4000, 2500)), digits=digits)
    fresh = two_sides(92, sizes=((20_000,), (20_000,)), digits=digits)
    found = best_scores(table_of(left, right, ENTRIES), (name, ENTRIES, 8), CAREFUL)
    assert len(found) in (3, 4)
    for one in found:
        inside = [one.event.count(gathered(side[0], 20_000)) for side in fresh]
        true = np.log((inside[0] + 0.5) / (inside[1] + 0.5))
        true = true if one.event.side == "left" else -true
        ours, theirs, runs = one.known
        error = np.sqrt(sum(1 / n for n in (ours, theirs, *inside)))
        assert np.log(ours / theirs) < true + 4 * error
        assert np.log(ours / theirs) > true - 6 * error - 0.1
        assert runs > 0


def test_scores_judged_on_a_single_run_promise_numbers():
    left, right = two_sides(6, sizes=((300, 1), (400, 1)))
    found = best_scores(table_of(left, right, ENTRIES), ("entry", ENTRIES, 8), CAREFUL)
    assert found
    assert np.isfinite([one.expected for one in found]).all()


def test_numbers_with_as_many_common_values_as_edges_are_all_scored():
    left, right = two_sides(5)
    for rows in (*left, *right):
        for value in (1.0, 2.0, 3.0):
            rows[int(value) :: 7, 1] = value
    pooled = np.sort(np.concatenate([*left, *right])[:, 1])
    assert [len(one) for one in cells_between(pooled, 4, ordered=True)] == [3, 3]
    found = best_scores(table_of(left, right, ENTRIES), ("entry", ENTRIES, 4), CAREFUL)
    assert {len(one.event.terms) for one in found} == {3}
