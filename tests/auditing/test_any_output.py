"""Outputs of any nesting and mixture, on either side: a verdict, and never a crash."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpaudit.auditing import Config, audit
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.outputs import flatten
from pdpaudit.report.findings import claim_words
from pdpaudit.results.results import exit_status
from tests.conftest import measure_no_power
from tests.outputs.made_up import ANYTHING


class Raised(Exception):
    """Raised on purpose."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Pools:
    """Gives one of a few outputs, others on either side; an exception is raised."""

    claim = PrivacyClaim(0.5)

    def __init__(self, left: list[Any], right: list[Any]) -> None:
        self.sides = left, right

    def pairs(self) -> list[tuple[int, int]]:
        return [(0, 1)]

    def run(self, side: int, rng: np.random.Generator) -> Any:
        pool = self.sides[side]
        output = pool[int(rng.integers(len(pool)))]
        if isinstance(output, Exception):
            raise output
        return output


ANY = st.one_of(ANYTHING, st.just(Raised()), st.just(ZeroDivisionError("x")))


FEW = settings(max_examples=settings().max_examples // 4)


@FEW
@given(left=st.lists(ANY, min_size=1, max_size=4), right=st.lists(ANY, min_size=1, max_size=4))
def test_any_outputs_have_a_verdict(left: list[Any], right: list[Any]) -> None:
    result = audit(Pools(left, right), [], Config(seed=1, samples=200), subject="pools")
    (claim,) = result.claims
    assert claim.status in ("violated", "not_rejected", "inconclusive", "error")
    assert exit_status(result.status) in (0, 1, 2)
    assert claim_words(claim).isprintable() or claim.status == "error"
    json.dumps(result.to_json(), allow_nan=False)
    apart = {_key(one) for one in left}.isdisjoint(_key(one) for one in right)
    if claim.status != "error" and apart:
        # What never agrees is told apart in every run.
        assert claim.status == "violated"


@FEW
@given(pool=st.lists(ANY, min_size=1, max_size=4))
def test_equal_sides_are_accused_by_chance_only(pool: list[Any]) -> None:
    """The seed is pinned, and one in 1,000 audits may fail: one in 50 such tests."""
    plan = Config(seed=2, samples=200, confidence=0.999)
    with pytest.MonkeyPatch.context() as patched:
        measure_no_power(patched)
        (claim,) = audit(Pools(pool, pool), [], plan, subject="pools").claims
    assert claim.status != "violated"


def _key(output: Any) -> Any:
    return type(output) if isinstance(output, Exception) else flatten(output)
