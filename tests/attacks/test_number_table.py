"""What is read of outputs as numbers, and which of them."""

from __future__ import annotations

import numpy as np

from pdpaudit.attacks import number_table
from pdpaudit.attacks.number_table import coded_columns, computed, thinned
from pdpaudit.outputs import Coded, Column, Membership, gathered
from tests.attacks.samples import sample_of, table_of


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
        found = computed(np.zeros((50, width)))
        assert (Column("pattern", at=width) in found) is counted


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


def test_of_very_many_runs_every_so_manieth_is_looked_at():
    """Each row as often as it weighs, whether it is counted or stands for one run."""
    assert thinned(np.arange(9.0), np.ones(9), 10).tolist() == [*range(9)]
    assert thinned(np.arange(10.0), np.ones(10), 5).tolist() == [0, 2, 4, 6, 8]
    assert thinned(np.arange(11.0), np.ones(11), 5).tolist() == [0, 3, 6, 9]
    assert thinned(np.arange(3.0), np.array([3.0, 1.0, 2.0]), 9).tolist() == [0, 0, 0, 1, 2, 2]
    assert thinned(np.arange(3.0), np.array([3.0, 1.0, 2.0]), 3).tolist() == [0, 0, 2]
    assert thinned(np.array([7.0, 8.0]), np.array([1.0, 2.0]), 9).tolist() == [7, 8, 8]
    counted = [[1, 1, 2, None, 5]] * 2, [[0, 7, None, None, 2**60]] * 2
    table = table_of(*counted, [Column("number")])
    assert table.pooled(Column("number")).tolist() == sorted([1.0, 1, 2, 5, 0, 7, 2**60] * 2)


def test_the_most_frequent_categories_have_a_weight_of_their_own(monkeypatch):
    monkeypatch.setattr(number_table, "MOST_CODED", 3)
    words = list("abcdef")
    left = [[w for i, w in enumerate(words) for _ in range(9 - i)]] * 2
    (coded,) = coded_columns(sample_of(left, left), [Column("value"), Column("kind")])
    assert coded == Coded(Column("value"), ("a", "b", "c"))
    event = Membership("left", Column("value"), frozenset("d"))
    assert event.count(gathered(left[0], len(left[0]))) == 6
