"""Report Noisy Max as a lemma of the paper has it: the index of the largest value, and the value.

The value is released to the unit below only. What is rounded loses no more than what is not, so a
loss found here is a loss of the release in full.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Literal

import flint
import numpy as np

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Law, LawUnavailable, PrivacyClaim

from ..laws.closed_form import ball_of
from ..laws.networks import ends_of
from ..laws.noise import Laplace
from ..laws.one_round import QUADRATURE_ERROR, panel_nodes, panels
from ..zoo import VectorPair

Answers = tuple[int, ...]

#: Values released as they are, in units of γ; below and above is only said that they are.
LOWEST, HIGHEST = -4, 6

_DIGITS = Context(prec=40)


def output(index: int, cell: int) -> str:
    """Say what is released: the index, and what the value lies between."""
    if cell < LOWEST:
        return f"answer {index}, value below {LOWEST}"
    if cell >= HIGHEST:
        return f"answer {index}, value at least {HIGHEST}"
    return f"answer {index}, value in [{cell}, {cell + 1})"


@dataclass(frozen=True)
class NoisyMaxWithValue:
    """The largest of noisy answers, noise Lap(γ/ε), with γ = 1 the sensitivity of each."""

    epsilon: float = 1.0
    functions: int = 5
    release: Literal["value", "index"] = "value"

    def __post_init__(self) -> None:
        """Check the arguments."""
        if not 0 < self.epsilon < np.inf:
            raise InputError(f"epsilon = {self.epsilon}: must be a positive, finite number")
        if self.functions < 1:
            raise InputError(f"functions = {self.functions}: must be at least 1")
        if self.release not in ("value", "index"):
            raise InputError(f"release = {self.release!r}: must be 'value' or 'index'")

    @property
    def claim(self) -> PrivacyClaim:
        """2ε."""
        return PrivacyClaim(2 * self.epsilon, source="Report Noisy Max, noise Lap(γ/ε)")

    def pairs(self) -> Iterable[VectorPair]:
        """Return neighbouring answers: each moves by at most 1."""
        m = self.functions
        yield VectorPair("all answers up by γ", (0,) * m, (1,) * m)
        yield VectorPair("one answer up by γ", (0,) * m, (1, *(0,) * (m - 1)))
        others = (0, *(1,) * (m - 1)), (1, *(0,) * (m - 1))
        yield VectorPair("one answer up by γ, the others down", *others)

    def run(self, instance: Answers, rng: np.random.Generator) -> Hashable:
        """Return the index, and the value rounded down to a multiple of γ."""
        noisy = np.array(instance) + rng.laplace(0.0, 1 / self.epsilon, len(instance))
        index = int(noisy.argmax())
        if self.release == "index":
            return index
        return output(index, int(np.clip(np.floor(noisy[index]), LOWEST - 1, HIGHEST)))

    def law(self, instance: Answers) -> Law:
        """Return the law of index and rounded value, by quadrature between the answers.

        With noise density p and distribution F: ``Pr[j, cell] = ∫ p(x - a_j) ∏_{l≠j} F(x - a_l)``
        over the cell; below all answers every index has the same share. O(functions² · cells).
        """
        noise, answers = Laplace(1 / self.epsilon), np.array(instance, dtype=np.float64)
        if answers.min() < LOWEST or answers.max() > HIGHEST:
            raise LawUnavailable(f"answers must lie in {LOWEST}..{HIGHEST}")
        rate = (len(answers) + 1) * self.epsilon
        edges = panels(range(LOWEST, HIGHEST + 1), rate, self.epsilon, left=False)
        nodes, weights = panel_nodes(edges)
        x = nodes[:, None] - answers
        logs = noise.logpdf(x) - noise.logcdf(x) + noise.logcdf(x).sum(axis=1, keepdims=True)
        parts = weights[:, None] * np.exp(logs)
        below = np.exp(noise.logcdf(LOWEST - answers).sum())
        cells = {LOWEST - 1: np.full(len(answers), below / len(answers))}
        for cell in range(LOWEST, HIGHEST + 1):
            cells[cell] = parts[np.clip(np.floor(nodes), LOWEST, HIGHEST) == cell].sum(axis=0)
        if self.release == "index":
            together = np.sum([*cells.values()], axis=0)
            return Law(dict(enumerate(together.tolist())), missing=QUADRATURE_ERROR)
        masses: dict[Hashable, float] = {
            output(index, cell): mass
            for cell, shares in cells.items()
            for index, mass in enumerate(shares.tolist())
        }
        return Law(masses, missing=QUADRATURE_ERROR)

    def enclose(self, instance: Answers, outputs: frozenset[Hashable]) -> tuple[Fraction, Fraction]:
        """Enclose the probability that the value is at most something: a product, in balls."""
        top = self._top(outputs)
        with flint.ctx.workprec(256):
            total = flint.arb(1)
            rate = Fraction(self.epsilon)
            for answer in instance:
                half = (-ball_of(rate * abs(top - answer))).exp() / 2
                total *= half if top <= answer else 1 - half
            return ends_of(total)

    def enclose_again(
        self, instance: Answers, outputs: frozenset[Hashable]
    ) -> tuple[Fraction, Fraction]:
        """Enclose the same product by the decimal module, whose exponential is rounded right."""
        top = self._top(outputs)
        low = high = Fraction(1)
        for answer in instance:
            gap = abs(top - answer) * Fraction(self.epsilon)
            exponent = _DIGITS.divide(Decimal(-gap.numerator), Decimal(gap.denominator))
            half = Fraction(_DIGITS.exp(exponent)) / 2
            # Two roundings of 40 digits, the first of an exponent far below 10^10.
            error = half / 10**28
            ends = (half - error, half + error)
            one, other = ends if top <= answer else (1 - ends[1], 1 - ends[0])
            low, high = low * one, high * other
        return low, high

    def _top(self, outputs: frozenset[Hashable]) -> int:
        """Return what the released value is below, in an event that says just this."""
        for top in range(LOWEST, HIGHEST + 1):
            cells = range(LOWEST - 1, top)
            said = {output(j, cell) for j in range(self.functions) for cell in cells}
            if outputs == said:
                return top
        raise LawUnavailable("only the event that the value is below a bound is enclosed")
