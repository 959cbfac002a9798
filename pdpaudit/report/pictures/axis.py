"""The scale that privacy losses are drawn on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pdpaudit.report.figures import number

__all__ = ["Axis", "Tick", "axis_for"]

#: Where the largest value is this many times the median, small ones would vanish on a linear scale.
WIDE = 12.0

#: Ticks nearer to each other than this share of the axis would overlap.
APART = 0.09

#: Losses below this are drawn as none.
LEAST = 1e-9

#: Losses above this are drawn as this: ticks and margins beyond would overflow.
MOST = 1e300


@dataclass(frozen=True)
class Tick:
    """One mark of an axis: where it is, 0 to 1, and what it says."""

    place: float
    text: str


@dataclass(frozen=True)
class Axis:
    """An axis from 0 to ``top``."""

    top: float
    compressed: bool = False

    def place(self, value: float) -> float:
        """Return where a value lies, 0 to 1; beyond the ends it stays at the end."""
        inside = min(max(value, 0.0), self.top)
        if self.compressed:
            return math.asinh(inside) / math.asinh(self.top)
        return inside / self.top

    @property
    def ticks(self) -> list[Tick]:
        """Round values along the axis, none nearer than would be legible."""
        ticks: list[Tick] = []
        for value in self._round_values():
            place = self.place(value)
            if not ticks or place - ticks[-1].place >= APART:
                ticks.append(Tick(place, number(value)))
        return ticks

    def _round_values(self) -> list[float]:
        if self.compressed:
            decades = range(-1, math.ceil(math.log10(self.top)) + 1)
            values = [0.0, *(step * 10.0**decade for decade in decades for step in (1, 2, 5))]
            return [value for value in values if value <= self.top]
        rough = self.top / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough * 0.999)
        return [step * i for i in range(math.floor(self.top / step * (1 + 1e-9)) + 1)]


def axis_for(values: Iterable[float]) -> Axis:
    """Return an axis that holds all finite values."""
    known = sorted(min(value, MOST) for value in values if LEAST < value < math.inf)
    if not known:
        return Axis(1.0)
    top, median = known[-1], known[len(known) // 2]
    return Axis(round(1.1 * top, 12), compressed=top > WIDE * median and top > 1)
