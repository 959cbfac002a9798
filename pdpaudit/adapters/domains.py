"""Neighbouring inputs of simple domains; needs nothing but Python 3.8."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

__all__ = ["added", "replaced", "scalars", "vectors"]

#: Sizes of small data sets, the coordinates of a vector, and pairs of one kind at most.
SIZES, WIDTH, MOST = (1, 2, 5), 3, 60


def scalars(values: Any, distance: Any) -> list[Any]:
    """Return pairs of numbers that far apart, and one whose ends are of opposite signs."""
    pairs = [(value, value + distance) for value in values]
    return [*pairs, (-distance, type(distance)(0))]


def vectors(one: Any, width: int = WIDTH) -> list[Any]:
    """Return pairs of vectors in which any of the first coordinates differ by one distance each."""
    zero, first = type(one)(0), min(width, WIDTH)
    corners = product((zero, one), repeat=first)
    rest = [zero] * (width - first)
    return [([*a, *rest], [*b, *rest]) for a, b in combinations(corners, 2)]


def bases(values: Any, sizes: Any = SIZES) -> list[list[Any]]:
    """Return small data sets: all records alike, half of them, and each value in turn."""
    found: list[list[Any]] = []
    for size in sizes:
        alike = [[value] * size for value in values]
        halves = [
            [one] * (size // 2) + [other] * (size - size // 2)
            for one, other in combinations(values, 2)
        ]
        for base in [*alike, *halves]:
            if base not in found:
                found.append(base)
    return found[:MOST]


def added(values: Any, sizes: Any = SIZES) -> list[Any]:
    """Return pairs of data sets of which one has one record more."""
    return [([*base, value], base) for base in bases(values, sizes) for value in values][:MOST]


def replaced(values: Any, sizes: Any = SIZES) -> list[Any]:
    """Return pairs of data sets that differ in one record."""
    others = list(combinations(values, 2))
    return [
        ([*base, one], [*base, other]) for base in bases(values, sizes) for one, other in others
    ][:MOST]
