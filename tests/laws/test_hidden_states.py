"""Passing the rule, tabulated where all are alike: against the sum at every point."""

from __future__ import annotations

import numpy as np
import pytest

from pdpaudit.algorithms.laws import hidden_states
from pdpaudit.algorithms.laws.hidden_states import Rule, pass_and_fail


@pytest.mark.parametrize(
    ("sizes", "rule", "tabulated"),
    [
        ([2000.0], Rule(1001, 14.0), True),
        ([399.0, 1.0], Rule(201, 14.0), True),
        ([50.0, 1.0, 1.0], Rule(20, 3.0), True),
        ([10_000.0], Rule(5_000, 8.0), True),
        ([2000.0], Rule(3, 2.0), True),
        ([50.0], Rule(200, 14.0), True),
        ([399.0, 2.0], Rule(201, 14.0), False),
        ([300.0, 1.0, 1.0, 1.0], Rule(201, 14.0), False),
    ],
)
def test_crowds_of_equals_are_tabulated_as_they_are_summed(
    sizes: list[float], rule: Rule, tabulated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    chance = rng.random((20_000, len(sizes))) ** rng.choice([0.1, 1.0, 3.0, 8.0], (20_000, 1))
    chance = np.column_stack([chance, np.zeros(len(chance))])  # and a class with nobody left
    counts = np.array([*sizes, 7.0])
    expected = hidden_states._pass_and_fail(np.clip(chance, 1e-300, 1 - 1e-16), counts, rule)
    points = []
    plain = hidden_states._pass_and_fail
    monkeypatch.setattr(
        hidden_states,
        "_pass_and_fail",
        lambda chance, *rest: points.append(len(chance)) or plain(chance, *rest),
    )
    found = pass_and_fail(chance, counts, rule)
    assert (sum(points) < len(chance)) == tabulated
    for mine, theirs in zip(found, expected, strict=True):
        assert np.all(np.abs(mine - theirs) <= 1e-11 * (1.0 + np.abs(theirs)))


def test_a_table_that_does_not_resolve_the_rule_is_not_used() -> None:
    chance = np.random.default_rng(4).random((20_000, 1))
    found = pass_and_fail(chance, np.array([9.0]), Rule(3.0, 1e-3))
    expected = hidden_states._pass_and_fail(chance, np.array([9.0]), Rule(3.0, 1e-3))
    for mine, theirs in zip(found, expected, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-11, abs=1e-13)
