"""What a report says of how exposed the people of a network are, from ``context.exposure``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from pdpaudit.report.blocks import Block, Paragraph, Picture, Pictures, Section, Table
from pdpaudit.report.charts import histogram
from pdpaudit.report.plaintext import clip, count, number, times
from pdpaudit.report.simulation import safe_name
from pdpaudit.results.fields import Fields

#: People in the table of the most exposed.
MOST_PEOPLE = 50

KINDS = (("isolated", "by being isolated"), ("rewired", "by the worst rewiring tried"))


@dataclass(frozen=True)
class _Spread:
    """A distribution of losses."""

    words: str
    measured: int
    unaffected: int
    mean: float | None
    quantiles: tuple[tuple[float, float], ...]
    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class _Person:
    name: str
    degree: int
    isolated: float
    rewired: float | None
    how: str
    through: str

    @property
    def most(self) -> float:
        return max(self.isolated, self.rewired or 0.0)


def exposure_section(
    context: Mapping[str, object], file: str, anchor: str, audited: float | None = None
) -> Section | None:
    """Return what a report says of exposure; None where it was not measured.

    ``audited`` is the largest exact loss that the audit of the claims found.
    """
    body = context.get("exposure")
    if not isinstance(body, Mapping):
        return None
    fields = Fields(body, file, "context.exposure.")
    people = [_person(one) for one in fields.records("most_exposed")[:MOST_PEOPLE]]
    everyone = fields.count("people")
    spreads = [_spread(fields.inner(kind), words) for kind, words in KINDS if fields.mapping(kind)]
    names = tuple(dict.fromkeys(one.name for one in people if one.name))
    notes = _notes(everyone, people, spreads, audited)
    pictures = _histograms(spreads, anchor)
    blocks: list[Block] = [Paragraph(_words(everyone, people), names), *map(Paragraph, notes)]
    blocks += [Pictures(pictures, "wide")] if pictures else []
    blocks += [_spread_table(spreads)] if spreads else []
    blocks += [_people_table(everyone, people, names)] if people else []
    return Section("How exposed each person is", tuple(blocks), f"{anchor}-exposure")


def _person(fields: Fields) -> _Person:
    isolated = fields.number("isolated")
    if isolated is None:
        raise fields.fail("isolated", "a loss")
    return _Person(
        name=safe_name(fields.text("name")),
        degree=fields.count("degree"),
        isolated=isolated,
        rewired=fields.number("rewired"),
        how=clip(fields.text("how"), 200),
        through=clip(fields.text("through"), 200),
    )


def _spread(fields: Fields, words: str) -> _Spread:
    quantiles = fields.inner("quantiles")
    shares = []
    for key in quantiles.body:
        value = quantiles.number(key)
        try:
            share = float(key)
        except ValueError:
            raise quantiles.fail(key, "named by a share of the people") from None
        if value is not None:
            shares.append((share, value))
    histogram = fields.inner("histogram")
    edges = histogram.numbers("edges")
    counts = histogram.numbers("counts", max(0, len(edges) - 1))
    drawable = all(map(math.isfinite, (*edges, *counts))) and min(counts, default=0) >= 0
    return _Spread(
        words,
        fields.count("measured"),
        fields.count("unaffected"),
        fields.number("mean"),
        tuple(sorted(shares)),
        edges if drawable else (),
        tuple(int(value) for value in counts) if drawable else (),
    )


def _loss(value: float | None) -> str:
    if value is None:
        return "-"
    return number(value) if math.isinf(value) else f"{value:.4f}"


def _words(everyone: int, people: list[_Person]) -> str:
    if not people:
        return "Nobody's exposure was measured."
    worst = max(people, key=lambda one: one.most)
    if worst.most <= 1e-9:
        return f"No rewiring tried of any of the {count(everyone)} protected people loses anything."
    through = f", through: {worst.through}" if worst.through else ""
    return (
        f"No rewiring tried of any of the {count(everyone)} protected people costs more than "
        f"{_loss(worst.most)}, which makes an outcome of the next round {times(worst.most)} "
        f"likelier or less likely. {worst.name} loses most{through}."
    )


def _nothing(spread: _Spread) -> str:
    """Say how many lose nothing."""
    if spread.unaffected == 0:
        return "everybody loses something"
    if spread.unaffected == spread.measured:
        return f"all {count(spread.measured)} lose nothing"
    verb = "loses" if spread.unaffected == 1 else "lose"
    return f"{count(spread.unaffected)} of {count(spread.measured)} {verb} nothing"


def _notes(
    everyone: int, people: list[_Person], spreads: list[_Spread], audited: float | None
) -> list[str]:
    notes = [f"{one.words[0].upper()}{one.words[1:]}, {_nothing(one)}." for one in spreads]
    looked = [one.measured for one in spreads if one.words == KINDS[1][1]]
    if not looked:
        notes.append("Nobody was rewired otherwise than by taking all their contacts away.")
    elif looked[0] < everyone:
        notes.append(
            f"Only the {count(looked[0])} most exposed by being isolated were rewired at their "
            "worst: somebody else may lose more by other contacts."
        )
    if audited is not None and audited > max((one.most for one in people), default=0.0) + 1e-9:
        notes.append(
            f"The audit of the claims found a pair of networks that costs more, {_loss(audited)}: "
            "it tries more rewirings than are tried for each person here, and all rounds."
        )
    return notes


def _people_table(everyone: int, people: list[_Person], names: tuple[str, ...]) -> Table:
    rows = tuple(
        (
            one.name,
            count(one.degree),
            _loss(one.isolated),
            _loss(one.rewired),
            times(one.most),
            one.how,
            one.through,
        )
        for one in people
    )
    columns = ("person", "contacts", "isolated", "rewired", "factor", "how", "through")
    return Table(
        f"The {count(len(people))} most exposed of {count(everyone)}",
        columns,
        rows,
        "Isolated and rewired: exact loss of the next round in nats, without the person's contacts "
        "and with the worst others tried. Factor: what the greater of the two makes of likelihood.",
        names=names,
        kind="people",
    )


def _spread_table(spreads: list[_Spread]) -> Table:
    shares = sorted({share for one in spreads for share, _ in one.quantiles})
    rows = []
    for one in spreads:
        known = dict(one.quantiles)
        cells = [_loss(known.get(share)) for share in shares]
        head = (one.words, count(one.measured), count(one.unaffected), _loss(one.mean))
        rows.append((*head, *cells))
    named = tuple("the most" if share >= 1 else f"{share:.0%} at most" for share in shares)
    columns = ("loss", "people", "lose nothing", "mean", *named)
    caption = "How exposure is distributed, in nats"
    return Table(caption, columns, tuple(rows), numeric=True, kind="spread")


def _histograms(spreads: list[_Spread], anchor: str) -> tuple[Picture, ...]:
    """Draw how many people lose how much; all share their axes."""
    drawn = [one for one in spreads if any(one.counts)]
    end = max((one.edges[-1] for one in drawn), default=1.0)
    most = max((max(one.counts) for one in drawn), default=1)
    return tuple(
        Picture(
            f"{anchor}-loss-{i}",
            partial(
                histogram, one.edges, one.counts, (end, 2 * most),
                words=f"Histogram of the loss {one.words}: {count(one.unaffected)} of "
                f"{count(one.measured)} people lose nothing, the most exposed "
                f"{_loss(one.edges[-1])}",
            ),
            note=f"Loss {one.words}",
        )
        for i, one in enumerate(drawn, start=1)
    )  # fmt: skip
