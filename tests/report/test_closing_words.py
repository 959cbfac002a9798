"""What is said at the end of an audit: how narrow a violation is, and what to do next."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from scipy.stats import beta

from pdpaudit import audit
from pdpaudit.core.registry import claims_of
from pdpaudit.report.findings import next_words, standing_words

REPORTS = Path(__file__).parents[2] / "reports"


@pytest.mark.parametrize(("paper", "folder"), [("kearns", "paper"), ("graph", "graph")])
def test_what_is_said_to_be_violated_elsewhere_is_what_the_dossier_says(
    paper: str, folder: str
) -> None:
    body = json.loads((REPORTS / folder / "claims.json").read_text(encoding="utf-8"))
    broken = {one["id"] for one in body["claims"] if one["status"] == "violated"}
    known = {name: item.load() for name, item in claims_of(paper).items()}
    assert {name for name, one in known.items() if getattr(one, "known_violated", False)} == broken


def test_a_wide_violation_stands_up_to_almost_any_confidence() -> None:
    result = audit(lambda x, rng: x, epsilon=1, pairs=[(0, 1)], samples=2000, seed=1)
    assert "1 - 1e-15 and more" in standing_words(result.claims[0])


def test_the_confidence_is_that_of_clopper_pearson_limits() -> None:
    """A narrow violation: at the level said its two limits still differ by the claim's factor."""

    def response(bit: int, rng: object) -> int:
        return bit if rng.random() < 0.7725 else 1 - bit  # type: ignore[attr-defined]

    claim = audit(response, epsilon=1, pairs=[(0, 1)], samples=20_000, seed=1).claims[0]
    assert claim.status == "violated"
    words = standing_words(claim)
    stated = re.search(r"confidence (1 - )?([\d.e-]+\d)", words)
    assert stated is not None, words
    alpha = float(stated[2]) if stated[1] else 1 - float(stated[2])
    assert 0 < alpha < 0.05
    seen = claim.event.counts
    assert seen is not None
    x, y, n = seen.inside, seen.inside_other, seen.runs_a_side
    low = beta.ppf(alpha / 2, x, n - x + 1)
    high = beta.ppf(1 - alpha / 2, y + 1, n - y)
    # The level is rounded to one digit where it is small: half a unit of it either way.
    assert math.log(low / high) > 1 - 0.01


def test_what_to_do_next_names_what_was_typed() -> None:
    result = audit("zoo:SVT5", seed=7)
    assert next_words(result, "", "") == (
        "To keep it: the same command with --seed 7 --json result.json",
    )
    assert next_words(result, "my result.json", "pdpaudit replay 'my result.json'") == (
        "to replay: pdpaudit replay 'my result.json'",
        "to report: pdpaudit report 'my result.json'",
    )
