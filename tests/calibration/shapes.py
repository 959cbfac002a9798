"""Small mechanisms of every shape of output and kind of leak, and a sound one beside each.

What leaks is one hidden number and one branch, made by a leak; how they are shown is a shape. So
the true loss of each is that of its leak, whatever its shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from pdpaudit.core.protocols import PrivacyClaim

#: What all of them claim.
CLAIMED = 0.5

#: Probability of what leaks, on the side where it is likelier.
RATE = 0.3

Hidden = tuple[float, bool]


def shift(side: int, loss: float, rng: np.random.Generator) -> Hidden:
    """Move the number."""
    return side * loss + rng.laplace(), False


def rare(side: int, loss: float, rng: np.random.Generator) -> Hidden:
    """Throw the number far out, more often on one side."""
    far = rng.random() < RATE * math.exp(-loss * side)
    return (20.0 if far else 0.0) + rng.uniform(-1, 1), False


def branch(side: int, loss: float, rng: np.random.Generator) -> Hidden:
    """Take another branch, more often on one side."""
    return rng.laplace(), bool(rng.random() < RATE * math.exp(-loss * side))


def spread(side: int, loss: float, rng: np.random.Generator) -> Hidden:
    """Throw the number out in both directions, which no half-line shows whole."""
    far = rng.random() < RATE * math.exp(-loss * side)
    sign = 1.0 if rng.random() < 0.5 else -1.0
    return sign * (rng.uniform(3, 5) if far else rng.uniform(0, 3)), False


LEAKS: dict[str, Callable[[int, float, np.random.Generator], Hidden]] = {
    "shift": shift,
    "rare": rare,
    "branch": branch,
    "spread": spread,
}


@dataclass(frozen=True)
class Report:
    """An answer as an object."""

    state: str
    answer: float | None


def raising(x: float, other: bool, rng: np.random.Generator) -> Any:
    if other:
        raise ValueError("no answer")
    return x


def mixed(x: float, other: bool, rng: np.random.Generator) -> Any:
    """Whole numbers, and now and then a real one."""
    if other:
        return "none"
    return x if rng.random() < 0.01 else round(4 * x)


def censored(x: float, other: bool, rng: np.random.Generator) -> Any:
    return None if other or x < 1.5 else x


SHAPES: dict[str, Callable[[float, bool, np.random.Generator], Any]] = {
    "number": lambda x, other, rng: math.nan if other else x,
    "raises or number": raising,
    "None or number": lambda x, other, rng: None if other else x,
    "whole": lambda x, other, rng: -999 if other else round(8 * x),
    "wide whole": lambda x, other, rng: 0 if other else int((x + 64) * 2**60),
    "whole or number": mixed,
    "text": lambda x, other, rng: "no answer" if other else f"the answer is {x:.6f}",
    "tuple": lambda x, other, rng: ("no", 0.0) if other else ("ok", x),
    "list": lambda x, other, rng: [rng.random()] if other else [rng.random(), x],
    "dictionary": lambda x, other, rng: {"a": rng.random(), **({} if other else {"b": x})},
    "nested": lambda x, other, rng: {"left": [(rng.random(), (x,))], "right": {"flag": other}},
    "array": lambda x, other, rng: np.array([rng.random(), np.inf if other else x]),
    "object": lambda x, other, rng: Report("no" if other else "ok", None if other else x),
    "complex": lambda x, other, rng: complex(rng.random(), -50.0 if other else x),
    "decimal": lambda x, other, rng: Decimal("NaN") if other else Decimal(repr(x)),
    "fraction": lambda x, other, rng: Fraction(-99) if other else Fraction(x),
    "set": lambda x, other, rng: {"no"} if other else {"ok", round(2 * x)},
    "bytes": lambda x, other, rng: b"" if other else f"{x + 100:.4f}".encode(),
}

#: Some that hide part of the number: their loss is at most the leak's, so they are for sound ones.
HIDING = {"censored": censored}


class Shaped:
    """One leak in one shape; its true loss is ``loss``, or less where the shape hides it."""

    def __init__(self, shape: str, leak: str, loss: float) -> None:
        self.shape, self.leak, self.loss = shape, leak, loss
        self.claim = PrivacyClaim(CLAIMED, source="shapes")

    def pairs(self) -> list[tuple[int, int]]:
        return [(0, 1)]

    def run(self, side: int, rng: np.random.Generator) -> Any:
        hidden = LEAKS[self.leak](side, self.loss, rng)
        return {**SHAPES, **HIDING}[self.shape](*hidden, rng)


def leaking() -> list[Shaped]:
    """Return all that leak twice their claim."""
    return [Shaped(shape, leak, 2 * CLAIMED) for shape in SHAPES for leak in LEAKS]


def sound() -> list[Shaped]:
    """Return all that leak what they claim."""
    return [Shaped(shape, leak, CLAIMED) for shape in {**SHAPES, **HIDING} for leak in LEAKS]
