"""Events on real vectors: the right one where it is known, the same one read back from JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pdpaudit.algorithms.zoo import ZOO
from pdpaudit.attacks.events import choose_event
from pdpaudit.attacks.vector_events import MANY
from pdpaudit.evidence.aim import Aim
from pdpaudit.evidence.event import event_from_json
from pdpaudit.evidence.regions import Range, Score, View
from pdpaudit.sampling import Draws

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
