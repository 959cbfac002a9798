"""A report as one HTML page that needs nothing else: no script, no network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pdpaudit.core.errors import InputError
from pdpaudit.report.document import compose
from pdpaudit.report.figures import nats, number
from pdpaudit.report.plaintext import clip, isolate_names, visible
from pdpaudit.report.preface import spans
from pdpaudit.report.reading import Source

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["MARKS", "render_html"]

#: Told apart without colour.
MARKS = {
    "violated": "✕",
    "error": "!",
    "inconclusive": "?",
    "not_rejected": "○",
    "certified": "✓",
    "skipped": "-",
}


def render_html(sources: Sequence[Source]) -> str:
    """Return a report as HTML."""
    environment = _environment()
    from markupsafe import Markup

    doc = compose(sources)
    sheets = ["style.css"]
    if any(part.simulation or part.exposure for part in doc.parts):
        sheets.append("measured.css")
    folder = files("pdpaudit.report").joinpath("templates")
    style = "".join(folder.joinpath(sheet).read_text(encoding="utf-8") for sheet in sheets)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    page = environment.get_template("page.html.j2").render(
        doc=doc, style=Markup(style), style_hash=Markup(f"sha256-{digest}")
    )
    return page + "\n"


@cache
def _environment() -> Environment:
    """Return jinja2 over the report's templates; kept, as compiling them costs more than a page."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ModuleNotFoundError:
        raise InputError(
            'a report in HTML needs jinja2, which is not installed: pip install "pdpaudit[report]"'
        ) from None

    def seen(value: Any) -> Any:
        ours = not isinstance(value, str) or isinstance(value, Markup)
        return value if ours else visible(value)

    def prose(text: str, names: Iterable[str]) -> Markup:
        told = Markup("")
        for piece, named in isolate_names(text, names):
            told += (Markup("<bdi>{}</bdi>") if named else Markup("{}")).format(visible(piece))
        return told

    environment = Environment(
        loader=PackageLoader("pdpaudit.report"),
        autoescape=True,
        finalize=seen,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": prose, "clip": clip, "number": number, "nats": nats}
    environment.globals |= {"MARKS": MARKS, "spans": spans}
    return environment
