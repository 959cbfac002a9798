"""How planted leaks are counted, and in what they are planted."""

from __future__ import annotations

import numpy as np
import pytest

from pdpaudit.auditing import power
from pdpaudit.auditing.power import MOST_POOLED, PLANTED, TIMES, enough_found, some_of
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.inference.claim_bounds import ExpectedBound
from pdpaudit.outputs import Batch, Column, Draws, batch_of, gathered

CLAIM = PrivacyClaim(1.0)


def judged(missed: set[int]) -> tuple[bool, int]:
    """Return whether enough is found where these are missed, and how many were planted for it."""
    for planted in range(1, TIMES * PLANTED + 1):
        found = enough_found(float(len([one for one in missed if one <= planted])), planted, CLAIM)
        if found is not None:
            return found, planted
    raise AssertionError("it is not decided")


def test_one_missed_leak_decides_nothing() -> None:
    assert judged(set()) == (True, PLANTED)
    assert judged({4}) == (True, 2 * PLANTED)
    assert judged({4, 20}) == (True, TIMES * PLANTED)
    assert judged({4, 9}) == (False, 9)
    assert judged({4, 20, 50}) == (False, 50)


def shares_of(batch: Batch) -> list[float]:
    """Return how many runs in all gave each text, and how many a number above 1."""
    values = np.array(batch.categories(Column("value")), dtype=object)
    inside = [values == text for text in "abc"] + [batch.read(Column("number")) > 1]
    return [float(batch.weights[one].sum()) / batch.runs for one in inside]


@pytest.mark.parametrize("runs", [10, MOST_POOLED // 2, 3 * MOST_POOLED, 5 * MOST_POOLED + 3])
def test_some_outputs_have_the_law_of_all(runs: int) -> None:
    """Numbers are in no order: their share is off by chance, and by 5 of its errors one in 10^6."""
    rng = np.random.default_rng(runs)
    draws = gathered(rng.choice(["a", "b", "c"], runs, p=[0.7, 0.29, 0.01]).tolist(), runs)
    draws.update(gathered(rng.normal(size=runs), runs))
    pool = batch_of(draws)
    some = some_of(pool)
    assert min(pool.runs, MOST_POOLED // 2) <= some.runs <= min(pool.runs, MOST_POOLED)
    assert shares_of(some)[:3] == pytest.approx(shares_of(pool)[:3], abs=1 / some.runs)
    assert shares_of(some)[3] == pytest.approx(shares_of(pool)[3], abs=2 / np.sqrt(some.runs))


class Chosen(Exception):
    """Raised where an event would be chosen."""


@pytest.mark.parametrize(("width", "runs"), [(1, 900), (20, 500), (100, 200)])
def test_leaks_in_long_outputs_are_planted_in_fewer_runs(
    monkeypatch: pytest.MonkeyPatch, width: int, runs: int
) -> None:
    """As many numbers together, but runs enough to see anything."""
    monkeypatch.setattr(power, "MOST_NUMBERS", 10_000)
    rng = np.random.default_rng(1)
    pool = gathered([tuple(row) for row in rng.random((900, width)).tolist()], 900)

    def choose(left: tuple[Draws, Draws], *_: object, **__: object) -> None:
        raise Chosen(sum(map(len, left)))

    planned = power.Rehearsal(
        pool=pool,
        cuts=(),
        runs=900,
        tests=900,
        other=0.0,
        scored=lambda left, right: 0.0,
        choose=choose,
        pick=lambda events, counts: (0, 0.0),
        learned=lambda choice: (0.0, 0.0, 0.0),
    )
    aim = ExpectedBound(1000, 0.05)
    with pytest.raises(Chosen) as stopped:
        next(power.planted_rates(planned, PrivacyClaim(1.0), aim, 2.0, 1))
    assert stopped.value.args == (runs,)
