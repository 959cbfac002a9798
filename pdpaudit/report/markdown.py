"""A report as Markdown, for a pull request, a job summary or a repository."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pdpaudit.report.document import CheckPart, ClaimPart, Document, Part, compose
from pdpaudit.report.exposure import ExposurePart
from pdpaudit.report.findings import MARKS, STATUS_WORDS, trade_off_words
from pdpaudit.report.pair_drawing import PairPicture
from pdpaudit.report.plaintext import clip, isolate_names, visible
from pdpaudit.report.published import Preface, spans
from pdpaudit.report.simulation import SimulationPart
from pdpaudit.report.sources import Source
from pdpaudit.report.tables import Table
from pdpaudit.results.results import Status

__all__ = ["code", "escape", "fenced", "render_markdown"]

# What has a meaning anywhere in a line, and what has one at its beginning.
_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_LEADING = re.compile(r"^(?:([#+=-])|(\d+)([.)])(?=\s|$))")
# Plain text that hosting sites turn into links, mentions, references or pictures.
_LIVELY = re.compile(r"@(?=\w)|:(?=[\w/+-])|\bwww(?=\.)|#(?=\d)", re.IGNORECASE)

#: Opens what a page shows only when asked.
FOLDED = "<details>\n<summary>{}</summary>"

# First strong isolate and its end: the direction of a name stays inside it.
_ISOLATED = "\u2068{}\u2069"


class _Raw(str):
    """Markdown that is meant as such."""

    __slots__ = ()


def render_markdown(sources: Sequence[Source]) -> str:
    r"""Return a report as GitHub-flavoured Markdown."""
    blocks = [block for block in _document(compose(sources)) if block]
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    r"""Return text that Markdown shows as it is, on one line."""
    line = " ".join(visible(text).split())
    safe = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = _SPECIAL.sub(r"\\\1", safe)
    safe = _LEADING.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", safe)
    return _LIVELY.sub(lambda match: f"{match[0]}<!-- -->", safe)


def code(text: str) -> str:
    """Return text as code within a line."""
    line = " ".join(visible(clip(text, 120)).split())
    fence = _fence(line, 1)
    return f"{fence}{line}{fence}" if "`" not in line else f"{fence} {line} {fence}"


def fenced(text: str, language: str) -> str:
    """Return text as a block of code; the fence is longer than any in it."""
    fence = _fence(text, 3)
    return f"{fence}{language}\n{visible(text)}\n{fence}"


def _fence(text: str, least: int) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def _say(words: str, *values: object) -> str:
    """Fill values into a sentence of ours, escaped unless they are Markdown already."""
    return words.format(
        *(value if isinstance(value, _Raw) else escape(str(value)) for value in values)
    )


def _prose(text: str, names: Iterable[str]) -> _Raw:
    pieces = isolate_names(text, names)
    return _Raw("".join(_ISOLATED.format(escape(p)) if named else _inner(p) for p, named in pieces))


def _inner(text: str) -> str:
    """Escape a piece of a sentence, keeping the spaces at its ends."""
    before = " " if text[:1].isspace() else ""
    after = " " if text.strip() and text[-1:].isspace() else ""
    return before + escape(text) + after


def _badge(status: Status) -> _Raw:
    return _Raw(f"{MARKS[status]} **{STATUS_WORDS[status]}**")


def _rows(columns: Sequence[str], rows: Iterable[Sequence[object]], numeric: bool = False) -> str:
    rule = ["---", *["---:" if numeric else "---"] * (len(columns) - 1)]
    lines = [columns, [_Raw(mark) for mark in rule], *rows]
    return "\n".join(_say("| " + " | ".join(["{}"] * len(line)) + " |", *line) for line in lines)


def _table(table: Table, names: Sequence[str] = ()) -> Iterator[str]:
    yield _say("**{}**", table.caption)
    rows = ([_prose(cell, names) for cell in row] for row in table.rows)
    yield _rows(table.columns, rows, table.numeric)
    yield escape(table.note)


def _document(doc: Document) -> Iterator[str]:
    yield _say("# {}", doc.title)
    if doc.banner:
        yield _say("**{}**", doc.banner)
    if doc.totals:
        yield _say("{} {}", _badge(doc.status), doc.totals)
    yield escape(doc.plain)
    if doc.advice:
        yield _say("**What to do:** {}", doc.advice)
    if doc.alone:
        yield _made(doc.alone)
    if doc.verdicts:
        yield "## Verdicts"
        name = "{}" if doc.alone else "{} of {}"
        rows = [
            (
                _Raw(_say(name, line.title, line.subject)),
                _badge(line.status),
                line.claimed,
                line.measured,
            )
            for line in doc.verdicts
        ]
        yield _rows(("claim", "verdict", "claimed", "measured"), rows)
    if doc.alone and doc.alone.preface:
        yield from _preface(doc.alone.preface, "##")
    for part in doc.parts:
        yield from _part(part, doc)
    yield FOLDED.format("Glossary")
    yield "\n".join(_say("- **{}**: {}", term, meaning) for term, meaning in doc.terms)
    yield "</details>"
    yield "Made by pdpaudit from the result files named above, and from nothing else."


def _made(part: Part) -> str:
    return "; ".join(_say("{}: {}", name, _Raw(code(value))) for name, value in part.made) + "."


def _preface(preface: Preface, level: str) -> Iterator[str]:
    yield from map(_coded, preface.text)
    for one in preface.sections:
        yield _say(level + " {}", one.heading)
        yield from map(_coded, one.text)
        for table in one.tables:
            yield from _table(table)
        yield "\n".join(f"- {_coded(point)}" for point in one.points)


def _coded(text: str) -> str:
    """Escape a paragraph but for what stands between backticks."""
    return "".join(code(piece) if is_code else _inner(piece) for piece, is_code in spans(text))


def _part(part: Part, doc: Document) -> Iterator[str]:
    if doc.alone:
        yield "## In detail"
    else:
        yield _say("## {}", part.title)
        if part.simulation:
            yield _say("{}", _prose(part.simulation.lead, part.simulation.names))
        yield _made(part)
        if part.preface:
            yield from _preface(part.preface, "###")
    if part.simulation:
        yield from _simulation(part.simulation)
    for claim in part.claims:
        yield from _claim(claim)
    if part.checks:
        yield from _checks(part.checks)
    if part.exposure:
        yield from _exposure(part.exposure)
    if part.tried or part.tried_words or part.budget:
        yield from _tried(part)
    if part.composition:
        yield "### What the rounds cost together"
        yield from _table(part.composition)
        yield (
            "“Holds” says whether every composition of mechanisms of this ε keeps the budget: it "
            "must not lie below the optimal one."
        )
    if part.rest:
        yield "### Also recorded"
        for table in part.rest:
            yield from _table(table)
    yield "### Reproduce it"
    yield "All numbers again:"
    yield fenced(part.command, "sh")
    if part.replay:
        yield "Only what was found, on its own pair and event:"
        yield fenced(part.replay, "sh")


def _tried(part: Part) -> Iterator[str]:
    yield "### What was tried, and how sure this is"
    budget = f"Error budget: {part.budget}" if part.budget else ""
    last = "Pairs and events were chosen before the verdict; what was not tried may leak more."
    yield escape(". ".join(filter(None, (part.tried_words, budget, last))))
    if part.tried:
        yield from _table(part.tried)


def _simulation(found: SimulationPart) -> Iterator[str]:
    yield from _table(found.facts, found.names)
    for one in found.searches:
        yield _say("### {}", _prose(one.title, found.names))
        yield _say("{}", _prose(one.words, found.names))
        if one.how:
            yield _say("How the true multiplier is known: {}.", one.how)
        yield from _table(one.numbers, found.names)
    if found.more:
        yield f"{found.more} more private searches are in the file."
    if found.drawings:
        yield "### Within a part of the network"
        yield "\n".join(_say("- {}", _prose(words, found.names)) for words in found.drawings)


def _exposure(found: ExposurePart) -> Iterator[str]:
    yield "### How exposed each person is"
    yield _say("{}", _prose(found.words, found.names))
    yield from map(escape, found.notes)
    for table in (found.spread, found.people):
        if table.rows:
            yield from _table(table, found.names)


def _claim(one: ClaimPart) -> Iterator[str]:
    yield _say("### {}", one.title)
    yield _say("{} {}", _badge(one.status), _prose(one.words, one.names))
    yield _pair(one.pair)
    if one.drawn and one.judged and one.seen:
        yield escape(trade_off_words(one.claim, one.seen))
    yield from _table(one.facts, one.names)


def _checks(checks: Sequence[CheckPart]) -> Iterator[str]:
    yield "### The checks"
    rows = []
    for one in checks:
        looked = ". ".join(filter(None, (one.scope, "" if one.more else one.words)))
        rows.append((one.title, _badge(one.status), one.declared, one.observed, looked))
    yield _rows(("check", "verdict", "declared", "found", "looked at"), rows)
    for one in checks:
        if one.more:
            yield _say("#### {}", one.title)
            yield _say("{} {}", _badge(one.status), one.words)
            yield _pair(one.pair)
            if one.listing:
                yield "This shows it:"
                yield fenced(one.listing, "python")
            for table in one.tables:
                yield from _table(table)


def _pair(picture: PairPicture | None) -> str:
    if picture is None or not picture.centre:
        return ""
    sides = map(_listed, (picture.lost, picture.gained, picture.kept))
    return _say("The pair: {} loses {}; gains {}; keeps {}.", _name(picture.centre), *sides)


def _name(name: str) -> _Raw:
    return _prose(clip(name), [clip(name)])


def _listed(names: Sequence[str]) -> _Raw:
    if not names:
        return _Raw("nobody")
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return _Raw(", ".join(map(_name, names[:12])) + more)
