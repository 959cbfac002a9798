"""What a simulation measured, as its pictures and the report take it in: every field is looked at.

A simulation is the value of ``context.simulation`` in the result of ``simulate``: searches with and
without privacy on one network, targets found against oracle calls.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pdpaudit.report.plaintext import LONGEST_NAME, clip, visible
from pdpaudit.results.fields import Fields

__all__ = [
    "KEY",
    "Drawing",
    "DrawnSearch",
    "Multiplier",
    "Run",
    "Search",
    "Simulation",
    "Spread",
    "safe_name",
    "simulation_of",
]

#: Where a result's context holds it.
KEY = "simulation"

Curve = tuple[float, ...]
Point = tuple[float, float]


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over runs, one of each for each number of oracle calls."""

    mean: Curve
    sd: Curve


@dataclass(frozen=True)
class Multiplier:
    """The risk multiplier e^ε of the components found so far."""

    claimed: Spread
    true: Spread | None
    how: str


@dataclass(frozen=True)
class Run:
    """One run: a step curve, and where it first met a component."""

    calls: Curve
    found: Curve
    discoveries: tuple[Point, ...]


@dataclass(frozen=True)
class Search:
    """One search over all its runs."""

    name: str
    mechanism: str
    private: bool
    runs: int
    epsilon: float | None
    calls: Curve
    found: Spread
    components: Spread
    multiplier: Multiplier | None
    shown: tuple[Run, ...]
    discoveries: tuple[Point, ...]

    def at(self, calls: float) -> int:
        """Return the place of the last grid point that is not beyond so many calls; O(log n)."""
        return max(0, bisect_right(self.calls, calls) - 1)

    @property
    def title(self) -> str:
        """Its name, and the claimed loss of a round where it has one."""
        if self.epsilon is None:
            return self.name
        return f"{self.name}, ε = {self.epsilon:.4g}"


@dataclass(frozen=True)
class DrawnSearch:
    """What one search did to the part of the network that is drawn."""

    name: str
    examined: tuple[bool, ...]
    found: tuple[bool, ...]


@dataclass(frozen=True)
class Drawing:
    """A small part of the network; places run from 0 to 1."""

    names: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    positions: tuple[Point, ...]
    targeted: tuple[bool, ...]
    searches: tuple[DrawnSearch, ...]


@dataclass(frozen=True)
class Simulation:
    """A whole simulation."""

    source: str
    vertices: int
    edges: int
    targets: int
    components: tuple[int, ...]
    seed_component: int
    min_weight: float | None
    population: Mapping[str, Any]
    regime: str
    budget: int
    runs: int
    searches: tuple[Search, ...]
    drawing: Drawing | None

    @property
    def plain(self) -> Search | None:
        """The search without privacy; None where there is none."""
        return next((one for one in self.searches if not one.private), None)

    @property
    def private(self) -> tuple[Search, ...]:
        """The searches with privacy."""
        return tuple(one for one in self.searches if one.private)


def simulation_of(body: Mapping[str, Any], file: str, place: str = "") -> Simulation:
    """Return what the JSON of a simulation says."""
    fields = Fields(body, file, place)
    network = fields.inner("network")
    searches = tuple(map(_search, fields.records("searches")))
    if not searches:
        raise fields.fail("searches", "a list of at least one search")
    sizes = network.numbers("components")
    if not all(math.isfinite(size) and size >= 0 for size in sizes):
        raise network.fail("components", "a list of sizes")
    regime = fields.text("regime") if body.get("regime") is not None else ""
    return Simulation(
        source=safe_name(network.text("source")),
        vertices=network.count("vertices"),
        edges=network.count("edges"),
        targets=network.count("targets"),
        components=tuple(int(size) for size in sizes),
        seed_component=network.count("seed_component"),
        min_weight=network.number("min_weight"),
        population=fields.mapping("population"),
        regime=safe_name(regime),
        budget=fields.count("budget"),
        runs=fields.count("runs"),
        searches=searches,
        drawing=_drawing(fields.inner("drawing")) if body.get("drawing") is not None else None,
    )


def safe_name(text: str) -> str:
    r"""Return a name on one line, of at most 60 characters, with nothing invisible in it."""
    line = " ".join(visible(text).split())
    if len(line) <= LONGEST_NAME:
        return line
    said = len(clip(line, 0))
    return clip(line, LONGEST_NAME - said)


def _search(fields: Fields) -> Search:
    private = fields.body.get("private")
    if not isinstance(private, bool):
        raise fields.fail("private", "true or false")
    calls = fields.numbers("calls")
    if not calls or any(not 0 <= value < 1e15 for value in calls):
        raise fields.fail("calls", "a list of counts")
    if any(later <= earlier for earlier, later in pairwise(calls)):
        raise fields.fail("calls", "an ascending list")
    n = len(calls)
    paid = None
    if fields.body.get("multiplier") is not None:
        told = fields.inner("multiplier")
        true = told.body.get("true") is not None
        paid = Multiplier(
            claimed=_spread(told.inner("claimed"), n),
            true=_spread(told.inner("true"), n) if true else None,
            how=told.text("how"),
        )
    return Search(
        name=safe_name(fields.text("name")),
        mechanism=safe_name(fields.text("mechanism")),
        private=private,
        runs=fields.count("runs"),
        epsilon=fields.number("epsilon"),
        calls=calls,
        found=_spread(fields, n),
        components=_spread(fields.inner("components"), n),
        multiplier=paid,
        shown=tuple(map(_run, fields.records("shown"))),
        discoveries=tuple((x, y) for _, x, y in fields.rows("discoveries", 3)),
    )


def _spread(fields: Fields, length: int) -> Spread:
    return Spread(fields.numbers("mean", length), fields.numbers("sd", length))


def _run(fields: Fields) -> Run:
    calls = fields.numbers("calls")
    found = fields.numbers("found", len(calls))
    if not calls or not all(map(math.isfinite, (*calls, *found))):
        raise fields.fail("calls", "a list of counts, as long as found")
    return Run(calls, found, tuple((x, y) for x, y in fields.rows("discoveries", 2)))


def _drawing(fields: Fields) -> Drawing:
    vertices = fields.listed("vertices")
    n = len(vertices)
    ends = fields.rows("edges", 2)
    edges = tuple((int(a), int(b)) for a, b in ends)
    if not all(0 <= end < n for edge in edges for end in edge):
        raise fields.fail("edges", f"a list of pairs of places below {n}")
    positions = tuple((x, y) for x, y in fields.rows("positions", 2))
    if len(positions) != n or not all(0 <= place <= 1 for point in positions for place in point):
        raise fields.fail("positions", f"a list of {n} places between 0 and 1")
    searches = tuple(
        DrawnSearch(safe_name(one.text("name")), one.flags("examined", n), one.flags("found", n))
        for one in fields.records("searches")
    )
    names = tuple(safe_name(str(vertex)) for vertex in vertices)
    return Drawing(names, edges, positions, fields.flags("targeted", n), searches)
