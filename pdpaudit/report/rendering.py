"""A report as HTML or Markdown, as SARIF 2.1.0 for code hosts, or as a checklist for reviewers.

A page needs nothing else: no script, no network. SARIF shows alerts at lines of the source. The
checklist holds the questions that guidelines for evaluating differential privacy ask, after NIST SP
800-226 (Near, Darais, Lefkovitz, Howarth: Guidelines for Evaluating Differential Privacy
Guarantees); what was not looked at is said as well.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import PurePath
from typing import TYPE_CHECKING

from pdpaudit.core.network import PROTECTED
from pdpaudit.report import blocks as b
from pdpaudit.report import findings as f
from pdpaudit.report.blocks import clip, isolate_names, nats, spans, visible
from pdpaudit.report.document import Document, compose, found_words
from pdpaudit.report.sources import Source
from pdpaudit.results.files import STATUS_WORDS
from pdpaudit.results.pairs import NetworkPair
from pdpaudit.results.results import CheckResult, ClaimResult, Result, Status

if TYPE_CHECKING:
    from jinja2 import Environment

# What has a meaning anywhere in a line, and what has one at its beginning.
_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_LEADING = re.compile(r"^(?:([#+=-])|(\d+)([.)])(?=\s|$))")
# Plain text that hosting sites turn into links, mentions, references or pictures.
_LIVELY = re.compile(r"@(?=\w)|:(?=[\w/+-])|\bwww(?=\.)|#(?=\d)", re.IGNORECASE)

#: Opens what a page shows only when asked.
FOLDED = "<details>\n<summary>{}</summary>"

# First strong isolate and its end: the direction of a name stays inside it.
_ISOLATED = "\u2068{}\u2069"


def render_markdown(sources: Sequence[Source]) -> str:
    r"""Return a report as GitHub-flavoured Markdown."""
    return _joined(_document(compose(sources)))


def render_blocks(blocks: Iterable[b.Block], level: int) -> str:
    """Return blocks as Markdown, with headings of a level."""
    return _joined(_blocks(blocks, level))


def _joined(lines: Iterable[str]) -> str:
    return "\n\n".join(filter(None, lines)) + "\n"


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


def _prose(text: str, names: Iterable[str]) -> str:
    pieces = isolate_names(text, names)
    return "".join(_ISOLATED.format(escape(p)) if named else _inner(p) for p, named in pieces)


def _inner(text: str) -> str:
    """Escape a piece of a sentence, keeping the spaces at its ends."""
    before = " " if text[:1].isspace() else ""
    after = " " if text.strip() and text[-1:].isspace() else ""
    return before + escape(text) + after


def _badge(status: Status) -> str:
    return f"{f.MARKS[status]} **{STATUS_WORDS[status]}**"


def _document(doc: Document) -> Iterator[str]:
    yield f"# {escape(doc.title)}"
    yield from _blocks((*doc.head, *doc.sections), 2)
    yield FOLDED.format("Glossary")
    yield "\n".join(f"- **{escape(term)}**: {escape(meaning)}" for term, meaning in doc.terms)
    yield "</details>"
    yield "Made by pdpaudit from the result files named above, and from nothing else."


def _blocks(blocks: Iterable[b.Block], level: int) -> Iterator[str]:
    for block in blocks:
        match block:
            case b.Section():
                yield f"{'#' * level} {_prose(block.heading, block.names)}"
                yield from _blocks(block.blocks, level + 1)
            case b.Paragraph():
                yield _paragraph(block)
            case b.Table():
                yield from _table(block)
            case b.Points():
                yield "\n".join(f"- {_coded(point)}" for point in block.items)
            case b.Code():
                yield escape(block.label)
                yield fenced(block.text, block.language)
            case b.Pictures():
                for one in block.items:
                    yield _prose(one.caption, one.names)
                yield from _blocks([block.beside] if block.beside else [], level)


def _paragraph(words: b.Paragraph) -> str:
    said = _coded(words.text) if words.coded else _prose(words.text, words.names)
    if words.kind == "banner":
        return f"**{said}**"
    before = [_badge(words.status)] if words.status else []
    before += [f"**{escape(words.label)}**"] if words.label else []
    return " ".join((*before, said))


def _table(table: b.Table) -> Iterator[str]:
    yield f"**{escape(table.caption)}**" if table.caption else ""
    rule = ["---", *["---:" if table.numeric else "---"] * (len(table.columns) - 1)]
    cells = ([_cell(cell, table.names) for cell in row] for row in table.rows)
    lines = [map(escape, table.columns), rule, *cells]
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
    yield escape(table.note)


def _cell(cell: b.Cell, names: Iterable[str]) -> str:
    match cell:
        case b.Badge():
            return _badge(cell.status)
        case b.Link():
            return escape(f"{cell.text} of {cell.of}" if cell.of else cell.text)
    return _prose(cell, names)


def _coded(text: str) -> str:
    """Escape a paragraph but for what stands between backticks."""
    return "".join(code(piece) if is_code else _inner(piece) for piece, is_code in spans(text))


# HTML


def render_html(sources: Sequence[Source]) -> str:
    """Return a report as HTML."""
    from markupsafe import Markup

    environment = _environment()

    style = files("pdpaudit.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    page = environment.get_template("page.html.j2").render(
        doc=compose(sources),
        style=Markup(style),
        style_hash=Markup(f"sha256-{digest}"),
        charts=find_spec("matplotlib") is not None,
    )
    return page + "\n"


@cache
def _environment() -> Environment:
    """Return jinja2 over the report's templates; kept, as compiling them costs more than a page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def seen(value: object) -> object:
        if isinstance(value, Markup) or not isinstance(value, str):
            return value
        return visible(value)

    def prose(text: str, names: Iterable[str]) -> Markup:
        safe = Markup("")
        for piece, named in isolate_names(text, names):
            safe += (Markup("<bdi>{}</bdi>") if named else Markup("{}")).format(visible(piece))
        return safe

    environment = Environment(
        loader=PackageLoader("pdpaudit.report"),
        autoescape=True,
        finalize=seen,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": prose, "clip": clip, "drawn": Markup}
    environment.filters["kind"] = lambda block: type(block).__name__
    environment.globals |= {"MARKS": f.MARKS, "WORDS": STATUS_WORDS, "spans": spans}
    return environment


# SARIF and the checklist


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

#: How loud an alert is; what stands, or was not looked at, is none.
LEVELS: dict[Status, str] = {"violated": "error", "error": "warning", "inconclusive": "note"}

RULES = {
    "claim": "A privacy claim is false, or could not be judged.",
    "declaration": "What a statistic declares is false, or could not be judged.",
}


def render_sarif(sources: Sequence[Source]) -> str:
    """Return one run with an alert for every claim and declaration that does not stand."""
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in RULES.items()]
    driver = {"name": "pdpaudit", "version": version("pdpaudit"), "rules": rules}
    alerts = [alert for source in sources for alert in _alerts(source)]
    run = {"tool": {"driver": driver}, "results": alerts}
    body = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def _alerts(source: Source) -> Iterator[dict[str, object]]:
    for one in source.result.findings:
        if one.status not in LEVELS:
            continue
        uri, line = _place(source, one)
        place = {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}
        key = f"{source.result.subject}\n{_title(one)}"
        yield {
            "ruleId": "claim" if isinstance(one, ClaimResult) else "declaration",
            "level": LEVELS[one.status],
            "message": {"text": visible(f"{_title(one)}: {_said(one)}")},
            "locations": [{"physicalLocation": place}],
            "partialFingerprints": {"claim/v1": sha256(key.encode()).hexdigest()[:32]},
        }


def _title(one: ClaimResult | CheckResult) -> str:
    if isinstance(one, CheckResult):
        return one.name
    return one.statement or one.id or "a claim"


def _said(one: ClaimResult | CheckResult) -> str:
    if isinstance(one, CheckResult):
        return f"{STATUS_WORDS[one.status]}. {one.detail}".strip()
    return " ".join(filter(None, (found_words(one), f.difference_words(one))))


def _place(source: Source, one: ClaimResult | CheckResult) -> tuple[str, int]:
    """Return the line that leaks, else that of the claim, else the result's own file.

    Of the line that leaks only the file's name is known, which is no place to show an alert at.
    """
    file, _, line = source.result.place.rpartition(":")
    parted = one.first_difference if isinstance(one, ClaimResult) else None
    first = parted.places[0] if parted and parted.places else None
    if first and first.file and PurePath(file or first.file).name == first.file:
        return file or first.file, max(first.line, 1)
    return (file, int(line)) if file and line.isdecimal() else (source.name, 1)


UNANSWERED = "Not looked at."

#: Families of pairs that are named.
MOST_FAMILIES = 4

#: Of each relation between networks: the unit of privacy, and which two are neighbours.
NETWORKS = {
    PROTECTED: (
        "One protected person: all contacts of one person may change.",
        "Two networks that differ in the contacts of one protected person, in any way.",
    ),
    "protected-edge": (
        "One contact of one protected person.",
        "Two networks that differ in one tie of a protected person.",
    ),
    "edge": ("One tie, whosever it is.", "Two networks that differ in one tie."),
    "rewired": (
        "One person, protected or not: all contacts of one person may change.",
        "Two networks that differ in the contacts of one person, in any way.",
    ),
}

CLOSING = (
    "The questions follow NIST SP 800-226. An audit settles none of them: what was not tried may "
    "leak more."
)


def render_checklist(sources: Sequence[Source]) -> str:
    """Return a table for each result: a row for each question, answered or not, as Markdown."""
    blocks: list[b.Block] = [b.Paragraph(CLOSING)]
    for source in sources:
        rows = tuple((name, clip(said, 600)) for name, said in answers(source.result).items())
        table = b.Table("", ("question", "what this audit says"), rows)
        heading = f"{clip(source.result.subject)} ({source.name})"
        blocks.insert(-1, b.Section(heading, (table,), ""))
    title = "Checklist for evaluating a privacy guarantee"
    return render_blocks([b.Section(title, tuple(blocks), "")], 1)


def answers(result: Result) -> dict[str, str]:
    """Return what is asked, in this order, and what the audit says."""
    claims, checks = result.claims, result.checks
    relations = dict.fromkeys(relation for one in claims if (relation := _relation(one)))
    networked = {**relations, **({PROTECTED: None} if checks else {})}
    unseeded = any(one.witness.unseeded for one in claims if one.witness)
    sampled = any(one.exact is None and one.samples for one in claims)
    made = (one.witness.mechanism for one in claims if one.witness)
    composed = any("components" in spec.parameters for spec in made if spec)
    tested = filter(None, (f.tried_words(result.tried), f.compared_words(result.law_compared)))
    statuses = (f"{one.name}: {STATUS_WORDS[one.status]}" for one in checks)
    answered = {
        "Unit of privacy": " ".join(NETWORKS[one][0] for one in networked)
        or "What neighbouring inputs differ in; not looked at beyond the pairs tried.",
        "Neighbouring inputs": " ".join(NETWORKS[one][1] for one in networked)
        or _neighbours(result),
        "Privacy parameters": "; ".join(dict.fromkeys(map(_parameters, claims))),
        "Sensitivity": _sensitivity(result),
        "Composition": "A claim about several rounds was tested as one claim about their whole "
        "output."
        if composed
        else "Not looked at: what several releases lose together adds up.",
        "Randomness": "All of it comes from the generator handed in: the same stream gave the same "
        "output again. Whether the generator used in operation can be predicted was not looked at."
        if claims and not unseeded
        else "Its own, without a seed; not looked at."
        if claims
        else "",
        "Floating-point numbers": "Tested as far as outputs show it: events on values as they come "
        "out, with samples. Rare patterns of last digits may be missed."
        if sampled
        else "Not looked at: probabilities were computed for ideal real-valued noise."
        if claims
        else "",
        "Side channels": "Audited beside the output: how many and which people were examined, "
        "where a limit cut it off, and time."
        if "released" in result.context
        else "Not looked at: the output alone was tested (time, questions asked and errors are "
        "other outputs).",
        "What was tested": " ".join(tested)
        or "; ".join(f"{one.name}: {one.scope}" for one in checks if one.scope),
        "Verdict": "; ".join(_verdict(one) for one in claims) or "; ".join(statuses),
    }
    return {name: said or UNANSWERED for name, said in answered.items()}


def _relation(claim: ClaimResult) -> str | None:
    """Return the relation of a pair of networks, None for other inputs."""
    if isinstance(claim.pair, NetworkPair):
        return claim.pair.relation if claim.pair.relation in NETWORKS else None
    return PROTECTED if "rewiring" in claim.pair.words else None


def _neighbours(result: Result) -> str:
    tried = "; ".join(clip(family) for family, _, _ in f.tried_rows(result.tried)[:MOST_FAMILIES])
    worst = next((one.pair.words for one in result.claims if one.pair.words), None)
    return f"{tried or 'Not named'}. The worst: {worst}." if worst else tried


def _parameters(claim: ClaimResult) -> str:
    source = f" ({claim.source})" if claim.source else ""
    stated = f.parameter_words(claim) if claim.promise.approximate else claim.statement
    return f"{stated}{source}"


def _sensitivity(result: Result) -> str:
    known = [one for one in result.checks if "sensitivity" in one.name]
    if known:
        return "; ".join(f"{one.name}: {STATUS_WORDS[one.status]}. {one.detail}" for one in known)
    return "Not looked at by itself; `pdpaudit check` tests what a statistic declares."


def _verdict(claim: ClaimResult) -> str:
    what = "loss" if claim.promise.approximate else claim.promise.symbol
    bound = "" if claim.lower_bound is None else f", {what} at least {nats(claim.lower_bound)}"
    return f"{claim.statement or claim.id}: {STATUS_WORDS[claim.status]}{bound}"


#: What writes each form of a report.
RENDER: dict[str, Callable[[Sequence[Source]], str]] = {
    "html": render_html,
    "md": render_markdown,
    "sarif": render_sarif,
    "checklist": render_checklist,
}
