"""A pair as attacks are judged: who tells the two networks apart by an output, and how well.

The attacker accuses whenever the output falls into an event. True positives are accusations on the
network where the event is likelier, false positives those on the other. A claim of (ε, δ) allows
``TPR <= e^ε FPR + δ`` and ``1 - FPR <= e^ε (1 - TPR) + δ`` (Wasserman and Zhou, "A statistical
framework for differential privacy", 2010; Kairouz, Oh and Viswanath, "The composition theorem for
differential privacy", 2015), hence an advantage ``TPR - FPR`` of at most
``(e^ε - 1 + 2δ) / (e^ε + 1)``. Rates of false positives as low as 1e-3 are where attacks on single
people are judged (Carlini and others, "Membership inference attacks from first principles", 2022).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import special

from pdpaudit.core.privacy_loss import trade_off
from pdpaudit.core.protocols import Law, PrivacyClaim
from pdpaudit.inference.sequential import anytime_limits
from pdpaudit.outputs import Draws, Event, Membership, Range, Score, Side, batch_of
from pdpaudit.results.measurements import AttackMetrics, Rate

Floats = npt.NDArray[np.float64]

#: The rate of false positives at which attacks are compared.
LOW_FPR = 1e-3

#: Decimals that do not depend on the machine, and points of a curve that are written out.
DECIMALS, POINTS = 8, 33

#: A law that leaves out more is not whole.
MISSING = 1e-9


@lru_cache(maxsize=64)
def tpr_allowed(fpr: float, claim: PrivacyClaim) -> float:
    """Return the highest rate of true positives that a claim allows."""
    return max(fpr, 1.0 - float(claim.trade_off(fpr)))


@lru_cache(maxsize=64)
def advantage_allowed(claim: PrivacyClaim) -> float:
    """Return the largest advantage ``TPR - FPR`` that a claim allows."""
    return float(claim.delta_at(0.0))


def metrics_by_law(left: Law, right: Law, side: Side, claim: PrivacyClaim) -> AttackMetrics | None:
    """Return what the best attacker attains, from the exact laws of the two outputs."""
    if max(left.missing, right.missing) > MISSING:
        return None
    fpr, miss = trade_off(left, right) if side == "left" else trade_off(right, left)
    tpr = 1 - miss
    low = float(np.interp(LOW_FPR, *_upper(fpr, tpr)))
    kept = np.unique(np.linspace(0, len(fpr) - 1, POINTS).round().astype(int))
    return AttackMetrics(
        side,
        Rate(_short(float((tpr - fpr).max())), _short(advantage_allowed(claim))),
        LOW_FPR,
        Rate(_short(min(1.0, low)), _short(tpr_allowed(LOW_FPR, claim))),
        (_shorts(fpr[kept]), _shorts(tpr[kept])),
    )


def metrics_by_counts(
    hits: Sequence[int],
    others: Sequence[int],
    runs: int,
    side: Side,
    claim: PrivacyClaim,
    alpha: float,
    *,
    stopped: bool = False,
) -> AttackMetrics:
    """Return what the attackers looked at attain, from fresh samples."""
    tail = alpha / (2 * len(hits))
    pairs = sorted(zip(others, hits, strict=True))
    tpr_low = np.array([_low(x, runs, tail, stopped) for _, x in pairs])
    fpr_high = np.array([1 - _low(runs - y, runs, tail, stopped) for y, _ in pairs])
    tpr, fpr = (np.array([pair[i] for pair in pairs]) / runs for i in (1, 0))
    sure = tpr_low - fpr_high
    best = int((tpr - fpr).argmax())
    # Whoever accuses too often may accuse at random among these, and falls in both rates alike.
    thinned = np.minimum(1.0, LOW_FPR / np.maximum(fpr_high, 1e-300))
    seen = np.interp(LOW_FPR, *_upper(np.array([0, *fpr, 1.0]), np.array([0, *tpr, 1.0])))
    return AttackMetrics(
        side,
        Rate(
            _short(max(0.0, float(tpr[best] - fpr[best]))),
            _short(advantage_allowed(claim)),
            _short(max(0.0, float(sure.max()))),
        ),
        LOW_FPR,
        Rate(
            _short(float(seen)),
            _short(tpr_allowed(LOW_FPR, claim)),
            _short(max(LOW_FPR, float((tpr_low * thinned).max()))),
        ),
        (_shorts(fpr), _shorts(tpr)),
        _short(1 - alpha),
        (_shorts(fpr_high), _shorts(tpr_low)),
    )


def _low(hits: int, runs: int, tail: float, stopped: bool) -> float:
    """Return the lower limit of a rate."""
    if stopped:
        return anytime_limits(hits, runs, tail)[0]
    return float(special.betaincinv(hits, runs - hits + 1, tail)) if hits else 0.0


def _upper(fpr: Floats, tpr: Floats) -> tuple[Floats, Floats]:
    """Return the upper hull of attacks, of which an attacker may draw lots between any two."""
    hull: list[tuple[float, float]] = []
    for x, y in sorted(zip(fpr.tolist(), tpr.tolist(), strict=True)):
        while len(hull) > 1 and _turns_left(hull[-2], hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
    ends = np.array(hull)
    # Of several at one rate of false positives the last, which is the best, counts.
    last = np.append(np.diff(ends[:, 0]) > 0, True)
    return ends[last, 0], ends[last, 1]


def _turns_left(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) >= (b[1] - a[1]) * (c[0] - a[0])


def _short(value: float) -> float:
    return round(value, DECIMALS) + 0.0


def _shorts(values: Floats) -> tuple[float, ...]:
    return tuple(_short(value) for value in values.tolist())


#: False-positive rates aimed at, most of them small: that is where attackers like to be.
SHARES = (0.0008, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7)

#: Shares of either side beyond a threshold, at the end where it is the likelier one, where nested
#: events are weighed: divergences of high order are made where the other side hardly ever comes.
ENDS = (0.0002, 0.001, 0.004, 0.015, 0.05, 0.15, 0.35, 0.5, 0.8)

#: Rows of real values a threshold is read off, at most, and values of a feature worth ordering.
MOST_RUNS, MOST_VALUES = 100_000, 500


def other_thresholds(
    event: Event, ours: tuple[Draws, Draws], theirs: tuple[Draws, Draws], *, ends: bool = False
) -> tuple[Event, ...]:
    """Return events that differ from one in their threshold only, more of them at both ends."""
    return tuple(one for one in _varied(event, ours, theirs, ends) if one != event)


def _varied(
    event: Event, ours: tuple[Draws, Draws], theirs: tuple[Draws, Draws], ends: bool
) -> tuple[Event, ...]:
    if isinstance(event, Membership):
        return _of_values(event, _counts(ours, event), _counts(theirs, event), ends)
    sides = [_numbers(event, side) for side in ((ours, theirs) if ends else (theirs,))]
    if not all(map(len, sides)):
        return ()
    if isinstance(event, Score):
        return tuple(replace(event, threshold=cut) for cut in _cuts(sides))
    if np.isinf(event.low) == np.isinf(event.high):
        return ()
    if np.isinf(event.high):
        return tuple(replace(event, low=cut) for cut in _cuts(sides))
    return tuple(replace(event, high=-cut) for cut in _cuts([-side for side in sides]))


def _counts(halves: tuple[Draws, Draws], event: Membership) -> Counter[Hashable]:
    """Count the categories of the event's column."""
    counts = Counter[Hashable]()
    for batch in map(batch_of, halves):
        categories = batch.categories(event.column)
        for value, times in zip(categories, batch.weights.astype(int).tolist(), strict=True):
            counts[value] += times
    return counts


def _of_values(
    event: Membership, ours: Counter[Hashable], theirs: Counter[Hashable], ends: bool
) -> tuple[Event, ...]:
    """Order the categories by likelihood ratio, smoothed, and cut."""
    values = sorted({*ours, *theirs}, key=repr)
    if not 2 < len(values) <= MOST_VALUES:
        return ()
    p = np.array([ours[value] + 0.5 for value in values])
    q = np.array([theirs[value] + 0.5 for value in values])
    # Rounded, for the last digits of a logarithm differ between processors.
    order = np.argsort(-np.log(p / q).round(9), kind="stable")
    places = {
        int(np.abs(np.cumsum(side[order])[:-1] / side.sum() - share).argmin()) + 1
        for side, shares in _shares((p, q) if ends else (q,))
        for share in shares
    }
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


def _cuts(sides: Sequence[Floats]) -> list[float]:
    """Return thresholds that such shares of the numbers reach; the highest first."""
    cuts = [
        np.quantile(side, [1 - share for share in shares], method="higher")
        for side, shares in _shares(sides)
    ]
    return sorted({float(cut) for cut in np.concatenate(cuts) if np.isfinite(cut)}, reverse=True)


def _shares(sides: Sequence[Floats]) -> list[tuple[Floats, tuple[float, ...]]]:
    """Return which shares of a side are to be inside: of theirs, or of each at its likelier end."""
    if len(sides) == 1:
        return [(sides[0], SHARES)]
    return [(sides[0], ENDS), (sides[1], tuple(1 - share for share in ENDS))]
