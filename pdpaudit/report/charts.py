"""Charts by matplotlib: one for files, and the same as part of a page that follows dark mode.

Colours are those of Okabe and Ito, "Color universal design", 2008; what they tell apart, widths,
dashes and markers tell apart too. Text from a file is set as it is: no dollar sign in it starts a
formula.
"""

from __future__ import annotations

import io
import math
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.errors import InputError
from pdpaudit.report.blocks import nats, number
from pdpaudit.report.findings import Chances, Point
from pdpaudit.results.results import Status

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import Container
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

    Floats = npt.NDArray[np.float64]

Edge = tuple[int, int]
Dash = str | tuple[float, tuple[float, ...]]

#: What the signs of a chart are called.
Key = list[tuple["Artist | Container", str]]

BLACK, BLUE, VERMILLION, GREEN = "#000000", "#0072b2", "#d55e00", "#009e73"
PURPLE, ORANGE, SKY = "#cc79a7", "#e69f00", "#56b4e9"
SOFT, FAINT, PAPER = "#6b6b6b", "#c8c8c8", "#ffffff"

#: Stands for the colour of the verdict, which a page knows.
VERDICT = "#b3251b"

#: Steps of a claimed curve that has no corners, finest where false positives are rare.
CURVE = 60

#: What a page's style calls each colour.
VARIABLES = {
    BLACK: "var(--ink)", BLUE: "var(--targeted)", VERMILLION: "var(--lost)",
    GREEN: "var(--gained)", ORANGE: "var(--event)", PURPLE: "var(--purple)", SKY: "var(--sky)",
    SOFT: "var(--soft)", FAINT: "var(--line)", "#e4e4e4": "var(--line)",
    "#d0d0d0": "var(--line)", PAPER: "var(--paper)", VERDICT: "currentColor",
}  # fmt: skip

#: On top of matplotlib's defaults, whatever the user's own settings are.
STYLE: dict[str, object] = {
    "figure.facecolor": PAPER,  # a background of its own: a file is read on dark pages too
    "font.family": ["DejaVu Sans"],  # comes with matplotlib, so that sizes are the same everywhere
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "legend.fontsize": 8.5,
    "legend.framealpha": 0.88,
    "legend.edgecolor": "#d0d0d0",
    "text.parse_math": False,
    "svg.fonttype": "none",  # text stays text: it can be searched, copied and read aloud
    "svg.hashsalt": "pdpaudit",
    "savefig.dpi": 160,
    "figure.constrained_layout.w_pad": 0.08,
    "figure.constrained_layout.h_pad": 0.08,
}

#: A square around the point attained that is wider needs no enlarging.
LARGEST_WINDOW = 0.15

#: Losses spread over more than this factor are drawn on a scale that is compressed above 1.
WIDE = 12.0

#: Losses below and above are drawn as these.
LEAST, MOST = 1e-9, 1e300


@contextmanager
def chart(size: Point) -> Iterator[Figure]:
    """Hand out a figure that no window knows of, under our own settings."""
    import numpy as np

    try:
        import matplotlib.style
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise InputError(
            'charts need matplotlib, which is not installed: pip install "pdpaudit[report]"'
        ) from None
    with (
        matplotlib.style.context(STYLE, after_reset=True),
        warnings.catch_warnings(),
        np.errstate(over="ignore"),  # the ends of an axis of losses near the largest number
    ):
        # A name in a script that the font does not have: boxes in the PNG, itself in the SVG.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        yield Figure(figsize=size, layout="constrained")


def figure_bytes(figure: Figure, form: str, words: str) -> bytes:
    """Return a file that holds nothing of when and where it was made."""
    held = io.BytesIO()
    if form == "png":
        figure.savefig(held, format="png", metadata={"Software": None})
        return held.getvalue()
    figure.savefig(held, format="svg", metadata={"Title": words, "Date": None, "Creator": None})
    text = re.sub(r"(?s)\s*<metadata>.*?</metadata>", "", held.getvalue().decode(), count=1)
    return text.replace("<svg ", '<svg role="img" ', 1).encode()


def page_chart(
    size: Point, words: str, draw: Callable[[Figure], object], anchor: str, kind: str = ""
) -> str:
    """Draw a chart as an element of a page: no style attribute, own ids, the page's colours."""
    held = io.BytesIO()
    with chart(size) as figure:
        draw(figure)
        figure.savefig(held, format="svg", transparent=True)
    root = ET.fromstring(held.getvalue())
    used = set(re.findall(r"#(\w+)[\")]", held.getvalue().decode()))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = _attributes(element, anchor, used)
        element.text, element.tail = (
            text if text and text.strip() else None for text in (element.text, element.tail)
        )
        for child in list(element):
            if child.tag.endswith("metadata") or child.find("{*}style") is not None:
                element.remove(child)
    looks = {"viewBox": root.attrib["viewBox"], "class": f"plot {kind}".rstrip()}
    root.attrib = {**looks, "role": "img", "aria-labelledby": anchor}
    title = ET.Element("title", {"id": anchor})
    title.text = words
    root.insert(0, title)
    return ET.tostring(root, encoding="unicode")


def _attributes(element: ET.Element, anchor: str, used: set[str]) -> dict[str, str]:
    """Turn a style into presentation attributes, which a policy against inline styles lets pass."""
    found = {}
    for name, value in element.attrib.items():
        key = name.rpartition("}")[2]
        if key == "style":
            for rule in value.split("; "):
                of, _, what = rule.partition(": ")
                if of not in ("font-family", "font"):
                    found[of] = VARIABLES.get(what.lower(), what)
        elif key == "id":
            found |= {"id": f"{anchor}-{value}"} if value in used else {}
        elif key == "d":
            found["d"] = re.sub(r"(\d+\.\d\d)\d+", r"\1", " ".join(value.split()))
        elif value.startswith("rotate(-0 "):
            continue
        else:
            value = re.sub(r"^#|(?<=url\(#)", lambda m: m[0] + anchor + "-", value)
            found[key] = re.sub(r"(\d+\.\d\d)\d+", r"\1", value)
    return found


def write_key(legend: Callable[..., Legend], key: Key, **place: object) -> None:
    """Write a key of axes or a figure, no name of which is left out for its first sign."""
    blanks = [f"curve {i}" for i in range(len(key))]
    written = legend([sign for sign, _ in key], blanks, **{"columnspacing": 1.2, **place})
    for text, (_, name) in zip(written.get_texts(), key, strict=True):
        text.set_text(name)


def draw_edges(
    ax: Axes, places: Floats, edges: Floats | Sequence[Edge], color: str, lw: float, ls: Dash = "-"
) -> Line2D:
    """Draw edges between places as one line with gaps, not one for each edge."""
    import numpy as np

    ends = places[np.array(edges, dtype=int).reshape(-1, 2)]
    gaps = np.pad(ends, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan)
    (line,) = ax.plot(*gaps.reshape(-1, 2).T, color=color, lw=lw, ls=ls, zorder=1)
    return line


class Loss(NamedTuple):
    """One row of the chart of losses; None where there is nothing to draw."""

    title: str
    status: Status
    claimed: float
    low: float | None
    estimate: float | None
    high: float | None
    detectable: float | None
    exact: bool


def loss_chart(losses: Sequence[Loss], anchor: str) -> str:
    """Draw claimed against measured loss, a row for each claim, as an element of a page."""
    words = "; ".join(
        f"{row.title}: claimed {nats(row.claimed)}, {'exact loss' if row.exact else 'lower bound'} "
        f"{nats(row.low)}"
        for row in losses
    )
    return page_chart((8.0, 0.9 + 0.34 * len(losses)), words, partial(_losses, losses), anchor)


def _losses(losses: Sequence[Loss], figure: Figure) -> None:
    values = [value for row in losses for value in (row.claimed, row.low, row.estimate) if value]
    known = sorted(min(value, MOST) for value in values if LEAST < value < math.inf) or [1.0]
    # Upper ends and powers are drawn where they fit; they do not stretch the axis by themselves.
    extra = [value for row in losses for value in (row.high, row.detectable) if value]
    end = 1.1 * max([known[-1], *(value for value in extra if value <= 2 * known[-1])])
    ax = figure.add_subplot()
    if known[-1] > max(WIDE * known[len(known) // 2], 1.0):
        ax.set_xscale("symlog", linthresh=1.0)
        ax.xaxis.set_major_formatter(lambda value, _: number(value))
    handles: dict[str, Artist] = {}
    for y, row in enumerate(losses):
        _row(ax, -y, row, end, handles)
    ax.set(xlim=(0, end), ylim=(-len(losses) + 0.5, 0.5), xlabel="privacy loss ε (nats)")
    titles = [row.title if len(losses) > 1 else "" for row in losses]
    ax.set_yticks([-y for y in range(len(losses))], titles)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.spines["left"].set_visible(False)
    figure.legend(
        list(handles.values()), list(handles), loc="outside upper center", ncols=len(handles),
        frameon=False, columnspacing=1.0, borderaxespad=0.1, fontsize=8, handlelength=1.6,
    )  # fmt: skip


def _row(ax: Axes, y: float, row: Loss, end: float, handles: dict[str, Artist]) -> None:
    colours = {"violated": VERMILLION, "certified": GREEN, "inconclusive": ORANGE}
    colour, low = colours.get(row.status, BLUE), min(row.low or 0.0, end)
    if row.low is not None:
        (line,) = ax.plot([0, low], [y, y], color=colour, lw=4, solid_capstyle="butt")
        if row.exact:
            (line,) = ax.plot([low], [y], "D", color=colour, ms=6, clip_on=False)
        handles.setdefault("exact loss" if row.exact else "lower bound", line)
    if not row.exact and row.estimate is not None and row.high is not None:
        high, mark = min(row.high, end), ">" if row.high > end else "|"
        (line,) = ax.plot([low, high], [y, y], color=colour, lw=1.2)
        ax.plot([high], [y], mark, color=colour, ms=6, clip_on=False)
        if row.estimate <= end:
            (line,) = ax.plot(
                [row.estimate], [y], "o", color=PAPER, mec=colour, ms=5, ls="-", clip_on=False
            )
        handles.setdefault("observed, up to what chance leaves open", line)
    if not row.exact and row.detectable is not None and row.detectable <= end:
        (line,) = ax.plot([row.detectable], [y - 0.28], "^", color=SOFT, ms=5, clip_on=False)
        handles.setdefault("would have been detected", line)
    (line,) = ax.plot([min(row.claimed, end)] * 2, [y - 0.36, y + 0.36], color=BLACK, lw=2.2)
    handles.setdefault("claimed ε", line)


def trade_off_chart(
    claim: PrivacyClaim, seen: Chances, attackers: Sequence[Point], anchor: str, *, kind: str
) -> str:
    """Draw the least error rates that a claim allows, and those attained, as part of a page."""
    allowed = float(claim.trade_off(seen.q))
    words = (
        f"Trade-off curve: at a false-positive rate of {number(seen.q)} the false-negative rate "
        f"is {number(1 - seen.p)}; the claim allows no less than {number(allowed)}"
    )
    draw = partial(_trade_off, claim, seen, attackers)
    return page_chart((4.2, 3.9), words, draw, anchor, kind)


def _trade_off(
    claim: PrivacyClaim, seen: Chances, attackers: Sequence[Point], figure: Figure
) -> None:
    point, corner = (seen.q, 1 - seen.p), (seen.q_high, 1 - seen.p_low)
    delta, knee = claim.delta, (1 - claim.delta) / (1 + math.exp(min(claim.epsilon, 700.0)))
    xs, ys = [0.0, knee, 1 - delta, 1.0], [1 - delta, knee, 0.0, 0.0]
    if not claim.approximate:
        xs = [(i / CURVE) ** 2 for i in range(CURVE + 1)]
        ys = claim.trade_off(xs).tolist()
    figure.set_layout_engine("none")  # twice as fast
    ax = figure.add_axes((0.13, 0.13, 0.84, 0.84))
    ax.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    ax.set(xlabel="false-positive rate", ylabel="false-negative rate")
    below = float(claim.trade_off(seen.q)) - point[1]
    distances = (corner[0] - point[0], corner[1] - point[1], below)
    width = 4 * max(*map(abs, distances), 0.004)
    shown = [ax]
    if width <= LARGEST_WINDOW:  # too near to the curve for the whole to show on which side
        inner = ax.inset_axes((0.5, 0.5, 0.48, 0.48))
        left, low = (min(max(centre - width / 2, 0.0), 1 - width) for centre in point)
        inner.set(xlim=(left, left + width), ylim=(low, low + width), xticks=[], yticks=[])
        inner.spines[["top", "right"]].set_visible(True)
        ax.indicate_inset_zoom(inner, edgecolor=SOFT)
        inner.set_title(f"enlarged {1 / width * 0.48:.0f} times", fontsize=8, color=SOFT)
        shown.append(inner)
    for axes in shown:
        axes.plot(xs, ys, color=BLACK, lw=1.6, label="limit of the claim")
        axes.fill_between(xs, ys, color=VERMILLION, alpha=0.13, lw=0)
        axes.plot(*([value] for value in point), "o", color=VERDICT, ms=6, clip_on=False,
                  label="attained")  # fmt: skip
        axes.fill_between(
            [point[0], corner[0]], point[1], corner[1], color=VERDICT, alpha=0.25, lw=0
        )
        if attackers:
            axes.plot(*zip(*attackers, strict=True), color=VERDICT, lw=1.3, label="attackers tried")
        axes.plot([0, 1], [1, 0], color=SOFT, lw=1, ls=":", label="guessing")
        axes.grid(visible=False)
    ax.legend(loc="upper right" if len(shown) == 1 else "center left")


def histogram(
    edges: Sequence[float], counts: Sequence[float], ends: Point, anchor: str, *, words: str
) -> str:
    """Draw how many people lose how much; people on a logarithmic scale, for most lose nothing."""

    def draw(figure: Figure) -> None:
        ax = figure.add_subplot()
        ax.stairs(counts, edges, fill=True, color=BLUE)
        ax.set_yscale("symlog", linthresh=1)
        ax.set(xlim=(0, ends[0] or 1.0), ylim=(0, ends[1]))
        ax.set(xlabel="exact loss of the next round (nats)", ylabel="people (logarithmic)")

    return page_chart((4.6, 2.7), words, draw, anchor)
