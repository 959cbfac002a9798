"""Figures of a simulation, for files and for the page: curves of searches, part of the network.

They have the form of Figures 2 to 5 of Kearns, Roth, Wu, Yaroslavtsev, "Privacy for the Protected
(Only)"; but claimed and true risk multiplier have a panel to themselves, for two scales in one
panel let any two curves be made to meet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError
from pdpaudit.report import charts as c
from pdpaudit.report import measured as s
from pdpaudit.report.blocks import Picture, Pictures, count
from pdpaudit.report.findings import Point
from pdpaudit.results.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "png")

#: What the horizontal axis counts.
CALLS = "oracle calls spent (people investigated)"

#: Names that a key inside the axes may have.
MOST_INSIDE = 6

#: Okabe and Ito's colours but for yellow, which paper swallows.
COLOURS = (c.VERMILLION, c.BLUE, c.GREEN, c.PURPLE, c.ORANGE, c.SKY, c.BLACK)
DASHES: tuple[c.Dash, ...] = ((0, ()), (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
MARKERS = "osD^vPX"

#: Curves that one panel tells apart.
MOST_CURVES = len(COLOURS) * len(DASHES)

#: Characters of a name; the panels are no wider.
LONGEST = 32

#: Discoveries of all runs that are marked; of more, evenly many.
MOST_DOTS = 1000

#: Multipliers that differ by more than this are drawn on a logarithmic scale.
WIDE = 20.0

Floats = npt.NDArray[np.float64]


def short(name: str) -> str:
    """Return what there is room for of a name.

    It stands last in whatever is said, so that one from right to left turns nothing round.
    """
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def runs_panel(ax: Axes, plain: s.Search | None, private: s.Search | None) -> None:
    """Draw the search without privacy beside a few runs with it."""
    end = _end(plain, private)
    key: c.Key = []
    for one, colour, width in ((private, c.VERMILLION, 0.9), (plain, c.BLUE, 2.2)):
        for run in one.shown if one else ():
            last = [end] if run.calls[-1] < end else []  # drawn out to where the axis ends
            calls, found = [*run.calls, *last], [*run.found, *(run.found[-1] for _ in last)]
            (line,) = ax.step(calls, found, where="post", color=colour, lw=width, zorder=2)
            if run.discoveries:
                size = 5.0 if len(run.discoveries) <= 30 else 3.4
                ax.plot(*np.array(run.discoveries).T, "o", color=c.PAPER, mec=colour, ms=size)
        if one and one.shown:
            runs = (
                f"{len(one.shown)} of {count(one.runs)} runs" if one.private else "without privacy"
            )
            key.insert(0, (line, f"{runs}: {short(one.name)}"))
    (met,) = ax.plot([], [], "o", color=c.PAPER, mec=c.SOFT, ms=4.5)
    key.append((met, "a new component is met"))
    if private is not None and private.discoveries:
        every = private.discoveries[:: math.ceil(len(private.discoveries) / MOST_DOTS)]
        (dots,) = ax.plot(*np.array(every).T, ".", color=c.SOFT, ms=3.5, mew=0, alpha=0.5, zorder=1)
        key.append((dots, "the same, in any of the runs"))
    c.write_key(ax.legend, key, loc="lower right")
    _found_axes(ax, end)


def mean_panel(ax: Axes, plain: s.Search | None, private: s.Search | None) -> None:
    """Draw the mean of the runs with a band of one standard deviation to either side."""
    key: c.Key = []
    if plain is not None:
        (curve,) = ax.plot(plain.calls, plain.found.mean, color=c.BLUE, lw=2.2, zorder=3)
        key.append((curve, f"without privacy: {short(plain.name)}"))
    if private is not None:
        words = f"mean of {count(private.runs)} runs: {short(private.name)}"
        key += _spread(ax, private.calls, private.found, (c.VERMILLION, DASHES[1], 0.0), words)
    c.write_key(ax.legend, key, loc="lower right")
    _found_axes(ax, _end(plain, private))


def multiplier_panel(ax: Axes, private: s.Search) -> None:
    """Draw the risk multiplier, claimed and true."""
    paid = private.multiplier
    assert paid is not None
    key: c.Key = []
    if paid.true is not None:
        key += _spread(ax, private.calls, paid.true, (c.BLACK, DASHES[0], 1.0), "true")
    claimed = _spread(ax, private.calls, paid.claimed, (c.GREEN, DASHES[1], 1.0), "claimed")
    key += claimed[:1] if paid.true is not None else claimed
    found = [paid.claimed.mean, *([paid.true.mean] if paid.true is not None else [])]
    finite = [value for curve in found for value in curve if math.isfinite(value)]
    # Room above for the key, for curves may rise at once or late.
    if max(finite, default=1.0) > WIDE:
        ax.set_yscale("log")
        ax.set_ylim(bottom=1.0, top=ax.get_ylim()[1] ** 1.3)
    else:
        ax.set_ylim(bottom=1.0, top=1 + 1.3 * (max(1.1, ax.get_ylim()[1]) - 1))
    ax.set_xlim(0, private.calls[-1])
    ax.set_xlabel(CALLS)
    ax.set_ylabel("risk multiplier e^ε (times)")
    c.write_key(ax.legend, key, loc="upper left", ncols=len(key))


def comparison_panel(
    ax: Axes, curves: Sequence[tuple[str, s.Search]], plain: s.Search | None
) -> None:
    """Draw mean curves of several searches, one standard deviation at a few places of each."""
    key: c.Key = []
    for i, (name, one) in enumerate(curves):
        # Bars stand where those of no other curve do.
        step = max(1, len(one.calls) // 5)
        first = (step * (i + 1)) // (len(curves) + 1)
        bars = ax.errorbar(
            one.calls, one.found.mean, one.found.sd if one.private else None,
            color=COLOURS[i % len(COLOURS)], linestyle=DASHES[i % len(DASHES)], lw=1.7,
            marker=MARKERS[i % len(MARKERS)], markersize=5, markerfacecolor=c.PAPER,
            markevery=(first, step), errorevery=(first, step), elinewidth=1.0, capsize=2.5,
        )  # fmt: skip
        key.append((bars, short(name)))
    if plain is not None:
        (curve,) = ax.plot(
            plain.calls, plain.found.mean, color=c.BLACK, lw=2.6, zorder=1, alpha=0.7
        )
        key.append((curve, f"without privacy: {short(plain.name)}"))
    _found_axes(ax, max(one.calls[-1] for _, one in curves))
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    c.write_key(ax.legend, key, **({} if len(key) <= MOST_INSIDE else beside))


def network_panel(ax: Axes, drawing: s.Drawing, search: s.DrawnSearch) -> c.Key:
    """Draw what one search did to a part of the network; return what the signs are called."""
    places = spread_out(drawing.positions)
    targeted = np.array(drawing.targeted, dtype=bool)
    found = np.array(search.found, dtype=bool)
    met = found | np.array(search.examined, dtype=bool)
    few = len(places) <= 80
    edges = np.array(s.drawn_ties(drawing), dtype=int).reshape(-1, 2)
    tied = found[edges].all(axis=1)
    c.draw_edges(ax, places, edges[~tied], c.FAINT, 0.5)
    between = c.draw_edges(ax, places, edges[tied], c.VERMILLION, 1.4 if few else 0.9)
    key: c.Key = [(between, "between targets found")]
    for chosen, mark, fill, rim, scale, words in (
        (targeted & met, "o", c.VERMILLION, c.BLACK, 1.3, "target found"),
        (~targeted & met, "s", c.BLUE, c.BLUE, 1.0, "protected, examined"),
        (targeted & ~met, "o", c.PAPER, c.SOFT, 0.7, "targeted, not examined"),
        (~targeted & ~met, "s", c.PAPER, c.SOFT, 0.7, "protected, not examined"),
    ):
        size = (26.0 if few else 15.0) * scale
        x, y = places[chosen].T
        marks = ax.scatter(x, y, size, fill, marker=mark, edgecolors=rim, linewidths=0.7, zorder=3)
        key.append((marks, words))
    ax.set_aspect("equal")
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    return key


def _end(*searches: s.Search | None) -> float:
    return max((one.calls[-1] for one in searches if one is not None), default=1.0)


def _spread(
    ax: Axes, calls: s.Curve, found: s.Spread, look: tuple[str, c.Dash, float], name: str
) -> c.Key:
    """Draw a mean with its band, in a colour and dash, which ends at the least possible value."""
    colour, dash, least = look
    mean, sd = (np.where(np.isfinite(one), one, np.nan) for one in (found.mean, found.sd))
    (line,) = ax.plot(calls, mean, color=colour, lw=1.9, linestyle=dash, zorder=3)
    band = ax.fill_between(
        calls, np.maximum(mean - sd, least), mean + sd, color=colour, alpha=0.22, lw=0, zorder=2
    )
    return [(line, name), (band, "± one standard deviation")]


def _found_axes(ax: Axes, end: float) -> None:
    ax.set_xlim(0, end)
    ax.set_ylim(bottom=0)
    ax.set_xlabel(CALLS)
    ax.set_ylabel("targets found (people)")


def spread_out(positions: Sequence[Sequence[float]]) -> Floats:
    """Pull a crowd apart: halfway from where people are to where their rank puts them.

    Layouts by springs throw those without ties far out and leave the others in a heap. Left stays
    left and above stays above.
    """
    places = np.array(positions).reshape(-1, 2)
    ranks = places.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return np.round((places + ranks / max(1, len(places) - 1)) / 2, 4)


@dataclass(frozen=True)
class Plot:
    """A figure: the end of its file's name, its words for a reader, its size, how it is drawn."""

    name: str
    words: str
    size: Point
    draw: Callable[[Figure], object]

    def pictures(self, anchor: str, caption: str = "", names: tuple[str, ...] = ()) -> Pictures:
        """Return the figure as a part of a page."""
        draw = partial(c.page_chart, self.size, self.words, self.draw)
        return Pictures((Picture(f"{anchor}-chart", draw, caption, names),), "scroll")


def plots_of(found: s.Simulation, title: str = "") -> tuple[list[Plot], Plot | None, Plot | None]:
    """Return the curves of each private search, all compared, and the network after each.

    Without a private search, the curves are those of the one without privacy.
    """
    searches: Sequence[s.Search | None] = found.private[: s.MOST_SEARCHES] or (None,)
    curves = []
    for i, one in enumerate(searches, start=1):
        name = "curves" if len(searches) == 1 else f"curves-{i}"
        words = "Targets found against oracle calls, single runs and their mean. "
        words += _ends(found.plain, one)
        draw = partial(_curves, found.plain, one, title)
        curves.append(Plot(name, words, (10.6, 5.0), draw))
    named = [(one.title, one) for one in found.private[:MOST_CURVES]]
    compared = comparison("comparison", named, found.plain, title) if len(named) > 1 else None
    drawing, drawn = found.drawing, None
    if drawing is not None and drawing.searches:
        words = "The same part of the network after each search: who was examined, who was found."
        across, down = min(2, len(drawing.searches)), -(-len(drawing.searches) // 2)
        size = (5.3 * across, 5.3 * down + 0.5)
        drawn = Plot("drawing", words, size, partial(_drawn, drawing, across, down))
    return curves, compared, drawn


def comparison(
    name: str, curves: Sequence[tuple[str, s.Search]], plain: s.Search | None, title: str
) -> Plot:
    """Return the mean curves of several searches in one figure."""

    def draw(figure: Figure) -> None:
        comparison_panel(figure.add_subplot(), curves, plain)
        figure.suptitle(title, fontsize=11)

    words = f"Mean targets found against oracle calls, {len(curves)} searches compared."
    return Plot(name, words, (6.4 if len(curves) < MOST_INSIDE else 8.8, 4.6), draw)


def write_figures(
    simulation: Mapping[str, object],
    folder: Path,
    stem: str = "experiment",
    formats: Sequence[str] = FORMATS,
) -> list[Path]:
    """Write the figures of one simulation."""
    found = s.simulation_of(simulation, "the simulation")
    curves, *others = plots_of(found, _title(found))
    return _write([*curves, *filter(None, others)], folder, stem, formats)


def write_comparison(
    simulations: Mapping[str, Mapping[str, object]],
    folder: Path,
    stem: str = "comparison",
    formats: Sequence[str] = FORMATS,
    title: str = "",
) -> list[Path]:
    """Write one figure that compares the private searches of several simulations."""
    curves: list[tuple[str, s.Search]] = []
    plain = []
    for label, body in simulations.items():
        found, name = s.simulation_of({**body, "drawing": None}, label), s.safe_name(label)
        alone = len(found.private) == 1
        curves += ((name if alone else f"{name}: {one.title}", one) for one in found.private)
        plain += [] if found.plain is None else [found.plain]
    if not curves:
        raise InputError("no private search to compare; give simulations that hold one each")
    if len(curves) > MOST_CURVES:
        many = f"{len(curves)} searches to compare"
        raise InputError(f"{many}; one figure tells {MOST_CURVES} apart, so give fewer")
    # A search without privacy that is not the same for all measures none of them.
    same = len({(one.calls, one.found.mean) for one in plain}) == 1
    plot = comparison("", curves, plain[0] if same else None, s.safe_name(title))
    return _write([plot], folder, stem, formats)


def _curves(plain: s.Search | None, private: s.Search | None, title: str, figure: Figure) -> None:
    """Draw runs, mean and multiplier."""
    grid = figure.add_gridspec(2, 2, width_ratios=(1.15, 1), height_ratios=(1.25, 1))
    paid = private is not None and private.multiplier is not None
    left = figure.add_subplot(grid[:, 0])
    right = figure.add_subplot(grid[0, 1] if paid else grid[:, 1])
    runs_panel(left, plain, private)
    left.set_title("Single runs")
    mean_panel(right, plain, private)
    right.set_title("Mean over the runs")
    if private is not None and paid:
        below = figure.add_subplot(grid[1, 1], sharex=right)
        multiplier_panel(below, private)
        below.set_title("What it costs in privacy")
        right.set_xlabel("")
        right.tick_params(labelbottom=False)
    figure.suptitle(title, fontsize=11)


def _drawn(drawing: s.Drawing, across: int, down: int, figure: Figure) -> None:
    """Draw a part of the network, once for each search."""
    key: c.Key = []
    for i, one in enumerate(drawing.searches, start=1):
        ax = figure.add_subplot(down, across, i)
        key = network_panel(ax, drawing, one)
        title = f"{short(one.name)}\n{s.what_it_did(drawing, one)}"
        ax.set_title(title, fontsize=8.5)
    c.write_key(
        figure.legend, key, loc="outside lower center", ncols=5, frameon=False,
        title=s.ties_left_out(drawing), title_fontsize=8.5,
    )  # fmt: skip


def _title(found: s.Simulation) -> str:
    """Say what was searched; names stand last, for they may be written from right to left."""
    groups = f" in {count(len(found.components))} components" if found.components else ""
    size = f"{count(found.vertices)} vertices, {count(found.targets)} targets{groups}"
    return " · ".join(part for part in (size, short(found.regime), short(found.source)) if part)


def _ends(plain: s.Search | None, private: s.Search | None) -> str:
    """Say what each search finds with all of its calls, and what that costs."""
    words = []
    for one in filter(None, (plain, private)):
        end = f"{one.name} finds {one.found.mean[-1]:.4g} with {count(int(one.calls[-1]))} calls"
        words.append(end + (f", ± {one.found.sd[-1]:.3g}." if one.private else "."))
    paid = private.multiplier if private else None
    if paid:
        true = "" if paid.true is None else f", true {paid.true.mean[-1]:.4g}"
        words.append(f"Risk multiplier then: claimed {paid.claimed.mean[-1]:.4g}{true}.")
    return " ".join(words)


def _write(plots: Sequence[Plot], folder: Path, stem: str, formats: Sequence[str]) -> list[Path]:
    unknown = [form for form in formats if form not in FORMATS]
    if unknown or not formats:
        raise InputError(f"no figure as {unknown[0] if unknown else 'nothing'}: choose svg or png")
    made = []
    for plot in plots:
        with c.chart(plot.size) as figure:
            plot.draw(figure)
            for form in dict.fromkeys(formats):
                name = f"{stem}-{plot.name}" if plot.name else stem
                made.append(folder / f"{name}.{form}")
                write_bytes(made[-1], c.figure_bytes(figure, form, plot.words))
    return made
