"""The pairs of query answers that the classic mechanisms are measured on."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Queries", "VectorPair", "any_query_pairs", "one_query_pairs"]

Queries = tuple[float, ...]


class VectorPair(NamedTuple):
    """Two neighbouring vectors of query answers: no answer moves by more than 1."""

    name: str
    left: Queries
    right: Queries


def one_query_pairs(queries: int) -> tuple[VectorPair, ...]:
    """Return the pairs in which the first of several answers moves, as in a histogram."""
    ones, rest = (1.0,) * queries, (1.0,) * (queries - 1)
    return (
        VectorPair("one_below", ones, (0.0, *rest)),
        VectorPair("one_above", ones, (2.0, *rest)),
    )


def any_query_pairs(queries: int) -> tuple[VectorPair, ...]:
    """Return the pairs in which every answer may move by 1; O(queries)."""
    half = queries // 2
    other = queries - half
    ones = (1.0,) * queries
    return (
        *one_query_pairs(queries),
        VectorPair("one_above_rest_below", ones, (2.0, *(0.0,) * (queries - 1))),
        VectorPair("one_below_rest_above", ones, (0.0, *(2.0,) * (queries - 1))),
        VectorPair("half_half", ones, (2.0,) * half + (0.0,) * other),
        VectorPair("all_above", ones, (2.0,) * queries),
        VectorPair("all_below", ones, (0.0,) * queries),
        VectorPair("x_shape", (1.0,) * half + (0.0,) * other, (0.0,) * half + (1.0,) * other),
    )
