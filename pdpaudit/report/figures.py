"""Figures of a simulation, for files and for the page: curves of searches, part of the network.

They have the form of Figures 2 to 5 of Kearns, Roth, Wu, Yaroslavtsev, "Privacy for the Protected
(Only)"; but claimed and true risk multiplier have a panel to themselves, for two scales in one
panel let any two curves be made to meet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pdpaudit.core.errors import InputError
from pdpaudit.report.blocks import Picture
from pdpaudit.report.charts import (
    BLACK,
    BLUE,
    FAINT,
    GREEN,
    ORANGE,
    PAPER,
    PURPLE,
    SKY,
    SOFT,
    VERMILLION,
    Key,
    chart,
    figure_bytes,
    page_svg,
    write_key,
)
from pdpaudit.report.findings import Point
from pdpaudit.report.plaintext import count
from pdpaudit.report.simulation import (
    Curve,
    Drawing,
    DrawnSearch,
    Multiplier,
    Run,
    Search,
    Simulation,
    Spread,
    drawn_ties,
    safe_name,
    simulation_of,
    ties_left_out,
    what_it_did,
)
from pdpaudit.results.results import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "FORMATS",
    "compared_pictures",
    "drawing_pictures",
    "search_pictures",
    "write_comparison",
    "write_figures",
]

FORMATS = ("svg", "png")

#: What the horizontal axis counts.
CALLS = "oracle calls spent (people investigated)"

#: Searches that get a figure of their own.
MOST_FIGURES = 12

#: Names that a key inside the axes may have.
MOST_INSIDE = 6

Draw = Callable[["Figure"], None]

#: Okabe and Ito's colours but for yellow, which paper swallows.
COLOURS = (VERMILLION, BLUE, GREEN, PURPLE, ORANGE, SKY, BLACK)
Dash = tuple[float, tuple[float, ...]]
DASHES: tuple[Dash, ...] = (
    (0, ()),
    (0, (5, 2)),
    (0, (1.5, 1.5)),
    (0, (6, 2, 1.5, 2)),
)
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


def runs_panel(ax: Axes, plain: Search | None, private: Search | None) -> None:
    """Draw the search without privacy beside a few runs with it."""
    end = _end(plain, private)
    key: Key = []
    of_all: Key = []
    if private is not None:
        if private.discoveries:
            every = private.discoveries[:: math.ceil(len(private.discoveries) / MOST_DOTS)]
            (dots,) = ax.plot(
                *np.array(every).T, ".", color=SOFT, markersize=3.5, markeredgewidth=0, alpha=0.5,
                zorder=1,
            )  # fmt: skip
            of_all.append((dots, "the same, in any of the runs"))
        for run in private.shown:
            (line,) = ax.step(
                *_steps(run, end), where="post", color=VERMILLION, lw=0.9, alpha=0.85, zorder=2
            )
        for run in private.shown:
            _circles(ax, run, VERMILLION, filled=False)
        if private.shown:
            runs = f"{len(private.shown)} of {count(private.runs)} runs"
            key.append((line, f"{runs}: {short(private.name)}"))
    if plain is not None and plain.shown:
        (curve,) = ax.step(*_steps(plain.shown[0], end), where="post", color=BLUE, lw=2.2, zorder=3)
        _circles(ax, plain.shown[0], BLUE, filled=True)
        key.insert(0, (curve, f"without privacy: {short(plain.name)}"))
    (met,) = ax.plot([], [], "o", color=PAPER, markeredgecolor=SOFT, markersize=4.5)
    key.append((met, "a new component is met"))
    write_key(ax, key + of_all, "lower right")
    _found_axes(ax, end)


def mean_panel(ax: Axes, plain: Search | None, private: Search | None) -> None:
    """Draw the mean of the runs with a band of one standard deviation to either side."""
    key: Key = []
    if plain is not None:
        (curve,) = ax.plot(plain.calls, plain.found.mean, color=BLUE, lw=2.2, zorder=3)
        key.append((curve, f"without privacy: {short(plain.name)}"))
    if private is not None:
        words = f"mean of {count(private.runs)} runs: {short(private.name)}"
        key += _spread(ax, private.calls, private.found, (VERMILLION, DASHES[1], 0.0), words)
    write_key(ax, key, "lower right")
    _found_axes(ax, _end(plain, private))


def multiplier_panel(ax: Axes, private: Search) -> None:
    """Draw the risk multiplier, claimed and true."""
    paid = private.multiplier
    assert paid is not None
    key: Key = []
    if paid.true is not None:
        key += _spread(ax, private.calls, paid.true, (BLACK, DASHES[0], 1.0), "true")
    claimed = _spread(ax, private.calls, paid.claimed, (GREEN, DASHES[1], 1.0), "claimed")
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
    ax.set_ylabel(r"risk multiplier $e^{\varepsilon}$ (times)")
    write_key(ax, key, "upper left", across=len(key))


def comparison_panel(ax: Axes, curves: Sequence[tuple[str, Search]], plain: Search | None) -> None:
    """Draw mean curves of several searches, one standard deviation at a few places of each."""
    key: Key = []
    for i, (name, one) in enumerate(curves):
        # Bars stand where those of no other curve do.
        step = max(1, len(one.calls) // 5)
        first = (step * (i + 1)) // (len(curves) + 1)
        bars = ax.errorbar(
            one.calls, one.found.mean, one.found.sd if one.private else None,
            color=COLOURS[i % len(COLOURS)], linestyle=DASHES[i % len(DASHES)], lw=1.7,
            marker=MARKERS[i % len(MARKERS)], markersize=5, markerfacecolor=PAPER,
            markevery=(first, step), errorevery=(first, step), elinewidth=1.0, capsize=2.5,
        )  # fmt: skip
        key.append((bars, short(name)))
    if plain is not None:
        (curve,) = ax.plot(plain.calls, plain.found.mean, color=BLACK, lw=2.6, zorder=1, alpha=0.7)
        key.append((curve, f"without privacy: {short(plain.name)}"))
    _found_axes(ax, max(one.calls[-1] for _, one in curves))
    write_key(ax, key, "best" if len(key) <= MOST_INSIDE else "beside")


def network_panel(ax: Axes, drawing: Drawing, search: DrawnSearch) -> None:
    """Draw what one search did to a part of the network."""
    places = np.array(spread_out(drawing.positions)).reshape(-1, 2)
    targeted = np.array(drawing.targeted, dtype=bool)
    found, seen = np.array(search.found, dtype=bool), np.array(search.examined, dtype=bool)
    edges = np.array(drawn_ties(drawing), dtype=int).reshape(-1, 2)
    tied = found[edges].all(axis=1)
    few = len(places) <= 80
    size = 26.0 if few else 15.0
    for chosen, colour, width in ((~tied, FAINT, 0.5), (tied, VERMILLION, 1.4 if few else 0.9)):
        # One line with gaps, not one for each edge.
        gaps = np.pad(places[edges[chosen]], ((0, 0), (0, 1), (0, 0)), constant_values=np.nan)
        ax.plot(*gaps.reshape(-1, 2).T, color=colour, lw=width, zorder=1)
    kinds = (
        (~targeted & ~seen & ~found, "s", PAPER, SOFT, 0.7),
        (targeted & ~seen & ~found, "o", PAPER, SOFT, 0.7),
        (~targeted & (seen | found), "s", BLUE, BLUE, 1.0),
        (targeted & (seen | found), "o", VERMILLION, BLACK, 1.3),
    )
    for chosen, mark, fill, rim, scale in kinds:
        x, y = places[chosen].T
        ax.scatter(x, y, size * scale, fill, marker=mark, edgecolors=rim, linewidths=0.7, zorder=3)
    ax.set_aspect("equal")
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xticks=[], yticks=[])
    for side in ax.spines.values():
        side.set_visible(False)


def network_key() -> Key:
    """Return what the signs of :func:`network_panel` are called."""
    from matplotlib.lines import Line2D

    signs = (
        ("target found", "o", VERMILLION, BLACK),
        ("protected, examined", "s", BLUE, BLUE),
        ("targeted, not examined", "o", PAPER, SOFT),
        ("protected, not examined", "s", PAPER, SOFT),
    )
    return [
        *(
            (Line2D([], [], ls="", marker=mark, markerfacecolor=fill, markeredgecolor=rim), name)
            for name, mark, fill, rim in signs
        ),
        (Line2D([], [], color=VERMILLION, lw=1.6), "between targets found"),
    ]


def _end(*searches: Search | None) -> float:
    return max((one.calls[-1] for one in searches if one is not None), default=1.0)


def _steps(run: Run, end: float) -> tuple[Floats, Floats]:
    """Return the corners of a run, drawn out to where the axis ends."""
    calls, found = np.array(run.calls), np.array(run.found)
    if calls[-1] >= end:
        return calls, found
    return np.append(calls, end), np.append(found, found[-1])


def _circles(ax: Axes, run: Run, colour: str, *, filled: bool) -> None:
    if run.discoveries:
        size = 5.0 if len(run.discoveries) <= 30 else 3.4
        ax.plot(
            *np.array(run.discoveries).T, "o", color=colour if filled else PAPER,
            markeredgecolor=PAPER if filled else colour, markersize=size,
            markeredgewidth=0.6 if filled else 0.9, zorder=4 if filled else 2.5,
        )  # fmt: skip


def _spread(ax: Axes, calls: Curve, found: Spread, look: tuple[str, Dash, float], name: str) -> Key:
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


def spread_out(positions: Sequence[Point]) -> list[Point]:
    """Pull a crowd apart: halfway from where people are to where their rank puts them.

    Layouts by springs throw those without ties far out and leave the others in a heap. Left stays
    left and above stays above.
    """
    columns = []
    for values in zip(*positions, strict=True):
        shares = [0.0] * len(values)
        for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
            shares[place] = rank / max(1, len(values) - 1)
        pairs = zip(values, shares, strict=True)
        columns.append([round((value + share) / 2, 4) for value, share in pairs])
    return list(zip(*columns, strict=True)) if columns else []


def search_pictures(found: Simulation, private: Search | None, anchor: str) -> tuple[Picture, ...]:
    """Return the charts of one private search for a page."""
    ends = _ends(found.plain, private)
    panels: list[tuple[str, Callable[[Axes], object]]] = [
        (f"Single runs. {ends}", lambda ax: runs_panel(ax, found.plain, private)),
        (f"Mean curves. {ends}", lambda ax: mean_panel(ax, found.plain, private)),
    ]
    if private is not None and private.multiplier is not None:
        words = f"Risk multiplier of {private.name} over the calls. {_paid(private.multiplier)}"
        panels.append((words, partial(multiplier_panel, private=private)))
    return tuple(
        Picture(f"{anchor}-chart-{i}", partial(_panel, words, (4.6, 3.5), draw))
        for i, (words, draw) in enumerate(panels, start=1)
    )


def compared_pictures(found: Simulation, anchor: str) -> tuple[Picture, ...]:
    """Return the mean curves of all searches for a page; nothing of a single one."""
    named = [(one.title, one) for one in found.private[:MOST_CURVES]]
    if len(named) < 2:
        return ()
    words = "Mean curves of all searches. " + _ends(found.plain, *(one for _, one in named))
    _, (width, _) = _comparison(named)
    draw = partial(comparison_panel, curves=named, plain=found.plain)
    return (Picture(anchor, partial(_panel, words, (width, 4.0), draw)),)


def drawing_pictures(found: Simulation, anchor: str) -> tuple[Picture, ...]:
    """Return a part of the network after each search for a page."""
    drawing = found.drawing
    if drawing is None:
        return ()
    pictures = []
    for i, one in enumerate(drawing.searches, start=1):
        words = f"{one.name}: {what_it_did(drawing, one)}"
        draw = partial(network_panel, drawing=drawing, search=one)
        panel = partial(_panel, f"Part of the network after {one.name}", (5.3, 5.3), draw)
        pictures.append(Picture(f"{anchor}-{i}", panel, caption=words, names=found.names))
    return tuple(pictures)


def _panel(words: str, size: Point, draw: Callable[[Axes], object], anchor: str) -> str:
    with chart(size) as figure:
        draw(figure.add_subplot())
        return page_svg(figure, anchor, words)


def write_figures(
    simulation: Mapping[str, object],
    folder: Path,
    stem: str = "experiment",
    formats: Sequence[str] = FORMATS,
) -> list[Path]:
    """Write the figures of one simulation."""
    found = simulation_of(simulation, "the simulation")
    private: tuple[Search | None, ...] = found.private[:MOST_FIGURES] or (None,)
    figures: dict[str, tuple[str, Point, Draw]] = {}
    for i, one in enumerate(private, start=1):
        name = f"{stem}-curves" if len(private) == 1 else f"{stem}-curves-{i}"
        figures[name] = _alt(found, one), (10.6, 5.0), partial(_curves, found, one)
    if len(found.private) > 1:
        named = [(one.title, one) for one in found.private]
        draw = partial(_compared, named[:MOST_CURVES], found.plain, _title(found))
        figures[f"{stem}-comparison"] = *_comparison(named), draw
    if found.drawing is not None and found.drawing.searches:
        words = "The same part of the network after each search: who was examined, who was found."
        across = min(2, len(found.drawing.searches))
        down = -(-len(found.drawing.searches) // 2)
        figures[f"{stem}-drawing"] = (
            words,
            (5.3 * across, 5.3 * down + 0.5),
            partial(_drawn, found.drawing),
        )
    return _write(figures, folder, formats)


def write_comparison(
    simulations: Mapping[str, Mapping[str, object]],
    folder: Path,
    stem: str = "comparison",
    formats: Sequence[str] = FORMATS,
    title: str = "",
) -> list[Path]:
    """Write one figure that compares the private searches of several simulations."""
    named = []
    for label, body in simulations.items():
        found, name = simulation_of({**body, "drawing": None}, label), safe_name(label)
        alone = len(found.private) == 1
        ones = [(name if alone else f"{name}: {one.title}", one) for one in found.private]
        named.append((found, name, ones))
    curves = [one for _, _, ones in named for one in ones]
    if not curves:
        raise InputError("no private search to compare; give simulations that hold one each")
    if len(curves) > MOST_CURVES:
        raise InputError(
            f"{len(curves)} searches to compare; one figure tells {MOST_CURVES} apart, so give "
            "fewer"
        )
    plain = [found.plain for found, _, _ in named if found.plain is not None]
    # A search without privacy that is not the same for all measures none of them.
    same = len({(one.calls, one.found.mean) for one in plain}) == 1
    draw = partial(_compared, curves, plain[0] if same else None, safe_name(title))
    return _write({stem: (*_comparison(curves), draw)}, folder, formats)


def _comparison(curves: Sequence[tuple[str, Search]]) -> tuple[str, Point]:
    words = f"Mean targets found against oracle calls, {len(curves)} searches compared."
    return words, (6.4 if len(curves) < MOST_INSIDE else 8.8, 4.6)


def _compared(
    curves: Sequence[tuple[str, Search]], plain: Search | None, title: str, figure: Figure
) -> None:
    comparison_panel(figure.add_subplot(), curves, plain)
    figure.suptitle(title, parse_math=False, fontsize=11)


def _curves(found: Simulation, private: Search | None, figure: Figure) -> None:
    """Draw runs, mean and multiplier."""
    grid = figure.add_gridspec(2, 2, width_ratios=(1.15, 1), height_ratios=(1.25, 1))
    paid = private is not None and private.multiplier is not None
    left = figure.add_subplot(grid[:, 0])
    right = figure.add_subplot(grid[0, 1] if paid else grid[:, 1])
    runs_panel(left, found.plain, private)
    left.set_title("Single runs")
    mean_panel(right, found.plain, private)
    right.set_title("Mean over the runs")
    if private is not None and paid:
        below = figure.add_subplot(grid[1, 1], sharex=right)
        multiplier_panel(below, private)
        below.set_title("What it costs in privacy")
        right.set_xlabel("")
        right.tick_params(labelbottom=False)
    figure.suptitle(_title(found), parse_math=False, fontsize=11)


def _drawn(drawing: Drawing, figure: Figure) -> None:
    """Draw a part of the network, once for each search."""
    down = -(-len(drawing.searches) // 2)
    for i, one in enumerate(drawing.searches, start=1):
        ax = figure.add_subplot(down, min(2, len(drawing.searches)), i)
        network_panel(ax, drawing, one)
        title = f"{short(one.name)}\n{what_it_did(drawing, one)}"
        ax.set_title(title, parse_math=False, fontsize=8.5)
    signs, names = zip(*network_key(), strict=True)
    figure.legend(
        signs, names, loc="outside lower center", ncols=5, frameon=False,
        title=ties_left_out(drawing), title_fontsize=8.5,
    )  # fmt: skip


def _title(found: Simulation) -> str:
    """Say what was searched; names stand last, for they may be written from right to left."""
    groups = f" in {count(len(found.components))} components" if found.components else ""
    size = f"{count(found.vertices)} vertices, {count(found.targets)} targets{groups}"
    return " · ".join(part for part in (size, short(found.regime), short(found.source)) if part)


def _alt(found: Simulation, private: Search | None) -> str:
    """Say what the curves show, for who does not see them."""
    words = f"Targets found against oracle calls: {_title(found)}. {_ends(found.plain, private)}"
    paid = private.multiplier if private else None
    return f"{words} {_paid(paid)}" if paid else words


def _ends(*searches: Search | None) -> str:
    """Say what each search finds with all of its calls."""
    words = []
    for one in searches:
        if one is not None:
            end = (
                f"{one.name} finds {one.found.mean[-1]:.4g} with {count(int(one.calls[-1]))} calls"
            )
            words.append(end + (f", ± {one.found.sd[-1]:.3g}." if one.private else "."))
    return " ".join(words)


def _paid(paid: Multiplier) -> str:
    true = "" if paid.true is None else f", true {paid.true.mean[-1]:.4g}"
    return f"Risk multiplier then: claimed {paid.claimed.mean[-1]:.4g}{true}."


def _write(
    figures: Mapping[str, tuple[str, Point, Draw]],
    folder: Path,
    formats: Sequence[str],
) -> list[Path]:
    unknown = [form for form in formats if form not in FORMATS]
    if unknown or not formats:
        raise InputError(f"no figure as {unknown[0] if unknown else 'nothing'}: choose svg or png")
    made = []
    for name, (words, size, draw) in figures.items():
        with chart(size) as figure:
            draw(figure)
            for form in dict.fromkeys(formats):
                path = folder / f"{name}.{form}"
                write_bytes(path, figure_bytes(figure, form, words))
                made.append(path)
    return made
