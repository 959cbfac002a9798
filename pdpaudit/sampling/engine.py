"""Monte Carlo through joblib: what comes out of many runs, chunk by chunk."""

from __future__ import annotations

import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypedDict, TypeVar, Unpack

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from pdpaudit.core.protocols import Mechanism, Outputs
from pdpaudit.outputs import Draws, same_form
from pdpaudit.sampling.backends import at_worker, shareable
from pdpaudit.sampling.guard import LIMIT_S, Guard, How, batched
from pdpaudit.sampling.store import Kept, Store
from pdpaudit.sampling.streams import stream

__all__ = ["Hits", "Means", "Progress", "draw", "hits", "tally"]

T = TypeVar("T")
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


#: Called with the number of runs finished since its last call.
Progress = Callable[[int], None]


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


def tally(
    mechanism: Mechanism,
    instance: object,
    size: int,
    *,
    seed: int,
    key: Key,
    **means: Unpack[Means],
) -> Counter[Hashable]:
    """Run a mechanism many times and count its outputs."""
    total: Counter[Hashable] = Counter()
    store, work = means.get("store"), partial(_tallied, mechanism, instance)
    kept = None if store is None else store.kept(Counter, key, seed, instance)
    jobs, many = means.get("jobs", 1), batched(mechanism)
    for _, part in _chunks(work, Counter.update, many, size, seed, key, jobs, kept):
        total.update(part)
        _tell(means, part.total())
    return total


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
    store, single = means.get("store"), means.get("single", False)
    limits = means.get("limit", LIMIT_S), means.get("until", math.inf)
    how: How = "single" if single else "either"
    work = partial(_drawn, mechanism, instance, limits, None, how)
    kept = None if store is None else store.kept(Draws, _keyed(key, single), seed, instance)
    jobs, many = means.get("jobs", 1), batched(mechanism) and not single
    parts: list[tuple[int, Draws]] = []
    for first, part in _chunks(work, Draws.update, many, size, seed, key, jobs, kept):
        parts.append((first, part))
        _tell(means, len(part))
    total = Draws()
    for _, part in sorted(parts, key=lambda item: item[0]):
        total.update(part)
    return total


def _tell(means: Means, runs: int) -> None:
    progress = means.get("progress")
    if progress is not None:
        progress(runs)


def _keyed(key: Key, single: bool) -> Key:
    """Return what kept runs are found by: those drawn one by one are others."""
    return (*key, "single") if single else key


class Counting(Protocol):
    """An event, as far as the engine knows."""

    def count(self, draws: Draws) -> Any:
        """Return how many of the outputs belong to it; an array for several events."""
        ...


@dataclass
class Hits:
    """How many of a number of runs fell into an event."""

    inside: Any = 0
    runs: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    form: str = ""

    def update(self, other: Hits) -> None:
        """Add other runs."""
        self.form = same_form(self.form, other.form)
        self.inside = self.inside + other.inside
        self.runs += other.runs
        self.failures = {**other.failures, **self.failures}


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
    total = Hits() if total is None else total
    store, single = means.get("store"), means.get("single", False)
    limits = means.get("limit", LIMIT_S), means.get("until", math.inf)
    how: How = "single" if single else "batch"
    work = partial(_drawn, mechanism, instance, limits, event, how)
    kept = None if store is None else store.kept(Hits, _keyed(key, single), seed, instance, event)
    jobs, many = means.get("jobs", 1), batched(mechanism) and not single
    for _, part in _chunks(work, Hits.update, many, size, seed, key, jobs, kept):
        total.update(part)
        _tell(means, part.runs)
    return total


#: What some chunks gave, and what ended them before the last.
Batch = tuple[list[T], Exception | None]

#: Draws chunks: sizes, seed, and the key of each one's stream.
Work = Callable[[Sequence[int], int, Sequence[Key]], Batch[T]]

#: Adds what other chunks gave to what the first gave.
Add = Callable[[T, T], None]


def _chunks(
    work: Work[T],
    add: Add[T],
    batched: bool,
    size: int,
    seed: int,
    key: Key,
    jobs: int,
    kept: Kept[T] | None,
) -> Iterator[tuple[int, T]]:
    """Yield what all chunks gave, some in one, drawn here or in workers, as they come.

    With each comes the number of its first chunk.

    Those that were kept are taken from there, and the others kept as soon as they are done.
    """
    chunk = BATCHED_CHUNK if batched else SINGLE_CHUNK
    sizes = [min(chunk, size - start) for start in range(0, size, chunk)]
    left = set(range(len(sizes)))
    if kept is not None:
        for span in kept.spans(sizes):
            yield span.start, kept.load(span.start, sum(sizes[i] for i in span))
            left.difference_update(span)
    with closing(_fresh(work, add, sizes, sorted(left), seed, key, jobs)) as parts:
        for first, runs, part in parts:
            if kept is not None:
                kept.keep(first, runs, part)
            yield first, part


def _fresh(
    work: Work[T],
    add: Add[T],
    sizes: Sequence[int],
    left: Sequence[int],
    seed: int,
    key: Key,
    jobs: int,
) -> Generator[tuple[int, int, T], None, None]:
    """Yield number of the first chunk, runs and result of each batch that is left to do."""

    def asked(some: Sequence[int]) -> tuple[list[int], int, list[Key]]:
        return [sizes[i] for i in some], seed, [(*key, i) for i in some]

    done, batch = 0, 1
    while done < len(left):
        some = _next(sizes, left, done, batch)
        began = time.perf_counter()
        parts, error = work(*asked(some))
        spent = (time.perf_counter() - began) / len(some)
        yield some[0], sum(sizes[i] for i in some[: len(parts)]), _sum(parts, add)
        if error is not None:
            raise error
        done += len(some)
        batch = max(1, min(BATCH, int(BATCH_S / max(spent, 1e-9))))
        if jobs != 1 and spent * (len(left) - done) > WORTH_WORKERS_S:
            shared = shareable(partial(_whole, work, add))
            if shared is not None:
                break
            jobs = 1  # it cannot travel
    if done < len(left):
        # The last batches are not to leave other workers idle for long.
        batch = min(batch, -(-(len(left) - done) // (8 * effective_n_jobs(jobs))))
        batches = []
        while done < len(left):
            batches.append(_next(sizes, left, done, batch))
            done += len(batches[-1])
        tasks = (delayed(at_worker)(shared, some, *asked(some)) for some in batches)
        with closing(_unordered(tasks, jobs)) as results:
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


def _sum(parts: Sequence[T], add: Add[T]) -> T:
    for part in parts[1:]:
        add(parts[0], part)
    return parts[0]


def _unordered(tasks: Iterable[object], jobs: int) -> Generator[Any, None, None]:
    """Yield results as they come; counting does not care about their order."""
    results = Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)
    try:
        for part in results:  # noqa: UP028 - `yield from` would close it before we can
            yield part
    finally:
        with suppress(RuntimeError), warnings.catch_warnings():
            # An interruption wastes work; there is no need to warn of that.
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def _whole(work: Work[T], add: Add[T], sizes: Sequence[int], seed: int, keys: Sequence[Key]) -> T:
    """Do a batch in a worker, where what was raised travels best as what is raised."""
    parts, error = work(sizes, seed, keys)
    if error is not None:
        raise error
    return _sum(parts, add)


def _batch(
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
    event: Counting | None,
    how: How,
    sizes: Sequence[int],
    seed: int,
    keys: Sequence[Key],
) -> Batch[Any]:
    """Keep the outputs of each chunk, or count those that belong to an event."""
    with Guard(mechanism, instance, *limits) as guard:

        def one(size: int, rng: np.random.Generator) -> Draws | Hits:
            draws = guard.draw(size, rng, how)
            if event is None:
                return draws
            return Hits(event.count(draws), len(draws), draws.failures, draws.form)

        return _batch(one, sizes, seed, keys)


def _tallied(
    mechanism: Mechanism,
    instance: object,
    sizes: Sequence[int],
    seed: int,
    keys: Sequence[Key],
) -> Batch[Counter[Hashable]]:
    """Count the outputs of each chunk."""
    # What isinstance() says of the protocol, at a hundredth of its price.
    sample = getattr(mechanism, "sample", None)
    fresh = getattr(instance, "fresh", None)

    def one(size: int, rng: np.random.Generator) -> Outputs | Counter[Hashable]:
        if sample is not None:
            outputs = sample(instance, size, rng)
            return outputs if isinstance(outputs, Outputs) else Counter(outputs)
        return Counter(
            mechanism.run(instance if fresh is None else fresh(), rng) for _ in range(size)
        )

    parts, error = _batch(one, sizes, seed, keys)
    # Coded outputs take little room until the batch is done, and less time then.
    return [Counter(part.counts() if isinstance(part, Outputs) else part) for part in parts], error
