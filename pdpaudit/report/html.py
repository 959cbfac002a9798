"""A report as one HTML page that needs nothing else: no script, no network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from pdpaudit.core.errors import InputError
from pdpaudit.report.document import compose
from pdpaudit.report.findings import MARKS, STATUS_WORDS
from pdpaudit.report.plaintext import clip, isolate_names, spans, visible
from pdpaudit.report.sources import Source

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render_html"]


def render_html(sources: Sequence[Source]) -> str:
    """Return a report as HTML."""
    environment = _environment()
    from markupsafe import Markup

    style = files("pdpaudit.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    page = environment.get_template("page.html.j2").render(
        doc=compose(sources), style=Markup(style), style_hash=Markup(f"sha256-{digest}")
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
