"""How many people lose how much: bars on a logarithmic scale of people, for most lose nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pdpaudit.report.pictures.scale import Scale

__all__ = ["Bars", "bars"]

#: Where the axes lie in a drawing of 360 by 220.
LEFT, RIGHT, TOP, BOTTOM = 54.0, 340.0, 12.0, 172.0

#: A bar of one person stands this much of the height, so that it is seen.
FOOT = 0.08


@dataclass(frozen=True)
class Bars:
    """A histogram as drawn."""

    title: str
    words: str
    bars: tuple[tuple[str, str, str, str], ...]
    x_ticks: tuple[tuple[str, str], ...]
    y_ticks: tuple[tuple[str, str], ...]


def bars(
    title: str, words: str, edges: Sequence[float], counts: Sequence[int], top: float, most: int
) -> Bars:
    """Return a histogram of losses."""
    across = Scale(0.0, top if top > 0 else 1.0)
    whole = math.log10(max(most, 10))

    def height(people: float) -> float:
        return FOOT + (1 - FOOT) * math.log10(people) / whole

    def x(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * across.place(value)

    drawn = []
    for low, high, people in zip(edges, edges[1:], counts, strict=False):
        if people:
            tall = (BOTTOM - TOP) * height(people)
            wide = max(x(high) - x(low) - 1, 1.5)
            drawn.append((f"{x(low):.1f}", f"{BOTTOM - tall:.1f}", f"{wide:.1f}", f"{tall:.1f}"))
    decades = [10**power for power in range(math.floor(whole + 1e-9) + 1)]
    return Bars(
        title,
        words,
        tuple(drawn),
        tuple((f"{x(across.low + place * across.top):.1f}", text) for place, text in across.ticks),
        tuple((f"{BOTTOM - (BOTTOM - TOP) * height(n):.1f}", f"{n:,}") for n in decades),
    )
