"""Monte Carlo through joblib: how often each output comes up, chunk by chunk."""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable
from contextlib import closing, suppress
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
            delayed(_chunk_there)(_SysPath(), mechanism, instance, sizes[i], seed, (*key, i))
            for i in range(done, len(sizes))
        )
        with closing(_unordered(tasks, jobs)) as parts:
            for part in parts:
                take(part)
    return total


def _unordered(tasks: Iterable[Any], jobs: int) -> Generator[Counter[Hashable], None, None]:
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


class _SysPath:
    """The import path, put in force where it is unpickled.

    Workers are kept and reused: one that was started before a user's folder joined the path could
    not import their mechanism. Pickles are read in order, so this stands before the mechanism.
    """

    def __reduce__(self) -> tuple[Callable[[list[str]], None], tuple[list[str]]]:
        """Travel as a call that extends the path."""
        return _extend_path, (sys.path,)


def _extend_path(path: list[str]) -> None:
    sys.path.extend(entry for entry in path if entry not in sys.path)


def _chunk_there(_: None, *arguments: Any) -> Counter[Hashable]:
    """Count the outputs of one chunk in a worker."""
    return _chunk(*arguments)


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
