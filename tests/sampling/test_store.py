"""Chunks on disk: the same result, resumed or not; and what is no store of ours is left alone."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.outputs import flatten
from pdpaudit.sampling import Hits, draw, engine, hits
from pdpaudit.sampling.store import Kept, Store, decode, encode
from tests.sampling.tallies import tally

SETTINGS = {"mechanism": "Die", "seed": "5"}


class Die:
    claim = PrivacyClaim(1.0)
    """Counts its own runs, so that it shows which chunks were drawn anew."""

    runs = 0

    def run(self, instance, rng):
        self.runs += 1
        return int(rng.integers(6)), str(instance)[:1]


class Vectors:
    claim = PrivacyClaim(1.0)

    def run(self, instance, rng):
        return float(rng.normal()), float("nan")


class Even:
    def count(self, draws):
        return sum(times for (_, _, (v, _)), times in draws.counts.items() if v % 2 == 0)

    def to_json(self):
        return {"even": True}


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(engine, "SINGLE_CHUNK", 50)
    monkeypatch.setattr(engine, "BATCH", 1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.db"


def filled(path, size=230):
    with Store(path, SETTINGS) as store:
        return tally(Die(), "x", size, seed=5, key=("k",), store=store)


# What can be written down, and equality that tells True from 1 and 0.0 from -0.0.
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters())  # lone surrogates, too
    | st.binary()
    | st.complex_numbers(allow_nan=False)
)
outputs = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.frozensets(inner, max_size=4),
    max_leaves=12,
)


@given(outputs)
def test_what_is_written_down_comes_back(value):
    again = decode(encode(value))
    assert again == value
    assert _shape(again) == _shape(value)


def _shape(value):
    if isinstance(value, tuple):
        return [_shape(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(str(_shape(item)) for item in value)
    return type(value), repr(value)


@pytest.mark.parametrize(
    "array",
    [
        np.array([[0.1, np.nan], [-0.0, np.inf]]),
        np.array([True, False]),
        np.arange(6, dtype=np.int32).reshape(2, 3)[:, ::2],
        np.empty((0, 3)),
    ],
)
def test_arrays_come_back_to_the_last_bit(array):
    kept = decode(encode({"rows": [array]}))
    assert isinstance(kept, dict)
    (again,) = kept["rows"]
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert again.tobytes() == array.tobytes()


@pytest.mark.parametrize("value", [object(), {1, 2}, (1, [object()]), np.array([object()])])
def test_anything_else_is_refused(value):
    with pytest.raises(TypeError, match="cannot be written down"):
        encode(value)


@pytest.mark.parametrize("junk", [b"", b"junk", encode(1)[:-1]])
def test_bytes_that_were_not_written_down_are_refused(junk):
    with pytest.raises(ValueError, match="not written"):
        decode(junk)


@pytest.mark.parametrize("text", ["\ud83d\ude00", "\udfff", "a\ud800b", "\U0001f600"])
def test_surrogates_are_not_read_back_as_one_character(text):
    for value in (text, (text, {text: text})):
        assert decode(encode(value)) == value


def test_a_set_is_written_alike_in_every_process():
    code = (
        "from pdpaudit.sampling.store import encode; import sys;"
        "sys.stdout.buffer.write(encode((frozenset('abcdefgh'), {'x': 1, 'y': 2})))"
    )
    written = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(written) == 1
    kept = decode(written.pop())
    assert isinstance(kept, tuple)
    assert kept[0] == frozenset("abcdefgh")


@pytest.mark.parametrize("before", [0, 1, 2, 3])
def test_only_what_is_missing_is_drawn_and_the_result_is_the_same(path, before):
    expected = tally(Die(), "x", 230, seed=5, key=("k",))
    filled(path, 50 * before)
    die = Die()
    with Store(path, SETTINGS) as store:
        assert tally(die, "x", 230, seed=5, key=("k",), store=store) == expected
        assert (store.found, store.added) == (50 * before, 230 - 50 * before)
    assert die.runs == 230 - 50 * before


def test_rows_failures_and_hits_are_kept_too(path):
    class Touchy(Vectors):
        def run(self, instance, rng):
            if rng.random() < 0.1:
                raise ArithmeticError("now and then")
            return super().run(instance, rng)

    plain = draw(Touchy(), "x", 200, seed=5, key=("k",))
    structure = flatten((0.5, float("nan")))[0]
    assert {record[0] for record in plain.counts} == {None, structure}
    plain_hits = hits(Die(), "x", 200, Even(), seed=5, key=("k",))
    for expected in (0, 200):
        with Store(path, SETTINGS) as store:
            drawn = draw(Touchy(), "x", 200, seed=5, key=("k",), store=store)
            assert store.found == expected
            found = hits(Die(), "x", 200, Even(), seed=5, key=("k",), store=store)
        assert drawn.same_as(plain)
        assert drawn == plain
        assert found == plain_hits


def test_arrays_and_what_is_said_of_a_sample_are_kept_too(path):
    class Rows:
        claim = PrivacyClaim(1.0)

        def sample(self, instance, size, rng):
            return rng.normal(size=(size, 2)).astype(np.float32)

    rows: Any = Rows()
    plain = draw(rows, "x", 200, seed=5, key=("k",))
    for expected in (0, 200):
        with Store(path, SETTINGS) as store:
            drawn = draw(rows, "x", 200, seed=5, key=("k",), store=store)
            assert store.found == expected
        assert drawn.same_as(plain)
        assert drawn.form == plain.form == "float32"


def test_runs_drawn_one_by_one_are_kept_apart_from_batches(path):
    class Both(Die):
        def sample(self, instance, size, rng):
            return [(7, "x")] * size

    for expected in (0, 50):
        with Store(path, SETTINGS) as store:
            some = draw(Both(), "x", 50, seed=5, key=("k",), store=store)
            assert some.counts == {flatten((7, "x")): 50}
            assert store.found == expected
            one = draw(Both(), "x", 50, seed=5, key=("k",), store=store, single=True)
            assert one == draw(Die(), "x", 50, seed=5, key=("k",))
            found = [
                hits(Both(), "x", 50, Even(), seed=5, key=("k",), store=store, single=single)
                for single in (False, True)
            ]
            assert store.found == 4 * expected
            assert (found[0].inside, found[1].inside) == (0, Even().count(one))


def test_streams_instances_events_and_kinds_do_not_mix(path, path_of_five):
    class Odd(Even):
        def to_json(self):
            return {"even": False}

    other = path_of_five.with_adjacency(path_of_five.adjacency)
    graphs = [path_of_five.instance(), path_of_five.instance().fresh(), other.instance()]
    with Store(path, SETTINGS) as store:
        for seed, key, instance in [
            (5, ("k",), "x"),
            (6, ("k",), "x"),
            (5, ("l",), "x"),
            (5, ("k",), "y"),
            (5, ("k",), graphs[0]),
        ]:
            tally(Die(), instance, 50, seed=seed, key=key, store=store)
        draw(Die(), "x", 50, seed=5, key=("k",), store=store)
        hits(Die(), "x", 50, Even(), seed=5, key=("k",), store=store)
        hits(Die(), "x", 50, Odd(), seed=5, key=("k",), store=store)
        assert store.found == 0
        # Equal networks are one instance, however they were built.
        for equal in graphs:
            store.commit()
            tally(Die(), equal, 50, seed=5, key=("k",), store=store)
        assert store.found == 150


def test_one_edge_more_is_another_instance(path_of_five):
    from pdpaudit.core.network import adjacency_from_edges

    ends = np.array([[0, 1, 2, 3, 0], [1, 2, 3, 4, 4]])
    ring = path_of_five.with_adjacency(adjacency_from_edges(5, *ends))
    assert ring.instance().fingerprint() != path_of_five.instance().fingerprint()


def test_inputs_that_cannot_be_pickled_are_told_apart(path):
    """As those of a class that no import finds, in a file named like another module."""

    class Row:
        def __init__(self, age):
            self.age, self.kept = age, open  # a class within a function cannot be found

    with Store(path, SETTINGS) as store:
        prints = [store._fingerprint([Row(3), Row(age)]) for age in (4, 4, 5)]
        with pytest.raises(
            InputError, match="a callable_iterator has no digest, it holds"
        ) as wrong:
            store._fingerprint(iter(lambda: threading.Lock(), 0))
    assert prints[0] == prints[1] != prints[2]
    assert len(str(wrong.value)) < 400


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"mechanism": "Die", "seed": "6"}, "was begun with seed 5, this run has seed 6"),
        ({"mechanism": "Die"}, "this run has no seed"),
        ({**SETTINGS, "version": "9"}, "was begun with no version, this run has version 9"),
    ],
)
def test_other_settings_are_refused_and_the_store_left_alone(path, other, words):
    filled(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=words):
        Store(path, other)
    assert path.read_bytes() == before


def _truncated(path, share):
    filled(path, 5000)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])


def _flipped(path):
    filled(path, 5000)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 64
    path.write_bytes(content)


def _foreign_database(path):
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE chunks (mine TEXT)")
    base.close()


def _other_format(path):
    filled(path)
    base = sqlite3.connect(path)
    base.execute("PRAGMA user_version = 1")
    base.close()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: _truncated(path, 0.5), "damaged"),
        (lambda path: _truncated(path, 0.99), "damaged"),
        (lambda path: path.write_bytes(b""), "empty file"),
        (lambda path: path.write_text("my thesis"), "no store"),
        (lambda path: path.write_bytes(os.urandom(5000)), "no store"),
        (lambda path: path.mkdir(), "cannot be read"),
        (_flipped, "damaged"),
        (_foreign_database, "no store"),
        (_other_format, "format 1"),
    ],
)
def test_what_is_no_whole_store_is_refused_and_left_alone(path, spoil, words):
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(InputError, match=words) as caught:
        filled(path, 5000)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    if before is not None:
        assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_every_single_truncation_is_noticed_or_harmless(path, tmp_path):
    expected = filled(path)
    content = path.read_bytes()
    for length in [*range(0, 120, 7), *range(120, len(content), 997)]:
        cut = tmp_path / "cut.db"
        cut.write_bytes(content[:length])
        with pytest.raises(InputError):
            filled(cut)
    assert filled(path) == expected


def test_a_place_that_cannot_be_written_is_reported(tmp_path):
    with pytest.raises(InputError, match="cannot be made"):
        Store(tmp_path / "nowhere" / "run.db", SETTINGS)


def test_outputs_that_cannot_be_written_down_are_reported(path):
    class Strange:
        claim = PrivacyClaim(1.0)

        def run(self, instance, rng):
            return object

    with pytest.raises(InputError, match="return tuples"), Store(path, SETTINGS) as store:
        tally(Strange(), None, 10, seed=1, key=(), store=store)


def connections_of(kind, monkeypatch):
    """Have the store's connections made of a class."""
    connect = partial(sqlite3.connect, factory=kind)
    monkeypatch.setattr("pdpaudit.sampling.store.sqlite3.connect", connect)


def test_a_database_that_may_not_grow_says_the_disk_is_full(path, monkeypatch):
    class Full(sqlite3.Connection):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            pages = self.execute("PRAGMA page_count").fetchone()[0]
            self.execute(f"PRAGMA max_page_count = {pages}")

    filled(path, 2000)
    with monkeypatch.context() as patched:
        connections_of(Full, patched)
        with pytest.raises(InputError, match="the disk is full"), Store(path, SETTINGS) as store:
            tally(Die(), "x", 20_000, seed=5, key=("k",), store=store)
    with Store(path, SETTINGS) as store:
        again = tally(Die(), "x", 20_000, seed=5, key=("k",), store=store)
        assert store.found == 2000
    assert again == tally(Die(), "x", 20_000, seed=5, key=("k",))


def test_a_file_the_system_will_not_let_grow_is_reported_and_what_was_kept_stays(path):
    filled(path, 2000)
    room = path.stat().st_size + 10_000
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        with (
            pytest.raises(InputError, match="what was kept before is still there"),
            Store(path, SETTINGS) as store,
        ):
            tally(Die(), "x", 20_000, seed=5, key=("k",), store=store)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with Store(path, SETTINGS) as store:
        tally(Die(), "x", 20_000, seed=5, key=("k",), store=store)
        assert store.found == 2000


@pytest.mark.skipif(shutil.which("mount") is None or os.geteuid() != 0, reason="cannot mount")
def test_a_disk_that_is_really_full(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("cannot mount a small disk")
    try:
        path = disk / "run.db"
        filled(path, 2000)
        with pytest.raises(InputError, match=r"full|cannot be written"):
            filled(path, 200_000)
        with Store(path, SETTINGS) as store:
            tally(Die(), "x", 2000, seed=5, key=("k",), store=store)
            assert store.found == 2000
    finally:
        subprocess.run(["umount", disk], check=True)


def test_an_interruption_keeps_what_was_drawn(path):
    seen = []

    def interrupt(done):
        seen.append(done)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Store(path, SETTINGS) as store:
        tally(Die(), "x", 1000, seed=5, key=("k",), progress=interrupt, store=store)
    with Store(path, SETTINGS) as store:
        again = tally(Die(), "x", 1000, seed=5, key=("k",), store=store)
        assert store.found == 150
    assert again == tally(Die(), "x", 1000, seed=5, key=("k",))


def test_workers_and_a_store_give_the_same(path, monkeypatch):
    monkeypatch.setattr(engine, "WORTH_WORKERS_S", -1.0)
    expected = tally(Die(), "x", 430, seed=5, key=("k",))
    filled(path, 130)
    with Store(path, SETTINGS) as store:
        assert tally(Die(), "x", 430, seed=5, key=("k",), jobs=2, store=store) == expected
        assert store.found == 100  # the last chunk of the shorter run was a shorter one


def test_two_processes_that_write_by_turns_lose_nothing(path):
    one, two = Store(path, SETTINGS), Store(path, SETTINGS)
    with one, two:
        a = tally(Die(), "x", 500, seed=5, key=("k",), store=one)
        b = tally(Die(), "x", 500, seed=5, key=("k",), store=two)
        one.commit()
        two.commit()
        assert a == b
        c = tally(Die(), "x", 500, seed=5, key=("k",), store=two)
        assert c == a
        assert two.found == 500
    rows = sqlite3.connect(path)
    assert rows.execute("SELECT count(*), sum(runs) FROM chunks").fetchone() == (10, 500)
    rows.close()


@pytest.mark.parametrize("batches", [(16, 16), (3, 4), (4, 1), (1, 5)])
def test_chunks_kept_together_are_found_however_the_next_run_takes_them(path, monkeypatch, batches):
    monkeypatch.setattr(engine, "BATCH_S", 1e9)
    expected = tally(Die(), "x", 1000, seed=5, key=("k",))
    drawn = draw(Die(), "x", 1000, seed=5, key=("k",))
    counted = hits(Die(), "x", 1000, Even(), seed=5, key=("k",))
    for batch, size, found in ((batches[0], 430, 0), (batches[1], 1000, 400), (1, 1000, 1000)):
        monkeypatch.setattr(engine, "BATCH", batch)
        for kind in (tally, draw, hits):
            with Store(path, SETTINGS) as store:
                event = (Even(),) if kind is hits else ()
                got = kind(Die(), "x", size, *event, seed=5, key=("k",), store=store)
                assert store.found == found  # the first run's last chunk was a shorter one
                assert store.found + store.added == size
            if size == 1000:
                assert got == {tally: expected, draw: drawn, hits: counted}[kind]


def test_chunks_drawn_by_two_processes_in_other_batches_are_counted_once(path, monkeypatch):
    monkeypatch.setattr(engine, "BATCH_S", 1e9)
    expected = tally(Die(), "x", 1000, seed=5, key=("k",))
    one, two = Store(path, SETTINGS), Store(path, SETTINGS)
    with one, two:
        for batch, store in ((3, one), (4, two)):
            monkeypatch.setattr(engine, "BATCH", batch)
            assert tally(Die(), "x", 1000, seed=5, key=("k",), store=store) == expected
    with Store(path, SETTINGS) as store:
        assert tally(Die(), "x", 1000, seed=5, key=("k",), store=store) == expected
        assert store.found == 1000


@given(
    st.lists(st.sampled_from([50, 50, 50, 20]), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 14), st.integers(1, 700)), max_size=12, unique=True),
)
def test_spans_are_of_the_sizes_asked_for_and_do_not_overlap(sizes, rows):
    class Rows:
        def chunks(self, stream):
            return set(rows)

    rows_of: Any = Rows()
    spans = Kept(rows_of, Hits, b"s").spans(sizes)
    for span in spans:
        assert (span.start, sum(sizes[i] for i in span)) in rows
        assert 0 <= span.start < span.stop <= len(sizes)
    chunks = [i for span in spans for i in span]
    assert len(chunks) == len(set(chunks))
    for first, runs in rows:  # what was left out was not of those sizes, or overlaps
        fits = [
            range(first, end)
            for end in range(first + 1, len(sizes) + 1)
            if sum(sizes[first:end]) == runs
        ]
        assert all(set(span) & set(chunks) for span in fits)


def test_a_writer_that_does_not_let_go_is_reported(path, monkeypatch):
    monkeypatch.setattr("pdpaudit.sampling.store.BUSY_S", 0.05)
    filled(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(InputError, match="another process"), Store(path, SETTINGS) as store:
            tally(Die(), "x", 500, seed=5, key=("k",), store=store)
    finally:
        holder.close()
    assert isinstance(filled(path, 500), Counter)


def test_commits_take_a_small_share_of_the_time_on_a_slow_disk_too(tmp_path, monkeypatch):
    clock, disk = [0.0], [0.0]
    commits: list[float] = []

    class Slow(sqlite3.Connection):
        def execute(self, sql, *arguments):
            if sql == "COMMIT":
                commits.append(clock[0])
                clock[0] += disk[0]
            return super().execute(sql, *arguments)

    monkeypatch.setattr("pdpaudit.sampling.store.time.monotonic", lambda: clock[0])
    connections_of(Slow, monkeypatch)
    with Store(tmp_path / "run.db", {}) as store:

        def run_for(seconds, took):
            disk[0] = took
            commits.clear()
            until = clock[0] + seconds
            while clock[0] < until:
                clock[0] += 0.05
                store.keep(b"s", round(clock[0] * 1000), 1, Counter())

        run_for(100, 0.001)
        assert 90 <= len(commits) <= 100  # one a second
        run_for(10, 0.02)  # the disk becomes slow
        run_for(120, 0.02)
        assert 15 <= len(commits) <= 21  # one in six seconds, 1/300 of the time
        run_for(10, 1.0)
        run_for(110, 1.0)
        assert 8 <= len(commits) <= 11  # never more than some ten seconds of work are at risk
