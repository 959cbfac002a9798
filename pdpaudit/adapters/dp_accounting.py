"""Events of dp-accounting as claims: ``assert_private(mechanism, claim=GaussianDpEvent(1.0))``."""

from __future__ import annotations

import importlib
import itertools
import math
from typing import Any

from pdpaudit import PrivacyClaim

__all__ = ["adapt"]

#: Where a curve is read off, ε from 0 up.
STEP, POINTS = 0.125, 65

#: Corners nearer to each other than that are one.
APART = 1e-9


def adapt(target: object) -> PrivacyClaim:
    """Return what an event promises: exact where it is one noise, else the accountant's curve."""
    if isinstance(target, str):
        raise ValueError("an event is a claim: give it as claim=")
    library: Any = importlib.import_module("dp_accounting")
    source = type(target).__name__
    if isinstance(target, library.GaussianDpEvent):
        return PrivacyClaim.gaussian(1.0 / float(target.noise_multiplier), source)
    if isinstance(target, library.LaplaceDpEvent):
        return PrivacyClaim(1.0 / float(target.noise_multiplier), source=source)
    if isinstance(target, library.ZCDpEvent):
        return PrivacyClaim.zcdp(float(target.rho), source)
    accountant = importlib.import_module("dp_accounting.pld").PLDAccountant()
    accountant.compose(target)
    deltas = [(STEP * i, float(accountant.get_delta(STEP * i))) for i in range(POINTS)]
    return PrivacyClaim.curve(_trade_off(deltas), source)


def _trade_off(deltas: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return corners of the trade-off curve below which (ε, δ) pairs, ε rising, let nothing fall.

    Each allows what lies above a line; two lines that follow each other meet in a corner. Corners
    above those around them, from rounding, are left out, which only weakens the claim.
    """
    corners = [(0.0, 1.0 - deltas[-1][1])]
    for (small, most), (large, least) in reversed(list(itertools.pairwise(deltas))):
        x = (most - least) / (math.exp(large) - math.exp(small))
        corners.append((x, 1.0 - most - math.exp(small) * x))
    corners += [(y, x) for x, y in reversed(corners)]
    kept: list[tuple[float, float]] = []
    for x, y in corners:
        while len(kept) > 1 and _above(kept[-2], kept[-1], (x, y)):
            kept.pop()
        if not kept or x > kept[-1][0] + APART:
            kept.append((x, y))
    return kept


def _above(one: tuple[float, float], middle: tuple[float, float], two: tuple[float, float]) -> bool:
    """Say whether a point lies on or above the line through its neighbours."""
    rise = (two[1] - one[1]) * (middle[0] - one[0])
    return (middle[1] - one[1]) * (two[0] - one[0]) >= rise
