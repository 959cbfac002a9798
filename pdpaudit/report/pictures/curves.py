"""Curves with bands around them, on axes of their own; places are those of the drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pdpaudit.report.pictures.scale import Scale
from pdpaudit.report.simulated import Run, Search, Spread

__all__ = ["MOST_COMPARED", "CurveChart", "Layer", "comparison", "means", "multiplier", "runs"]

#: Where the axes lie in a drawing of 360 by 260.
LEFT, RIGHT, TOP, BOTTOM = 54.0, 340.0, 12.0, 212.0

#: Steps along the axis that goes up.
UP = 8

#: Curves whose dashes and colours the style of the page tells apart.
MOST_COMPARED = 6

#: Multipliers that reach further are drawn on a logarithmic scale.
WIDE = 20.0

Point = tuple[float, float]


@dataclass(frozen=True)
class Layer:
    """One thing drawn: a curve, a band around it, circles on it; each empty where there is none."""

    kind: str
    name: str = ""
    line: str = ""
    band: str = ""
    circles: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class CurveChart:
    """A drawing with its axes."""

    title: str
    words: str
    x_label: str
    y_label: str
    x_ticks: tuple[tuple[str, str], ...]
    y_ticks: tuple[tuple[str, str], ...]
    layers: tuple[Layer, ...]


@dataclass(frozen=True)
class _Axes:
    x: Scale
    y: Scale

    def at(self, x: float, y: float) -> tuple[str, str]:
        across = LEFT + (RIGHT - LEFT) * self.x.place(x)
        down = BOTTOM - (BOTTOM - TOP) * self.y.place(y)
        return f"{across:.1f}", f"{down:.1f}"

    def path(self, points: Iterable[Point]) -> str:
        """Join points; a gap where one is not finite."""
        parts: list[str] = []
        pen = "M"
        for x, y in points:
            if not math.isfinite(y):
                pen = "M"
                continue
            parts.append(pen + " ".join(self.at(x, y)))
            pen = "L"
        return "".join(parts)

    def steps(self, run: Run) -> str:
        """Draw a run: level until it rises; corners nearer than can be seen are one."""
        corners: dict[str, str] = {}
        for x, y in zip(run.calls, run.found, strict=True):
            across, down = self.at(x, y)
            corners[across] = down
        (x0, y0), *rest = corners.items()
        end, _ = self.at(self.x.top, 0)
        return f"M{x0} {y0}" + "".join(f"H{x}V{y}" for x, y in rest) + f"H{end}"

    def band(self, calls: Sequence[float], told: Spread) -> str:
        """Draw mean ± one standard deviation as one outline."""
        known = [
            (x, mean, sd)
            for x, mean, sd in zip(calls, told.mean, told.sd, strict=True)
            if math.isfinite(mean) and math.isfinite(sd)
        ]
        if len(known) < 2:
            return ""
        above = self.path((x, mean + sd) for x, mean, sd in known)
        below = self.path((x, mean - sd) for x, mean, sd in reversed(known))
        return f"{above}L{below[1:]}z"

    def chart(self, title: str, words: str, y_label: str, layers: Sequence[Layer]) -> CurveChart:
        return CurveChart(
            title,
            words,
            "oracle calls spent (people investigated)",
            y_label,
            tuple((f"{LEFT + (RIGHT - LEFT) * place:.1f}", text) for place, text in self.x.ticks),
            tuple((f"{BOTTOM - (BOTTOM - TOP) * place:.1f}", text) for place, text in self.y.ticks),
            tuple(layer for layer in layers if layer.line or layer.band or layer.circles),
        )


def runs(plain: Search | None, private: Search | None) -> CurveChart:
    """Return single runs, with circles where a new component is met; O(corners of the curves)."""
    shown = [run for one in (plain, private) if one for run in one.shown]
    axes = _found_axes([one for one in (plain, private) if one], shown)
    layers = []
    if private is not None:
        name = f"{private.name}, {len(private.shown)} of its runs"
        for i, run in enumerate(private.shown):
            layers.append(Layer("few private", name if i == 0 else "", axes.steps(run)))
        met = [point for run in private.shown for point in run.discoveries]
        layers.append(Layer("met private", circles=tuple(axes.at(*point) for point in met)))
    if plain is not None and plain.shown:
        run = plain.shown[0]
        layers.append(Layer("plain", f"{plain.name}, without privacy", axes.steps(run)))
        met = list(run.discoveries)
        layers.append(Layer("met plain", circles=tuple(axes.at(*point) for point in met)))
    words = "Single runs: " + _ends([one for one in (plain, private) if one])
    return axes.chart("Single runs", words, "targets found (people)", layers)


def means(plain: Search | None, private: Search | None) -> CurveChart:
    """Return the mean of all runs beside the search without privacy; O(points)."""
    both = [one for one in (plain, private) if one]
    axes = _found_axes(both, [])
    layers = []
    if plain is not None:
        line = axes.path(zip(plain.calls, plain.found.mean, strict=True))
        layers.append(Layer("plain", f"{plain.name}, without privacy", line))
    if private is not None:
        # On top, dashed: where the two are one, both are seen.
        band = axes.band(private.calls, private.found)
        line = axes.path(zip(private.calls, private.found.mean, strict=True))
        layers.append(Layer("private", f"{private.name}, mean of {private.runs:,} runs", line))
        layers.append(Layer("private", "± one standard deviation", band=band))
    return axes.chart(
        "Mean over the runs", "Mean curves: " + _ends(both), "targets found (people)", layers
    )


def multiplier(search: Search) -> CurveChart | None:
    """Return the risk multiplier, claimed and true; None where it was not measured."""
    paid = search.multiplier
    if paid is None:
        return None
    told = [("claimed", "claimed", paid.claimed)]
    if paid.true is not None:
        told.append(("true", "true", paid.true))
    top = _top(
        [m + (s if math.isfinite(s) else 0) for _, _, spread in told
         for m, s in zip(spread.mean, spread.sd, strict=True)], 1.1
    )  # fmt: skip
    axes = _Axes(Scale(0.0, search.calls[-1] or 1.0), Scale(1.0, top, top > WIDE, UP))
    bands = [Layer(kind, "", band=axes.band(search.calls, spread)) for kind, _, spread in told]
    lines = [
        Layer(kind, name, axes.path(zip(search.calls, spread.mean, strict=True)))
        for kind, name, spread in told
    ]
    ends = ", ".join(f"{name} {spread.mean[-1]:.4g}" for _, name, spread in told)
    words = f"Risk multiplier of {search.name} over the calls; at the end: {ends}"
    label = "risk multiplier e^ε (times)"
    return axes.chart("Risk multiplier, ± one standard deviation", words, label, [*bands, *lines])


def comparison(plain: Search | None, private: Sequence[Search]) -> CurveChart:
    """Return mean curves of at most six searches, beside the one without privacy."""
    shown = list(private[:MOST_COMPARED])
    both = [*([plain] if plain else []), *shown]
    axes = _found_axes(both, [])
    layers = [
        Layer(f"c{i}", one.title, axes.path(zip(one.calls, one.found.mean, strict=True)))
        for i, one in enumerate(shown)
    ]
    if plain is not None:
        line = axes.path(zip(plain.calls, plain.found.mean, strict=True))
        layers.insert(0, Layer("ground", f"{plain.name}, without privacy", line))
    words = "Mean curves: " + _ends(both)
    return axes.chart("The searches compared", words, "targets found (people)", layers)


def _found_axes(searches: Sequence[Search], shown: Sequence[Run]) -> _Axes:
    end = max((one.calls[-1] for one in searches), default=1.0) or 1.0
    highs = [m + s for one in searches for m, s in zip(one.found.mean, one.found.sd, strict=True)]
    highs += [value for run in shown for value in run.found]
    return _Axes(Scale(0.0, end), Scale(0.0, _top(highs, 1.0), steps=UP))


def _top(values: Iterable[float], least: float) -> float:
    finite = [value for value in values if math.isfinite(value)]
    return max(1.04 * max(finite, default=least), least)


def _ends(searches: Sequence[Search]) -> str:
    return "; ".join(
        f"{one.name} ends at {one.found.mean[-1]:.4g} targets after {one.calls[-1]:,.0f} calls"
        for one in searches
    )
