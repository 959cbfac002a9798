"""Neighbouring query answers, what is asked of the input, and the true loss over the pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from pdpaudit.core.errors import InputError
from pdpaudit.core.privacy_loss import exact_loss
from pdpaudit.core.protocols import Law

__all__ = [
    "Queries",
    "TrueLoss",
    "VectorPair",
    "any_query_pairs",
    "check_epsilon",
    "check_limit",
    "check_queries",
    "loss_of_laws",
    "one_query_pairs",
]


def check_epsilon(epsilon: float) -> None:
    """Refuse an ε that scales no noise."""
    if not 0.0 < epsilon < math.inf:
        raise InputError(f"epsilon = {epsilon}: give a finite number of nats above 0")


def check_limit(limit: int) -> None:
    """Refuse a number of answers above the threshold after which nothing is said."""
    if limit < 1:
        raise InputError(f"limit = {limit}: give a whole number, at least 1")


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
class TrueLoss:
    """The largest privacy loss over a mechanism's pairs, both directions."""

    epsilon: float
    pair: str
    event: str


class _Lawful(Protocol):
    def pairs(self) -> tuple[VectorPair, ...]: ...

    def law(self, instance: Queries) -> Law: ...


def loss_of_laws(mechanism: _Lawful) -> TrueLoss:
    """Return the largest loss over the pairs of a mechanism with exact laws."""
    losses = [
        (exact_loss(mechanism.law(pair.left), mechanism.law(pair.right)), pair.name)
        for pair in mechanism.pairs()
    ]
    worst, name = max(losses, key=lambda item: item[0].epsilon)
    outputs = sorted(worst.event, key=repr)
    more = f" and {len(outputs) - 1} more" if len(outputs) > 1 else ""
    return TrueLoss(worst.epsilon, name, f"output {outputs[0]}{more}, likelier on the {worst.side}")
