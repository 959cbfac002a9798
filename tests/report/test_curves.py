"""The page's own curves: places on the drawing, held against the numbers."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit.report.pictures.curves import means, multiplier, runs
from pdpaudit.report.pictures.scale import Scale
from pdpaudit.report.pictures.searched import (
    draw_searched,
    drawn_ties,
    spread_out,
    ties_left_out,
)
from pdpaudit.report.simulated import Drawing, Simulation, simulation_of
from pdpaudit.report.telling_simulations import simulation_part

LEFT, RIGHT, TOP, BOTTOM = 54, 340, 12, 212


@pytest.fixture
def read(simulation_body: dict[str, Any]) -> Simulation:
    return simulation_of(simulation_body["context"]["simulation"], "a.json")


def points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)]


def test_a_mean_is_where_its_numbers_are(read: Simulation) -> None:
    private = read.private[0]
    chart = means(read.plain, private)
    plain, mean, band = chart.layers
    assert read.plain is not None
    top = 1.04 * max(read.plain.found.mean)
    for layer, one in ((mean, private), (plain, read.plain)):
        expected = [
            (LEFT + (RIGHT - LEFT) * x / 2000, BOTTOM - (BOTTOM - TOP) * y / top)
            for x, y in zip(one.calls, one.found.mean, strict=True)
        ]
        for got, place in zip(points(layer.line), expected, strict=True):
            assert got == pytest.approx(place, abs=0.06)
    corners = points(band.band)
    assert len(corners) == 2 * len(private.calls)
    # The outline goes out above the mean and comes back below it.
    for (x, high), (back, low), (_, y) in zip(
        corners, reversed(corners), points(mean.line), strict=False
    ):
        assert x == back
        assert high <= y <= low
        assert (high + low) / 2 == pytest.approx(y, abs=0.11)


def test_a_run_is_level_until_it_rises(read: Simulation) -> None:
    layer = next(one for one in runs(read.plain, None).layers if one.kind == "plain")
    assert layer.line.startswith("M54.0 ")
    assert layer.line.endswith("H340.0")
    assert [float(x) for x in re.findall(r"H([\d.]+)V", layer.line)] == pytest.approx(
        [LEFT + (RIGHT - LEFT) * x / 2000 for x in (40, 400, 1900)], abs=0.06
    )


def test_what_is_infinite_leaves_a_gap(read: Simulation) -> None:
    chart = multiplier(read.private[1])
    assert chart is not None
    line = next(one.line for one in chart.layers if one.line)
    assert len(points(line)) == 20
    assert "inf" not in line + "".join(one.band for one in chart.layers)


def test_six_are_compared_and_the_others_counted(simulation_body: dict[str, Any]) -> None:
    context = simulation_body["context"]
    searches = context["simulation"]["searches"]
    searches += [searches[1]] * 12
    part = simulation_part(context, "a.json")
    assert part is not None
    assert part.comparison is not None
    assert [one.kind for one in part.comparison.layers] == [
        "ground", "c0", "c1", "c2", "c3", "c4", "c5",
    ]  # fmt: skip
    assert (part.uncompared, part.untold, len(part.searches)) == (8, 2, 12)


def test_a_simulation_of_one_search_is_told(simulation_body: dict[str, Any]) -> None:
    context = simulation_body["context"]
    searches = context["simulation"]["searches"]
    for kept, words in (
        (
            searches[:1],
            "Without privacy, Target finds 120 targeted people with 2,000 oracle calls.",
        ),
        (searches[1:2], "PTarget finds 108.2 ± 6.77 over 200 runs with 2,000 oracle calls."),
    ):
        context["simulation"]["searches"] = kept
        part = simulation_part(context, "a.json")
        assert part is not None
        (one,) = part.searches
        assert one.words.startswith(words)
        assert one.numbers.rows
        assert part.comparison is None


@pytest.mark.parametrize(
    ("factor", "words"),
    [(1.0, "as many"), (0.5, ", 50% fewer."), (1.1, ", 10% more.")],
)
def test_the_price_in_words(simulation_body: dict[str, Any], factor: float, words: str) -> None:
    searches = simulation_body["context"]["simulation"]["searches"]
    searches[1]["mean"] = [factor * value for value in searches[0]["mean"]]
    part = simulation_part(simulation_body["context"], "a.json")
    assert part is not None
    assert words in part.searches[0].words


def test_everybody_is_in_the_same_place_in_each_drawing(read: Simulation) -> None:
    assert read.drawing is not None
    one, other = draw_searched(read.drawing)
    assert {(s.name, s.x, s.y) for s in one.spots} == {(s.name, s.x, s.y) for s in other.spots}
    assert [s.kind for s in one.spots] == ["waiting", "waiting", *["examined"], *["found"] * 3]
    assert one.found_ties.count("M") == 1
    assert one.ties.count("M") == 4


def test_of_many_ties_those_between_targets_are_drawn(read: Simulation) -> None:
    drawing = read.drawing
    assert drawing is not None
    assert drawn_ties(drawing) == list(drawing.edges)
    assert ties_left_out(drawing) == ""
    n = 100
    edges = tuple((a, b) for a in range(n) for b in range(a))
    many = Drawing(("a",) * n, edges, ((0.0, 0.0),) * n, tuple(i % 10 == 0 for i in range(n)), ())
    drawn = set(drawn_ties(many))
    assert drawn <= set(edges)
    assert {(a, b) for a, b in edges if a % 10 == b % 10 == 0} <= drawn
    # Every second of the others, and some that are somebody's only one.
    assert 0 <= len(drawn) - 45 - math.ceil((len(edges) - 45) / 2) <= n
    assert {end for edge in drawn for end in edge} == set(range(n))
    assert ties_left_out(many).startswith(f"Of 4,950 ties {len(drawn):,} are drawn")


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=30))
def test_pulling_apart_keeps_left_and_above(places: list[tuple[float, float]]) -> None:
    spread = spread_out(places)
    assert len(spread) == len(places)
    for axis in (0, 1):
        order = sorted(range(len(places)), key=lambda i: places[i][axis])
        moved = [spread[i][axis] for i in order]
        assert moved == sorted(moved)
        assert all(0 <= value <= 1 for value in moved)


@given(st.floats(0, 100), st.floats(1e-3, 1e6), st.booleans())
def test_ticks_lie_on_the_scale_in_order(low: float, wide: float, logarithmic: bool) -> None:
    low = max(low, 1.0) if logarithmic else low
    ticks = Scale(low, low + max(wide, 1.0), logarithmic).ticks
    places = [place for place, _ in ticks]
    assert places == sorted(set(places))
    assert all(0 <= place <= 1 for place in places)
    assert len(ticks) <= 8
    assert all(math.isfinite(float(text.replace(",", ""))) for _, text in ticks)
