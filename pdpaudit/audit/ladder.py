"""Larger and smaller events of the same shape: the thresholds an attacker may choose among.

Which outputs speak for one side more than others is read off discovery samples; how often the
attacker is right at each threshold is then counted on fresh ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.evidence.event import AnyEvent, Event, feature_of
from pdpaudit.evidence.regions import Range, Score
from pdpaudit.rows import fit_width
from pdpaudit.sampling import Draws

__all__ = ["SHARES", "ladder"]

Floats = npt.NDArray[np.float64]

#: Rates of false alarms aimed at, most of them small: that is where attackers like to be.
SHARES = (0.0008, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7)

#: Rows of real values a threshold is read off, at most, and values of a feature worth ordering.
MOST_RUNS, MOST_VALUES = 100_000, 500


def ladder(
    event: AnyEvent, ours: tuple[Draws, Draws], theirs: tuple[Draws, Draws]
) -> tuple[AnyEvent, ...]:
    """Return events that differ from one in their threshold only.

    Parameters
    ----------
    event : AnyEvent
        The event to vary.
    ours, theirs : pair of Draws
        Discovery samples of the side where it is likelier, and of the other.

    Returns
    -------
    tuple of AnyEvent
        From the rarest on, the event itself left out; none where there is nothing to vary.
        O(runs), of rows 100,000 at most.

    Examples
    --------
    >>> ours, theirs = (
    ...     (Draws(Counter(dict(enumerate(times)))), Draws())
    ...     for times in ((60, 20, 15, 5), (1, 10, 30, 59))
    ... )
    >>> event = Event("output", frozenset({0}), "left")
    >>> [sorted(one.values) for one in ladder(event, ours, theirs)]
    [[0, 1], [0, 1, 2]]
    """
    return tuple(one for one in _varied(event, ours, theirs) if one != event)


def _varied(
    event: AnyEvent, ours: tuple[Draws, Draws], theirs: tuple[Draws, Draws]
) -> tuple[AnyEvent, ...]:
    if isinstance(event, Event):
        return _of_values(event, _counts(ours, event), _counts(theirs, event))
    numbers = _numbers(event, theirs)
    if numbers is None or not len(numbers):
        return ()
    if isinstance(event, Score):
        return tuple(replace(event, threshold=cut) for cut in _cuts(numbers))
    if np.isinf(event.low) == np.isinf(event.high):
        return ()
    if np.isinf(event.high):
        return tuple(replace(event, low=cut) for cut in _cuts(numbers))
    return tuple(replace(event, high=-cut) for cut in _cuts(-numbers))


def _counts(halves: tuple[Draws, Draws], event: Event) -> Counter[Hashable]:
    """Count the values of the event's feature."""
    value_of, counts = feature_of(event.feature), Counter[Hashable]()
    for half in halves:
        for output, times in half.counts.items():
            seen = output[event.prefix :] if isinstance(output, tuple) else output
            counts[value_of(seen)] += times
    return counts


def _of_values(
    event: Event, ours: Counter[Hashable], theirs: Counter[Hashable]
) -> tuple[AnyEvent, ...]:
    """Order the values by likelihood ratio, smoothed, and cut."""
    values = list(dict.fromkeys([*ours, *theirs]))
    if not 2 < len(values) <= MOST_VALUES:
        return ()
    p = np.array([ours[value] + 0.5 for value in values])
    q = np.array([theirs[value] + 0.5 for value in values])
    order = np.argsort(-np.log(p / q), kind="stable")
    shares = np.cumsum(q[order]) / q.sum()
    places = dict.fromkeys(int(np.abs(shares[:-1] - share).argmin()) + 1 for share in SHARES)
    return tuple(
        replace(event, values=frozenset(values[i] for i in order[:place]))
        for place in sorted(places)
    )


def _numbers(event: Range | Score, halves: tuple[Draws, Draws]) -> Floats | None:
    """Return the number that decides on each run of one side; None where it cannot be had."""
    found = []
    for half in halves:
        if len(half.rows) and event.vertices is None:
            found.append(_number(event, fit_width(half.rows[: MOST_RUNS // 2], event.width)))
        outputs = list(half.counts)
        if outputs:
            rows = event.read(outputs)
            if rows is None:
                return None
            times = np.fromiter(half.counts.values(), dtype=np.int64, count=len(outputs))
            found.append(np.repeat(_number(event, rows), times))
    numbers = np.concatenate(found) if found else np.empty(0)
    return numbers[~np.isnan(numbers)]


def _number(event: Range | Score, rows: Any) -> Floats:
    return event.scores(rows) if isinstance(event, Score) else event.view.of(rows)


def _cuts(numbers: Floats) -> list[float]:
    """Return thresholds that so large shares of the numbers reach; the highest first."""
    cuts = np.quantile(numbers, [1 - share for share in SHARES], method="higher")
    return list(dict.fromkeys(float(cut) for cut in cuts if np.isfinite(cut)))
