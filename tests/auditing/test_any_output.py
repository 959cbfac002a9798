"""Outputs of any nesting and mixture, on either side: a verdict, and never a crash."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from fractions import Fraction
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


class Noisy:
    """A number with noise for its claim, in some form."""

    claim = PrivacyClaim(1.0)

    def __init__(self, form: Any) -> None:
        self.form = form

    def pairs(self) -> list[tuple[float, float]]:
        return [(0.0, 1.0)]

    def run(self, value: float, rng: np.random.Generator) -> Any:
        return self.form(value + rng.laplace())


def test_outputs_that_hold_nothing_have_a_verdict() -> None:
    """The seed is pinned, and one audit in 20 may accuse it."""
    (claim,) = audit(Pools([(), []], [(), []]), [], Config(seed=1), subject="pools").claims
    assert claim.status == "not_rejected"


EPOCH = datetime.datetime(2020, 1, 1)
FORMS: dict[str, Any] = {
    "float": float,
    "Fraction": lambda x: Fraction(int(1000 * x), 1000),
    "Decimal": lambda x: Decimal(str(round(x, 4))),
    "timedelta": lambda x: datetime.timedelta(seconds=x),
    "datetime": lambda x: EPOCH + datetime.timedelta(seconds=x),
    "inside": lambda x: {"of": ["a", Fraction(int(1000 * x), 1000)]},
    "function": lambda x: lambda: x,
}


@pytest.mark.parametrize("form", FORMS)
def test_what_would_be_found_does_not_depend_on_how_a_number_is_written(form: str) -> None:
    """A sound mechanism is let go, and not inconclusive; one audit in 20 may accuse it."""
    plan = Config(seed=1, budget="quick")
    (claim,) = audit(Noisy(FORMS[form]), [], plan, subject=form).claims
    assert claim.status == "not_rejected"
    assert claim.detectable_epsilon == 2.5


def _key(output: Any) -> Any:
    return type(output) if isinstance(output, Exception) else flatten(output)
