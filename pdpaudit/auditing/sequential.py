"""Fresh runs: all at once, from look to look until the violation is certain, or in pairs."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile

import numpy as np

from pdpaudit.auditing.config import Config, Silent, Watcher
from pdpaudit.auditing.power import FOUND, enough_found
from pdpaudit.core.errors import OutOfTime
from pdpaudit.core.protocols import Mechanism, PrivacyClaim
from pdpaudit.inference import Betting
from pdpaudit.inference.sequential import (
    Floats,
    Known,
    Wager,
    look_sizes,
    refuted_by,
    smallest_refuted,
)
from pdpaudit.outputs import Event, Several, Side
from pdpaudit.sampling import Hits, Misbehaviour, hits, stream

#: Pairs of runs after which progress is reported, and the bets are looked at.
BLOCK = 100

#: Probability with which the loss asked for must be seen.
POWER = 0.95

#: Share of the time that is left in which runs are drawn, as some take longer than those before,
#: and the looks in it.
HURRIED, HURRIED_LOOKS = 0.8, 4


@dataclass(frozen=True)
class Looks:
    """When to look."""

    sizes: list[int]
    enough: bool
    wanted: float | None = None
    late: bool = False

    def words(self, drawn: int, most_runs: int, *, violated: bool) -> str:
        """Say why sampling stopped after that number of draws a side."""
        most = f"{most_runs:,} runs a side"
        if violated:
            return f"Stopped after {drawn:,} of at most {most}: the violation was certain."
        if self.late:
            return f"Stopped after {drawn:,} of at most {most}: the time limit was reached."
        if self.enough:
            return (
                f"Stopped after {drawn:,} of at most {most}: a loss of {self.wanted:g} would "
                "have been found by then in 19 of 20 planted leaks."
            )
        asked = "" if self.wanted is None else f", nor would a loss of {self.wanted:g} surely have"
        return f"Drew all {most}: no violation was seen{asked}."


def planned_looks(
    config: Config,
    claim: PrivacyClaim,
    alpha: float,
    planted: Iterable[tuple[float, float] | None],
    known: Known,
    until: float = math.inf,
) -> Looks:
    """Return when to look: until the loss asked for would have been seen, or all is drawn."""
    sizes, wanted = look_sizes(config.size), config.wanted(claim.epsilon)
    if wanted is None or wanted <= claim.epsilon:
        return Looks(sizes, enough=False, wanted=wanted)

    def refuted(p: float, q: float) -> Floats:
        return refuted_by(sizes, p, q, alpha, claim.epsilon, claim.delta, known.runs)

    shares: list[Floats] = []
    for rates in takewhile(lambda _: time.monotonic() < until, planted):
        shares.append(np.zeros(len(sizes)) if rates is None else refuted(*rates))
        missed = sum(1.0 - float(share[-1]) for share in shares)
        if enough_found(missed, len(shares), claim) is not None:
            break
    if time.monotonic() >= until:
        return Looks(sizes, enough=False, wanted=wanted)
    seen = np.flatnonzero(np.mean(shares, axis=0) >= FOUND) if shares else np.empty(0)
    enough = int(seen[0]) if len(seen) else len(sizes)
    return Looks(sizes[: enough + 1], enough=enough < len(sizes), wanted=wanted)


def hurried_looks(config: Config, claim: PrivacyClaim, left: float, seconds: float) -> Looks | None:
    """Return looks in the seconds that are left, where the first would take longer than that.

    What is certain is so in few runs; what they do not show is inconclusive.
    """
    room = math.inf if seconds == 0.0 else HURRIED * left / seconds
    if room >= look_sizes(config.size)[0] or room < HURRIED_LOOKS:
        return None
    sizes = [int(room * look / HURRIED_LOOKS) for look in range(1, HURRIED_LOOKS + 1)]
    return Looks(sizes, enough=False, wanted=config.wanted(claim.epsilon), late=True)


def power_of_looks(
    looks: Looks, claim: PrivacyClaim, alpha: float, bases: Iterable[float], known: Known
) -> float:
    """Return the smallest loss that these looks would have seen with probability 0.95."""
    return min(
        smallest_refuted(
            looks.sizes, q, alpha, min(claim.epsilon, 1e308), claim.delta, known.runs, POWER
        )
        for q in bases
    )


def first_count(counted: Hits) -> int:
    """Return how many runs fell into the first of the events counted."""
    return int(np.atleast_1d(counted.inside)[0])


@dataclass
class FreshRuns:
    """Runs on both sides of a pair that nothing was chosen by, counted as they are drawn.

    All streams are keyed by the claim, so ``replay`` draws the same runs again.
    """

    mechanism: Mechanism
    inputs: Mapping[Side, object]
    event: Event | Several
    side: Side
    number: int
    config: Config
    watcher: Watcher = field(default_factory=Silent)
    single: bool = False
    until: float = math.inf
    counted: Mapping[Side, Hits] = field(default_factory=lambda: {"left": Hits(), "right": Hits()})

    @property
    def other(self) -> Side:
        """The side where the event is less likely."""
        return "right" if self.side == "left" else "left"

    def draw(
        self, size: int, look: tuple[int, ...] = (), totals: Mapping[Side, Hits] | None = None
    ) -> None:
        """Count ``size`` more runs on each side."""
        totals = self.counted if totals is None else totals
        for side, instance in self.inputs.items():
            try:
                hits(
                    self.mechanism,
                    instance,
                    size,
                    self.event,
                    seed=self.config.seed,
                    key=("confirm", self.number, side, *look),
                    jobs=self.config.jobs,
                    progress=self.watcher.advance,
                    until=self.until,
                    total=totals[side],
                    store=self.config.store,
                    single=self.single,
                )
            except OutOfTime:
                raise
            except Misbehaviour as error:
                raise Misbehaviour(f"on the {side}: {error}") from None

    def looks(self, wager: Wager, sizes: Iterable[int]) -> Iterator[Wager]:
        """Draw from look to look until the violation is certain or no look is left.

        Each look draws from streams of its own and is counted whole or not at all, so that what is
        seen does not depend on the workers, nor on how many more looks were planned.
        """
        for look, size in enumerate(sizes):
            step = size - wager.n
            new: dict[Side, Hits] = {"left": Hits(), "right": Hits()}
            self.draw(step, (look,), new)
            wager = wager.update(first_count(new[self.side]), first_count(new[self.other]), step)
            for side, counted in self.counted.items():
                counted.update(new[side])
            yield wager
            if wager.violated:
                break

    def draw_in_pairs(self, state: Betting, size: int, enough: float = math.inf) -> Betting:
        """Make pairs of runs, one a side in an order decided by a coin, and bet on each.

        How long a run takes depends on what else the machine does, so a hundred runs on one side
        and then a hundred on the other would measure the machine. If no event is more than
        ``exp(ε)`` times as likely on one side as on the other at any moment, up to δ, then the
        expectation of ``a - exp(ε) b - δ`` given all earlier pairs is at most 0: that is all that
        :class:`pdpaudit.inference.Betting` needs. The runs need not be independent, nor alike.
        """
        coins = stream(self.config.seed, "confirm", self.number, "order").random(size) < 0.5
        for begin in range(0, size, BLOCK):
            block = range(begin, min(begin + BLOCK, size))
            fell = Counter(self._pair(i, first=bool(coins[i])) for i in block)
            state = state.update(
                both=fell[True, True],
                first_only=fell[True, False],
                second_only=fell[False, True],
                neither=fell[False, False],
            )
            self.watcher.advance(2 * len(block))
            if state.bound > enough:
                break
        return state

    def _pair(self, number: int, *, first: bool) -> tuple[bool, bool]:
        """Return whether one run on each side, ours first or not, fell into the event."""
        fell: dict[Side, bool] = {}
        for side in (self.side, self.other) if first else (self.other, self.side):
            total = self.counted[side]
            before = first_count(total)
            hits(
                self.mechanism,
                self.inputs[side],
                1,
                self.event,
                seed=self.config.seed,
                key=("confirm", self.number, side, number),
                total=total,
                single=self.single,
            )
            fell[side] = first_count(total) > before
        return fell[self.side], fell[self.other]
