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
    """The curve a claim allows and the point attained; all in error rates, 0 to 1.

    Attributes
    ----------
    curve : tuple of (float, float)
        Corners of the trade-off curve f(alpha), which is piecewise linear.
    point : (float, float)
        False accusations alpha and misses beta of the attacker who accuses whenever the event
        happens.
    corner : (float, float)
        The point least good for the attacker that the draws leave open.
    allowed : float
        f(alpha) at the attained alpha: the least beta the claim allows.
    window : (float, float, float), optional
        Left, lower end and width of a square around the point that is worth enlarging.
    attackers : tuple of (float, float)
        The errors of other attackers on the same pair, by rising false alarms.
    """

    curve: tuple[Point, ...]
    point: Point
    corner: Point
    allowed: float
    window: tuple[float, float, float] | None = None
    attackers: tuple[Point, ...] = ()


def allowed_miss(alpha: float, epsilon: float, delta: float) -> float:
    """Return f(alpha), the least rate of misses an attacker with false alarms alpha can have.

    Parameters
    ----------
    alpha : float
        Rate of false alarms, in [0, 1].
    epsilon, delta : float
        The claim; ε in nats.

    Returns
    -------
    float
        ``max(0, 1 - δ - e^ε alpha, e^-ε (1 - δ - alpha))``; O(1).

    Notes
    -----
    Wasserman and Zhou, 2010; in this form Dong, Roth and Su, "Gaussian differential privacy",
    2022, Proposition 2.5.

    Examples
    --------
    >>> allowed_miss(0.25, 0.0, 0.0), round(allowed_miss(0.25, math.log(3.0), 0.0), 6)
    (0.75, 0.25)
    """
    grown = math.exp(min(epsilon + math.log(alpha), 0.0)) if alpha > 0 else 0.0
    return max(0.0, 1 - delta - grown, (1 - delta - alpha) * math.exp(-epsilon))


def trade_off(
    epsilon: float, delta: float, seen: Chances, attackers: tuple[Point, ...] = ()
) -> TradeOff:
    """Return the picture of one claim; O(1).

    Parameters
    ----------
    epsilon, delta : float
        The claim.
    seen : Chances
        How likely the event is on the two sides.
    attackers : tuple of (float, float)
        False alarms and misses of other attackers.

    Examples
    --------
    >>> picture = trade_off(0.0, 0.0, Chances(0.5, 0.1, 0.38, 0.62, 0.04, 0.19))
    >>> picture.point, picture.corner, picture.allowed
    ((0.1, 0.5), (0.19, 0.62), 0.9)
    """
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
