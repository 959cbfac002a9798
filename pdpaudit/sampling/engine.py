"""Monte Carlo through joblib: how often each output comes up, chunk by chunk."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from typing import Any

from joblib import Parallel, delayed

from pdpaudit.contracts import Mechanism, Outputs, SamplingMechanism
from pdpaudit.sampling.streams import stream

__all__ = ["Progress", "tally"]

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
    chunk = BATCHED_CHUNK if isinstance(mechanism, SamplingMechanism) else SINGLE_CHUNK
    sizes = [min(chunk, size - start) for start in range(0, size, chunk)]
    total: Counter[Hashable] = Counter()

    def take(part: Counter[Hashable]) -> None:
        total.update(part)
        if progress is not None:
            progress(part.total())

    done = 0
    while done < len(sizes):
        began = time.perf_counter()
        take(_chunk(mechanism, instance, sizes[done], seed, (*key, done)))
        done += 1
        spent = time.perf_counter() - began
        if jobs != 1 and spent * (len(sizes) - done) > WORTH_WORKERS_S:
            break
    if done < len(sizes):
        tasks = (
            delayed(_chunk)(mechanism, instance, sizes[i], seed, (*key, i))
            for i in range(done, len(sizes))
        )
        for part in _unordered(tasks, jobs):
            take(part)
    return total


def _unordered(tasks: Iterable[Any], jobs: int) -> Iterable[Counter[Hashable]]:
    """Yield results as they come; counting does not care about their order."""
    results = Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)
    try:
        yield from results
    finally:
        with suppress(RuntimeError):
            results.close()


def _chunk(
    mechanism: Mechanism, instance: Any, size: int, seed: int, key: tuple[str | int, ...]
) -> Counter[Hashable]:
    """Count the outputs of one chunk."""
    rng = stream(seed, *key)
    if isinstance(mechanism, SamplingMechanism):
        outputs = mechanism.sample(instance, size, rng)
        return Counter(outputs.counts() if isinstance(outputs, Outputs) else outputs)
    fresh = getattr(instance, "fresh", None)
    return Counter(mechanism.run(instance if fresh is None else fresh(), rng) for _ in range(size))
