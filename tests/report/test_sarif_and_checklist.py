"""SARIF that code hosts read, and the checklist that answers or says what was not looked at."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel
from sarif_pydantic import Sarif

from pdpaudit import audit, check
from pdpaudit.checks import Options
from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.relations import Bounded, Records
from pdpaudit.report.rendering import UNANSWERED, answers, render_checklist, render_sarif
from pdpaudit.report.sources import Source, source_from_json
from pdpaudit.results.results import ClaimResult, Result
from pdpaudit.results.witnesses import Difference, FirstDifference


@pytest.fixture(scope="module")
def violated() -> Source:
    return source_from_json(audit("zoo:SVT5", seed=1).to_json(), "svt.json")


@pytest.fixture(scope="module")
def checked() -> Source:
    options = Options(max_vertices=3, select=("targeted-sensitivity",), seed=1)
    return source_from_json(check("CN", options=options).to_json(), "cn.json")


def alerts(text: str) -> list[dict[str, Any]]:
    return list(json.loads(text)["runs"][0]["results"])


def unknown(model: BaseModel, at: str = "sarif") -> Iterator[str]:
    """Yield every field that SARIF does not have."""
    yield from (f"{at}.{name}" for name in model.model_extra or ())
    for name in type(model).model_fields:
        value = getattr(model, name)
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, BaseModel):
                yield from unknown(inner, f"{at}.{name}")


def test_it_is_sarif(violated: Source, checked: Source) -> None:
    text = render_sarif([violated, checked])
    assert list(unknown(Sarif.model_validate(json.loads(text)))) == []
    assert len(alerts(text)) == 1


def test_what_stands_is_no_alert(checked: Source) -> None:
    assert alerts(render_sarif([checked])) == []


@pytest.mark.parametrize(
    ("leaks", "claimed_at", "alert_at"),
    [
        ("mine.py", "src/mine.py:3", ("src/mine.py", 14)),
        ("mine.py", "", ("mine.py", 14)),
        # Of another file the folder is not known, and nothing is shown at a path that is none.
        ("helpers.py", "src/mine.py:3", ("src/mine.py", 3)),
        ("", "src/mine.py:3", ("src/mine.py", 3)),
        (None, "src/mine.py:3", ("src/mine.py", 3)),
        (None, "", ("r.json", 1)),
    ],
)
def test_an_alert_is_at_a_line_that_is_there(
    leaks: str | None, claimed_at: str, alert_at: tuple[str, int]
) -> None:
    places = () if leaks is None else (Difference("output", leaks, 14 * bool(leaks), "x", 9),)
    first = FirstDifference(9, places)
    claim = ClaimResult("a", "1-DP", "", "violated", PrivacyClaim(1.0), first_difference=first)
    source = Source("r.json", Result("audit", "x", 1, 0.0, claims=(claim,), place=claimed_at))
    (alert,) = alerts(render_sarif([source]))
    where = alert["locations"][0]["physicalLocation"]
    assert (where["artifactLocation"]["uri"], where["region"]["startLine"]) == alert_at
    assert alert["level"] == "error"


def test_each_question_is_answered_or_said_to_be_open(violated: Source, checked: Source) -> None:
    text = render_checklist([violated, checked])
    assert list(answers(violated.result)) == list(answers(checked.result))
    for name in answers(violated.result):
        assert text.count(f"| {name} | ") == 2
    assert "ε = 1.000, δ = 0" in text
    assert UNANSWERED in text


@pytest.mark.parametrize(
    ("relation", "unit", "neighbours"),
    [
        (None, "One protected person", "contacts of one protected person"),
        ("protected-edge", "One contact of one protected person", "one tie of a protected person"),
        ("edge", "One tie", "differ in one tie"),
        ("rewired", "One person, protected or not", "contacts of one person"),
    ],
)
def test_the_unit_of_privacy_is_that_of_the_relation(
    relation: str | None, unit: str, neighbours: str
) -> None:
    result = audit("PTarget", relation=relation, samples=50, tries=2, seed=1)
    answered = answers(source_from_json(result.to_json(), "r.json").result)
    assert answered["Unit of privacy"].startswith(unit)
    assert neighbours in answered["Neighbouring inputs"]


def test_pairs_of_a_domain_are_not_the_mechanisms_own() -> None:
    def counted(rows: list[float], rng: np.random.Generator) -> float:
        return float(len(rows) + rng.laplace())

    for relation in ("add-remove", "replace"):
        domain = Records(Bounded(0, 1))
        asked: dict[str, Any] = {"relation": relation, "domain": domain, "samples": 50, "seed": 1}
        said = answers(audit(counted, epsilon=1, **asked))
        assert said["Neighbouring inputs"].startswith(f"{relation}: {domain.words}")
        assert "brings" not in said["Unit of privacy"]


def test_randomness_without_a_seed_is_no_seeded_one() -> None:
    class Unseeded:
        claim = PrivacyClaim(1.0)
        seedable = False

        def pairs(self) -> list[tuple[float, float]]:
            return [(0.0, 1.0)]

        def run(self, x: float, rng: np.random.Generator) -> float:
            return x + secrets.randbelow(100)

    said = answers(audit(Unseeded(), samples=50, seed=1))
    assert said["Randomness"] == "Its own, without a seed; not looked at."


def test_names_cannot_break_the_table(violated: Source) -> None:
    result = violated.result
    sly = Result("audit", "a | b\n# c", 1, 0.0, claims=result.claims, context=result.context)
    rows = [line for line in render_checklist([Source("x", sly)]).splitlines() if line[:1] == "|"]
    assert len(rows) == 2 + len(answers(result))
