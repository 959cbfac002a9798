"""What was measured besides claims: a simulation, how exposed people are; and what is said of it.

A simulation is the value of ``context.simulation`` in the result of ``simulate``: searches with and
without privacy on one network, targets found against oracle calls. Every field is looked at.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from pdpaudit.report import blocks as b
from pdpaudit.report.blocks import clip, count, number, visible
from pdpaudit.report.charts import histogram
from pdpaudit.results.files import Fields

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


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over runs, one of each for each number of oracle calls."""

    mean: Curve
    sd: Curve

    def words(self, i: int, digits: int = 2) -> str:
        """Return mean and deviation at one place."""
        sd = "" if math.isnan(self.sd[i]) else f" ± {number(self.sd[i], digits)}"
        return number(self.mean[i]) + sd


class Multiplier:
    """The risk multiplier e^ε of the components found so far."""

    def __init__(self, fields: Fields, n: int) -> None:
        # What is beyond all floats is written as null.
        beyond = Spread((math.inf,) * n, (math.nan,) * n)
        self.claimed = _spread(fields.inner("claimed"), n) if fields.mapping("claimed") else beyond
        self.true = _spread(fields.inner("true"), n) if fields.mapping("true") else None
        self.how = fields.text("how")


class Run:
    """One run: a step curve, and where it first met a component."""

    def __init__(self, fields: Fields) -> None:
        self.calls = fields.numbers("calls")
        self.found = fields.numbers("found", len(self.calls))
        if not self.calls or not all(map(math.isfinite, (*self.calls, *self.found))):
            raise fields.fail("calls", "a list of counts, as long as found")
        self.discoveries = fields.rows("discoveries", 2)


class Search:
    """One search over all its runs."""

    def __init__(self, fields: Fields) -> None:
        self.name = safe_name(fields.text("name"))
        self.private = fields.body.get("private") is True
        self.runs = fields.count("runs")
        self.epsilon = fields.number("epsilon")
        self.calls = fields.numbers("calls")
        if not isinstance(fields.body.get("private"), bool):
            raise fields.fail("private", "true or false")
        if not self.calls or any(not 0 <= value < 1e15 for value in self.calls):
            raise fields.fail("calls", "a list of counts")
        if any(later <= earlier for earlier, later in pairwise(self.calls)):
            raise fields.fail("calls", "an ascending list")
        n, paid = len(self.calls), fields.mapping("multiplier")
        self.found = _spread(fields, n)
        self.components = _spread(fields.inner("components"), n)
        self.multiplier = Multiplier(fields.inner("multiplier"), n) if paid else None
        self.shown = tuple(map(Run, fields.records("shown")))
        self.discoveries = tuple((x, y) for _, x, y in fields.rows("discoveries", 3))

    def at(self, calls: float) -> int:
        """Return the place of the last grid point that is not beyond these calls; O(log n)."""
        return max(0, bisect_right(self.calls, calls) - 1)

    @property
    def title(self) -> str:
        """Its name, and the claimed loss of a round where it has one."""
        return self.name if self.epsilon is None else f"{self.name}, ε = {self.epsilon:.4g}"


class DrawnSearch:
    """What one search did to the part of the network that is drawn."""

    def __init__(self, fields: Fields, n: int) -> None:
        self.name = safe_name(fields.text("name"))
        self.examined = fields.flags("examined", n)
        self.found = fields.flags("found", n)


class Drawing:
    """A small part of the network; places run from 0 to 1."""

    def __init__(self, fields: Fields) -> None:
        n = len(fields.listed("vertices"))
        self.edges = [(int(a), int(b)) for a, b in fields.rows("edges", 2)]
        if not all(0 <= end < n for edge in self.edges for end in edge):
            raise fields.fail("edges", f"a list of pairs of places below {n}")
        self.positions = fields.rows("positions", 2)
        inside = all(0 <= place <= 1 for point in self.positions for place in point)
        if len(self.positions) != n or not inside:
            raise fields.fail("positions", f"a list of {n} places between 0 and 1")
        self.targeted = fields.flags("targeted", n)
        self.searches = [DrawnSearch(one, n) for one in fields.records("searches")]


class Simulation:
    """A whole simulation; ``plain`` is the search without privacy, ``private`` are the others."""

    def __init__(self, fields: Fields) -> None:
        network = fields.inner("network")
        self.source = safe_name(network.text("source"))
        self.vertices = network.count("vertices")
        self.edges = network.count("edges")
        self.targets = network.count("targets")
        sizes = network.numbers("components")
        if not all(math.isfinite(size) and size >= 0 for size in sizes):
            raise network.fail("components", "a list of sizes")
        self.components = [int(size) for size in sizes]
        self.seed_component = network.count("seed_component")
        self.min_weight = network.number("min_weight")
        self.population = fields.mapping("population")
        self.regime = safe_name(fields.text("regime") if fields.body.get("regime") else "")
        self.budget = fields.count("budget")
        self.runs = fields.count("runs")
        searches = [Search(one) for one in fields.records("searches")]
        if not searches:
            raise fields.fail("searches", "a list of at least one search")
        self.plain = next((one for one in searches if not one.private), None)
        self.private = [one for one in searches if one.private]
        # Every name that a sentence about it may hold.
        names = (self.source, self.regime, *(one.name for one in searches))
        self.names = tuple(dict.fromkeys(filter(None, names)))
        drawn = fields.mapping("drawing")
        self.drawing = Drawing(fields.inner("drawing")) if drawn else None


def simulation_of(body: Mapping[str, object], file: str, place: str = "") -> Simulation:
    """Return what the JSON of a simulation says."""
    return Simulation(Fields(body, file, place))


def safe_name(text: str) -> str:
    r"""Return a name on one line, of at most 60 characters, with nothing invisible in it."""
    line = " ".join(visible(text).split())
    return line if len(line) <= b.LONGEST_NAME else clip(line, b.LONGEST_NAME - len(clip(line, 0)))


def _spread(fields: Fields, length: int) -> Spread:
    return Spread(fields.numbers("mean", length), fields.numbers("sd", length))


def simulation_in(context: Mapping[str, object], file: str) -> Simulation | None:
    """Return the simulation of a result; None where it holds none."""
    body = context.get("simulation")
    if not isinstance(body, Mapping):
        return None
    return simulation_of(body, file, "context.simulation.")


def simulation_blocks(found: Simulation, anchor: str) -> list[b.Block]:
    """Return what a report says of a simulation below its lead; one search is a section."""
    from pdpaudit.report.figures import plots_of

    curves, compared, drawn = plots_of(found)
    blocks: list[b.Block] = [_facts(found), *search_sections(found, anchor, curves)]
    if len(found.private) > MOST_SEARCHES:
        more = len(found.private) - MOST_SEARCHES
        blocks.append(b.Paragraph(f"{more} more private searches are in the file."))
    beside: list[b.Block] = [compared.pictures(f"{anchor}-compared")] if compared else []
    if drawn and found.drawing:
        did = "; ".join(
            f"{one.name}: {what_it_did(found.drawing, one)}" for one in found.drawing.searches
        )
        beside.append(drawn.pictures(f"{anchor}-drawing", f"{did}.", found.names))
    if beside:
        blocks.append(b.Section("The searches side by side", tuple(beside), f"{anchor}-beside"))
    return blocks


def search_sections(
    found: Simulation, anchor: str = "", plots: Sequence[Plot] = ()
) -> list[b.Section]:
    """Return a section for each private search against the one without privacy."""
    sections = []
    for i, one in enumerate(found.private[:MOST_SEARCHES] or [None], start=1):
        place = f"{anchor}-search-{i}"
        blocks: list[b.Block] = [b.Paragraph(_words(found.plain, one), found.names)]
        blocks += [plots[i - 1].pictures(place)] if plots else []
        if one and one.multiplier and one.multiplier.how:
            words = f"How the true multiplier is known: {one.multiplier.how[:500]}."
            blocks.append(b.Paragraph(words, kind="note"))
        blocks.append(_numbers(found.plain, one, found.names))
        title = one.title if one else "Without privacy"
        sections.append(b.Section(title, tuple(blocks), place, found.names))
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


def _facts(found: Simulation) -> b.Table:
    sizes = ", ".join(map(count, found.components[:MOST_SIZES])) or "-"
    if len(found.components) > MOST_SIZES:
        sizes += f" and {count(len(found.components) - MOST_SIZES)} more"
    dropped = "" if found.min_weight is None else f"weight below {number(found.min_weight)}"
    rows = [
        ("targeted people planted by", b.cell(dict(found.population)) if found.population else ""),
        ("regime", found.regime),
        ("sizes of their components", sizes),
        ("component the search starts in", count(found.seed_component)),
        ("edges dropped", dropped),
        ("runs of each private search", count(found.runs)),
    ]
    kept = tuple(row for row in rows if row[1])
    caption, columns = "Network, population and runs", ("what", "value")
    return b.Table(caption, columns, kept, names=found.names, kind="facts")


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


def _numbers(plain: Search | None, private: Search | None, names: tuple[str, ...]) -> b.Table:
    """Return the curves as numbers at some budgets."""
    one = private or plain
    assert one is not None
    places = list(dict.fromkeys(one.at(share * one.calls[-1]) for share in STOPS))
    columns = {"calls": [count(int(one.calls[i])) for i in places]}
    base = [plain.found.mean[plain.at(one.calls[i])] if plain else math.nan for i in places]
    if plain:
        columns["without privacy"] = list(map(number, base))
    if private:
        columns["with privacy"] = [private.found.words(i) for i in places]
    if private and plain:
        pairs = zip((private.found.mean[i] for i in places), base, strict=True)
        columns["share"] = [
            f"{mean / of:.0%}" if of > 0 and math.isfinite(mean) else "-" for mean, of in pairs
        ]
    if private:
        spreads = {"components": private.components}
        if private.multiplier:
            spreads["claimed e^ε"] = private.multiplier.claimed
        if private.multiplier and private.multiplier.true:
            spreads["true e^ε"] = private.multiplier.true
        columns |= {name: [one.words(i) for i in places] for name, one in spreads.items()}
    rows = tuple(zip(*columns.values(), strict=True))
    caption = f"Targets found by {one.title}, mean ± one standard deviation"
    return b.Table(caption, tuple(columns), rows, numeric=True, names=names)


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


# How exposed people are


#: People in the table of the most exposed.
MOST_PEOPLE = 50

KINDS = {"isolated": "by being isolated", "rewired": "by the worst rewiring tried"}

NOTE = (
    "Isolated and rewired: exact loss of the next round in nats, without the person's contacts "
    "and with the worst others tried. Factor: what the greater of the two makes of likelihood."
)


class _Person:
    """Somebody, and what this person loses by each kind of rewiring."""

    def __init__(self, fields: Fields) -> None:
        isolated = fields.number("isolated")
        if isolated is None:
            raise fields.fail("isolated", "a loss")
        self.name = safe_name(fields.text("name"))
        rewired = fields.number("rewired")
        self.most = max(isolated, rewired or 0.0)
        self.through = clip(fields.text("through"), 200)
        self.row = {
            "person": self.name,
            "contacts": count(fields.count("degree")),
            "isolated": _loss(isolated),
            "rewired": _loss(rewired),
            "factor": b.times(self.most),
            "how": clip(fields.text("how"), 200),
            "through": self.through,
        }


def exposure_section(
    context: Mapping[str, object], file: str, anchor: str, audited: float | None = None
) -> b.Section | None:
    """Return what a report says of exposure; None where it was not measured.

    ``audited`` is the largest exact loss that the audit of the claims found.
    """
    body = context.get("exposure")
    if not isinstance(body, Mapping):
        return None
    fields = Fields(body, file, "context.exposure.")
    people = [_Person(one) for one in fields.records("most_exposed")[:MOST_PEOPLE]]
    everyone = fields.count("people")
    spreads = {words: fields.inner(kind) for kind, words in KINDS.items() if fields.mapping(kind)}
    names = tuple(dict.fromkeys(one.name for one in people if one.name))
    said = _exposed_words(everyone, people), *_notes(everyone, people, spreads, audited)
    blocks: list[b.Block] = [b.Paragraph(words, names) for words in said]
    pictures = _histograms(spreads, anchor)
    blocks += [b.Pictures(pictures, "wide")] if pictures else []
    if spreads:
        caption = "How exposure is distributed, in nats"
        rows = [_spread_row(one, words) for words, one in spreads.items()]
        table = b.records_table(rows, caption)
        blocks.append(replace(table, numeric=True, kind="spread"))
    if people:
        caption = f"The {count(len(people))} most exposed of {count(everyone)}"
        table = b.records_table([one.row for one in people], caption)
        blocks.append(replace(table, note=NOTE, names=names, kind="people"))
    return b.Section("How exposed each person is", tuple(blocks), f"{anchor}-exposure")


def _spread_row(fields: Fields, words: str) -> dict[str, str]:
    """Return a row of the table of distributions."""
    quantiles = fields.inner("quantiles")
    shares = {}
    for key in quantiles.body:
        try:
            shares[float(key)] = _loss(quantiles.number(key))
        except ValueError:
            raise quantiles.fail(key, "named by a share of the people") from None
    return {
        "loss": words,
        "people": count(fields.count("measured")),
        "lose nothing": count(fields.count("unaffected")),
        "mean": _loss(fields.number("mean")),
        **{
            "the most" if share >= 1 else f"{share:.0%} at most": shares[share]
            for share in sorted(shares)
        },
    }


def _loss(value: float | None) -> str:
    return number(value) if value is None or math.isinf(value) else f"{value:.4f}"


def _exposed_words(everyone: int, people: Sequence[_Person]) -> str:
    if not people:
        return "Nobody's exposure was measured."
    worst = max(people, key=lambda one: one.most)
    if worst.most <= 1e-9:
        return f"No rewiring tried of any of the {count(everyone)} protected people loses anything."
    through = f", through: {worst.through}" if worst.through else ""
    return (
        f"No rewiring tried of any of the {count(everyone)} protected people costs more than "
        f"{_loss(worst.most)}, which makes an outcome of the next round {b.times(worst.most)} "
        f"likelier or less likely. {worst.name} loses most{through}."
    )


def _notes(
    everyone: int, people: Sequence[_Person], spreads: Mapping[str, Fields], audited: float | None
) -> list[str]:
    notes = [
        f"Lose nothing {words}: {count(one.count('unaffected'))} of {count(one.count('measured'))}."
        for words, one in spreads.items()
    ]
    rewired = spreads.get(KINDS["rewired"])
    if rewired is None:
        notes.append("Nobody was rewired otherwise than by taking all their contacts away.")
    elif rewired.count("measured") < everyone:
        notes.append(
            f"Only the {count(rewired.count('measured'))} most exposed by being isolated were "
            "rewired at their worst: somebody else may lose more by other contacts."
        )
    if audited is not None and audited > max((one.most for one in people), default=0.0) + 1e-9:
        notes.append(
            f"The audit of the claims found a pair of networks that costs more, {_loss(audited)}: "
            "it tries more rewirings than are tried for each person here, and all rounds."
        )
    return notes


def _histograms(spreads: Mapping[str, Fields], anchor: str) -> tuple[b.Picture, ...]:
    """Draw how many people lose how much; all share their axes."""
    drawn = {}
    for words, fields in spreads.items():
        found = fields.inner("histogram")
        edges = found.numbers("edges")
        counts = found.numbers("counts", max(0, len(edges) - 1))
        if all(map(math.isfinite, (*edges, *counts))) and any(counts) and min(counts) >= 0:
            drawn[words] = edges, counts
    ends = tuple(max((max(one[i]) for one in drawn.values()), default=1.0) for i in (0, 1))
    pictures = []
    for i, (words, (edges, counts)) in enumerate(drawn.items(), start=1):
        said = f"Histogram of the loss {words}; the most exposed lose {_loss(edges[-1])}"
        draw = partial(histogram, edges, counts, (ends[0], 2 * ends[1]), words=said)
        pictures.append(b.Picture(f"{anchor}-loss-{i}", draw, note=f"Loss {words}"))
    return tuple(pictures)
