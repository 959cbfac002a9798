"""Protected vertices whose noises a search has treated alike, in exchangeable classes.

Protected vertices with equal scores in every round so far, and not met by statistic-first search,
form a class. Their noises are exchangeable, so how many of a class were examined says all there is
to know: which of them is uniform. A class splits when its members score differently later on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["Classes", "classes_by_score", "refined", "split"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True)
class Classes:
    """Protected vertices no search has examined for certain, in exchangeable classes."""

    vertices: Ints
    labels: Ints
    scores: Floats
    sizes: Ints
    parents: Ints
    parent_sizes: Ints


def classes_by_score(vertices: Ints, scores: Floats) -> Classes:
    """Return the classes of a first round; O(p)."""
    labels, distinct = _coded(scores)
    sizes = np.bincount(labels, minlength=len(distinct))
    parents = np.zeros(len(distinct), dtype=np.int64)
    return Classes(vertices, labels, distinct, sizes, parents, np.array([len(vertices)]))


def refined(before: Classes, alive: npt.NDArray[np.bool_], scores: Floats) -> Classes:
    """Return the classes of the next round; O(p)."""
    stays = alive[before.vertices]
    vertices, old = before.vertices[stays], before.labels[stays]
    level, distinct = _coded(scores[vertices])
    width = max(len(distinct), 1)
    labels, keys = _coded(old * width + level)
    sizes = np.bincount(labels, minlength=len(keys))
    return Classes(vertices, labels, distinct[keys % width], sizes, keys // width, before.sizes)


def _coded(values: npt.NDArray[Number]) -> tuple[Ints, npt.NDArray[Number]]:
    """Return the index of each value among the distinct ones, and these in ascending order.

    Few values are distinct, so hashing all and sorting those is faster than sorting all.
    """
    codes, distinct = pd.factorize(values)
    order = np.argsort(distinct)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[codes], distinct[order]


def split(classes: Classes, remaining: Ints, rng: np.random.Generator) -> Ints:
    """Draw how many of each class are unexamined, given how many were of the class before."""
    # A class that came through whole keeps its count: most do, and nothing is drawn for them.
    counts = remaining[classes.parents]
    parts = np.flatnonzero(classes.sizes != classes.parent_sizes[classes.parents])
    alone = remaining.shape[1] == 1
    parent, pool = -1, 0
    left: int | Ints = 0
    for c, size, its_parent in zip(
        parts.tolist(), classes.sizes[parts].tolist(), classes.parents[parts].tolist(), strict=True
    ):
        if its_parent != parent:
            parent, pool = its_parent, int(classes.parent_sizes[its_parent])
            # numpy draws the same from a plain number, without the checks an array needs.
            left = int(remaining[parent, 0]) if alone else remaining[parent]
        drawn = left if pool == size else rng.hypergeometric(size, pool - size, left)
        counts[c] = drawn
        left = left - drawn
        pool -= size
    return counts
