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
    """An event, and the lower bound on ε it may be expected to give on fresh samples.

    Attributes
    ----------
    event : Range, Score or Event
    expected : float
        In nats, a little less than it looks.
    others : tuple of Choice
        More events worth a look, which a larger sample may find better; the best first.
    """

    event: Event
    expected: float
    others: tuple[Choice, ...] = ()


def levels(count: int) -> Floats:
    """Return shares at which to cut an ordering, denser towards both ends.

    Parameters
    ----------
    count : int
        About how many.

    Returns
    -------
    ndarray of float
        Increasing, inside (0, 1), from 1e-4.

    Examples
    --------
    >>> levels(8).round(4).tolist()
    [0.0001, 0.0017, 0.0292, 0.5, 0.9708, 0.9983, 0.9999]
    """
    half = np.geomspace(1e-4, 0.5, max(2, count // 2))
    return np.concatenate([half, 1.0 - half[-2::-1]])


def apart(expected: Floats, inside: npt.ArrayLike, most: int) -> list[int]:
    """Return the best of several nested events and some that are clearly smaller or larger.

    Parameters
    ----------
    expected : ndarray of float, shape (k,)
        What to expect of each.
    inside : array_like of float, shape (k,)
        Runs inside each; those kept differ by at least half.
    most : int
        How many to keep.

    Examples
    --------
    >>> apart(np.array([0.1, 0.3, 0.4, 0.2]), [5, 10, 11, 90], 2)
    [2, 3]
    """
    sizes, kept = np.asarray(inside, dtype=np.float64) + 1.0, list[int]()
    for i in np.argsort(-expected, kind="stable").tolist():
        if all(abs(np.log(sizes[i] / sizes[j])) > np.log(1.5) for j in kept):
            kept.append(i)
        if len(kept) == most:
            break
    return kept
