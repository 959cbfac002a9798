"""What every mechanism here asks of its ε and of its input."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pdpaudit.core.errors import InputError

__all__ = ["check_epsilon", "check_limit", "check_queries"]


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
