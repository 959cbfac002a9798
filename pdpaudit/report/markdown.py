"""A report as Markdown, for a pull request, a job summary or a repository."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pdpaudit.report.document import CheckPart, ClaimPart, Document, Part, compose
from pdpaudit.report.exposed import ExposurePart
from pdpaudit.report.figures import nats, number
from pdpaudit.report.html import MARKS
from pdpaudit.report.pictures.pair import PairPicture
from pdpaudit.report.plaintext import clip, isolate_names, visible
from pdpaudit.report.preface import Preface, spans
from pdpaudit.report.reading import Source
from pdpaudit.report.tables import Table
from pdpaudit.report.telling_simulations import SimulationPart
from pdpaudit.results.results import Status

__all__ = ["code", "escape", "fenced", "render_markdown"]

# What has a meaning anywhere in a line, and what has one at its beginning.
_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_LEADING = re.compile(r"^(?:([#+=-])|(\d+)([.)])(?=\s|$))")
# Plain text that hosting sites turn into links, mentions, references or pictures.
_LIVELY = re.compile(r"@(?=\w)|:(?=[\w/+-])|\bwww(?=\.)|#(?=\d)", re.IGNORECASE)

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


def _badge(status: Status, verdict: str) -> _Raw:
    return _Raw(f"{MARKS[status]} **{verdict}**")


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
    yield escape(doc.lead)
    yield " · ".join(_say("{} {}", _badge(s, verdict), times) for s, verdict, times in doc.counts)
    if doc.preface:
        yield from _preface(doc.preface, "##")
    yield "## Verdicts"
    several = len(doc.parts) > 1
    yield "\n".join(
        _say(
            "- {} {}{}: {}",
            _badge(line.status, line.verdict),
            line.title,
            _Raw(_say(" of {}", line.subject)) if several else "",
            _prose(line.words, line.names),
        )
        for line in doc.verdicts
    )
    yield "\n".join(
        _say("- {}: {}", _prose(line.title, line.names), _prose(line.words, line.names))
        for line in doc.findings
    )
    if not doc.verdicts and not doc.findings:
        yield "The files hold no claims and no checks."
    if doc.charted:
        yield from _losses(doc)
    for part in doc.parts:
        yield from _part(part, alone=not several)
    yield "## Glossary"
    yield "\n".join(_say("- **{}**: {}", term, meaning) for term, meaning in doc.terms)
    yield "Made by pdpaudit from the result files named above, and from nothing else."


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


def _losses(doc: Document) -> Iterator[str]:
    yield "## Claimed and measured loss"
    yield (
        "Privacy loss ε in nats. A claim is violated where the lower bound (or the exact loss) "
        "lies beyond the claimed ε."
    )
    rows = []
    for part, one in doc.charted:
        claim, delta = one.claim, one.claim.claimed["delta"]
        sampled = claim.exact is None
        seen = one.seen if sampled else None
        rows.append(
            (
                f"{clip(part.source.result.subject)}: {one.title}",
                nats(claim.claimed["epsilon"]),
                nats(claim.lower_bound) + ("" if sampled else " (exact)"),
                "" if seen is None else nats(seen.loss(delta)),
                "" if seen is None else nats(seen.highest_loss(delta)),
                nats(claim.detectable_epsilon) if sampled else "",
            )
        )
    columns = ("claim", "claimed", "lower bound", "observed", "at most", "would have detected")
    yield _rows(columns, rows, numeric=True)
    if doc.uncharted:
        yield f"The {len(doc.charted)} worst; {doc.uncharted} more follow below."


def _part(part: Part, alone: bool) -> Iterator[str]:
    result = part.source.result
    yield _say("## {}", "In detail" if part.preface and alone else part.title)
    if part.judged or not part.simulation:
        yield _say("{} {}", _badge(part.status, part.verdict), part.lead)
    else:
        yield escape(part.lead)
    name = _Raw(code(part.source.name))
    yield _say("File {}, seed {}. {}", name, result.seed, part.made).rstrip()
    if part.preface and not alone:
        yield from _preface(part.preface, "###")
    if part.simulation:
        yield from _simulation(part.simulation)
    if part.tried or part.budget:
        yield "### What was tried, and how sure this is"
        if part.tried_words:
            yield _say(
                "{} Pairs and events were chosen before the verdict; only what was tried is "
                "judged, and what was not tried may leak more.",
                part.tried_words,
            )
        if part.budget:
            yield _say("Error budget: {}.", part.budget)
        if part.tried:
            yield from _table(part.tried)
    for claim in part.claims:
        yield from _claim(claim)
    if part.checks:
        yield from _checks(part.checks)
    if part.exposure:
        yield from _exposure(part.exposure)
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
    yield f"All numbers of this section again, from seed {result.seed}:"
    yield fenced(part.command, "sh")
    if part.replay:
        yield "Only what was found, on its own pair and event:"
        yield fenced(part.replay, "sh")


def _simulation(told: SimulationPart) -> Iterator[str]:
    yield "### What was searched"
    yield from _table(told.facts, told.names)
    for one in told.searches:
        yield _say("### {}", _prose(one.title, told.names))
        yield _say("{}", _prose(one.words, told.names))
        if one.how:
            yield _say("How the true multiplier is known: {}.", one.how)
        yield from _table(one.numbers, told.names)
    if told.untold:
        yield f"{told.untold} more private searches are in the file."
    if told.drawings:
        yield "### A part of the network, after each search"
        yield "\n".join(
            _say("- {}", _prose(picture.words, told.names)) for picture in told.drawings
        )


def _exposure(told: ExposurePart) -> Iterator[str]:
    yield "### How exposed each person is"
    yield _say("{}", _prose(told.words, told.names))
    yield from map(escape, told.notes)
    for table in (told.spread, told.people):
        if table.rows:
            yield from _table(table, told.names)


def _claim(one: ClaimPart) -> Iterator[str]:
    yield _say("### {}", one.title)
    yield _say("{} {}", _badge(one.status, one.verdict), _prose(one.words, one.names))
    yield _pair(one.pair)
    if one.trade_off:
        yield _say(
            "Trade-off: whoever says “rewired” when the event happens gives false alarms at a rate "
            "of {} and misses at a rate of {}; at this rate of false alarms the claim allows no "
            "fewer misses than {}.",
            *map(number, (*one.trade_off.point, one.trade_off.allowed)),
        )
    yield from _table(one.facts, one.names)
    if one.attack:
        yield from _table(one.attack)


def _checks(checks: Sequence[CheckPart]) -> Iterator[str]:
    yield "### The checks"
    rows = []
    for one in checks:
        told = one.words if one.check.detail and not one.more else ""
        looked = ". ".join(words for words in (one.scope, told) if words)
        rows.append(
            (one.title, _badge(one.status, one.verdict), one.declared, one.observed, looked)
        )
    yield _rows(("check", "verdict", "declared", "found", "looked at"), rows)
    for one in checks:
        if one.more:
            yield _say("#### {}", one.title)
            yield _say("{} {}", _badge(one.status, one.verdict), one.words)
            yield _pair(one.picture)
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
