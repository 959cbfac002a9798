"""Tables made of whatever a result holds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

from pdpaudit.core.composition import CompositionBound, composition_table
from pdpaudit.core.errors import InputError
from pdpaudit.report.blocks import Table
from pdpaudit.report.plaintext import clip, nats, number
from pdpaudit.results.fields import is_number
from pdpaudit.results.results import Result

__all__ = ["Table", "bounds_table", "cell", "composition_of", "grid_tables", "table_of"]

#: Rows of a table made of data that nobody bounded.
MOST_ROWS = 200

#: δ where the audit names none.
DELTA = 1e-6

#: The optimal budget costs time linear in the rounds; nobody searches this often.
MOST_ROUNDS = 5_000

#: Characters of a cell.
LONGEST_CELL = 300


def bounds_table(declared: object, observed: object, caption: str) -> Table | None:
    """Return declared against exact values for each degree bound d, index d of two lists."""
    exact = _numbers(observed)
    if not exact:
        return None
    found = _numbers(declared) or []
    rows = []
    for d, value in enumerate(exact):
        bound = found[d] if d < len(found) else None
        rows.append((str(d), number(bound), number(value), _judged(bound, value)))
    note = f"Exact over all networks with up to {len(exact)} vertices; larger ones may attain more."
    columns = ("degree bound d", "declared", "exact", "declaration")
    return Table(caption, columns, tuple(rows), note, numeric=True)


def grid_tables(observed: object, declared: object = None) -> list[Table]:
    """Return exact values over vertices n and degree bounds d, one table for each property."""
    if not isinstance(observed, Mapping):
        return []
    tables = []
    for name, by_size in observed.items():
        if not isinstance(by_size, Mapping):
            continue
        grid = {str(n): _numbers(values) for n, values in by_size.items()}
        width = max((len(row) for row in grid.values() if row), default=0)
        if not width or not all(grid.values()) or width > 64:
            continue
        rows = tuple(
            (n, *map(number, row or []), *[""] * (width - len(row or [])))
            for n, row in list(grid.items())[:MOST_ROWS]
        )
        bounds = _numbers(declared.get(name)) if isinstance(declared, Mapping) else None
        if bounds:
            found = [*map(number, bounds[:width]), *[""] * (width - len(bounds))]
            rows = (("declared", *found), *rows)
        columns = ("vertices n", *(f"d = {d}" for d in range(width)))
        titles = {
            "sensitivity": "Exact targeted sensitivity Δ",
            "impact_cardinality": "Exact impact cardinality IC",
        }
        caption = titles.get(str(name), clip(str(name)))
        tables.append(Table(caption, columns, rows, numeric=True))
    return tables


def table_of(value: object, caption: str) -> Table | None:
    """Return a table of recorded data: the fields of an object, or of a list of objects."""
    if isinstance(value, Mapping) and value:
        pairs = tuple((clip(str(key)), cell(item)) for key, item in value.items())
        return _cut(Table(caption, ("what", "value"), pairs))
    if isinstance(value, list | tuple) and value and all(isinstance(i, Mapping) for i in value):
        keys = list(dict.fromkeys(key for item in value for key in item))[:20]
        rows = tuple(tuple(cell(item.get(key, "")) for key in keys) for item in value[:MOST_ROWS])
        return _cut(Table(caption, tuple(clip(str(key)) for key in keys), rows), len(value))
    return None


def cell(value: object) -> str:
    """Return a value as a cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "-"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        parts = [f"{key}: {_inner(item)}" for key, item in list(value.items())[:50]]
        return clip(", ".join(parts), LONGEST_CELL)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return clip(", ".join(_inner(item) for item in value[:100]), LONGEST_CELL)
    return clip(str(value), LONGEST_CELL)


def _inner(value: object) -> str:
    """Return what is nested, without going deeper."""
    return "…" if isinstance(value, Mapping | list | tuple) else cell(value)


def _cut(table: Table, found: int | None = None) -> Table:
    found = len(table.rows) if found is None else found
    if found <= MOST_ROWS:
        return table
    note = f"The first {MOST_ROWS} of {found} rows; the rest is in the file."
    return Table(table.caption, table.columns, table.rows[:MOST_ROWS], note, table.numeric)


def _judged(declared: float | None, exact: float) -> str:
    if declared is None:
        return ""
    if math.isclose(declared, exact, rel_tol=1e-9):
        return "attained"
    return "violated" if exact > declared else "not attained"


def _numbers(value: object) -> list[float] | None:
    """Return a list of numbers; None where it is none. Infinity is a string in JSON."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    found = []
    for item in value:
        if item == "inf":
            found.append(math.inf)
        elif is_number(item):
            found.append(float(item))
        else:
            return None
    return found


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
        deltas = [other.promise.delta for other in result.claims]
        delta = next((value for value in deltas if value > 0), DELTA)
        bounds = _bounds(float(epsilon), rounds, delta)
        return None if bounds is None else _composition(bounds, float(epsilon), rounds, delta)
    return None


@lru_cache(maxsize=256)
def _bounds(epsilon: float, rounds: int, delta: float) -> tuple[CompositionBound, ...] | None:
    try:
        return tuple(composition_table(epsilon, rounds, delta))
    except InputError:  # parameters no theorem speaks of
        return None


def _composition(
    bounds: tuple[CompositionBound, ...], epsilon: float, rounds: int, delta: float
) -> Table:
    rows = tuple(
        (
            bound.form,
            bound.formula,
            nats(bound.epsilon),
            number(bound.delta, 3),
            bound.condition if bound.proved else f"{bound.condition}: not met",
            "yes" if bound.valid else "no: too small for some mechanism",
            bound.source,
        )
        for bound in bounds
    )
    columns = ("form", "budget", "ε", "δ", "condition", "holds", "source")
    caption = f"{rounds} rounds of ε = {number(epsilon)} each, at δ = {number(delta, 3)}"
    return Table(caption, columns, rows)
