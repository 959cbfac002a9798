"""Monte Carlo through joblib: what comes out of many runs, chunk by chunk, and how far it is.

Each chunk has a random stream keyed by what it is for. A stream depends on the root seed and its
key alone, so a result does not depend on the number of workers, on the order of the checks or on
which of them were selected.
"""

from __future__ import annotations

import hashlib
import importlib
import math
import secrets
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, Self, TypedDict, TypeVar, Unpack

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs

from pdpaudit.core.errors import ParameterError, whole
from pdpaudit.core.protocols import Mechanism
from pdpaudit.outputs import Draws, same_form
from pdpaudit.sampling.backends import in_workers
from pdpaudit.sampling.guard import LIMIT_S, Guard, How, batched
from pdpaudit.sampling.store import Kept, Store

Key = tuple[str | int, ...]

#: Runs per chunk. Fixed, so that the streams do not depend on the number of workers; small enough
#: for progress every second or so, large enough to amortise a task.
BATCHED_CHUNK = 65_536
SINGLE_CHUNK = 500

#: Chunks that are drawn, kept and counted in one go, at most for that many seconds: what surrounds
#: samplers is paid once, and is faster than where one has just filled the caches.
BATCH, BATCH_S = 16, 1.0

#: Seconds of remaining work below which starting worker processes does not pay.
WORTH_WORKERS_S = 4.0

#: Between the parts of a key.
SEPARATOR = "\x1f"

#: Called with the number of runs finished since its last call.
Progress = Callable[[int], None]


class Watcher(Protocol):
    """Follows what an audit or a simulation is doing."""

    def stage(self, words: str, total: int) -> None:
        """Take note that a new stage begins, of ``total`` runs or pairs."""
        ...

    def advance(self, done: int) -> None:
        """Take note how many more runs or pairs are done."""
        ...

    def say(self, words: str) -> None:
        """Take note of what a person who waits wants to know."""
        ...


class Silent:
    """A watcher that says nothing."""

    def stage(self, words: str, total: int) -> None:
        """Say nothing."""

    def advance(self, done: int) -> None:
        """Say nothing."""

    def say(self, words: str) -> None:
        """Say nothing."""


class Means(TypedDict, total=False):
    """How runs are drawn; none of it changes what comes out but ``single``.

    ``jobs`` worker processes; ``progress`` is called with finished runs; one call may take
    ``limit`` seconds, and none goes on after ``until``, a time of :func:`time.monotonic`; finished
    chunks are taken from ``store`` and kept there; ``single`` draws one by one though there is a
    ``sample``.
    """

    jobs: int
    progress: Progress | None
    limit: float
    until: float
    store: Store | None
    single: bool


class Part(Protocol):
    """What some runs gave, to which that of others can be added."""

    def update(self, other: Self, /) -> None:
        """Add other runs."""
        ...


T = TypeVar("T", bound=Part)

#: What some chunks gave, and what ended them before the last.
Batch = tuple[list[T], Exception | None]

#: Draws chunks: sizes, seed, and the key of each one's stream.
Work = Callable[[Sequence[int], int, Sequence[Key]], Batch[T]]

#: How often an event came up, or each of several.
Count = int | npt.NDArray[np.int64]


class Counting(Protocol):
    """An event, as far as the engine knows, or several."""

    def count(self, draws: Draws) -> Count:
        """Return how many of the outputs belong to it."""
        ...


@dataclass
class Hits:
    """How many of a number of runs fell into an event."""

    inside: Count = 0
    runs: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    form: str = ""

    def update(self, other: Hits) -> None:
        """Add other runs."""
        self.form = same_form(self.form, other.form)
        self.inside = self.inside + other.inside
        self.runs += other.runs
        self.failures = {**other.failures, **self.failures}


def draw(
    mechanism: Mechanism,
    instance: object,
    size: int,
    *,
    seed: int,
    key: Key,
    **means: Unpack[Means],
) -> Draws:
    """Run a mechanism many times, whatever it does, and keep what came out."""
    how: How = "single" if means.get("single") else "either"
    work = partial(_drawn, mechanism, instance, _limits(means), how, lambda draws: draws)
    store = means.get("store")
    kept = None if store is None else store.kept(Draws, _keyed(key, means), seed, instance)
    total = Draws()
    parts = chunks(work, _many(mechanism, means), size, seed, key, means, kept)
    for _, part in sorted(parts, key=lambda item: item[0]):
        total.update(part)
    return total


def hits(
    mechanism: Mechanism,
    instance: object,
    size: int,
    event: Counting,
    *,
    seed: int,
    key: Key,
    total: Hits | None = None,
    **means: Unpack[Means],
) -> Hits:
    """Run a mechanism many times and count the runs inside an event; outputs are not kept."""
    how: How = "single" if means.get("single") else "batch"
    work = partial(_drawn, mechanism, instance, _limits(means), how, partial(_counted, event))
    store = means.get("store")
    kept = None if store is None else store.kept(Hits, _keyed(key, means), seed, instance, event)
    total = Hits() if total is None else total
    for _, part in chunks(work, _many(mechanism, means), size, seed, key, means, kept):
        total.update(part)
    return total


def _limits(means: Means) -> tuple[float, float]:
    return means.get("limit", LIMIT_S), means.get("until", math.inf)


def _keyed(key: Key, means: Means) -> Key:
    """Return what kept runs are found by: those drawn one by one are others."""
    return (*key, "single") if means.get("single") else key


def _many(mechanism: Mechanism, means: Means) -> bool:
    return batched(mechanism) and not means.get("single")


def chunks(
    work: Work[T],
    many: bool,
    size: int,
    seed: int,
    key: Key,
    means: Means,
    kept: Kept[T] | None = None,
) -> Iterator[tuple[int, T]]:
    """Yield what all chunks gave, some in one, drawn here or in workers, as they come.

    With each comes the number of its first chunk. Those that were kept are taken from there, and
    the others kept as soon as they are done.
    """
    progress = means.get("progress") or (lambda runs: None)
    chunk = BATCHED_CHUNK if many else SINGLE_CHUNK
    sizes = [min(chunk, size - start) for start in range(0, size, chunk)]
    left = set(range(len(sizes)))
    if kept is not None:
        for span in kept.spans(sizes):
            runs = sum(sizes[i] for i in span)
            yield span.start, kept.load(span.start, runs)
            progress(runs)
            left.difference_update(span)
    with closing(_fresh(work, sizes, sorted(left), seed, key, means.get("jobs", 1))) as parts:
        for first, runs, part in parts:
            if kept is not None:
                kept.keep(first, runs, part)
            yield first, part
            progress(runs)


def _fresh(
    work: Work[T], sizes: Sequence[int], left: Sequence[int], seed: int, key: Key, jobs: int
) -> Generator[tuple[int, int, T], None, None]:
    """Yield number of the first chunk, runs and result of each batch that is left to do."""

    def asked(some: Sequence[int]) -> tuple[list[int], int, list[Key]]:
        return [sizes[i] for i in some], seed, [(*key, i) for i in some]

    done, most = 0, 1
    while done < len(left):
        some = _next(sizes, left, done, most)
        began = time.perf_counter()
        parts, error = work(*asked(some))
        spent = (time.perf_counter() - began) / len(some)
        yield some[0], sum(sizes[i] for i in some[: len(parts)]), _sum(parts)
        if error is not None:
            raise error
        done += len(some)
        most = max(1, min(BATCH, int(BATCH_S / max(spent, 1e-9))))
        if jobs != 1 and spent * (len(left) - done) > WORTH_WORKERS_S:
            break
    if done < len(left):
        # The last batches are not to leave other workers idle for long.
        most = min(most, -(-(len(left) - done) // (8 * effective_n_jobs(jobs))))
        batches = []
        while done < len(left):
            batches.append(_next(sizes, left, done, most))
            done += len(batches[-1])
        tasks = ((some, asked(some)) for some in batches)
        with closing(in_workers(partial(_whole, work), tasks, jobs)) as results:
            for some, part in results:
                yield some[0], sum(sizes[i] for i in some), part


def _next(sizes: Sequence[int], left: Sequence[int], done: int, most: int) -> list[int]:
    """Return the chunks to do next, consecutive and all of one size: a longer run has them too."""
    first, some = left[done], [left[done]]
    for i in left[done + 1 : done + most]:
        if i != first + len(some) or sizes[i] != sizes[first]:
            break
        some.append(i)
    return some


def _sum(parts: Sequence[T]) -> T:
    for part in parts[1:]:
        parts[0].update(part)
    return parts[0]


def _whole(work: Work[T], sizes: Sequence[int], seed: int, keys: Sequence[Key]) -> T:
    """Do a batch in a worker, where what was raised travels best as what is raised."""
    parts, error = work(sizes, seed, keys)
    if error is not None:
        raise error
    return _sum(parts)


def batch(
    one: Callable[[int, np.random.Generator], T],
    sizes: Sequence[int],
    seed: int,
    keys: Sequence[Key],
) -> Batch[T]:
    """Draw chunks one after the other, each from its own stream.

    What the first raises is raised; what a later one raises comes with what those before it gave.
    """
    parts: list[T] = []
    for size, rng in zip(sizes, [stream(seed, *key) for key in keys], strict=True):
        try:
            parts.append(one(size, rng))
        except Exception as error:
            if not parts:
                raise
            return parts, error
    return parts, None


def _drawn(
    mechanism: Mechanism,
    instance: object,
    limits: tuple[float, float],
    how: How,
    read: Callable[[Draws], T],
    sizes: Sequence[int],
    seed: int,
    keys: Sequence[Key],
) -> Batch[T]:
    """Draw chunks of outputs, and keep what is read off each."""
    with Guard(mechanism, instance, *limits) as guard:
        return batch(lambda size, rng: read(guard.draw(size, rng, how)), sizes, seed, keys)


def _counted(event: Counting, draws: Draws) -> Hits:
    return Hits(event.count(draws), len(draws), draws.failures, draws.form)


def draw_seed(seed: int | None) -> int:
    """Return the seed asked for, or a fresh one to be recorded."""
    if seed is None:
        return secrets.randbelow(2**32)
    seed = whole("seed", seed)
    if seed < 0:
        raise ParameterError("seed", seed, "a seed is a whole number >= 0")
    return seed


def stream(seed: int, *key: str | int) -> np.random.Generator:
    """Return the random stream for one purpose."""
    text = SEPARATOR.join(map(_part, key)).encode("utf-8", "surrogatepass")
    # SeedSequence(seed, spawn_key=<the digest's words>), its words laid out as numpy lays them out:
    # a long run needs a stream every few milliseconds, and each word given alone costs an array.
    width = 4 * max(4, -(-seed.bit_length() // 32))
    words = seed.to_bytes(width, "little") + hashlib.sha256(text).digest()
    return np.random.default_rng(np.random.SeedSequence(np.frombuffer(words, dtype="<u4")))


def _part(part: str | int) -> str:
    """Write one part of a key so that different keys are written differently.

    Names come from users' files and may hold anything; a numpy integer is a number like others.
    """
    if isinstance(part, str):
        return f"str:{part.replace(SEPARATOR, 2 * SEPARATOR)}"
    return f"int:{int(part)}"


# How far it is


#: Seconds between two lines in a pipe, and between two looks of the line in a notebook.
PIPE_S, NOTEBOOK_S = 30.0, 1.0


class Lines:
    """A watcher that writes a line now and then."""

    def __init__(self, write: Callable[[str], None], every_s: float = PIPE_S) -> None:
        self._write, self._every_s = write, every_s
        self._words, self._total, self._done = "starting", 0, 0
        self._began = self._written = time.monotonic()
        self._ends = math.inf

    def stage(self, words: str, total: int) -> None:
        """Begin a new stage."""
        self._words, self._total, self._done = words, total, 0
        self._began, self._ends = time.monotonic(), math.inf

    def advance(self, done: int) -> None:
        """Move on, and write where enough time has passed."""
        self._done += done
        now = time.monotonic()
        if now - self._written < self._every_s:
            return
        self._written = now
        line = self._words
        if 0 < self._done <= self._total:
            ahead_s = (now - self._began) * (self._total / self._done - 1)
            # What is said to be left only falls, whatever the last runs took.
            self._ends = min(self._ends, now + ahead_s)
            left = self._ends - now
            late = "longer than expected" if ahead_s >= 1 else "nearly done"
            ahead = f"about {left:,.0f} s of it left" if left >= 1 else late
            line += f": {self._done:,} of {self._total:,}, {ahead}"
        self._write(line)

    def say(self, words: str) -> None:
        """Write a line at once."""
        self._write(words)


@contextmanager
def in_notebook() -> Iterator[Watcher]:
    """Show in a notebook how far it is, in a line that is gone at the end; elsewhere nothing."""
    ipython: Any = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        yield Silent()
        return
    display = importlib.import_module("IPython.display").display
    shown: list[Any] = []

    def write(line: str) -> None:
        text = {"text/plain": line}
        if shown:
            shown[0].update(text, raw=True)
        else:
            shown.append(display(text, raw=True, display_id=True))

    try:
        yield Lines(write, NOTEBOOK_S)
    finally:
        for handle in shown:
            handle.update({"text/plain": ""}, raw=True)
