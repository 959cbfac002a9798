"""The search for the pair that loses most, by exact laws."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from pdpaudit.auditing.candidate_pairs import CandidatePair, MeasuredPair, by_score, local_search
from pdpaudit.auditing.claim_results import AuditContext
from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.errors import Exhausted, Misbehaviour, OutOfTime
from pdpaudit.core.privacy_loss import loss_for
from pdpaudit.core.protocols import CodedOutputs, Law, LawUnavailable
from pdpaudit.core.subject import LIMIT_S, Subject

#: Decimals of a loss that do not depend on the machine.
DECIMALS = 8

#: Seconds of work, as laws count it, that a search may take where no time limit is given.
MOST_WORK = 400.0

#: Families to climb from, and rounds of local moves in each climb.
STARTS, MOVES = 3, 25

#: Outputs whose probabilities are kept, of all pairs together: some 100 MB; and those of the worst.
KEPT = 500_000

#: Laws that take too much time or memory, after which no further pair is tried.
MOST_EXHAUSTED = 3

#: Share of the time limit after which no further pair is looked at.
SEARCHING = 0.5


class _Enough(Exception):
    """The search for a pair has taken as long as it may."""


class TooExpensive(LawUnavailable):
    """The laws of all pairs would take longer than the search may."""


@dataclass
class _Meter:
    """Exact losses of pairs, one after another, until so much time or work is over."""

    context: AuditContext
    mechanism: Subject
    kinds: Sequence[PrivacyClaim]
    until: float
    most: float
    began: float = field(default_factory=time.monotonic)
    measured: list[MeasuredPair] = field(default_factory=list)
    work: float = 0.0
    kept: int = 0
    worst: dict[PrivacyClaim, MeasuredPair] = field(default_factory=dict)
    extra: list[MeasuredPair] = field(default_factory=list)
    writers: dict[Hashable, Callable[[Hashable], Hashable]] = field(default_factory=dict)
    exhausted: list[str] = field(default_factory=list)

    @property
    def spent(self) -> float:
        """Seconds so far: of the clock where it ends the search, else as laws count them."""
        timed = self.context.config.time_limit is not None
        return time.monotonic() - self.began if timed else self.work

    def _law(self, candidate: CandidatePair, side: str, instance: object) -> Law:
        if self.measured and (time.monotonic() > self.until or self.work > self.most):
            raise _Enough
        until = self.until if self.measured else self.context.until()
        try:
            found = self.mechanism.law(instance, self.context.config.time_limit or LIMIT_S, until)
        except OutOfTime:
            raise _Enough from None
        except Misbehaviour as error:
            raise type(error)(f"{candidate.label}, on the {side}: {error}") from None
        self.work += found.work
        coded = found.probabilities
        if isinstance(coded, CodedOutputs):
            # One instance is held to write outputs by, and not one for each law.
            coded.write = self.writers.setdefault(coded.coding, coded.write)
        return found

    def measure(self, candidate: CandidatePair) -> MeasuredPair:
        sides = zip(("left", "right"), candidate.inputs(), strict=True)
        left, right = (self._law(candidate, side, instance) for side, instance in sides)
        losses = {kind: loss_for(left, right, kind, listed=False) for kind in self.kinds}
        self.context.watcher.advance(1)
        # Rounded, so that pairs which are alike tie, and the first is taken on every machine.
        score = round(losses[self.kinds[0]].epsilon, DECIMALS)
        self.measured.append(MeasuredPair(candidate, score, losses, (left, right)))
        self._keep(self.measured[-1])
        return self.measured[-1]

    def _keep(self, new: MeasuredPair) -> None:
        """Keep the laws of the first pairs, and those of the worst for each claim."""
        for kind in self.kinds:
            best = self.worst.get(kind)
            if best is None or _rank(new, kind) > _rank(best, kind):
                self.worst[kind] = new
        size = sum(len(law.probabilities) for law in new.laws or ())
        if self.kept + size <= KEPT:
            self.kept += size
            return
        worst = list(map(id, self.worst.values()))
        for one in (*self.extra, new):
            if id(one) not in worst:
                one.laws = None
        self.extra = [one for one in (*self.extra, new) if one.laws is not None]


def worst_of(found: Sequence[MeasuredPair], kind: PrivacyClaim) -> MeasuredPair:
    """Return the worst pair for claims of a kind; of those that are alike the first."""
    return max(found, key=lambda one: _rank(one, kind))


def _rank(one: MeasuredPair, kind: PrivacyClaim) -> tuple[float, float]:
    return round(one.losses[kind].at_least, DECIMALS), one.score


def search_by_law(
    context: AuditContext,
    mechanism: Subject,
    candidates: Sequence[CandidatePair],
    kinds: Sequence[PrivacyClaim],
) -> list[MeasuredPair]:
    """Compute the exact loss of every pair, then climb from the worst; no samples."""
    limit = context.config.time_limit
    most = MOST_WORK if limit is None else math.inf
    meter = _Meter(context, mechanism, kinds, context.until(SEARCHING), most)
    context.watcher.stage("computing exact losses", len(candidates))
    try:
        _all_of(meter, candidates, most)
    except _Enough:
        _tell_of_the_end(meter, len(candidates))
    except Misbehaviour as error:
        context.blocked.append(str(error))
        if meter.measured:
            context.remark(f"the search for a pair ended at {error}")
    if meter.exhausted:
        _tell_of_exhaustion(meter, len(candidates))
    return by_score(meter.measured)


def _all_of(meter: _Meter, candidates: Sequence[CandidatePair], allowed: float) -> None:
    for number, candidate in enumerate(candidates, start=1):
        try:
            meter.measure(candidate)
        except Exhausted as error:
            meter.exhausted.append(str(error))
            if len(meter.exhausted) == MOST_EXHAUSTED:
                break
            continue
        needed = meter.spent / number * len(candidates)
        if needed > allowed:
            raise TooExpensive(
                f"the exact laws of {len(candidates)} pairs would take about {needed:,.0f} s"
            )
    found = list(meter.measured)
    for start in _starts(found):
        try:
            found = local_search(start, found, meter.measure, MOVES, meter.context.config.seed)
        except Exhausted as error:
            meter.exhausted.append(str(error))
            break


def _tell_of_the_end(meter: _Meter, pairs: int) -> None:
    left_over = max(pairs - len(meter.measured), 0)
    after = f"with {left_over} of {pairs} pairs untried" if left_over else "while climbing"
    limit = meter.context.config.time_limit
    meter.context.remark(
        f"the search for a pair ended after laws of about {meter.work:.0f} s, {after}; a longer "
        "one may find worse: `time_limit` sets another"
        if limit is None
        else f"the search for a pair ended at half the time limit of {limit:g} s, {after}: what "
        "it found depends on the machine, and a longer one may find worse"
    )


def _tell_of_exhaustion(meter: _Meter, pairs: int) -> None:
    """Say that pairs are left out because of their laws, or that there is no law at all."""
    reason = meter.exhausted[0]
    if not meter.measured:
        raise TooExpensive(f"no exact law could be computed: {reason}")
    untried = max(pairs - len(meter.measured) - len(meter.exhausted), 0)
    ended = f", and the search for a pair ended with {untried} untried" if untried else ""
    meter.context.remark(
        f"pairs whose laws need too much time or memory were left out ({reason}){ended}"
    )


def _starts(found: Iterable[MeasuredPair]) -> list[MeasuredPair]:
    """Return the worst pair of each family, the worst families first.

    Climbing from the worst of all would only ever sharpen one shape of pair, and the shape that
    is worst in the end may not be so at the sizes tried first.
    """
    best: dict[str, MeasuredPair] = {}
    for one in by_score(found):
        best.setdefault(_family(one), one)
    return list(best.values())[:STARTS]


def _family(one: MeasuredPair) -> str:
    return "" if one.candidate.pair is None else one.candidate.pair.family
