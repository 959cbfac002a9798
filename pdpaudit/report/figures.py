"""Numbers as a person reads them."""

from __future__ import annotations

import math

__all__ = ["count", "nats", "number", "span"]


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with so many significant digits.

    Examples
    --------
    >>> number(0.12345), number(float("inf")), number(None), number(3.0)
    ('0.1235', '∞', '-', '3')
    """
    if value is None:
        return "-"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.{digits}g}"


def nats(value: float | None) -> str:
    """Return a privacy loss: three decimals, more where it is small.

    Examples
    --------
    >>> nats(1.20653), nats(0.0), nats(0.00012), nats(None), nats(float("inf"))
    ('1.207', '0.000', '0.00012', '-', '∞')
    """
    if value is None or math.isinf(value) or 0 < abs(value) < 0.001 or abs(value) >= 1e5:
        return number(value, 2 if value is not None and abs(value) < 0.001 else 4)
    return f"{value:.3f}"


def count(value: int) -> str:
    """Return a count.

    Examples
    --------
    >>> count(516412)
    '516,412'
    """
    return f"{value:,}"


def span(seconds: float) -> str:
    """Return a length of time.

    Examples
    --------
    >>> span(0.5), span(20.49), span(152.3), span(7260.0)
    ('0.5 s', '20 s', '2 min 32 s', '2 h 1 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
