"""Audit by sampling: discover on some samples, confirm on others.

Discovery is adaptive, so nothing it sees is evidence: the pair and the event it settles on are
confirmed on fresh samples, drawn once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pdpaudit.auditing.attack_metrics import metrics_by_counts
from pdpaudit.auditing.candidate_pairs import CandidatePair, MeasuredPair
from pdpaudit.auditing.claim_results import (
    AuditContext,
    Evidence,
    Witnessed,
    claim_fields,
    ended_by,
    unconfirmed_claim,
)
from pdpaudit.auditing.config import Config
from pdpaudit.auditing.discovery_runs import REMEMBERS
from pdpaudit.auditing.event_selection import CHOOSING, EventSelection
from pdpaudit.auditing.other_claims import Weighed, least_detectable
from pdpaudit.auditing.power import RATES, confirmed, measured_power, planted_rates
from pdpaudit.auditing.sequential import (
    FreshRuns,
    Looks,
    first_count,
    hurried_looks,
    planned_looks,
    power_of_looks,
)
from pdpaudit.core.errors import OutOfTime
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.inference import Betting, ErrorBudget, detectable, lower_bound
from pdpaudit.inference.claim_bounds import claim_bound
from pdpaudit.inference.sequential import Known, Wager, refuted_by
from pdpaudit.outputs import Event, Several, Side
from pdpaudit.results.measurements import ClaimEvent, Counts
from pdpaudit.results.results import ClaimResult, SampledFinding, Status
from pdpaudit.sampling import Hits, Misbehaviour, stream

#: From here on the power of the exact method is computed by the score method, which then
#: differs from it by less than 0.001 and takes a tenth of the time.
POWER_BY_SCORE = 1000

#: Share of the time limit by which it is known when to stop.
PLANNED = 0.8


def audit_by_samples(
    context: AuditContext, candidates: Sequence[CandidatePair], claims: Sequence[PrivacyClaim]
) -> tuple[list[MeasuredPair], list[ClaimResult]]:
    """Discover on one set of samples, confirm on another."""
    discovery = EventSelection(
        context, claims, ErrorBudget(1 - context.config.confidence, len(claims)).share
    )
    try:
        discovery.check_repeatable(candidates[0], len(candidates))
        found = discovery.search(candidates)
        if not any(one.tests for one in found):
            raise OutOfTime("the time limit ended the audit before any claim was confirmed")
    except Misbehaviour as error:
        spent = {"discovery": discovery.runs.spent, "confirmation": 0}
        return [], [
            unconfirmed_claim(
                context, number, claim, str(error), status=ended_by(error), samples=spent
            )
            for number, claim in enumerate(claims, start=1)
        ]
    results: list[ClaimResult] = []
    for number, claim in enumerate(claims, start=1):
        confirmation = Confirmation(
            context, number, claim, discovery.alpha, discovery.runs.spent, discovery.runs.single
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
                results.append(unconfirmed_claim(context, later, left, why, status="skipped"))
            break
    # Where the run cannot be made any more, nothing is known of those before.
    with suppress(Misbehaviour):
        if any(one.status == "violated" for one in results) and discovery.runs.remembers():
            results = [
                unconfirmed_claim(context, number, claim, REMEMBERS, samples=one.samples)
                for number, (claim, one) in enumerate(zip(claims, results, strict=True), start=1)
            ]
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
    discovery: EventSelection, number: int, claim: PrivacyClaim, found: Sequence[MeasuredPair]
) -> Chosen:
    """Choose among the finalists by what is expected of each."""
    tested = [one for one in found if one.tests]
    best = max(tested, key=lambda one: discovery.best_event(one, claim)[1])
    event, _ = discovery.best_event(best, claim)
    left, right, runs = map(round, best.tested[best.events.index(event)])
    ours, theirs = (left, right) if event.side == "left" else (right, left)
    known = Known(ours, theirs, runs)
    ladder, how = tuple(best.thresholds[number - 1]), best.weighed[number - 1]
    return Chosen(best.candidate, event, ladder, known, how, best.seconds)


@dataclass(frozen=True)
class Power:
    """What is known of what a confirmation would have found."""

    measure: Callable[[float, Callable[[float, float], float]], float]
    planted: Callable[[], Iterable[tuple[float, float] | None]] = tuple
    looks: Looks | None = None


def _powered(
    discovery: EventSelection, number: int, claim: PrivacyClaim, found: Sequence[MeasuredPair]
) -> Power:
    """Return what planted leaks say of the power for one claim."""
    rehearsal, config = discovery.rehearsal(claim, found), discovery.context.config
    if rehearsal is None:
        return Power(lambda least, chance: math.inf)
    expected_bound = discovery.expected_bound(claim, CHOOSING)

    def measure(least: float, chance: Callable[[float, float], float]) -> float:
        rng = stream(config.seed, "power", number)
        return measured_power(rehearsal, claim, expected_bound, chance, least, rng)

    def planted() -> Iterable[tuple[float, float] | None]:
        wanted = config.wanted(claim.epsilon)
        if wanted is None:
            return ()
        seed = int(stream(config.seed, "power", "detect", number).integers(2**63))
        return planted_rates(rehearsal, claim, expected_bound, wanted, seed)

    return Power(measure, planted)


@dataclass
class Confirmation:
    """One claim on fresh samples; ``replay`` makes it again."""

    context: AuditContext
    number: int
    claim: PrivacyClaim
    alpha: float
    spent: int
    single: bool = False
    counted: dict[Side, Hits] = field(default_factory=lambda: {"left": Hits(), "right": Hits()})
    reached: Wager | None = None

    @property
    def runs(self) -> int:
        """Runs counted on both sides so far."""
        return sum(one.runs for one in self.counted.values())

    def so_far(self) -> ClaimResult:
        """Return an interrupted claim: no verdict, but what the finished stages say."""
        sides = " and ".join(
            f"{first_count(one):,} of {one.runs:,} on the {side}"
            for side, one in self.counted.items()
        )
        shown = ""
        if self.reached is not None:
            shown = f"the finished stages show a loss of at least {self.reached.bound:.4g}; "
        why = f"interrupted before this claim was confirmed; {shown}in the event so far: {sides}"
        spent = {"discovery": self.spent, "confirmation": self.runs}
        return unconfirmed_claim(
            self.context, self.number, self.claim, why, status="skipped", samples=spent
        )

    def result(self, chosen: Chosen, power: Power) -> ClaimResult:
        """Draw, bound, and say what would have been found."""
        config = self.context.config
        try:
            if not self.context.mechanism.repeatable:
                self._begin(config.size)
                return self._in_pairs(chosen)
            if config.sequential and self.claim.approximate:
                return self._in_looks(chosen, power)
            self._begin(config.size)
            self._fresh(chosen, chosen.together).draw(config.size)
        except Misbehaviour as error:
            return self._misbehaved(chosen, error)
        if not self.claim.approximate:
            return self._in_its_unit(chosen, power)
        size, x, y = config.size, *self._inside(chosen)
        lower = lower_bound(x, size, y, size, self.alpha, self.claim.delta, method=config.rule)
        if lower > self.claim.epsilon:
            return self._finding(chosen, float(lower), None)
        least = _power(config, self.claim, self.alpha, y / size)
        # The score method differs from the exact one by less than the steps of this search.
        method = "score" if config.rule == "exact" and size >= POWER_BY_SCORE else config.rule
        chance = confirmed(size, self.alpha, self.claim, method)
        self.context.watcher.stage("measuring what would have been found", 0)
        return self._finding(chosen, float(lower), power.measure(least, chance))

    def _begin(self, size: int) -> None:
        """Begin the stage in which runs are drawn, that many a side."""
        words = f"confirming {self.claim.statement} on fresh samples"
        self.context.watcher.stage(words, 2 * size)

    def _in_looks(self, chosen: Chosen, power: Power) -> ClaimResult:
        """Draw from look to look until the violation is certain, or no look is left."""
        config, claim, alpha = self.context.config, self.claim, self.alpha
        known = chosen.known
        looks = power.looks
        left = self.context.until() - time.monotonic()
        looks = looks or hurried_looks(config, claim, left, chosen.seconds)
        if looks is None:
            until = self.context.until(PLANNED)
            self.context.watcher.stage("planning when to stop, by planted leaks", 0)
            looks = planned_looks(config, claim, alpha, power.planted(), known, until)
        wager = Wager.begin(alpha, min(claim.epsilon, 1e308), claim.delta, known)
        self._begin(looks.sizes[-1])
        try:
            for reached in self._fresh(chosen, chosen.together).looks(wager, looks.sizes):
                self.reached = wager = reached
        except OutOfTime:
            if not wager.n:
                raise
            drawn = [size for size in looks.sizes if size <= wager.n]
            looks = replace(looks, sizes=drawn, enough=False, late=True)
        seen = None
        if looks.late and not wager.violated:
            seen = math.inf  # measuring it would take longer than there is
        elif not wager.violated:
            bases = _bases(claim, known.inside_other / known.runs)
            least = power_of_looks(looks, claim, alpha, bases, known)

            def chance(p: float, q: float) -> float:
                rates = (looks.sizes, p, q, alpha, claim.epsilon, claim.delta, known.runs)
                return float(refuted_by(*rates)[-1])

            # What ended the audit was measured by the same planted leaks, and is what is stated.
            asked = looks.wanted if looks.enough else None
            seen = power.measure(least, chance) if asked is None else max(asked, least)
        witnessed: Witnessed = {
            "looks": tuple(size for size in looks.sizes if size <= wager.n),
            "enough": looks.enough or None,
            "known": (known.inside, known.inside_other, known.runs),
            "detect": looks.wanted,
        }
        detail = looks.words(wager.n, config.size, violated=wager.violated)
        return self._finding(chosen, wager.bound, seen, witnessed, detail)

    def _in_its_unit(self, chosen: Chosen, power: Power) -> ClaimResult:
        """Bound what is no ε in the claim's own unit, from one event or from nested ones."""
        size, claim, weighed = self.context.config.size, self.claim, chosen.weighed
        x, y = self._inside(chosen)
        if weighed is None:
            method, detail = "clopper-pearson", ""
            lower = float(claim_bound(claim, x, y, size, self.alpha))
        else:
            first, second = (self.counted[side] for side in chosen.sides)
            method = "betting"
            lower = weighed.bound(claim, (first, second), size, self.alpha)
            detail = (
                f"{len(weighed.places)} nested events that differ in their threshold were weighed "
                "together; this one by itself shows less."
            )
        seen = None
        if lower <= claim.value:
            least = _power_in_unit(claim, (y + 1) / (size + 2), size, self.alpha)
            self.context.watcher.stage("measuring what would have been found", 0)
            seen = power.measure(least, confirmed(size, self.alpha, claim, method))
        witnessed: Witnessed = {"weighed": None if weighed is None else weighed.recorded()}
        return self._finding(chosen, lower, seen, witnessed, detail, method)

    def _in_pairs(self, chosen: Chosen) -> ClaimResult:
        """Run both sides in turn: what is seen may depend on the moment too."""
        if not self.claim.approximate:
            why = "what differs from run to run is tested for (ε, δ) only; claim that"
            return unconfirmed_claim(
                self.context, self.number, self.claim, why, samples=self._samples()
            )
        config, claim, alpha = self.context.config, self.claim, self.alpha
        enough = claim.epsilon if config.sequential else math.inf
        fresh = self._fresh(chosen, chosen.event)
        state = fresh.draw_in_pairs(Betting(alpha, claim.delta), config.size, enough)
        _, theirs = self._inside(chosen)
        betting = replace(config, method="betting", detect=None)
        seen = _power(betting, claim, alpha, theirs / state.pairs)
        detail = (
            f"{state.pairs:,} pairs of runs, one on each side in an order decided by a coin, were "
            "bet on. Other runs give other values: nothing here can be replayed."
        )
        result = self._finding(chosen, state.bound, seen, None, detail)
        # Attackers are counted as if runs had nothing to do with each other, which these have.
        return replace(result, method="betting, in pairs", inference=None, witness=None)

    def _fresh(self, chosen: Chosen, event: Event | Several) -> FreshRuns:
        context = self.context
        return FreshRuns(
            context.mechanism,
            chosen.inputs,
            event,
            chosen.event.side,
            self.number,
            context.config,
            context.watcher,
            self.single,
            self.context.until(),
            self.counted,
        )

    def _inside(self, chosen: Chosen) -> tuple[int, int]:
        """Return how many runs fell into the event where it is likelier, and on the other side."""
        ours, theirs = (first_count(self.counted[side]) for side in chosen.sides)
        return ours, theirs

    def _misbehaved(self, chosen: Chosen, error: Misbehaviour) -> ClaimResult:
        ours, theirs = (self.counted[side] for side in chosen.sides)
        x, y = self._inside(chosen)
        got = (
            f"{chosen.candidate.label}, {error}; so far {x} of {ours.runs} and {y} of "
            f"{theirs.runs} runs fell into the event looked at"
        )
        return unconfirmed_claim(
            self.context,
            self.number,
            self.claim,
            got,
            status=ended_by(error),
            samples=self._samples(),
        )

    def _samples(self) -> dict[str, int]:
        return {"discovery": self.spent, "confirmation": self.runs}

    def _finding(
        self,
        chosen: Chosen,
        lower: float,
        seen: float | None,
        witnessed: Witnessed | None = None,
        detail: str = "",
        method: str | None = None,
    ) -> ClaimResult:
        config, claim, alpha = self.context.config, self.claim, self.alpha
        status = verdict(claim.value, lower, seen)
        if status != "violated" and self.context.blocked:
            why = "; ".join(self.context.blocked[:2])
            return unconfirmed_claim(self.context, self.number, claim, why, samples=self._samples())
        x, y = self._inside(chosen)
        ours, theirs = (self.counted[side] for side in chosen.sides)
        self.context.remark_failures({**theirs.failures, **ours.failures})
        judged_by = Evidence(self.context, self.number, claim, chosen.candidate, chosen.event)
        shared = claim_fields(
            judged_by,
            method or config.rule,
            ClaimEvent(counts=Counts(x, y, ours.runs)),
            {
                "alpha": alpha,
                "confidence": config.confidence,
                "single": self.single or None,
                "detectable": seen,
                "ladder": chosen.ladder,
                **(witnessed or {}),
            },
        )
        return SampledFinding(
            **shared,
            status=status,
            lower_bound=lower,
            confidence=config.confidence,
            samples=self._samples(),
            detectable_epsilon=seen,
            inference=metrics_by_counts(
                np.atleast_1d(ours.inside).tolist(),
                np.atleast_1d(theirs.inside).tolist(),
                ours.runs,
                chosen.event.side,
                claim,
                alpha,
                stopped=config.sequential and claim.approximate,
            ),
            detail=detail,
        )


@dataclass(frozen=True)
class Chosen:
    """The pair and event that are confirmed, and what discovery knows of them."""

    candidate: CandidatePair
    event: Event
    ladder: tuple[Event, ...] = ()
    known: Known = field(default_factory=Known)
    weighed: Weighed | None = None
    seconds: float = 0.0

    @property
    def sides(self) -> tuple[Side, Side]:
        """The side where the event is likelier, and the other."""
        return ("left", "right") if self.event.side == "left" else ("right", "left")

    @cached_property
    def inputs(self) -> dict[Side, object]:
        """Both instances."""
        left, right = self.candidate.inputs()
        return {"left": left, "right": right}

    @property
    def together(self) -> Several:
        """The event, and the same with other thresholds."""
        return Several((self.event, *self.ladder))


def _power(config: Config, claim: PrivacyClaim, alpha: float, base: float) -> float:
    """Return the smallest ε that this many samples would have shown to break the claim."""
    if math.isinf(claim.epsilon):
        return math.inf
    score = config.rule == "exact" and config.size >= POWER_BY_SCORE
    method = "score" if score else config.rule
    return min(
        float(detectable(config.size, q, alpha, claim.delta, 0.95, method, claim.epsilon))
        for q in _bases(claim, base)
    )


def _power_in_unit(claim: PrivacyClaim, base: float, size: int, alpha: float) -> float:
    """Return the smallest parameter that this many samples would have shown to break the claim."""
    rates = sorted({base, *RATES})
    return min(least_detectable(claim, rate, size, alpha) for rate in rates)


def _bases(claim: PrivacyClaim, base: float) -> list[float]:
    """Return the rates that power is stated for; the one that shows most counts.

    An event as likely as the one looked at, or, where that never or always happens and can show
    nothing, one that happens half the time. That may be too likely to show a large loss at all, so
    rarer ones are considered too.
    """
    if not 0 < base < 1:
        base = 0.5 * math.exp(-min(claim.epsilon, 5.0))
    largest = math.exp(-min(claim.epsilon, 30.0))
    return sorted({q for q in (base, 0.5 * largest, 0.1 * largest) if 0 < q < 1})
