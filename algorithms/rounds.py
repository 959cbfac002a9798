"""Outputs of many runs, coded from what each of their search rounds found."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import Outputs

from .outputs import outputs_of

__all__ = ["by_label", "outputs_of_rounds"]

Ints = npt.NDArray[np.int64]


def by_label(winners: Ints, labels: npt.NDArray[np.integer[Any]]) -> list[tuple[int, Ints]]:
    """Sort runs by the component they found; O(g log g)."""
    going = np.flatnonzero(winners >= 0)
    reached = labels[winners[going]]
    order = np.argsort(reached, kind="stable")
    distinct, first = np.unique(reached[order], return_index=True)
    return list(zip(distinct.tolist(), np.split(going[order], first[1:]), strict=False))


def outputs_of_rounds(instance: SearchInstance, winners: Ints) -> Outputs:
    """Return the outputs of searches that alternate with statistic-first search."""
    n = instance.adjacency.shape[0]
    codes = np.zeros(winners.shape[1], dtype=np.int64)
    for found in winners:
        # A path is coded by the code of its beginning and its end.
        codes = pd.factorize(codes * (n + 1) + found + 1)[0].astype(np.int64)
    # Written out once, in the end: to prolong each in every round would be quadratic in the rounds.
    _, first = np.unique(codes, return_index=True)
    rows = winners[:, first].T
    lengths = np.count_nonzero(rows >= 0, axis=1)
    paths = (
        tuple(row[:length]) for row, length in zip(rows.tolist(), lengths.tolist(), strict=True)
    )
    return Outputs(outputs_of(instance, paths), codes)
