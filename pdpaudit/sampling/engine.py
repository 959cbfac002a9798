"""Monte Carlo through joblib: what comes out of many runs, chunk by chunk."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from joblib import Parallel, delayed

from pdpaudit.contracts import Mechanism, Outputs, SamplingMechanism
from pdpaudit.sampling.backends import at_worker, shareable
from pdpaudit.sampling.draws import Draws
from pdpaudit.sampling.guard import LIMIT_S, guarded
from pdpaudit.sampling.store import Kept, Store
from pdpaudit.sampling.streams import stream

__all__ = ["Hits", "Progress", "draw", "hits", "tally"]

T = TypeVar("T")
Key = tuple[str | int, ...]

#: Runs per chunk. Fixed, so that the streams do not depend on the number of workers; small enough
#: for progress every second or so, large enough to amortise a task.
BATCHED_CHUNK = 65_536
SINGLE_CHUNK = 500

#: Seconds of remaining work below which starting worker processes does not pay.
WORTH_WORKERS_S = 4.0


#: Told how many runs were finished since it was last told.
Progress = Callable[[int], None]


def tally(
    mechanism: Mechanism,
    instance: Any,
    size: int,
    *,
    seed: int,
    key: tuple[str | int, ...],
    jobs: int = 1,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Counter[Hashable]:
    """Run a mechanism many times and count its outputs.

    Parameters
    ----------
    mechanism : Mechanism
        What to run; its ``sample`` is used where it has one.
    instance : Instance or Any
        The input; one with a ``fresh`` method is refreshed for every run.
    size : int
        Number of runs.
    seed, key : int, tuple
        The stream: chunk ``i`` draws from ``stream(seed, *key, i)``.
    jobs : int
        Worker processes; the result does not depend on it.
    progress : Progress, optional
        Told of finished runs.
    store : Store, optional
        Finished chunks are taken from it and kept in it; never changes the result.

    Returns
    -------
    Counter
        Number of runs for each output; its total is ``size``.

    Raises
    ------
    Exception
        Whatever the mechanism raises.

    Examples
    --------
    >>> class Coin:
    ...     def run(self, instance, rng):
    ...         return bool(rng.integers(2))
    >>> tally(Coin(), None, 1000, seed=1, key=("doc",)).total()
    1000
    """
    total: Counter[Hashable] = Counter()
    work = partial(_chunk, mechanism, instance)
    kept = None if store is None else store.kept(Counter, key, seed, instance)
    for part in _chunks(work, mechanism, size, seed, key, jobs, kept):
        total.update(part)
        if progress is not None:
            progress(part.total())
    return total


def draw(
    mechanism: Mechanism,
    instance: Any,
    size: int,
    *,
    seed: int,
    key: Key,
    jobs: int = 1,
    progress: Progress | None = None,
    limit: float = LIMIT_S,
    store: Store | None = None,
) -> Draws:
    """Run a mechanism many times, whatever it does, and keep what came out.

    Parameters
    ----------
    mechanism, instance, size, seed, key, jobs, progress, store
        As for :func:`tally`, from the same streams.
    limit : float
        Seconds that one call may take.

    Returns
    -------
    Draws
        Real values stay in arrays; a run that raised is counted as an output that names the error.

    Raises
    ------
    Misbehaviour
        If a call does not end, an output cannot be counted, or the process was forked.

    Examples
    --------
    >>> class Touchy:
    ...     def run(self, instance, rng):
    ...         return 1 / instance
    >>> draw(Touchy(), 0, 5, seed=1, key=("doc",)).counts
    Counter({'error ZeroDivisionError': 5})
    >>> draw(Touchy(), 2, 5, seed=1, key=("doc",)).rows.shape
    (5, 1)
    """
    total = Draws()
    work = partial(_guarded_chunk, mechanism, instance, limit)
    kept = None if store is None else store.kept(Draws, key, seed, instance)
    for part in _chunks(work, mechanism, size, seed, key, jobs, kept):
        total.update(part)
        if progress is not None:
            progress(len(part))
    return total


class Counting(Protocol):
    """An event, as far as the engine knows."""

    def count(self, draws: Draws) -> Any:
        """Return how many of the outputs belong to it; an array for several events."""
        ...


@dataclass
class Hits:
    """How many of so many runs fell into an event.

    Attributes
    ----------
    inside : int or ndarray of int
        In the event, or in each of several.
    runs : int
        Of so many.
    failures : dict of str to str
        As for :class:`Draws`.
    """

    inside: Any = 0
    runs: int = 0
    failures: dict[str, str] = field(default_factory=dict)


def hits(
    mechanism: Mechanism,
    instance: Any,
    size: int,
    event: Counting,
    *,
    seed: int,
    key: Key,
    jobs: int = 1,
    progress: Progress | None = None,
    limit: float = LIMIT_S,
    total: Hits | None = None,
    store: Store | None = None,
) -> Hits:
    """Run a mechanism many times and count the runs inside an event; outputs are not kept.

    Parameters
    ----------
    mechanism, instance, size, seed, key, jobs, progress, limit, store
        As for :func:`draw`, from the same streams.
    event : with ``count(draws)``
        What to count.
    total : Hits, optional
        Counted into, so that the caller has what was counted should the mechanism misbehave.

    Returns
    -------
    Hits
        Memory for one chunk of outputs a worker.

    Raises
    ------
    Misbehaviour
        As for :func:`draw`.

    Examples
    --------
    >>> class Coin:
    ...     def run(self, instance, rng):
    ...         return bool(rng.integers(2))
    >>> class Heads:
    ...     def count(self, draws):
    ...         return draws.counts[True]
    >>> found = hits(Coin(), None, 1000, Heads(), seed=1, key=("doc",))
    >>> found.runs, 400 < found.inside < 600
    (1000, True)
    """
    total = Hits() if total is None else total
    work = partial(_hits_chunk, mechanism, instance, limit, event)
    kept = None if store is None else store.kept(Hits, key, seed, instance, event)
    for part in _chunks(work, mechanism, size, seed, key, jobs, kept):
        total.inside = total.inside + part.inside
        total.runs += part.runs
        total.failures = {**part.failures, **total.failures}
        if progress is not None:
            progress(part.runs)
    return total


def _chunks(
    work: Callable[[int, int, Key], T],
    mechanism: Mechanism,
    size: int,
    seed: int,
    key: Key,
    jobs: int,
    kept: Kept[T] | None,
) -> Iterator[T]:
    """Yield ``work(runs, seed, key)`` for every chunk, here or in workers, as they come.

    Those that were kept are taken from there, and the others kept as soon as they are done.
    """
    chunk = BATCHED_CHUNK if isinstance(mechanism, SamplingMechanism) else SINGLE_CHUNK
    sizes = [min(chunk, size - start) for start in range(0, size, chunk)]
    known: set[int] = set()
    if kept is not None:
        known = kept.known(sizes)
        for i in sorted(known):
            yield kept.load(i, sizes[i])
    left = [i for i in range(len(sizes)) if i not in known]
    with closing(_fresh(work, sizes, left, seed, key, jobs)) as parts:
        for i, part in parts:
            if kept is not None:
                kept.keep(i, sizes[i], part)
            yield part


def _fresh(
    work: Callable[[int, int, Key], T],
    sizes: Sequence[int],
    left: Sequence[int],
    seed: int,
    key: Key,
    jobs: int,
) -> Generator[tuple[int, T], None, None]:
    """Yield number and result of the chunks that are left to do."""
    done = 0
    while done < len(left):
        began = time.perf_counter()
        i = left[done]
        part = work(sizes[i], seed, (*key, i))
        done += 1
        spent = time.perf_counter() - began
        yield i, part
        if jobs != 1 and spent * (len(left) - done) > WORTH_WORKERS_S:
            break
    if done < len(left):
        shared = shareable(work)
        tasks = (delayed(at_worker)(shared, i, sizes[i], seed, (*key, i)) for i in left[done:])
        with closing(_unordered(tasks, jobs)) as parts:
            yield from parts


def _unordered(tasks: Iterable[Any], jobs: int) -> Generator[Any, None, None]:
    """Yield results as they come; counting does not care about their order."""
    results = Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)
    try:
        for part in results:  # noqa: UP028 - `yield from` would close it before we can
            yield part
    finally:
        with suppress(RuntimeError), warnings.catch_warnings():
            # Work in vain is what an interruption means; there is no need to be told.
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def _guarded_chunk(
    mechanism: Mechanism, instance: Any, limit: float, size: int, seed: int, key: Key
) -> Draws:
    """Keep the outputs of one chunk."""
    return guarded(mechanism, instance, size, lambda: stream(seed, *key), limit=limit)


def _hits_chunk(
    mechanism: Mechanism,
    instance: Any,
    limit: float,
    event: Counting,
    size: int,
    seed: int,
    key: Key,
) -> Hits:
    """Count the outputs of one chunk that belong to an event."""
    draws = _guarded_chunk(mechanism, instance, limit, size, seed, key)
    return Hits(event.count(draws), len(draws), draws.failures)


def _chunk(
    mechanism: Mechanism, instance: Any, size: int, seed: int, key: tuple[str | int, ...]
) -> Counter[Hashable]:
    """Count the outputs of one chunk."""
    rng = stream(seed, *key)
    # What isinstance() says of the protocol, at a hundredth of its price: this is asked each chunk.
    sample = getattr(mechanism, "sample", None)
    if sample is not None:
        outputs = sample(instance, size, rng)
        return Counter(outputs.counts() if isinstance(outputs, Outputs) else outputs)
    fresh = getattr(instance, "fresh", None)
    return Counter(mechanism.run(instance if fresh is None else fresh(), rng) for _ in range(size))
