"""An author's code may raise, hang, be slow or wrong: it is said, and the checks go on."""

from __future__ import annotations

import itertools
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pdpaudit.algorithms.statistics import CN
from pdpaudit.checks import Options, check_names, check_sop, iter_checks
from pdpaudit.checks.evaluation import TooSlow, limit
from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.statistic import statistic

QUICK = Options(max_vertices=4, examples=100)


def by_name(results):
    return {result.name: result for result in results}


def test_an_exception_shows_the_graph_and_the_authors_traceback():
    @statistic(sensitivity=1, impact_cardinality=9)
    def breaks_on_triangles(graph, vertex, targets):
        if graph.number_of_edges() == 3 and len(graph) == 3:
            raise KeyError("triangle")
        return 0.0

    results = by_name(check_sop(breaks_on_triangles, QUICK))
    finite = results["finite"]
    assert finite.status == "violated"
    assert "KeyError" in finite.detail
    assert finite.witness["edges"] == [[0, 1], [0, 2], [1, 2]]
    assert "breaks_on_triangles" in finite.witness["traceback"]
    assert results["targeted-sensitivity"].status == "skipped"
    assert "finite" in results["targeted-sensitivity"].detail


def test_an_exception_only_the_search_meets_is_a_failed_check():
    @statistic(sensitivity=1, impact_cardinality=99)
    def breaks_on_fourteen(graph, vertex, targets):
        if len(graph) == 14:
            raise ValueError("fourteen")
        return 0.0

    results = by_name(check_sop(breaks_on_fourteen, Options(max_vertices=4, examples=500)))
    assert results["finite"].status == "certified"
    broken = results["targeted-sensitivity"]
    assert broken.status == "violated"
    assert "fourteen" in broken.detail
    assert broken.witness["n"] == 14


def test_a_statistic_that_hangs_is_stopped():
    @statistic(sensitivity=1, impact_cardinality=9)
    def hangs(graph, vertex, targets):
        while len(graph) == 3:
            with suppress(Exception):  # an author who swallows everything
                time.sleep(0.01)
        return 0.0

    start = time.monotonic()
    results = by_name(check_sop(hangs, Options(max_vertices=4, time_limit=2.0, examples=0)))
    assert time.monotonic() - start < 60
    assert results["finite"].status == "violated"
    assert "no answer within 2 s" in results["finite"].detail
    assert results["finite"].witness["n"] == 3


def test_no_statistic_is_violated_by_a_short_time_limit():
    @statistic(sensitivity=1, impact_cardinality=9)
    def slow(graph, vertex, targets):
        time.sleep(0.02)
        return 0.0

    results = check_sop(slow, Options(max_vertices=4, time_limit=1e-3, examples=0))
    assert {"violated", "error"}.isdisjoint(result.status for result in results)


@pytest.mark.parametrize(
    "wrong", [{"max_vertices": "a"}, {"seed": -1}, {"time_limit": "soon"}, {"examples": 1.5}]
)
def test_options_of_another_kind_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Options(**wrong)
    numbers: dict[str, Any] = {"max_vertices": np.int64(3), "time_limit": np.float64(9)}
    assert Options(**numbers) == Options(3, time_limit=9)


def test_a_statistic_that_hangs_is_stopped_in_any_check():
    @statistic(sensitivity=1, impact_cardinality=9)
    def hangs(graph, vertex, targets):
        while len(graph) == 3:
            time.sleep(0.01)
        return 0.0

    for name in check_names():
        if name in ("fast-path", "own-network"):
            continue
        options = Options(max_vertices=4, time_limit=2.0, examples=100, select=(name,))
        start = time.monotonic()
        *before, result = check_sop(hangs, options)
        assert [failed.name for failed in before] == ([] if name == "finite" else ["finite"])
        assert time.monotonic() - start < 60
        assert result.status != "certified" or "2 vertices" in result.scope


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_or_a_hang_in_a_worker_comes_back(jobs):
    @statistic(sensitivity=1, impact_cardinality=9)
    def fails_on_six(graph, vertex, targets):
        if graph.number_of_nodes() == 6 and graph.number_of_edges() == 9:
            raise ArithmeticError("six and nine")
        return 0.0

    @statistic(sensitivity=1, impact_cardinality=9)
    def hangs_on_six(graph, vertex, targets):
        while graph.number_of_nodes() == 6 and graph.number_of_edges() == 9:
            time.sleep(0.01)
        return 0.0

    options = Options(
        max_vertices=6, jobs=jobs, examples=0, time_limit=60.0, select=("targeted-sensitivity",)
    )
    (failed,) = check_sop(fails_on_six, options)
    assert failed.status == "violated"
    assert "six and nine" in failed.detail
    assert len(failed.witness["edges"]) == 9
    (hung,) = check_sop(hangs_on_six, replace(options, time_limit=8.0))
    certain = "every labelled network up to 5 vertices (degree bounds up to 4); "
    assert hung.scope.startswith(certain + "time limit reached at 6 vertices")


def test_a_slow_statistic_says_which_scope_was_completed():
    @statistic(sensitivity=0, impact_cardinality=0)
    def slow(graph, vertex, targets):
        time.sleep(0.02)
        return 0.0

    results = by_name(check_sop(slow, Options(time_limit=4.0)))
    assert "time" in results["finite"].scope
    assert results["finite"].status == "not_rejected"
    assert "(limit 4 s)" in results["targeted-sensitivity"].scope


def test_no_check_stops_before_the_time_limit(monkeypatch):
    # Each look at the clock takes 0.05 s: a check with a share of the limit would stop early.
    now = itertools.count(0.0, 0.05)
    monkeypatch.setattr(time, "time", lambda: next(now))
    results = check_sop(CN(), Options(max_vertices=3, examples=20, time_limit=20.0))
    assert not [result.name for result in results if "time limit" in result.scope]
    assert by_name(results)["finite"].status == "certified"


def test_the_limit_is_restored_and_the_outer_one_stays():
    def inside():
        with limit(0.05), limit(5):
            time.sleep(1)

    with pytest.raises(TooSlow):
        inside()
    with limit(0.05):
        pass
    time.sleep(0.1)  # an alarm left behind would ring here


def test_selecting_and_skipping():
    results = check_sop(
        CN(), Options(max_vertices=3, select=("finite", "tightness"), skip=("finite",))
    )
    assert [(r.name, r.status) for r in results] == [
        ("finite", "skipped"),
        ("tightness", "certified"),
    ]


def test_an_unknown_check_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="tightness"):
        list(iter_checks(CN(), Options(skip=("tightnes",))))


def test_an_expected_failure_needs_a_reason_and_is_shown():
    with pytest.raises(InputError, match="reason is empty"):
        Options(expected_failures={"finite": " "})
    sop = statistic(sensitivity=0, impact_cardinality=99)(CN())
    options = Options(
        max_vertices=4,
        examples=200,
        select=("targeted-sensitivity", "impact-cardinality"),
        expected_failures={
            "targeted-sensitivity": "left out on purpose",
            "impact-cardinality": "thought to fail",
        },
    )
    failed, passed = check_sop(sop, options)
    assert failed.status == "skipped"
    assert failed.detail.startswith("expected failure (left out on purpose)")
    assert failed.witness is not None
    assert passed.status == "certified"
    assert "expected to fail (thought to fail), but it passes" in passed.detail


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_vertices": 0},
        {"max_vertices": 9},
        {"time_limit": 0},
        {"time_limit": float("nan")},
        {"jobs": 0},
        {"examples": -1},
        {"max_degree": -1},
    ],
)
def test_impossible_options_are_refused(wrong):
    with pytest.raises(InputError):
        Options(**wrong)
