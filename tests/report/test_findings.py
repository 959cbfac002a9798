"""What a report says of attackers, and that it says nothing of what does not fit."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from pdpaudit.core.errors import InputError
from pdpaudit.report.findings import attack_words, measured_words, tried_rows
from pdpaudit.report.rendering import render_html, render_markdown
from pdpaudit.report.sources import source_from_json
from pdpaudit.results.measurements import Family, Tried

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
        "Best attacker tried (confidence 0.95): advantage (TPR - FPR): 0.5, at least 0.48; (ε, δ) "
        "allows 0.462, exceeded. TPR at FPR 0.001: 0.006, at least 0.002; (ε, δ) allows 0.0027."
    )
    assert attack_words(claims[3]) == (
        "Best attacker: advantage (TPR - FPR): 0.285; (ε, δ) allows 0.762. TPR at FPR 0.001: "
        "0.0035; (ε, δ) allows 0.0074."
    )
    assert attack_words(claims[1]) == ""


def test_claimed_and_measured_loss_of_the_worst_claim() -> None:
    claims = source_from_json(_body(), "a.json").result.claims
    measured = "ε = 1.000 claimed; at least 1.207 measured, with confidence 0.95"
    assert measured_words(claims[:1]) == f"{measured}."
    assert measured_words(claims) == f"{measured} (of the claim exceeded most)."
    assert measured_words(claims[1:4]) == (
        "ε = 2.000 claimed; exactly 1.250 measured (of the claim that comes nearest to it)."
    )
    assert measured_words(claims[4:]) == ""


def test_reports_hold_the_figures_the_curve_and_why_sampling_stopped() -> None:
    sources = [source_from_json(_body(), "a.json")]
    page = render_html(sources)
    assert page.count("attackers tried") == 2
    for text in (page, render_markdown(sources)):
        assert text.count("TPR at FPR 0.001") >= 2
        assert "Stopped after 400 of at most 20,000 runs a side" in text
    plain = render_html([source_from_json(audit_json(), "a.json")])
    assert "TPR at FPR" not in plain
    assert "attackers tried" not in plain


def test_no_label_is_taken_apart() -> None:
    families = Family("swap on a", "b", 2), Family("swap on a", "c", 1)
    assert tried_rows(Tried(3, {}, families)) == (("swap on a", 3, 2),)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("advantage", "attained"), 1.5),
        (("advantage", "attained"), "<script>"),
        (("advantage",), None),
        (("roc", "fpr"), [0.1]),
        (("roc", "fpr"), [0.1, 7.0]),
        (("roc", "tpr"), "ab"),
        (("tpr_at_low_fpr", "fpr"), float("nan")),
        (("confidence",), True),
    ],
)
def test_what_does_not_fit_is_refused(where: tuple[str, ...], value: object) -> None:
    body = _body()
    body["claims"][0]["inference"] = shown = copy.deepcopy(SAMPLED)
    for key in where[:-1]:
        shown = shown[key]
    shown[where[-1]] = value
    with pytest.raises(InputError, match=rf"a.json: claims\[0\].inference.{where[0]}"):
        source_from_json(body, "a.json")
