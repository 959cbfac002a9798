"""Figures of ``simulate`` for a paper or a page, as SVG and PNG.

They have the form of Figures 2 to 5 of Kearns, Roth, Wu, Yaroslavtsev, "Privacy for the Protected
(Only)"; but claimed and true risk multiplier have a panel to themselves, for two scales in one
panel let any two curves be made to meet. Needs matplotlib; the report's own page does not.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdpaudit.core.errors import InputError
from pdpaudit.report.figures import count
from pdpaudit.report.pictures.searched import ties_left_out
from pdpaudit.report.simulated import Search, Simulation, safe_name, simulation_of
from pdpaudit.results.results import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "write_comparison", "write_figures"]

FORMATS = ("svg", "png")

#: Searches that get a figure of their own.
MOST_FIGURES = 12

#: On top of matplotlib's defaults, whatever the user's own settings are.
STYLE: dict[str, Any] = {
    "figure.facecolor": "#ffffff",  # a ground of its own: it is read on dark pages too
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
    "mathtext.fontset": "dejavusans",
    "svg.fonttype": "none",  # text stays text: it can be searched, copied and read aloud
    "svg.hashsalt": "pdpaudit",
    "savefig.dpi": 160,
    "figure.constrained_layout.w_pad": 0.08,
    "figure.constrained_layout.h_pad": 0.08,
}

Draw = Callable[["Figure"], None]


def write_figures(
    simulation: Mapping[str, Any],
    folder: Path,
    stem: str = "experiment",
    formats: Sequence[str] = FORMATS,
) -> list[Path]:
    """Write the figures of one simulation."""
    from pdpaudit.report.pictures.panels import MOST_CURVES, MOST_INSIDE

    told = simulation_of(simulation, "the simulation")
    private: tuple[Search | None, ...] = told.private[:MOST_FIGURES] or (None,)
    figures: dict[str, tuple[str, tuple[float, float], Draw]] = {}
    for i, one in enumerate(private, start=1):
        name = f"{stem}-curves" if len(private) == 1 else f"{stem}-curves-{i}"
        figures[name] = _alt(told, one), (10.6, 5.0), _curves(told, one)
    if len(told.private) > 1:
        named = [(one.title, one) for one in told.private]
        words = f"Mean targets found against oracle calls, {len(named)} searches compared."
        plain = [] if told.plain is None else [("", told.plain)]
        draw = _compared(named[:MOST_CURVES], plain, _title(told))
        width = 6.4 if len(named) < MOST_INSIDE else 8.8
        figures[f"{stem}-comparison"] = words, (width, 4.6), draw
    if told.drawing is not None and told.drawing.searches:
        words = "The same part of the network after each search: who was examined, who was found."
        across = min(2, len(told.drawing.searches))
        down = -(-len(told.drawing.searches) // 2)
        figures[f"{stem}-drawing"] = words, (5.3 * across, 5.3 * down + 0.5), _drawn(told)
    return _write(figures, folder, formats)


def write_comparison(
    simulations: Mapping[str, Mapping[str, Any]],
    folder: Path,
    stem: str = "comparison",
    formats: Sequence[str] = FORMATS,
    title: str = "",
) -> list[Path]:
    """Write one figure that compares the private searches of several simulations."""
    from pdpaudit.report.pictures.panels import MOST_CURVES, MOST_INSIDE

    named = []
    for label, body in simulations.items():
        told, name = simulation_of({**body, "drawing": None}, label), safe_name(label)
        alone = len(told.private) == 1
        ones = [(name if alone else f"{name}: {one.title}", one) for one in told.private]
        named.append((told, name, ones))
    curves = [one for _, _, ones in named for one in ones]
    if not curves:
        raise InputError("no private search to compare; give simulations that hold one each")
    if len(curves) > MOST_CURVES:
        raise InputError(
            f"{len(curves)} searches to compare; one figure tells {MOST_CURVES} apart, so give "
            "fewer"
        )
    plain = [(name, told.plain) for told, name, _ in named if told.plain is not None]
    same = len({(one.calls, one.found.mean) for _, one in plain}) < 2
    words = f"Mean targets found against oracle calls, {len(curves)} searches compared."
    draw = _compared(curves, plain[:1] if same else plain, safe_name(title))
    width = 10.6 if not same else 6.4 if len(curves) < MOST_INSIDE else 8.8
    return _write({stem: (words, (width, 4.6), draw)}, folder, formats)


def _compared(
    curves: Sequence[tuple[str, Search]], plain: Sequence[tuple[str, Search]], title: str
) -> Draw:
    """Return what compares searches, beside those without privacy where they differ."""
    from pdpaudit.report.pictures.panels import comparison_panel

    def draw(figure: Figure) -> None:
        if len(plain) < 2:
            comparison_panel(figure.add_subplot(), curves, plain[0][1] if plain else None)
        else:
            left, right = figure.subplots(1, 2, sharey=True)
            comparison_panel(left, plain, None)
            left.set_title("without privacy")
            comparison_panel(right, curves, None)
            right.set_title("with privacy: mean, ± one standard deviation here and there")
            right.set_ylabel("")
        figure.suptitle(title, parse_math=False, fontsize=11)

    return draw


def _curves(told: Simulation, private: Search | None) -> Draw:
    """Return what draws runs, mean and multiplier."""
    from pdpaudit.report.pictures.panels import mean_panel, multiplier_panel, runs_panel

    def draw(figure: Figure) -> None:
        grid = figure.add_gridspec(2, 2, width_ratios=(1.15, 1), height_ratios=(1.25, 1))
        paid = private is not None and private.multiplier is not None
        left = figure.add_subplot(grid[:, 0])
        right = figure.add_subplot(grid[0, 1] if paid else grid[:, 1])
        runs_panel(left, told.plain, private)
        left.set_title("Single runs")
        mean_panel(right, told.plain, private)
        right.set_title("Mean over the runs")
        if private is not None and paid:
            below = figure.add_subplot(grid[1, 1], sharex=right)
            multiplier_panel(below, private)
            below.set_title("What it costs in privacy")
            below.set_xlabel(right.get_xlabel())
            right.set_xlabel("")
            right.tick_params(labelbottom=False)
        figure.suptitle(_title(told), parse_math=False, fontsize=11)

    return draw


def _drawn(told: Simulation) -> Draw:
    """Return what draws a part of the network, once for each search."""
    from pdpaudit.report.pictures.panels import network_key, network_panel

    def draw(figure: Figure) -> None:
        drawing = told.drawing
        if drawing is None:
            return
        across = min(2, len(drawing.searches))
        down = -(-len(drawing.searches) // 2)
        for i, one in enumerate(drawing.searches, start=1):
            network_panel(figure.add_subplot(down, across, i), drawing, one)
        figure.legend(
            *network_key(), loc="outside lower center", ncols=5, frameon=False,
            title=ties_left_out(drawing), title_fontsize=8.5,
        )  # fmt: skip

    return draw


def _title(told: Simulation) -> str:
    """Say what was searched; names stand last, for they may be written from right to left."""
    from pdpaudit.report.pictures.panels import short

    groups = f" in {count(len(told.components))} components" if told.components else ""
    size = f"{count(told.vertices)} vertices, {count(told.targets)} targets{groups}"
    return " · ".join(part for part in (size, short(told.regime), short(told.source)) if part)


def _alt(told: Simulation, private: Search | None) -> str:
    """Say what the curves show, for who does not see them."""
    words = [f"Targets found against oracle calls: {_title(told)}."]
    for one in (told.plain, private):
        if one is not None:
            end = (
                f"{one.name} finds {one.found.mean[-1]:.4g} with {count(int(one.calls[-1]))} calls"
            )
            words.append(end + (f", ± {one.found.sd[-1]:.3g}." if one.private else "."))
    if private is not None and private.multiplier is not None:
        paid = private.multiplier
        true = "" if paid.true is None else f", true {paid.true.mean[-1]:.4g}"
        words.append(f"Risk multiplier then: claimed {paid.claimed.mean[-1]:.4g}{true}.")
    return " ".join(words)


def _write(
    figures: Mapping[str, tuple[str, tuple[float, float], Draw]],
    folder: Path,
    formats: Sequence[str],
) -> list[Path]:
    unknown = [form for form in formats if form not in FORMATS]
    if unknown or not formats:
        raise InputError(f"no figure as {unknown[0] if unknown else 'nothing'}: choose svg or png")
    made = []
    for name, (words, size, draw) in figures.items():
        with _figure(size) as figure:
            draw(figure)
            for form in dict.fromkeys(formats):
                path = folder / f"{name}.{form}"
                write_bytes(path, _bytes(figure, form, words))
                made.append(path)
    return made


@contextmanager
def _figure(size: tuple[float, float]) -> Iterator[Figure]:
    """Hand out a figure that no window knows of, under our own settings."""
    try:
        import matplotlib.style
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise InputError(
            'figures need matplotlib, which is not installed: pip install "pdpaudit[figures]"'
        ) from None
    with matplotlib.style.context(STYLE, after_reset=True), warnings.catch_warnings():
        # A name in a script that the font does not have: boxes in the PNG, itself in the SVG.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        yield Figure(figsize=size, layout="constrained")


def _bytes(figure: Figure, form: str, words: str) -> bytes:
    """Return a file that holds nothing of when and where it was made."""
    held = io.BytesIO()
    if form == "png":
        figure.savefig(held, format="png", metadata={"Software": None})
        return held.getvalue()
    figure.savefig(held, format="svg", metadata={"Date": None, "Creator": None})
    told = f' role="img">\n <title>{escape(words)}</title>'
    text = held.getvalue().decode()
    text = re.sub(r"(?s)\s*<metadata>.*?</metadata>", "", text, count=1)
    head, tail = text.split("<svg", 1)
    return f"{head}<svg{tail.replace('>', told, 1)}".encode()
