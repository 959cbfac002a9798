"""What a statistic of proximity declares, read once and refused where it makes no sense."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import cast

from pdpaudit.core.errors import InputError, described
from pdpaudit.core.protocols import StatisticOfProximity
from pdpaudit.core.statistic import stated_error

DEGREES = 31  # degree bounds 0..30: as far as any search on small networks goes

#: What is declared: by how much a targeted vertex moves, and how many vertices change.
PROPERTIES = ("targeted-sensitivity", "impact-cardinality")


@dataclass(frozen=True)
class Declared:
    """A statistic with what it declares for every degree bound in reach: index d of each tuple."""

    sop: StatisticOfProximity
    sensitivity: tuple[float, ...]
    impact_cardinality: tuple[float, ...]
    slack: tuple[float, ...]

    def of(self, of: str) -> tuple[float, ...]:
        """Return what is declared of a property."""
        return self.sensitivity if of == "targeted-sensitivity" else self.impact_cardinality

    def bound(self, of: str, max_degree: int) -> float:
        """Return the declared bound of a property for a degree bound."""
        if max_degree < DEGREES:
            return self.of(of)[max_degree]
        sensitivity = of == "targeted-sensitivity"
        declare = self.sop.sensitivity if sensitivity else self.sop.impact_cardinality
        return float(declare(max_degree))

    def slack_at(self, max_degree: int) -> float:
        """Return by how much two values may differ that would be equal without error."""
        return self.slack[max_degree] if max_degree < DEGREES else _slack(self.sop, max_degree)

    def allowed(self, of: str, max_degree: int) -> float:
        """Return what breaks no declaration: the bound, with the slack of values, not counts."""
        slack = self.slack_at(max_degree) if of == "targeted-sensitivity" else 0.0
        return self.bound(of, max_degree) + slack


def _slack(sop: StatisticOfProximity, max_degree: int) -> float:
    # Nothing where the declared sensitivity is 0: no noise then hides the smallest difference.
    return 2 * stated_error(sop, max_degree) if sop.sensitivity(max_degree) > 0 else 0.0


def name_of(sop: object) -> str:
    """Return what to call a statistic: its ``name``, the function's name or the class's."""
    for attribute in ("name", "__name__"):
        name = getattr(sop, attribute, None)
        if isinstance(name, str):
            return name
    return type(sop).__name__


def require_statistic(sop: object) -> tuple[StatisticOfProximity, Declared]:
    """Return a statistic and what it declares for degree bounds 0 to 30."""
    if inspect.isclass(sop):
        made = sop.__name__
        try:
            sop = sop()
        except TypeError as error:
            raise InputError(
                f"{made} cannot be made without arguments ({error}); give its arguments, "
                f"as in {made}_2"
            ) from None
    name = name_of(sop)
    if not callable(sop):
        raise InputError(f"{name} is not a statistic: it cannot be called (graph, vertex, targets)")
    for declaration in ("sensitivity", "impact_cardinality"):
        if not callable(getattr(sop, declaration, None)):
            raise InputError(
                f"{name} declares no {declaration}(max_degree); decorate the function with "
                "@statistic(sensitivity=..., impact_cardinality=...)"
            )
    _require_arguments(getattr(sop, "function", sop), name)
    statistic = cast(StatisticOfProximity, sop)
    sensitivity = _declared(statistic.sensitivity, name, "sensitivity")
    impact = _declared(statistic.impact_cardinality, name, "impact_cardinality")
    errors = _declared(lambda d: stated_error(statistic, d), name, "error")
    if math.isinf(errors[-1]):
        raise InputError(f"{name}.error is not finite: state how far a value may be from the exact")
    slack = tuple(_slack(statistic, d) for d in range(DEGREES))
    return statistic, Declared(statistic, sensitivity, impact, slack)


def _require_arguments(function: Callable[..., object], name: str) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # not every callable has one; the checks will show it
    try:
        signature.bind(None, None, None)
    except TypeError:
        raise InputError(
            f"{name}{signature} is not a statistic: it must take (graph, vertex, targets)"
        ) from None


def _declared(declare: Callable[[int], object], name: str, what: str) -> tuple[float, ...]:
    values: list[float] = []
    for d in range(DEGREES):
        try:
            value = declare(d)
        except Exception as error:
            raise InputError(
                f"{name}.{what}({d}) fails: {described(error)}; it must return a "
                "number for every degree bound from 0"
            ) from error
        if isinstance(value, bool) or not isinstance(value, Real) or not float(value) >= 0:
            raise InputError(f"{name}.{what}({d}) is {value!r}: declare a number of at least 0")
        if values and float(value) < values[-1]:
            raise InputError(
                f"{name}.{what}({d}) is {value!r}, below {values[-1]:g} for {d - 1}: a network of "
                f"degree at most {d - 1} is one of degree at most {d}, so a bound cannot fall"
            )
        values.append(float(value))
    return tuple(values)
