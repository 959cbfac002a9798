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

__all__ = [
    "CompositionBound",
    "basic_composition",
    "composition_table",
    "general_composition",
    "optimal_composition",
    "optimal_delta",
    "paper_composition",
    "paper_composition_proved",
]

# ln(1/δ) ≥ 1/2: where the step from the general form to the paper's needs it.
_LARGEST_PAPER_DELTA = math.exp(-0.5)
# Two computations of the same bound may differ by this share before one counts as smaller.
_ROUNDING = 1e-9
# e^ε overflows a double from here on.
_LARGEST_EXPONENT = 709.0


@dataclass(frozen=True)
class CompositionBound:
    """One theorem's budget for m rounds, and whether it may be relied on there.

    Attributes
    ----------
    form : str
        ``basic``, ``paper``, ``general`` or ``optimal``.
    formula : str
        The budget in words of ε, m and δ.
    epsilon, delta : float
        The budget: every event is bounded by ``(epsilon, delta)``; ε in nats.
    condition : str
        What the theorem asks for.
    proved : bool
        Whether the condition is met, so that the theorem gives this budget.
    valid : bool
        Whether the budget holds for *every* composition of m mechanisms that are ε-DP, which it
        does exactly when it is not below the optimal one. A budget can be valid without being
        proved; one that is not valid is false for some mechanism.
    source : str
        Where the theorem is from.
    """

    form: str
    formula: str
    epsilon: float
    delta: float
    condition: str
    proved: bool
    valid: bool
    source: str


def basic_composition(epsilon: float, rounds: int) -> float:
    """Return ``m·ε``, the pure budget of m rounds; O(1).

    Parameters
    ----------
    epsilon : float
        Privacy loss of one round, in nats, at least 0.
    rounds : int
        Number of rounds m, at least 0.

    Raises
    ------
    InputError
        If ``epsilon`` or ``rounds`` is out of range.

    Notes
    -----
    Dwork, McSherry, Nissim and Smith, 2006; for a search for k components m = k-1.

    Examples
    --------
    >>> basic_composition(0.5, 9)
    4.5
    """
    _check(epsilon, rounds)
    return rounds * epsilon


def paper_composition(epsilon: float, rounds: int, delta: float) -> float:
    """Return ``2·√(2m·ln(1/δ))·ε``, the advanced form of Kearns, Roth, Wu and Yaroslavtsev; O(1).

    The number alone: :func:`paper_composition_proved` says whether the theorem behind it gives
    it, and :func:`composition_table` whether it holds at all.

    Parameters
    ----------
    epsilon : float
        Privacy loss of one round, in nats, at least 0.
    rounds : int
        Number of rounds m, at least 0.
    delta : float
        Slack of the budget, in (0, 1).

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    Here it lies below the optimal composition, 183.744, and so is false for some mechanism:

    >>> round(paper_composition(1.0, 300, 1e-3), 2)
    128.76
    """
    _check(epsilon, rounds, delta)
    return 2.0 * math.sqrt(2.0 * rounds * math.log(1.0 / delta)) * epsilon


def paper_composition_proved(epsilon: float, rounds: int, delta: float) -> bool:
    """Return whether the paper's advanced form follows from the general one; O(1).

    It is a corollary for a *resulting* ε below 1, a condition its statement leaves out, and for
    δ ≤ 1/√e. With ``ε' = ε√(8m·ln(1/δ)) < 1`` and ``ln(1/δ) ≥ 1/2`` one round has ε < 1/2, so
    ``e^ε - 1 ≤ 2ε`` and ``mε(e^ε - 1) ≤ 2mε² ≤ ε√(2m·ln(1/δ))``: the second term of the
    general form is at most the first. Nearer to δ = 1 it can be false with ε' below 1.

    Parameters
    ----------
    epsilon, rounds, delta
        As in :func:`paper_composition`.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> paper_composition_proved(0.01, 9, 1e-3), paper_composition_proved(1.0, 300, 1e-3)
    (True, False)
    """
    return paper_composition(epsilon, rounds, delta) < 1.0 and delta <= _LARGEST_PAPER_DELTA


def general_composition(epsilon: float, rounds: int, delta: float) -> float:
    """Return ``ε√(2m·ln(1/δ)) + mε(e^ε - 1)``, valid for every ε, m and δ; O(1).

    Parameters
    ----------
    epsilon, rounds, delta
        As in :func:`paper_composition`.

    Returns
    -------
    float
        The budget in nats; infinite where it overflows.

    Raises
    ------
    InputError
        If an argument is out of range.

    Notes
    -----
    Dwork, Rothblum and Vadhan, "Boosting and differential privacy", 2010, Theorem III.3.

    Examples
    --------
    >>> round(general_composition(0.1, 10, 1e-6), 4)
    1.7674
    """
    _check(epsilon, rounds, delta)
    if epsilon > _LARGEST_EXPONENT:
        return math.inf if rounds else 0.0
    first = epsilon * math.sqrt(2.0 * rounds * math.log(1.0 / delta))
    return first + rounds * epsilon * math.expm1(epsilon)


def optimal_composition(epsilon: float, rounds: int, delta: float) -> float:
    """Return the smallest ε' such that every m-fold composition of ε-DP is (ε', δ)-DP; O(m).

    Parameters
    ----------
    epsilon : float
        Privacy loss of one round, in nats, at least 0.
    rounds : int
        Number of rounds m, at least 0.
    delta : float
        Slack of the budget, in [0, 1).

    Returns
    -------
    float
        The budget in nats, relative error about 1e-12.

    Raises
    ------
    InputError
        If an argument is out of range.

    Notes
    -----
    Kairouz, Oh and Viswanath, "The composition theorem for differential privacy", 2015,
    Theorem 3.3; between its grid of values too, where the bound is tight as well.

    Examples
    --------
    >>> round(optimal_composition(1.0, 300, 1e-3), 3)
    183.744
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


def optimal_delta(epsilon: float, rounds: int, total_epsilon: float) -> float:
    """Return the smallest δ such that every m-fold composition of ε-DP is (total, δ)-DP; O(m).

    Parameters
    ----------
    epsilon : float
        Privacy loss of one round, in nats, at least 0.
    rounds : int
        Number of rounds m, at least 0.
    total_epsilon : float
        ε of the budget, in nats, at least 0.

    Raises
    ------
    InputError
        If an argument is out of range.

    Notes
    -----
    As :func:`optimal_composition`: the hockey-stick divergence of m-fold randomised response.

    Examples
    --------
    >>> round(optimal_delta(1.0, 300, 183.744), 6)
    0.001
    """
    _check(epsilon, rounds)
    if not total_epsilon >= 0.0:
        raise InputError(f"total_epsilon = {total_epsilon}: give a number of nats, at least 0")
    if epsilon == 0.0 or rounds == 0 or total_epsilon >= rounds * epsilon:
        return 0.0
    if math.isinf(rounds * epsilon):
        return 1.0  # the two sides cannot be mistaken for each other
    return float(_randomised_response(epsilon, rounds).get_delta_for_epsilon(total_epsilon))


def composition_table(epsilon: float, rounds: int, delta: float) -> list[CompositionBound]:
    """Return every form's budget for m rounds, with the region where each may be relied on; O(m).

    Parameters
    ----------
    epsilon : float
        Privacy loss of one round, in nats, at least 0.
    rounds : int
        Number of rounds m, at least 0; k-1 for a search for k components.
    delta : float
        Slack of all but the basic budget, in (0, 1).

    Returns
    -------
    list of CompositionBound
        Basic, paper, general and optimal, in this order.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> for row in composition_table(1.0, 300, 1e-3):
    ...     print(f"{row.form:8} {row.epsilon:8.3f} proved={row.proved} valid={row.valid}")
    basic     300.000 proved=True valid=True
    paper     128.758 proved=False valid=False
    general   579.864 proved=True valid=True
    optimal   183.744 proved=True valid=True
    """
    _check(epsilon, rounds, delta)
    optimal = optimal_composition(epsilon, rounds, delta)
    paper = paper_composition(epsilon, rounds, delta)
    return [
        CompositionBound(
            "basic",
            "m·ε",
            basic_composition(epsilon, rounds),
            0.0,
            "none",
            True,
            True,
            "Dwork, McSherry, Nissim, Smith 2006",
        ),
        CompositionBound(
            "paper",
            "2·√(2m·ln(1/δ))·ε",
            paper,
            delta,
            "resulting ε below 1, δ ≤ 1/√e",
            paper_composition_proved(epsilon, rounds, delta),
            paper >= optimal * (1.0 - _ROUNDING),
            "Kearns, Roth, Wu, Yaroslavtsev, appendix",
        ),
        CompositionBound(
            "general",
            "ε·√(2m·ln(1/δ)) + m·ε·(e^ε - 1)",
            general_composition(epsilon, rounds, delta),
            delta,
            "none",
            True,
            True,
            "Dwork, Rothblum, Vadhan 2010",
        ),
        CompositionBound(
            "optimal",
            "smallest ε for m rounds and δ",
            optimal,
            delta,
            "none",
            True,
            True,
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
