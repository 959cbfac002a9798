"""The pictures of the site, drawn anew at each build."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import laplace

__all__ = ["draw"]

#: One colour for each of the two inputs, readable on white and on black.
LEFT, RIGHT = "#2f6fb0", "#c2571a"


def draw(folder: Path) -> None:
    """Write every picture into a folder, as SVG."""
    folder.mkdir(exist_ok=True)
    for name, figure in (
        ("bound", _bound()),
        ("trade_off", _trade_off()),
        ("relations", _relations()),
    ):
        figure.savefig(folder / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})


def _bound() -> Figure:
    """Draw two output laws, an event, and its two probabilities."""
    figure = Figure(figsize=(7, 2.8))
    axes = figure.add_subplot()
    x = np.linspace(-4, 6, 500)
    for place, colour, name in ((0.0, RIGHT, "input B"), (1.0, LEFT, "input A")):
        axes.plot(x, laplace.pdf(x, place), color=colour, label=name)
    inside = x >= 1
    axes.fill_between(x[inside], laplace.pdf(x[inside], 1.0), color=LEFT, alpha=0.25)
    axes.fill_between(x[inside], laplace.pdf(x[inside], 0.0), color=RIGHT, alpha=0.45)
    axes.axvline(1.0, color="grey", linewidth=0.8, linestyle=":")
    axes.annotate("event: output ≥ 1", (1.1, 0.46), color="grey")
    axes.set_xlabel("output")
    axes.set_yticks([])
    axes.legend(frameon=False)
    return figure


def _trade_off() -> Figure:
    """Draw what an attacker can reach against one Laplace release, and what two claims allow."""
    figure = Figure(figsize=(4.2, 3.8))
    axes = figure.add_subplot()
    fpr = np.linspace(0, 1, 400)
    thresholds = np.linspace(-20, 20, 2001)
    axes.plot(laplace.sf(thresholds, 0), laplace.sf(thresholds, 1), color=LEFT, label="attack")
    for epsilon, style in ((1.0, "-"), (0.5, "--")):
        most = np.minimum(np.exp(epsilon) * fpr, 1 - np.exp(-epsilon) * (1 - fpr))
        label = f"most that ε = {epsilon:g} allows"
        axes.plot(fpr, most, color=RIGHT, linestyle=style, label=label)
    axes.plot(fpr, fpr, color="grey", linewidth=0.8, linestyle=":")
    axes.set_xlabel("false-positive rate")
    axes.set_ylabel("true-positive rate")
    axes.legend(frameon=False, loc="lower right")
    return figure


#: People around a circle, and ties between them.
PEOPLE = [(np.cos(turn), np.sin(turn)) for turn in np.linspace(0.3, 0.3 + 2 * np.pi, 6)[:5]]
TIES = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (0, 2)]


def _relations() -> Figure:
    """Draw two neighbouring inputs under each relation, one above the other."""
    figure = Figure(figsize=(8.4, 3.6))
    panels = figure.subplots(2, 5)
    titles = ("add-remove", "replace", "edge", "vertex", "rewired")
    rewired = [tie for tie in TIES if 0 not in tie] + [(0, 3)]
    without = [tie for tie in TIES if 0 not in tie]
    graphs = ((TIES, TIES[:-1]), (TIES, without), (TIES, rewired))
    for row, axes in enumerate(panels):
        for place, (panel, title) in enumerate(zip(axes, titles, strict=True)):
            panel.set_axis_off()
            panel.set_title(title if row == 0 else "", color="grey", fontsize=10)
            if place < 2:
                _list(panel, place, row)
            else:
                absent = title == "vertex" and row == 1
                _graph(panel, graphs[place - 2], row, absent=absent)
    return figure


def _list(panel: Axes, place: int, row: int) -> None:
    """Draw three records as bars, of which the last is another on one side."""
    values = [0.5, 0.9, (0.7, 0.2 if place else 0.0)[row]]
    colours = ["grey", "grey", (LEFT, RIGHT)[row]]
    panel.barh([2, 1, 0], values, 0.6, color=colours)
    panel.set_xlim(0, 1.1)
    panel.set_ylim(-0.7, 2.7)


def _graph(
    panel: Axes, sides: tuple[list[tuple[int, int]], ...], row: int, *, absent: bool
) -> None:
    """Draw one of two graphs; ties that the other lacks stand out."""
    for tie in sides[row]:
        ends = np.array([PEOPLE[end] for end in tie])
        colour = "grey" if tie in sides[1 - row] else (LEFT, RIGHT)[row]
        panel.plot(*ends.T, color=colour, linewidth=1.6, zorder=1)
    shown = np.array(PEOPLE[1:] if absent else PEOPLE)
    panel.scatter(*shown.T, s=60, color="grey", zorder=2)
    panel.set_xlim(-1.3, 1.3)
    panel.set_ylim(-1.3, 1.3)
    panel.set_aspect("equal")
