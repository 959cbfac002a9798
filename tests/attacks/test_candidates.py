"""Every candidate event, not only the best: each promises what counting by plain code gives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from pdpaudit.attacks import events
from pdpaudit.attacks.candidates import Sample
from pdpaudit.attacks.candidates import candidates as columns_of
from pdpaudit.attacks.thresholds import Choice
from pdpaudit.attacks.vector_events import choose_regions
from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Column, Membership, Range, Score, Term, gathered

AIM = ExpectedBound(5_000, 0.05)
LISTS = ("finds", "order")


@pytest.fixture
def candidates(monkeypatch):
    """Return a function that chooses among four tables of counts, and gives all it has found."""

    def found(halves, **options):
        monkeypatch.setattr(events, "OTHERS", 10**6)
        monkeypatch.setattr(events, "BEHIND", 1e30)
        return choices(*map(draws_of, halves), **options)

    return found


def choices(*draws, **options):
    """All choices among four draws, two a side."""
    choice = events.choose_event(tuple(draws[:2]), tuple(draws[2:]), AIM, **options)
    return [Choice(choice.event, choice.expected), *choice.others]


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
        half: Counter[Any] = Counter()
        for _ in range(size):
            inside = np.flatnonzero(rng.random(7) < chance) + 11
            half[0, *rng.permutation(inside).tolist()] += 1
        halves.append(half)
    return halves


def known_outputs(halves):
    return list(dict.fromkeys(output for half in halves for output in half))


def about_vertices(halves, most=48, most_ordered=12):
    """All events about who is in a list and who comes first: what to expect, counted plainly."""
    found: dict[str, dict[Any, Any]] = {"left": {}, "right": {}}
    runs = [sum(sum(half.values()) for half in halves[i : i + 2]) for i in (0, 2)]
    often: Counter[Any] = Counter()
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
    members = [c for c in found if isinstance(c.event, Membership)]
    plain = about_vertices(halves, most, ordered)
    for side in ("left", "right"):
        ours = [c for c in members if c.event.side == side and c.event.feature in LISTS]
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
    found = [c.event for c in candidates([left, left, right, right])]
    assert {named(event) for event in found if event.feature in LISTS} == {("order", (1, 2))}


@pytest.mark.parametrize(
    ("outputs", "of_lists", "names"),
    [
        ([(1,), ()], True, False),  # one has no order, and "first" tells whether it is there
        ([(1, 2), "no list"], False, False),
        ([(1, 2), (2, 1)], True, True),
        ([(1, 2), (1, "a name")], True, True),
        ([(1, 2), (1, -2)], True, False),
        ([(1, 2), (1, None)], True, False),
        ([(1, 2), (2, 2)], True, False),
        ([(True, False), (False, True)], True, False),
        ([(0.5, 1), (1.5, 2)], True, False),
        ([(0.5, 1.5), (1.5, 2.5)], False, False),
        ([[1, 2], [2, 1]], True, True),
        ([{"a": 1}, {"a": 2}], False, False),
        ([3, 4], False, False),
    ],
)
def test_only_lists_are_read_as_lists_and_only_names_as_names(candidates, outputs, of_lists, names):
    halves = [list(zip(outputs, counts, strict=True)) for counts in ((70, 30), (50, 50))]
    draws = [gathered([o for o, n in half for _ in range(n)], 100) for half in halves]
    found = {c.event.feature for c in choices(draws[0], draws[0], draws[1], draws[1])}
    assert {"first", "last"}.isdisjoint(found) is not of_lists
    assert found.isdisjoint(LISTS) is not names
    assert "output" in found


FEATURES = {
    "first": lambda o: o[0] if o else None,
    ("begins", 2): lambda o: o[:2],
    ("begins", 3): lambda o: o[:3],
    "last": lambda o: o[-1] if o else None,
    "length": len,
    "output": lambda o: o,
}


def swept(halves, value_of, side):
    """Return the cuts of one feature from their definition: promises, runs inside, values."""
    tables: list[Counter[Any]] = [Counter() for _ in halves]
    for output in known_outputs(halves):
        for table, half in zip(tables, halves, strict=True):
            table[value_of(output[1:])] += half.get(output, 0)
    ours, theirs = (tables[:2], tables[2:]) if side == "left" else (tables[2:], tables[:2])
    distinct = sorted(tables[0], key=repr)

    def ranked(one, other):
        return sorted(distinct, key=lambda v: -np.log((one[v] + 0.5) / (other[v] + 0.5)).round(9))

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
        if (named(choice.event), choice.event.side) == (feature, side)
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


@pytest.mark.parametrize(("longest", "more"), [(2, ()), (3, (2, 3))])
def test_how_lists_begin_is_looked_at_where_it_is_not_all_of_them(candidates, longest, more):
    """Beside the first entry and the whole, behind what all begin with."""
    left = {(0, 1): 50, (0, *range(2, 2 + longest)): 50}
    right = {(0, 1): 90, (0, *range(2, 2 + longest)): 10}
    found = [c.event for c in candidates([left, left, right, right])]
    whole = {
        named(event)
        for event in found
        if isinstance(event, Membership) and event.feature not in LISTS and not event.column.path
    }
    assert whole == {"first", "last", "length", "output", *(("begins", n) for n in more)}


def test_how_lists_begin_is_simpler_than_how_they_end():
    """The second entry tells as much as the last one, which is the same."""
    left = {(a, b, 7, b): n for a in (1, 2) for b, n in ((3, 80), (4, 20))}
    right = {(a, b, 7, b): 50 for a in (1, 2) for b in (3, 4)}
    sides = (draws_of(left),) * 2, (draws_of(right),) * 2
    choice = events.choose_event(*sides, AIM)
    begins = Column("begins", at=2)
    assert choice.event == Membership("right", begins, frozenset({(1, 4), (2, 4)}))
    same = {named(c.event) for c in choice.others if c.expected == choice.expected}
    assert {"last", ("value", 1)} <= same


def test_many_values_are_cut_at_even_places(candidates, monkeypatch):
    monkeypatch.setattr(events, "THRESHOLDS", 5)
    rng = np.random.default_rng(1)
    halves = [{f"v{i}": int(n) for i, n in enumerate(rng.poisson(30, 9) + 1)} for _ in range(4)]
    found = candidates(halves)
    sizes = {len(c.event.values) for c in found if c.event.feature == "output"}
    assert sizes <= {1, 3, 5, 7, 9}
    assert len(sizes) > 1


def regions_of(found):
    return sorted((c for c in found if isinstance(c.event, Range | Score)), key=repr)


def as_found(halves, numbers, categories, thorough):
    """What is found when these columns are looked at."""
    draws = list(map(draws_of, halves))
    sample = Sample(tuple(draws[:2]), tuple(draws[2:]))
    return regions_of(choose_regions(sample, numbers, categories, AIM, thorough=thorough))


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
@pytest.mark.parametrize("many", [4, 24, 32])
def test_flags_are_read_as_numbers_too_however_few_there_are(candidates, thorough, many):
    """Five of them, the last is missing or true where there are more than 16 outputs."""
    halves = flagged(many)
    numbers = [Column("number", (j,)) for j in range(5 if many > 16 else 4)]
    categories = [Column("kind", (4,))] if many > 16 else []
    everything = candidates(halves, thorough=thorough)
    found = regions_of(everything)
    assert any(isinstance(c.event, Score) for c in found)
    assert any(isinstance(c.event, Membership) for c in everything)
    assert found == as_found(halves, numbers, categories, thorough)


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
    numbers = [*(Column("place", at=v) for v in (5, 6, 7)), Column("length")]
    categories = [Column("value", (0,)), Column("value", (1,))]
    categories += [Column("kind", (2,)), Column("value", (2,))]
    assert regions_of(found) == as_found(halves, numbers, categories, thorough)
    assert any(c.event.feature == "order" for c in found)


def test_lists_that_repeat_or_name_two_vertices_are_not(candidates):
    """Twenty times in each half."""
    halves = repeated_lists(ORDERS, 80)
    assert sum(sum(half.values()) for half in halves) == 80 * len(ORDERS)
    assert regions_of(candidates(halves)) == []
    halves[0][ORDERS[0]] -= 1
    assert regions_of(candidates(halves))
    assert regions_of(candidates(repeated_lists([(5, 6), (6, 5), (5,), (6,)], 4))) == []


def made_up(*promises):
    """Choices that promise so much, on rows."""
    return [
        Choice(Range("left", Column("number"), float(i), float(i)), promise)
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
    draws = [gathered(np.arange(k)[:, None] + 10.0 * k, k) for k in (2, 3, 4, 5)]
    choice = events.choose_event(tuple(draws[:2]), tuple(draws[2:]), AIM, thorough=False)
    assert (choice.event, choice.expected) == (known[best].event, promises[best])
    rest = [one for one in known if one is not known[best]]
    assert choice.others == tuple(sorted(rest, key=lambda c: -c.expected)[:5])
    # The sample is handed on half by half, with the columns worth a look.
    ((sample, numbers, categories, aim), options) = asked[0]
    assert sample.runs == [2, 3, 4, 5]
    assert (numbers, categories) == ([Column("number", (0,))], [])
    assert (aim, options) == (AIM, {"thorough": False})


def test_the_best_others_of_each_kind_are_kept(monkeypatch):
    """However many scores promise more than the simplest; and the score that is known best."""
    term = Term(Column("number"), (), (0.0,))
    simple = made_up(*np.arange(8) / 100)
    one = [Choice(replace(c.event, column=Column("sum")), c.expected + 1) for c in simple]
    scores = [Choice(Score("left", (term,) * n, 0.0), 9.0 + n / 10) for n in range(1, 9)]
    scores[1] = replace(scores[1], known=(900.0, 100.0, 1000.0))
    monkeypatch.setattr(events, "choose_regions", lambda *_, **__: simple + one + scores)
    draws = [gathered(np.arange(k)[:, None] + 10.0 * k, k) for k in (2, 3, 4, 5)]
    choice = events.choose_event(tuple(draws[:2]), tuple(draws[2:]), AIM)
    assert choice.event == scores[-1].event
    assert choice.others == (*scores[-2:-7:-1], *one[:2:-1], *simple[:2:-1], scores[1])


@pytest.mark.parametrize("best", [1.0, -1.0])
def test_scores_that_promise_much_less_than_the_best_are_not_kept(monkeypatch, best):
    """Simple events are kept, whatever they promise."""
    term = Term(Column("number"), (), (0.0,))
    given = [Choice(Score("left", (term,) * n, 0.0), best - n / 10) for n in range(1, 5)]
    simple = made_up(best - 2.0)
    top = Choice(Score("left", (term,) * 9, 0.0), best)
    monkeypatch.setattr(events, "choose_regions", lambda *_, **__: [*simple, top, *given])
    draws = [gathered(np.arange(k)[:, None] + 10.0 * k, k) for k in (2, 3, 4, 5)]
    choice = events.choose_event(tuple(draws[:2]), tuple(draws[2:]), AIM)
    others = [c for c in choice.others if isinstance(c.event, Score)]
    assert choice.event == top.event
    assert others == given[:2]
    assert simple[0] in choice.others


def test_by_default_scores_have_more_cells(monkeypatch):
    asked = []
    monkeypatch.setattr(
        events, "choose_regions", lambda *a, **options: asked.append(options) or made_up(1.0)
    )
    draws = [gathered(np.zeros((2, 1)), 2) for _ in range(4)]
    events.choose_event(tuple(draws[:2]), tuple(draws[2:]), AIM)
    assert asked == [{"thorough": True}]


@pytest.mark.parametrize("filled", range(4))
def test_rows_in_any_half_are_looked_at(monkeypatch, filled):
    """Halves may also hold what can be counted alone."""
    asked = []
    monkeypatch.setattr(events, "choose_regions", lambda *a, **_: asked.append(a) or made_up(9.0))
    draws = [draws_of({"a": 3, "b": 2}) for _ in range(4)]
    assert events.choose_event(tuple(draws[:2]), tuple(draws[2:]), AIM).expected < 9.0
    draws[filled] = gathered(np.zeros((2, 1)), 2)
    choice = events.choose_event(tuple(draws[:2]), tuple(draws[2:]), AIM)
    assert choice.expected == 9.0
    assert {c.event.feature for c in choice.others} == {"output", "value", "kind"}
    ((_, numbers, categories, _),) = asked
    assert numbers == [Column("number", (0,))]
    assert Column("value") in categories


def columns_seen(*halves):
    sample = Sample(*((gathered(half, len(half)),) * 2 for half in halves))
    found = columns_of(sample)
    return [(c.aspect, *c.path, *([c.at] if c.at else [])) for c in found.numbers], [
        (c.aspect, *c.path) for c in found.categories
    ]


@pytest.mark.parametrize(
    ("outputs", "numbers", "categories"),
    [
        ([0.5, 1.5], [("number",)], []),
        ([0.5, None], [("number",)], [("kind",)]),
        ([0.5, float("nan")], [("number",)], [("kind",)]),
        ([3, 4], [("number",)], [("value",)]),
        ([3, 2**60], [("number",), ("rest",)], [("value",)]),
        ([0.5, 2**5000], [("number",), ("rest",)], [("kind",), ("value",)]),
        ([None, float("nan")], [], [("kind",)]),
        ([True, False], [("number",)], []),
        (["a", "b"], [], [("value",)]),
        (["a", "bc"], [("length",)], [("value",)]),
        (["a 1", "b 2"], [("embedded",)], [("value",), ("template",)]),
        (["1 1", "2 2"], [("embedded",), ("embedded", 1)], [("value",), ("template",)]),
        ([b"ab", b"ac"], [], [("value",)]),
        ([b"a1", b"a2"], [("embedded",)], [("value",), ("template",)]),
        (
            [f"{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(101)],
            [("byte",), ("byte", 1)],
            [("value",)],
        ),
        ([f"{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(100)], [], [("value",)]),
        ([(0.5, None), (0.5,)], [("number", 0), ("length",)], [("kind", 1)]),
        ([(0.5,), [0.5]], [("number", 0)], [("kind",)]),
        (
            [{"a": 0.5}, {"b": 0.5}],
            [("number", "a"), ("number", "b")],
            [("kind", "a"), ("kind", "b"), ("keys",)],
        ),
        ([{"a": (0.5, {"b": 1.5})}], [("number", "a", 0), ("number", "a", 1, "b")], []),
        ([KeyError(3), 0.5], [("number", 0), ("number",)], [("kind", 0), ("value", 0), ("kind",)]),
        ([], [], []),
    ],
)
def test_the_columns_worth_a_look(outputs, numbers, categories):
    """Whatever is the same in all outputs is none of them, unless a number may tell sides apart."""
    for some in (outputs, outputs[::-1], outputs * 2):
        found = columns_seen(some, some)
        assert sorted(map(repr, found[0])) == sorted(map(repr, numbers))
        assert sorted(map(repr, found[1])) == sorted(map(repr, categories))
    # In the same order whatever came first, and whichever side has it.
    assert columns_seen(outputs, outputs[::-1]) == columns_seen(outputs[::-1], outputs)


def test_a_kind_that_one_side_alone_has_is_seen():
    assert columns_seen([0.5], [None]) == ([("number",)], [("kind",)])
    assert columns_seen([(0.5,)], [(0.5, 1.5)])[1] == [("kind", 1)]
    array = gathered(np.array([0.5, 1.5]), 2), gathered(np.array([0.5, np.nan]), 2)
    found = columns_of(Sample((array[0],) * 2, (array[1],) * 2))
    assert found.categories == [Column("kind")]


def test_of_many_leaves_those_that_differ_most_are_looked_at():
    """Three of a hundred, one of them among numbers that overflow any mean."""
    rng = np.random.default_rng(3)
    sides = [rng.normal(size=(2, 500, 100)) for _ in range(2)]
    for leaf in (7, 70, 99):
        sides[0][:, :, leaf] += 1.0
    for side in sides:
        side[:, :, 70] *= 1e305
        side[:, :5, 70] = np.inf
    halves = [tuple(gathered(rows, 500) for rows in side) for side in sides]
    numbers = columns_of(Sample(*halves)).numbers
    assert len(numbers) == 64
    assert numbers == sorted(numbers, key=lambda column: column.path)
    assert {(7,), (70,), (99,)} <= {column.path for column in numbers}
