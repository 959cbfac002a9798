"""Panels of the published figures, drawn with matplotlib on axes that are handed in.

Colours are those of Okabe and Ito, "Color universal design", 2008; what they tell apart, widths,
dashes and markers tell apart too, for who prints in grey. Text from a file is set as it is: dollar
signs in it start no formula.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from pdpaudit.report.figures import count
from pdpaudit.report.pictures.searched import drawn_ties, spread_out, what_it_did
from pdpaudit.report.simulated import Curve, Drawing, DrawnSearch, Run, Search, Spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "MOST_CURVES",
    "MOST_INSIDE",
    "comparison_panel",
    "literally",
    "mean_panel",
    "multiplier_panel",
    "network_key",
    "network_panel",
    "runs_panel",
    "short",
]

BLACK, BLUE, VERMILLION, GREEN = "#000000", "#0072B2", "#D55E00", "#009E73"
SOFT, FAINT, PAPER = "#6b6b6b", "#c8c8c8", "#ffffff"

#: Okabe and Ito's colours but for yellow, which paper swallows.
COLOURS = (VERMILLION, BLUE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", BLACK)
DASHES: tuple[tuple[float, tuple[float, ...]], ...] = (
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


#: Names that a key inside the axes may have.
MOST_INSIDE = 6


def literally(
    ax: Axes,
    handles: Sequence[Any],
    names: Sequence[str],
    where: Literal["lower right", "upper left", "best", "beside"],
    across: int = 1,
) -> None:
    """Write a key whose names are not read as formulas."""
    blanks = [f"curve {i}" for i in range(len(names))]
    if where == "beside":
        legend = ax.legend(handles, blanks, loc="center left", bbox_to_anchor=(1.0, 0.5))
    else:
        legend = ax.legend(handles, blanks, loc=where, ncols=across, columnspacing=1.2)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


def short(name: str) -> str:
    """Return what there is room for of a name.

    It stands last in whatever is said, so that one from right to left turns nothing round.
    """
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def runs_panel(ax: Axes, plain: Search | None, private: Search | None) -> None:
    """Draw the search without privacy beside a few runs with it."""
    end = _end(plain, private)
    handles: list[Any] = []
    names: list[str] = []
    if private is not None:
        if private.discoveries:
            every = np.array(
                private.discoveries[:: math.ceil(len(private.discoveries) / MOST_DOTS)]
            )
            (dots,) = ax.plot(
                *every.T, ".", color=SOFT, markersize=3.5, markeredgewidth=0, alpha=0.5, zorder=1
            )
        for run in private.shown:
            (line,) = ax.step(
                *_steps(run, end), where="post", color=VERMILLION, lw=0.9, alpha=0.85, zorder=2
            )
        for run in private.shown:
            _circles(ax, run, VERMILLION, filled=False)
        if private.shown:
            handles.append(line)
            names.append(
                f"{len(private.shown)} of {count(private.runs)} runs: {short(private.name)}"
            )
    if plain is not None and plain.shown:
        (curve,) = ax.step(*_steps(plain.shown[0], end), where="post", color=BLUE, lw=2.2, zorder=3)
        _circles(ax, plain.shown[0], BLUE, filled=True)
        handles.insert(0, curve)
        names.insert(0, f"without privacy: {short(plain.name)}")
    met = ax.plot([], [], "o", color=PAPER, markeredgecolor=SOFT, markersize=4.5)
    handles += met
    names.append("a new component is met")
    if private is not None and private.discoveries:
        handles.append(dots)
        names.append("the same, in any of the runs")
    literally(ax, handles, names, "lower right")
    _found_axes(ax, end)


def mean_panel(ax: Axes, plain: Search | None, private: Search | None) -> None:
    """Draw the mean of the runs with a band of one standard deviation to either side."""
    handles: list[Any] = []
    names: list[str] = []
    if plain is not None:
        handles += ax.plot(plain.calls, plain.found.mean, color=BLUE, lw=2.2, zorder=3)
        names.append(f"without privacy: {short(plain.name)}")
    if private is not None:
        handles += _spread(ax, private.calls, private.found, VERMILLION, DASHES[1], 0.0)
        names += [
            f"mean of {count(private.runs)} runs: {short(private.name)}",
            "± one standard deviation",
        ]
    literally(ax, handles, names, "lower right")
    _found_axes(ax, _end(plain, private))


def multiplier_panel(ax: Axes, private: Search) -> bool:
    """Draw the risk multiplier, claimed and true; return whether there was anything to draw."""
    paid = private.multiplier
    if paid is None:
        return False
    handles: list[Any] = []
    names: list[str] = []
    if paid.true is not None:
        line, band = _spread(ax, private.calls, paid.true, BLACK, DASHES[0], 1.0)
        handles += [line, band]
        names += ["true", "± one standard deviation"]
    line, band = _spread(ax, private.calls, paid.claimed, GREEN, DASHES[1], 1.0)
    handles.append(line)
    names.append("claimed")
    if paid.true is None:
        handles.append(band)
        names.append("± one standard deviation")
    told = [paid.claimed.mean, *([paid.true.mean] if paid.true is not None else [])]
    finite = [value for curve in told for value in curve if math.isfinite(value)]
    # Room above for the key, for curves may rise at once or late.
    if max(finite, default=1.0) > WIDE:
        ax.set_yscale("log")
        ax.set_ylim(bottom=1.0, top=ax.get_ylim()[1] ** 1.3)
    else:
        ax.set_ylim(bottom=1.0, top=1 + 1.3 * (max(1.1, ax.get_ylim()[1]) - 1))
    ax.set_xlim(0, private.calls[-1])
    ax.set_ylabel(r"risk multiplier $e^{\varepsilon}$ (times)")
    literally(ax, handles, names, "upper left", across=len(names))
    return True


def comparison_panel(ax: Axes, curves: Sequence[tuple[str, Search]], plain: Search | None) -> None:
    """Draw mean curves of several searches, one standard deviation at a few places of each."""
    handles: list[Any] = []
    for i, (_, one) in enumerate(curves):
        colour, dash = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
        mark = MARKERS[i % len(MARKERS)]
        # Bars stand where those of no other curve do.
        n = len(one.calls)
        step = max(1, n // 5)
        first = (step * (i + 1)) // (len(curves) + 1)
        handles.append(
            ax.errorbar(
                one.calls, one.found.mean, one.found.sd if one.private else None,
                color=colour, linestyle=dash, lw=1.7, marker=mark, markersize=5,
                markerfacecolor=PAPER, markevery=(first, step), errorevery=(first, step),
                elinewidth=1.0, capsize=2.5,
            )
        )  # fmt: skip
    names = [short(name) for name, _ in curves]
    if plain is not None:
        handles += ax.plot(plain.calls, plain.found.mean, color=BLACK, lw=2.6, zorder=1, alpha=0.7)
        names.append(f"without privacy: {short(plain.name)}")
    _found_axes(ax, max(one.calls[-1] for _, one in curves))
    literally(ax, handles, names, "best" if len(names) <= MOST_INSIDE else "beside")


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
    told = what_it_did(int(((seen | found) & ~targeted).sum()), int(found.sum()))
    ax.set_title(f"{told}: {short(search.name)}", parse_math=False, fontsize=9.5)


def network_key() -> tuple[list[Any], list[str]]:
    """Return what the signs of :func:`network_panel` are called."""
    from matplotlib.lines import Line2D

    def sign(mark: str, fill: str, rim: str) -> Line2D:
        return Line2D([], [], ls="", marker=mark, markerfacecolor=fill, markeredgecolor=rim)

    handles: list[Any] = [
        sign("o", VERMILLION, BLACK),
        sign("s", BLUE, BLUE),
        sign("o", PAPER, SOFT),
        sign("s", PAPER, SOFT),
        Line2D([], [], color=VERMILLION, lw=1.6),
    ]
    names = [
        "target found",
        "protected, examined",
        "targeted, not examined",
        "protected, not examined",
        "between targets found",
    ]
    return handles, names


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


def _spread(
    ax: Axes,
    calls: Curve,
    told: Spread,
    colour: str,
    dash: tuple[float, tuple[float, ...]],
    least: float,
) -> list[Any]:
    """Draw a mean with its band, which ends at the least value there can be."""
    mean, sd = np.array(told.mean), np.array(told.sd)
    mean, sd = np.where(np.isfinite(mean), mean, np.nan), np.where(np.isfinite(sd), sd, np.nan)
    (line,) = ax.plot(calls, mean, color=colour, lw=1.9, linestyle=dash, zorder=3)
    band = ax.fill_between(
        calls, np.maximum(mean - sd, least), mean + sd, color=colour, alpha=0.22, lw=0, zorder=2
    )
    return [line, band]


def _found_axes(ax: Axes, end: float) -> None:
    ax.set_xlim(0, end)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("oracle calls spent (people investigated)")
    ax.set_ylabel("targets found (people)")
