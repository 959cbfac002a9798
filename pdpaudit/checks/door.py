"""Let in what is a statistic of proximity and declares what one must."""

from __future__ import annotations

import inspect
import math
from numbers import Real
from typing import Any

from pdpaudit.checks.measure import Declared, slack_at
from pdpaudit.core.errors import InputError, described
from pdpaudit.core.protocols import StatisticOfProximity
from pdpaudit.core.statistic import stated_error

__all__ = ["DEGREES", "name_of", "require_statistic"]

DEGREES = 31  # degree bounds 0..30: as far as any search goes


def name_of(sop: object) -> str:
    """Return what to call a statistic: its ``name``, the function's name or the class's."""
    for attribute in ("name", "__name__"):
        name = getattr(sop, attribute, None)
        if isinstance(name, str):
            return name
    return type(sop).__name__


def require_statistic(sop: Any) -> tuple[StatisticOfProximity, Declared]:
    """Return a statistic and what it declares for degree bounds 0 to 30."""
    if inspect.isclass(sop):
        try:
            sop = sop()
        except TypeError as error:
            raise InputError(
                f"{sop.__name__} cannot be made without arguments ({error}); give its arguments, "
                f"as in {sop.__name__}_2"
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
    _require_arguments(sop, name)
    statistic: StatisticOfProximity = sop
    sensitivity = _declared(statistic.sensitivity, name, "sensitivity")
    impact = _declared(statistic.impact_cardinality, name, "impact_cardinality")
    errors = _declared(lambda d: stated_error(statistic, d), name, "error")
    if math.isinf(errors[-1]):
        raise InputError(f"{name}.error is not finite: state how far a value may be from the exact")
    return statistic, Declared(
        sensitivity, impact, tuple(slack_at(statistic, d) for d in range(DEGREES))
    )


def _require_arguments(sop: Any, name: str) -> None:
    function = getattr(sop, "function", sop)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # not every callable tells; the checks will
    try:
        signature.bind(None, None, None)
    except TypeError:
        raise InputError(
            f"{name}{signature} is not a statistic: it must take (graph, vertex, targets)"
        ) from None


def _declared(declare: Any, name: str, what: str) -> tuple[float, ...]:
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
