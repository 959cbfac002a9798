"""The search for the pair that loses most, by exact laws: all of them, or the most promising."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pdpaudit.auditing.arms import Arm
from pdpaudit.auditing.climbing import Found, by_score, climb
from pdpaudit.auditing.telling import Run
from pdpaudit.core.errors import Misbehaviour
from pdpaudit.core.privacy_loss import exact_loss
from pdpaudit.core.protocols import Law, LawUnavailable
from pdpaudit.core.subject import LIMIT_S, Subject

__all__ = ["DECIMALS", "hunt", "patience", "worst_of"]

#: Decimals of a loss that do not depend on the machine.
DECIMALS = 8

#: Seconds of work, as laws count it, that a search may take where no time limit is given; and what
#: the most promising pairs alone may.
MOST_WORK, FEW_WORK = 400.0, 60.0

#: Families to climb from, and rounds of local moves in each climb.
STARTS, MOVES = 3, 25

#: Pairs that are computed whole where all of them would take too long.
SHORTLISTED = 20

#: Promising pairs without an exact law after which no more are tried.
REFUSED = 2

#: Outputs whose probabilities are kept, of all pairs together: some 100 MB; and those of the worst.
KEPT = 500_000

#: Seconds that any law may take, however short the time limit of the search.
SHORTEST = 60.0


class _Enough(Exception):
    """The search for a pair has taken as long as it may."""


class _TooDear(LawUnavailable):
    """The laws of all pairs would take longer than the search may."""


@dataclass
class _Meter:
    """Exact losses of pairs, one after another, until so much time or work is over."""

    run: Run
    mechanism: Subject
    deltas: Sequence[float]
    until: float
    most: float
    began: float = field(default_factory=time.monotonic)
    measured: list[Found] = field(default_factory=list)
    work: float = 0.0
    kept: int = 0
    worst: dict[float, Found] = field(default_factory=dict)
    extra: list[Found] = field(default_factory=list)

    @property
    def spent(self) -> float:
        """Seconds so far: of the clock where it ends the search, else as laws count them."""
        timed = self.run.plan.time_limit is not None
        return time.monotonic() - self.began if timed else self.work

    def _law(self, arm: Arm, side: str, instance: Any) -> Law:
        if self.measured and (time.monotonic() > self.until or self.work > self.most):
            raise _Enough
        try:
            found = self.mechanism.law(instance, patience(self.run))
        except Misbehaviour as error:
            raise Misbehaviour(f"{arm.label}, on the {side}: {error}") from None
        self.work += found.work
        return found

    def measure(self, arm: Arm) -> Found:
        sides = zip(("left", "right"), arm.inputs(), strict=True)
        left, right = (self._law(arm, side, instance) for side, instance in sides)
        losses = {delta: exact_loss(left, right, delta) for delta in self.deltas}
        self.run.watcher.advance(1)
        # Rounded, so that pairs which are alike tie, and the first is taken on every machine.
        score = round(losses[self.deltas[0]].epsilon, DECIMALS)
        self.measured.append(Found(arm, score, losses, (left, right)))
        self._keep(self.measured[-1])
        return self.measured[-1]

    def _keep(self, new: Found) -> None:
        """Keep the laws of the first pairs, and those of the worst at each δ."""
        for delta in self.deltas:
            best = self.worst.get(delta)
            if best is None or _rank(new, delta) > _rank(best, delta):
                self.worst[delta] = new
        size = sum(len(law.probabilities) for law in new.laws or ())
        if self.kept + size <= KEPT:
            self.kept += size
            return
        worst = list(map(id, self.worst.values()))
        for one in (*self.extra, new):
            if id(one) not in worst:
                one.laws = None
        self.extra = [one for one in (*self.extra, new) if one.laws is not None]


def worst_of(found: Sequence[Found], delta: float) -> Found:
    """Return the worst pair for a slack; of those that are alike the first."""
    return max(found, key=lambda one: _rank(one, delta))


def _rank(one: Found, delta: float) -> tuple[float, float]:
    return round(one.losses[delta].at_least, DECIMALS), one.score


def hunt(run: Run, mechanism: Subject, arms: Sequence[Arm], deltas: Sequence[float]) -> list[Found]:
    """Compute the exact loss of every arm, then climb from the worst; no samples."""
    limit = run.plan.time_limit
    until, most = (math.inf, MOST_WORK) if limit is None else (time.monotonic() + limit, math.inf)
    meter = _Meter(run, mechanism, deltas, until, most)
    run.watcher.stage("computing exact losses", len(arms))
    try:
        _search(meter, arms)
    except _Enough:
        _tell_of_the_end(meter, len(arms))
    except Misbehaviour as error:
        run.blocked.append(str(error))
        if meter.measured:
            run.remark(f"the search for a pair ended at {error}")
    return by_score(meter.measured)


def patience(run: Run) -> float:
    """Return the seconds after which a law is taken to hang, fewer where little time is given."""
    limit = run.plan.time_limit
    return LIMIT_S if limit is None else max(SHORTEST, 10 * limit)


def _search(meter: _Meter, arms: Sequence[Arm]) -> None:
    run = meter.run
    shorter = meter.mechanism.beginning(patience(run))
    try:
        _all_of(meter, arms, _allowance(run.plan.time_limit, shorter is not None))
    except LawUnavailable as why:
        if shorter is None:
            if isinstance(why, _TooDear):
                run.remark(
                    f"{why}, so it was sampled instead; --time-limit gives them as many seconds as "
                    "you like"
                )
            raise
        _promising(meter, shorter, arms)


def _allowance(limit: float | None, other_ways: bool) -> float:
    """Return what all pairs may take before another way is better; a time limit is kept as is."""
    if limit is None:
        return MOST_WORK
    return limit if other_ways else math.inf


def _all_of(meter: _Meter, arms: Sequence[Arm], allowed: float) -> None:
    for number, arm in enumerate(arms, start=1):
        meter.measure(arm)
        needed = meter.spent / number * len(arms)
        if needed > allowed:
            raise _TooDear(f"the exact laws of {len(arms)} pairs would take about {needed:,.0f} s")
    found = list(meter.measured)
    for start in _starts(found):
        found = climb(start, found, meter.measure, MOVES, meter.run.plan.seed)


def _promising(meter: _Meter, shorter: Subject, arms: Sequence[Arm]) -> None:
    """Measure the pairs that lose most by the output's beginning, one per family and network."""
    run, timed = meter.run, math.isfinite(meter.until)
    half = (time.monotonic() + meter.until) / 2
    scout = _Meter(run, shorter, meter.deltas, half, meter.most)
    run.watcher.stage("computing exact losses of the output's beginning", len(arms))
    with suppress(_Enough):
        _all_of(scout, arms, math.inf)
    compared = by_score(scout.measured)
    chosen = _best_of_each(compared, _label)[: None if timed else SHORTLISTED]
    whole = _Meter(run, meter.mechanism, meter.deltas, meter.until, math.inf if timed else FEW_WORK)
    run.watcher.stage("computing whole exact losses", len(chosen))
    refused = 0
    try:
        with suppress(_Enough):
            for one in chosen:
                try:
                    whole.measure(one.arm)
                except LawUnavailable:
                    refused += 1
                    if refused == REFUSED:
                        break
    finally:  # a law that misbehaves costs none of the others
        meter.measured += whole.measured
    if not whole.measured:
        run.remark("the pairs that promise most have no exact law within reach: it was sampled")
        raise LawUnavailable("no promising pair has a law")
    run.remark(
        f"exact laws of all pairs are out of reach: {len(compared)} pairs were compared by the law "
        "of how the output begins, which loses no more than all of it, and of those that lose most "
        f"{len(whole.measured)} by the law of all; --time-limit sets how long"
    )


def _tell_of_the_end(meter: _Meter, pairs: int) -> None:
    left_over = max(pairs - len(meter.measured), 0)
    after = f"with {left_over} of {pairs} pairs untried" if left_over else "while climbing"
    limit = meter.run.plan.time_limit
    meter.run.remark(
        f"the search for a pair ended after laws of about {meter.work:.0f} s, {after}; a longer "
        "one may find worse: --time-limit sets another"
        if limit is None
        else f"the search for a pair ended at its time limit of {limit:g} s, {after}: what it "
        "found depends on the machine, and a longer one may find worse"
    )


def _starts(found: Iterable[Found]) -> list[Found]:
    """Return the worst pair of each family, the worst families first.

    Climbing from the worst of all would only ever sharpen one shape of pair, and the shape that
    is worst in the end may not be so at the sizes tried first.
    """
    return _best_of_each(by_score(found), _family)[:STARTS]


def _best_of_each(found: Iterable[Found], kind: Callable[[Found], str]) -> list[Found]:
    best: dict[str, Found] = {}
    for one in found:
        best.setdefault(kind(one), one)
    return list(best.values())


def _family(one: Found) -> str:
    return "" if one.arm.pair is None else one.arm.pair.family


def _label(one: Found) -> str:
    return one.arm.label
