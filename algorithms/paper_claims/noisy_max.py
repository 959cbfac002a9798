"""Report Noisy Max as a lemma of the paper has it: the index of the largest value, and the value.

The value is released to the unit below only. What is rounded loses no more than what is not, so a
loss found here is a loss of the release in full.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Literal, NamedTuple

import flint
import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Law, LawUnavailable, PrivacyClaim

from ..laws.exact_round import Ball, ends_of
from ..laws.noise import Laplace

Answers = tuple[int, ...]

#: Values released as they are, in units of γ; below and above is only said that they are.
LOWEST, HIGHEST = -4, 6

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_DIGITS = Context(prec=40)


class Pair(NamedTuple):
    """Answers on two neighbouring inputs."""

    name: str
    left: Answers
    right: Answers


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

    @property
    def claims(self) -> tuple[PrivacyClaim, ...]:
        """All that is promised."""
        return (self.claim,)

    def pairs(self) -> Iterable[Pair]:
        """Return neighbouring answers: each moves by at most 1."""
        m = self.functions
        yield Pair("all answers up by γ", (0,) * m, (1,) * m)
        yield Pair("one answer up by γ", (0,) * m, (1, *(0,) * (m - 1)))
        yield Pair(
            "one answer up by γ, the others down", (0, *(1,) * (m - 1)), (1, *(0,) * (m - 1))
        )

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
        cells: dict[int, npt.NDArray[np.float64]] = {}
        below = np.exp(noise.logcdf(LOWEST - answers).sum())
        cells[LOWEST - 1] = np.full(len(answers), below / len(answers))
        for cell in range(LOWEST, HIGHEST):
            cells[cell] = _panel(noise, answers, cell, cell + 1)
        tail = [HIGHEST + step / self.epsilon for step in range(41)]
        cells[HIGHEST] = sum(
            (_panel(noise, answers, a, b) for a, b in pairwise(tail)),
            np.zeros(len(answers)),
        )
        if self.release == "index":
            return Law(dict(enumerate(sum(cells.values(), np.zeros(len(answers))).tolist())))
        return Law(
            {
                output(index, cell): mass
                for cell, masses in cells.items()
                for index, mass in enumerate(masses.tolist())
            }
        )

    def enclose(self, instance: Answers, outputs: frozenset[Hashable]) -> tuple[Fraction, Fraction]:
        """Enclose the probability that the value is at most something: a product, in balls."""
        top = self._top(outputs)
        with flint.ctx.workprec(256):
            total = flint.arb(1)
            rate = Fraction(self.epsilon)
            for answer in instance:
                half = (-_fmpq(rate * abs(top - answer))).exp() / 2
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


def _panel(
    noise: Laplace, answers: npt.NDArray[np.float64], low: float, high: float
) -> npt.NDArray[np.float64]:
    x = (low + high) / 2 + (high - low) / 2 * _NODES[:, None] - answers
    logs = noise.logpdf(x) - noise.logcdf(x) + noise.logcdf(x).sum(axis=1, keepdims=True)
    return np.asarray((high - low) / 2 * _WEIGHTS @ np.exp(logs))


def _fmpq(value: Fraction) -> Ball:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))
