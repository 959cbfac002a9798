"""What the rounds of an audited search cost together, by each theorem."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pdpaudit.core.composition import CompositionBound, composition_table
from pdpaudit.core.errors import InputError
from pdpaudit.report.figures import nats, number
from pdpaudit.report.tables import Table
from pdpaudit.results.fields import is_number
from pdpaudit.results.results import Result

__all__ = ["composition_of"]

#: δ where the audit names none.
DELTA = 1e-6

#: The optimal budget costs time linear in the rounds; nobody searches this often.
MOST_ROUNDS = 5_000


def composition_of(result: Result) -> Table | None:
    """Return the budgets of a search for several components."""
    for claim in result.claims:
        mechanism = (claim.witness or {}).get("mechanism")
        parameters = mechanism.get("parameters") if isinstance(mechanism, Mapping) else None
        if not isinstance(parameters, Mapping):
            continue
        epsilon, components = parameters.get("epsilon"), parameters.get("components")
        if not is_number(epsilon) or not is_number(components):
            continue
        rounds = components - 1
        if not isinstance(rounds, int) or not 2 <= rounds <= MOST_ROUNDS or not epsilon > 0:
            return None
        deltas = [other.claimed["delta"] for other in result.claims]
        delta = next((value for value in deltas if value > 0), DELTA)
        bounds = _bounds(float(epsilon), rounds, delta)
        return None if bounds is None else _table(bounds, float(epsilon), rounds, delta)
    return None


@lru_cache(maxsize=256)
def _bounds(epsilon: float, rounds: int, delta: float) -> tuple[CompositionBound, ...] | None:
    try:
        return tuple(composition_table(epsilon, rounds, delta))
    except InputError:  # parameters no theorem speaks of
        return None


def _table(
    bounds: tuple[CompositionBound, ...], epsilon: float, rounds: int, delta: float
) -> Table:
    rows = tuple(
        (
            bound.form,
            bound.formula,
            nats(bound.epsilon),
            number(bound.delta, 3),
            bound.condition if bound.proved else f"{bound.condition}: not met",
            "yes" if bound.valid else "NO: too small for some mechanism",
            bound.source,
        )
        for bound in bounds
    )
    columns = ("form", "budget", "ε", "δ", "condition", "holds", "source")
    caption = f"{rounds} rounds of ε = {number(epsilon)} each, at δ = {number(delta, 3)}"
    return Table(caption, columns, rows)
