"""Samples of numbers that several tests of this room use."""

from __future__ import annotations

import numpy as np

from pdpaudit.attacks.candidates import Sample, candidates
from pdpaudit.attacks.number_table import NumberTable
from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Column, batch_of, gathered

ENTRIES = [Column("number", (j,)) for j in range(3)]
CAREFUL = ExpectedBound(20_000, 0.05, caution=0.5)


def sample_of(left, right):
    """Two halves a side: rows of numbers, or lists of outputs."""
    return Sample(*(tuple(gathered(half, len(half)) for half in side) for side in (left, right)))


def table_of(left, right, numbers=None, coded=()) -> NumberTable:
    sample = sample_of(left, right)
    columns = candidates(sample).numbers if numbers is None else numbers
    return NumberTable(sample, columns, list(coded))


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
