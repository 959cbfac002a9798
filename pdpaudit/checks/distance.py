"""How far apart two values of a function are: numbers, vectors, dictionaries, graphs."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from pdpaudit.core.errors import InputError
from pdpaudit.core.input_words import is_graph

__all__ = ["NORMS", "distance"]

NORMS = ("L1", "L2", "Linf")

#: Relative error of a norm that is a square root.
ROOT = 1e-12


def distance(before: object, after: object, norm: str = "L1") -> Fraction | float:
    """Return how far apart two values are; doubles are fractions, so only ``L2`` is rounded, down.

    The shorter of two vectors is filled up with zeros. Graphs are as far apart as the number of
    ties in which they differ. NaN is at 0 from itself, and infinitely far from all else; so is
    what is further away than a double holds.
    """
    if is_graph(before) and is_graph(after):
        return Fraction(len(_ties(before) ^ _ties(after)))
    ours, theirs = _entries(before), _entries(after)
    steps = [_step(ours.get(key, 0), theirs.get(key, 0)) for key in {**ours, **theirs}]
    finite = [step for step in steps if isinstance(step, Fraction)]
    if len(finite) < len(steps):
        return math.inf
    if norm == "L2":
        return math.hypot(*map(float, finite)) * (1 - ROOT)
    total = max(finite, default=Fraction(0)) if norm == "Linf" else sum(finite, Fraction(0))
    return total if total <= sys.float_info.max else math.inf


def _step(before: Any, after: Any) -> Fraction | float:
    if before == after or (before != before and after != after):
        return Fraction(0)
    if not (math.isfinite(before) and math.isfinite(after)):
        return math.inf
    step = abs(Fraction(before) - Fraction(after))
    return step if step <= sys.float_info.max else math.inf


def _entries(value: object) -> dict[Any, Any]:
    """Return a number, or the entries of a vector or a dictionary, each at its place."""
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(plain, Real):
        return {(): plain}
    if isinstance(plain, Mapping):
        items = list(plain.items())
    elif isinstance(plain, Sequence) and not isinstance(plain, str | bytes):
        items = list(enumerate(plain))
    else:
        raise InputError(f"it gives a {type(plain).__name__}, no number, vector or graph")
    return {(key, *place): one for key, item in items for place, one in _entries(item).items()}


def _ties(graph: Any) -> set[frozenset[Any]]:
    return {frozenset(tie) for tie in (graph.ties if hasattr(graph, "ties") else graph.edges())}
