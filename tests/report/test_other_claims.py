"""Reports name a claim and what was shown of it in the claim's own unit."""

from __future__ import annotations

import numpy as np
import pytest

from pdpaudit import PrivacyClaim, audit
from pdpaudit.core.protocols import Law
from pdpaudit.report.rendering import render_html, render_markdown
from pdpaudit.report.sources import source_from_json


class Flip:
    """Permute-and-flip on two answers, the second a tie."""

    claim = PrivacyClaim.renyi(2, 1.0)

    def pairs(self):
        return [("tie", 0, 1)]

    def law(self, x):
        worse = 0.5 if x == 0 else np.exp(-2.0) / 2
        return Law({0: 1 - worse, 1: worse})

    def run(self, x, rng):
        return int(rng.random() < (0.5 if x == 0 else np.exp(-2.0) / 2))


@pytest.mark.parametrize(
    ("claim", "samples", "said"),
    [
        (None, None, "Computed exactly: ε is 1.37692, claimed 1."),
        ("zcdp:0.2", None, "Computed exactly: ρ is 0."),
        ("zcdp:0.2", 20_000, "95 % lower bound on ρ 0."),
        ("gdp:0.5", 20_000, "95 % lower bound on μ 1."),
    ],
)
def test_a_violation_is_said_in_its_unit(claim, samples, said):
    result = audit(Flip(), claim=claim, samples=samples, seed=1)
    assert result.violated
    assert said in " ".join(result.summary().split())
    source = source_from_json(result.to_json(), "flip")
    for page in (render_html([source]), render_markdown([source])):
        assert said in page
        assert "does not hold" in page
        assert "; (ε, δ) allows" not in page
