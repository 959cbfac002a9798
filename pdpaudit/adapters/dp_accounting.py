"""Events of dp-accounting as claims: ``assert_private(mechanism, claim=GaussianDpEvent(1.0))``."""

from __future__ import annotations

import importlib
from typing import Any

from pdpaudit import PrivacyClaim

__all__ = ["adapt"]

#: Where a curve is read off, ε from 0 up.
STEP, POINTS = 0.125, 65


def adapt(target: Any) -> PrivacyClaim:
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
    points = [(STEP * i, float(accountant.get_delta(STEP * i))) for i in range(POINTS)]
    return PrivacyClaim.curve(points, source)
