"""What a report says of a simulation: what was searched, what privacy costs, and what it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pdpaudit.report.figures import count, number
from pdpaudit.report.pictures.curves import (
    MOST_COMPARED,
    CurveChart,
    comparison,
    means,
    multiplier,
    runs,
)
from pdpaudit.report.pictures.searched import SearchedPicture, draw_searched, ties_left_out
from pdpaudit.report.simulated import KEY, Search, Simulation, simulation_of
from pdpaudit.report.tables import Table, cell

__all__ = ["SearchPart", "SimulationPart", "simulation_part"]

#: Private searches with curves of their own.
MOST_SEARCHES = 12

#: Shares of the budget that the table of numbers stops at.
STOPS = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)

#: Sizes of components that are written out.
MOST_SIZES = 12


@dataclass(frozen=True)
class SearchPart:
    """One private search against the one without privacy."""

    title: str
    words: str
    how: str
    charts: tuple[CurveChart, ...]
    numbers: Table


@dataclass(frozen=True)
class SimulationPart:
    """A simulation in a report."""

    lead: str
    facts: Table
    searches: tuple[SearchPart, ...]
    untold: int
    comparison: CurveChart | None
    uncompared: int
    drawings: tuple[SearchedPicture, ...]
    undrawn: str
    names: tuple[str, ...]


def simulation_part(context: Mapping[str, Any], file: str) -> SimulationPart | None:
    """Return what a report says of a result's simulation; None where it holds none."""
    body = context.get(KEY)
    if not isinstance(body, Mapping):
        return None
    told = simulation_of(body, file, f"context.{KEY}.")
    private = told.private[:MOST_SEARCHES]
    several = len(told.private) > 1
    names = (told.source, told.regime, *(one.name for one in told.searches))
    return SimulationPart(
        lead=_lead(told),
        facts=_facts(told),
        searches=tuple(_search(told.plain, one) for one in private or (None,)),
        untold=len(told.private) - len(private),
        comparison=comparison(told.plain, told.private) if several else None,
        uncompared=max(0, len(told.private) - MOST_COMPARED),
        drawings=draw_searched(told.drawing) if told.drawing else (),
        undrawn=ties_left_out(told.drawing) if told.drawing else "",
        names=tuple(dict.fromkeys(name for name in names if name)),
    )


def _lead(told: Simulation) -> str:
    groups = ""
    if told.components:
        largest = f", the largest of {count(told.components[0])}"
        several = len(told.components) > 1
        groups = f" in {count(len(told.components))} components{largest}" if several else (
            " in one component"
        )  # fmt: skip
    return (
        f"Searched was {told.source or 'a network'}, {count(told.vertices)} vertices and "
        f"{count(told.edges)} edges, for its {count(told.targets)} targeted people{groups}, with "
        f"{count(told.budget)} oracle calls a run."
    )


def _facts(told: Simulation) -> Table:
    sizes = ", ".join(count(size) for size in told.components[:MOST_SIZES])
    if len(told.components) > MOST_SIZES:
        sizes += f" and {count(len(told.components) - MOST_SIZES)} more"
    rows = [
        ("network", told.source or "-"),
        ("vertices, edges", f"{count(told.vertices)}, {count(told.edges)}"),
    ]
    if told.min_weight is not None:
        rows.append(("edges left out", f"those of a weight below {number(told.min_weight)}"))
    if told.population:
        rows.append(("targeted people", f"planted, {cell(dict(told.population))}"))
    if told.regime:
        rows.append(("regime", told.regime))
    rows += [
        ("targeted", count(told.targets)),
        ("sizes of their components", sizes or "-"),
        ("size of the one to start in", count(told.seed_component)),
        ("budget", f"{count(told.budget)} oracle calls a run"),
        ("runs", f"{count(told.runs)} of each private search"),
    ]
    return Table("Network, population and budget", ("what", "value"), tuple(rows))


def _search(plain: Search | None, private: Search | None) -> SearchPart:
    charts = [runs(plain, private), means(plain, private)]
    paid = multiplier(private) if private else None
    how = private.multiplier.how if private and private.multiplier else ""
    return SearchPart(
        title=private.title if private else "Without privacy",
        words=" ".join(_words(plain, private)),
        how=how[:500],
        charts=(*charts, *([paid] if paid else [])),
        numbers=_numbers(plain, private),
    )


def _words(plain: Search | None, private: Search | None) -> list[str]:
    """Say what is found with the whole budget, and what that costs."""
    told = []
    if plain is not None:
        spent = count(int(plain.calls[-1]))
        told.append(
            f"Without privacy, {plain.name} finds {number(plain.found.mean[-1])} targeted people "
            f"with {spent} oracle calls."
        )
    if private is None:
        return told
    mean, sd = private.found.mean[-1], private.found.sd[-1]
    words = f"{private.name} finds {number(mean)} ± {number(sd, 3)} over {count(private.runs)} runs"
    if plain is None:
        told.append(f"{words} with {count(int(private.calls[-1]))} oracle calls.")
    else:
        at = plain.found.mean[plain.at(private.calls[-1])]
        told.append(f"{words}{_price(mean, at)}.")
    paid = private.multiplier
    if paid is not None:
        claimed = paid.claimed.mean[-1]
        words = f"For that the claim allows a risk multiplier e^ε of {number(claimed)}"
        if paid.true is None:
            told.append(f"{words}; the true one is not known.")
        else:
            true = paid.true.mean[-1]
            told.append(f"{words}; the true one is {number(true)}{_judged(claimed, true)}.")
    return told


def _price(mean: float, plain: float) -> str:
    if not (math.isfinite(mean) and plain > 0):
        return ""
    share = mean / plain
    if abs(share - 1) < 0.005:
        return ", as many: here privacy costs nothing in people found"
    less = "fewer" if share < 1 else "more"
    return f", {abs(1 - share):.0%} {less}"


def _judged(claimed: float, true: float) -> str:
    if true > claimed * (1 + 1e-6):
        return ", so the claim understates the risk"
    if true < claimed * (1 - 1e-6):
        return ", so the claim has room to spare"
    return ", as claimed"


def _numbers(plain: Search | None, private: Search | None) -> Table:
    """Return the curves as numbers at some budgets."""
    one = private or plain
    if one is None:
        return Table("", (), ())
    paid = private.multiplier if private else None
    columns = ["oracle calls"]
    columns += ["without privacy"] if plain else []
    columns += ["with privacy", "± one sd"] if private else []
    columns += ["share"] if plain and private else []
    columns += ["components"] if private else []
    columns += ["multiplier claimed"] if paid else []
    columns += ["multiplier true"] if paid and paid.true else []
    rows = []
    for i in dict.fromkeys(one.at(share * one.calls[-1]) for share in STOPS):
        row = [count(int(one.calls[i]))]
        base = math.nan
        if plain:
            base = plain.found.mean[plain.at(one.calls[i])]
            row.append(_number(base))
        if private:
            mean = private.found.mean[i]
            row += [_number(mean), _number(private.found.sd[i], 3)]
            row += [f"{mean / base:.0%}" if base > 0 and math.isfinite(mean) else "-"] * bool(plain)
            row.append(_spread(private.components.mean[i], private.components.sd[i]))
        if paid:
            row.append(_spread(paid.claimed.mean[i], paid.claimed.sd[i]))
            if paid.true:
                row.append(_spread(paid.true.mean[i], paid.true.sd[i]))
        rows.append(tuple(row))
    caption = f"Targets found by {one.title} at some budgets"
    return Table(caption, tuple(columns), tuple(rows), numeric=True)


def _spread(mean: float, sd: float) -> str:
    return f"{_number(mean)} ± {_number(sd, 2)}"


def _number(value: float, digits: int = 4) -> str:
    return "-" if math.isnan(value) else number(value, digits)
