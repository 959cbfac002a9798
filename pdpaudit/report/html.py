"""A report as one HTML page that needs nothing else: no script, no network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pdpaudit.core.errors import InputError
from pdpaudit.report.charts import Loss, histogram, loss_chart, trade_off_chart
from pdpaudit.report.document import ClaimPart, Document, Part, compose
from pdpaudit.report.findings import MARKS, STATUS_WORDS, attack_of, trade_off_words
from pdpaudit.report.plaintext import clip, isolate_names, nats, visible
from pdpaudit.report.published import spans
from pdpaudit.report.sources import Source

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render_html"]

#: Characters of a claim's title beside a chart.
LONGEST_TITLE = 34


def render_html(sources: Sequence[Source]) -> str:
    """Return a report as HTML."""
    environment = _environment()
    from markupsafe import Markup

    doc = compose(sources)
    style = files("pdpaudit.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    page = environment.get_template("page.html.j2").render(
        doc=doc, style=Markup(style), style_hash=Markup(f"sha256-{digest}")
    )
    return page + "\n"


def _losses(doc: Document) -> str:
    """Draw claimed against measured loss of the worst claims."""
    rows, words = [], []
    for one in doc.charted:
        claim, seen, delta = one.claim, one.seen, one.claim.promise.delta
        if not claim.promise.approximate:
            continue  # another unit than that of the axis
        exact = claim.exact is not None
        title = " ".join(visible(one.title).split())
        row = Loss(
            title=title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…",
            status=one.status,
            claimed=claim.promise.value,
            low=claim.exact if exact else claim.lower_bound,
            estimate=seen.loss(delta) if seen and not exact else None,
            high=seen.highest_loss(delta) if seen and not exact else None,
            detectable=claim.detectable_epsilon,
            exact=exact,
        )
        kind = "exact loss" if exact else "lower bound"
        words.append(f"{title}: claimed {nats(row.claimed)}, {kind} {nats(row.low)}")
        rows.append(row)
    return loss_chart(rows, "losses-chart", "; ".join(words)) if rows else ""


def _trade_off(one: ClaimPart) -> str:
    """Draw the trade-off curve of a claim; nothing where there is none, or others are worse."""
    if not (one.drawn and one.judged and one.seen):
        return ""
    attack = attack_of(one.claim)
    curve = [(x, 1 - y) for x, y in ((0.0, 0.0), *attack.curve, (1.0, 1.0))] if attack else []
    anchor = f"{one.anchor}-curve"
    return trade_off_chart(one.claim.promise, one.seen, curve, anchor, one.status)


def _measured(part: Part) -> tuple[list[list[str]], list[str], list[str]]:
    """Draw what was measured of a simulation: each search, all of them; and people's exposure."""
    searches: list[list[str]] = []
    shared: list[str] = []
    if part.simulation:
        from pdpaudit.report.figures import page_figures

        searches, shared = page_figures(part.simulation.simulation, part.anchor)
    exposure = [
        histogram(one.edges, one.counts, one.end, one.most, f"{part.anchor}-loss-{i}", one.words)
        for i, one in enumerate(part.exposure.histograms if part.exposure else (), start=1)
    ]
    return searches, shared, exposure


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
    environment.globals |= {
        "MARKS": MARKS,
        "WORDS": STATUS_WORDS,
        "spans": spans,
        "losses": _losses,
        "trade_off": _trade_off,
        "trade_off_words": trade_off_words,
        "measured": _measured,
    }
    return environment
