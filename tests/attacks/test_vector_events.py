"""Events on real vectors: the right one where it is known, the same one read back from JSON."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, special

from pdpaudit.algorithms.zoo import ZOO
from pdpaudit.attacks.calibrating import blended
from pdpaudit.attacks.events import choose_event
from pdpaudit.attacks.sweeping import apart, levels
from pdpaudit.attacks.vector_events import MANY, choose_regions, views_of
from pdpaudit.evidence.aim import Aim
from pdpaudit.evidence.event import event_from_json
from pdpaudit.evidence.regions import Range, Score, View, cells_of
from pdpaudit.sampling import Draws

module = importlib.import_module("pdpaudit.attacks.vector_events")

AIM = Aim(100_000, 0.05)


def halves(draw, size=4000):
    """Return two halves of draws."""
    return tuple(Draws(pieces=[draw(size)]) for _ in range(2))


def zoo_choice(name, pair, epsilon=1.0, size=4000):
    mechanism, rng = ZOO[name](epsilon), np.random.default_rng(3)
    chosen = next(one for one in mechanism.pairs() if one.name == pair)
    sides = (halves(lambda n, x=x: mechanism.sample(x, n, rng), size) for x in chosen[1:])
    return mechanism, chosen, choose_event(*sides, AIM)


def test_a_half_line_where_one_entry_moves():
    _, _, choice = zoo_choice("NoisyHist1", "one_above")
    events = [choice.event, *(other.event for other in choice.others)]
    ranges = [event for event in events if isinstance(event, Range)]
    assert ranges[0].view == View("entry", 0)


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
        choice.event.count(Draws(pieces=[mechanism.sample(x, 100_000, rng)])) for x in chosen[1:]
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
        assert isinstance(again, Range | Score)
        inside = again.inside(rows)
        assert again.count(Draws(pieces=[rows])) == inside.sum()
        assert [tuple(row) in again for row in rows[:50].tolist()] == inside[:50].tolist()
        assert again.words()


def test_caution_takes_back_most_of_what_chance_promises():
    """Promises are no evidence: chosen events are tested on other draws before any is confirmed.

    Still the best of hundreds of cuts owes its ratio to chance where nothing leaks, and without
    errors given away it promises at least three times as much.
    """
    rng, promises = np.random.default_rng(6), []
    for _ in range(10):
        sides = tuple(halves(lambda n: rng.normal(size=(n, 4)), 1000) for _ in range(2))
        rash = Aim(AIM.size, AIM.alpha, caution=-MANY)
        promises.append([choose_event(*sides, aim).expected for aim in (AIM, rash)])
    cautious, hasty = np.maximum(promises, 0.0).mean(axis=0)
    assert 3 * cautious < hasty


def test_flags_are_scored_one_by_one_when_there_are_many_outputs():
    rng, flags = np.random.default_rng(7), {}
    for side, share in (("left", 0.4), ("right", 0.6)):
        drawn = rng.random((2, 3000, 8)) < share
        flags[side] = tuple(Draws() for _ in range(2))
        for half, rows in zip(flags[side], drawn, strict=True):
            half.counts.update(map(tuple, rows.tolist()))
    choice = choose_event(flags["left"], flags["right"], AIM)
    scores = [one for one in (choice, *choice.others) if isinstance(one.event, Score)]
    # The number of flags is all that tells: 0.4^8 against 0.6^8 at best is ln 25.6 = 3.2.
    assert scores[0].expected > 1.5
    half = flags["left"][0]
    counted = sum(n for output, n in half.counts.items() if output in scores[0].event)
    assert scores[0].event.count(half) == counted


def test_lists_too_many_to_count_are_scored_by_place():
    rng = np.random.default_rng(8)
    sides = []
    for push in (0.0, 3.0):
        halves_ = tuple(Draws() for _ in range(2))
        for half in halves_:
            keys = rng.exponential(size=(2000, 9))
            keys[:, :3] += push * rng.random((2000, 3))
            half.counts.update(tuple(map(int, np.argsort(row))) for row in keys)
        sides.append(halves_)
    choice = choose_event(*sides, AIM)
    assert choice.expected > 0.7


def told(views):
    """Views in short."""
    return [(view.kind, view.at) for view in views]


def test_of_one_column_the_entry_is_all_there_is():
    assert told(views_of(np.array([[0.5], [0.0], [np.nan]]))) == [("entry", 0)]


def test_views_of_plain_numbers():
    rows = np.arange(1.0, 201.0).reshape(50, 4)
    cuts = np.quantile(np.arange(1.0, 201.0), [0.1, 0.3, 0.5, 0.7, 0.9]).round(6)
    assert told(views_of(rows)) == [
        *(("entry", j) for j in range(4)),
        *(("step", j) for j in (1, 2, 3)),
        ("sum", 0),
        ("least", 0),
        ("greatest", 0),
        *(("above", cut) for cut in cuts),
    ]


def test_only_so_many_columns_are_looked_at_one_by_one():
    views = views_of(np.arange(1.0, 401.0).reshape(5, 80))
    assert [at for kind, at in told(views) if kind == "entry"] == [*range(64)]
    assert [at for kind, at in told(views) if kind == "step"] == [*range(1, 64)]


@pytest.mark.parametrize(
    ("put", "count", "extra"),
    [
        (0.0, 5, ["pattern", "zeros"]),
        (np.nan, 5, ["pattern", "stopped"]),
        (0.0, 4, None),  # one in a hundred is no mixture
        (np.nan, 4, None),
    ],
)
def test_views_of_numbers_mixed_with_answers(put, count, extra):
    rows = np.linspace(1.0, 2.0, 400).reshape(100, 4)
    rows[:count, 2] = put
    kinds = [kind for kind, _ in told(views_of(rows))]
    middle = kinds[4 : kinds.index("sum")]
    assert middle == (extra or ["step"] * 3)


def test_zeros_and_gaps_together_make_a_mixture():
    rows = np.linspace(1.0, 2.0, 400).reshape(100, 4)
    rows[:3, 2], rows[:3, 3] = 0.0, np.nan
    assert [kind for kind, _ in told(views_of(rows))][4:7] == ["pattern", "zeros", "stopped"]


def test_patterns_count_where_they_repeat_and_are_not_too_long():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(40, 3))
    rows[:, 1] = 0.0
    kinds = [(1.0, 1.0), (np.nan, 1.0), (1.0, np.nan), (np.nan, np.nan), (0.0, 1.0)]
    for different, counted in ((4, True), (5, False)):  # a tenth of the rows at most
        rows[:, [0, 2]] = 1.0
        rows[:different, [0, 2]] = kinds[:different]
        assert (("pattern", 0) in told(views_of(rows))) is counted
    for width, counted in ((33, True), (34, False)):
        assert (("pattern", 0) in told(views_of(np.zeros((50, width))))) is counted


def test_of_two_values_no_range_is_looked_at():
    rows = np.tile([[1.0, 2.0], [2.0, 1.0]], (30, 1))
    assert [kind for kind, _ in told(views_of(rows))] == ["entry", "entry", "step", "sum"]
    rows[0, 0] = 3.0
    assert "least" in [kind for kind, _ in told(views_of(rows))]


@pytest.mark.parametrize(
    ("kinds", "thorough", "expected"),
    [
        (["entry"], True, [("entry", 8)]),
        (["entry"], False, [("entry", 8)]),
        (["entry", "entry"], True, [("entry", 8), ("cells", 8), ("ramps", 24)]),
        (["entry", "entry"], False, [("entry", 4)]),
        (["entry", "step"], True, [("entry", 8), ("step", 8), ("cells", 8), ("ramps", 24)]),
        (["entry", "step"], False, [("entry", 4), ("step", 4)]),
    ],
)
def test_scores_are_learnt_from_what_there_is(kinds, thorough, expected):
    class Table:
        views = tuple(map(View, kinds))

    assert module._kinds(Table, thorough) == expected


def test_cells_are_between_quantiles_and_common_numbers_stand_for_themselves():
    rng = np.random.default_rng(2)
    numbers = np.concatenate([rng.permutation(900) + 0.5, np.full(60, 7.0), np.full(40, np.nan)])
    rest = np.arange(900) + 0.5
    edges, atoms = module._cells(numbers, 4)
    assert atoms == (7.0,)
    assert edges == pytest.approx(np.quantile(rest, [0.25, 0.5, 0.75]).tolist())
    edges, _ = module._cells(numbers, 8)
    shares = [0.01, 0.04, *(np.arange(1, 8) / 8), 0.96, 0.99]
    assert edges == pytest.approx(np.quantile(rest, shares).tolist())
    assert len(module._cells(numbers, 24)[0]) == 27


def test_what_is_too_rare_or_too_little_has_no_cells_of_its_own():
    assert module._cells(np.full(9, np.nan), 4) == ((), ())
    assert module._cells(np.arange(7.0), 4) == ((), ())
    assert len(module._cells(np.arange(8.0), 4)[0]) == 3
    # Three times at least, and more than one in a hundred.
    assert module._cells(np.array([1.0, 1.0, 2.0, 2.0, 2.0]), 4) == ((), (2.0,))
    numbers = np.concatenate([np.arange(990) + 0.5, np.full(10, 3.0)])
    assert module._cells(numbers, 4)[1] == ()
    numbers[0] = 3.0
    assert module._cells(numbers, 4)[1] == (3.0,)
    # Of many, every so manieth is looked at.
    numbers = np.arange(20_000.0)
    numbers[1::4] = -5.0
    assert module._cells(numbers, 4)[1] == ()
    numbers[::8] = -5.0
    assert module._cells(numbers, 4)[1] == (-5.0,)
    edges, _ = module._cells(np.repeat([1.0, 2.0, 3.0], [40, 40, 40]) + 1e-9 * np.arange(120), 4)
    assert len(edges) == len(set(edges)) == 3


def test_log_ratios_shrink_by_what_chance_alone_would_give():
    codes = [np.repeat([0, 1, 3], [60, 30, 10]), np.repeat([0, 1, 3], [30, 30, 20])]
    (weights,) = module._ratios([[codes[0]], [codes[1]]], [5])
    counts = np.array([[60, 30, 0, 10, 0], [30, 30, 0, 20, 0]])
    plain = np.log((counts[0] + 1) / 105) - np.log((counts[1] + 1) / 85)
    energy = ((counts[0] / 100 + counts[1] / 80) / 2) @ plain**2
    kept = 1 - 2 * (1 / 100 + 1 / 80) / energy
    assert 0.3 < kept < 0.9
    assert weights == pytest.approx(plain * kept, rel=1e-12)


def test_log_ratios_no_larger_than_chance_are_not_kept():
    codes = np.repeat([0, 1], [50, 52])
    assert module._kept(np.array([0.01, -0.01]), [codes, codes]) == 0.0
    assert module._kept(np.zeros(2), [codes, codes]) == 0.0
    assert module._kept(np.array([0.5, -0.5]), [codes, codes]) == pytest.approx(
        1 - (2 / 102) / 0.25
    )


def test_ramps_are_lines_beside_free_cells():
    assert module._ramp(3, 2).tolist() == [
        [-1, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]
    ]  # fmt: skip
    assert module._ramp(2, 1).tolist() == [[-1, 0], [1, 0], [0, 1]]
    assert module._ramp(1, 1).tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize("kind", ["cells", "ramps"])
def test_regressions_by_newton_s_method(kind):
    """Of dense one-hot rows, ridge and all, to more steps than are needed."""
    rng = np.random.default_rng(4)
    sizes = [3, 4]
    bases = [np.eye(3), np.eye(4)] if kind == "cells" else [module._ramp(2, 1), module._ramp(3, 1)]
    shares = ([0.5, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4]), ([0.3, 0.3, 0.4], [0.2, 0.3, 0.3, 0.2])
    learn = [
        [rng.choice(len(p), size=runs, p=p) for p in side]
        for side, runs in zip(shares, (400, 300), strict=True)
    ]
    found = module._regression(learn, sizes, bases)
    assert [len(part) for part in found] == sizes
    dense = np.concatenate([np.hstack([np.eye(3)[one], np.eye(4)[other]]) for one, other in learn])
    basis = np.zeros((7, bases[0].shape[1] + bases[1].shape[1]))
    basis[:3, : bases[0].shape[1]], basis[3:, bases[0].shape[1] :] = bases
    design, labels, w = dense @ basis, np.repeat([1.0, 0.0], [400, 300]), np.zeros(basis.shape[1])
    for _ in range(30):
        chance = special.expit(design @ w)
        slope = design.T @ (labels - chance) - 3.0 * w
        curve = (design.T * (chance * (1 - chance))) @ design + 3.0 * np.eye(len(w))
        w = w + np.linalg.solve(curve, slope)
    assert np.concatenate(found) == pytest.approx(basis @ w, abs=2e-3)


def test_regressions_take_so_many_steps_at_most(monkeypatch):
    """And each is told the loss and its slope at once."""
    asked = []
    plain = optimize.minimize
    monkeypatch.setattr(
        optimize, "minimize", lambda *a, **k: [asked.append((a[0], k)), plain(*a, **k)][1]
    )
    rng = np.random.default_rng(4)
    learn = [[rng.integers(0, 4, 500) for _ in range(5)] for _ in range(2)]
    module._regression(learn, [4] * 5, [np.eye(4)] * 5)
    ((loss, how),) = asked
    assert how == {"jac": True, "method": "L-BFGS-B", "options": {"maxiter": 25}}
    w = rng.normal(size=20)
    slope = optimize.approx_fprime(w, lambda w: loss(w)[0], 1e-6)
    assert loss(w)[1] == pytest.approx(slope, abs=0.01)
    assert loss(np.zeros(20))[0] == pytest.approx(1000 * np.log(2))


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
    assert module._curve(ours, theirs, shares) == "curve"
    points, known, others, sizes = asked[0]
    assert points.tolist() == sorted([*ours, *theirs], reverse=True)
    for value, count in ((3.0, 2), (2.0, 1), (1.0, 1), (0.5, 0), (0.0, 0)):
        assert known[points == value].sum() == count
    assert others.tolist() == (1.0 - known).tolist()
    # Three from 3 - 1e-12 on, five from 2, seven from 1, eight from 0.5, all from 0.
    assert sizes.tolist() == [3, 3, 5, 7, 8, 10]


CAREFUL = Aim(20_000, 0.05, caution=0.5)


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


def half_lines(view, left, right, runs, aim, values=None):
    """What ranges of one number promise, counted one by one: (promise, side, view, low, high)."""
    numbers = [np.concatenate([view.of(rows) for rows in side]) for side in (left, right)]
    totals = [r * (len(a) + len(b)) / len(b) for r, (a, b) in zip(runs, (left, right), strict=True)]
    if values is None:
        values = np.unique(np.concatenate(numbers))
        values = values[~np.isnan(values)]
    kinds = [[(v, v) for v in values]] if view.kind == "pattern" or len(values) < 24 else []
    if view.kind != "pattern":
        kinds += [[(v, np.inf) for v in values], [(-np.inf, v) for v in values]]
    promised = []
    for ranges in kinds:
        inside = [
            np.array([np.sum((n >= low) & (n <= high)) for low, high in ranges]) for n in numbers
        ]
        for ours, theirs, side in ((0, 1, "left"), (1, 0, "right")):
            expected = aim.expected(inside[ours], totals[ours], inside[theirs], totals[theirs])
            picks = apart(expected, inside[ours], 3)
            promised += [(expected[i], side, view, *map(float, ranges[i])) for i in picks]
    return sorted(promised, key=lambda one: -one[0])


def agree(found, promised):
    """The same events promise the same, but that of equal ones any may come first."""
    assert [one.expected for one in found] == pytest.approx([one[0] for one in promised[:6]])
    for one in found:
        event = one.event
        assert isinstance(event, Range)
        told_ = event.side, event.view, event.low, event.high
        assert told_ in [some[1:] for some in promised if some[0] == pytest.approx(one.expected)]


def best_ranges(view, left, right, runs):
    table = module._Table([view], module.Halves(*left), module.Halves(*right))
    return module._best_ranges(table, runs, CAREFUL, left[0].shape[1], None)


@pytest.mark.parametrize("runs", [(500, 250), (700, 300)])
@pytest.mark.parametrize("mixed", [False, True])
def test_half_lines_by_trying_all(runs, mixed):
    """Of numbers with so few values that each is a cut; all of the sample counts."""
    left, right = two_sides(1, digits=0)
    for rows in (*left, *right):
        np.clip(rows, -1.0, 1.0, out=rows)
        rows += 0.0 if mixed else 5.0
    views = views_of(np.concatenate([left[0], right[0]]))
    assert (View("pattern") in views) is mixed
    aim = replace(CAREFUL, caution=CAREFUL.caution + 2.0)
    promised = [one for view in views for one in half_lines(view, left, right, runs, aim)]
    found = choose_regions(left, right, runs, CAREFUL, (4, 7), thorough=False)
    agree(found[:6], sorted(promised, key=lambda one: -one[0]))
    assert all((one.event.width, one.event.vertices) == (3, (4, 7)) for one in found)
    for view in views:
        agree(best_ranges(view, left, right, runs), half_lines(view, left, right, runs, CAREFUL))


@pytest.mark.parametrize("sizes", [((300, 500), (400, 250)), ((300, 1), (400, 1))])
@pytest.mark.parametrize("view", [View("entry", 1), View("sum")])
def test_half_lines_of_many_values_are_cut_at_quantiles(sizes, view):
    """At values that occur, nearest to shares of both sides together."""
    left, right = two_sides(5, sizes=sizes)
    numbers = np.concatenate([view.of(rows) for rows in (*left, *right)])
    cuts = np.unique(np.quantile(numbers, levels(96), method="nearest"))
    runs = (len(left[1]), len(right[1]) + 30)
    agree(best_ranges(view, left, right, runs), half_lines(view, left, right, runs, CAREFUL, cuts))


def test_of_very_many_every_so_manieth_is_looked_at_for_cuts():
    """Twenty thousand on a side, and what is left of a division."""
    rng = np.random.default_rng(6)
    left = tuple(rng.normal(0.02, size=(20_000, 1)) for _ in range(2))
    right = tuple(rng.normal(size=(size, 1)) for size in (29_000, 30_000))
    sides = [np.sort(np.concatenate(side)[:, 0])[::2] for side in (left, right)]
    cuts = np.unique(np.quantile(np.concatenate(sides), levels(96), method="nearest"))
    runs, view = (20_000, 30_000), View("entry")
    agree(best_ranges(view, left, right, runs), half_lines(view, left, right, runs, CAREFUL, cuts))


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
    runs = (len(left[1]), len(right[1]))
    found = best_ranges(View("entry"), left, right, runs)
    assert len(np.unique(group)) == values
    agree(found, half_lines(View("entry"), left, right, runs, CAREFUL))
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
    runs, view = (500, 250), View("pattern")
    found = best_ranges(view, left, right, runs)
    agree(found, half_lines(view, left, right, runs, CAREFUL))
    rare = view.of(np.array([[np.nan, 1.0, 1.0]]))[0]
    pooled = np.concatenate([view.of(rows) for rows in (*left, *right)])
    assert rare not in np.quantile(pooled, levels(96), method="nearest")
    assert (found[0].event.low, found[0].event.high) == (rare, rare)


def test_a_number_that_no_run_has_is_passed_over():
    left, right = two_sides(1)
    for rows in (*left, *right):
        rows[:, 0] = np.nan
    table = module._Table(
        [View("entry", 0), View("entry", 1)], module.Halves(*left), module.Halves(*right)
    )
    found = module._best_ranges(table, (500, 250), CAREFUL, 3, None)
    assert len(found) == 6
    assert {one.event.view for one in found} == {View("entry", 1)}
    scored = module._best_scores(table, ("entry", 8), (500, 250), CAREFUL, 3, None)
    assert {tuple(term.view for term in one.event.terms) for one in scored} == {(View("entry", 1),)}


def by_hand(left, right, kind, runs, aim):
    """Scores of one kind, learnt and judged part by part: (promise, side, terms, threshold)."""
    name, cells = kind
    views = views_of(np.concatenate([left[0], right[0]]))
    if name in ("entry", "step"):
        views = [v for v in views if v.kind == name or (name == "step" and v == View("entry"))]
    cut = [module._cells(np.concatenate([v.of(left[0]), v.of(right[0])]), cells) for v in views]
    sizes = [len(edges) + len(atoms) + 2 for edges, atoms in cut]

    def codes(rows):
        return [cells_of(v.of(rows), *edges) for v, edges in zip(views, cut, strict=True)]

    def learn(ours, theirs):
        sides = [codes(ours), codes(theirs)]
        if name in ("entry", "step"):
            return module._ratios(sides, sizes)
        bases = {
            "cells": lambda e, a: np.eye(len(e) + len(a) + 2),
            "ramps": lambda e, a: module._ramp(len(e) + 1, len(a) + 1),
        }[name]
        return module._regression(sides, sizes, [bases(*edges) for edges in cut])

    def score(weights, rows):
        return sum(w[c] for w, c in zip(weights, codes(rows), strict=True))

    learnt = learn(left[0], right[0])
    judged = [(score(learnt, left[1]), score(learnt, right[1]))]
    rows, totals = [left[1], right[1]], list(runs)
    if name in ("entry", "step"):
        learnt = learn(left[1], right[1])
        judged.append((score(learnt, left[0]), score(learnt, right[0])))
        rows += [left[0], right[0]]
        totals = [
            r * (len(a) + len(b)) / len(b) for r, (a, b) in zip(runs, (left, right), strict=True)
        ]
        learnt = learn(np.concatenate(left), np.concatenate(right))
    final, shares, found = np.concatenate([score(learnt, part) for part in rows]), levels(96), []
    for sign, ours, side in ((1.0, 0, "left"), (-1.0, 1, "right")):
        curves = [module._curve(sign * s[ours], sign * s[1 - ours], shares) for s in judged]
        expected = aim.from_shares(*blended(curves, (totals[ours], totals[1 - ours]), aim.caution))
        falling = np.sort(sign * final)[::-1]
        for i in apart(expected, sum(curve.ours for curve in curves), 3):
            threshold = falling[int(shares[i] * len(final))] - 1e-9
            found.append((expected[i], side, [sign * w for w in learnt], threshold))
    return sorted(found, key=lambda one: -one[0])[:3], views, cut


@pytest.mark.parametrize("kind", [("entry", 8), ("step", 4), ("cells", 8), ("ramps", 24)])
@pytest.mark.parametrize("digits", [None, 0])
def test_scores_by_hand(kind, digits):
    left, right = two_sides(2, digits=digits)
    runs = (600, 250)
    expected, views, cut = by_hand(left, right, kind, runs, CAREFUL)
    table = module._Table(
        views_of(np.concatenate([left[0], right[0]])), module.Halves(*left), module.Halves(*right)
    )
    found = module._best_scores(table, kind, runs, CAREFUL, 3, (4, 7))
    assert [one.expected for one in found] == pytest.approx([one[0] for one in expected])
    for one, (_, side, weights, threshold) in zip(found, expected, strict=True):
        event = one.event
        assert (event.side, event.width, event.vertices) == (side, 3, (4, 7))
        assert event.threshold == pytest.approx(threshold, rel=0, abs=2e-10)  # a hair below a run
        assert [term.view for term in event.terms] == views
        for term, (edges, atoms), w in zip(event.terms, cut, weights, strict=True):
            assert (term.edges, tuple(value for value, _ in term.atoms)) == (edges, atoms)
            given = [*term.weights, *(weight for _, weight in term.atoms), term.missing]
            assert given == pytest.approx(w.tolist())


def test_scores_of_numbers_with_as_many_common_values_as_edges():
    left, right = two_sides(5)
    for rows in (*left, *right):
        for value in (1.0, 2.0, 3.0):
            rows[int(value) :: 7, 1] = value
    views = views_of(np.concatenate([left[0], right[0]]))
    pooled = np.concatenate([left[0], right[0]])[:, 1]
    assert [len(one) for one in module._cells(pooled, 4)] == [3, 3]
    table = module._Table(views, module.Halves(*left), module.Halves(*right))
    found = module._best_scores(table, ("entry", 4), (500, 250), CAREFUL, 3, None)
    expected = by_hand(left, right, ("entry", 4), (500, 250), CAREFUL)[0]
    assert [one.expected for one in found] == pytest.approx([one[0] for one in expected])
    assert {len(one.event.terms) for one in found} == {3}


def test_scores_judged_on_a_single_run():
    left, right = two_sides(6, sizes=((300, 1), (400, 1)))
    runs, kind = (3, 2), ("entry", 8)
    views = views_of(np.concatenate([left[0], right[0]]))
    table = module._Table(views, module.Halves(*left), module.Halves(*right))
    found = module._best_scores(table, kind, runs, CAREFUL, 3, None)
    expected = by_hand(left, right, kind, runs, CAREFUL)[0]
    assert [one.expected for one in found] == pytest.approx([one[0] for one in expected])


def test_of_everything_the_best_of_each_kind():
    left, right = two_sides(3)
    runs = (500, 250)
    found = choose_regions(left, right, runs, CAREFUL, (4, 7))
    assert [type(one.event) for one in found] == [Range] * 6 + [Score] * 12
    assert all(one.event.vertices == (4, 7) for one in found)
    aim = replace(CAREFUL, caution=CAREFUL.caution + 1.0)
    for i, kind in enumerate((("entry", 8), ("step", 8), ("cells", 8), ("ramps", 24))):
        some = [one.expected for one in found[6 + 3 * i : 9 + 3 * i]]
        assert some == pytest.approx([one[0] for one in by_hand(left, right, kind, runs, aim)[0]])
    hasty = choose_regions(left, right, runs, CAREFUL, thorough=False)
    assert [type(one.event) for one in hasty] == [Range] * 6 + [Score] * 6


def test_no_more_is_learnt_from_than_is_said(monkeypatch):
    """Cells and regressions use the first runs of each side."""
    left, right = two_sides(4)
    runs = (500, 250)
    monkeypatch.setattr(module, "LEARN", 200)
    for kind in (("cells", 8), ("ramps", 24)):
        short = [(side[0][:200], side[1]) for side in (left, right)]
        expected = by_hand(*short, kind, runs, CAREFUL)[0]
        table = module._Table(
            views_of(np.concatenate([side[0] for side in short])),
            *(module.Halves(*side) for side in (left, right)),
        )
        found = module._best_scores(table, kind, runs, CAREFUL, 3, None)
        assert [one.expected for one in found] == pytest.approx([one[0] for one in expected])


def test_what_is_always_the_same_gives_no_score():
    same = np.ones((50, 1))
    table = module._Table([View("entry")], module.Halves(same, same), module.Halves(same, same))
    table.numbers = [[np.full(50, np.nan)] * 4]
    assert module._best_scores(table, ("entry", 8), (50, 50), CAREFUL, 1, None) == []
    assert module._best_ranges(table, (50, 50), CAREFUL, 1, None) == []
