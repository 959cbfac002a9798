"""Run what others wrote: a failed run is an output, and nothing it does goes unnoticed.

An exception is something an observer sees, so a run that raises is an output of the kind "raises
TypeError": a mechanism that fails on one of two inputs only is broken by that very event. What
cannot be read ends the sampling with a :class:`Misbehaviour` that says what was done.
"""

from __future__ import annotations

import io
import math
import mmap
import os
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from pdpaudit.core.errors import Misbehaviour, located
from pdpaudit.core.protocols import Mechanism
from pdpaudit.outputs import Draws, Record, Unreadable, failure, flatten, gathered, of_records
from pdpaudit.outputs.records import RAISES, with_warnings
from pdpaudit.sampling.surroundings import Clock, Ended, Surroundings, reopen
from pdpaudit.sampling.warned import listening

#: Seconds after which one call of ``run`` or ``sample`` is taken to hang.
LIMIT_S = 120.0

#: Seconds to wait for a forked child to come back, and by then to have been seen.
CHILD_S = 0.5

_forks = 0


def _forked() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_parent=_forked)


T = TypeVar("T")

#: Whether outputs are drawn many at once or one by one.
How = Literal["either", "batch", "single"]


@dataclass(frozen=True)
class Raised:
    """What a run in another process raised: the name of its type, and what there is to say."""

    kind: str
    words: str


@dataclass(frozen=True)
class Warned:
    """What a run in another process gave, and the classes of the warnings that it emitted."""

    names: str
    output: object


class Sink(io.TextIOBase):
    """Swallows what is printed and counts it."""

    def __init__(self) -> None:
        self.characters = 0

    def writable(self) -> bool:
        """Say yes."""
        return True

    def write(self, text: str) -> int:
        """Count the characters."""
        self.characters += len(text)
        return len(text)

    def close(self) -> None:
        """Stay open: the next run prints too."""


class TooSlow(BaseException):
    """The time given is over; no Exception, so that an author's ``except`` lets it through."""


class Limit:
    """Raises :class:`TooSlow` in its block, or at the end, once its seconds are over.

    What is printed in it is swallowed. An outer limit stays in force. No generator: what ends the
    block could be raised around it.
    """

    def __init__(self, seconds: float) -> None:
        self._clock = Clock(max(seconds, 0.0), "the statistic")
        self._silent = redirect_stdout(Sink())

    def __enter__(self) -> None:
        """Begin the time."""
        self._silent.__enter__()
        self._clock.__enter__().wind("a call")

    def __exit__(self, kind: type[BaseException] | None, error: object, _: object) -> None:
        """Raise where the time is over, whatever ended the block."""
        late = isinstance(error, Ended | Misbehaviour)
        try:
            if kind is None:
                self._clock.stop()
        except Misbehaviour:
            late = True
        finally:
            self._clock.__exit__()
            self._silent.__exit__(None, None, None)
        if late:
            raise TooSlow from None


class BatchFailed(Misbehaviour):
    """A batch that raised where runs have to be drawn in batches."""


class Guard:
    """Draws outputs, many at once where the mechanism can, whatever it does.

    A context: while it lasts what is printed is swallowed, forks are noticed and time is kept; in
    the end the process is as it was. It costs some hundred microseconds to set up, so one serves
    several draws.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        instance: object,
        limit: float = LIMIT_S,
        until: float = math.inf,
    ) -> None:
        self._mechanism, self._instance = mechanism, instance
        self._sink, self._surroundings = Sink(), Surroundings()
        title = getattr(mechanism, "title", None)
        name = title if isinstance(title, str) else type(mechanism).__name__
        self._clock = Clock(limit, name, until)
        self._witness = _Witness(self._clock)
        self._around = ExitStack()

    def __enter__(self) -> Guard:
        """Begin to watch."""
        with ExitStack() as around:
            around.callback(reopen)
            around.enter_context(redirect_stdout(self._sink))
            self._heard = around.enter_context(listening())
            around.enter_context(self._surroundings)
            self._clock.stderr = self._surroundings.stderr
            around.enter_context(self._witness)
            around.enter_context(self._clock)
            self._around = around.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Leave everything as it was."""
        self._around.close()
        if kind is Ended:
            raise self._clock.error() from None

    def draw(self, size: int, rng: np.random.Generator, how: How = "either") -> Draws:
        """Return ``size`` outputs from a stream at its beginning."""
        before = self._sink.characters
        self._surroundings.seed(rng)
        try:
            draws = self._either(size, rng, how)
        except RecursionError:
            raise Misbehaviour(
                "it left hardly any recursion to others, or gave outputs nested too deeply; leave "
                "sys.setrecursionlimit alone"
            ) from None
        finally:
            self._surroundings.put_back()
            self._witness.end()
        draws.printed = self._sink.characters - before
        return draws

    def alone(self, rng: np.random.Generator) -> tuple[Draws, Hashable]:
        """Make one run; return its output, and where its stream is left.

        Of one that leaves its stream alone, where the global generators are left.
        """
        before = str(rng.bit_generator.state)
        draws = self.draw(1, rng)
        after, *others = self._surroundings.positions(rng)
        return draws, tuple(others) if after == before else after

    def _either(self, size: int, rng: np.random.Generator, how: How) -> Draws:
        draws = "" if how == "single" else self._many(size, rng)
        if isinstance(draws, str):
            if draws and how == "batch":
                raise BatchFailed(
                    f"its sample raised {draws} on a batch of {size} runs, and nothing says which "
                    "of them did; let it give an output for a run that fails, or leave it out"
                )
            why, draws = draws, self._one_by_one(size, rng)
            draws.alone = why
        return draws

    def call(self, what: str, function: Callable[..., T], *arguments: object) -> T:
        """Return what a function of the mechanism answers, or let through what it raises."""
        self._clock.wind(what)
        try:
            return function(*arguments)
        finally:
            self._surroundings.put_back()
            self._witness.end()

    def _many(self, size: int, rng: np.random.Generator) -> Draws | str:
        """Draw all at once; else what went wrong, if anything, and the stream as it was."""
        sample = getattr(self._mechanism, "sample", None)
        if not callable(sample):
            return ""
        beginning = rng.bit_generator.state
        try:
            self._clock.wind(f"drawing {size} outputs")
            outputs = sample(self._instance, size, rng)
            self._witness.look()
            return gathered(outputs, size)
        except Unreadable as error:
            raise _unreadable(error) from None
        except Exception as error:
            if isinstance(error, Misbehaviour):
                raise
            if not callable(getattr(self._mechanism, "run", None)):
                raise Misbehaviour(f"its sample raised {located(error)}") from error
            rng.bit_generator.state = beginning
            return located(error)

    def _one_by_one(self, size: int, rng: np.random.Generator) -> Draws:
        fresh = getattr(self._instance, "fresh", None)
        records: list[Record] = []
        failures: dict[str, str] = {}
        elsewhere = getattr(self._mechanism, "runs_elsewhere", None)
        if callable(elsewhere):
            return self._elsewhere(elsewhere(self._instance, size, rng))
        self._heard()  # of a batch nobody knows which run warned
        for _ in range(size):
            self._clock.wind("one run")
            try:
                instance = self._instance if fresh is None else fresh()
                # Read at once: what was returned may be changed by the next run.
                record = flatten(self._mechanism.run(instance, rng))
            except (Misbehaviour, KeyboardInterrupt, Ended):
                raise
            except Unreadable as error:
                raise _unreadable(error) from None
            except BaseException as error:  # whatever else it is, an observer sees it
                record = failure(error)
                if record[1][0] not in failures:
                    failures[record[1][0]] = located(error)
            names = self._heard()
            records.append(with_warnings(record, names) if names else record)
            self._witness.look()
        draws = of_records(records)
        draws.failures = failures
        return draws

    def _elsewhere(self, answers: Iterator[Sequence[object]]) -> Draws:
        """Read the outputs of runs one by one in another process, as they come."""
        records: list[Record] = []
        failures: dict[str, str] = {}
        while True:
            self._clock.wind("one run")
            some = next(answers, None)
            if some is None:
                break
            for output in some:
                if isinstance(output, Raised):
                    record: Record = (None, (RAISES + output.kind,), (None,))
                    failures.setdefault(record[1][0], output.words)
                elif isinstance(output, Warned):
                    record = with_warnings(_read(output.output), output.names)
                else:
                    record = _read(output)
                records.append(record)
        draws = of_records(records)
        draws.failures = failures
        return draws


def _read(output: object) -> Record:
    try:
        return flatten(output)
    except Unreadable as error:
        raise _unreadable(error) from None


def batched(mechanism: object) -> bool:
    """Say whether it draws many outputs at once."""
    return callable(getattr(mechanism, "sample", None))


def _unreadable(error: Unreadable) -> Misbehaviour:
    return Misbehaviour(
        f"it returned {error}; return numbers, texts, tuples, lists, dictionaries or arrays"
    )


class _Witness:
    """Tells the process that called from copies of it that come back from the same call.

    A copy leaves word in memory that both share, and ends: it must not go on with our work. Forks
    are noticed at once, and whether the copy came back is waited for at the first.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock, self._said = clock, ""

    def __enter__(self) -> _Witness:
        self._owner, self._forks, self._waited = os.getpid(), _forks, False
        self._word = mmap.mmap(-1, 1)
        self._end, os._exit = os._exit, self._refuse_to_end  # type: ignore[assignment]
        return self

    def _refuse_to_end(self, status: int) -> None:
        if os.getpid() == self._owner:
            self._said = (
                f"it called os._exit({status}), which would have ended everything; raise instead"
            )
            raise Ended
        self._end(status)

    def end(self) -> None:
        """See how the last call ended; raises Misbehaviour, whatever of ours it caught."""
        self.look()
        self._clock.stop()

    def look(self) -> None:
        if os.getpid() != self._owner:
            self._leave()
        if self._said:
            said, self._said = self._said, ""
            raise Misbehaviour(said) from None
        if _forks != self._forks and not self._waited:
            self._waited = True
            self._wait()

    def _leave(self) -> None:
        self._word[0] = 1
        self._end(0)

    def _wait(self) -> None:
        until = time.monotonic() + CHILD_S
        while time.monotonic() < until:
            if self._word[0]:
                raise Misbehaviour(
                    "it forked, and the copy came back from the call too; end the child with "
                    "os._exit, or use subprocess"
                )
            time.sleep(0.01)

    def __exit__(self, *_: object) -> None:
        if os.getpid() != self._owner:
            self._leave()
        os._exit = self._end
        self._word.close()
