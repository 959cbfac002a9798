"""Events on numbers: the right one where it is known, the same one read back from JSON."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pdpaudit.attacks.candidates import Sample, candidates
from pdpaudit.attacks.events import choose_event
from pdpaudit.attacks.thresholds import apart, blended, levels
from pdpaudit.attacks.vector_events import MANY, choose_regions, computed
from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import (
    Coded,
    Column,
    Crossed,
    Membership,
    Range,
    Score,
    batch_of,
    event_from_json,
    gathered,
)
from pdpaudit.outputs.events import cells_of
from pdpaudit.outputs.words import Vocabulary, event_words
from tests.zoo.truth import ZOO

module = importlib.import_module("pdpaudit.attacks.vector_events")

AIM = ExpectedBound(100_000, 0.05)


def halves(draw, size=4000):
    """Return two halves of draws."""
    return tuple(gathered(draw(size), size) for _ in range(2))


def zoo_choice(name, pair, epsilon=1.0, size=4000):
    mechanism, rng = ZOO[name](epsilon), np.random.default_rng(3)
    chosen = next(one for one in mechanism.pairs() if one.name == pair)
    sides = (halves(lambda n, x=x: mechanism.sample(x, n, rng), size) for x in chosen[1:])
    return mechanism, chosen, choose_event(*sides, AIM)


def test_a_half_line_where_one_entry_moves(monkeypatch):
    monkeypatch.setattr(importlib.import_module("pdpaudit.attacks.events"), "OTHERS", 10**6)
    _, _, choice = zoo_choice("NoisyHist1", "one_above")
    events = [choice.event, *(other.event for other in choice.others)]
    ranges = [event for event in events if isinstance(event, Range)]
    assert ranges[0].column == Column("number", (0,))


@pytest.mark.parametrize(
    ("name", "pair", "least"),
    [
        ("PrefixSum", "all_above", 4.0),
        ("SVT34Parallel", "half_half", 1.5),
        ("Laplace", "one_below", 0.8),
    ],
)
def test_the_best_event_holds_much_of_what_it_promises(name, pair, least):
    mechanism, chosen, choice = zoo_choice(name, pair, size=8000)
    rng = np.random.default_rng(4)
    inside = [
        choice.event.count(gathered(mechanism.sample(x, 100_000, rng), 100_000)) for x in chosen[1:]
    ]
    ours, theirs = inside if choice.event.side == "left" else inside[::-1]
    assert np.log((ours + 0.5) / (theirs + 0.5)) > least


@pytest.mark.parametrize("name", ["PrefixSum", "SVT3", "NumericalSVT", "ReportNoisyMax3"])
def test_every_event_reads_back_and_says_what_it_is(name):
    mechanism, chosen, choice = zoo_choice(name, "all_above", size=1000)
    rows = mechanism.sample(chosen.left, 500, np.random.default_rng(5))
    for one in (choice, *choice.others):
        again = event_from_json(json.loads(json.dumps(one.event.to_json())))
        assert again == one.event
        batch = batch_of(gathered(rows, 500))
        inside = again.inside(batch)
        assert again.count(gathered(rows, 500)) == inside.sum()
        assert [again.count(gathered(row[None], 1)) for row in rows[:50]] == inside[:50].tolist()
        assert event_words(again, Vocabulary()).isprintable()


def test_caution_takes_back_most_of_what_chance_promises():
    """Promises are no evidence: chosen events are tested on other draws before any is confirmed.

    Still the best of hundreds of cuts owes its ratio to chance where nothing leaks, and without
    errors given away it promises at least three times as much.
    """
    rng, promises = np.random.default_rng(6), []
    for _ in range(10):
        sides = tuple(halves(lambda n: rng.normal(size=(n, 4)), 1000) for _ in range(2))
        rash = ExpectedBound(AIM.size, AIM.alpha, caution=-MANY)
        promises.append([choose_event(*sides, aim).expected for aim in (AIM, rash)])
    cautious, hasty = np.maximum(promises, 0.0).mean(axis=0)
    assert 3 * cautious < hasty


def test_flags_are_scored_one_by_one_when_there_are_many_outputs():
    rng, flags = np.random.default_rng(7), {}
    for side, share in (("left", 0.4), ("right", 0.6)):
        drawn = rng.random((2, 3000, 8)) < share
        flags[side] = tuple(gathered(list(map(tuple, rows.tolist())), 3000) for rows in drawn)
    choice = choose_event(flags["left"], flags["right"], AIM)
    scores = [one for one in (choice, *choice.others) if isinstance(one.event, Score)]
    # The number of flags is all that tells: 0.4^8 against 0.6^8 at best is ln 25.6 = 3.2.
    assert scores[0].expected > 1.5
    half = flags["left"][0]
    batch = batch_of(half)
    assert scores[0].event.count(half) == batch.weights[scores[0].event.inside(batch)].sum()


def test_lists_too_many_to_count_are_scored_by_place():
    rng = np.random.default_rng(8)
    sides = []
    for push in (0.0, 3.0):
        halves_ = []
        for _ in range(2):
            keys = rng.exponential(size=(2000, 9))
            keys[:, :3] += push * rng.random((2000, 3))
            halves_.append(gathered([tuple(map(int, np.argsort(row))) for row in keys], 2000))
        sides.append(tuple(halves_))
    choice = choose_event(*sides, AIM)
    assert choice.expected > 0.7


def told(columns):
    """Columns in short."""
    return [(column.aspect, column.at) for column in columns]


def test_of_one_column_nothing_is_computed():
    assert computed(np.array([[0.5], [0.0], [np.nan]])) == []


def test_what_is_computed_of_plain_numbers():
    rows = np.arange(1.0, 201.0).reshape(50, 4)
    cuts = np.quantile(np.arange(1.0, 201.0), [0.1, 0.3, 0.5, 0.7, 0.9], method="nearest")
    assert told(computed(rows)) == [
        *(("step", j) for j in (1, 2, 3)),
        ("sum", 0),
        ("least", 0),
        ("greatest", 0),
        *(("above", cut) for cut in cuts),
    ]


def test_only_so_many_steps_are_looked_at():
    columns = computed(np.arange(1.0, 401.0).reshape(5, 80))
    assert [at for aspect, at in told(columns) if aspect == "step"] == [*range(1, 64)]


def test_infinite_values_make_no_level():
    rows = np.array([[1.0, np.inf], [2.0, -np.inf], [3.0, np.inf], [4.0, 5.0]])
    levels_ = [at for aspect, at in told(computed(rows)) if aspect == "above"]
    assert levels_
    assert np.isfinite(levels_).all()


@pytest.mark.parametrize(
    ("put", "count", "extra"),
    [
        (0.0, 5, [("pattern", 4), ("zeros", 0)]),
        (np.nan, 5, [("pattern", 4), ("stopped", 4)]),
        (0.0, 4, None),  # one in a hundred is no mixture
        (np.nan, 4, None),
    ],
)
def test_what_is_computed_of_numbers_mixed_with_answers(put, count, extra):
    rows = np.linspace(1.0, 2.0, 400).reshape(100, 4)
    rows[:count, 2] = put
    found = told(computed(rows))
    assert found[: found.index(("sum", 0))] == (extra or [("step", j) for j in (1, 2, 3)])


def test_zeros_and_gaps_together_make_a_mixture():
    rows = np.linspace(1.0, 2.0, 400).reshape(100, 4)
    rows[:3, 2], rows[:3, 3] = 0.0, np.nan
    assert told(computed(rows))[:3] == [("pattern", 4), ("zeros", 0), ("stopped", 4)]


def sample_of(left, right):
    """Two halves a side: rows of numbers, or lists of outputs."""
    return Sample(*(tuple(gathered(half, len(half)) for half in side) for side in (left, right)))


def table_of(left, right, numbers=None, coded=()) -> Any:
    sample = sample_of(left, right)
    columns = candidates(sample).numbers if numbers is None else numbers
    return module._Table(sample, columns, list(coded))


def test_patterns_count_where_they_repeat_and_are_not_too_long():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(40, 3))
    rows[:, 1] = 0.0
    kinds = [(1.0, 1.0), (np.nan, 1.0), (1.0, np.nan), (np.nan, np.nan), (0.0, 1.0)]
    for different, counted in ((4, True), (5, False)):  # a tenth of the rows at most
        rows[:, [0, 2]] = 1.0
        rows[:different, [0, 2]] = kinds[:different]
        parts = np.split(rows, 4)
        table = table_of(parts[:2], parts[2:])
        assert (Column("pattern", at=3) in table.ordered) is counted
        assert table.columns == table.ordered
    for width, counted in ((33, True), (34, False)):
        found = told(computed(np.zeros((50, width))))
        assert (("pattern", width) in found) is counted


def test_of_two_values_no_range_is_looked_at():
    rows = np.tile([[1.0, 2.0], [2.0, 1.0]], (30, 1))
    assert told(computed(rows)) == [("step", 1), ("sum", 0)]
    rows[0, 0] = 3.0
    assert "least" in [aspect for aspect, _ in told(computed(rows))]


def test_outputs_of_all_widths_are_looked_at_together():
    """What is computed is for the widest, and a shorter one has no number there."""
    left = [[(1.0, 2.0, 3.0), (4.0,), None] * 20] * 2
    right = [[(1.5, 2.5, 3.5), (4.0, 6.0)] * 20] * 2
    table = table_of(left, right)
    assert [c for c in table.ordered if c.aspect == "pattern"] == [Column("pattern", at=3)]
    assert Column("stopped", at=3) in table.ordered
    assert [len(part) for part in table.numbers(Column("sum"))] == [
        batch.size for batch in table.sample.batches
    ]


STEPS = [Column("step", at=j) for j in (1, 2)]
ENTRIES = [Column("number", (j,)) for j in range(3)]
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
    monkeypatch.setattr(module, "_pairs", lambda _: ["one pair", "another"])
    kinds = module._kinds(table, thorough)
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
    cuts = [
        tuple(np.quantile(n, [0.05, 0.25, 0.5, 0.75, 0.95], method="nearest").tolist())
        for n in numbers
    ]
    edges = {column: module._ranges(table, column) for column in (word, *ENTRIES)}
    assert (edges[word], edges[ENTRIES[0]], edges[ENTRIES[2]]) == ((0.5, 1.5), *cuts)
    every = [
        Crossed(pair, tuple(edges[column] for column in pair))
        for pair in combinations(list[Any]([word, *ENTRIES]), 2)
    ]
    clear = module._pairs(table)
    assert clear[0].columns == (ENTRIES[0], ENTRIES[2])
    assert module._pairs(table_of(sides[0], sides[0][::-1], ENTRIES, [word])) == []
    monkeypatch.setattr(module, "APART", -1e9)
    found = module._pairs(table)
    assert found == sorted(every, key=lambda pair: -far_apart(pair, *sides))[:2]
    assert found[0] == clear[0]


def test_what_pairs_are_cut_at_where_there_is_much_or_nothing():
    rows = [[(1.0, 2.0)] * 9] * 2
    many = Coded(Column("value", (3,)), tuple("abcdefghijkl"))
    table = table_of(rows, rows, [ENTRIES[0], ENTRIES[2]], [many])
    assert module._ranges(table, many) == tuple(i + 0.5 for i in range(7))
    # Such a number is in none of the runs, or too rare to be among those that are read.
    assert module._ranges(table, ENTRIES[2]) == ()
    assert module._pairs(table) == module._pairs(table_of(rows, rows, [ENTRIES[0]] * 30)) == []


def test_cells_are_between_quantiles_and_common_numbers_stand_for_themselves():
    rng = np.random.default_rng(2)
    numbers = np.sort(np.concatenate([rng.permutation(900) + 0.5, np.full(60, 7.0)]))
    rest = np.arange(900) + 0.5

    def at(shares):
        return np.quantile(rest, shares, method="nearest").tolist()

    edges, atoms = module._cells(numbers, 4, ordered=True)
    assert atoms == (7.0,)
    assert edges == tuple(at([0.25, 0.5, 0.75]))
    edges, _ = module._cells(numbers, 8, ordered=True)
    assert edges == tuple(at([0.01, 0.04, *(np.arange(1, 8) / 8), 0.96, 0.99]))
    assert len(module._cells(numbers, 24, ordered=True)[0]) == 27


def test_what_is_too_rare_or_too_little_has_no_cells_of_its_own():
    def cells(numbers, ordered=True):
        return module._cells(np.sort(numbers), 4, ordered=ordered)

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


def test_of_very_many_runs_every_so_manieth_is_looked_at():
    """Each row as often as it weighs, whether it is counted or stands for one run."""
    assert module._thin(np.ones(9), 10).tolist() == [*range(9)]
    assert module._thin(np.ones(10), 5).tolist() == [0, 2, 4, 6, 8]
    assert module._thin(np.ones(11), 5).tolist() == [0, 3, 6, 9]
    assert module._thin(np.array([3.0, 1.0, 2.0]), 9).tolist() == [0, 0, 0, 1, 2, 2]
    assert module._thin(np.array([3.0, 1.0, 2.0]), 3).tolist() == [0, 0, 2]
    assert module._thinned(np.array([7.0, 8.0]), np.array([1.0, 2.0]), 9).tolist() == [7, 8, 8]
    counted = [[1, 1, 2, None, 5]] * 2, [[0, 7, None, None, 2**60]] * 2
    table = table_of(*counted, [Column("number")])
    assert table.pooled(Column("number")).tolist() == sorted([1.0, 1, 2, 5, 0, 7, 2**60] * 2)


def test_log_ratios_shrink_by_what_chance_alone_would_give():
    codes = [np.repeat([0, 1, 3], [60, 30, 10]), np.repeat([0, 1, 3], [30, 30, 20])]
    ones = [np.ones(len(side)) for side in codes]
    (weights,) = module._ratios("entry", [[codes[0]], [codes[1]]], ones, [5])
    rows = [np.array([0, 1, 3])] * 2
    times = [np.array([60.0, 30, 10]), np.array([30.0, 30, 20])]
    (weighed,) = module._ratios("entry", [[rows[0]], [rows[1]]], times, [5])
    assert weighed.tolist() == weights.tolist()
    counts = np.array([[60, 30, 0, 10, 0], [30, 30, 0, 20, 0]])
    plain = np.log((counts[0] + 1) / 105) - np.log((counts[1] + 1) / 85)
    energy = ((counts[0] / 100 + counts[1] / 80) / 2) @ plain**2
    kept = 1 - 2 * (1 / 100 + 1 / 80) / energy
    assert 0.3 < kept < 0.9
    assert weights == pytest.approx(plain * kept, rel=1e-12)


def test_log_ratios_no_larger_than_chance_are_not_kept():
    counts = np.array([50.0, 52.0])
    assert module._kept(np.array([0.01, -0.01]), [counts, counts]) == 0.0
    assert module._kept(np.zeros(2), [counts, counts]) == 0.0
    assert module._kept(np.array([0.5, -0.5]), [counts, counts]) == pytest.approx(
        1 - (2 / 102) / 0.25
    )


def ratios_of(name, *columns):
    """The log ratios of columns, each given as counts of its cells on either side."""
    learn = [[np.repeat(np.arange(len(c[i])), c[i]) for c in columns] for i in (0, 1)]
    weights = [np.ones(len(side[0])) for side in learn]
    return module._ratios(name, learn, weights, [len(c[0]) for c in columns])


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


def test_scores_add_up_weights():
    weights = [np.array([1.0, 2.0]), np.array([10.0, 20.0, 30.0])]
    coded = [
        [np.array([0, 1]), None, np.array([1]), None],
        [np.array([2, 0]), None, np.array([1]), None],
    ]
    ours, theirs = module._scores(weights, coded, (0, 2))
    assert ours.tolist() == [31.0, 12.0]
    assert theirs.tolist() == [22.0]


def test_runs_of_one_score_are_cut_together(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "calibrated", lambda *a: [asked.append(a), "curve"][1])
    ours, theirs = np.array([1.0, 3.0, 2.0, 3.0]), np.array([3.0 - 1e-12, 0.0, 2.0, 1.0, 0.0, 0.5])
    shares = np.array([0.05, 0.25, 0.35, 0.55, 0.75, 0.95])
    once = [(side, np.ones(len(side))) for side in (ours, theirs)]
    assert module._curve(*once, shares) == "curve"
    points, known, others, sizes = asked[0]
    assert points.tolist() == sorted([*ours, *theirs], reverse=True)
    for value, count in ((3.0, 2), (2.0, 1), (1.0, 1), (0.5, 0), (0.0, 0)):
        assert known[points == value].sum() == count
    assert others.tolist() == (1.0 - known).tolist()
    # Three from 3 - 1e-12 on, five from 2, seven from 1, eight from 0.5, all from 0.
    assert sizes.tolist() == [3, 3, 5, 7, 8, 10]
    # Counted outcomes are cut at the same shares of the runs.
    weighed = [tuple(map(np.array, ([3.0, 2.0, 1.0], [2.0, 1, 1])))]
    weighed.append(tuple(map(np.array, ([0.0, 3.0 - 1e-12, 2.0, 1.0, 0.5], [2.0, 1, 1, 1, 1]))))
    assert module._curve(*weighed, shares) == "curve"
    points, known, others, sizes = asked[1]
    assert points.tolist() == [3.0, 3.0 - 1e-12, 2.0, 2.0, 1.0, 1.0, 0.5, 0.0]
    assert known.tolist() == [2, 0, 1, 0, 1, 0, 0, 0]
    assert others.tolist() == [0, 1, 0, 1, 0, 1, 1, 2]
    assert sizes.tolist() == [2, 2, 4, 6, 7, 8]


CAREFUL = ExpectedBound(20_000, 0.05, caution=0.5)


def two_sides(seed, sizes=((300, 500), (400, 250)), digits=None):
    """Two halves a side of three columns that depend on each other; one side is shifted."""
    rng = np.random.default_rng(seed)
    sides = []
    for shift, runs in zip((0.4, 0.0), sizes, strict=True):
        halves_ = []
        for size in runs:
            rows = rng.normal(size=(size, 3))
            rows[:, 1] += 0.7 * rows[:, 0] + shift
            rows[:, 2] -= shift
            halves_.append(rows if digits is None else rows.round(digits))
        sides.append(tuple(halves_))
    return sides


def read(column, rows):
    """Return the number of each row, read from an array."""
    return batch_of(gathered(rows, len(rows))).read(column)


def half_lines(column, left, right, aim, values=None):
    """What ranges of one number promise, counted one by one: (promise, side, column, low, high)."""
    numbers = [np.concatenate([read(column, rows) for rows in side]) for side in (left, right)]
    totals = [sum(map(len, side)) for side in (left, right)]
    if values is None:
        values = np.unique(np.concatenate(numbers))
        values = values[~np.isnan(values)]
    pattern = column.aspect == "pattern"
    kinds = [[(v, v) for v in values]] if pattern or len(values) < 24 else []
    if not pattern:
        kinds += [[(v, np.inf) for v in values], [(-np.inf, v) for v in values]]
    promised = []
    for ranges in kinds:
        inside = [
            np.array([np.sum((n >= low) & (n <= high)) for low, high in ranges]) for n in numbers
        ]
        for ours, theirs, side in ((0, 1, "left"), (1, 0, "right")):
            expected = aim.expected(inside[ours], totals[ours], inside[theirs], totals[theirs])
            picks = apart(expected, inside[ours], 3)
            promised += [(expected[i], side, column, *map(float, ranges[i])) for i in picks]
    return sorted(promised, key=lambda one: -one[0])


def agree(found, promised):
    """The same events promise the same, but that of equal ones any may come first."""
    assert [one.expected for one in found] == pytest.approx([one[0] for one in promised[:6]])
    for one in found:
        event = one.event
        assert isinstance(event, Range)
        told_ = event.side, event.column, event.low, event.high
        assert told_ in [some[1:] for some in promised if some[0] == pytest.approx(one.expected)]


def best_ranges(column, left, right):
    table = table_of(left, right, [column])
    table.ordered = [column]
    return module._best_ranges(table, CAREFUL)


def columns_of(left, right):
    """Entries, and what is computed of them."""
    return [*ENTRIES, *computed(np.concatenate([*left, *right]))]


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("form", ["arrays", "lists"])
def test_half_lines_by_trying_all(mixed, form):
    """Of numbers with so few values that each is a cut; all of the sample counts."""
    left, right = two_sides(1, digits=0)
    for rows in (*left, *right):
        np.clip(rows, -1.0, 1.0, out=rows)
        rows += 0.0 if mixed else 5.0
    columns = columns_of(left, right)
    assert (Column("pattern", at=3) in columns) is mixed
    aim = replace(CAREFUL, caution=CAREFUL.caution + 2.0)
    promised = [one for column in columns for one in half_lines(column, left, right, aim)]
    given_: Any = (left, right)
    if form == "lists":  # counted where a zero has a sign or an entry is a whole number
        given_ = [
            [[(*row[:2], int(row[2])) for row in half.tolist()] for half in side] for side in given_
        ]
    found = choose_regions(sample_of(*given_), ENTRIES, [], CAREFUL, thorough=False)
    agree(found[:6], sorted(promised, key=lambda one: -one[0]))
    for column in columns:
        agree(best_ranges(column, *given_), half_lines(column, left, right, CAREFUL))


@pytest.mark.parametrize("sizes", [((300, 500), (400, 250)), ((300, 1), (400, 1))])
@pytest.mark.parametrize("column", [Column("number", (1,)), Column("sum")])
def test_half_lines_of_many_values_are_cut_at_quantiles(sizes, column):
    """At values that occur, nearest to shares of both sides together."""
    left, right = two_sides(5, sizes=sizes)
    numbers = np.concatenate([read(column, rows) for rows in (*left, *right)])
    cuts = np.unique(np.quantile(numbers, levels(96), method="nearest"))
    agree(best_ranges(column, left, right), half_lines(column, left, right, CAREFUL, cuts))


def test_of_very_many_every_so_manieth_is_looked_at_for_cuts():
    """Twenty thousand of each half, and what is left of a division."""
    rng = np.random.default_rng(6)
    left = tuple(rng.normal(0.02, size=(20_000, 1)) for _ in range(2))
    right = tuple(rng.normal(size=(size, 1)) for size in (29_000, 30_000))
    some = [*left, *(half[::2] for half in right)]
    cuts = np.unique(np.quantile(np.concatenate(some)[:, 0], levels(96), method="nearest"))
    column = Column("number", (0,))
    agree(best_ranges(column, left, right), half_lines(column, left, right, CAREFUL, cuts))


@pytest.mark.parametrize("values", [23, 24])
def test_single_numbers_are_looked_at_where_they_are_few(values):
    """The best is one in the middle, if fewer than 24 are cut at."""
    place = (levels(96) * 9_599).round().astype(int)
    group = np.searchsorted(place[:: 96 // values][1:values], np.arange(9_600), side="right")
    rng = np.random.default_rng(7)
    middle = group == values // 2
    left_ = np.where(middle, rng.random(9_600) < 0.9, rng.random(9_600) < 0.48)
    sides = [rng.permutation(group[left_ == which]).astype(float)[:, None] for which in (1, 0)]
    left, right = (tuple(np.array_split(side, 2)) for side in sides)
    column = Column("number", (0,))
    found = best_ranges(column, left, right)
    assert len(np.unique(group)) == values
    agree(found, half_lines(column, left, right, CAREFUL))
    assert (found[0].event.low == found[0].event.high == values // 2) is (values < 24)


def test_a_rare_pattern_between_common_ones_is_found():
    """Twelve runs that one side alone has; the quantiles step over them."""
    left = [np.ones((size, 3)) for size in (300, 500)]
    right = [np.ones((size, 3)) for size in (400, 250)]
    for rows in (*left, *right):
        rows[: 45 * len(rows) // 100] = np.nan
    for rows in left:
        rows[-6:, 0] = np.nan
        rows[-9:-6, 1] = np.nan
    column = Column("pattern", at=3)
    found = best_ranges(column, left, right)
    agree(found, half_lines(column, left, right, CAREFUL))
    rare = read(column, np.array([[np.nan, 1.0, 1.0]]))[0]
    pooled = np.concatenate([read(column, rows) for rows in (*left, *right)])
    assert rare not in np.quantile(pooled, levels(96), method="nearest")
    assert (found[0].event.low, found[0].event.high) == (rare, rare)


def test_a_number_that_no_run_has_is_passed_over():
    left, right = two_sides(1)
    for rows in (*left, *right):
        rows[:, 0] = np.nan
    table = table_of(left, right, ENTRIES[:2])
    table.ordered = ENTRIES[:2]
    found = module._best_ranges(table, CAREFUL)
    assert len(found) == 6
    assert {one.event.column for one in found} == {ENTRIES[1]}
    scored = module._best_scores(table, ("entry", ENTRIES[:2], 8), CAREFUL)
    assert {tuple(term.column for term in one.event.terms) for one in scored} == {(ENTRIES[1],)}


def kind_of(name, cells, left, right):
    """A kind of score of three columns of numbers."""
    columns = columns_of(left, right)
    steps = [column for column in columns if column.aspect == "step"]
    looked = {"entry": ENTRIES, "entry, few": ENTRIES, "step": [ENTRIES[0], *steps]}
    return name, looked.get(name, columns), cells


def by_hand(left, right, kind, aim):
    """Scores of one kind, learnt and judged part by part: (promise, side, terms, threshold)."""
    name, columns, cells = kind
    pooled = [np.concatenate([read(c, r) for r in (*left, *right)]) for c in columns]
    cut = [module._cells(np.sort(n[~np.isnan(n)]), cells, ordered=True) for n in pooled]
    sizes = [len(edges) + len(atoms) + 2 for edges, atoms in cut]

    def codes(rows):
        return [cells_of(read(c, rows), *edges) for c, edges in zip(columns, cut, strict=True)]

    def learn(ours, theirs):
        sides = [codes(ours), codes(theirs)]
        return module._ratios(name, sides, [np.ones(len(ours)), np.ones(len(theirs))], sizes)

    def score(weights, rows):
        return sum(w[c] for w, c in zip(weights, codes(rows), strict=True)).round(9)

    learnt = learn(left[0], right[0])
    judged = [(score(learnt, left[1]), score(learnt, right[1]))]
    learnt = learn(left[1], right[1])
    judged.append((score(learnt, left[0]), score(learnt, right[0])))
    rows = [*left, *right]
    totals = [sum(map(len, side)) for side in (left, right)]
    learnt = learn(np.concatenate(left), np.concatenate(right))
    final, shares, found = np.concatenate([score(learnt, part) for part in rows]), levels(96), []
    for sign, ours, side in ((1.0, 0, "left"), (-1.0, 1, "right")):
        curves = [
            module._curve(*((sign * s[i], np.ones(len(s[i]))) for i in (ours, 1 - ours)), shares)
            for s in judged
        ]
        expected = aim.from_shares(*blended(curves, (totals[ours], totals[1 - ours]), aim.caution))
        falling = np.sort(sign * final)[::-1]
        for i in apart(expected, sum(curve.ours for curve in curves), 3):
            threshold = falling[int(shares[i] * len(final))] - 1e-9
            found.append((expected[i], side, [sign * w for w in learnt], threshold))
    return sorted(found, key=lambda one: -one[0])[:3], cut


@pytest.mark.parametrize("kind", [("entry", 8), ("entry, few", 8), ("step", 4)])
@pytest.mark.parametrize("digits", [None, 0])
def test_scores_by_hand(kind, digits):
    left, right = two_sides(2, digits=digits)
    kind = kind_of(kind[0], kind[1], left, right)
    expected, cut = by_hand(left, right, kind, CAREFUL)
    found = module._best_scores(table_of(left, right, ENTRIES), kind, CAREFUL)
    assert [one.expected for one in found] == pytest.approx([one[0] for one in expected])
    for one, (_, side, weights, threshold) in zip(found, expected, strict=True):
        event = one.event
        assert event.side == side
        assert event.threshold == pytest.approx(threshold, rel=0, abs=2e-10)  # a hair below a run
        used = [(c, *t) for c, *t in zip(kind[1], cut, weights, strict=True) if t[1].any()]
        assert [term.column for term in event.terms] == [column for column, *_ in used]
        for term, (_, (edges, atoms), w) in zip(event.terms, used, strict=True):
            assert (term.edges, tuple(value for value, _ in term.atoms)) == (edges, atoms)
            given_ = [*term.weights, *(weight for _, weight in term.atoms), term.missing]
            assert given_ == pytest.approx(w.tolist())


@pytest.mark.parametrize("name", ["entry", "common"])
def test_counted_outcomes_are_scored_as_runs_are(name):
    """Whole numbers, which are counted, and the same numbers in arrays."""
    left, right = two_sides(2, digits=0)
    whole = [[[tuple(map(int, row)) for row in half] for half in side] for side in (left, right)]
    kind = (name, ENTRIES, 8)
    plain, counted = (
        module._best_scores(table_of(sides[0], sides[1], ENTRIES), kind, CAREFUL)
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


def test_scores_of_numbers_with_as_many_common_values_as_edges():
    left, right = two_sides(5)
    for rows in (*left, *right):
        for value in (1.0, 2.0, 3.0):
            rows[int(value) :: 7, 1] = value
    pooled = np.sort(np.concatenate([*left, *right])[:, 1])
    assert [len(one) for one in module._cells(pooled, 4, ordered=True)] == [3, 3]
    kind = ("entry", ENTRIES, 4)
    found = module._best_scores(table_of(left, right, ENTRIES), kind, CAREFUL)
    expected = by_hand(left, right, kind, CAREFUL)[0]
    assert [one.expected for one in found] == pytest.approx([one[0] for one in expected])
    assert {len(one.event.terms) for one in found} == {3}


def test_scores_judged_on_a_single_run():
    left, right = two_sides(6, sizes=((300, 1), (400, 1)))
    kind = ("entry", ENTRIES, 8)
    found = module._best_scores(table_of(left, right, ENTRIES), kind, CAREFUL)
    expected = by_hand(left, right, kind, CAREFUL)[0]
    assert [one.expected for one in found] == pytest.approx([one[0] for one in expected])


def test_of_everything_the_best_of_each_kind():
    left, right = two_sides(3)
    sample = sample_of(left, right)
    found = choose_regions(sample, ENTRIES, [], CAREFUL)
    # Three thresholds of each score: of entries and steps, all and few, and of what is alike.
    kinds = [*both(8, "entry", "step"), *ALIKE, *ALIKE]
    crossed = [Crossed(pair.columns, pair.edges) for pair in module._pairs(table_of(left, right))]
    number = len(kinds) + len(crossed)
    assert [type(one.event) for one in found] == [Range] * 6 + [Score] * (3 * number)
    aim = replace(CAREFUL, caution=CAREFUL.caution + module.SOME)
    for i, kind in enumerate(kinds[:2]):
        some = [one.expected for one in found[6 + 3 * i : 9 + 3 * i]]
        kind = kind_of(kind[0], kind[1], left, right)
        assert some == pytest.approx([one[0] for one in by_hand(left, right, kind, aim)[0]])
    assert [one.event.terms[0].column for one in found[6 + 3 * len(kinds) :: 3]] == crossed


def test_what_is_always_the_same_gives_no_score():
    """Nor does what is never a number."""
    nothing = np.full((50, 1), np.nan)
    table = table_of((nothing,) * 2, (nothing,) * 2, ENTRIES[:1])
    assert module._best_scores(table, ("entry", ENTRIES[:1], 8), CAREFUL) == []
    assert module._best_ranges(table, CAREFUL) == []
    assert choose_regions(table.sample, ENTRIES[:1], [], CAREFUL) == []


def pairs_of_answers(chance):
    """A sign and a word: each alone is a fair coin, and they agree so often."""

    def draw(rng, size):
        signs = rng.random(size) < 0.5
        same = rng.random(size) < chance
        return [
            (1.0 + x if s else -1.0 - x, "yes" if s == a else "no")
            for s, a, x in zip(signs, same, rng.random(size).tolist(), strict=True)
        ]

    return draw


def test_what_only_two_columns_together_tell_is_found():
    """A number and a word, 0.8 against 0.2: ln 4 = 1.39 at best, and nothing from either alone."""
    rng = np.random.default_rng(10)
    sides = [
        tuple(gathered(pairs_of_answers(chance)(rng, 2000), 2000) for _ in range(2))
        for chance in (0.8, 0.2)
    ]
    choice = choose_event(*sides, AIM)
    # A promise may be above the truth by chance: three of its standard errors, 0.033.
    assert 1.1 < choice.expected < np.log(4) + 0.1
    assert isinstance(choice.event, Score)
    assert isinstance(choice.event.terms[0].column, Crossed)
    fresh = [gathered(pairs_of_answers(c)(rng, 20_000), 20_000) for c in (0.8, 0.2)]
    ours, theirs = (choice.event.count(one) for one in fresh)
    ours, theirs = (ours, theirs) if choice.event.side == "left" else (theirs, ours)
    assert np.log(ours / theirs) > 1.2


def test_numbers_beside_anything_else_are_found():
    """A leaf deep in a record, seen only in some of the runs, beside texts and exceptions."""
    rng = np.random.default_rng(11)

    def outputs(shift, size):
        numbers = (rng.normal(size=size) + shift).tolist()
        found: list[Any] = [{"id": f"run {i}", "at": [x, None]} for i, x in enumerate(numbers)]
        found[::3] = [None if i % 2 else "nothing" for i in range(len(found[::3]))]
        return found

    sides = [tuple(gathered(outputs(shift, 3000), 3000) for _ in range(2)) for shift in (3.0, 0.0)]
    choice = choose_event(*sides, AIM)
    assert choice.expected > 2.0
    columns = [one.event for one in (choice, *choice.others) if isinstance(one.event, Range)]
    assert Column("number", ("at", 0)) in [event.column for event in columns]


def test_the_most_frequent_categories_have_a_weight_of_their_own(monkeypatch):
    monkeypatch.setattr(module, "MOST_CODED", 3)
    words = list("abcdef")
    left = [[w for i, w in enumerate(words) for _ in range(9 - i)]] * 2
    (coded,) = module._coded(sample_of(left, left), [Column("value"), Column("kind")])
    assert coded == Coded(Column("value"), ("a", "b", "c"))
    event = Membership("left", Column("value"), frozenset("d"))
    assert event.count(gathered(left[0], len(left[0]))) == 6
