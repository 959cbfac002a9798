"""Choose the event that gives the best evidence, from discovery samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from pdpaudit.evidence.event import FEATURES, Event, common_prefix

__all__ = ["Choice", "choose_event"]

Counts = Mapping[Hashable, int]
Floats = npt.NDArray[np.float64]
Bound = Callable[[Floats, Floats], Floats]

#: Thresholds tried for one ordering of the values.
THRESHOLDS = 64


@dataclass(frozen=True)
class Choice:
    """An event, and the lower bound on ε it may be expected to give on fresh samples."""

    event: Event
    expected: float


def choose_event(
    left: tuple[Counts, Counts], right: tuple[Counts, Counts], size: int, bound: Bound
) -> Choice:
    """Return the event whose lower bound at the planned sample size looks largest.

    The values of each feature are ranked by likelihood ratio on one half of the discovery sample,
    smoothed, and the threshold is swept on the other half: ranking and sweeping on the same draws
    would favour values seen once by chance.

    Parameters
    ----------
    left, right : pair of mapping of output to count
        The two halves of the discovery sample on each side.
    size : int
        Planned number of fresh samples a side.
    bound : callable
        ``bound(x, y)``, the lower bound for x and y successes among ``size`` each, vectorised.

    Returns
    -------
    Choice
        O(k log k) for k distinct outputs.

    Examples
    --------
    >>> ours, theirs = {(0, 1): 90, (0, 2): 10}, {(0, 1): 10, (0, 2): 90}
    >>> choice = choose_event((ours, ours), (theirs, theirs), 100, lambda x, y: x - y)
    >>> choice.event.values, choice.event.side, choice.event.prefix
    (frozenset({1}), 'left', 1)
    """
    outputs = list(dict.fromkeys(output for half in (*left, *right) for output in half))
    prefix = common_prefix(outputs)
    trimmed = [o[prefix:] if isinstance(o, tuple) else o for o in outputs]
    best: Choice | None = None
    for feature, value_of in FEATURES.items():
        values = [value_of(output) for output in trimmed]
        counts = [_tally(outputs, values, half) for half in (*left, *right)]
        distinct = list(counts[0])
        table = np.array([[tally[v] for v in distinct] for tally in counts], dtype=np.float64)
        for side in ("left", "right"):
            choice = _sweep(feature, distinct, table, side, prefix, size, bound)
            # Features come from the simplest to the most detailed: the simpler wins a tie.
            if best is None or choice.expected > best.expected + 1e-12:
                best = choice
    assert best is not None
    return best


def _sweep(
    feature: str,
    distinct: list[Hashable],
    table: Floats,
    side: Literal["left", "right"],
    prefix: int,
    size: int,
    bound: Bound,
) -> Choice:
    """Return the best threshold for one feature in one direction."""
    rank_ours, test_ours, rank_theirs, test_theirs = table
    if side == "right":
        rank_ours, test_ours, rank_theirs, test_theirs = (
            rank_theirs,
            test_theirs,
            rank_ours,
            test_ours,
        )
    order = np.argsort(-np.log((rank_ours + 0.5) / (rank_theirs + 0.5)), kind="stable")
    cuts = np.unique(np.linspace(1, len(order), THRESHOLDS).round().astype(int))
    # One standard error is given away on each side: among many candidates the one that merely
    # looks best on a small sample would win otherwise.
    p, error_p = _rate(np.cumsum(test_ours[order])[cuts - 1], test_ours.sum())
    q, error_q = _rate(np.cumsum(test_theirs[order])[cuts - 1], test_theirs.sum())
    expected = bound(
        np.rint(size * np.maximum(p - error_p, 0.0)), np.rint(size * np.minimum(q + error_q, 1.0))
    )
    pick = int(np.argmax(expected))
    values = frozenset(distinct[i] for i in order[: cuts[pick]])
    return Choice(Event(feature, values, side, prefix), float(expected[pick]))


def _rate(inside: Floats, total: float) -> tuple[Floats, Floats]:
    """Return the shares and their standard errors, never zero."""
    share = (inside + 0.5) / (total + 1.0)
    return share, np.sqrt(share * (1.0 - share) / (total + 1.0))


def _tally(outputs: list[Hashable], values: list[Hashable], half: Counts) -> Counter[Hashable]:
    """Count the values of a feature; every value is a key, in the same order for all halves."""
    tally: Counter[Hashable] = Counter(dict.fromkeys(values, 0))
    for output, value in zip(outputs, values, strict=True):
        tally[value] += half.get(output, 0)
    return tally
