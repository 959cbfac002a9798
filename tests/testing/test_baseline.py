"""Still under the claim, but leaking more than it did."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pdpaudit.core.errors import InputError
from pdpaudit.testing.baseline import (
    baseline_text,
    measure_growth,
    read_baseline,
    upper_bound,
    write_baseline,
)

from .conftest import INI, MECHANISM, Project, out

BOTH = """
def test_sampled(): assert_private(Coin(3.0), samples=4000)
def test_exact(): assert_private(ExactCoin(3.0))
"""
COMPARE = ("--pdp-baseline", "losses.json", "-W", "ignore")
RECORD = (*COMPARE, "--pdp-update-baseline")


@pytest.fixture(scope="module")
def losses() -> dict[str, bytes]:
    """Return what was recorded once, by the name of its file."""
    return {}


@pytest.fixture
def recorded(
    project: Project, losses: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    """Return a project whose coins lose 0.5, as recorded, of the 3 they claim."""
    it = project(BOTH)
    monkeypatch.setenv("REAL_LOSS", "0.5")
    for name, content in losses.items():
        (it.path / name).write_bytes(content)
    if losses:
        return it
    result = it.runpytest_inprocess(*RECORD)
    result.assert_outcomes(passed=2)
    assert "baseline losses.json: 2 losses recorded" in out(result)
    losses["losses.json"] = (it.path / "losses.json").read_bytes()
    return it


def test_the_same_mechanism_passes(recorded: pytest.Pytester) -> None:
    result = recorded.runpytest_inprocess(*COMPARE)
    result.assert_outcomes(passed=2)
    assert "baseline losses.json: 2 compared, none grew" in out(result)


def test_leaking_twice_as_much_under_the_claim_fails(
    recorded: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REAL_LOSS", "1.0")
    result = recorded.runpytest_inprocess(*COMPARE)
    result.assert_outcomes(failed=2)
    text = out(result)
    assert text.count("leaks more than it did") >= 2
    assert "3-DP (its author): no outcome more than 20.1 times as likely" in text
    assert "was     loss 0.5, in losses.json" in text
    assert "now     loss 1, exact" in text
    assert "at confidence 0.99875 (8,000 fresh runs)" in text
    assert "2 not rejected; 2 GREW" in text
    assert "2 compared, 2 grew" in text
    # Without the baseline nothing is wrong.
    recorded.runpytest_inprocess("-W", "ignore").assert_outcomes(passed=2)


def test_leaking_less_passes(recorded: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REAL_LOSS", "0.1")
    recorded.runpytest_inprocess(*COMPARE).assert_outcomes(passed=2)


def test_a_broken_claim_is_shown_before_growth_and_not_recorded(
    recorded: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (recorded.path / "losses.json").read_text()
    monkeypatch.setenv("REAL_LOSS", "4.0")
    text = out(recorded.runpytest_inprocess(*COMPARE))
    assert "is not private as claimed" in text
    result = recorded.runpytest_inprocess(*RECORD)
    result.assert_outcomes(failed=2)
    assert "0 losses recorded; not recorded as they fail: 2" in out(result)
    assert (recorded.path / "losses.json").read_text() == before


def test_growth_is_put_up_with_up_to_the_tolerance(
    recorded: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REAL_LOSS", "1.0")
    recorded.runpytest_inprocess(*COMPARE, "--pdp-tolerance", "0.6").assert_outcomes(passed=2)
    recorded.runpytest_inprocess(*COMPARE, "--pdp-tolerance", "0.4", "-k", "exact").assert_outcomes(
        failed=1, deselected=1
    )


def test_a_law_is_compared_to_the_last_digits(
    recorded: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    for loss, failed in (("0.500001", 1), ("0.500000001", 0)):
        monkeypatch.setenv("REAL_LOSS", loss)
        result = recorded.runpytest_inprocess(*COMPARE, "-k", "exact")
        result.assert_outcomes(failed=failed, passed=1 - failed, deselected=1)


def test_recording_again_changes_nothing(recorded: pytest.Pytester) -> None:
    path = recorded.path / "losses.json"
    before = path.read_bytes()
    recorded.runpytest_inprocess(*RECORD)
    assert path.read_bytes() == before


def test_recording_a_part_keeps_the_rest_and_drops_what_is_gone(
    recorded: pytest.Pytester, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recorded.path / "losses.json"
    before = path.read_text().splitlines()
    monkeypatch.setenv("REAL_LOSS", "0.7")
    recorded.runpytest_inprocess(*RECORD, "-k", "exact")
    after = path.read_text().splitlines()
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    # One line for one loss: a reviewer sees what grew, and nothing else.
    assert changed == ['   "loss": 0.7,']
    project("def test_sampled(): assert_private(Coin(3.0), samples=4000)")
    shown = out(recorded.runpytest_inprocess(*RECORD))
    assert "1 loss recorded, 1 of tests that are gone taken out" in shown
    assert list(json.loads(path.read_text())["losses"]) == ["test_it.py::test_sampled"]


def test_what_is_not_recorded_is_shown(recorded: pytest.Pytester, project: Project) -> None:
    project(BOTH + "def test_new(): assert_private(ExactCoin(2.0))\n")
    result = recorded.runpytest_inprocess(*COMPARE)
    result.assert_outcomes(passed=3)
    assert "2 compared, none grew; 1 not in it, record with --pdp-update-baseline" in out(result)


def test_a_baseline_is_read_where_the_ini_file_names_it(
    recorded: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded.makeini(INI + "pdp_baseline = losses.json")
    monkeypatch.setenv("REAL_LOSS", "1.0")
    (recorded.path / "below").mkdir()
    monkeypatch.chdir(recorded.path / "below")
    result = recorded.runpytest_inprocess("..", "-k", "exact")
    result.assert_outcomes(failed=1, deselected=1)
    assert "was     loss 0.5, in" in out(result)
    assert "replay  pytest ../test_it.py::test_exact" in out(result)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "pdpaudit-baseline/1"}', '{"format": "other"}', "\udcff"]
)
def test_what_is_no_baseline_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "losses.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match="record one anew with --pdp-update-baseline"):
        read_baseline(path)


def test_a_damaged_entry_is_refused(recorded: pytest.Pytester) -> None:
    path = recorded.path / "losses.json"
    losses: dict[str, Any] = dict(read_baseline(path))
    for entry in losses.values():
        entry.update(pair={"number": 7}, counts=[1, 2])
    write_baseline(path, losses)
    result = recorded.runpytest_inprocess(*COMPARE)
    result.assert_outcomes(failed=2)
    assert out(result).count("an entry is damaged or no longer fits") >= 2


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    name = 'test_a.py::test[\u202e<script>"\\]\u05d0=1+1'
    text = baseline_text({name: {"loss": 1.0}})
    assert text.isascii()
    assert json.loads(text)["losses"] == {name: {"loss": 1.0}}


def coin(loss: float) -> Any:
    space: dict[str, Any] = {}
    exec(MECHANISM, space)
    return space["Coin"](9.0, loss)


def entry(counts: list[int]) -> dict[str, Any]:
    event = {"feature": "output", "values": [0], "side": "left", "prefix": 0}
    x, n, y, m = counts
    loss = max(0.0, math.log(x / n / (y / m)))
    return {
        "delta": 0.0, "loss": loss, "exact": False, "event": event, "counts": counts,
        "pair": {"number": 1, "words": "flip"},
    }  # fmt: skip


def test_the_upper_bound_covers() -> None:
    """Over all counts of 30 against 20 runs, by enumeration: never below the truth too often."""
    n, m, alpha = 30, 20, 0.1
    bounds = np.array(
        [[upper_bound(x, n, y, m, alpha) for y in range(m + 1)] for x in range(n + 1)]
    )
    for p, q in ((0.5, 0.25), (0.9, 0.3), (0.2, 0.1), (0.97, 0.6), (0.05, 0.05)):
        weight = np.outer(stats.binom.pmf(range(n + 1), n, p), stats.binom.pmf(range(m + 1), m, q))
        assert weight[bounds < math.log(p / q)].sum() <= alpha


def test_what_has_not_grown_seldom_fails(repetitions: Callable[[int, int], int]) -> None:
    """Baselines of a loss of 1, and the same coin measured again, at an error level of 20%.

    Fails for a right implementation with probability below 0.001; seeds pinned.
    """
    rng = np.random.default_rng(0)
    mechanism, n, times = coin(1.0), 300, repetitions(40, 300)
    p = mechanism.truth
    grew = 0
    for seed in range(times):
        x, y = rng.binomial(n, p), rng.binomial(n, 1 - p)
        grew += measure_growth(
            entry([int(x), n, int(y), n]), mechanism, seed=seed, key=("t",), size=n, alpha=0.2,
            tolerance=0.0, recorded_in=Path("b"),
        ).grew  # fmt: skip
    assert grew <= stats.binom.ppf(0.999, times, 0.2)


def test_how_much_growth_is_seen() -> None:
    """A loss of 0.5 that doubles is seen with 2,000 runs a side in each of 20 tries."""
    rng = np.random.default_rng(1)
    before, now = coin(0.5).truth, coin(1.0)
    for seed in range(20):
        x, y = rng.binomial(2000, before), rng.binomial(2000, 1 - before)
        assert measure_growth(
            entry([int(x), 2000, int(y), 2000]), now, seed=seed, key=("t",), size=2000, alpha=0.05,
            tolerance=0.0, recorded_in=Path("b"),
        ).grew  # fmt: skip
