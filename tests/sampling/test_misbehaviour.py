"""Mechanisms that do what they should not: every one ends in something clear."""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np
import pytest

from pdpaudit.contracts import Outputs
from pdpaudit.rows import as_rows, fit_width, list_rows
from pdpaudit.sampling import Hits, Misbehaviour, draw, engine, hits, stream
from pdpaudit.sampling.draws import Draws, gathered


def of(function, **more):
    """Make a mechanism of a function of instance and rng."""
    return type("Made", (), {"run": lambda self, i, r: function(i, r), **more})()


def test_a_run_that_raises_is_an_output_and_its_first_words_are_kept():
    def touchy(instance, rng):
        value = int(rng.integers(4))
        if value == 3:
            raise ValueError(f"no {instance}")
        return value

    draws = draw(of(touchy), "x", 2000, seed=1, key=())
    assert len(draws) == draws.counts.total() == 2000
    assert set(draws.counts) == {0, 1, 2, "error ValueError"}
    assert draws.failures == {"error ValueError": "ValueError: no x"}
    # 500 expected, standard deviation 19: beyond 5 of them with probability 6e-7; seed pinned.
    assert abs(draws.counts["error ValueError"] - 500) < 97


def test_leaving_the_interpreter_is_no_way_out():
    draws = draw(of(lambda i, r: sys.exit(3)), None, 3, seed=1, key=())
    assert draws.counts == {"error SystemExit": 3}


@pytest.mark.parametrize("batched", [False, True])
def test_ending_the_process_is_no_way_out_either(batched):
    def run(instance, rng):
        os._exit(3)

    more = {"sample": lambda self, i, size, r: run(i, r)} if batched else {}
    end = os._exit
    with pytest.raises(Misbehaviour, match=r"it called os\._exit\(3\)"):
        draw(of(run, **more), None, 5, seed=1, key=())
    assert os._exit is end


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of threads, from 3.12 on
def test_a_child_may_end_itself():
    def run(instance, rng):
        child = os.fork()
        if not child:
            os._exit(5)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert draw(of(run), None, 2, seed=1, key=()).counts == {5: 2}


def test_a_batch_that_raises_is_drawn_run_by_run():
    class Half:
        def sample(self, instance, size, rng):
            raise MemoryError("too many")

        def run(self, instance, rng):
            return int(rng.integers(2))

    draws = draw(Half(), None, 100, seed=1, key=("a",))
    rng = stream(1, "a", 0)
    assert draws.counts[1] == sum(int(rng.integers(2)) for _ in range(100))
    assert draws.alone == "MemoryError: too many"
    draws.update(Draws(alone="another"))
    assert draws.alone == "MemoryError: too many"
    assert draw(of(lambda i, r: 0), None, 3, seed=1, key=()).alone == ""


def test_a_batch_that_raises_where_there_are_no_single_runs():
    class Only:
        def sample(self, instance, size, rng):
            raise MemoryError("too many")

    with pytest.raises(Misbehaviour, match="MemoryError: too many"):
        draw(Only(), None, 100, seed=1, key=())


def test_a_batch_of_another_size_is_not_taken():
    class Short:
        def sample(self, instance, size, rng):
            return [0] * (size - 1)

        def run(self, instance, rng):
            return 7

    draws = draw(Short(), None, 10, seed=1, key=())
    assert draws.counts == {7: 10}
    assert draws.alone == "ValueError: asked for 10 outputs it gave 9"


@pytest.mark.parametrize("output", [[1], {1: 2}, ({1},), np.zeros(2)])
def test_outputs_that_cannot_be_counted_say_what_they_are(output):
    with pytest.raises(Misbehaviour, match=r"(list|dict|tuple|ndarray), which cannot be hashed"):
        draw(of(lambda i, r: output), None, 5, seed=1, key=())


def test_what_is_printed_is_swallowed_and_counted(capsys):
    draws = draw(of(lambda i, r: print("secret")), None, 5, seed=1, key=())  # noqa: T201
    assert capsys.readouterr().out == ""
    assert draws.printed == 5 * len("secret\n")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.parametrize("batched", [True, False])
def test_a_call_that_does_not_end_is_stopped(batched):
    def forever(*_):
        while True:
            time.sleep(0.01)

    made = of(forever, **({"sample": forever} if batched else {}))
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(Misbehaviour, match="did not end within"):
        draw(made, None, 5, seed=1, key=(), limit=0.2)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_many_quick_runs_are_not_one_slow_one():
    draws = draw(of(lambda i, r: time.sleep(0.002)), None, 200, seed=1, key=(), limit=0.2)
    assert draws.counts == {None: 200}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_copy_of_the_process_does_not_go_on_with_our_work():
    code = """
import os, sys, warnings
warnings.simplefilter("ignore")
from pdpaudit.sampling import Misbehaviour, draw
class Forks:
    def run(self, instance, rng):
        os.fork()
        return 0
try:
    draw(Forks(), None, 5, seed=1, key=())
except Misbehaviour as error:
    os.write(1, str(error).encode())
os.write(1, b"|once|")
"""
    import subprocess

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert told.stdout.count("|once|") == 1, told.stderr
    assert "forked" in told.stdout


def test_failures_and_counts_are_the_same_in_workers(monkeypatch):
    monkeypatch.setattr(engine, "WORTH_WORKERS_S", -1.0)
    monkeypatch.setattr(engine, "SINGLE_CHUNK", 50)

    def touchy(instance, rng):
        return float(rng.random()) if rng.random() < 0.9 else [][1]

    one, two = (draw(of(touchy), None, 230, seed=1, key=(), jobs=jobs) for jobs in (1, 2))
    assert one.counts == two.counts
    assert (
        one.failures == two.failures == {"error IndexError": "IndexError: list index out of range"}
    )
    np.testing.assert_array_equal(np.sort(one.rows, axis=0), np.sort(two.rows, axis=0))


class Low:
    def count(self, draws):
        return int((draws.rows[:, 0] < 0.5).sum()) + draws.counts["x"]


def test_hits_are_those_of_the_same_draws_and_survive_what_ends_them(monkeypatch):
    monkeypatch.setattr(engine, "SINGLE_CHUNK", 50)
    calls = []

    def later(instance, rng):
        calls.append(1)
        return float(rng.random()) if len(calls) <= instance else [1]

    fine = of(lambda i, r: float(r.random()))
    drawn = draw(fine, None, 230, seed=1, key=("k",))
    found = hits(fine, None, 230, Low(), seed=1, key=("k",))
    assert (found.inside, found.runs) == (Low().count(drawn), 230)
    kept = Hits()
    with pytest.raises(Misbehaviour):
        hits(of(later), 120, 230, Low(), seed=1, key=("k",), total=kept)
    assert kept.runs == 100
    assert 20 < kept.inside < 80


def test_arrays_stay_arrays_and_categories_are_counted():
    assert gathered(np.zeros((5, 3)), 5).rows.shape == (5, 3)
    assert gathered(np.zeros(5), 5).rows.shape == (5, 1)
    assert gathered(np.zeros((5, 3), dtype=bool), 5).rows.dtype == bool
    assert gathered(np.array([1, 1, 2]), 3).counts == {1: 2, 2: 1}
    assert gathered(np.array([["a", "b"]]), 1).counts == {("a", "b"): 1}
    assert gathered(Outputs([(), (1,)], np.array([1, 1])), 2).counts == {(1,): 2}
    with pytest.raises(ValueError, match="asked for 3 outputs it gave 2"):
        gathered([1, 2], 3)


def test_rows_of_different_lengths_are_filled_up():
    draws = Draws(pieces=[np.ones((1, 1))])
    draws.update(gathered([(1.0, 2.0)], 1))
    np.testing.assert_array_equal(draws.rows, [[1.0, np.nan], [1.0, 2.0]])
    assert len(Draws()) == 0
    assert Draws().rows.shape == (0, 0)
    assert fit_width(np.ones((1, 3)), 2).shape == (1, 2)


def test_only_real_values_become_rows():
    assert as_rows([]) is None
    assert as_rows([(1, 2)]) is None
    assert as_rows([(True, None)]) is None
    assert as_rows([(0.5, "a")]) is None
    assert as_rows([(0.5, 1j)]) is None
    assert as_rows([3, None, True]) is None
    assert as_rows([3, None, True, 0.5]).shape == (4, 1)
    assert as_rows([(1, np.int64(2)), (np.bool_(True), np.float64(3.0))]).tolist() == [
        [1, 2],
        [1, 3],
    ]
    assert np.isnan(as_rows([float("nan"), (0.5, float("nan"))])).tolist() == [
        [True, True],
        [False, True],
    ]
    np.testing.assert_array_equal(as_rows([np.float32(0.5)]), [[0.5]])
    np.testing.assert_array_equal(list_rows([(4, 9), "x"], [9]), [[1, 2], [np.nan, 0]])
