"""Where chunks are drawn: worker processes here, or those of a cluster, through joblib."""

from __future__ import annotations

import hashlib
import mmap
import os
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from multiprocessing import current_process, get_context
from multiprocessing import resource_tracker as tracker
from typing import TYPE_CHECKING, TypeVar

import cloudpickle
import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed, parallel_config
from joblib._parallel_backends import LokyBackend, MultiprocessingBackend
from joblib.externals.loky.backend import resource_tracker as loky_tracker
from joblib.parallel import get_active_backend

from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.results.files import versions

if TYPE_CHECKING:
    from distributed import Client

K = TypeVar("K")
T = TypeVar("T")

#: Set where a Python process starts, it does not look for its own modules in the current folder.
SAFE_PATH = "PYTHONSAFEPATH"

#: Worker processes on this machine, by joblib or the standard library; those of a dask scheduler.
BACKENDS = ("loky", "multiprocessing", "dask")

#: Seconds to wait for a scheduler and its first worker.
PATIENCE_S = 10

#: Seconds that a copy of this process is waited for at least.
LEAST_WAIT_S = 2.0

#: Bytes above which what all tasks share is sent to each worker once, and not with each task.
LARGE = 1 << 20

Numbers = npt.NDArray[np.float64]

#: An import path, a digest, and what all tasks of a job share.
Shared = tuple[list[str], bytes, npt.NDArray[np.uint8]]


@contextmanager
def backend(name: str = "loky", scheduler: str | None = None) -> Iterator[str]:
    """Draw chunks there, for as long as the context lasts."""
    if name not in BACKENDS:
        raise ParameterError("backend", name, f"known are {', '.join(BACKENDS)}")
    if name != "dask":
        if scheduler is not None:
            raise InputError(f"`scheduler` is for `backend` dask, not {name}; leave it out")
        with parallel_config(backend=_Loky() if name == "loky" else _Multiprocessing()):
            yield ""
        return
    if scheduler is None:
        raise InputError(
            "`backend` dask needs `scheduler` tcp://HOST:PORT; `dask scheduler` starts one and "
            "prints its address"
        )
    with _connected(scheduler) as client, parallel_config(backend="dask", client=client):
        cores = client.ncores()
        yield f"{len(cores)} workers with {sum(cores.values())} threads at {scheduler}"


class _Loky(LokyBackend):  # type: ignore[misc]  # joblib has no types
    """Worker processes in which no file of the current folder takes the place of a library."""

    def configure(self, *arguments: object, **options: object) -> int:
        _start_trackers()
        before = os.environ.get(SAFE_PATH)
        started = {"initializer": _restore, "initargs": (before,)}
        return int(super().configure(*arguments, **started, **options))

    def _prepare_worker_env(self, n_jobs: int) -> dict[str, str]:
        return {**super()._prepare_worker_env(n_jobs), SAFE_PATH: "1"}


class _Multiprocessing(MultiprocessingBackend):  # type: ignore[misc]
    """The same through the standard library, whose workers are forked."""

    # joblib does not offer it here; the engine reads results to the end, or closes them.
    supports_return_generator = True

    def configure(self, *arguments: object, **options: object) -> int:
        _start_trackers()
        return int(super().configure(*arguments, **options))


def _start_trackers() -> None:
    """Start the processes that clear up after workers, where no file can shadow a library."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        loky_tracker.ensure_running()
        tracker.ensure_running()
    finally:
        _restore(before)


def _restore(before: str | None) -> None:
    """Leave the environment as it was: what a person's own code starts inherits it."""
    if before is None:
        os.environ.pop(SAFE_PATH, None)
    else:
        os.environ[SAFE_PATH] = before


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "`backend` dask: dask.distributed is not installed; install it with pip install "
            "'pdpaudit[cluster]'"
        ) from None
    try:
        client = Client(scheduler, timeout=PATIENCE_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"`scheduler` {scheduler}: no scheduler answers ({error}); `dask scheduler` starts "
            "one and prints its address"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE_S)
        except TimeoutError:
            raise InputError(
                f"`scheduler` {scheduler}: it has no workers; `dask worker {scheduler}` starts one"
            ) from None
        try:
            found = client.run(versions)
        except ImportError as error:
            raise InputError(
                f"`scheduler` {scheduler}: its workers cannot import pdpaudit ({error}); install "
                "it where they run"
            ) from None
        for (worker, theirs), (package, version) in product(found.items(), versions().items()):
            if theirs.get(package) != version:
                raise InputError(
                    f"`scheduler` {scheduler}: worker {worker} has {package} "
                    f"{theirs.get(package)}, here is {version}; the same everywhere gives the "
                    "same results"
                )
        yield client


def obstacle(work: object) -> str:
    """Say why something cannot be sent to another process; nothing where it can."""
    try:
        cloudpickle.dumps(work)
    except Exception as error:  # whatever an object of other people raises
        return " ".join(str(error).split()) or type(error).__name__
    return ""


def in_workers(
    work: Callable[..., T], tasks: Iterable[tuple[K, tuple[object, ...]]], jobs: int
) -> Generator[tuple[K, T], None, None]:
    """Yield the name of each task and what ``work`` gives for its arguments, as they come.

    What cannot travel, as what holds a lock, a file or another library's pointer, is done here.
    """
    try:
        packed = cloudpickle.dumps(work)
    except Exception:  # whatever an object of other people raises
        yield from ((name, work(*arguments)) for name, arguments in tasks)
        return
    shared = _shared(packed)
    results = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(_at_worker)(shared, name, *arguments) for name, arguments in tasks
    )
    try:
        for result in results:  # noqa: UP028 - `yield from` would close it before we can
            yield result
    finally:
        with suppress(RuntimeError), warnings.catch_warnings():
            # An interruption wastes work; there is no need to warn of that.
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def _shared(packed: bytes) -> Shared:
    """Return what all tasks of a job share, made to travel once and be unpacked once a worker.

    A worker that unpacks a network anew for each chunk would score it anew each time.
    """
    token = hashlib.sha256(packed).digest()
    # joblib hands a large array to its processes through a file that all of them map.
    payload: npt.NDArray[np.uint8] = np.frombuffer(packed, dtype=np.uint8)
    client = getattr(get_active_backend()[0], "client", None)
    if client is not None and len(packed) > LARGE:
        # At every worker, so that the death of one loses nothing.
        payload = client.scatter(payload, broadcast=True)
    return list(sys.path), token, payload


#: The job this process worked at last.
_last: tuple[bytes, Callable[..., object]] | None = None


def _at_worker(shared: Shared, name: object, *arguments: object) -> tuple[object, object]:
    """Do one task in a worker; return its name and what it gave.

    Workers are kept and reused: one that was started before a user's folder joined the import path
    could not import their mechanism, so the path comes first.
    """
    global _last
    path, token, payload = shared
    last = _last
    if last is None or last[0] != token:
        sys.path.extend(entry for entry in path if entry not in sys.path)
        last = _last = (token, cloudpickle.loads(payload.data))
    return name, last[1](*arguments)


def in_copy(fill: Callable[[Numbers], object], size: int) -> Callable[[float], Numbers]:
    """Begin to fill numbers in a copy of this process as it is; return what waits for it.

    It waits no longer than there was time until then, or two seconds, and no longer than it is
    given. What was not filled in is NaN: all where a process cannot be copied safely, as on macOS.
    """
    numbers = np.frombuffer(mmap.mmap(-1, 8 * max(size, 1)), dtype=np.float64)[:size]
    numbers[:] = np.nan
    if sys.platform != "linux" or current_process().daemon:
        return lambda most: numbers
    process = get_context("fork").Process(target=_silently, args=(fill, numbers), daemon=True)
    began = time.monotonic()
    with warnings.catch_warnings():
        # Of the threads that it lacks: none is needed for others' code.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()

    def wait(most: float) -> Numbers:
        process.join(min(most, max(time.monotonic() - began, LEAST_WAIT_S)))
        process.kill()
        process.join()
        return numbers

    return wait


def _silently(fill: Callable[[Numbers], object], numbers: Numbers) -> None:
    """Fill numbers in without a word: all that is printed was printed by the other process."""
    sys.stdout = sys.stderr = nowhere = open(os.devnull, "w")  # noqa: SIM115 - until the process ends
    for stream in (1, 2):
        os.dup2(nowhere.fileno(), stream)
    fill(numbers)
