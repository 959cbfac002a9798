"""Everybody's exposure in the report: from what is measured today, and what may be wrong in it."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx
import numpy as np
import pytest

from pdpaudit.auditing.exposure import measure_exposure
from pdpaudit.core.errors import InputError
from pdpaudit.core.network import Network, adjacency_from_networkx
from pdpaudit.core.registry import resolve
from pdpaudit.report.blocks import Block, Paragraph, Pictures, Table
from pdpaudit.report.measured import exposure_section
from pdpaudit.report.rendering import render_html, render_markdown
from pdpaudit.report.sources import source_from_json
from pdpaudit.results.results import Result


def blocks_of(context: dict[str, Any], audited: float | None = None) -> tuple[Block, ...]:
    section = exposure_section(context, "a.json", "r1", audited)
    assert section is not None
    return section.blocks


def words_of(context: dict[str, Any], audited: float | None = None) -> list[str]:
    """Return the paragraphs: the overall figure, then the notes."""
    return [one.text for one in blocks_of(context, audited) if isinstance(one, Paragraph)]


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """Return the exposure of everybody on a small network, as a file holds it."""
    adjacency, _ = adjacency_from_networkx(nx.path_graph(8))
    mask = np.array([1, 0, 1, 0, 1, 0, 0, 0], dtype=bool)
    network = Network(adjacency, mask, seeds=(0,), names=tuple("abcdefgh"), max_degree=4)
    search = resolve("mechanisms", "PTarget:main-text")(sop=resolve("sops", "CN")())
    measured = measure_exposure(search, network).to_json(network)
    body = Result("audit", "PTarget:main-text", 1, 1.0, context={"exposure": measured}).to_json()
    read: dict[str, Any] = json.loads(json.dumps(body, allow_nan=False))
    return read


def test_what_is_measured_today_is_shown(shown: dict[str, Any]) -> None:
    exposure = shown["context"]["exposure"]
    words, *_ = words_of(shown["context"])
    people = blocks_of(shown["context"])[-1]
    assert isinstance(people, Table)
    losses = [max(one["isolated"], one["rewired"]) for one in exposure["most_exposed"]]
    assert f"any of the 5 protected people costs more than {max(losses):.4f}" in words
    first = exposure["most_exposed"][0]
    assert f"{first['name']} loses most, through: {first['through']}." in words
    assert [row[0] for row in people.rows] == [one["name"] for one in exposure["most_exposed"]]
    assert [row[2] for row in people.rows] == [
        f"{one['isolated']:.4f}" for one in exposure["most_exposed"]
    ]
    (pictures,) = (one for one in blocks_of(shown["context"]) if isinstance(one, Pictures))
    assert len(pictures.items) == 2
    for render in (render_html, render_markdown):
        assert "Also recorded" not in render([source_from_json(shown, "a.json")])


def test_nothing_is_shown_where_nothing_was_measured() -> None:
    assert exposure_section({}, "a.json", "r1") is None
    assert exposure_section({"exposure": None}, "a.json", "r1") is None


@pytest.mark.parametrize(
    ("unaffected", "words"),
    [
        (0, "Lose nothing by being isolated: 0 of 3,000."),
        (3000, "Lose nothing by being isolated: 3,000 of 3,000."),
    ],
)
def test_how_many_lose_nothing(exposure_body: dict[str, Any], unaffected: int, words: str) -> None:
    exposure_body["context"]["exposure"]["isolated"]["unaffected"] = unaffected
    assert words_of(exposure_body["context"])[1] == words


def test_nobody_exposed_is_said(exposure_body: dict[str, Any]) -> None:
    exposure = exposure_body["context"]["exposure"]
    for one in exposure["most_exposed"]:
        one |= {"isolated": 0.0, "rewired": 0.0}
    assert words_of(exposure_body["context"])[0].endswith("3,000 protected people loses anything.")
    exposure["most_exposed"] = []
    assert words_of(exposure_body["context"])[0] == "Nobody's exposure was measured."


@pytest.mark.parametrize(("audited", "more"), [(None, False), (0.9375, False), (0.94, True)])
def test_a_costlier_pair_of_the_audit_is_shown(
    exposure_body: dict[str, Any], audited: float | None, more: bool
) -> None:
    words = words_of(exposure_body["context"], audited)
    assert any("costs more, 0.9400" in note for note in words) == more


def test_an_infinite_loss_is_shown_and_not_drawn(exposure_body: dict[str, Any]) -> None:
    exposure = exposure_body["context"]["exposure"]
    exposure["most_exposed"][0]["rewired"] = "inf"
    exposure["rewired"]["histogram"]["edges"] = [0.0, "nan", "inf"]
    words = words_of(exposure_body["context"])
    assert "costs more than ∞, which makes an outcome of the next round infinitely" in words[0]
    (pictures,) = (one for one in blocks_of(exposure_body["context"]) if isinstance(one, Pictures))
    assert len(pictures.items) == 1


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("people",), "x", "context.exposure.people is 'x', not a whole number"),
        (("most_exposed",), 3, "context.exposure.most_exposed is 3, not a list of objects"),
        (("most_exposed", 1, "isolated"), None, "most_exposed[1].isolated is None, not a loss"),
        (("isolated", "histogram", "counts"), [1], "histogram.counts is [1], not a list of 4"),
        (("rewired", "quantiles"), {"most": 1.0}, "not named by a share of the people"),
        (("rewired", "measured"), -1, "rewired.measured is -1, not a count"),
    ],
)
def test_what_is_wrong_is_named(
    exposure_body: dict[str, Any], place: tuple[str | int, ...], value: Any, message: str
) -> None:
    inner: Any = exposure_body["context"]["exposure"]
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(InputError) as error:
        render_html([source_from_json(exposure_body, "a.json")])
    assert message in str(error.value)
