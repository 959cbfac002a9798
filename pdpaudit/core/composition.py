"""What the composition theorems allow m rounds of ε-differential privacy to cost together.

The optimal composition is computed from the privacy loss of m-fold randomised response, which
dominates every m-fold adaptive composition of ε-DP mechanisms, by dp-accounting. That library and
scipy's statistics take one to two seconds to load, so they are imported on first use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from pdpaudit.core.errors import InputError

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

# ln(1/δ) ≥ 1/2: where the step from the general form to the paper's needs it.
_LARGEST_PAPER_DELTA = math.exp(-0.5)
# Two computations of the same bound may differ by this share before one counts as smaller.
_ROUNDING = 1e-9
# e^ε overflows a double from here on.
_LARGEST_EXPONENT = 709.0


@dataclass(frozen=True)
class CompositionBound:
    """One theorem's budget for m rounds, and whether it may be relied on there."""

    form: str
    formula: str
    epsilon: float
    delta: float
    source: str
    condition: str = "none"
    proved: bool = True
    valid: bool = True


def basic_composition(epsilon: float, rounds: int) -> float:
    """Return ``m·ε``, the pure budget of m rounds; O(1).

    Dwork, McSherry, Nissim and Smith, 2006; for a search for k components m = k-1.
    """
    _check(epsilon, rounds)
    return rounds * epsilon


def paper_composition(epsilon: float, rounds: int, delta: float) -> float:
    """Return ``2·√(2m·ln(1/δ))·ε``, the advanced form of Kearns, Roth, Wu and Yaroslavtsev; O(1).

    The number alone: :func:`paper_composition_proved` says whether the theorem behind it gives
    it, and :func:`composition_table` whether it holds at all.
    """
    _check(epsilon, rounds, delta)
    return 2.0 * math.sqrt(2.0 * rounds * math.log(1.0 / delta)) * epsilon


def paper_composition_proved(epsilon: float, rounds: int, delta: float) -> bool:
    """Return whether the paper's advanced form follows from the general one; O(1)."""
    return paper_composition(epsilon, rounds, delta) < 1.0 and delta <= _LARGEST_PAPER_DELTA


def general_composition(epsilon: float, rounds: int, delta: float) -> float:
    """Return ``ε√(2m·ln(1/δ)) + mε(e^ε - 1)``, valid for every ε, m and δ; O(1).

    Dwork, Rothblum and Vadhan, "Boosting and differential privacy", 2010, Theorem III.3.
    """
    _check(epsilon, rounds, delta)
    if epsilon > _LARGEST_EXPONENT:
        return math.inf if rounds else 0.0
    first = epsilon * math.sqrt(2.0 * rounds * math.log(1.0 / delta))
    return first + rounds * epsilon * math.expm1(epsilon)


def optimal_composition(epsilon: float, rounds: int, delta: float) -> float:
    """Return the smallest ε' such that every m-fold composition of ε-DP is (ε', δ)-DP; O(m).

    Kairouz, Oh and Viswanath, "The composition theorem for differential privacy", 2015,
    Theorem 3.3; between its grid of values too, where the bound is tight as well.
    """
    _check(epsilon, rounds)
    _check_delta(delta, zero_allowed=True)
    if epsilon == 0.0 or rounds == 0 or delta == 0.0 or math.isinf(rounds * epsilon):
        return rounds * epsilon
    from scipy.optimize import brentq

    losses = _randomised_response(epsilon, rounds)

    def excess(total: float) -> float:
        return float(losses.get_delta_for_epsilon(total)) - delta

    if excess(0.0) <= 0.0:
        return 0.0
    return float(brentq(excess, 0.0, rounds * epsilon, xtol=1e-300, rtol=1e-14, maxiter=500))


def composition_table(epsilon: float, rounds: int, delta: float) -> list[CompositionBound]:
    """Return every form's budget for m rounds, with the region where each holds; O(m)."""
    _check(epsilon, rounds, delta)
    optimal = optimal_composition(epsilon, rounds, delta)
    paper = paper_composition(epsilon, rounds, delta)
    return [
        CompositionBound(
            "basic",
            "m·ε",
            basic_composition(epsilon, rounds),
            0.0,
            "Dwork, McSherry, Nissim, Smith 2006",
        ),
        CompositionBound(
            "paper",
            "2·√(2m·ln(1/δ))·ε",
            paper,
            delta,
            "Kearns, Roth, Wu, Yaroslavtsev, appendix",
            "resulting ε below 1, δ ≤ 1/√e",
            paper_composition_proved(epsilon, rounds, delta),
            paper >= optimal * (1.0 - _ROUNDING),
        ),
        CompositionBound(
            "general",
            "ε·√(2m·ln(1/δ)) + m·ε·(e^ε - 1)",
            general_composition(epsilon, rounds, delta),
            delta,
            "Dwork, Rothblum, Vadhan 2010",
        ),
        CompositionBound(
            "optimal",
            "smallest ε for m rounds and δ",
            optimal,
            delta,
            "Kairouz, Oh, Viswanath 2015",
        ),
    ]


def _randomised_response(epsilon: float, rounds: int) -> PrivacyLossDistribution:
    """Privacy loss of m-fold randomised response: (2j-m)·ε with a binomial j.

    The binomial law goes in directly, on a grid of step ε that holds every loss exactly;
    composing round by round would go through a Fourier transform, which loses small δ.
    """
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    from scipy.stats import binom

    keep = 1.0 / (1.0 + math.exp(-epsilon))
    masses = np.asarray(binom.pmf(np.arange(rounds + 1), rounds, keep))
    rounded = {2 * kept - rounds: mass for kept, mass in enumerate(masses.tolist())}
    return PrivacyLossDistribution.create_from_rounded_probability(rounded, 0.0, epsilon)


def _check(epsilon: float, rounds: int, delta: float | None = None) -> None:
    """Refuse what no theorem speaks of."""
    if not 0.0 <= epsilon < math.inf:
        raise InputError(f"epsilon = {epsilon}: give a finite number of nats, at least 0")
    if not isinstance(rounds, Integral) or rounds < 0:
        raise InputError(f"rounds = {rounds}: give a whole number, at least 0")
    if delta is not None:
        _check_delta(delta)


def _check_delta(delta: float, *, zero_allowed: bool = False) -> None:
    """Refuse a slack that is no probability."""
    if not (0.0 < delta < 1.0 or (zero_allowed and delta == 0.0)):
        interval = "[0, 1)" if zero_allowed else "(0, 1)"
        raise InputError(f"delta = {delta}: give a number in {interval}")
