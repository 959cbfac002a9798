"""Exact privacy loss of two output laws, and what m rounds of ε may cost together.

Of laws: ε, the whole curve δ(ε), and the trade-off function. The optimal composition is computed
from the privacy loss of m-fold randomised response, which dominates every m-fold adaptive
composition of ε-DP mechanisms, by dp-accounting. That library and scipy's statistics take one to
two seconds to load, so they are imported on first use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, compress
from numbers import Integral
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.divergence import best_events, by_ratio
from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import CodedOutputs, Law
from pdpaudit.outputs import equal_is_same, flatten

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

Side = Literal["left", "right"]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: Corners of a trade-off curve that are looked at at once.
CORNERS = 257

#: What a law may lack to 1 by rounding: 200,000 probabilities, each right to 1e-16, lack less.
ROUNDED = 1e-10


@dataclass(frozen=True)
class ExactLoss:
    """The privacy loss of a pair; ``epsilon`` is the parameter of the claim's kind: ε, ρ or μ."""

    epsilon: float
    delta: float
    side: Side
    event: frozenset[Hashable]
    probabilities: tuple[float, float]
    outputs: tuple[Hashable, ...] = field(repr=False, default=())
    at_least: float = 0.0
    at_most: float = math.inf
    left_out: float = 1.0


def exact_loss(left: Law, right: Law, delta: float = 0.0, *, listed: bool = True) -> ExactLoss:
    """Return the exact ε of a pair of laws, the worse of both directions.

    An output that one law leaves out may have all the mass that law is missing, so it is no
    infinite loss: wherever the missing mass is, the loss is at least what is returned. Laws leave
    out outputs whole; see :class:`.Law`. Outputs are the same if their records are. Unless they
    are to be ``listed``, ``event`` and ``outputs`` stay empty.

    The upper end. Let the left law list ``p`` with relative error ``e`` and leave out outputs of
    mass ``m`` together, the right law list ``q`` with relative error ``f``, 0 for what it does not
    list. For any event S the true laws P and Q have

    P(S) - exp(ε) Q(S) <= sum over S of (p (1 + e) - exp(ε) q (1 - f)) + m
    <= sum of max(0, p (1 + e) - exp(ε) q (1 - f)) + m,

    as Q is at least 0 where it is not listed. So (ε, δ + s) holds from left to right as soon as the
    sum is at most ``δ + s - m``, and the other way round likewise. Where e = f = 0 nothing smaller
    will do: if all that the left leaves out is one output that never occurs on the right, both are
    equalities for the best S. So at δ < m the pair may lose infinitely much, and there is no upper
    end without a slack s; it is the larger of the two masses that are left out.
    """
    write, p, q = _aligned(left, right)
    hidden = left.missing, right.missing
    at_most_p, at_most_q = np.where(p > 0, p, hidden[0]), np.where(q > 0, q, hidden[1])
    forward, backward = epsilon_at(p, at_most_q, delta), epsilon_at(q, at_most_p, delta)
    side: Side = "left" if forward >= backward else "right"
    epsilon = max(forward, backward)
    ours, theirs = (p, at_most_q) if side == "left" else (q, at_most_p)
    inside = _worst_event(ours, theirs, epsilon, delta)
    outputs = write() if listed else []
    event = frozenset(compress(outputs, inside))
    # Of all that is left out together there is no more than what is missing.
    chances = (_at_most(p[inside], hidden[0]), _at_most(q[inside], hidden[1]))
    off = left.error, right.error
    least = max(
        epsilon_at(p * max(0.0, 1 - off[0]), at_most_q * (1 + off[1]), delta),
        epsilon_at(q * max(0.0, 1 - off[1]), at_most_p * (1 + off[0]), delta),
    )
    spare = max(hidden) if max(hidden) > delta else 0.0
    most = max(
        epsilon_at(p * (1 + off[0]), q * max(0.0, 1 - off[1]), delta + spare - hidden[0]),
        epsilon_at(q * (1 + off[1]), p * max(0.0, 1 - off[0]), delta + spare - hidden[1]),
    )
    return ExactLoss(
        epsilon, delta, side, event, chances, tuple(outputs), least, max(most, epsilon), spare
    )


def loss_for(left: Law, right: Law, claim: PrivacyClaim, *, listed: bool = True) -> ExactLoss:
    """Return the smallest parameter of a claim's kind that holds on a pair, in both directions.

    The event shows most of all that are decided by the likelihood ratio; by itself it shows no more
    of a divergence than two outcomes can. Missing mass and errors are placed where they hide most
    for the lower end, and where they show most for the upper.
    """
    if claim.approximate:
        return exact_loss(left, right, claim.delta, listed=listed)
    write, p, q = _aligned(left, right)
    p_off, q_off, hidden = left.error, right.error, (left.missing, right.missing)
    both = _both(claim, p, q, hidden)
    side: Side = "left" if both[0] >= both[1] else "right"
    least = most = max(both)
    if p_off or q_off or any(hidden):
        less_p, more_p = p * max(0.0, 1 - p_off), p * (1 + p_off)
        less_q, more_q = q * max(0.0, 1 - q_off), q * (1 + q_off)
        # What is most for one direction is least for the other.
        least = max(
            _both(claim, less_p, more_q, hidden)[0], _both(claim, more_p, less_q, hidden)[1]
        )
        none = (0.0, 0.0)
        most = max(_both(claim, more_p, less_q, none)[0], _both(claim, less_p, more_q, none)[1])
    ours, theirs = (p, q) if side == "left" else (q, p)
    order = by_ratio(ours, theirs)
    events = best_events(ours, theirs)
    kept = _some(len(events[0]))
    some = [one[kept] for one in events]
    likelier = some[0] > some[2]
    shown = np.where(likelier, claim.of_events(some[0], some[1], some[2], some[3]), -1.0)
    inside = order[: kept[int(shown.argmax())] + 1] if len(kept) else order
    chances = (_at_most(p[inside], hidden[0]), _at_most(q[inside], hidden[1]))
    outputs = write() if listed else []
    event = frozenset(outputs[i] for i in inside) if listed else frozenset()
    spare = max(hidden) if max(hidden) > ROUNDED else 0.0
    exact = max(both)
    return ExactLoss(
        exact, 0.0, side, event, chances, tuple(outputs), least, max(most, exact), spare
    )


def largest_excess(left: Law, right: Law, claim: PrivacyClaim) -> float:
    """Return how far the pair's trade-off curve falls below the claimed one, in either direction.

    The curve is straight between its corners and the claimed one convex, so the most is at a
    corner: of all, or of 257 and then of those around the best.
    """
    _, p, q = _aligned(left, right)
    worst = 0.0
    for ours, theirs in ((p, q), (q, p)):
        _, miss, fpr, _ = best_events(ours, theirs)
        kept = _some(len(fpr))
        if not len(kept):
            continue
        excess = claim.trade_off(fpr[kept]) - miss[kept]
        best = int(excess.argmax())
        around = np.arange(kept[max(best - 1, 0)], kept[min(best + 1, len(kept) - 1)] + 1)
        around = around[_some(len(around))]
        worst = max(worst, float((claim.trade_off(fpr[around]) - miss[around]).max()))
    return worst


def _both(
    claim: PrivacyClaim, p: Floats, q: Floats, hidden: tuple[float, float]
) -> tuple[float, float]:
    """Return the losses in both directions; what one side leaves out is one outcome of its own."""
    losses = []
    for ours, theirs, lacking in ((p, q, hidden[1]), (q, p, hidden[0])):
        both, alone = theirs > 0, float(ours[theirs <= 0].sum())
        lone = ([alone], [lacking]) if alone > 0 else ([], [])
        merged = (np.append(ours[both], lone[0]), np.append(theirs[both], lone[1]))
        losses.append(claim.loss_of_laws(*merged))
    return losses[0], losses[1]


def _some(count: int) -> npt.NDArray[np.intp]:
    """Return places spread evenly over a range, all where they are few."""
    return np.unique(np.linspace(0, count - 1, min(count, CORNERS)).round().astype(np.intp))


def _worst_event(ours: Floats, theirs: Floats, epsilon: float, delta: float) -> Mask:
    """Return which outputs show the loss."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(ours > 0, np.log(ours) - np.log(theirs), -np.inf)
    if delta == 0 and math.isfinite(epsilon):
        return ratio >= epsilon - 1e-9
    inside = ratio > epsilon if math.isfinite(epsilon) else np.isinf(ratio) & (ratio > 0)
    return inside if inside.any() else ratio >= ratio.max(initial=-np.inf)


def epsilon_at(p: Floats, q: Floats, delta: float = 0.0) -> float:
    """Return the smallest ε ≥ 0 with ``sum(max(0, p - e^ε q)) <= delta``, in one direction."""
    live = p > 0
    p, q = p[live], q[live]
    with np.errstate(divide="ignore"):
        ratio = np.log(p) - np.log(q)
    if delta == 0:
        return max(0.0, float(ratio.max(initial=0.0)))
    order = np.argsort(-ratio)
    above_p, above_q = np.cumsum(p[order]), np.cumsum(q[order])
    # With the k largest ratios above ε, δ(ε) = P_k - e^ε Q_k, convex and decreasing; the answer
    # is where it first falls to δ, on the piece between two ratios or where ε = 0 suffices.
    # A sum of k probabilities is known to k roundings: an excess below that is none, or slack that
    # exactly covers what only one side has would count as infinite loss.
    needed = above_p - delta > len(p) * np.finfo(np.float64).eps * above_p
    with np.errstate(divide="ignore"):
        crossing = np.log(above_p[needed] - delta) - np.log(above_q[needed])
    return max(0.0, float(crossing.max(initial=0.0)))


def hockey_stick(left: Law, right: Law, epsilons: npt.ArrayLike) -> Floats:
    """Return δ(ε), the worse of both directions: how much slack the pair needs at each ε."""
    _, p, q = _aligned(left, right)
    with np.errstate(over="ignore", invalid="ignore"):
        # Where e^ε overflows, whatever the other side has at all outweighs.
        factor = np.exp(np.asarray(epsilons, dtype=np.float64))
        forward = _excess(p, q, right.missing, factor)
        backward = _excess(q, p, left.missing, factor)
    worst: Floats = np.maximum(forward, backward)
    return worst


def trade_off(left: Law, right: Law) -> tuple[Floats, Floats]:
    """Return the false-positive rates of the best attacks, and their false-negative rates.

    The attacker sees one output and says whether it came from ``left`` (positive) or ``right``.
    """
    _, p, q = _aligned(left, right)
    order = by_ratio(p, q)
    fpr = np.concatenate([[0.0], np.cumsum(q[order])])
    miss = 1.0 - np.concatenate([[0.0], np.cumsum(p[order])])
    miss[-1], fpr[-1] = 0.0, 1.0
    return fpr, miss


def _excess(p: Floats, q: Floats, missing: float, factor: Floats) -> Floats:
    """Return the slack that the best event needs, wherever the other law's missing mass is."""
    both = q > 0
    excess = np.maximum(p[both] - factor[:, None] * q[both], 0.0).sum(axis=1)
    # One event of all that only one side lists: its other probability is at most what is missing.
    lone = p[~both].sum() - (factor * missing if missing > 0 else 0.0)
    return np.asarray(excess + np.maximum(lone, 0.0))


def _at_most(probabilities: Floats, missing: float) -> float:
    listed = float(probabilities.sum())
    return listed if (probabilities > 0).all() else min(1.0, listed + missing)


def _aligned(left: Law, right: Law) -> tuple[Callable[[], list[Hashable]], Floats, Floats]:
    """Return what lists all outputs, and their probabilities on both sides.

    1 and True are two outputs.
    """
    one, other = left.probabilities, right.probabilities
    if (
        isinstance(one, CodedOutputs)
        and isinstance(other, CodedOutputs)
        and one.coding == other.coding
    ):
        write, codes = one.write, dict.fromkeys(chain(one.chances, other.chances))
        p, q = (_chances(side.chances, codes) for side in (one, other))
        return lambda: list(map(write, codes)), p, q
    outputs: dict[Hashable, Hashable] = {}
    if equal_is_same(chain(one, other)):
        outputs = dict.fromkeys(chain(one, other))
        p, q = (_chances(dict(law.items()), outputs) for law in (one, other))
        return lambda: list(outputs), p, q
    sides = []
    for law in (left, right):
        chances: dict[Hashable, float] = {}
        for output, chance in law.probabilities.items():
            record = flatten(output)
            outputs.setdefault(record, output)
            chances[record] = chances.get(record, 0.0) + chance
        sides.append(chances)
    p, q = (_chances(side, outputs) for side in sides)
    return lambda: list(outputs.values()), p, q


def _chances(law: Mapping[Hashable, float], outputs: Iterable[Hashable]) -> Floats:
    return np.array([law.get(output, 0.0) for output in outputs], dtype=np.float64)


# Composition


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
    basic, general = basic_composition(epsilon, rounds), general_composition(epsilon, rounds, delta)
    optimal = optimal_composition(epsilon, rounds, delta)
    paper = paper_composition(epsilon, rounds, delta)
    proved = paper_composition_proved(epsilon, rounds, delta)
    where = ("resulting ε below 1, δ ≤ 1/√e", proved, paper >= optimal * (1.0 - _ROUNDING))
    sources = (
        "Dwork, McSherry, Nissim, Smith 2006",
        "Kearns, Roth, Wu, Yaroslavtsev, appendix",
        "Dwork, Rothblum, Vadhan 2010",
        "Kairouz, Oh, Viswanath 2015",
    )
    sums = "ε·√(2m·ln(1/δ)) + m·ε·(e^ε - 1)"
    return [
        CompositionBound("basic", "m·ε", basic, 0.0, sources[0]),
        CompositionBound("paper", "2·√(2m·ln(1/δ))·ε", paper, delta, sources[1], *where),
        CompositionBound("general", sums, general, delta, sources[2]),
        CompositionBound("optimal", "smallest ε for m rounds and δ", optimal, delta, sources[3]),
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
