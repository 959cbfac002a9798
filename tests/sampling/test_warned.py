"""Which warnings a run emits is an output, as an exception is."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from pdpaudit import PrivacyClaim, audit
from pdpaudit.outputs import Column, batch_of
from pdpaudit.outputs.records import WARNINGS
from pdpaudit.sampling import draw
from pdpaudit.sampling.warned import listening

MECHANISM = """
import warnings
from pdpaudit import PrivacyClaim

class Mean:
    claim = PrivacyClaim(1.0)
    def pairs(self):
        return [([0.0, 1.0], [0.0, 0.0])]
    def run(self, x, rng):
        if not any(x):
            warnings.warn("nothing to divide by", RuntimeWarning)
        return round(rng.laplace(scale=10.0))

class Same(Mean):
    def run(self, x, rng):
        warnings.warn("old", FutureWarning)
        return x[1] + round(rng.laplace(scale=1.0))
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "warns.py").write_text(MECHANISM, encoding="utf-8")
    return str(tmp_path / "warns.py")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_warning_on_one_of_two_inputs_is_found(file: str, jobs: int) -> None:
    [claim] = audit(f"{file}:Mean", seed=1, jobs=jobs).claims
    assert claim.status == "violated"
    assert claim.event.words in ("it warns RuntimeWarning", "it does not warn")
    elsewhere = audit(f"{file}:Mean", seed=1, python=sys.executable).claims[0]
    assert (elsewhere.event, elsewhere.lower_bound) == (claim.event, claim.lower_bound)


def test_a_warning_on_both_inputs_says_nothing_and_hides_nothing(file: str) -> None:
    """One verdict at 0.1 %, seed 1; its numbers are looked at as if it did not warn."""
    [claim] = audit(f"{file}:Same", seed=1, confidence=0.999).claims
    assert claim.status == "not_rejected"
    assert str(claim.event.words).startswith("the output is ")


class Warns:
    claim = PrivacyClaim(1.0)

    def __init__(self, category: type[Warning] = UserWarning) -> None:
        self.category = category

    def run(self, x: int, rng: np.random.Generator) -> Any:
        if rng.random() < 0.5:
            warnings.warn("seen", self.category, stacklevel=1)
        return (x, 2.5) if x else rng.random()


@pytest.mark.parametrize("action", ["error", "default", "once", "always"])
def test_each_run_that_warns_is_seen_whatever_is_shown_once(
    action: Literal["error", "default", "once", "always"],
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter(action)
        for x in (0, 1):
            batch = batch_of(draw(Warns(), x, 400, seed=1, key=("test",)))
            kinds = batch.categories(Column("kind", (WARNINGS,)))
            weights = batch.weights
            warned = sum(w for k, w in zip(kinds, weights, strict=True) if k != "absent")
            assert set(kinds) == {"absent", "warns UserWarning"}
            assert 150 < warned < 250  # binomial, half of 400
            assert {*batch.categories(Column("kind"))} == {"tuple" if x else "float"}


def test_what_is_ignored_is_not_seen_and_what_is_an_error_raises() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert not any(r[0] for r in draw(Warns(), 0, 50, seed=1, key=("test",)).counts)
        warnings.simplefilter("error", UserWarning)
        failures = draw(Warns(), 0, 50, seed=1, key=("test",)).failures
    assert list(failures) == ["raises UserWarning"]


def test_nothing_of_it_stays() -> None:
    before = [*warnings.filters], warnings.showwarning
    with listening() as heard:
        warnings.warn("one", DeprecationWarning, stacklevel=1)
        warnings.warn("two", UserWarning, stacklevel=1)
        assert heard() == "DeprecationWarning, UserWarning"
        assert heard() == ""
    assert ([*warnings.filters], warnings.showwarning) == before
