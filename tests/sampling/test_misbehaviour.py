"""Mechanisms that do what they should not: every one ends in something clear."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import numpy as np
import pytest

from pdpaudit.core.protocols import Outputs, PrivacyClaim
from pdpaudit.outputs import Draws, flatten, gathered
from pdpaudit.outputs.draws import ROWS, rows_of
from pdpaudit.sampling import BatchFailed, Hits, Misbehaviour, draw, engine, hits, stream


def counted(draws):
    """What was counted, by output: a value, or the kind of what was raised."""
    return {
        values[0] if structure is None and values[0] is not None else kinds[0]: times
        for (structure, kinds, values), times in draws.counts.items()
    }


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
    assert set(counted(draws)) == {0, 1, 2, "raises ValueError"}
    (words,) = draws.failures.values()
    assert words.startswith("ValueError: no x (test_misbehaviour.py:")
    assert words.endswith(', `raise ValueError(f"no {instance}")`)')
    assert draws.answered()
    # 500 expected, standard deviation 19: beyond 5 of them with probability 6e-7; seed pinned.
    assert abs(counted(draws)["raises ValueError"] - 500) < 97


def test_leaving_the_interpreter_is_no_way_out():
    draws = draw(of(lambda i, r: sys.exit(3)), None, 3, seed=1, key=())
    assert counted(draws) == {"raises SystemExit": 3}
    assert not draws.answered()


def test_the_name_of_an_error_is_no_error():
    draws = draw(of(lambda i, r: "raises ValueError"), None, 3, seed=1, key=())
    assert draws.counts == {flatten("raises ValueError"): 3}
    assert draws.answered()


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

    assert draw(of(run), None, 2, seed=1, key=()).counts == {flatten(5): 2}


def test_a_batch_that_raises_is_drawn_run_by_run():
    class Half:
        claim = PrivacyClaim(1.0)

        def sample(self, instance, size, rng):
            raise MemoryError("too many")

        def run(self, instance, rng):
            return int(rng.integers(2))

    draws = draw(Half(), None, 100, seed=1, key=("a",))
    rng = stream(1, "a", 0)
    assert draws.counts[flatten(1)] == sum(int(rng.integers(2)) for _ in range(100))
    first = draws.alone
    assert first.startswith("MemoryError: too many (test_misbehaviour.py:")
    draws.update(Draws(alone="another"))
    assert draws.alone == first
    assert draw(of(lambda i, r: 0), None, 3, seed=1, key=()).alone == ""


def test_a_batch_that_raises_where_there_are_no_single_runs():
    class Only:
        def sample(self, instance, size, rng):
            raise MemoryError("too many")

    only: Any = Only()
    with pytest.raises(Misbehaviour, match="MemoryError: too many"):
        draw(only, None, 100, seed=1, key=())


def test_a_batch_of_another_size_is_not_taken():
    class Short:
        claim = PrivacyClaim(1.0)

        def sample(self, instance, size, rng):
            return [0] * (size - 1)

        def run(self, instance, rng):
            return 7

    draws = draw(Short(), None, 10, seed=1, key=())
    assert draws.counts == {flatten(7): 10}
    assert draws.alone == "ValueError: asked for 10 outputs it gave 9"


class Sometimes:
    claim = PrivacyClaim(1.0)

    """Counts its calls; a batch raises where one of its runs would, as whole arrays do."""

    def __init__(self):
        self.batches = self.runs = 0

    def sample(self, instance, size, rng):
        self.batches += 1
        numbers = rng.integers(1000, size=size)
        if (numbers == 0).any():
            raise ZeroDivisionError("0")
        return numbers.tolist()

    def run(self, instance, rng):
        self.runs += 1
        return 1 // int(rng.integers(1000) > 0)


class Everything:
    def count(self, draws):
        return len(draws)


def test_where_a_verdict_depends_on_it_no_batch_is_drawn_again():
    """Which runs share a batch with one that raises must decide nothing."""
    made, total = Sometimes(), Hits()
    with pytest.raises(
        BatchFailed, match=r"its sample raised ZeroDivisionError: 0 .*on a batch of"
    ):
        hits(made, None, 5000, Everything(), seed=1, key=("k",), total=total)
    assert (made.runs, total.runs) == (0, 0)
    assert issubclass(BatchFailed, Misbehaviour)


def test_drawn_one_by_one_its_sample_is_not_asked():
    made = Sometimes()
    found = hits(made, None, 2000, Everything(), seed=1, key=("k",), single=True)
    drawn = draw(made, None, 2000, seed=1, key=("k",), single=True)
    assert (made.batches, made.runs, found.runs, len(drawn)) == (0, 4000, 2000, 2000)
    assert drawn.alone == ""
    plain = type("Plain", (), {"run": Sometimes.run})
    one = plain()
    one.runs = 0
    assert draw(one, None, 2000, seed=1, key=("k",)).same_as(drawn)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_array_of_another_kind_in_another_batch_is_refused(monkeypatch, jobs):
    """numpy makes an array of floats where one entry is one: what others give depends on it."""
    monkeypatch.setattr(engine, "WORTH_WORKERS_S", -1.0)
    monkeypatch.setattr(engine, "BATCHED_CHUNK", 50)

    class Mixed:
        def sample(self, instance, size, rng):
            return np.array([0.5 if rng.random() < 0.02 else 1 for _ in range(size)])

    mixed: Any = Mixed()
    words = "array of (int64|float64) in one batch and of (int64|float64) in another"
    for ask in (
        lambda: draw(mixed, None, 2000, seed=1, key=(), jobs=jobs),
        lambda: hits(mixed, None, 2000, Everything(), seed=1, key=(), jobs=jobs),
    ):
        with pytest.raises(Misbehaviour, match=words):
            ask()


def test_texts_of_other_lengths_and_lists_are_one_kind():
    draws = gathered(np.array(["a", "b"]), 2)
    draws.update(gathered(np.array(["abc"]), 1))
    draws.update(gathered(["x", 0.5], 2))
    draws.update(gathered(np.array([None, 3], dtype=object), 2))
    assert len(draws) == 7
    assert draws.form == "text"


@pytest.mark.parametrize("output", [[1], {1: 2}, ({1},), np.zeros(2)])
def test_outputs_without_a_hash_are_counted(output):
    draws = draw(of(lambda i, r: output), None, 5, seed=1, key=())
    assert len(draws) == 5
    again = gathered([output] * 5, 5)
    assert draws.same_as(again)


def test_outputs_that_change_afterwards_are_read_at_once():
    kept: list[Any] = []

    def growing(instance, rng):
        kept.append(len(kept))
        return kept

    draws = draw(of(growing), None, 3, seed=1, key=())
    assert draws.counts == {flatten([*range(k)]): 1 for k in (1, 2, 3)}


def endless():
    output: list[Any] = []
    output.append(output)
    return output


class Sulking:
    def __array__(self):
        return 1 // 0


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (endless, "something nested more than 60 deep"),
        (Sulking, "a Sulking that raises ZeroDivisionError when it is read"),
        (lambda: iter(int, 1), "a callable_iterator that gives more than 200,000 items"),
    ],
)
def test_outputs_that_cannot_be_read_say_what_they_are(make, words, batched):
    more = {"sample": lambda self, i, size, r: [make()] * size} if batched else {}
    with pytest.raises(Misbehaviour, match=f"it returned {words}; return numbers, texts, tuples"):
        draw(of(lambda i, r: make(), **more), None, 5, seed=1, key=())


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
    draws = draw(of(lambda i, r: time.sleep(0.02)), None, 150, seed=1, key=(), limit=2.0)
    assert draws.counts == {flatten(None): 150}


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

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert told.stdout.count("|once|") == 1, told.stderr
    assert "forked" in told.stdout


def test_failures_and_counts_are_the_same_in_workers(monkeypatch):
    monkeypatch.setattr(engine, "WORTH_WORKERS_S", -1.0)
    monkeypatch.setattr(engine, "SINGLE_CHUNK", 50)

    def touchy(instance, rng):
        return float(rng.random()) if rng.random() < 0.9 else [][1]

    one, two = (draw(of(touchy), None, 230, seed=1, key=(), jobs=jobs) for jobs in (1, 2))
    assert one.counts == two.counts
    assert one.failures == two.failures
    assert one.failures["raises IndexError"].startswith("IndexError: list index out of range (")
    # In the order of the chunks, whichever worker ended first.
    assert one.same_as(two)
    assert [piece.tolist() for piece in one.arrays[None]] != [[]]


def test_outputs_stay_in_the_order_of_their_chunks(monkeypatch):
    """Whatever order they come in, as from workers or a store."""
    monkeypatch.setattr(engine, "SINGLE_CHUNK", 50)
    monkeypatch.setattr(engine, "BATCH", 1)
    fine = of(lambda i, r: float(r.random()))
    expected = draw(fine, None, 230, seed=1, key=("k",))
    plain = engine.chunks
    monkeypatch.setattr(engine, "chunks", lambda *a: reversed([*plain(*a)]))
    again = draw(fine, None, 230, seed=1, key=("k",))
    assert rows_of(again.arrays[None]).tolist() == rows_of(expected.arrays[None]).tolist()
    numbers = [stream(1, "k", chunk).random(50)[: 230 - 50 * chunk] for chunk in range(5)]
    assert rows_of(expected.arrays[None]).tolist() == np.concatenate(numbers).tolist()


class Low:
    def count(self, draws):
        return sum(int((piece < 0.5).sum()) for piece in draws.arrays.get(None, ()))


def test_hits_are_those_of_the_same_draws_and_survive_what_ends_them(monkeypatch):
    monkeypatch.setattr(engine, "SINGLE_CHUNK", 50)
    calls = []

    def later(instance, rng):
        calls.append(1)
        return float(rng.random()) if len(calls) <= instance else endless()

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
    assert gathered(np.zeros((5, 3)), 5).arrays[ROWS][0].shape == (5, 3)
    assert gathered(np.zeros(5), 5).arrays[None][0].shape == (5,)
    assert gathered(np.zeros((5, 3), dtype=bool), 5).arrays[ROWS][0].dtype == bool
    assert gathered(np.zeros((5, 2, 3)), 5).arrays[ROWS][0].shape == (5, 6)
    assert gathered(np.zeros((5, 3), dtype=np.int32), 5).arrays[ROWS][0].dtype == np.float64
    assert gathered(np.array([1, 1, 2]), 3).counts == {flatten(1): 2, flatten(2): 1}
    assert gathered(np.array([["a", "b"]]), 1).counts == {flatten(("a", "b")): 1}
    assert gathered(Outputs([(), (1,)], np.array([1, 1])), 2).counts == {flatten((1,)): 2}
    with pytest.raises(ValueError, match="asked for 3 outputs it gave 2"):
        gathered([1, 2], 3)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_whole_numbers_that_no_float_holds_are_distinguished(dtype):
    wide = np.array([2**53, 2**53 + 1, 2**53 + 1], dtype=dtype)
    assert gathered(wide, 3).counts == {flatten(2**53): 1, flatten(2**53 + 1): 2}
    rows = gathered(np.stack([wide, wide], axis=1), 3)
    assert rows.counts == {flatten((2**53,) * 2): 1, flatten((2**53 + 1,) * 2): 2}


def test_whether_an_output_is_counted_depends_on_it_alone():
    """Ordinary floats are kept in arrays, by structure; anything else is counted."""
    outputs = [0.5, (0.5, 1.5), (0.5, None), (0.5, 1), 1, None, {"a": 0.5}, float("nan"), -0.0, ()]
    together = gathered(outputs, len(outputs))
    alone = [gathered([output], 1) for output in outputs]
    assert [bool(draws.arrays) for draws in alone] == [
        True, True, False, False, False, False, True, False, False, False
    ]  # fmt: skip
    total = Draws()
    for draws in alone:
        total.update(draws)
    assert total.same_as(together)
    assert len(together) == len(outputs)


def test_rows_of_different_lengths_are_filled_up():
    draws = gathered(np.ones((1, 1)), 1)
    draws.update(gathered(np.array([[1.0, 2.0]]), 1))
    np.testing.assert_array_equal(rows_of(draws.arrays[ROWS]), [[1.0, np.nan], [1.0, 2.0]])
    assert (len(draws), len(Draws())) == (2, 0)
    assert Draws().same_as(Draws())
    assert not draws.same_as(Draws())
    assert not draws.same_as(gathered(np.array([[1.0, 2.0], [1.0, 3.0]]), 2))
