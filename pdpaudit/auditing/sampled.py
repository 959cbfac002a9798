"""Audit by sampling: discover on some samples, confirm on others.

Discovery is adaptive, so nothing it sees is evidence: the pair and the event it settles on are
confirmed on fresh samples, drawn once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pdpaudit.auditing.arms import Arm
from pdpaudit.auditing.climbing import Found
from pdpaudit.auditing.discovery import CHOOSING, Discovery
from pdpaudit.auditing.inference import by_counts
from pdpaudit.auditing.looking import (
    Looks,
    draw_in_looks,
    draw_sides,
    first_count,
    planned_looks,
    power_of_looks,
)
from pdpaudit.auditing.paired import draw_in_pairs
from pdpaudit.auditing.plan import Plan
from pdpaudit.auditing.power import confirmed, measured_power, planted_rates
from pdpaudit.auditing.telling import Run, statement, stopped, told
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.inference import Betting, ErrorBudget, detectable, lower_bound
from pdpaudit.inference.sequential import Known, Wager, refuted_by
from pdpaudit.outputs import Event, Several, Side
from pdpaudit.results.results import ClaimResult, Status
from pdpaudit.sampling import Hits, Misbehaviour, stream

__all__ = ["Chosen", "Confirmation", "Power", "by_samples", "verdict"]

#: From so many draws on the power of the exact method is told by the score method, which then
#: differs from it by less than 0.001 and takes a tenth of the time.
POWER_BY_SCORE = 1000


def by_samples(
    run: Run, arms: Sequence[Arm], claims: Sequence[PrivacyClaim]
) -> tuple[list[Found], list[ClaimResult]]:
    """Discover on one set of samples, confirm on another."""
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
        confirmation = Confirmation(
            run, number, claim, discovery.alpha, discovery.spent, discovery.single
        )
        try:
            chosen = _choose(discovery, number, claim, found)
            results.append(confirmation.result(chosen, _powered(discovery, number, claim, found)))
        except KeyboardInterrupt:
            if not results and not confirmation.runs:
                raise
            results.append(confirmation.so_far())
            why = "interrupted before this claim was confirmed"
            for later, left in enumerate(claims[number:], start=number + 1):
                results.append(stopped(run, later, left, why, status="skipped"))
            break
    return found, results


def verdict(claimed: float, lower: float, detectable_epsilon: float | None) -> Status:
    """Return the status of a claim tested on samples.

    ``inconclusive`` is a claim that stands only because the test was blind: it would not have
    seen a loss of twice the claim and half a nat.
    """
    if lower > claimed:
        return "violated"
    seen = detectable_epsilon is not None and detectable_epsilon <= 2 * claimed + 0.5
    return "not_rejected" if seen else "inconclusive"


def _choose(
    discovery: Discovery, number: int, claim: PrivacyClaim, found: Sequence[Found]
) -> Chosen:
    """Choose among the finalists by what is expected of each."""
    tested = [one for one in found if one.tests]
    best = max(tested, key=lambda one: discovery.best_event(one, claim)[1])
    event, _ = discovery.best_event(best, claim)
    left, right = best.tested[best.events.index(event)]
    ours, theirs = (left, right) if event.side == "left" else (right, left)
    known = Known(ours, theirs, best.tests)
    return Chosen(best.arm, event, tuple(best.ladders[number - 1]), known)


@dataclass(frozen=True)
class Power:
    """What is known of what a confirmation would have found."""

    measure: Callable[[float, Callable[[float, float], float]], float]
    planted: Callable[[], Iterable[tuple[float, float] | None]] = tuple
    looks: Looks | None = None


def _powered(
    discovery: Discovery, number: int, claim: PrivacyClaim, found: Sequence[Found]
) -> Power:
    """Return what planted leaks say of the power for one claim."""
    rehearsal, plan = discovery.rehearsal(claim, found), discovery.run.plan
    if rehearsal is None:
        return Power(lambda least, chance: math.inf)
    aim = discovery.aim(claim, CHOOSING)

    def measure(least: float, chance: Callable[[float, float], float]) -> float:
        rng = stream(plan.seed, "power", number)
        return measured_power(rehearsal, claim, aim, chance, least, rng)

    def planted() -> Iterable[tuple[float, float] | None]:
        if plan.detect is None:
            return ()
        seed = int(stream(plan.seed, "power", "detect", number).integers(2**63))
        return planted_rates(rehearsal, claim, aim, plan.detect, seed)

    return Power(measure, planted)


@dataclass
class Confirmation:
    """One claim on fresh samples; ``replay`` makes it again."""

    run: Run
    number: int
    claim: PrivacyClaim
    alpha: float
    spent: int
    single: bool = False
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
        spent = {"discovery": self.spent, "confirmation": self.runs}
        return stopped(self.run, self.number, self.claim, why, status="skipped", samples=spent)

    def result(self, chosen: Chosen, power: Power) -> ClaimResult:
        """Draw, bound, and say what would have been found."""
        plan = self.run.plan
        words = f"confirming {statement(self.claim)} on fresh samples"
        self.run.watcher.stage(words, 2 * plan.size)
        try:
            if not self.run.mechanism.repeatable:
                return self._in_pairs(chosen)
            if plan.sequential:
                return self._in_looks(chosen, power)
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
                single=self.single,
            )
        except Misbehaviour as error:
            return self._misbehaved(chosen, str(error))
        size, x, y = plan.size, *self._inside(chosen)
        lower = lower_bound(x, size, y, size, self.alpha, self.claim.delta, method=plan.method)
        if lower > self.claim.epsilon:
            return self._told(chosen, float(lower), None)
        least = _power(plan, self.claim, self.alpha, y / size)
        # The score method differs from the exact one by less than the steps of this search.
        method = "score" if plan.method == "exact" and size >= POWER_BY_SCORE else plan.method
        chance = confirmed(size, self.alpha, self.claim, method)
        self.run.watcher.stage("measuring what would have been found", 0)
        return self._told(chosen, float(lower), power.measure(least, chance))

    def _in_looks(self, chosen: Chosen, power: Power) -> ClaimResult:
        """Draw from look to look until the violation is certain, or no look is left."""
        plan, claim, alpha = self.run.plan, self.claim, self.alpha
        known = chosen.known
        looks = power.looks
        if looks is None:
            looks = planned_looks(plan, claim, alpha, power.planted(), known)
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
            single=self.single,
        )
        seen = None
        if not wager.violated:
            bases = _bases(claim, known.inside_other / known.runs)
            least = power_of_looks(looks, claim, alpha, bases, known)

            def chance(p: float, q: float) -> float:
                rates = (looks.sizes, p, q, alpha, claim.epsilon, claim.delta, known.runs)
                return float(refuted_by(*rates)[-1])

            # What ended the audit was measured by the same planted leaks, and is what is stated.
            asked = plan.detect if looks.enough else None
            seen = power.measure(least, chance) if asked is None else max(asked, least)
        witnessed = {
            "looks": [size for size in looks.sizes if size <= wager.n],
            **({"enough": True} if looks.enough else {}),
            "known": [known.inside, known.inside_other, known.runs],
            **({} if plan.detect is None else {"detect": plan.detect}),
        }
        detail = looks.words(wager.n, plan, violated=wager.violated)
        return self._told(chosen, wager.bound, seen, witnessed, detail)

    def _in_pairs(self, chosen: Chosen) -> ClaimResult:
        """Run both sides in turn: what is seen may depend on the moment too."""
        plan, claim, alpha = self.run.plan, self.claim, self.alpha
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
            single=self.single,
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

    def _inside(self, chosen: Chosen) -> tuple[int, int]:
        """Return how many runs fell into the event where it is likelier, and on the other side."""
        ours, theirs = (first_count(self.counted[side]) for side in chosen.sides)
        return ours, theirs

    def _misbehaved(self, chosen: Chosen, why: str) -> ClaimResult:
        ours, theirs = (self.counted[side] for side in chosen.sides)
        x, y = self._inside(chosen)
        got = (
            f"{chosen.arm.label}, {why}; so far {x} of {ours.runs} and {y} of {theirs.runs} "
            "runs fell into the event looked at"
        )
        return stopped(self.run, self.number, self.claim, got, samples=self._samples())

    def _samples(self) -> dict[str, int]:
        return {"discovery": self.spent, "confirmation": self.runs}

    def _told(
        self,
        chosen: Chosen,
        lower: float,
        seen: float | None,
        witnessed: Mapping[str, Any] | None = None,
        detail: str = "",
    ) -> ClaimResult:
        plan, claim, alpha = self.run.plan, self.claim, self.alpha
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
            chosen.arm,
            chosen.event,
            status=status,
            lower_bound=lower,
            exact=None,
            method=plan.method,
            samples=self._samples(),
            detectable_epsilon=seen,
            counts={"inside": x, "inside_other": y, "runs_a_side": ours.runs},
            alpha=alpha,
            witnessed={
                "confidence": plan.confidence,
                **({"single": True} if self.single else {}),
                **({} if seen is None else {"detectable": seen}),
                "ladder": [_threshold(event, chosen.event) for event in chosen.ladder],
                **(witnessed or {}),
            },
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
class Chosen:
    """The pair and event that are confirmed, and what discovery knows of them."""

    arm: Arm
    event: Event
    ladder: tuple[Event, ...] = ()
    known: Known = field(default_factory=Known)

    @property
    def sides(self) -> tuple[Side, Side]:
        """The side where the event is likelier, and the other."""
        return ("left", "right") if self.event.side == "left" else ("right", "left")

    @cached_property
    def inputs(self) -> dict[Side, Any]:
        """Both instances."""
        left, right = self.arm.inputs()
        return {"left": left, "right": right}

    @property
    def together(self) -> Several:
        """The event, and the same with other thresholds."""
        return Several((self.event, *self.ladder))


def _threshold(event: Event, chosen: Event) -> dict[str, Any]:
    """Return where an event differs from the one that is confirmed."""
    known = chosen.to_json()
    return {key: value for key, value in event.to_json().items() if value != known[key]}


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
