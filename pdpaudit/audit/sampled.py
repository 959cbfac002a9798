"""Audit by sampling: discover on some samples, confirm on others.

Discovery is adaptive, so nothing it sees is evidence: the pair and the event it settles on are
confirmed on fresh samples, drawn once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from pdpaudit.audit.arms import Arm
from pdpaudit.audit.climbing import Found
from pdpaudit.audit.discovery import Discovery
from pdpaudit.audit.plan import Plan
from pdpaudit.audit.telling import Run, statement, told
from pdpaudit.contracts import PrivacyClaim
from pdpaudit.evidence import ErrorBudget, detectable, lower_bound
from pdpaudit.evidence.event import AnyEvent
from pdpaudit.results import ClaimResult, Status
from pdpaudit.sampling import Hits, Misbehaviour, hits

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
            _stopped(run, number, claim, str(error), samples=spent)
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
                results.append(_stopped(run, later, left, why, status="skipped"))
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
    counted: dict[str, Hits] = field(default_factory=lambda: {"left": Hits(), "right": Hits()})

    @property
    def runs(self) -> int:
        """Runs counted on both sides so far."""
        return sum(one.runs for one in self.counted.values())

    def so_far(self) -> ClaimResult:
        """Tell an interrupted claim: what was counted is no verdict, for it was not the plan."""
        sides = " and ".join(
            f"{int(one.inside):,} of {one.runs:,} on the {side}"
            for side, one in self.counted.items()
        )
        why = f"interrupted before this claim was confirmed; in the event so far: {sides}"
        spent = {"discovery": self.discovery.spent, "confirmation": self.runs}
        return _stopped(self.run, self.number, self.claim, why, status="skipped", samples=spent)

    def result(self, found: Sequence[Found]) -> ClaimResult:
        """Choose among the finalists by what is expected of each, draw, and bound."""
        tested = [one for one in found if one.tests]
        best = max(tested, key=lambda one: self.discovery.best_event(one, self.claim)[1])
        event, _ = self.discovery.best_event(best, self.claim)
        plan, size = self.run.plan, self.run.plan.size
        self.run.watcher.stage(f"confirming {statement(self.claim)} on fresh samples", 2 * size)
        counted = self.counted
        try:
            for side, instance in zip(counted, best.arm.inputs(), strict=True):
                hits(
                    self.run.mechanism,
                    instance,
                    size,
                    event,
                    seed=plan.seed,
                    key=("confirm", self.number, side),
                    jobs=plan.jobs,
                    progress=self.run.watcher.advance,
                    total=counted[side],
                    store=plan.store,
                )
        except Misbehaviour as error:
            why = f"{best.arm.label}, on the {side}: {error}"
            return self._told(best.arm, event, counted, why)
        return self._told(best.arm, event, counted)

    def _told(
        self, arm: Arm, event: AnyEvent, counted: dict[str, Hits], why: str | None = None
    ) -> ClaimResult:
        plan, claim, alpha = self.run.plan, self.claim, self.discovery.alpha
        ours = counted[event.side]
        theirs = counted["right" if event.side == "left" else "left"]
        samples = {
            "discovery": self.discovery.spent,
            "confirmation": ours.runs + theirs.runs,
        }
        if why is not None:
            got = (
                f"; so far {ours.inside} of {ours.runs} and {theirs.inside} of {theirs.runs} runs "
                "fell into the event looked at"
            )
            return _stopped(self.run, self.number, claim, why + got, samples=samples)
        size, x, y = plan.size, ours.inside, theirs.inside
        lower = float(lower_bound(x, size, y, size, alpha, claim.delta, method=plan.method))
        # Power is told for an event as likely as the one looked at; where that never or always
        # happens it can show nothing, and one that happens half the time stands for all others.
        base = y / size if 0 < y < size else 0.5 * math.exp(-min(claim.epsilon, 5.0))
        seen = _power(plan, claim, alpha, base)
        status = verdict(claim.epsilon, lower, seen)
        if status != "violated" and self.run.blocked:
            return _stopped(
                self.run, self.number, claim, "; ".join(self.run.blocked[:2]), samples=samples
            )
        return told(
            self.run,
            self.number,
            claim,
            arm,
            event,
            status=status,
            lower_bound=lower,
            exact=None,
            method=plan.method,
            samples=samples,
            detectable_epsilon=seen,
            counts={"inside": x, "inside_other": y, "runs_a_side": size},
            alpha=alpha,
        )


def _stopped(
    run: Run,
    number: int,
    claim: PrivacyClaim,
    why: str,
    *,
    status: Status = "error",
    samples: dict[str, int] | None = None,
) -> ClaimResult:
    """Return what is told of a claim that could not be confirmed."""
    return ClaimResult(
        id=f"{run.subject} #{number}",
        statement=statement(claim),
        source=claim.source,
        status=status,
        claimed={"epsilon": claim.epsilon, "delta": claim.delta},
        method=why,
        samples=samples or {},
    )


def _power(plan: Plan, claim: PrivacyClaim, alpha: float, base: float) -> float:
    """Return the smallest ε that this many samples would have shown to break the claim.

    An event as likely as the one looked at may be too likely to show a large loss at all, so
    rarer ones are considered too, and the most telling counts.
    """
    score = plan.method == "exact" and plan.size >= POWER_BY_SCORE
    method = "score" if score else plan.method
    largest = math.exp(-min(claim.epsilon, 30.0))
    bases = {q for q in (base, 0.5 * largest, 0.1 * largest) if 0 < q < 1}
    return min(
        float(detectable(plan.size, q, alpha, claim.delta, 0.95, method, claim.epsilon))
        for q in bases
    )
