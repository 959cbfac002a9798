"""Events on numbers: the right one where it is known, the same one read back from JSON."""

from __future__ import annotations

import importlib
import json
from typing import Any

import numpy as np
import pytest

from pdpaudit.attacks.events import choose_event
from pdpaudit.attacks.number_table import computed
from pdpaudit.attacks.vector_events import luckiest
from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Column, Crossed, Range, Score, batch_of, event_from_json, gathered
from pdpaudit.outputs.words import Vocabulary, event_words
from tests.zoo.truth import ZOO

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
        rash = ExpectedBound(AIM.size, AIM.alpha, caution=-luckiest(40))
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


def named(columns):
    """Columns in short."""
    return [(column.aspect, column.at) for column in columns]


def test_of_one_column_nothing_is_computed():
    assert computed(np.array([[0.5], [0.0], [np.nan]])) == []


def test_what_is_computed_of_plain_numbers():
    rows = np.arange(1.0, 201.0).reshape(50, 4)
    cuts = np.quantile(np.arange(1.0, 201.0), [0.1, 0.3, 0.5, 0.7, 0.9], method="nearest")
    assert named(computed(rows)) == [
        *(("step", j) for j in (1, 2, 3)),
        ("sum", 0),
        ("least", 0),
        ("greatest", 0),
        *(("above", cut) for cut in cuts),
    ]


def test_only_so_many_steps_are_looked_at():
    columns = computed(np.arange(1.0, 401.0).reshape(5, 80))
    assert [at for aspect, at in named(columns) if aspect == "step"] == [*range(1, 64)]


def test_infinite_values_make_no_level():
    rows = np.array([[1.0, np.inf], [2.0, -np.inf], [3.0, np.inf], [4.0, 5.0]])
    levels_ = [at for aspect, at in named(computed(rows)) if aspect == "above"]
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
    found = named(computed(rows))
    assert found[: found.index(("sum", 0))] == (extra or [("step", j) for j in (1, 2, 3)])


def test_zeros_and_gaps_together_make_a_mixture():
    rows = np.linspace(1.0, 2.0, 400).reshape(100, 4)
    rows[:3, 2], rows[:3, 3] = 0.0, np.nan
    assert named(computed(rows))[:3] == [("pattern", 4), ("zeros", 0), ("stopped", 4)]


def test_of_two_values_no_range_is_looked_at():
    rows = np.tile([[1.0, 2.0], [2.0, 1.0]], (30, 1))
    assert named(computed(rows)) == [("step", 1), ("sum", 0)]
    rows[0, 0] = 3.0
    assert "least" in [aspect for aspect, _ in named(computed(rows))]


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


@pytest.mark.parametrize("count", [1, 4, 40, 400])
def test_the_luckiest_of_many_is_ahead_by_what_is_given_away(count):
    """One standard error is given away anyway; the mean of 400 repetitions is known to 0.04."""
    ahead = np.random.default_rng(21).normal(size=(400, count)).max(axis=1).mean()
    assert ahead - 0.2 < luckiest(count) + 1.0 < ahead + 1.1


def bits(chances, rng, size):
    """Reports of a bit vector, as randomised response gives them."""
    return gathered(rng.random((size, len(chances))) < np.array(chances), size)


def test_independent_bits_are_all_read_where_each_tells_little():
    """Six bits of twenty differ, 0.525 against 0.475: together 0.6, and no other bit is read."""
    rng, flat = np.random.default_rng(22), [0.5] * 14
    chances = [[0.525] * 3 + [0.475] * 3 + flat, [0.475] * 3 + [0.525] * 3 + flat]
    sides = [tuple(bits(c, rng, 40_000) for _ in range(2)) for c in chances]
    choice = choose_event(*sides, ExpectedBound(300_000, 0.05))
    assert isinstance(choice.event, Score)
    fresh = [choice.event.count(bits(c, rng, 400_000)) for c in chances]
    ours, theirs = fresh if choice.event.side == "left" else fresh[::-1]
    assert np.log(ours / theirs) > 0.45
    shown = choice.known
    assert np.log(shown[0] / shown[1]) < np.log(ours / theirs) + 0.05
