"""What a report says of attackers, and that it says nothing of what does not fit."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from pdpaudit.report.attacking import attack_of, attack_table, attack_words
from pdpaudit.report.html import render_html
from pdpaudit.report.markdown import render_markdown
from pdpaudit.report.reading import source_from_json

from .conftest import audit_json

SAMPLED: dict[str, Any] = {
    "side": "left",
    "exact": False,
    "confidence": 0.95,
    "advantage": {"attained": 0.5, "at_least": 0.48, "allowed": 0.462},
    "tpr_at_low_fpr": {"fpr": 0.001, "attained": 0.006, "at_least": 0.002, "allowed": 0.00272},
    "roc": {"fpr": [0.068, 0.3], "tpr": [0.245, 0.8]},
}
EXACT: dict[str, Any] = {
    "side": "left",
    "exact": True,
    "advantage": {"attained": 0.2854, "allowed": 0.762},
    "tpr_at_low_fpr": {"fpr": 0.001, "attained": 0.0035, "allowed": 0.0074},
    "roc": {"fpr": [0, 0.1146, 1], "tpr": [0, 0.4, 1]},
}


def _body() -> dict[str, Any]:
    body = copy.deepcopy(audit_json())
    body["claims"][0]["inference"] = SAMPLED
    body["claims"][0]["detail"] = "Stopped after 400 of at most 20,000 runs a side: enough."
    body["claims"][3]["inference"] = EXACT
    return body


def test_it_says_what_is_attained_and_what_is_allowed() -> None:
    claims = source_from_json(_body(), "a.json").result.claims
    assert attack_words(claims[0]) == (
        "The best attacker looked at (confidence 0.95): advantage 0.5 (at least 0.48; allowed "
        "0.462: exceeded); true positives at a rate of 0.001 false ones 0.006 (at least 0.002; "
        "allowed 0.00272)."
    )
    assert attack_words(claims[3]) == (
        "The best attacker: advantage 0.285 (allowed 0.762); true positives at a rate of 0.001 "
        "false ones 0.0035 (allowed 0.0074)."
    )
    assert attack_words(claims[1]) == ""


def test_the_table_says_whether_the_claim_is_exceeded() -> None:
    claims = source_from_json(_body(), "a.json").result.claims
    sampled, exact = attack_table(claims[0]), attack_table(claims[3])
    assert sampled is not None
    assert exact is not None
    assert [row[-1] for row in sampled.rows] == ["exceeded", "not shown to be exceeded"]
    assert [row[-1] for row in exact.rows] == ["kept", "kept"]
    assert "at least" in sampled.columns
    assert "at least" not in exact.columns


def test_reports_hold_the_table_the_curve_and_why_sampling_stopped() -> None:
    page, text = (
        render([source_from_json(_body(), "a.json")]) for render in (render_html, render_markdown)
    )
    assert page.count('class="attackers"') >= 4  # two pictures, two keys
    for told in (page, text):
        assert told.count("As an attack") >= 2
        assert "Stopped after 400 of at most 20,000 runs a side" in told
    plain = render_html([source_from_json(audit_json(), "a.json")])
    assert "As an attack" not in plain
    assert 'class="attackers"' not in plain


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("advantage", "attained"), 1.5),
        (("advantage", "attained"), "<script>"),
        (("advantage",), None),
        (("roc", "fpr"), [0.1]),
        (("roc", "tpr"), "ab"),
        (("tpr_at_low_fpr", "fpr"), float("nan")),
        (("confidence",), True),
    ],
)
def test_what_does_not_fit_is_left_out(where: tuple[str, ...], value: object) -> None:
    body = _body()
    body["claims"][0]["inference"] = told = copy.deepcopy(SAMPLED)
    for key in where[:-1]:
        told = told[key]
    told[where[-1]] = value
    source = source_from_json(body, "a.json")
    assert attack_of(source.result.claims[0]) is None
    assert "<script>" not in render_html([source])
