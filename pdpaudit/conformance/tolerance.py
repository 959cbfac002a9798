"""When two values of a statistic count as different, and a bound as exceeded."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["RELATIVE", "differ", "exceeds"]

# Rounding differs with the order of summation; no statistic of interest moves by this little.
RELATIVE = 1e-9


def differ(a: npt.ArrayLike, b: npt.ArrayLike) -> Any:
    """Return where two values differ by more than rounding: 1e-9 of the larger, or of 1.

    Examples
    --------
    >>> differ([1.0, 0.1 + 0.2], [1.0, 0.3]).tolist(), bool(differ(0, 1e-6))
    ([False, False], True)
    """
    a, b = np.asarray(a), np.asarray(b)
    scale = np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))
    return np.abs(a - b) > RELATIVE * scale


def exceeds(observed: float, declared: float) -> bool:
    """Return whether a value is above a bound by more than rounding."""
    return bool(observed > declared + RELATIVE * max(1.0, abs(declared)))
