"""Claimed against measured loss, one row for each claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import betaincinv

from pdpaudit.inference.sequential import anytime_limits
from pdpaudit.report.figures import nats
from pdpaudit.report.pictures.axis import Axis, axis_for
from pdpaudit.results.results import ClaimResult

__all__ = ["Chances", "LossChart", "LossRow", "chances", "loss_chart"]


@dataclass(frozen=True)
class Chances:
    """How likely the event is on either side, and what the draws leave open."""

    p: float
    q: float
    p_low: float
    p_high: float
    q_low: float
    q_high: float

    def loss(self, delta: float) -> float:
        """Return ``ln((p - δ)/q)``, floored at 0."""
        return _log_ratio(self.p, self.q, delta)

    def highest_loss(self, delta: float) -> float:
        """Return the largest loss of this event that the draws leave open."""
        return _log_ratio(self.p_high, self.q_low, delta)


def chances(claim: ClaimResult, claims: int) -> Chances | None:
    """Return how likely a claim's event is on the two sides; None where it is not told."""
    event = claim.event
    if {"probability", "probability_other"} <= event.keys():
        p, q = float(event["probability"]), float(event["probability_other"])
        return Chances(p, q, p, p, q, q)
    runs = event.get("runs_a_side", 0)
    if not runs:
        return None
    x, y = event["inside"], event["inside_other"]
    tail = (1 - (claim.confidence or 0.95)) / max(claims, 1) / 2
    if claim.method == "sequential":  # what was seen decided when to stop
        limits = [anytime_limits(hits, runs, 2 * tail) for hits in (x, y)]
    else:
        limits = [_limits(hits, runs, tail) for hits in (x, y)]
    (p_low, p_high), (q_low, q_high) = limits
    return Chances(x / runs, y / runs, p_low, p_high, q_low, q_high)


@dataclass(frozen=True)
class LossRow:
    """One claim as drawn; all places run from 0 to 1, None where there is nothing to draw."""

    claim: ClaimResult
    claimed: float
    low: float | None
    estimate: float | None
    high: float | None
    open_end: bool
    detectable: float | None
    words: str


@dataclass(frozen=True)
class LossChart:
    """All rows and their common axis."""

    axis: Axis
    rows: tuple[LossRow, ...]
    exact: bool
    sampled: bool


def loss_chart(claims: Sequence[tuple[ClaimResult, Chances | None]]) -> LossChart:
    """Return the picture of several claims."""
    losses = [_losses(claim, seen) for claim, seen in claims]
    values = [claim.claimed["epsilon"] for claim, _ in claims]
    values += [value for row in losses for value in row[:2] if value is not None]
    # Upper ends and powers are drawn where they fit; they do not stretch the axis by themselves.
    most = 2 * max((value for value in values if math.isfinite(value)), default=1.0)
    extra = [value for row in losses for value in row[2:] if value is not None and value <= most]
    axis = axis_for([*values, *extra])
    rows = tuple(_row(claim, axis, *row) for (claim, _), row in zip(claims, losses, strict=True))
    return LossChart(
        axis,
        rows,
        exact=any(claim.exact is not None for claim, _ in claims),
        sampled=any(claim.exact is None for claim, _ in claims),
    )


def _losses(
    claim: ClaimResult, seen: Chances | None
) -> tuple[float | None, float | None, float | None, float | None]:
    """Return lower bound, estimate, upper end and detectable loss."""
    if claim.exact is not None:
        return claim.exact, claim.exact, None, None
    if seen is None:
        return claim.lower_bound, None, None, claim.detectable_epsilon
    delta = claim.claimed["delta"]
    low = claim.lower_bound
    return low, seen.loss(delta), seen.highest_loss(delta), claim.detectable_epsilon


def _row(
    claim: ClaimResult,
    axis: Axis,
    low: float | None,
    estimate: float | None,
    high: float | None,
    seen: float | None,
) -> LossRow:
    def place(value: float | None) -> float | None:
        return None if value is None else axis.place(value)

    words = [f"claimed {nats(claim.claimed['epsilon'])}"]
    if claim.exact is not None:
        words.append(f"exact loss {nats(claim.exact)}")
    else:
        if low is not None:
            words.append(f"lower bound {nats(low)}")
        if estimate is not None:
            words.append(f"observed {nats(estimate)}, at most {nats(high)} for this event")
        if seen is not None:
            words.append(f"would have detected {nats(seen)}")
    return LossRow(
        claim=claim,
        claimed=axis.place(claim.claimed["epsilon"]),
        low=place(low),
        estimate=None if estimate is None or math.isinf(estimate) else axis.place(estimate),
        high=place(high),
        open_end=high is not None and high > axis.top,
        detectable=None if seen is None or seen > axis.top else axis.place(seen),
        words=", ".join(words),
    )


def _limits(hits: int, runs: int, tail: float) -> tuple[float, float]:
    low = float(betaincinv(hits, runs - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, runs - hits, 1 - tail)) if hits < runs else 1.0
    return low, high


def _log_ratio(p: float, q: float, delta: float) -> float:
    if p <= delta:
        return 0.0
    return max(0.0, math.log((p - delta) / q)) if q > 0 else math.inf
