"""Audit by sampling: discover on some samples, confirm on others.

Discovery is adaptive, so nothing it sees is evidence: the pair and the event it settles on are
confirmed on fresh samples, drawn once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pdpaudit.audit.arms import Arm
from pdpaudit.audit.climbing import Found
from pdpaudit.audit.discovery import Discovery
from pdpaudit.audit.inference import by_counts
from pdpaudit.audit.looking import (
    draw_in_looks,
    draw_sides,
    first_count,
    planned_looks,
    power_of_looks,
)
from pdpaudit.audit.paired import draw_in_pairs
from pdpaudit.audit.plan import Plan
from pdpaudit.audit.telling import Run, statement, stopped, told
from pdpaudit.contracts import PrivacyClaim
from pdpaudit.evidence import Betting, ErrorBudget, detectable, lower_bound
from pdpaudit.evidence.event import AnyEvent, Several, Side
from pdpaudit.evidence.sequential import Known, Wager
from pdpaudit.results import ClaimResult, Status
from pdpaudit.sampling import Hits, Misbehaviour

__all__ = ["by_samples", "verdict"]

#: From so many draws on the power of the exact method is told by the score method, which then
#: differs from it by less than 0.001 and takes a tenth of the time.
POWER_BY_SCORE = 1000


def by_samples(
    run: Run, arms: Sequence[Arm], claims: Sequence[PrivacyClaim]
) -> tuple[list[Found], list[ClaimResult]]:
    """Discover on one set of samples, confirm on another.

    Parameters
    ----------
    run : Run
        What is audited and how; takes remarks on how the mechanism behaved.
    arms : sequence of Arm
        Pairs to try, at least one.
    claims : sequence of PrivacyClaim
        Each is confirmed at its share of the error budget.

    Returns
    -------
    found : list of Found
        Everything measured, worst leak first.
    results : list of ClaimResult
        One for each claim; ``error`` where the mechanism made it impossible.

    Raises
    ------
    InputError
        If the mechanism refuses every input.
    KeyboardInterrupt
        If interrupted before any confirming run was counted; later, what was counted is told.
    """
    discovery = Discovery(run, claims, ErrorBudget(1 - run.plan.confidence, len(claims)).share)
    try:
        discovery.check_repeatable(arms[0])
        found = discovery.search(arms)
    except Misbehaviour as error:
        spent = {"discovery": discovery.spent, "confirmation": 0}
        return [], [
            stopped(run, number, claim, str(error), samples=spent)
            for number, claim in enumerate(claims, start=1)
        ]
    results: list[ClaimResult] = []
    for number, claim in enumerate(claims, start=1):
        confirmation = _Confirmation(run, number, claim, discovery)
        try:
            results.append(confirmation.result(found))
        except KeyboardInterrupt:
            if not results and not confirmation.runs:
                raise
            results.append(confirmation.so_far())
            why = "interrupted before this claim was confirmed"
            for later, left in enumerate(claims[number:], start=number + 1):
                results.append(stopped(run, later, left, why, status="skipped"))
            break
    return found, results


def verdict(claimed: float, lower: float, detectable_epsilon: float) -> Status:
    """Return the status of a claim tested on samples.

    ``inconclusive`` is a claim that stands only because the test was blind: it would not have
    seen a loss of twice the claim and half a nat.

    Examples
    --------
    >>> verdict(1.0, 1.2, 1.1), verdict(1.0, 0.9, 1.1), verdict(1.0, 0.0, 5.0)
    ('violated', 'not_rejected', 'inconclusive')
    """
    if lower > claimed:
        return "violated"
    return "not_rejected" if detectable_epsilon <= 2 * claimed + 0.5 else "inconclusive"


@dataclass
class _Confirmation:
    """One claim on fresh samples."""

    run: Run
    number: int
    claim: PrivacyClaim
    discovery: Discovery
    counted: dict[Side, Hits] = field(default_factory=lambda: {"left": Hits(), "right": Hits()})

    @property
    def runs(self) -> int:
        """Runs counted on both sides so far."""
        return sum(one.runs for one in self.counted.values())

    def so_far(self) -> ClaimResult:
        """Tell an interrupted claim: what was counted is no verdict, for it was not the plan."""
        sides = " and ".join(
            f"{first_count(one):,} of {one.runs:,} on the {side}"
            for side, one in self.counted.items()
        )
        why = f"interrupted before this claim was confirmed; in the event so far: {sides}"
        spent = {"discovery": self.discovery.spent, "confirmation": self.runs}
        return stopped(self.run, self.number, self.claim, why, status="skipped", samples=spent)

    def result(self, found: Sequence[Found]) -> ClaimResult:
        """Choose among the finalists by what is expected of each, draw, and bound."""
        tested = [one for one in found if one.tests]
        best = max(tested, key=lambda one: self.discovery.best_event(one, self.claim)[1])
        event, _ = self.discovery.best_event(best, self.claim)
        chosen = _Chosen(best, event, self.number)
        plan = self.run.plan
        words = f"confirming {statement(self.claim)} on fresh samples"
        self.run.watcher.stage(words, 2 * plan.size)
        try:
            if not getattr(self.run.mechanism, "repeatable", True):
                return self._in_pairs(chosen)
            if plan.sequential:
                return self._in_looks(chosen)
            draw_sides(
                self.run.mechanism,
                chosen.inputs,
                plan.size,
                chosen.together,
                seed=plan.seed,
                key=("confirm", self.number),
                jobs=plan.jobs,
                progress=self.run.watcher.advance,
                counted=self.counted,
                store=plan.store,
            )
        except Misbehaviour as error:
            return self._misbehaved(chosen, str(error))
        size, x, y = plan.size, *self._inside(chosen)
        lower = lower_bound(
            x, size, y, size, self.discovery.alpha, self.claim.delta, method=plan.method
        )
        seen = _power(plan, self.claim, self.discovery.alpha, y / size)
        return self._told(chosen, float(lower), seen)

    def _in_looks(self, chosen: _Chosen) -> ClaimResult:
        """Draw from look to look until the violation is certain, or no look is left."""
        plan, claim, alpha = self.run.plan, self.claim, self.discovery.alpha
        known = chosen.known
        bases = _bases(claim, known.inside_other / known.runs)
        looks = planned_looks(plan, claim, alpha, bases, known)
        wager = draw_in_looks(
            self.run.mechanism,
            chosen.inputs,
            chosen.together,
            chosen.event.side,
            Wager.begin(alpha, min(claim.epsilon, 1e308), claim.delta, known),
            looks.sizes,
            seed=plan.seed,
            number=self.number,
            counted=self.counted,
            jobs=plan.jobs,
            progress=self.run.watcher.advance,
            store=plan.store,
        )
        seen = power_of_looks(looks, claim, alpha, bases, known)
        witnessed = {
            "looks": [size for size in looks.sizes if size <= wager.n],
            "known": [known.inside, known.inside_other, known.runs],
            **({} if plan.detect is None else {"detect": plan.detect}),
        }
        detail = looks.words(wager.n, plan, violated=wager.violated)
        return self._told(chosen, wager.bound, seen, witnessed, detail)

    def _in_pairs(self, chosen: _Chosen) -> ClaimResult:
        """Run both sides in turn: what is seen may depend on the moment too."""
        plan, claim, alpha = self.run.plan, self.claim, self.discovery.alpha
        state = draw_in_pairs(
            self.run.mechanism,
            chosen.inputs,
            chosen.event,
            chosen.event.side,
            Betting(alpha, claim.delta),
            plan.size,
            seed=plan.seed,
            number=self.number,
            counted=self.counted,
            progress=self.run.watcher.advance,
            enough=claim.epsilon if plan.sequential else math.inf,
        )
        _, theirs = self._inside(chosen)
        seen = _power(replace(plan, method="betting"), claim, alpha, theirs / state.pairs)
        detail = (
            f"{state.pairs:,} pairs of runs, one on each side in an order decided by a coin, were "
            "bet on. Other runs give other values: nothing here can be replayed."
        )
        result = self._told(chosen, state.bound, seen, {"method": "betting"}, detail)
        # Attackers are counted as if runs had nothing to do with each other, which these have.
        return replace(result, method="betting, in pairs", inference={}, witness=None)

    def _inside(self, chosen: _Chosen) -> tuple[int, int]:
        """Return how many runs fell into the event where it is likelier, and on the other side."""
        ours, theirs = (first_count(self.counted[side]) for side in chosen.sides)
        return ours, theirs

    def _misbehaved(self, chosen: _Chosen, why: str) -> ClaimResult:
        ours, theirs = (self.counted[side] for side in chosen.sides)
        x, y = self._inside(chosen)
        got = (
            f"{chosen.found.arm.label}, {why}; so far {x} of {ours.runs} and {y} of {theirs.runs} "
            "runs fell into the event looked at"
        )
        return stopped(self.run, self.number, self.claim, got, samples=self._samples())

    def _samples(self) -> dict[str, int]:
        return {"discovery": self.discovery.spent, "confirmation": self.runs}

    def _told(
        self,
        chosen: _Chosen,
        lower: float,
        seen: float,
        witnessed: Mapping[str, Any] | None = None,
        detail: str = "",
    ) -> ClaimResult:
        plan, claim, alpha = self.run.plan, self.claim, self.discovery.alpha
        status = verdict(claim.epsilon, lower, seen)
        if status != "violated" and self.run.blocked:
            why = "; ".join(self.run.blocked[:2])
            return stopped(self.run, self.number, claim, why, samples=self._samples())
        x, y = self._inside(chosen)
        ours, theirs = (self.counted[side] for side in chosen.sides)
        return told(
            self.run,
            self.number,
            claim,
            chosen.found.arm,
            chosen.event,
            status=status,
            lower_bound=lower,
            exact=None,
            method=plan.method,
            samples=self._samples(),
            detectable_epsilon=seen,
            counts={"inside": x, "inside_other": y, "runs_a_side": ours.runs},
            alpha=alpha,
            witnessed={"confidence": plan.confidence, **(witnessed or {})},
            inference=by_counts(
                np.atleast_1d(ours.inside).tolist(),
                np.atleast_1d(theirs.inside).tolist(),
                ours.runs,
                chosen.event.side,
                claim,
                alpha,
                stopped=plan.sequential,
            ),
            detail=detail,
        )


@dataclass(frozen=True)
class _Chosen:
    """The pair and event that are confirmed, and what discovery knows of them."""

    found: Found
    event: AnyEvent
    number: int

    @property
    def sides(self) -> tuple[Side, Side]:
        """The side where the event is likelier, and the other."""
        return ("left", "right") if self.event.side == "left" else ("right", "left")

    @cached_property
    def inputs(self) -> dict[Side, Any]:
        """Both instances."""
        left, right = self.found.arm.inputs()
        return {"left": left, "right": right}

    @property
    def together(self) -> Several:
        """The event, and the same with other thresholds."""
        return Several((self.event, *self.found.ladders[self.number - 1]))

    @property
    def known(self) -> Known:
        """What the test of the event in discovery saw."""
        left, right = self.found.tested[self.found.events.index(self.event)]
        ours, theirs = (left, right) if self.event.side == "left" else (right, left)
        return Known(ours, theirs, self.found.tests)


def _power(plan: Plan, claim: PrivacyClaim, alpha: float, base: float) -> float:
    """Return the smallest ε that this many samples would have shown to break the claim."""
    if math.isinf(claim.epsilon):
        return math.inf
    score = plan.method == "exact" and plan.size >= POWER_BY_SCORE
    method = "score" if score else plan.method
    return min(
        float(detectable(plan.size, q, alpha, claim.delta, 0.95, method, claim.epsilon))
        for q in _bases(claim, base)
    )


def _bases(claim: PrivacyClaim, base: float) -> list[float]:
    """Return the rates that power is told for; the most telling counts.

    An event as likely as the one looked at, or, where that never or always happens and can show
    nothing, one that happens half the time. That may be too likely to show a large loss at all, so
    rarer ones are considered too.
    """
    if not 0 < base < 1:
        base = 0.5 * math.exp(-min(claim.epsilon, 5.0))
    largest = math.exp(-min(claim.epsilon, 30.0))
    return sorted({q for q in (base, 0.5 * largest, 0.1 * largest) if 0 < q < 1})
