"""Ask a mechanism what it says of itself, its output law above all, and believe no nonsense."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import replace
from fractions import Fraction
from numbers import Rational
from typing import Any, cast

import numpy as np

from pdpaudit.core.errors import InputError, Misbehaviour, described
from pdpaudit.core.privacy_loss import ROUNDED
from pdpaudit.core.protocols import (
    ExtendedMechanism,
    Law,
    LawfulMechanism,
    LawUnavailable,
    Mechanism,
)
from pdpaudit.outputs import Unreadable, equal_is_same, flatten
from pdpaudit.sampling.guard import Guard

__all__ = ["LIMIT_S", "as_law", "ask", "beginning_of", "enclosure_of", "law_of"]

#: Seconds after which an answer is taken never to come; laws of large networks take a minute.
LIMIT_S = 600.0

#: What probabilities may add up to beyond 1, or lack besides what a law says is missing.
ROUNDING = 1e-6


def ask(part: str, mechanism: Any, *arguments: Any, limit: float = LIMIT_S) -> Any:
    """Call an optional part of a mechanism; what it prints is swallowed."""
    with Guard(mechanism, None, limit) as guard:
        try:
            return guard.ask(part, *arguments)
        except (LawUnavailable, InputError, Misbehaviour):
            raise
        except (Exception, SystemExit) as error:
            raise Misbehaviour(f"its {part} raised {described(error)}") from error


def law_of(mechanism: LawfulMechanism, instance: Any, limit: float = LIMIT_S) -> Law:
    """Return a mechanism's output law on an instance, once it is seen to be one."""
    return as_law(ask("law", mechanism, instance, limit=limit))


def beginning_of(mechanism: Any, limit: float = LIMIT_S) -> Mechanism:
    """Return the shorter mechanism that this one goes on from, with its law; else raise."""
    if isinstance(mechanism, ExtendedMechanism):
        shorter = ask("beginning", mechanism, limit=limit)
        if isinstance(shorter, LawfulMechanism):
            return cast(Mechanism, shorter)
    raise LawUnavailable("the mechanism goes on from no shorter one that has a law")


def as_law(law: Any) -> Law:
    """Return what a mechanism answered, once it is seen to be a law."""
    if not isinstance(law, Law) or not isinstance(law.probabilities, Mapping):
        given = law.probabilities if isinstance(law, Law) else law
        raise Misbehaviour(
            f"its law is no Law of a mapping from outputs to probabilities, but {_kind(given)}"
        )
    for name in ("missing", "error", "work"):
        value = getattr(law, name)
        if not isinstance(value, (int, float, np.number)) or not 0.0 <= value < math.inf:
            raise Misbehaviour(f"its law says {name} = {value!r}, not a number of at least 0")
    try:
        values = np.fromiter(law.probabilities.values(), float, len(law.probabilities))
    except (TypeError, ValueError):
        raise Misbehaviour("its law gives probabilities that are not numbers") from None
    wrong = ~((values >= 0.0) & (values <= 1.0 + ROUNDING))
    if wrong.any():
        output = list(law.probabilities)[int(np.argmax(wrong))]
        raise Misbehaviour(
            f"its law gives {output!r} the probability {float(values[np.argmax(wrong)]):.6g}"
        )
    total = float(values.sum())
    lacking = 1.0 - total
    if not 1.0 - float(law.missing) - ROUNDING <= total <= 1.0 + ROUNDING:
        raise Misbehaviour(f"its law gives probabilities that add up to {total:.6g}, not 1")
    try:
        for output in () if equal_is_same(law.probabilities) else law.probabilities:
            flatten(output)
    except Unreadable as error:
        raise Misbehaviour(f"its law lists {error}") from None
    # Whatever the probabilities lack may be outputs that are left out, so it counts as missing.
    return law if lacking <= law.missing + ROUNDED else replace(law, missing=lacking)


def enclosure_of(
    part: str, mechanism: Any, instance: Any, outputs: frozenset[Hashable]
) -> tuple[Fraction, Fraction]:
    """Return what a mechanism encloses the probability of outputs in, once it is an interval."""
    ends = ask(part, mechanism, instance, outputs, limit=math.inf)
    if isinstance(ends, tuple) and len(ends) == 2:
        low, high = ends
        if isinstance(low, Rational) and isinstance(high, Rational) and low <= high:
            return Fraction(low), Fraction(high)
    raise Misbehaviour(f"its {part} answered with no interval of two fractions")


def _kind(given: Any) -> str:
    return "None" if given is None else f"a {type(given).__name__}"
