"""A counterexample verifies by code of its own, as JSON and as Python, and only if it is one."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from dataclasses import replace

import pytest

from pdpaudit.algorithms.statistics import Path
from pdpaudit.checks import (
    Options,
    as_listing,
    as_python,
    check_sop,
    read_witness,
)
from pdpaudit.core.errors import InputError
from pdpaudit.core.statistic import statistic
from pdpaudit.replay import replay_check
from pdpaudit.replay.checks import verify_witness
from pdpaudit.results.results import CheckResult


@pytest.fixture(scope="module")
def witness():
    """What is found of a statistic that is Path_2 with a declaration too small by one."""
    (result,) = check_sop(
        statistic(sensitivity=lambda d: max(d - 2, 0), impact_cardinality=99)(Path(2)),
        Options(max_vertices=5, select=("targeted-sensitivity",)),
    )
    assert result.status == "violated"
    return json.loads(json.dumps(result.witness))


@pytest.fixture
def too_small():
    return statistic(sensitivity=lambda d: max(d - 2, 0), impact_cardinality=99)(Path(2))


def test_it_survives_json_and_verifies(witness, too_small):
    verified = verify_witness(read_witness(witness), too_small)
    assert verified.reproduced
    assert verified.measured.observed == witness["observed"] == 1


def test_it_does_not_verify_for_a_statistic_whose_bounds_hold(witness):
    assert not verify_witness(read_witness(witness), Path(2)).reproduced


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"left": [], "right": []}, "found 0"),
        ({"max_degree": 1}, "exceeds degree 1"),
        ({"edges": [[0, 1], [2, 0]]}, "among the common ones"),
    ],
)
def test_a_doctored_witness_does_not_reproduce(witness, too_small, change, words):
    verified = verify_witness(read_witness({**witness, **change}), too_small)
    assert not verified.reproduced
    assert words in verified.detail


@pytest.mark.parametrize(
    "change",
    [{"right": [0, 1, 77]}, {"edges": [[0]]}, {"targets": [True]}, {"n": 1}, {"vertex": "0"}],
)
def test_a_witness_of_no_graph_is_refused(witness, change):
    with pytest.raises(InputError, match=r"it: witness\.\w+ is .* not"):
        read_witness({**witness, **change})


def test_u_in_s_does_not_reproduce(witness, too_small):
    doctored = {**witness, "targets": [witness["vertex"]]}
    assert "in S" in verify_witness(read_witness(doctored), too_small).detail


@pytest.mark.parametrize("rubbish", [{}, {"format": "pdpaudit-statistic-witness/1"}])
def test_rubbish_is_refused(rubbish):
    with pytest.raises(InputError, match="witness"):
        read_witness(rubbish)


def test_the_listing_names_both_sides(witness):
    text = as_listing(witness)
    assert f"rewired: {witness['vertex']}" in text
    assert len(text.splitlines()) == 4


def test_the_python_reproduces_it(witness, tmp_path):
    program = as_python(witness, "Path_2")
    assert len(program.splitlines()) <= 10
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    left, right = (json.loads(line) for line in done.stdout.splitlines())
    assert [left, right] == [witness["values"]["left"], witness["values"]["right"]]


def test_replay_finds_the_statistic_by_name(witness):
    # The registered one declares more than the broken copy did: nothing is violated.
    check = CheckResult("targeted-sensitivity", "violated", witness=witness)
    named = replace(check, witness={**witness, "specification": "Path_2"})
    assert not replay_check(named).reproduced
    with pytest.raises(InputError, match="does not name"):
        replay_check(check)


def test_the_python_of_a_failure_on_one_graph():
    def late(graph, vertex, targets):
        if len(graph) == 3:
            raise RuntimeError("three is too many")
        return 0.0

    sop = statistic(sensitivity=0, impact_cardinality=0)(late)
    (result,) = check_sop(sop, Options(select=("finite",)))
    program = as_python(result.witness, "CN")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(program, {})  # our own text, to see that it runs
    assert printed.getvalue().strip() == "[0, 0, 0]"
