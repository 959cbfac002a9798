"""What is said of a simulation, and what is drawn of it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit.report.blocks import Paragraph, Pictures, Section
from pdpaudit.report.figures import spread_out
from pdpaudit.report.measured import (
    Drawing,
    Simulation,
    drawn_ties,
    search_sections,
    simulation_blocks,
    simulation_of,
    ties_left_out,
)
from pdpaudit.results.files import Fields


@pytest.fixture
def read(simulation_body: dict[str, Any]) -> Simulation:
    return simulation_of(simulation_body["context"]["simulation"], "a.json")


def first_words(body: dict[str, Any]) -> str:
    """Return the sentences on the first search."""
    section = search_sections(simulation_of(body["context"]["simulation"], "a.json"))[0]
    words = section.blocks[0]
    assert isinstance(words, Paragraph)
    return words.text


def test_twelve_searches_have_charts_of_their_own_and_all_are_compared(
    simulation_body: dict[str, Any],
) -> None:
    simulation = simulation_body["context"]["simulation"]
    simulation["searches"] += [simulation["searches"][1]] * 12
    blocks = simulation_blocks(simulation_of(simulation, "a.json"), "r1")
    *searches, beside = (block for block in blocks if isinstance(block, Section))
    pictures = [
        len(block.items)
        for section in searches
        for block in section.blocks
        if isinstance(block, Pictures)
    ]
    assert pictures == [1] * 12
    # All compared, and the network after each of two searches.
    assert [len(one.items) for one in beside.blocks if isinstance(one, Pictures)] == [1, 1]
    assert Paragraph("2 more private searches are in the file.") in blocks


def test_a_multiplier_beyond_all_floats_is_infinite(simulation_body: dict[str, Any]) -> None:
    searches = simulation_body["context"]["simulation"]["searches"]
    searches[1]["multiplier"]["claimed"] = None
    assert "a risk multiplier e^ε of ∞; the true one is 1.5" in first_words(simulation_body)


def test_a_simulation_of_one_search_is_shown(simulation_body: dict[str, Any]) -> None:
    searches = simulation_body["context"]["simulation"]["searches"]
    for kept, words in (
        (
            searches[:1],
            "Without privacy, Target finds 120 targeted people with 2,000 oracle calls.",
        ),
        (searches[1:2], "PTarget finds 108.2 ± 6.77 over 200 runs with 2,000 oracle calls."),
    ):
        simulation_body["context"]["simulation"]["searches"] = kept
        assert first_words(simulation_body).startswith(words)


@pytest.mark.parametrize(
    ("factor", "words"),
    [(1.0, ", 0% more."), (0.5, ", 50% fewer."), (1.1, ", 10% more.")],
)
def test_the_price_in_words(simulation_body: dict[str, Any], factor: float, words: str) -> None:
    searches = simulation_body["context"]["simulation"]["searches"]
    searches[1]["mean"] = [factor * value for value in searches[0]["mean"]]
    assert words in first_words(simulation_body)


def test_of_many_ties_those_between_targets_are_drawn(read: Simulation) -> None:
    drawing = read.drawing
    assert drawing is not None
    assert drawn_ties(drawing) == list(drawing.edges)
    assert ties_left_out(drawing) == ""
    n = 100
    edges = tuple((a, b) for a in range(n) for b in range(a))
    body = {
        "vertices": list(range(n)), "edges": [list(edge) for edge in edges],
        "positions": [[0.0, 0.0]] * n, "targeted": [i % 10 == 0 for i in range(n)],
    }  # fmt: skip
    many = Drawing(Fields(body, "a.json", ""))
    drawn = set(drawn_ties(many))
    assert drawn <= set(edges)
    assert {(a, b) for a, b in edges if a % 10 == b % 10 == 0} <= drawn
    assert len(drawn) == 45 + math.ceil((len(edges) - 45) / 2)  # every second of the others
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
