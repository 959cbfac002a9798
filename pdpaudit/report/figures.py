"""Numbers as a person reads them."""

from __future__ import annotations

import math

__all__ = ["count", "nats", "number", "span"]


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with so many significant digits."""
    if value is None:
        return "-"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.{digits}g}"


def nats(value: float | None) -> str:
    """Return a privacy loss: three decimals, more where it is small."""
    if value is None or math.isinf(value) or 0 < abs(value) < 0.001 or abs(value) >= 1e5:
        return number(value, 2 if value is not None and abs(value) < 0.001 else 4)
    return f"{value:.3f}"


def count(value: int) -> str:
    """Return a count."""
    return f"{value:,}"


def span(seconds: float) -> str:
    """Return a length of time."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
