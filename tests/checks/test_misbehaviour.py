"""An author's code may raise, hang, be slow or wrong: it is said, and the checks go on."""

from __future__ import annotations

import itertools
import signal
import sys
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpaudit import check
from pdpaudit.algorithms.statistics import CN
from pdpaudit.checks import Options, check_names, check_sop, iter_checks, read_witness
from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.statistic import statistic
from pdpaudit.replay.checks import verify_witness
from pdpaudit.sampling.guard import Limit, TooSlow
from pdpaudit.sampling.surroundings import SIGNAL

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


def test_whoever_leaves_python_is_named_and_the_checks_go_on():
    @statistic(sensitivity=1, impact_cardinality=9)
    def leaves(graph, vertex, targets):
        raise SystemExit(0)

    results = by_name(check_sop(leaves, QUICK))
    assert results["finite"].status == "violated"
    assert results["finite"].detail.startswith("SystemExit: 0 (on 1 vertex with 0 edges, vertex 0)")


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_what_a_statistic_prints_is_not_shown(jobs, capfd):
    @statistic(sensitivity=0, impact_cardinality=1)
    def prints(graph, vertex, targets):
        sys.stdout.write("seen")
        return 0.0

    def scores(adjacency, targets):
        sys.stdout.write("all")
        return np.zeros(adjacency.shape[0])

    def ties(graph):
        sys.stdout.write("graph")
        return graph.number_of_edges()

    both = statistic(sensitivity=0, impact_cardinality=1, scores=scores)(prints)
    for sop in (prints, both):
        options = Options(
            max_vertices=5, jobs=jobs, examples=60, labelled_vertices=2 + 3 * (jobs > 1)
        )
        assert {"violated"}.isdisjoint(one.status for one in check_sop(sop, options))
    assert not check(ties, relation="edge", sensitivity=1).violated
    assert capfd.readouterr().out == ""


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
    results = by_name(check_sop(hangs, Options(max_vertices=4, time_limit=4.0, examples=0)))
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
        options = Options(max_vertices=4, time_limit=4.0, examples=100, select=(name,))
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


KEYS: dict[str, Callable[..., Any]] = {
    "vertex": lambda graph, vertex, targets: vertex,
    "vertex and S": lambda graph, vertex, targets: (vertex, targets),
    "sizes": lambda graph, vertex, targets: (len(graph), graph.size(), vertex, targets),
    "S": lambda graph, vertex, targets: (len(graph), tuple(graph.edges), targets),
    "everything": lambda graph, vertex, targets: (len(graph), tuple(graph.edges), vertex, targets),
}


@pytest.mark.parametrize("key", KEYS)
def test_what_is_remembered_must_be_remembered_of_the_same_question(key):
    known: dict[Any, float] = {}

    @statistic(sensitivity=1, impact_cardinality=1)
    def remembers(graph, vertex, targets):
        question = (len(graph), sorted(graph.edges), vertex, sorted(targets))
        answer = zlib.crc32(repr(question).encode())  # no two questions have the same
        return known.setdefault(KEYS[key](graph, vertex, targets), answer)

    (result,) = check_sop(remembers, replace(QUICK, select=("deterministic",)))
    if key == "everything":
        assert result.status == "not_rejected"
        return
    assert result.status == "violated"
    known.clear()  # as where it is replayed
    assert verify_witness(read_witness(result.witness or {}), remembers).reproduced


def test_what_differs_in_its_last_digit_is_shown_in_all_with_what_to_do():
    known: list[float] = []

    @statistic(sensitivity=1, impact_cardinality=1)
    def drifts(graph, vertex, targets):
        known.append(len(known))
        return 0.1 + 0.2 if len(known) > 900 else 0.3

    (result,) = check_sop(drifts, replace(QUICK, select=("deterministic",)))
    assert result.status == "violated"
    assert "0.30000000000000004" in result.detail
    assert "use math.fsum or state it as `error`" in result.detail


@given(st.integers(1, 1000))
@settings(max_examples=8, deadline=None)
def test_a_statistic_that_changes_after_some_calls_is_found(calls):
    count = itertools.count()

    @statistic(sensitivity=1, impact_cardinality=1)
    def changes(graph, vertex, targets):
        return float(next(count) < calls)

    (result,) = check_sop(changes, replace(QUICK, select=("deterministic",)))
    assert result.status == "violated"
    count = itertools.count()  # as where it is replayed
    assert verify_witness(read_witness(result.witness or {}), changes).reproduced


def test_no_check_stops_before_the_time_limit(monkeypatch):
    # Each look at the clock takes 0.05 s: a check with a share of the limit would stop early.
    now = itertools.count(0.0, 0.05)
    monkeypatch.setattr(time, "time", lambda: next(now))
    results = check_sop(CN(), Options(max_vertices=3, examples=20, time_limit=20.0))
    assert not [result.name for result in results if "time limit" in result.scope]
    assert by_name(results)["finite"].status == "certified"


def test_the_limit_is_restored_and_the_outer_one_stays():
    def inside():
        with Limit(0.05), Limit(5):
            time.sleep(1)

    with pytest.raises(TooSlow):
        inside()
    with Limit(0.05):
        pass
    time.sleep(0.1)  # an alarm left behind would ring here


@pytest.mark.skipif(SIGNAL is None, reason="there is no signal that could ring")
def test_nothing_but_too_slow_comes_out_of_a_limit():
    # Rung as often as can be: at any place in and around the block.
    over, main = threading.Event(), threading.get_ident()

    def ring():
        while not over.is_set():
            signal.pthread_kill(main, SIGNAL)

    kept, found = signal.signal(SIGNAL, lambda *_: None), set()
    thread = threading.Thread(target=ring)
    thread.start()
    try:
        for _ in range(300):
            try:
                with Limit(0.0):
                    for _ in range(10):
                        pass
            except BaseException as error:
                found.add(type(error))
    finally:
        over.set()
        thread.join()
        signal.signal(SIGNAL, kept)
    assert found == {TooSlow}


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
