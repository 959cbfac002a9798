"""The pictures of the site, drawn anew at each build."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import laplace

__all__ = ["draw"]

#: One colour for each of the two inputs, readable on white and on black.
LEFT, RIGHT = "#2f6fb0", "#c2571a"


def draw(folder: Path) -> None:
    """Write every picture into a folder, as SVG."""
    folder.mkdir(exist_ok=True)
    for name, figure in (("bound", _bound()), ("trade_off", _trade_off())):
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
