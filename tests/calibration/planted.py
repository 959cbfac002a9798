"""Leaks of a given size planted in sound mechanisms, sampled and not resampled."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pdpaudit.core.protocols import PrivacyClaim

CLAIMED = 0.5

Output = Any
Test = Callable[[Output], bool]


def number(rng: np.random.Generator) -> Output:
    return rng.standard_normal()


def response(rng: np.random.Generator) -> Output:
    return int(rng.integers(200))


def vector(rng: np.random.Generator) -> Output:
    return tuple(rng.random(8).tolist())


def record(rng: np.random.Generator) -> Output:
    return {"score": rng.random(), "state": "abcdefghij"[int(rng.integers(10))]}


def a_half_line(rng: np.random.Generator, rate: float, of: Callable[[Output], float]) -> Test:
    """Return one end of a number that is uniform on (0, 1)."""
    upper = rng.random() < 0.5
    return lambda output: of(output) > 1 - rate if upper else of(output) < rate


def in_number(rng: np.random.Generator, rate: float) -> Test:
    return a_half_line(rng, rate, lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))


def in_response(rng: np.random.Generator, rate: float) -> Test:
    chosen = set(rng.permutation(200)[: round(200 * rate)].tolist())
    return lambda output: output in chosen


def in_vector(rng: np.random.Generator, rate: float) -> Test:
    first, second = rng.choice(8, size=2, replace=False).tolist()
    if rng.random() < 0.5:
        return a_half_line(rng, rate, lambda output: output[first])
    one = a_half_line(rng, math.sqrt(rate), lambda output: output[first])
    other = a_half_line(rng, math.sqrt(rate), lambda output: output[second])
    return lambda output: one(output) and other(output)


def in_record(rng: np.random.Generator, rate: float) -> Test:
    if rng.random() < 0.5:
        return a_half_line(rng, rate, lambda output: output["score"])
    chosen = set(rng.permutation(list("abcdefghij"))[: max(round(10 * rate), 1)].tolist())
    return lambda output: output["state"] in chosen


SHAPES = {
    "number": (number, in_number),
    "response": (response, in_response),
    "vector": (vector, in_vector),
    "record": (record, in_record),
}


class Planted:
    """The same law on both sides, but for one event that is rarer on the right."""

    def __init__(self, shape: str, size: float, rate: float, seed: int) -> None:
        self.claim = PrivacyClaim(CLAIMED, source="planted")
        self._draw, make = SHAPES[shape]
        self._inside = make(np.random.default_rng(seed), rate)
        # Ten letters cannot be divided into every rate; what the event's rate is does not matter.
        self._shrunk, self._rate = math.exp(-size), rate

    def pairs(self) -> list[tuple[int, int]]:
        return [(0, 1)]

    def run(self, side: int, rng: np.random.Generator) -> Output:
        output = self._draw(rng)
        if side == 0 or not self._inside(output) or rng.random() < self._shrunk:
            return output
        while self._inside(output):
            output = self._draw(rng)
        return output
