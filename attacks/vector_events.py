"""Choose an event on numbers: half-lines of simple ones, and learnt scores.

Simple numbers are every column, every entry less the one before, sum, smallest, largest, and counts
of values above a level, of zeros and of what is no number.
"""

from __future__ import annotations

import math
from dataclasses import replace

from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Column

from .candidates import Sample
from .half_lines import best_ranges
from .number_table import NumberTable, coded_columns
from .scores import best_scores, score_kinds
from .thresholds import Choice

#: Half-lines of one column that have little to do with each other: on either side, at either end,
#: of eight sizes.
CHANCES = 32


def choose_regions(
    sample: Sample,
    numbers: list[Column],
    categories: list[Column],
    aim: ExpectedBound,
    *,
    thorough: bool = True,
) -> list[Choice]:
    """Return the events whose lower bounds at the planned sample size look largest."""
    table = NumberTable(sample, numbers, coded_columns(sample, categories))
    # The luckiest of many half-lines is ahead, and so is that of tables; scores are few.
    luck = luckiest(CHANCES * len(table.columns))
    many = replace(aim, caution=aim.caution + luck)
    found = best_ranges(table, aim, luck)
    # A score learnt on one half is judged on the other. Of one number it is to be clearly better
    # than a half-line, which anybody can check.
    alone = len(numbers) == 1 and not categories
    for kind in score_kinds(table, thorough) if all(sample.runs) else ():
        found += best_scores(table, kind, many if alone or kind[0] == "crossed" else aim)
    return found


def luckiest(count: int) -> float:
    """Return by how many standard errors the luckiest of ``count`` is ahead, less one."""
    return math.sqrt(2 * math.log(max(count, 1))) - 1.0
