"""What a published result says of itself before the verdicts, and the paper's dossier.

Under ``context.dossier`` a published result carries a title, how it was made, and sections of text,
tables and points. They are data like the rest of the file: a report shows them as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pdpaudit.core.errors import InputError
from pdpaudit.report.findings import STATUS_WORDS, claim_words, least_true
from pdpaudit.report.tables import Table
from pdpaudit.results.fields import Fields
from pdpaudit.results.results import ClaimResult

#: Where a result's context holds it.
KEY = "dossier"

#: Nobody reads more; what is longer is no dossier.
MOST_SECTIONS = 100

#: Significant digits of a published number: further ones may depend on the machine.
DIGITS = 8

#: What differs from one run, one machine or one version of the program to the next.
VOLATILE = ("elapsed_s", "versions", "written", "source", "commit", "digest")


@dataclass(frozen=True)
class Section:
    """One section."""

    heading: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    points: tuple[str, ...] = ()


@dataclass(frozen=True)
class Preface:
    """What comes first."""

    title: str
    text: tuple[str, ...]
    made: str
    replay: str
    sections: tuple[Section, ...]


def section(
    heading: str,
    *,
    text: Sequence[str] = (),
    tables: Sequence[Table] = (),
    points: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a section in the form it has in a file, without what is empty."""
    body = asdict(Section(heading, tuple(text), tuple(tables), tuple(points)))
    body["tables"] = [
        {k: v for k, v in table.items() if v or k == "rows"} for table in body["tables"]
    ]
    found: dict[str, Any] = _listed({k: v for k, v in body.items() if v})
    return found


def _listed(value: Any) -> Any:
    """Turn tuples into the lists of JSON."""
    if isinstance(value, dict):
        return {key: _listed(item) for key, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value


def preface_of(context: Mapping[str, Any], file: str) -> Preface | None:
    """Return what a result's context says before all else; None where it says nothing."""
    if KEY not in context:
        return None
    try:
        body = _mapping(context[KEY])
        parts = body.get("sections", [])
        if not isinstance(parts, list) or len(parts) > MOST_SECTIONS:
            raise TypeError
        return Preface(
            title=_text(body["title"]),
            text=_texts(body.get("text", [])),
            made=_text(body.get("made", "")),
            replay=_text(body.get("replay", "")),
            sections=tuple(_section(_mapping(part)) for part in parts),
        )
    except (KeyError, TypeError):
        raise InputError(
            f"{file}: context.{KEY} is not a title with sections of text, tables and points; write "
            "the file again with the command that made it"
        ) from None


def spans(text: str) -> list[tuple[str, bool]]:
    """Split a paragraph into its pieces, and whether each is code."""
    pieces = re.split(r"`([^`\n]+)`", text)
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]


def _section(body: Mapping[str, Any]) -> Section:
    tables = body.get("tables", [])
    if not isinstance(tables, list):
        raise TypeError
    return Section(
        heading=_text(body["heading"]),
        text=_texts(body.get("text", [])),
        tables=tuple(_table(_mapping(table)) for table in tables),
        points=_texts(body.get("points", [])),
    )


def _table(body: Mapping[str, Any]) -> Table:
    columns, rows = _texts(body["columns"]), body["rows"]
    if not columns or not isinstance(rows, list):
        raise TypeError
    cells = tuple(map(_texts, rows))
    if any(len(row) != len(columns) for row in cells):
        raise TypeError
    note = _text(body.get("note", ""))
    return Table(_text(body["caption"]), columns, cells, note, "numeric" in body)


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(map(_text, value))


def published(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result without what differs from one run, or one machine, to the next."""
    kept = {key: value for key, value in body.items() if key not in VOLATILE}
    rounded: dict[str, Any] = _rounded(kept)
    return rounded


def _rounded(value: Any) -> Any:
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
    alone = f"{command.split(' --')[0]} --seed {body['seed']} --select {entries[0]['id']}"
    tried = tuple((entry["id"], entry["source"], entry["tried"]) for entry in entries)
    return {
        "title": "The paper's privacy claims, audited",
        "text": [
            'The claims of Kearns, Roth, Wu and Yaroslavtsev, "Privacy for the Protected (Only)". '
            "Losses are in nats. Every verdict is computed."
        ],
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
            *_composition(context),
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


def _region(row: Mapping[str, Any]) -> tuple[str, ...]:
    ends = (row[key] for key in ("proved_up_to", "holds_up_to"))
    said = ("all tried" if end is None else str(end) for end in ends)
    return (f"{row['epsilon']:g}", f"{row['delta']:g}", *said)
