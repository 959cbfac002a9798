"""Every candidate event, not only the best: each promises what counting by plain code gives."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from pdpaudit.attacks import events
from pdpaudit.attacks.sweeping import Choice
from pdpaudit.attacks.vector_events import choose_regions
from pdpaudit.evidence.aim import Aim
from pdpaudit.outputs import Column, Draws, Membership, Range, Score, flatten, gathered

AIM = Aim(5_000, 0.05)
LISTS = ("finds", "order")


@pytest.fixture
def candidates(monkeypatch):
    """Return a function that chooses among four tables of counts, and gives all it has found."""

    def found(halves, **options):
        monkeypatch.setattr(events, "OTHERS", 10**6)
        draws = [draws_of(half) for half in halves]
        choice = events.choose_event(tuple(draws[:2]), tuple(draws[2:]), AIM, **options)
        return [Choice(choice.event, choice.expected), *choice.others]

    return found


def draws_of(half):
    """Draws of a table of counts."""
    return gathered(list(Counter(half).elements()), sum(half.values()))


def named(event):
    """What an event looks at, in short: "first", or "finds" and whom, or a place and what of it."""
    if not isinstance(event, Membership):
        return type(event).__name__
    column = event.column
    if column.aspect in ("finds", "order", "begins"):
        return column.aspect, column.at
    return (column.aspect, *column.path) if column.path else column.aspect


def made_up_lists(seed, sizes=(150, 250, 350, 450)):
    """Four tables of lists behind a common 0: each of seven vertices has chances of its own."""
    rng = np.random.default_rng(seed)
    halves = []
    for side, size in zip((0, 0, 1, 1), sizes, strict=True):
        chance = np.array([0.9, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
        chance[seed % 7] -= 0.15 * side
        half = Counter()
        for _ in range(size):
            inside = np.flatnonzero(rng.random(7) < chance) + 11
            half[0, *rng.permutation(inside).tolist()] += 1
        halves.append(half)
    return halves


def known_outputs(halves):
    return list(dict.fromkeys(output for half in halves for output in half))


def about_vertices(halves, most=48, most_ordered=12):
    """All events about who is in a list and who comes first: what to expect, counted plainly."""
    found = {"left": {}, "right": {}}
    runs = [sum(sum(half.values()) for half in halves[i : i + 2]) for i in (0, 2)]
    often = Counter()
    for half in halves:
        for output, times in half.items():
            often.update(dict.fromkeys(output[1:], times))
    tests = {}
    for v in [v for v, _ in often.most_common(most)]:
        if often[v] < sum(runs):
            for answer in (True, False):
                tests["finds", v, answer] = lambda o, v=v, answer=answer: (v in o) == answer
    for pair in combinations(sorted(v for v, _ in often.most_common(most_ordered)), 2):
        for v in pair:
            tests["order", pair, v] = lambda o, v=v, pair=pair: (
                [e for e in o if e in pair][:1] == [v]
            )
    for key, holds in tests.items():
        inside = [
            sum(n for half in halves[i : i + 2] for o, n in half.items() if holds(o[1:]))
            for i in (0, 2)
        ]
        for side, i in (("left", 0), ("right", 1)):
            expected = AIM.expected(inside[i], runs[i], inside[1 - i], runs[1 - i])
            found[side][key] = float(expected)
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("most", "ordered"), [(48, 12), (5, 3), (2, 2)])
def test_the_best_events_about_vertices_are_found(candidates, monkeypatch, seed, most, ordered):
    monkeypatch.setattr(events, "MOST_ENTRIES", most)
    monkeypatch.setattr(events, "MOST_ORDERED", ordered)
    halves = made_up_lists(seed)
    found = candidates(halves, thorough=False)
    choices = [c for c in found if isinstance(c.event, Membership)]
    plain = about_vertices(halves, most, ordered)
    for side in ("left", "right"):
        ours = [c for c in choices if c.event.side == side and c.event.feature in LISTS]
        assert [c.expected for c in ours] == pytest.approx(
            sorted(plain[side].values(), reverse=True)[:3], abs=1e-12
        )
        for choice in ours:
            (value,) = choice.event.values
            assert choice.expected == pytest.approx(plain[side][*named(choice.event), value])
            assert choice.event.prefix == 1


def test_who_is_always_in_the_list_is_looked_at_for_order_alone(candidates):
    """Both vertices are in all lists, so that only their order can tell."""
    left, right = {(1, 2): 60, (2, 1): 40}, {(1, 2): 40, (2, 1): 60}
    named = {c.event.feature for c in candidates([left, left, right, right])}
    assert {name for name in named if name.startswith(LISTS)} == {"order 1 2"}


@pytest.mark.parametrize(
    "outputs",
    [
        [(1,), ()],  # one vertex has no order, and "first" tells whether it is there
        [(1, 2), "no list"],
        [(1, 2), (1, "no vertex")],
        [(True, False), (False, True)],
        [3, 4],
    ],
)
def test_what_is_no_list_of_vertices_is_not_read_as_one(candidates, outputs):
    left, right = (dict(zip(outputs, counts, strict=True)) for counts in ((70, 30), (50, 50)))
    found = candidates([left, left, right, right])
    assert {type(c.event) for c in found} == {Event}
    of_lists = {"first", "last", "length"} if isinstance(outputs[0], tuple) else set()
    assert {c.event.feature for c in found} == {*of_lists, "output"}


FEATURES = {
    "first": lambda o: o[0] if o else None,
    "begins 2": lambda o: o[:2],
    "begins 3": lambda o: o[:3],
    "last": lambda o: o[-1] if o else None,
    "length": len,
    "output": lambda o: o,
}


def swept(halves, value_of, side):
    """Return the cuts of one feature from their definition: promises, runs inside, values."""
    tables = [Counter() for _ in halves]
    for output in known_outputs(halves):
        for table, half in zip(tables, halves, strict=True):
            table[value_of(output[1:])] += half.get(output, 0)
    ours, theirs = (tables[:2], tables[2:]) if side == "left" else (tables[2:], tables[:2])
    distinct = list(tables[0])

    def ranked(one, other):
        return sorted(distinct, key=lambda v: -np.log((one[v] + 0.5) / (other[v] + 0.5)))

    orders = [ranked(ours[1], theirs[1]), ranked(ours[0], theirs[0])]
    pooled = ranked(ours[0] + ours[1], theirs[0] + theirs[1])
    runs = [sum(sum(table.values()) for table in tables) for tables in (ours, theirs)]
    cuts = {}
    for cut in range(1, len(distinct) + 1):
        x, y = (
            sum(tables[half][v] for half in (0, 1) for v in orders[half][:cut])
            for tables in (ours, theirs)
        )
        cuts[cut] = (float(AIM.expected(x, runs[0], y, runs[1])), x, set(pooled[:cut]))
    return cuts


def short_lists(seed):
    rng = np.random.default_rng(seed)
    outputs = [(0, *rng.integers(1, 4, rng.integers(1, 6)).tolist()) for _ in range(40)]
    return [
        {o: int(n) for o, n in zip(outputs, rng.poisson(rate, 40), strict=True) if n}
        for rate in (3, 5, 4, 6)
    ]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_every_feature_is_cut_where_it_promises_most(candidates, seed, feature, side):
    halves = short_lists(seed)
    cuts = swept(halves, FEATURES[feature], side)
    found = [
        choice
        for choice in candidates(halves, thorough=False)
        if (getattr(choice.event, "feature", None), choice.event.side) == (feature, side)
    ]
    assert found[0].expected == pytest.approx(max(cut[0] for cut in cuts.values()), abs=1e-12)
    assert 1 <= len(found) <= 3
    for choice in found:
        expected, _, values = cuts[len(choice.event.values)]
        assert choice.expected == pytest.approx(expected, abs=1e-12)
        assert choice.event.values == values
        assert choice.event.prefix == 1
    sizes = [cuts[len(choice.event.values)][1] + 1 for choice in found]
    assert all(max(a, b) > 1.5 * min(a, b) for a, b in combinations(sizes, 2))


@pytest.mark.parametrize(("longest", "more"), [(2, set()), (3, {"begins 2", "begins 3"})])
def test_how_lists_begin_is_looked_at_where_it_is_not_all_of_them(candidates, longest, more):
    """Beside the first entry and the whole, behind what all begin with."""
    left = {(0, 1): 50, (0, *range(2, 2 + longest)): 50}
    right = {(0, 1): 90, (0, *range(2, 2 + longest)): 10}
    named = {c.event.feature for c in candidates([left, left, right, right])}
    assert {name for name in named if not name.startswith(LISTS)} == {
        "first",
        "last",
        "length",
        "output",
        *more,
    }


def test_how_lists_begin_is_simpler_than_how_they_end():
    """The second entry tells as much as the last one, which is the same."""
    left = {(a, b, 7, b): n for a in (1, 2) for b, n in ((3, 80), (4, 20))}
    right = {(a, b, 7, b): 50 for a in (1, 2) for b in (3, 4)}
    sides = (Draws(Counter(left)),) * 2, (Draws(Counter(right)),) * 2
    choice = events.choose_event(*sides, AIM)
    assert choice.event == Event("begins 2", frozenset({(1, 4), (2, 4)}), "right", 0)
    same = {c.event.feature for c in choice.others if c.expected == choice.expected}
    assert {"last", "output"} <= same


def test_many_values_are_cut_at_even_places(candidates, monkeypatch):
    monkeypatch.setattr(events, "THRESHOLDS", 5)
    rng = np.random.default_rng(1)
    halves = [{f"v{i}": int(n) for i, n in enumerate(rng.poisson(30, 9) + 1)} for _ in range(4)]
    sizes = {len(c.event.values) for c in candidates(halves) if c.event.feature == "output"}
    assert sizes <= {1, 3, 5, 7, 9}
    assert len(sizes) > 1


def expanded(halves, entries):
    """Rows of the outputs, each as often as it was drawn, in the order in which they are known."""
    known = known_outputs(halves)
    return [np.array([entries(o) for o in known for _ in range(half.get(o, 0))]) for half in halves]


def regions_of(choices):
    return [c for c in choices if isinstance(c.event, Range | Score)]


def as_found(rows, halves, vertices, thorough):
    """What is found on these rows, sorted as the candidates are."""
    second = tuple(sum(half.values()) for half in (halves[1], halves[3]))
    found = choose_regions(
        (rows[0], rows[1]), (rows[2], rows[3]), second, AIM, vertices, thorough=thorough
    )
    return sorted(found, key=lambda c: -c.expected)


def flagged(many, seed=5):
    """Four tables of so many tuples of five flags, one of them sometimes missing."""
    rng = np.random.default_rng(seed)
    flags = [(*(bool(i >> j & 1) for j in range(4)), None) for i in range(16)]
    flags += [(*(bool(i >> j & 1) for j in range(4)), True) for i in range(16)]
    return [
        {o: int(n) + 1 for o, n in zip(flags[:many], rng.poisson(rate, many), strict=True)}
        for rate in (20, 30, 40, 25)
    ]


@pytest.mark.parametrize("thorough", [False, True])
def test_more_than_24_outputs_made_of_flags_are_read_as_rows_too(candidates, thorough):
    few, many = flagged(24), flagged(25)
    assert regions_of(candidates(few, thorough=thorough)) == []
    meaning = {True: 1.0, False: 0.0, None: np.nan}
    rows = expanded(many, lambda o: [meaning[flag] for flag in o])
    everything = candidates(many, thorough=thorough)
    found = regions_of(everything)
    assert any(isinstance(c.event, Score) for c in found)
    assert any(isinstance(c.event, Event) for c in everything)
    plain = as_found(rows, many, None, thorough)
    assert sorted(found, key=repr) == sorted(plain, key=repr)


def repeated_lists(outputs, times):
    """Each list so often in all four tables together: every other one more often on the left."""
    return [
        {o: times // 4 + (1 if (i % 2 == 0) == (j < 2) else -1) for i, o in enumerate(outputs)}
        for j in range(4)
    ]


ORDERS = [(5, 6, 7), (6, 5, 7), (7, 6, 5), (5, 7, 6), (6, 7), (7, 5)]


@pytest.mark.parametrize("thorough", [False, True])
def test_lists_that_hardly_repeat_are_read_by_place(candidates, thorough):
    """Beside being read by who comes first."""
    halves = repeated_lists(ORDERS, 16)
    found = candidates(halves, thorough=thorough)
    vertices = (5, 6, 7)
    rows = expanded(
        halves,
        lambda o: [o.index(v) if v in o else np.nan for v in vertices] + [len(o)],
    )
    assert sorted(regions_of(found), key=repr) == sorted(
        as_found(rows, halves, vertices, thorough), key=repr
    )
    assert any(str(getattr(c.event, "feature", "")).startswith("order") for c in found)


def test_lists_that_repeat_or_name_two_vertices_are_not(candidates):
    halves = repeated_lists(ORDERS, 20)
    assert sum(sum(half.values()) for half in halves) == 20 * len(ORDERS)
    assert regions_of(candidates(halves)) == []
    halves[0][ORDERS[0]] -= 1
    assert regions_of(candidates(halves))
    assert regions_of(candidates(repeated_lists([(5, 6), (6, 5), (5,), (6,)], 4))) == []


def made_up(*promises):
    """Choices that promise so much, on rows."""
    return [
        Choice(Range("left", 1, None, View("entry"), float(i), float(i)), promise)
        for i, promise in enumerate(promises)
    ]


@pytest.mark.parametrize(
    ("promises", "best"),
    [
        ((1.0, 1.0019), 0),
        ((1.0, 1.0021), 1),
        ((-1.0, -0.9981), 0),
        ((-1.0, -0.9979), 1),
        ((1.0, 2.0, 1.5), 1),
        ((1.0, 1.0015, 1.003), 2),
        ((3.0, 2.0), 0),
        ((0.0, 0.0), 0),
        (tuple(np.arange(20) / 10), 19),
    ],
)
def test_the_less_simple_must_promise_clearly_more(monkeypatch, promises, best):
    """A five-hundredth more than the simpler one; the others follow by what they promise."""
    known = made_up(*promises)
    asked = []

    def instead(*arguments, **options):
        asked.append((arguments, options))
        return known

    monkeypatch.setattr(events, "choose_regions", instead)
    rows = [np.full((k, 1), float(k)) for k in (2, 3, 4, 5)]
    draws = [Draws(pieces=[part]) for part in rows]
    choice = events.choose_event(tuple(draws[:2]), tuple(draws[2:]), AIM, thorough=False)
    assert (choice.event, choice.expected) == (known[best].event, promises[best])
    rest = [one for one in known if one is not known[best]]
    assert choice.others == tuple(sorted(rest, key=lambda c: -c.expected)[:14])
    # The rows are handed on side by side, half by half.
    ((left, right, second, aim), options) = asked[0]
    assert [len(part) for part in (*left, *right)] == [2, 3, 4, 5]
    assert (second, aim, options) == ((3, 5), AIM, {"thorough": False})


def test_by_default_scores_are_learnt_by_regression_too(monkeypatch):
    asked = []
    monkeypatch.setattr(
        events, "choose_regions", lambda *a, **options: asked.append(options) or made_up(1.0)
    )
    draws = [Draws(pieces=[np.zeros((2, 1))]) for _ in range(4)]
    events.choose_event(tuple(draws[:2]), tuple(draws[2:]), AIM)
    assert asked == [{"thorough": True}]


@pytest.mark.parametrize("filled", range(4))
def test_rows_in_any_half_are_looked_at(monkeypatch, filled):
    """Halves may also hold what can be counted alone."""
    asked = []
    monkeypatch.setattr(events, "choose_regions", lambda *a, **_: asked.append(a) or made_up(9.0))
    draws = [Draws(Counter({"a": 3, "b": 2})) for _ in range(4)]
    assert events.choose_event(tuple(draws[:2]), tuple(draws[2:]), AIM).expected < 9.0
    draws[filled] = Draws(pieces=[np.zeros((2, 1))])
    choice = events.choose_event(tuple(draws[:2]), tuple(draws[2:]), AIM)
    assert choice.expected == 9.0
    assert {c.event.feature for c in choice.others} == {"output"}
    assert len(asked) == 1
