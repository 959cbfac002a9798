"""What a person sees of a simulation at the terminal, within 80 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

__all__ = ["show_simulation"]

#: Numbers of calls in the table.
ROWS = 8


def show_simulation(console: Console, simulation: Mapping[str, Any]) -> None:
    """Print who was searched for, what was found within some budgets, and what it cost."""
    console.print(_network_words(simulation), markup=False)
    searches = simulation["searches"]
    heads = [
        f"{search['name']}, {search['runs']} run{'s' * (search['runs'] != 1)}"
        for search in searches
    ]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), title_justify="left")
    table.add_column("calls", justify="right")
    for head in heads:
        table.add_column(f"targets found: {head}", justify="right")
    calls = searches[0]["calls"]
    for place in _places(len(calls)):
        cells = [_pm(search, place, search["runs"]) for search in searches]
        table.add_row(f"{calls[place]:,}", *cells)
    console.print(table)
    for search in searches:
        words, *reasons = _price(search)
        console.print(words, markup=False)
        for reason in reasons:
            console.print(Padding(Text(reason), (0, 0, 0, 2)))


def _network_words(simulation: Mapping[str, Any]) -> str:
    network = simulation["network"]
    sizes = network["components"]
    regime = "" if simulation["regime"] is None else f" ({simulation['regime']})"
    more = f" and {len(sizes) - 8} more" if len(sizes) > 8 else ""
    return (
        f"{network['targets']:,} targets among {network['vertices']:,} people, in "
        f"{len(sizes)} components{regime} of sizes {', '.join(map(str, sizes[:8]))}{more}; the "
        f"search starts in one of {network['seed_component']}; cut off after "
        f"{simulation['budget']:,} oracle calls"
    )


def _places(points: int) -> list[int]:
    places: list[int] = np.unique(np.linspace(0, points - 1, ROWS + 1)[1:].astype(int)).tolist()
    return places


def _pm(spread: Mapping[str, Sequence[float]], place: int, runs: int) -> str:
    mean, deviation = spread["mean"][place], spread["sd"][place]
    return f"{mean:,.0f}" if runs == 1 else f"{mean:,.1f} ± {deviation:,.1f}"


def _price(search: Mapping[str, Any]) -> list[str]:
    """Return what a search's components have cost in the end, in words."""
    multiplier = search["multiplier"]
    components = search["components"]["mean"][-1]
    if multiplier is None:
        return [f"{search['name']}: {components:,.1f} components found; no promise for each"]
    told = []
    for key, words in (("claimed", "claimed"), ("true", "true")):
        spread = multiplier[key]
        told.append(
            f"{words} beyond all bounds"
            if spread is None
            else f"{words} {spread['mean'][-1]:.3g} ± {spread['sd'][-1]:.2g}"
        )
    return [
        f"{search['name']}, ε = {search['epsilon']:g}: {components:,.1f} components found, risk "
        f"multiplier e^ε {told[0]}, {told[1]}",
        f"true: {multiplier['how']}",
    ]
