"""How far two values lie apart, rounded up, so that comparing with a bound is exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["apart", "change", "distinct"]


def change(a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return ``|a - b|``, rounded up where a double cannot hold it.

    It exceeds a bound exactly where the difference of the two doubles, as a fraction, does.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    high, low = np.maximum(a, b), np.minimum(a, b)
    with np.errstate(over="ignore", invalid="ignore"):
        difference = high - low
        # Knuth's TwoSum: what rounding left out of the difference.
        shift = difference - high
        left_out = (high - (difference - shift)) - (low + shift)
        rounded: npt.NDArray[np.float64] = np.where(
            left_out > 0, np.nextafter(difference, np.inf), difference
        )
    return rounded


def apart(a: npt.ArrayLike, b: npt.ArrayLike, slack: float = 0.0) -> Any:
    """Return where two values differ by more than what their stated errors allow."""
    return change(a, b) > slack


def distinct(a: float, b: float) -> tuple[str, str]:
    """Return two numbers in six digits, or in all where six do not tell them apart."""
    short = f"{a:.6g}", f"{b:.6g}"
    return short if a == b or short[0] != short[1] else (repr(float(a)), repr(float(b)))
