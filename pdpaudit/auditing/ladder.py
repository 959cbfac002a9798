"""Larger and smaller events of the same shape: the thresholds an attacker may choose among.

Which outputs speak for one side more than others is read off discovery samples; how often the
attacker is right at each threshold is then counted on fresh ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pdpaudit.outputs import Draws, Event, Membership, Range, Score, batch_of

__all__ = ["SHARES", "ladder"]

Floats = npt.NDArray[np.float64]

#: Rates of false alarms aimed at, most of them small: that is where attackers like to be.
SHARES = (0.0008, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7)

#: Rows of real values a threshold is read off, at most, and values of a feature worth ordering.
MOST_RUNS, MOST_VALUES = 100_000, 500


def ladder(
    event: Event, ours: tuple[Draws, Draws], theirs: tuple[Draws, Draws]
) -> tuple[Event, ...]:
    """Return events that differ from one in their threshold only."""
    return tuple(one for one in _varied(event, ours, theirs) if one != event)


def _varied(
    event: Event, ours: tuple[Draws, Draws], theirs: tuple[Draws, Draws]
) -> tuple[Event, ...]:
    if isinstance(event, Membership):
        return _of_values(event, _counts(ours, event), _counts(theirs, event))
    numbers = _numbers(event, theirs)
    if not len(numbers):
        return ()
    if isinstance(event, Score):
        return tuple(replace(event, threshold=cut) for cut in _cuts(numbers))
    if np.isinf(event.low) == np.isinf(event.high):
        return ()
    if np.isinf(event.high):
        return tuple(replace(event, low=cut) for cut in _cuts(numbers))
    return tuple(replace(event, high=-cut) for cut in _cuts(-numbers))


def _counts(halves: tuple[Draws, Draws], event: Membership) -> Counter[Hashable]:
    """Count the categories of the event's column."""
    counts = Counter[Hashable]()
    for batch in map(batch_of, halves):
        categories = batch.categories(event.column)
        for value, times in zip(categories, batch.weights.astype(int).tolist(), strict=True):
            counts[value] += times
    return counts


def _of_values(
    event: Membership, ours: Counter[Hashable], theirs: Counter[Hashable]
) -> tuple[Event, ...]:
    """Order the categories by likelihood ratio, smoothed, and cut."""
    values = sorted({*ours, *theirs}, key=repr)
    if not 2 < len(values) <= MOST_VALUES:
        return ()
    p = np.array([ours[value] + 0.5 for value in values])
    q = np.array([theirs[value] + 0.5 for value in values])
    # Rounded, for the last digits of a logarithm differ between processors.
    order = np.argsort(-np.log(p / q).round(9), kind="stable")
    shares = np.cumsum(q[order]) / q.sum()
    places = dict.fromkeys(int(np.abs(shares[:-1] - share).argmin()) + 1 for share in SHARES)
    return tuple(
        replace(event, values=frozenset(values[i] for i in order[:place]))
        for place in sorted(places)
    )


def _numbers(event: Range | Score, halves: tuple[Draws, Draws]) -> Floats:
    """Return the number that decides on each of some runs of one side."""
    found = []
    for batch in map(batch_of, halves):
        numbers = event.scores(batch) if isinstance(event, Score) else batch.read(event.column)
        ends = np.cumsum(batch.weights)
        total = int(ends[-1]) if len(ends) else 0
        picks = np.arange(0, total, max(1, -(-2 * total // MOST_RUNS)))
        found.append(numbers[np.searchsorted(ends, picks, side="right")])
    numbers = np.concatenate(found)
    return numbers[~np.isnan(numbers)]


def _cuts(numbers: Floats) -> list[float]:
    """Return thresholds that such shares of the numbers reach; the highest first."""
    cuts = np.quantile(numbers, [1 - share for share in SHARES], method="higher")
    return list(dict.fromkeys(float(cut) for cut in cuts if np.isfinite(cut)))
