"""Claims of any ε up to infinity: nothing overflows, and what is allowed never falls as ε rises."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit.auditing.attack_metrics import advantage_allowed, tpr_allowed
from pdpaudit.core.privacy_loss import composition_table, hockey_stick
from pdpaudit.core.protocols import Law, PrivacyClaim
from pdpaudit.inference.exact_test import rejects
from pdpaudit.inference.power import detectable
from pdpaudit.inference.sequential import Wager, look_sizes, smallest_refuted
from pdpaudit.report.blocks import times
from pdpaudit.report.charts import Loss, loss_chart

LARGEST = 1.7e308
#: About e^ε's overflow at 709.78, its inverse's end at 745.13, and anywhere.
EPSILON = st.floats(0.0, LARGEST) | st.floats(690.0, 760.0) | st.floats(0.0, 50.0)
DELTA = st.floats(0.0, 0.9)


@given(st.lists(EPSILON | st.just(math.inf), min_size=2, max_size=2), DELTA, st.floats(0.0, 1.0))
def test_a_larger_claim_allows_no_less(epsilons: list[float], delta: float, fpr: float) -> None:
    small, large = (PrivacyClaim(epsilon, delta) for epsilon in sorted(epsilons))
    slack = 1e-12  # a dozen roundings of numbers up to 1
    for allowed in (advantage_allowed, lambda claim: tpr_allowed(fpr, claim)):
        assert 0 <= allowed(small) <= allowed(large) + slack <= 1 + slack
    misses = [float(claim.trade_off(fpr)) for claim in (small, large)]
    assert 0 <= misses[1] <= misses[0] + slack
    assert tpr_allowed(fpr, small) == pytest.approx(1 - misses[0], abs=slack) or fpr > 1 - delta


def test_what_is_allowed_is_what_the_definition_says() -> None:
    for epsilon, delta, fpr in ((0.3, 0.0, 0.1), (2.0, 0.05, 1e-3), (8.0, 0.01, 0.5)):
        claim, grown = PrivacyClaim(epsilon, delta), math.exp(epsilon)
        by_definition = min(grown * fpr + delta, 1 - (1 - delta - fpr) / grown, 1.0)
        assert tpr_allowed(fpr, claim) == pytest.approx(by_definition, rel=1e-12)
        advantage = (grown - 1 + 2 * delta) / (grown + 1)
        assert advantage_allowed(claim) == pytest.approx(advantage, rel=1e-12)
    # e^720 · 1e-310 is e^6.2: everything is allowed, although e^720 itself overflows.
    assert tpr_allowed(1e-310, PrivacyClaim(720.0)) == 1.0


@given(st.floats(40.0, LARGEST), st.integers(0, 20), st.sampled_from([0.0, 0.01]))
def test_no_counts_reject_what_no_counts_can(epsilon: float, hits: int, delta: float) -> None:
    """With 1,000 draws a side a ratio above e^40 is never seen."""
    assert not rejects(1000, 1000, hits, 1000, 0.05, delta, epsilon)
    assert smallest_refuted(look_sizes(1000), 0.05, 0.05, epsilon, delta) == math.inf


@pytest.mark.parametrize("epsilon", [709.0, 710.0, 1000.0, 1e300, LARGEST])
@pytest.mark.parametrize("method", ["exact", "clopper-pearson", "betting"])
def test_no_power_against_what_cannot_be_seen(epsilon: float, method: str) -> None:
    assert detectable(1000, 0.05, 0.05, 0.0, 0.95, method, epsilon) == math.inf


@given(EPSILON)
def test_bets_on_any_claim(epsilon: float) -> None:
    wager = Wager.begin(0.05, epsilon, 0.0)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        wager = wager.update(300, 0, 1000).update(900, 1, 1000)
    assert 0 <= wager.bound < 20
    assert wager.violated == (wager.bound > epsilon)


@given(EPSILON, st.integers(0, 50), st.sampled_from([1e-300, 1e-6, 0.5]))
def test_budgets_are_never_above_what_basic_composition_gives(
    epsilon: float, rounds: int, delta: float
) -> None:
    basic, _, _, optimal = composition_table(epsilon, rounds, delta)
    assert 0 <= optimal.epsilon <= basic.epsilon * (1 + 1e-9)


@given(EPSILON | st.just(math.inf))
def test_any_loss_is_said(epsilon: float) -> None:
    laws = Law({0: 0.75, 1: 0.25}), Law({0: 0.25, 1: 0.75})
    assert 0 <= hockey_stick(*laws, [epsilon])[0] <= 0.5
    assert len(times(epsilon)) < 40


@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 1e-6, 700.0, 1e5, 1e300, math.inf])
def test_any_loss_is_drawn(epsilon: float) -> None:
    rows = [
        Loss("a", "violated", epsilon, other, other, epsilon, epsilon, False)
        for other in (0.0, 1e-6, 1.0, epsilon)
    ]
    assert loss_chart(rows, "losses").count("<text") >= 6


MECHANISM = """
import os
from pdpaudit.core.protocols import Law, PrivacyClaim

class Mine:
    claim = PrivacyClaim(float(os.environ["CLAIMED"]), 0.01)

    def pairs(self):
        yield (0,), (1,)

    def run(self, instance, rng):
        return int(rng.random() < 0.3 + 0.3 * instance[0])

    def law(self, instance):
        p = 0.3 + 0.3 * instance[0]
        return Law({1: p, 0: 1 - p})
"""


@pytest.mark.parametrize("epsilon", [1000.0, LARGEST, math.inf])
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--samples", "500"),
        ("--samples", "500", "--sequential"),
        ("--samples", "500", "--sequential", "--detect", "1e300"),
    ],
    ids=" ".join,
)
def test_a_claim_is_audited_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, epsilon: float, options: tuple[str, ...]
) -> None:
    from pdpaudit.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAIMED", str(epsilon))
    Path("mine.py").write_text(MECHANISM)

    def run(*arguments: str) -> int:
        with pytest.raises(SystemExit) as left:
            main([*arguments, "-q"])
        return int(left.value.code or 0)

    audit = ("audit", "mine.py:Mine", "--seed", "1", "--jobs", "1", "--json", "r.json")
    assert run(*audit, *options) == 0
    assert json.loads(Path("r.json").read_text())["claims"][0]["status"] != "error"
    assert run("report", "r.json", "-o", "r.html") == 0
    assert run("report", "r.json", "-o", "r.md") == 0


def numbers(value: object, keys: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """Return the places of all numbers in a result."""
    items = value.items() if isinstance(value, dict) else (
        enumerate(value) if isinstance(value, list) else ()
    )  # fmt: skip
    here = [keys] if isinstance(value, int | float) and not isinstance(value, bool) else []
    return here + [place for key, inner in items for place in numbers(inner, (*keys, key))]


EXTREME = (LARGEST, -LARGEST, 1e300, 5e-324, 10**400)


@pytest.mark.usefixtures("without_power")
@pytest.mark.parametrize("options", [(), ("--samples", "500")], ids=["law", "samples"])
def test_a_result_of_extreme_numbers_is_reported_or_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    repetitions: Callable[[int, int], int],
    options: tuple[str, ...],
) -> None:
    """By default one extreme number in every third place, each in turn."""
    from pdpaudit.cli import main
    from pdpaudit.core.errors import InputError
    from pdpaudit.report.rendering import render_html, render_markdown
    from pdpaudit.report.sources import source_from_json

    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["audit", "PTarget:main-text", "--seed", "1", "--try", "2",
              "--jobs", "1", "--json", "r.json", "-q", *options])  # fmt: skip
    text = Path("r.json").read_text()
    reported = 0
    # One place of each kind of number: the same keys, whatever the number in a list.
    kinds = {tuple("i" if isinstance(key, int) else key for key in place): place
             for place in numbers(json.loads(text))}  # fmt: skip
    for turn, (place, large) in enumerate(itertools.product(kinds.values(), EXTREME)):
        if turn % repetitions(3 * len(EXTREME) + 1, 1):
            continue
        body = json.loads(text)
        inner = body
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = large
        try:
            sources = [source_from_json(body, "r.json")]
        except InputError:
            continue
        render_html(sources)
        render_markdown(sources)
        reported += 1
    assert reported
