"""What a report says of how exposed the people of a network are, from ``context.exposure``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from pdpaudit.report.blocks import Block, Paragraph, Picture, Pictures, Section, records_table
from pdpaudit.report.charts import histogram
from pdpaudit.report.plaintext import clip, count, number, times
from pdpaudit.report.simulation import safe_name
from pdpaudit.results.fields import Fields

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
            "factor": times(self.most),
            "how": clip(fields.text("how"), 200),
            "through": self.through,
        }


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
    people = [_Person(one) for one in fields.records("most_exposed")[:MOST_PEOPLE]]
    everyone = fields.count("people")
    spreads = {words: fields.inner(kind) for kind, words in KINDS.items() if fields.mapping(kind)}
    names = tuple(dict.fromkeys(one.name for one in people if one.name))
    said = _words(everyone, people), *_notes(everyone, people, spreads, audited)
    blocks: list[Block] = [Paragraph(words, names) for words in said]
    pictures = _histograms(spreads, anchor)
    blocks += [Pictures(pictures, "wide")] if pictures else []
    if spreads:
        caption = "How exposure is distributed, in nats"
        table = records_table([_spread(one, words) for words, one in spreads.items()], caption)
        blocks.append(replace(table, numeric=True, kind="spread"))
    if people:
        caption = f"The {count(len(people))} most exposed of {count(everyone)}"
        table = records_table([one.row for one in people], caption)
        blocks.append(replace(table, note=NOTE, names=names, kind="people"))
    return Section("How exposed each person is", tuple(blocks), f"{anchor}-exposure")


def _spread(fields: Fields, words: str) -> dict[str, str]:
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


def _words(everyone: int, people: Sequence[_Person]) -> str:
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


def _histograms(spreads: Mapping[str, Fields], anchor: str) -> tuple[Picture, ...]:
    """Draw how many people lose how much; all share their axes."""
    drawn = {}
    for words, fields in spreads.items():
        found = fields.inner("histogram")
        edges = found.numbers("edges")
        counts = found.numbers("counts", max(0, len(edges) - 1))
        if all(map(math.isfinite, (*edges, *counts))) and any(counts) and min(counts) >= 0:
            drawn[words] = edges, counts
    ends = tuple(max((max(one[i]) for one in drawn.values()), default=1.0) for i in (0, 1))
    return tuple(
        Picture(
            f"{anchor}-loss-{i}",
            partial(
                histogram, edges, counts, (ends[0], 2 * ends[1]),
                words=f"Histogram of the loss {words}; the most exposed lose {_loss(edges[-1])}",
            ),
            note=f"Loss {words}",
        )
        for i, (words, (edges, counts)) in enumerate(drawn.items(), start=1)
    )  # fmt: skip
