"""The truncated geometric mechanism, in whole numbers only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Law, Outputs, PrivacyClaim

from .checks import check_epsilon, check_queries
from .pairs import Queries, VectorPair, one_query_pairs
from .truth import TrueLoss, loss_of_laws

__all__ = ["TruncatedGeometric"]

_LARGEST = 5


@dataclass(frozen=True)
class TruncatedGeometric:
    """A count from 0 to 5 with two-sided geometric noise, clamped, drawn by one whole number.

    Balcer and Vadhan, "Differential privacy on finite computers", 2018, with the
    natural logarithm in ``k = ⌈ln(2/ε)⌉``, as it is often implemented. The true loss is then
    ``ln(1 + 2^-k)``, which may lie above the ε it claims (0.1178 at ε = 0.1) or below (0.4055 at
    ε = 1).

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats; at least 1.3e-5, so that one 64-bit number suffices.

    Examples
    --------
    >>> round(TruncatedGeometric(0.1).true_loss().epsilon, 4)
    0.1178
    >>> len(TruncatedGeometric(0.1).law((1.0,)).probabilities)
    6
    """

    epsilon: float

    def __post_init__(self) -> None:
        """Refuse what scales no noise, or does not fit one draw."""
        check_epsilon(self.epsilon)
        if self._range.bit_length() > 63:
            raise InputError(f"epsilon = {self.epsilon}: give at least 1.3e-5")

    @property
    def claim(self) -> PrivacyClaim:
        """ε for a count that moves by 1."""
        return PrivacyClaim(self.epsilon, source="Balcer and Vadhan 2018")

    @property
    def _k(self) -> int:
        return max(0, math.ceil(math.log(2.0 / self.epsilon)))

    @property
    def _range(self) -> int:
        """D, the number of equally likely draws."""
        step = 1 << self._k
        return (2 * step + 1) * int((step + 1) ** (_LARGEST - 1))

    def _cumulative(self, count: int) -> list[int]:
        """F(0), …, F(5): how many of the draws give at most z."""
        step, base = 2**self._k, 2**self._k + 1
        below = [step ** (count - z) * base ** (_LARGEST - count + z) for z in range(count)]
        above = [
            self._range - step ** (z - count + 1) * base ** (_LARGEST - 1 - z + count)
            for z in range(count, _LARGEST)
        ]
        return [*below, *above, self._range]

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on: counts 1 and 0, 1 and 2."""
        return one_query_pairs(1)

    def run(self, instance: Queries, rng: np.random.Generator) -> int:
        """Return the noisy count, the least z with F(z) at least the draw."""
        draw = int(rng.integers(1, self._range, endpoint=True))
        cumulative = self._cumulative(_count(instance))
        return next(z for z, share in enumerate(cumulative) if share >= draw)

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Outputs:
        """Return noisy counts; O(size)."""
        draws = rng.integers(1, self._range, size=size, endpoint=True)
        cumulative = np.array(self._cumulative(_count(instance)))
        return Outputs(range(_LARGEST + 1), np.searchsorted(cumulative, draws))

    def law(self, instance: Queries) -> Law:
        """Return the exact law, six probabilities correctly rounded; O(1)."""
        cumulative = [0, *self._cumulative(_count(instance))]
        parts = (
            Fraction(cumulative[z + 1] - cumulative[z], self._range) for z in range(_LARGEST + 1)
        )
        return Law({z: float(part) for z, part in enumerate(parts)})

    def true_loss(self) -> TrueLoss:
        """Return the exact loss, from the laws; O(1)."""
        return loss_of_laws(self)


def _count(instance: Queries) -> int:
    """Return the count that the instance holds."""
    (answer,) = check_queries(instance, 1)
    if answer != int(answer) or not 0 <= answer <= _LARGEST:
        raise InputError(f"instance {instance}: give one whole number from 0 to {_LARGEST}")
    return int(answer)
