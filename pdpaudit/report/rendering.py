"""A report as Markdown, or as one HTML page that needs nothing else: no script, no network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pdpaudit.report import blocks as b
from pdpaudit.report.document import Document, compose
from pdpaudit.report.findings import MARKS
from pdpaudit.report.plaintext import clip, isolate_names, spans, visible
from pdpaudit.report.sources import Source
from pdpaudit.results.fields import STATUS_WORDS
from pdpaudit.results.results import Status

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
    return f"{MARKS[status]} **{STATUS_WORDS[status]}**"


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
    environment.globals |= {"MARKS": MARKS, "WORDS": STATUS_WORDS, "spans": spans}
    return environment
