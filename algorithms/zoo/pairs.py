"""Neighbouring query answers, what is asked of the input, and what all mechanisms share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pdpaudit.core.errors import InputError

from ..laws.noise import CalibratedMechanism


def check_queries(instance: Sequence[float], count: int | None = None) -> tuple[float, ...]:
    """Return the query answers as floats."""
    queries = tuple(float(answer) for answer in instance)
    if not queries or (count is not None and len(queries) != count):
        wanted = f"{count}" if count is not None else "at least 1"
        raise InputError(f"instance has {len(queries)} query answers: give {wanted}")
    if not all(math.isfinite(answer) for answer in queries):
        raise InputError(f"instance {queries}: every query answer must be a finite number")
    return queries


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


@dataclass(frozen=True)
class QueryMechanism(CalibratedMechanism):
    """A mechanism on query answers, none of which moves by more than 1; ε scales its noise."""

    #: Answers of the pairs it is measured on, and whether all may move.
    queries: ClassVar[int] = 1
    all_move: ClassVar[bool] = False

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on."""
        return (any_query_pairs if self.all_move else one_query_pairs)(self.queries)
