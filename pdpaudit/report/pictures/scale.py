"""A scale with round values along it, for curves and bars."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pdpaudit.report.figures import count, number

__all__ = ["Scale"]


@dataclass(frozen=True)
class Scale:
    """A scale from ``low`` to ``top``."""

    low: float
    top: float
    logarithmic: bool = False
    steps: int = 5

    def place(self, value: float) -> float:
        """Return where a value lies, 0 to 1; beyond the ends it stays at the end."""
        inside = min(max(value, self.low), self.top)
        if self.logarithmic:
            return math.log(inside / self.low) / math.log(self.top / self.low)
        return (inside - self.low) / (self.top - self.low)

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Places and words of round values."""
        return tuple((self.place(value), _text(value)) for value in self._round_values())

    def _round_values(self) -> list[float]:
        if self.logarithmic:
            first, last = (math.floor(math.log10(end) + 1e-9) for end in (self.low, self.top))
            leap = max(1, math.ceil((last - first + 1) / (self.steps + 1)))
            decades = [10.0**decade for decade in range(first, last + 1, leap)]
            return [value for value in decades if self.low <= value * (1 + 1e-9)]
        rough = (self.top - self.low) / self.steps
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.top / step + 1e-9)
        return [step * i for i in range(first, last + 1)]


def _text(value: float) -> str:
    whole = round(value)
    return count(whole) if whole == round(value, 9) and abs(value) < 1e7 else number(value)
