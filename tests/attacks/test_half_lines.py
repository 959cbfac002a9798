"""Half-lines of one column: found where they are, and promising what they hold."""

from __future__ import annotations

import numpy as np
import pytest

from pdpaudit.attacks.half_lines import best_ranges
from pdpaudit.attacks.thresholds import levels
from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Column, gathered
from tests.attacks.samples import CAREFUL, ENTRIES, read, table_of, two_sides


def ranges_of(column, left, right, aim=CAREFUL):
    """The best ranges of one column alone."""
    table = table_of(left, right, [column])
    table.ordered = [column]
    return best_ranges(table, aim)


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
    found = ranges_of(column, left, right)
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
    found = best_ranges(table, CAREFUL)
    assert len(found) == 6
    assert {one.event.column for one in found} == {ENTRIES[1]}


NUMBER = Column("number", (0,))


def laplace(shift, rng, size):
    return rng.laplace(shift, size=(size, 1))


def tail(shift, rng, size):
    """The largest of five exponential numbers, each raised: what is lost is lost near the end."""
    return shift + rng.exponential(20.0, size=(size, 5)).max(axis=1, keepdims=True)


@pytest.mark.parametrize(("draw", "runs"), [(laplace, 4000), (tail, 20_000)])
def test_what_a_half_line_is_known_to_hold_it_holds(draw, runs):
    """On fresh runs, within four standard errors of both; six events, chance below 1e-3."""
    rng = np.random.default_rng(31)
    left, right = (tuple(draw(x, rng, runs) for _ in range(2)) for x in (0.0, 1.0))
    found = ranges_of(NUMBER, left, right)
    assert len(found) == 6
    for one in found:
        inside = [one.event.count(gathered(draw(x, rng, 400_000), 400_000)) for x in (0.0, 1.0)]
        ours, theirs = inside if one.event.side == "left" else inside[::-1]
        error = np.sqrt(sum(1 / n for n in (*one.known[:2], ours, theirs)))
        assert abs(np.log(one.known[0] / one.known[1]) - np.log(ours / theirs)) < 5 * error


def test_a_tail_is_followed_beyond_what_its_counts_show():
    """The median of nine choices; the best half-line loses 0.9, where a run in 2,000 lies."""
    rng, lost = np.random.default_rng(32), []
    for _ in range(9):
        left, right = (tuple(tail(x, rng, 30_000) for _ in range(2)) for x in (0.0, 1.0))
        event = ranges_of(NUMBER, left, right, ExpectedBound(300_000, 0.05))[0].event
        chances = [(1 - np.exp(-max(event.high - x, 0.0) / 20)) ** 5 for x in (0.0, 1.0)]
        lost.append(float(np.log(chances[0] / chances[1])))
    assert 0.6 < np.median(lost) < 3.0


def test_the_best_half_line_where_nothing_leaks_promises_nothing():
    """In at least 14 of 20; each may by chance, with a probability of a tenth at most."""
    rng, promised = np.random.default_rng(33), []
    aim = ExpectedBound(4000, 0.05, caution=2.0)
    for _ in range(20):
        left, right = (tuple(laplace(0.0, rng, 1000) for _ in range(2)) for _ in range(2))
        promised.append(ranges_of(NUMBER, left, right, aim)[0].expected)
    assert sum(one <= 0 for one in promised) >= 14


def test_whether_there_is_a_number_counts_as_far_as_it_is_known():
    """Numbers tell nothing, that there is one does, and no better than counts of it."""
    rng = np.random.default_rng(34)
    left, right = (tuple(rng.random((2000, 1)) for _ in range(2)) for _ in range(2))
    for rows, missing in ((left, 0.3), (right, 0.6)):
        for half in rows:
            half[rng.random(2000) < missing] = np.nan
    for best in ranges_of(NUMBER, left, right)[:3]:
        ours, theirs, runs = best.known
        error = np.sqrt(1 / ours + 1 / theirs)
        assert best.event.side == "left"
        assert abs(np.log(ours / theirs) - np.log(0.7 / 0.4)) < 4 * error
        chances = np.array([ours, theirs]) / runs
        assert float(((1 - chances) / chances).sum()) / runs > 0.7 * (0.3 / 0.7 + 0.6 / 0.4) / 4000


def test_one_number_in_the_middle_is_found_where_they_are_few():
    rng = np.random.default_rng(35)
    sides = [
        rng.choice(9, p=p, size=(2, 3000, 1))
        for p in ([1 / 9] * 9, [0.12] * 4 + [0.04] + [0.12] * 4)
    ]
    left, right = (tuple(half.astype(float) for half in side) for side in sides)
    best = ranges_of(NUMBER, left, right)[0].event
    assert (best.side, best.low, best.high) == ("left", 4.0, 4.0)
