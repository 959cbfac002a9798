"""Audit by sampling: discover on some samples, confirm on others.

Discovery is adaptive, so nothing it sees is evidence: the pair and the event it settles on are
confirmed on fresh samples, drawn once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pdpaudit.audit.arms import Arm
from pdpaudit.audit.climbing import Found, by_score, climb, empty_halves
from pdpaudit.audit.plan import Plan
from pdpaudit.audit.telling import Run, statement, told
from pdpaudit.contracts import PrivacyClaim
from pdpaudit.errors import InputError
from pdpaudit.evidence import ErrorBudget, detectable, lower_bound
from pdpaudit.evidence.aim import Aim
from pdpaudit.evidence.event import AnyEvent, Several
from pdpaudit.registry import registered
from pdpaudit.results import ClaimResult, Status
from pdpaudit.sampling import Draws, Hits, Misbehaviour, draw, hits

__all__ = ["by_samples", "verdict"]

#: How much discovery may cost, as a multiple of the confirming samples a side: where each output
#: is a run of its own, and where many are drawn at once, for few pairs and for many.
SINGLE = 1.0
BATCHED_LEAST, BATCHED_MOST = 1.0, 10.0
ARMS_PER_SAMPLE = 12

#: Fewest runs a side that tell arms apart at all.
FEWEST_RUNS = 200

#: How sharply each round of halving cuts, where there are few arms and where there are many.
FEW, CUT_FEW, CUT_MANY = 16, 2, 4

#: Arms measured once more before one is chosen.
FINALISTS = 8

#: Rounds of local moves.
MOVES = 4

#: Share of discovery that goes into testing the finalists' events on samples of their own.
TESTING = 0.4

#: Standard errors given away when events are chosen among many, and among the few tested.
CAUTION, TEST_CAUTION = 1.0, 0.5

#: Runs drawn twice from the same stream, to see that they depend on nothing else.
TWICE = 32

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
        If interrupted before anything was confirmed.
    """
    discovery = _Discovery(run, claims, ErrorBudget(1 - run.plan.confidence, len(claims)).share)
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
        try:
            results.append(_Confirmation(run, number, claim, discovery).result(found))
        except KeyboardInterrupt:
            if not results:
                raise
            why = "interrupted before this claim was confirmed"
            for later, left in enumerate(claims[number - 1 :], start=number):
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


class _Discovery:
    """The search for a pair and an event, and what it has spent.

    Parameters
    ----------
    run : Run
        What is audited and how.
    claims : sequence of PrivacyClaim
        The first is the one to search for.
    alpha : float
        Error level at which each event will be confirmed.
    """

    def __init__(self, run: Run, claims: Sequence[PrivacyClaim], alpha: float) -> None:
        self.run, self.claims, self.alpha = run, claims, alpha
        self.spent = self._measured = 0
        self._choose: Any = registered("events")[0].load()
        limit = run.plan.time_limit
        self._until = math.inf if limit is None else time.monotonic() + limit

    def check_repeatable(self, arm: Arm) -> None:
        """Refuse a mechanism that takes randomness from elsewhere: nothing could be replayed."""
        plan, instance = self.run.plan, arm.inputs()[0]
        once, again = (
            draw(self.run.mechanism, instance, TWICE, seed=plan.seed, key=("discover", "twice"))
            for _ in range(2)
        )
        self.spent += 2 * TWICE
        rows = (once.rows, again.rows)
        if once.counts != again.counts or not np.array_equal(
            *rows, equal_nan=rows[0].dtype.kind == "f"
        ):
            raise Misbehaviour(
                "the same random stream gave other outputs the second time, so it takes randomness "
                "from elsewhere, or remembers, and nothing could be replayed; draw everything from "
                "the rng it is given"
            )

    def aim(self, claim: PrivacyClaim, caution: float) -> Aim:
        """Return what a claim will be confirmed with."""
        return Aim(self.run.plan.size, self.alpha, claim.delta, caution)

    def search(self, arms: Sequence[Arm]) -> list[Found]:
        """Find the arms with the best expected evidence by successive halving, then climb.

        Too many arms for the runs that may be spent are cut short, all families alike.

        Returns
        -------
        list of Found
            Everything measured, what was measured most and looks best first.
        """
        runs = self._runs_a_side(len(arms))
        arms = list(arms)[: self.run.plan.tries]
        if len(arms) * FEWEST_RUNS * 2 > runs:
            arms = arms[: max(1, runs // (2 * FEWEST_RUNS))]
        cut = CUT_FEW if len(arms) <= FEW else CUT_MANY
        rounds = max(1, math.ceil(math.log(len(arms), cut)))
        climbs = arms[0].pair is not None
        spend = int(runs * (1 - TESTING) / (rounds + climbs))
        self.run.watcher.stage("looking for the pair that leaks most", 2 * runs)
        found, dropped = [Found(arm) for arm in arms], list[Found]()
        for turn in range(rounds):
            each = max(FEWEST_RUNS, spend // len(found))
            measured = [one for one in found if self._measure(one, each, f"halving {turn}")]
            if not measured:
                break
            measured = by_score(measured)
            keep = max(1, math.ceil(len(measured) / cut))
            dropped = [*measured[keep:], *dropped]
            for one in measured[keep:]:
                one.halves = empty_halves()
            found = measured[:keep]
        self._refuse_nothing(found, dropped)
        each = max(FEWEST_RUNS, spend // (MOVES * 12))

        def measure(arm: Arm) -> Found:
            one = Found(arm)
            self._measure(one, each, "climbing")
            return one

        found = by_score(climb(found[0], found, measure, MOVES, self.run.plan.seed))
        finalists, dropped = found[:FINALISTS], found[FINALISTS:] + dropped
        each = max(FEWEST_RUNS, int(runs * TESTING) // len(finalists))
        for one in finalists:
            self._test(one, each)
        return [one for one in by_score(finalists) + dropped if one.runs]

    def _runs_a_side(self, arms: int) -> int:
        size = self.run.plan.size
        if not hasattr(self.run.mechanism, "sample"):
            return int(size * SINGLE)
        return int(size * min(max(arms / ARMS_PER_SAMPLE, BATCHED_LEAST), BATCHED_MOST))

    def _measure(self, one: Found, size: int, purpose: str) -> bool:
        """Add ``size`` discovery runs a side and score anew; say whether that was possible."""
        if time.monotonic() > self._until and self._measured:
            self.run.remark("the time limit ended the search")
            return one.score > -math.inf
        self._measured += 1
        failed = {}
        for place, (side, instance) in enumerate(
            zip(("left", "right"), one.arm.inputs(), strict=True)
        ):
            try:
                for half, runs in enumerate((size // 2, size - size // 2)):
                    key = ("discover", purpose, one.arm.label, one.runs, place, half)
                    self._draw(one, instance, runs, place, half, key)
            except Misbehaviour as error:
                failed[side] = str(error)
        if failed:
            self.run.blocked.append(_blocked(one.arm, failed))
            one.score, one.halves = -math.inf, empty_halves()
            return False
        one.runs += 2 * size
        aim = self.aim(self.claims[0], CAUTION)
        one.score = self._choose(*one.halves, aim, thorough=False).expected
        return True

    def _test(self, one: Found, size: int) -> None:
        """Choose events, and see on other samples which of them holds what it promises.

        Where much is tried, what looks best owes some of it to chance, and what is rare the most.
        """
        if one.score == -math.inf:
            return
        for delta in dict.fromkeys(claim.delta for claim in self.claims):
            aim = self.aim(replace(self.claims[0], delta=delta), CAUTION)
            choice = self._choose(*one.halves, aim)
            one.events += [choice.event, *(other.event for other in choice.others)]
        one.halves = empty_halves()
        together = Several(tuple(one.events))
        inside = []
        try:
            for place, instance in enumerate(one.arm.inputs()):
                counted = self._hits(together, instance, size, one.arm.label, place)
                inside.append(counted.inside)
        except Misbehaviour as error:
            self.run.blocked.append(f"{one.arm.label}: {error}")
            one.score, one.events = -math.inf, []
            return
        one.tested = [(int(x), int(y)) for x, y in zip(*inside, strict=True)]
        one.tests = size
        one.runs += 2 * size
        one.score = self.best_event(one, self.claims[0])[1]

    def _hits(self, event: Several, instance: Any, size: int, label: str, place: int) -> Hits:
        counted = hits(
            self.run.mechanism,
            instance,
            size,
            event,
            seed=self.run.plan.seed,
            key=("discover", "testing", label, place),
            jobs=self.run.plan.jobs,
            progress=self.run.watcher.advance,
        )
        self.spent += size
        return counted

    def best_event(self, one: Found, claim: PrivacyClaim) -> tuple[AnyEvent, float]:
        """Return the tested event that promises most for a claim, and what."""
        sides = [
            (x, y) if event.side == "left" else (y, x)
            for event, (x, y) in zip(one.events, one.tested, strict=True)
        ]
        ours, theirs = np.array(sides, dtype=np.float64).T
        aim = self.aim(claim, TEST_CAUTION)
        expected = aim.expected(ours, one.tests, theirs, one.tests)
        pick = int(np.argmax(expected))
        return one.events[pick], float(expected[pick])

    def _draw(
        self,
        one: Found,
        instance: Any,
        runs: int,
        place: int,
        half: int,
        key: tuple[str | int, ...],
    ) -> None:
        draws = draw(
            self.run.mechanism,
            instance,
            runs,
            seed=self.run.plan.seed,
            key=key,
            jobs=self.run.plan.jobs,
            progress=self.run.watcher.advance,
        )
        self.spent += runs
        one.halves[place][half].update(draws)
        self._remark(draws)

    def _remark(self, draws: Draws) -> None:
        for words in draws.failures.values():
            self.run.remark(f"some runs raised {words}; that counts as an output")
        if draws.printed:
            self.run.remark("it printed to standard output, which was swallowed")

    def _refuse_nothing(self, found: Sequence[Found], dropped: Sequence[Found]) -> None:
        """Refuse to judge a mechanism that never gave an output."""
        alive = [one for one in found if one.score > -math.inf]
        if not alive:
            raise Misbehaviour("; ".join(self.run.blocked[:2]))
        outputs = {o for one in alive for side in one.halves for half in side for o in half.counts}
        real = any(len(half.rows) for one in alive for side in one.halves for half in side)
        if real or dropped or not outputs or not all(_is_failure(o) for o in outputs):
            return
        words = next(w for one in alive for w in one.halves[0][0].failures.values())
        if words.startswith("InputError: "):
            raise InputError(words.removeprefix("InputError: "))
        raise Misbehaviour(f"every run raised {words}")


@dataclass
class _Confirmation:
    """One claim on fresh samples."""

    run: Run
    number: int
    claim: PrivacyClaim
    discovery: _Discovery

    def result(self, found: Sequence[Found]) -> ClaimResult:
        """Choose among the finalists by what is expected of each, draw, and bound."""
        tested = [one for one in found if one.tests]
        best = max(tested, key=lambda one: self.discovery.best_event(one, self.claim)[1])
        event, _ = self.discovery.best_event(best, self.claim)
        plan, size = self.run.plan, self.run.plan.size
        self.run.watcher.stage(f"confirming {statement(self.claim)} on fresh samples", 2 * size)
        counted = {"left": Hits(), "right": Hits()}
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


def _blocked(arm: Arm, failed: dict[str, str]) -> str:
    """Say why a pair could not be measured, and whether that alone tells its sides apart."""
    told = [f"{arm.label}, on the {side}: {words}" for side, words in failed.items()]
    if len(failed) == 1:
        told.append("not so on the other side, which anyone who waits can see")
    return "; ".join(told)


def _is_failure(output: Any) -> bool:
    return isinstance(output, str) and output.startswith("error ")


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
