"""Cut an ordering of outputs where the bound to expect is largest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pdpaudit.outputs import Event

__all__ = ["Choice", "apart", "levels"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """An event, and the lower bound on ε it may be expected to give on fresh samples."""

    event: Event
    expected: float
    others: tuple[Choice, ...] = ()


def levels(count: int) -> Floats:
    """Return shares at which to cut an ordering, denser towards both ends."""
    half = np.geomspace(1e-4, 0.5, max(2, count // 2))
    return np.concatenate([half, 1.0 - half[-2::-1]])


def apart(expected: Floats, inside: npt.ArrayLike, most: int) -> list[int]:
    """Return the best of several nested events and some that are clearly smaller or larger."""
    sizes, kept = np.asarray(inside, dtype=np.float64) + 1.0, list[int]()
    for i in np.argsort(-expected, kind="stable").tolist():
        if all(abs(np.log(sizes[i] / sizes[j])) > np.log(1.5) for j in kept):
            kept.append(i)
        if len(kept) == most:
            break
    return kept
