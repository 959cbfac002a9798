"""Choose the event that gives the best evidence, from discovery samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Column, Draws, Membership, Range, Score, Side, complexity
from pdpaudit.outputs.columns import EXACT

from .candidates import REPEATS, Candidates, Sample, candidates
from .thresholds import DECIMALS, SURE, Choice, apart, promising
from .vector_events import choose_regions

Floats = npt.NDArray[np.float64]

#: Thresholds tried for one ordering of the values.
THRESHOLDS = 64

#: Entries of lists whose presence is looked at, and of whose order any two are.
MOST_ENTRIES, MOST_ORDERED = 48, 12

#: Events of each kind kept beside the best, and cuts kept of one column.
OTHERS, EACH = 5, 3

#: Scores that promise less than the best by this share of it are not kept: tested beside it on few
#: runs, the luckiest of them would take its place.
BEHIND = 0.2

#: A less simple event must promise so much more, a score, and one on the exact form of a number.
WORTH, WORTH_SCORE, WORTH_EXACT = 0.002, 0.1, 0.2

#: Numbers whose exact form is looked at, and standard errors given away, as of other half-lines.
MOST_EXACT, MANY = 8, 2.0


@np.errstate(over="ignore", invalid="ignore")  # outputs may be of any size
def choose_event(
    left: tuple[Draws, Draws],
    right: tuple[Draws, Draws],
    aim: ExpectedBound,
    *,
    thorough: bool = True,
    exact: bool = False,
) -> Choice:
    """Return the event whose lower bound at the planned sample size looks largest, and others.

    The categories of each column are ranked by likelihood ratio on one half of the discovery
    sample, smoothed, and the threshold is swept on the other half: ranking and sweeping on the same
    draws would favour values seen once by chance. For numbers, and for lists too many to count, see
    :func:`pdpaudit.attacks.vector_events.choose_regions`.

    Parameters
    ----------
    left, right : pair of Draws
        The two halves of the discovery sample on each side.
    aim : ExpectedBound
        What will be confirmed.
    thorough : bool
        Whether to learn scores by regression too, which takes most of the time.
    exact : bool
        Whether to look at the exact form of floating-point numbers too.

    Returns
    -------
    Choice
        With up to a dozen others. O(k log k) for k distinct outputs.

    Examples
    --------
    >>> from pdpaudit.outputs import gathered
    >>> ours, theirs = (gathered([(0, 1)] * n + [(0, 2)] * (100 - n), 100) for n in (90, 10))
    >>> choice = choose_event((ours, ours), (theirs, theirs), ExpectedBound(100, 0.05))
    >>> choice.event.values, choice.event.side, choice.event.column.prefix
    (frozenset({1}), 'left', 1)
    """
    sample = Sample(left, right)
    columns = candidates(sample)
    found = _by_categories(sample, columns, aim) + _by_lists(sample, aim)
    numbers = list(columns.numbers)
    if sample.names:
        # Names that happen to be numbers have no order, but their places in the list do.
        numbers = []
        if sample.repeats < REPEATS:
            places = [Column("place", at=entry) for entry in _entries(sample)[0]]
            numbers = [*places, Column("length")] if len(places) > 2 else []
    if numbers:
        found += choose_regions(sample, numbers, columns.categories, aim, thorough=thorough)
    # Where nothing differs, there is nothing to choose: an event that no output belongs to.
    nothing = Range("left", Column("length"), np.inf, -np.inf)
    best = found[0] if found else Choice(nothing, 0.0)
    for one in found[1:]:
        # The simple come first: a less simple event must promise clearly more.
        learnt, before = (isinstance(event, Score) for event in (one.event, best.event))
        worth = WORTH_SCORE if learnt and not before else WORTH
        if one.expected > best.expected + worth * abs(best.expected):
            best = one
    for one in _by_form(sample, columns.numbers, aim) if exact else ():
        found.append(one)
        if one.expected > best.expected + WORTH_EXACT * abs(best.expected):
            best = one
    return replace(best, others=tuple(_others(found, best, aim)))


def _by_form(sample: Sample, numbers: list[Column], aim: ExpectedBound) -> list[Choice]:
    """Return the best half-lines of the exact form of each number: few values, all are tried."""
    leaves = [column.path for column in numbers if column.aspect == "number"][:MOST_EXACT]
    aim, totals = replace(aim, caution=aim.caution + MANY), sample.sides
    found: list[Choice] = []
    for column in (Column(aspect, path) for path in leaves for aspect in EXACT):
        parts = sample.numbers(column)
        cuts = np.unique(np.concatenate(parts))
        cuts = cuts[~np.isnan(cuts)]
        at = np.zeros((2, len(cuts)))
        for part, (values, batch) in enumerate(zip(parts, sample.batches, strict=True)):
            seen = ~np.isnan(values)
            places = np.searchsorted(cuts, values[seen])
            at[part // 2] += np.bincount(places, batch.weights[seen], len(cuts))
        up, down = np.cumsum(at, axis=1), np.cumsum(at[:, ::-1], axis=1)[:, ::-1]
        sides: tuple[tuple[Side, int, int], ...] = (("left", 0, 1), ("right", 1, 0))
        for side, ours, theirs in sides if len(cuts) > 1 else ():
            for counts, low in ((up, False), (down, True)):
                expected = aim.expected(counts[ours], totals[ours], counts[theirs], totals[theirs])
                pick = int(np.argmax(expected.round(9)))
                ends = (float(cuts[pick]), np.inf) if low else (-np.inf, float(cuts[pick]))
                found.append(Choice(Range(side, column, *ends), float(expected[pick])))
    return sorted(found, key=lambda one: -round(one.expected, 9))[:OTHERS]


def _others(found: list[Choice], best: Choice, aim: ExpectedBound) -> list[Choice]:
    """Return the best others of each kind: many that look at the same would leave no room.

    And the score that surely promises most: the best may be rare and lucky.
    """
    kept: list[Choice] = []
    kinds: Counter[int] = Counter()
    for one in sorted(found, key=lambda one: -round(one.expected, 9)):
        kind = min(complexity(one.event), 2)
        if kind == 2 and one.expected < best.expected - BEHIND * abs(best.expected):
            continue
        if one is not best and kinds[kind] < OTHERS:
            kinds[kind] += 1
            kept.append(one)
    scores = [one for one in found if complexity(one.event) > 1]
    if scores:
        ours, theirs, runs = np.array([one.known for one in scores]).T
        sure = replace(aim, caution=aim.caution + SURE).expected(ours, runs, theirs, runs)
        surest = scores[int(np.argmax(sure.round(DECIMALS)))]
        kept += [surest] * (surest is not best and surest not in kept)
    return kept


def _by_categories(sample: Sample, columns: Candidates, aim: ExpectedBound) -> list[Choice]:
    """Rank the categories of each column and sweep."""
    features: list[Column] = []
    lists, prefix = sample.lists, sample.prefix
    if lists is not None and any(lists):
        longest = max(map(len, lists)) - prefix
        features += [Column("first", prefix=prefix)]
        if longest > 2:
            features += [Column("begins", at=n, prefix=prefix) for n in (2, 3)]
        features += [Column(aspect, prefix=prefix) for aspect in ("last", "length")]
    features += columns.categories
    if sample.finite:
        features.append(Column("output", prefix=prefix))
    elif not sample.rows and (sample.varied or len(columns.categories) > 1):
        features.append(Column("structure"))
    found: list[Choice] = []
    sides: tuple[Side, Side] = ("left", "right")
    for column in features:
        distinct, table = sample.table(column)
        if len(distinct) > 1:
            for side in sides:
                found += _sweep(sample, column, distinct, table, aim, side)
    return found


def _sweep(
    sample: Sample,
    column: Column,
    distinct: list[Hashable],
    table: Floats,
    aim: ExpectedBound,
    side: Side,
) -> list[Choice]:
    """Return the best thresholds for one column in one direction."""
    first, second = (0, 1) if side == "left" else (1, 0)
    ours, theirs = table[2 * first : 2 * first + 2], table[2 * second : 2 * second + 2]
    cuts = np.unique(np.linspace(1, len(distinct), THRESHOLDS).round().astype(int))
    # Each half is swept in the order that the other one gives, and both count.
    inside, inside_other = np.zeros(len(cuts)), np.zeros(len(cuts))
    for half in (0, 1):
        order = _order(ours[1 - half], theirs[1 - half])
        inside += np.cumsum(ours[half][order])[cuts - 1]
        inside_other += np.cumsum(theirs[half][order])[cuts - 1]
    runs = sample.sides
    p, q = aim.shares(inside, runs[first], inside_other, runs[second])
    expected = aim.from_shares(p, q)
    order = _order(ours.sum(axis=0), theirs.sum(axis=0))
    return [
        promising(
            Membership(side, column, frozenset(distinct[i] for i in order[: cuts[pick]])),
            expected[pick],
            p[pick],
            q[pick],
            runs[first],
        )
        for pick in apart(expected, inside, EACH)
    ]


def _order(ours: Floats, theirs: Floats) -> npt.NDArray[np.intp]:
    """Return the outcomes by likelihood ratio, smoothed, the largest first."""
    # Rounded, for the last digits of a logarithm differ between processors.
    ratios = np.log((ours + 0.5) / (theirs + 0.5)).round(9)
    return np.argsort(-ratios, kind="stable")


def _entries(sample: Sample) -> tuple[list[Hashable], Counter[Hashable]]:
    """Return the most frequent entries of lists in a fixed order, and how often each came up."""
    times: Counter[Hashable] = Counter()
    weights = np.concatenate([batch.weights for batch in sample.batches]).astype(int).tolist()
    for entries, runs in zip(sample.lists or [], weights, strict=True):
        for entry in entries[sample.prefix :]:
            times[entry] += runs
    frequent = sorted(times, key=lambda entry: (-times[entry], repr(entry)))
    return sorted(frequent[:MOST_ENTRIES], key=_name_order), times


def _name_order(entry: Hashable) -> tuple[bool, Hashable, str]:
    return (False, entry, "") if type(entry) is int else (True, 0, repr(entry))


def _by_lists(sample: Sample, aim: ExpectedBound) -> list[Choice]:
    """Look at who is in a list, and who stands before whom."""
    if not sample.names:
        return []
    entries, times = _entries(sample)
    if len(entries) < 2:
        return []
    places = np.stack(
        [np.concatenate(sample.numbers(Column("place", at=entry))) for entry in entries], axis=1
    )
    events, masks = list[tuple[Column, Hashable]](), list[npt.NDArray[np.bool_]]()
    total = int(sum(sample.runs))
    for number, entry in enumerate(entries):
        # What is always in the list says nothing by being there, but may by where.
        if times[entry] < total:
            present = ~np.isnan(places[:, number])
            column = Column("finds", at=entry, prefix=sample.prefix)
            events += [(column, True), (column, False)]
            masks += [present, ~present]
    ordered = [entry for entry in entries if entry in _most(times, MOST_ORDERED)]
    filled = np.where(np.isnan(places), np.inf, places)
    for one, other in combinations(ordered if sample.ordered else (), 2):
        first, second = filled[:, entries.index(one)], filled[:, entries.index(other)]
        column = Column("order", at=(one, other), prefix=sample.prefix)
        events += [(column, one), (column, other)]
        masks += [first < second, second < first]
    return _best_masks(sample, events, masks, aim)


def _most(times: Counter[Hashable], count: int) -> set[Hashable]:
    return set(sorted(times, key=lambda entry: (-times[entry], repr(entry)))[:count])


def _best_masks(
    sample: Sample,
    events: list[tuple[Column, Hashable]],
    masks: list[npt.NDArray[np.bool_]],
    aim: ExpectedBound,
) -> list[Choice]:
    if not masks:
        return []
    weights = [batch.weights for batch in sample.batches]
    sides, start = np.zeros((2, sum(map(len, weights)))), 0
    for part, of in enumerate(weights):
        sides[part // 2, start : start + len(of)] = of
        start += len(of)
    inside = np.array(masks, dtype=np.float64) @ sides.T
    found: list[Choice] = []
    both: tuple[tuple[Side, int, int], ...] = (("left", 0, 1), ("right", 1, 0))
    for side, ours, theirs in both:
        runs = sample.sides
        p, q = aim.shares(inside[:, ours], runs[ours], inside[:, theirs], runs[theirs])
        expected = aim.from_shares(p, q)
        for pick in np.argsort(-expected.round(9), kind="stable")[:EACH].tolist():
            column, value = events[pick]
            event = Membership(side, column, frozenset({value}))
            found.append(promising(event, expected[pick], p[pick], q[pick], runs[ours]))
    return found
