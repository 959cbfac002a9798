"""What a claim leaves an attacker, and what the attacker of this audit attained."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pdpaudit.report.pictures.loss import Chances

__all__ = ["TradeOff", "allowed_miss", "trade_off"]

Point = tuple[float, float]

#: A square that is wider needs no enlarging.
LARGEST_WINDOW = 0.15


@dataclass(frozen=True)
class TradeOff:
    """The curve a claim allows and the point attained; all in error rates, 0 to 1."""

    curve: tuple[Point, ...]
    point: Point
    corner: Point
    allowed: float
    window: tuple[float, float, float] | None = None
    attackers: tuple[Point, ...] = ()


def allowed_miss(alpha: float, epsilon: float, delta: float) -> float:
    """Return f(alpha), the least rate of misses an attacker with false alarms alpha can have."""
    grown = math.exp(min(epsilon + math.log(alpha), 0.0)) if alpha > 0 else 0.0
    return max(0.0, 1 - delta - grown, (1 - delta - alpha) * math.exp(-epsilon))


def trade_off(
    epsilon: float, delta: float, seen: Chances, attackers: tuple[Point, ...] = ()
) -> TradeOff:
    """Return the picture of one claim; O(1)."""
    knee = (1 - delta) / (1 + math.exp(min(epsilon, 700.0)))
    curve = ((0.0, 1 - delta), (knee, knee), (1 - delta, 0.0), (1.0, 0.0))
    point, corner = (seen.q, 1 - seen.p), (seen.q_high, 1 - seen.p_low)
    allowed = allowed_miss(seen.q, epsilon, delta)
    return TradeOff(curve, point, corner, allowed, _window(point, corner, allowed), attackers)


def _window(point: Point, corner: Point, allowed: float) -> tuple[float, float, float] | None:
    """Return a square that shows how the point lies to the curve; None where the whole does."""
    reach = max(corner[0] - point[0], corner[1] - point[1], abs(allowed - point[1]), 0.004)
    width = 4 * reach
    if width > LARGEST_WINDOW:
        return None
    left, low = (min(max(centre - width / 2, 0.0), 1 - width) for centre in point)
    return left, low, width
