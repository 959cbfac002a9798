"""A simulation in a report: what was measured, with every field looked at, and what is said of it.

A simulation is the value of ``context.simulation`` in the result of ``simulate``: searches with and
without privacy on one network, targets found against oracle calls.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from pdpaudit.report.blocks import Block, Paragraph, Section, Table, cell
from pdpaudit.report.plaintext import LONGEST_NAME, clip, count, number, visible
from pdpaudit.results.fields import Fields

if TYPE_CHECKING:
    from pdpaudit.report.figures import Plot

#: Ties beyond these would be one grey heap.
MOST_TIES = 2500

#: Private searches with curves of their own.
MOST_SEARCHES = 12

#: Shares of the budget that the table of numbers stops at.
STOPS = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)

#: Sizes of components that are written out.
MOST_SIZES = 8

Curve = tuple[float, ...]
Point = tuple[float, float]


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over runs, one of each for each number of oracle calls."""

    mean: Curve
    sd: Curve

    def words(self, i: int, digits: int = 2) -> str:
        """Return mean and deviation at one place."""
        sd = "" if math.isnan(self.sd[i]) else f" ± {number(self.sd[i], digits)}"
        return number(self.mean[i]) + sd


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
        """Return the place of the last grid point that is not beyond these calls; O(log n)."""
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
    population: Mapping[str, object]
    regime: str
    budget: int
    runs: int
    searches: tuple[Search, ...]
    drawing: Drawing | None

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that a sentence about it may hold."""
        names = (self.source, self.regime, *(one.name for one in self.searches))
        return tuple(dict.fromkeys(name for name in names if name))

    @property
    def plain(self) -> Search | None:
        """The search without privacy; None where there is none."""
        return next((one for one in self.searches if not one.private), None)

    @property
    def private(self) -> tuple[Search, ...]:
        """The searches with privacy."""
        return tuple(one for one in self.searches if one.private)


def simulation_of(body: Mapping[str, object], file: str, place: str = "") -> Simulation:
    """Return what the JSON of a simulation says."""
    fields = Fields(body, file, place)
    network = fields.inner("network")
    searches = tuple(map(_search, fields.records("searches")))
    if not searches:
        raise fields.fail("searches", "a list of at least one search")
    sizes = network.numbers("components")
    if not all(math.isfinite(size) and size >= 0 for size in sizes):
        raise network.fail("components", "a list of sizes")
    return Simulation(
        source=safe_name(network.text("source")),
        vertices=network.count("vertices"),
        edges=network.count("edges"),
        targets=network.count("targets"),
        components=tuple(int(size) for size in sizes),
        seed_component=network.count("seed_component"),
        min_weight=network.number("min_weight"),
        population=fields.mapping("population"),
        regime=safe_name(fields.text("regime") if body.get("regime") else ""),
        budget=fields.count("budget"),
        runs=fields.count("runs"),
        searches=searches,
        drawing=_drawing(fields.inner("drawing")) if fields.mapping("drawing") else None,
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
    n, paid = len(calls), None
    if fields.mapping("multiplier"):
        found = fields.inner("multiplier")
        claimed, true = (
            _spread(found.inner(key), n) if found.mapping(key) else None
            for key in ("claimed", "true")
        )
        # What is beyond all floats is written as null.
        beyond = Spread((math.inf,) * n, (math.nan,) * n)
        paid = Multiplier(claimed or beyond, true, found.text("how"))
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


def simulation_in(context: Mapping[str, object], file: str) -> Simulation | None:
    """Return the simulation of a result; None where it holds none."""
    body = context.get("simulation")
    if not isinstance(body, Mapping):
        return None
    return simulation_of(body, file, "context.simulation.")


def simulation_blocks(found: Simulation, anchor: str) -> list[Block]:
    """Return what a report says of a simulation below its lead; one search is a section."""
    from pdpaudit.report.figures import plots_of

    curves, compared, drawn = plots_of(found)
    blocks: list[Block] = [_facts(found), *search_sections(found, anchor, curves)]
    if len(found.private) > MOST_SEARCHES:
        more = len(found.private) - MOST_SEARCHES
        blocks.append(Paragraph(f"{more} more private searches are in the file."))
    beside: list[Block] = [compared.pictures(f"{anchor}-compared")] if compared else []
    if drawn and found.drawing:
        did = "; ".join(
            f"{one.name}: {what_it_did(found.drawing, one)}" for one in found.drawing.searches
        )
        beside.append(drawn.pictures(f"{anchor}-drawing", f"{did}.", found.names))
    if beside:
        blocks.append(Section("The searches side by side", tuple(beside), f"{anchor}-beside"))
    return blocks


def search_sections(
    found: Simulation, anchor: str = "", plots: Sequence[Plot] = ()
) -> list[Section]:
    """Return a section for each private search against the one without privacy."""
    sections = []
    for i, one in enumerate(found.private[:MOST_SEARCHES] or (None,), start=1):
        place = f"{anchor}-search-{i}"
        blocks: list[Block] = [Paragraph(_words(found.plain, one), found.names)]
        blocks += [plots[i - 1].pictures(place)] if plots else []
        if one and one.multiplier and one.multiplier.how:
            words = f"How the true multiplier is known: {one.multiplier.how[:500]}."
            blocks.append(Paragraph(words, kind="note"))
        blocks.append(_numbers(found.plain, one, found.names))
        title = one.title if one else "Without privacy"
        sections.append(Section(title, tuple(blocks), place, found.names))
    return sections


def lead_words(found: Simulation) -> str:
    """Say what was searched, and with what budget."""
    sizes = found.components
    largest = f", the largest of {count(sizes[0])}" if len(sizes) > 1 else ""
    parts = f" ({count(len(sizes))} component{'s' * (len(sizes) != 1)}{largest})" if sizes else ""
    return (
        f"Network: {found.source or 'not named'}, {count(found.vertices)} vertices and "
        f"{count(found.edges)} edges, {count(found.targets)} targeted people{parts}. Budget: "
        f"{count(found.budget)} oracle calls in each run."
    )


def _facts(found: Simulation) -> Table:
    sizes = ", ".join(map(count, found.components[:MOST_SIZES])) or "-"
    if len(found.components) > MOST_SIZES:
        sizes += f" and {count(len(found.components) - MOST_SIZES)} more"
    dropped = "" if found.min_weight is None else f"weight below {number(found.min_weight)}"
    rows = [
        ("targeted people planted by", cell(dict(found.population)) if found.population else ""),
        ("regime", found.regime),
        ("sizes of their components", sizes),
        ("component the search starts in", count(found.seed_component)),
        ("edges dropped", dropped),
        ("runs of each private search", count(found.runs)),
    ]
    kept = tuple(row for row in rows if row[1])
    caption, columns = "Network, population and runs", ("what", "value")
    return Table(caption, columns, kept, names=found.names, kind="facts")


def _words(plain: Search | None, private: Search | None) -> str:
    """Say what is found with the whole budget, and what that costs."""
    said = []
    if plain is not None:
        said.append(
            f"Without privacy, {plain.name} finds {number(plain.found.mean[-1])} targeted people "
            f"with {count(int(plain.calls[-1]))} oracle calls."
        )
    if private is None:
        return " ".join(said)
    mean, calls = private.found.mean[-1], private.calls[-1]
    words = f"{private.name} finds {private.found.words(-1, 3)} over {count(private.runs)} runs"
    base = plain.found.mean[plain.at(calls)] if plain else math.nan
    if plain is None:
        words += f" with {count(int(calls))} oracle calls"
    elif math.isfinite(mean) and base > 0:
        words += f", {abs(1 - mean / base):.0%} {'fewer' if mean < base else 'more'}"
    said.append(f"{words}.")
    paid = private.multiplier
    if paid is not None:
        claimed = paid.claimed.mean[-1]
        is_true = "not known"
        if paid.true is not None:
            true = paid.true.mean[-1]
            understated = ", so the claim understates the risk" if true > claimed * 1.000001 else ""
            is_true = f"{number(true)}{understated}"
        said.append(
            f"The claim allows a risk multiplier e^ε of {number(claimed)}; the true one is "
            f"{is_true}."
        )
    return " ".join(said)


def _numbers(plain: Search | None, private: Search | None, names: tuple[str, ...]) -> Table:
    """Return the curves as numbers at some budgets."""
    one = private or plain
    assert one is not None
    places = list(dict.fromkeys(one.at(share * one.calls[-1]) for share in STOPS))
    columns = {"calls": [count(int(one.calls[i])) for i in places]}
    base = [plain.found.mean[plain.at(one.calls[i])] if plain else math.nan for i in places]
    if plain:
        columns["without privacy"] = list(map(number, base))
    if private:
        paid = private.multiplier
        spreads = {
            "with privacy": private.found,
            "share": None,
            "components": private.components,
            "claimed e^ε": paid.claimed if paid else None,
            "true e^ε": paid.true if paid else None,
        }
        for name, spread in spreads.items():
            if spread:
                columns[name] = [spread.words(i) for i in places]
            elif name == "share" and plain:
                means = (private.found.mean[i] for i in places)
                columns[name] = [
                    f"{mean / of:.0%}" if of > 0 and math.isfinite(mean) else "-"
                    for mean, of in zip(means, base, strict=True)
                ]
    rows = tuple(zip(*columns.values(), strict=True))
    caption = f"Targets found by {one.title}, mean ± one standard deviation"
    return Table(caption, tuple(columns), rows, numeric=True, names=names)


def drawn_ties(drawing: Drawing) -> list[tuple[int, int]]:
    """Return the ties worth drawing: all of few; of many, those between targets and some others."""
    if len(drawing.edges) <= MOST_TIES:
        return list(drawing.edges)
    between = [edge for edge in drawing.edges if all(drawing.targeted[end] for end in edge)]
    others = [edge for edge in drawing.edges if not all(drawing.targeted[end] for end in edge)]
    return between + others[:: -(-len(others) // MOST_TIES)]


def ties_left_out(drawing: Drawing) -> str:
    """Say which ties are not drawn; nothing where all are."""
    drawn = len(drawn_ties(drawing))
    if drawn == len(drawing.edges):
        return ""
    return (
        f"Of {len(drawing.edges):,} ties {drawn:,} are drawn: all between targeted people, of the "
        "others evenly many."
    )


def what_it_did(drawing: Drawing, search: DrawnSearch) -> str:
    """Say how many protected people a search examined, and how many targets it found."""
    met = zip(search.examined, search.found, drawing.targeted, strict=True)
    examined = sum((seen or found) and not targeted for seen, found, targeted in met)
    people, found = "person" if examined == 1 else "people", sum(search.found)
    return f"{examined} protected {people} examined, {found} target{'s' * (found != 1)} found"
