"""The search for the pair that loses most, by exact laws: all of them, or the most promising."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pdpaudit.audit.arms import Arm
from pdpaudit.audit.climbing import Found, by_score, climb
from pdpaudit.audit.telling import Run
from pdpaudit.contracts import ExtendedMechanism, Law, LawfulMechanism, LawUnavailable
from pdpaudit.losses import exact_loss

__all__ = ["DECIMALS", "hunt"]

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


class _Enough(Exception):
    """The search for a pair has taken as long as it may."""


class _TooDear(LawUnavailable):
    """The laws of all pairs would take longer than the search may."""


@dataclass
class _Meter:
    """Exact losses of pairs, one after another, until so much time or work is over."""

    run: Run
    mechanism: LawfulMechanism
    deltas: Sequence[float]
    until: float
    most: float
    measured: list[Found] = field(default_factory=list)
    work: float = 0.0

    def _law(self, side: Any) -> Law:
        if self.measured and (time.monotonic() > self.until or self.work > self.most):
            raise _Enough
        found = self.mechanism.law(side)
        self.work += found.work
        return found

    def measure(self, arm: Arm) -> Found:
        left, right = map(self._law, arm.inputs())
        losses = {delta: exact_loss(left, right, delta) for delta in self.deltas}
        self.run.watcher.advance(1)
        # Rounded, so that pairs which are alike tie, and the first is taken on every machine.
        score = round(losses[self.deltas[0]].epsilon, DECIMALS)
        self.measured.append(Found(arm, score, losses))
        return self.measured[-1]


def hunt(
    run: Run, mechanism: LawfulMechanism, arms: Sequence[Arm], deltas: Sequence[float]
) -> list[Found]:
    """Compute the exact loss of every arm, then climb from the worst; no samples.

    Where that would take too long, and the mechanism says how its output begins, pairs are searched
    by the law of the beginning, and those that lose most there are computed whole. Ends with what
    it has once the time allowed is over, after one pair at the earliest; the law being computed
    then is still finished. Without a time limit the laws' own count of their work decides, which
    is the same on every machine.

    Parameters
    ----------
    deltas : sequence of float
        The slacks of the claims; the first is the one to climb for.

    Returns
    -------
    list of Found
        All that was computed whole, worst first.

    Raises
    ------
    LawUnavailable
        If the mechanism has no law on some instance, or laws are too dear for so many pairs.
    """
    limit = run.plan.time_limit
    began = time.monotonic()
    until = began + (math.inf if limit is None else limit)
    shorter = mechanism.beginning() if isinstance(mechanism, ExtendedMechanism) else None
    meter = _Meter(run, mechanism, deltas, until, MOST_WORK if limit is None else math.inf)
    run.watcher.stage("computing exact losses", len(arms))
    try:
        _all_of(meter, arms, _allowance(limit, shorter is not None), began)
    except _Enough:
        _tell_of_the_end(meter, len(arms))
    except LawUnavailable as why:
        if shorter is None:
            if isinstance(why, _TooDear):
                run.remark(
                    f"{why}, so it was sampled instead; --time-limit gives them as many seconds as "
                    "you like"
                )
            raise
        _promising(meter, shorter, arms)
    return by_score(meter.measured)


def _allowance(limit: float | None, other_ways: bool) -> float:
    """Return what all pairs may take before another way is better; a time limit is kept as is."""
    if limit is None:
        return MOST_WORK
    return limit if other_ways else math.inf


def _all_of(meter: _Meter, arms: Sequence[Arm], allowed: float, began: float) -> None:
    timed = meter.run.plan.time_limit is not None
    for number, arm in enumerate(arms, start=1):
        meter.measure(arm)
        spent = time.monotonic() - began if timed else meter.work
        needed = spent / number * len(arms)
        if needed > allowed:
            raise _TooDear(f"the exact laws of {len(arms)} pairs would take about {needed:,.0f} s")
    found = list(meter.measured)
    for start in _starts(found):
        found = climb(start, found, meter.measure, MOVES, meter.run.plan.seed)


def _promising(meter: _Meter, shorter: LawfulMechanism, arms: Sequence[Arm]) -> None:
    """Measure the pairs that lose most by the output's beginning, one of each family and ground."""
    run = meter.run
    left = meter.until - time.monotonic()
    scout = _Meter(run, shorter, meter.deltas, time.monotonic() + left / 2, meter.most)
    run.watcher.stage("computing exact losses of the output's beginning", len(arms))
    with suppress(_Enough):
        _all_of(scout, arms, math.inf, 0.0)
    meter.most = min(meter.work, meter.most) + FEW_WORK
    compared = by_score(scout.measured)
    chosen = [one.arm for one in _best_of_each(compared, _label)][:SHORTLISTED]
    run.watcher.stage("computing whole exact losses", len(chosen))
    before, refused = len(meter.measured), 0
    for arm in chosen:
        try:
            meter.measure(arm)
        except LawUnavailable:
            refused += 1
            if refused >= REFUSED:
                break
        except _Enough:
            break
    whole = len(meter.measured) - before
    if not whole:
        raise LawUnavailable("none of the promising pairs has an exact law")
    run.remark(
        f"exact laws of all pairs would take too long: {len(compared)} pairs were compared by the "
        "law of how the output begins, which loses no more than all of it, and of those that lose "
        f"most {whole} by the law of all; --time-limit sets how long"
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
