"""A search round in exact rational numbers, and enclosures with digits rounded outward.

The statement of the question lives here, apart from the two ways of answering it
(`closed_form` and `verify`), which share no code with each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from pdpaudit.core.errors import InputError

Number = int | float | str | Fraction
Levels = tuple[tuple[Fraction, int], ...]


@dataclass(frozen=True)
class ExactRound:
    """One round with rational scores, grouped by level.

    Build it with `exact_search_com`, `exact_first_target` or `exact_threshold_stop`. Events are
    named by the found target's score (one particular target of that score), or None for the
    empty answer.
    """

    targets: Levels
    protected: Levels
    scale: Fraction
    threshold: Fraction | None
    threshold_scale: Fraction
    stop_score: Fraction | None
    ahead: int | None = None

    def check_event(self, event: Fraction | None) -> None:
        """Refuse an event that is not one of this round."""
        if event is not None and event not in dict(self.targets):
            raise InputError(f"no remaining target has score {event}")


def exact_search_com(
    targets: Iterable[Number],
    protected: Iterable[tuple[Number, int]],
    *,
    epsilon: Number,
    sensitivity: Number,
    impact_cardinality: Number,
    threshold: Number,
    ahead: int | None = None,
) -> ExactRound:
    """State a round of SearchCom exactly."""
    budget = _fraction("epsilon", epsilon)
    if budget <= 0:
        raise InputError(f"epsilon must be positive, not {epsilon!r}")
    scale = 4 * _positive("sensitivity", sensitivity) / budget
    counted: Counter[Fraction] = Counter()
    for score, count in protected:
        if count < 0:
            raise InputError(f"counts must be >= 0, not {count!r}")
        counted[_fraction("protected", score)] += int(count)
    return ExactRound(
        _grouped(targets),
        tuple(sorted((score, count) for score, count in counted.items() if count)),
        scale,
        _fraction("threshold", threshold),
        2 * _positive("impact_cardinality", impact_cardinality) / budget,
        None,
        ahead,
    )


def exact_first_target(targets: Iterable[Number], scale: Number) -> ExactRound:
    """State a round of the main text exactly: Laplace noise of this scale, no stopping rule."""
    return ExactRound(_grouped(targets), (), _scale(scale), None, Fraction(0), None)


def exact_threshold_stop(
    targets: Iterable[Number], stop_score: Number, scale: Number
) -> ExactRound:
    """State a round of the threshold stop exactly, with Laplace noise of this scale."""
    dummy = _fraction("stop_score", stop_score)
    return ExactRound(_grouped(targets), (), _scale(scale), None, Fraction(0), dummy)


@dataclass(frozen=True)
class Enclosure:
    """An interval ``mid +- rad`` in decimal digits, exactly as written."""

    mid: str
    rad: str

    @property
    def lower(self) -> Fraction:
        """Lower end, exactly."""
        return Fraction(self.mid) - Fraction(self.rad)

    @property
    def upper(self) -> Fraction:
        """Upper end, exactly."""
        return Fraction(self.mid) + Fraction(self.rad)

    def exceeds(self, claim: Number) -> bool:
        """Say whether every value of the enclosure is above `claim`."""
        return self.lower > _fraction("claim", claim)

    @classmethod
    def around(cls, mid: Fraction, rad: Fraction, digits: int = 20) -> Enclosure:
        """Round outward to decimal strings: the result contains ``mid +- rad``.

        `digits` are significant digits of the midpoint.
        """
        text = _decimal(mid, digits)
        missing = abs(mid - Fraction(text)) + rad
        return cls(text, _decimal(missing, 6, up=True))


def _decimal(value: Fraction, digits: int, *, up: bool = False) -> str:
    """Decimal string of a number of significant digits, to nearest or away from 0."""
    if value == 0:
        return "0"
    size = abs(value)
    exponent = _magnitude(size)
    shift = digits - exponent
    scaled = size * Fraction(10) ** shift
    whole = -((-scaled.numerator) // scaled.denominator) if up else round(scaled)
    text = str(int(whole))
    kept = text.rstrip("0")
    # built from its digits: arithmetic on Decimals would round to the context's precision
    parts = tuple(int(digit) for digit in kept)
    return str(Decimal((int(value < 0), parts, len(text) - len(kept) - shift)))


def _magnitude(size: Fraction) -> int:
    """Find the e with 10^(e-1) <= size < 10^e, by integer arithmetic."""
    e = len(str(size.numerator)) - len(str(size.denominator))
    while size >= Fraction(10) ** e:
        e += 1
    while size < Fraction(10) ** (e - 1):
        e -= 1
    return e


def _fraction(name: str, value: Number) -> Fraction:
    try:
        return Fraction(value)
    except (ValueError, OverflowError, TypeError, ZeroDivisionError) as error:
        raise InputError(f"{name} must be a finite number, not {value!r}") from error


def _positive(name: str, value: Number) -> Fraction:
    number = _fraction(name, value)
    if number < 0:
        raise InputError(f"{name} must be >= 0, not {value!r}")
    return number


def _scale(value: Number) -> Fraction:
    number = _fraction("scale", value)
    if number <= 0:
        raise InputError(f"the scale must be positive, not {value!r}")
    return number


def _grouped(targets: Iterable[Number]) -> Levels:
    return tuple(sorted(Counter(_fraction("targets", score) for score in targets).items()))
