"""What a published result says of itself before the verdicts, and the paper's dossier.

Under ``context.dossier`` a published result carries a title, how it was made, and sections of text,
tables and points. They are data like the rest of the file: a report shows them as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pdpaudit.report.blocks import Block, Paragraph, Points, Section, Table
from pdpaudit.report.findings import STATUS_WORDS, claim_words, least_true
from pdpaudit.results.fields import Fields
from pdpaudit.results.results import ClaimResult, plain

#: Where a result's context holds it.
KEY = "dossier"

#: Nobody reads more; what is longer is no dossier.
MOST_SECTIONS = 100

#: Significant digits of a published number: further ones may depend on the machine.
DIGITS = 8

#: What differs from one run, one machine or one version of the program to the next.
VOLATILE = ("elapsed_s", "versions", "written", "by", "source", "commit", "digest")


@dataclass(frozen=True)
class Preface:
    """What comes first; sections have their anchors where they are shown."""

    title: str
    text: tuple[Paragraph, ...]
    made: str
    replay: str
    parts: tuple[tuple[str, tuple[Block, ...]], ...]

    def sections(self, anchor: str) -> list[Section]:
        """Return its sections below an anchor."""
        return [
            Section(heading, blocks, f"{anchor}-section-{i}")
            for i, (heading, blocks) in enumerate(self.parts, start=1)
        ]


def section(
    heading: str,
    *,
    text: Sequence[str] = (),
    tables: Sequence[Table] = (),
    points: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a section in the form it has in a file, without what is empty."""
    bodies = [{k: v for k, v in asdict(table).items() if v or k == "rows"} for table in tables]
    body = {"heading": heading, "text": text, "tables": bodies, "points": points}
    return {key: plain(value) for key, value in body.items() if value}


def preface_of(context: Mapping[str, object], file: str) -> Preface | None:
    """Return what a result's context says before all else; None where it says nothing."""
    if KEY not in context:
        return None
    fields = Fields(context, file, "context.").inner(KEY)
    parts = fields.records("sections")
    if len(parts) > MOST_SECTIONS:
        raise fields.fail("sections", f"of at most {MOST_SECTIONS} sections")
    return Preface(
        title=fields.name("title"),
        text=tuple(Paragraph(words, coded=True) for words in fields.texts("text")),
        made=fields.text("made"),
        replay=fields.text("replay"),
        parts=tuple((part.name("heading"), tuple(_blocks(part))) for part in parts),
    )


def _blocks(part: Fields) -> Iterator[Block]:
    """Return the text, the tables and the points of a section."""
    for words in part.texts("text"):
        yield Paragraph(words, coded=True)
    for one in part.records("tables"):
        columns = one.texts("columns")
        if not columns:
            raise one.fail("columns", "a list of at least one text")
        rows = tuple(
            Fields({"rows": row}, one.file, one.place).texts("rows", len(columns))
            for row in one.listed("rows")
        )
        numeric = one.body.get("numeric") is True
        yield Table(one.text("caption"), columns, rows, one.text("note"), numeric)
    points = part.texts("points")
    if points:
        yield Points(points)


def published(body: Mapping[str, object]) -> dict[str, Any]:
    """Return a result without what differs from one run, or one machine, to the next."""
    return {key: _rounded(value) for key, value in body.items() if key not in VOLATILE}


def _rounded(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return value


def verdict_words(body: Mapping[str, Any], entry: Mapping[str, Any]) -> list[str]:
    """Say what was found about one entry of the catalogue, a sentence or more for each finding."""
    words = []
    for claim in body.get("claims", ()):
        if claim["id"] == entry["id"]:
            words.append(claim_words(ClaimResult.from_json(Fields(claim, "result", ""))))
    for check in body.get("checks", ()):
        if check["name"].split()[0] == entry["id"]:
            scope = f" Over {check['scope']}." if check["status"] == "certified" else ""
            words.append(
                f"{check['name']}: {STATUS_WORDS[check['status']]}.{scope} {check['detail']}."
            )
    return words


def dossier(body: Mapping[str, Any], command: str, replay: str) -> dict[str, Any]:
    """Return what a report of published claims says before the verdicts."""
    context = body["context"]
    claims = {
        claim["id"]: ClaimResult.from_json(Fields(claim, "result", ""))
        for claim in body.get("claims", ())
    }
    entries = context["catalogue"]
    rows = tuple(_row(entry, claims.get(entry["id"])) for entry in entries)
    columns = ("", "claim", "claimed ε", "true: at least", "at most", "verdict")
    alone = f"{command.split(' --seed')[0]} --seed {body['seed']} --select {entries[0]['id']}"
    tried = tuple((entry["id"], entry["source"], entry["tried"]) for entry in entries)
    return {
        "title": context["paper"]["title"],
        "text": [f"{context['paper']['text']} Losses are in nats. Every verdict is computed."],
        "made": command,
        "replay": replay,
        "sections": [
            section(
                "The claims",
                text=[
                    "Witnesses and proofs are verified by code that shares nothing with the search "
                    f"and the prover: `{replay}`. One claim alone: `{alone}`."
                ],
                tables=[Table("Claimed and true loss", columns, rows)],
            ),
            section(
                "What was tried",
                tables=[Table("For each claim", ("", "where it is made", "tried"), tried)],
            ),
            *context.get("sections", ()),
            *(_composition(context) if "composition" in context else ()),
        ],
    }


def _row(entry: Mapping[str, Any], claim: ClaimResult | None) -> tuple[str, ...]:
    claimed = least = most = ""
    if claim is not None:
        claimed = f"{claim.promise.value:.4g}"
        if claim.promise.delta:
            claimed += f", δ = {claim.promise.delta:g}"
        exact = claim.exact
        least = "" if exact is None else f"{least_true(exact, claim.event):.4f}"
        bound = claim.event.get("proved_bound")
        most = "" if bound is None else f"{bound['epsilon']:.4f}"
    verdict = STATUS_WORDS[entry["status"]]
    if claim is not None and "proof" in claim.event:
        verdict += ", proved"
    return (entry["id"], entry["statement"], claimed, least, most, verdict)


def _composition(context: Mapping[str, Any]) -> list[dict[str, Any]]:
    bounds = context["composition"][0]["bounds"]
    rows = []
    for row in context["composition"]:
        paper = next(bound for bound in row["bounds"] if bound["form"] == "paper")
        says = "follows" if paper["proved"] else "holds" if paper["valid"] else "false"
        budgets = (f"{bound['epsilon']:.3f}" for bound in row["bounds"])
        point = (f"{row['epsilon']:g}", str(row["rounds"]), f"{row['delta']:g}")
        rows.append((*point, *budgets, says))
    forms = (bound["form"] for bound in bounds)
    budgets_of = Table(
        "Budgets of m rounds of ε",
        ("ε", "m", "δ", *forms, "the paper's form"),
        tuple(rows),
        numeric=True,
    )
    relied = Table(
        "Rounds up to which the paper's form follows, and holds",
        ("ε", "δ", "follows up to m", "holds up to m"),
        tuple(map(_region, context["paper_form"])),
        numeric=True,
    )
    return [
        section(
            "Composition of m = k - 1 rounds",
            text=[
                "What each theorem allows for m rounds of ε, beside the optimal composition "
                "(Kairouz, Oh and Viswanath). A budget below the optimal one is false for some "
                "mechanism."
            ],
            tables=[budgets_of],
            points=[
                f"{bound['form']}: `{bound['formula']}`; condition: {bound['condition']}."
                for bound in bounds
            ],
        ),
        section(
            "Where the paper's form may be relied on",
            text=[
                "It follows from the general form up to the one number of rounds, and holds, being "
                "no less than optimal, up to the other."
            ],
            tables=[relied],
        ),
    ]


def _region(row: Mapping[str, object]) -> tuple[str, ...]:
    ends = (row[key] for key in ("proved_up_to", "holds_up_to"))
    said = ("all tried" if end is None else str(end) for end in ends)
    return (f"{row['epsilon']:g}", f"{row['delta']:g}", *said)
