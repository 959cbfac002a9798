"""Runs drawn while looking for a pair and an event, and what they show of the mechanism itself.

Each input's runs are kept in two halves, each from a stream of its own, and shared by its pairs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress

import cloudpickle
import numpy as np

from pdpaudit.auditing.candidate_pairs import CandidatePair
from pdpaudit.auditing.claim_results import RAISED, UNSEEDED, AuditContext
from pdpaudit.core.errors import InputError, OutOfTime
from pdpaudit.core.subject import Subject
from pdpaudit.outputs import Draws, Event, Several, Whole, failure
from pdpaudit.outputs.records import sort_key
from pdpaudit.outputs.words import shown
from pdpaudit.sampling import BatchFailed, Hits, Misbehaviour, draw, hits, stream
from pdpaudit.sampling.backends import obstacle
from pdpaudit.sampling.guard import Guard

#: Shares of the time limit at which the search ends, and the tests of what it found.
SEARCHING, TESTING_ENDS = 0.5, 0.7

#: Runs drawn twice from the same stream, to see that they depend on nothing else; two at a time, as
#: only counts are compared, and many answers of one bit often have the same count.
TWICE = 32

#: Of these two at a time that many at least, where the first time takes more than that share of the
#: time limit.
LEAST_TWICE, CHECKED = 2, 0.02

#: The kind of output that a run is which refuses its input.
REFUSAL = failure(InputError())[1][0]

#: What a function of other inputs raises that is given a network, and what is said then.
UNFIT = ("TypeError", "AttributeError")
NO_NETWORK = (
    "; it brings no pairs and has no domain, so it was run on networks: where it takes other "
    "inputs, give these by pairs or by a domain of pdpaudit.relations"
)

#: Kinds of an output that names a file, and what is said of it.
PATHS = {"PosixPath", "WindowsPath"}
FILES = (
    "it returns the path of a file, and what is in the file was not looked at; return what it "
    "releases"
)

#: What is said of a mechanism whose first run is another once it has made others.
REMEMBERS = (
    "its first run, made again with the same random stream, drew other random numbers or gave "
    "another output, so it remembers earlier runs, and counting runs that depend on each other "
    "shows nothing; let each run begin anew"
)

#: What is said of one that is another when it is made again, as replay makes it.
MADE_AGAIN = (
    "made again, it gives another output from the same random stream, so randomness was drawn "
    "while it was made: its noise is the same in all runs, and nothing could be replayed; draw "
    "everything in run, from the rng it is given"
)

#: Inputs that are the same when they are equal, and then share their discovery runs.
VALUES = (tuple, int, float, str, bytes, frozenset)


class DiscoveryRuns:
    """Draws runs, and counts them in ``spent``.

    Once a batch fails all are drawn one by one, ``single``: which runs share a batch must decide
    nothing.
    """

    #: An input, and what the first run on it gave and where it left its stream.
    _begun: tuple[object, tuple[Draws, Hashable]]

    def __init__(self, context: AuditContext) -> None:
        self.context = context
        self.spent = 0
        self.single = self._answered = self._refused = False
        self._failure = ""
        self._pools: dict[Hashable, tuple[Draws, Draws]] = {}
        self._numbers: dict[Hashable, int] = {}

    def first(self, instance: object) -> float:
        """Return the seconds that the first run takes; what it does is kept."""
        began = time.monotonic()
        self._begun = instance, self._alone(instance)
        return time.monotonic() - began

    def _alone(self, instance: object) -> tuple[Draws, Hashable]:
        """Return what the first run gives and where it leaves its stream."""
        self.spent += 1
        rng = stream(self.context.config.seed, "discover", "first", 0)
        with Guard(self.context.mechanism, instance, until=self.context.until()) as guard:
            return guard.alone(rng)

    def check_repeatable(self, instance: object) -> float:
        """Refuse randomness from elsewhere that is not said to be; return the seconds of a run."""
        began = time.monotonic()
        late = began + CHECKED * (self.context.config.time_limit or math.inf)
        once = self._in_pairs(self.context.mechanism, instance, "twice", late=late)
        again = self._in_pairs(self.context.mechanism, instance, "twice", len(once))
        runs = 4 * len(once)
        each = (time.monotonic() - began) / runs
        self.spent += runs
        if not self.context.mechanism.seedable:
            # Few outputs are the same by chance, so that they are now and then says nothing.
            self._check_copies(instance)
            self.context.remark(UNSEEDED)
        elif not _same(once, again):
            said = " and then ".join(_first_other(once, again))
            raise Misbehaviour(
                f"the same random stream gave other outputs the second time ({said}), so it takes "
                "randomness from elsewhere, or remembers, and nothing could be replayed; draw "
                "everything from the rng it is given, or say seedable = False where that cannot be"
            )
        elif self.remembers():
            raise Misbehaviour(REMEMBERS)
        elif self._is_another_made_again():
            raise Misbehaviour(MADE_AGAIN)
        return each

    def remembers(self) -> bool:
        """Say whether the first run is another now, as others were made since."""
        if not (self.context.mechanism.repeatable and self.context.mechanism.seedable):
            return False
        instance, (draws, left) = self._begun
        again, now = self._alone(instance)
        return left != now or not draws.same_as(again)

    def _is_another_made_again(self) -> bool:
        """Say whether the first run is another of one that is made again, as replay does.

        That run is not counted: nothing but this is seen of it. Nothing is imported for it, so
        that only a class with plain arguments is made again.
        """
        spec, until = self.context.spec, self.context.until()
        factory = type(self.context.mechanism.origin)
        if spec is None or spec.observe or spec.name.rpartition(":")[2] != factory.__qualname__:
            return False
        if spec.python or spec.program or "sop" in spec.parameters:
            return False
        try:
            made = Subject.of(factory(**spec.parameters))
        except Exception:  # what cannot be made like that was made otherwise
            return False
        instance, (draws, _) = self._begun
        rng = stream(self.context.config.seed, "discover", "first", 0)
        with Guard(made, instance, until=until) as guard:
            return not draws.same_as(guard.alone(rng)[0])

    def _check_copies(self, instance: object) -> None:
        """Refuse a generator of its own that workers would have equal copies of."""
        if self.context.config.jobs == 1 or obstacle(self.context.mechanism):
            return
        kept = cloudpickle.dumps(self.context.mechanism)
        one, other = (Subject.of(cloudpickle.loads(kept)) for _ in range(2))
        first, again, second = (
            self._in_pairs(copy, instance, "copies") for copy in (one, other, one)
        )
        if _same(first, again) and not _same(first, second):
            raise Misbehaviour(
                "copies of it draw the same random numbers, so workers would repeat each other; "
                "let each process seed its generator from the operating system, or use one worker "
                "(jobs = 1)"
            )

    def _in_pairs(
        self,
        mechanism: Subject,
        instance: object,
        purpose: str,
        times: int = TWICE // 2,
        late: float = math.inf,
    ) -> list[Draws]:
        """Draw some runs two at a time, each from a stream of its own; fewer once it is late."""
        drawn = list[Draws]()
        for number in range(times):
            if number >= LEAST_TWICE and time.monotonic() > late:
                break
            drawn.append(self._draw(mechanism, instance, 2, (purpose, number)))
        return drawn

    def _draw(
        self, mechanism: Subject, instance: object, runs: int, key: tuple[str | int, ...]
    ) -> Draws:
        config, until = self.context.config, self.context.until()
        return draw(
            mechanism, instance, runs, seed=config.seed, key=("discover", *key), until=until
        )

    # Looking

    def keys(self, candidate: CandidatePair) -> tuple[Hashable, Hashable]:
        """Return what stands for a pair's two inputs: themselves where they are plain values."""
        if candidate.pair is not None:
            return (candidate, "left"), (candidate, "right")
        if candidate.keys is not None:
            return candidate.keys
        left, right = (
            instance if isinstance(instance, VALUES) and _hashable(instance) else (candidate, side)
            for side, instance in zip(("left", "right"), candidate.inputs(), strict=True)
        )
        return left, right

    def halves(self, key: Hashable, instance: object, until: int) -> tuple[Draws, Draws]:
        """Return an input's runs, that many with those drawn before."""
        pool = self._pools.setdefault(key, (Draws(), Draws()))
        # With the same streams everywhere, pairs whose outputs never part are seen to be alike.
        staged = self.context.config.staged
        number = 0 if staged else self._numbers.setdefault(key, len(self._numbers))
        for half, goal in enumerate((until // 2, until - until // 2)):
            runs = goal - len(pool[half])
            if runs <= 0:
                continue
            for piece in self._pieces(runs):
                draws = draw(
                    self.context.mechanism,
                    instance,
                    piece,
                    seed=self.context.config.seed,
                    key=("discover", "looking", number, half, len(pool[half])),
                    jobs=self.context.config.jobs,
                    progress=self.context.watcher.advance,
                    until=self.context.until(SEARCHING),
                    store=self.context.config.store,
                    single=self.single,
                )
                self.spent += piece
                pool[half].update(draws)
                self._note(draws)
        return pool

    def keep(self, candidates: Iterable[CandidatePair]) -> None:
        """Give up the runs of inputs that none of these pairs needs."""
        needed = {key for one in candidates for key in self.keys(one)}
        self._pools = {key: pool for key, pool in self._pools.items() if key in needed}

    def _note(self, draws: Draws) -> None:
        """Keep what is to be said of how the mechanism behaved."""
        self._answered = self._answered or draws.answered()
        for kind, words in draws.failures.items():
            self._refused = self._refused if self._failure else kind == REFUSAL
            self._failure = self._failure or words
        self.context.remark_failures(draws.failures)
        if draws.alone:
            self._batch_failed(draws.alone)
        if any(PATHS & {*record[1]} for record in draws.counts):
            self.context.remark(FILES)
        if draws.printed:
            self.context.remark("it printed to standard output, which was swallowed")

    def _batch_failed(self, why: str) -> None:
        if not self.single:
            self.single = True
            self.context.remark(f"its sample failed, {why}; it was run one by one")

    def _pieces(self, runs: int) -> list[int]:
        """Return how many runs to ask for at once: one, where each is also confirmed alone."""
        return [runs] if self.context.mechanism.repeatable else [1] * runs

    # Testing

    def counts(
        self, candidate: CandidatePair, events: Sequence[Event], size: int
    ) -> tuple[list[int], list[int]]:
        """Return how many of ``size`` fresh runs fall into each event: left, and right."""
        number = self._numbers.setdefault(("testing", candidate), len(self._numbers))
        try:
            return self._counts(candidate, events, size, number)
        except BatchFailed as error:
            self._batch_failed(str(error))
            return self._counts(candidate, events, size, number)

    def _counts(
        self, candidate: CandidatePair, events: Sequence[Event], size: int, number: int
    ) -> tuple[list[int], list[int]]:
        together, inside = Several(tuple(events)), []
        for side, instance in zip(("left", "right"), candidate.inputs(), strict=True):
            counted, pieces = Hits(), self._pieces(size)
            for i, piece in enumerate(pieces):
                hits(
                    self.context.mechanism,
                    instance,
                    piece,
                    together,
                    seed=self.context.config.seed,
                    key=("discover", "testing", number, side, *([i] if i else [])),
                    jobs=self.context.config.jobs,
                    progress=self.context.watcher.advance,
                    until=self.context.until(TESTING_ENDS),
                    total=counted,
                    store=self.context.config.store,
                    single=self.single,
                )
            self.spent += size
            inside.append(np.asarray(counted.inside).tolist())
        return inside[0], inside[1]

    # What was seen

    def refuse_without_output(self, *, measured: bool) -> None:
        """Refuse to judge a mechanism that gave no output, or of which no pair was measured."""
        if not measured and not self.context.blocked:
            raise OutOfTime("the time limit ended the search before any pair was looked at")
        if not measured:
            raise Misbehaviour("; ".join(self.context.blocked[:2]))
        if self._answered:
            return
        if self._refused:
            raise InputError(self._failure.removeprefix("InputError: "))
        with suppress(ValueError):  # it is said once
            self.context.remarks.remove(RAISED.format(self._failure))
        networks = not self.context.mechanism.has("pairs")
        hint = NO_NETWORK if networks and self._failure.startswith(UNFIT) else ""
        raise Misbehaviour(f"every run raised {self._failure}{hint}")


def _same(once: Sequence[Draws], again: Sequence[Draws]) -> bool:
    """Say whether each draw gave the same outputs again."""
    return all(map(Draws.same_as, once, again))


def _first_other(once: Sequence[Draws], again: Sequence[Draws]) -> list[str]:
    """Return two outputs, one of either time, of the first draw that was not the same."""
    first = next(two for two in zip(once, again, strict=True) if not two[0].same_as(two[1]))
    pairs = zip(*(sorted(draws.records(), key=sort_key) for draws in first), strict=False)
    return [shown(Whole(one)) for one in next(two for two in pairs if two[0] != two[1])]


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
