"""Audit by sampling: discover on some samples, confirm on others.

Discovery is adaptive, so nothing it sees is evidence: the pair and the event it settles on are
confirmed on fresh samples, drawn once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.audit.arms import Arm
from pdpaudit.audit.climbing import Found, by_score, climb
from pdpaudit.audit.plan import Plan, Watcher
from pdpaudit.audit.telling import Run, statement, told
from pdpaudit.contracts import Mechanism, PrivacyClaim
from pdpaudit.evidence import METHODS, detectable, lower_bound
from pdpaudit.evidence.event import Event, count_inside
from pdpaudit.registry import registered
from pdpaudit.results import ClaimResult, Status
from pdpaudit.sampling import tally

__all__ = ["by_samples", "verdict"]

Floats = npt.NDArray[np.float64]
Bound = Callable[[Floats, Floats], Floats]

#: How much discovery may cost, as a multiple of the confirming samples a side, where many outputs
#: are drawn at once and where each is a run of its own.
DISCOVERY = {"batched": 10, "single": 1}

#: Fewest runs a side that tell arms apart at all, and how sharply each round cuts.
FEWEST_RUNS = 200
CUT = 4

#: Arms measured once more before one is chosen.
FINALISTS = 8

#: Rounds of local moves.
MOVES = 4


def by_samples(
    run: Run, arms: Sequence[Arm], claims: Sequence[PrivacyClaim]
) -> tuple[list[Found], list[ClaimResult]]:
    """Discover on one set of samples, confirm on another."""
    plan, mechanism = run.plan, run.mechanism
    size, alpha = plan.size, (1 - plan.confidence) / len(claims)
    choose_event: Any = registered("events")[0].load()

    def bound_at(delta: float) -> Callable[[Floats, Floats], Floats]:
        # Discovery only ranks events, so the bound that is quickest over many will do.
        rough = METHODS["clopper-pearson"]
        return lambda x, y: rough(x, size, y, size, alpha, delta)

    def choose(one: Found, bound: Callable[[Floats, Floats], Floats], planned: int) -> Any:
        choice = choose_event(*one.halves, planned, bound)
        return choice.event, choice.expected

    kind = "batched" if hasattr(mechanism, "sample") else "single"
    found = _search(
        mechanism,
        arms,
        choose,
        bound_at(claims[0].delta),
        size,
        size * DISCOVERY[kind],
        seed=plan.seed,
        jobs=plan.jobs,
        watcher=run.watcher,
    )
    spent = sum(one.runs for one in found)
    results: list[ClaimResult] = []
    try:
        for number, claim in enumerate(claims, start=1):
            bound = bound_at(claim.delta)
            chosen = [(choose(one, bound, size), one.arm) for one in found[:FINALISTS]]
            (event, _), arm = max(chosen, key=lambda item: item[0][1])
            results.append(_confirm(run, number, claim, arm, event, alpha, spent))
    except KeyboardInterrupt:
        if not results:
            raise
        for number, claim in enumerate(claims[len(results) :], start=len(results) + 1):
            results.append(
                ClaimResult(
                    id=f"{run.subject} #{number}",
                    statement=statement(claim),
                    source=claim.source,
                    status="skipped",
                    claimed={"epsilon": claim.epsilon, "delta": claim.delta},
                    method="interrupted before this claim was confirmed",
                )
            )
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


def _search(
    mechanism: Mechanism,
    arms: Sequence[Arm],
    choose: Callable[[Found, Bound, int], tuple[Event, float]],
    bound: Bound,
    size: int,
    runs: int,
    *,
    seed: int,
    jobs: int,
    watcher: Watcher,
) -> list[Found]:
    """Find the arms with the best expected evidence by successive halving, then climb.

    Too many arms for the runs that may be spent are cut short, all families alike.

    Parameters
    ----------
    choose : callable
        Chooses an event from discovery counts and says what bound to expect.
    bound, size : callable, int
        The bound at the planned number of fresh samples a side.
    runs : int
        Runs a side to spend in all.

    Returns
    -------
    list of Found
        Everything measured, what was measured most and looks best first.
    """
    if len(arms) * FEWEST_RUNS * 2 > runs:
        arms = arms[: max(1, runs // (2 * FEWEST_RUNS))]
    rounds = max(1, math.ceil(math.log(len(arms), CUT)))
    spend = runs // (rounds + 2)
    watcher.stage("looking for the pair that leaks most", 2 * runs)
    found, dropped = [Found(arm) for arm in arms], list[Found]()
    for turn in range(rounds):
        each = max(FEWEST_RUNS, spend // len(found))
        for one in found:
            _sample(mechanism, one, each, seed, f"halving {turn}", jobs, watcher)
            one.score = choose(one, bound, size)[1]
        found = by_score(found)
        keep = max(1, math.ceil(len(found) / CUT))
        found, dropped = found[:keep], found[keep:] + dropped
    moves = MOVES
    each = max(FEWEST_RUNS, spend // (moves * 12))

    def measure(arm: Arm) -> Found:
        one = Found(arm)
        _sample(mechanism, one, each, seed, "climbing", jobs, watcher)
        one.score = choose(one, bound, size)[1]
        return one

    found = by_score(climb(found[0], found, measure, moves, seed))
    finalists, dropped = found[:FINALISTS], found[FINALISTS:] + dropped
    for one in finalists:
        each = max(FEWEST_RUNS, spend // len(finalists))
        _sample(mechanism, one, each, seed, "finalists", jobs, watcher)
        one.score = choose(one, bound, size)[1]
    return by_score(finalists) + dropped


def _sample(
    mechanism: Mechanism,
    one: Found,
    size: int,
    seed: int,
    purpose: str,
    jobs: int,
    watcher: Watcher,
) -> None:
    """Add ``size`` discovery runs a side, split into the two halves."""
    split = (size // 2, size - size // 2)
    for side, instance in enumerate(one.arm.inputs()):
        for half, runs in enumerate(split):
            key = ("discover", purpose, one.arm.label, one.runs, side, half)
            one.halves[side][half].update(
                tally(
                    mechanism,
                    instance,
                    runs,
                    seed=seed,
                    key=key,
                    jobs=jobs,
                    progress=watcher.advance,
                )
            )
    one.runs += 2 * size


def _confirm(
    run: Run,
    number: int,
    claim: PrivacyClaim,
    arm: Arm,
    event: Event,
    alpha: float,
    spent: int,
) -> ClaimResult:
    """Draw fresh samples for one claim and bound its ε."""
    plan, size = run.plan, run.plan.size
    run.watcher.stage(f"confirming {statement(claim)} on fresh samples", 2 * size)
    hits = {}
    for side, instance in zip(("left", "right"), arm.inputs(), strict=True):
        counts = tally(
            run.mechanism,
            instance,
            size,
            seed=plan.seed,
            key=("confirm", number, side),
            jobs=plan.jobs,
            progress=run.watcher.advance,
        )
        hits[side] = count_inside(event, counts)
    x, y = (hits["left"], hits["right"]) if event.side == "left" else (hits["right"], hits["left"])
    lower = float(lower_bound(x, size, y, size, alpha, claim.delta, method=plan.method))
    # Power is told for an event as likely as the one looked at; where that never or always
    # happens it can show nothing, and one that happens half the time stands for all others.
    base = y / size if 0 < y < size else 0.5 * math.exp(-min(claim.epsilon, 5.0))
    seen = detectable(size, base, alpha, claim.delta, method=plan.method, claimed=claim.epsilon)
    return told(
        run,
        number,
        claim,
        arm,
        event,
        status=verdict(claim.epsilon, lower, seen),
        lower_bound=lower,
        exact=None,
        method=plan.method,
        samples={"discovery": spent, "confirmation": 2 * size},
        detectable_epsilon=seen,
        counts={"inside": x, "inside_other": y, "runs_a_side": size},
        alpha=alpha,
    )


def _power(plan: Plan, claim: PrivacyClaim, alpha: float, base: float) -> float:
    """Return the smallest ε that this many samples would have shown to break the claim.

    An event as likely as the one looked at may be too likely to show a large loss at all, so
    rarer ones are considered too, and the most telling counts.
    """
    largest = math.exp(-min(claim.epsilon, 30.0))
    bases = {q for q in (base, 0.5 * largest, 0.1 * largest) if 0 < q < 1}
    return min(
        float(detectable(plan.size, q, alpha, claim.delta, 0.95, plan.method, claim.epsilon))
        for q in bases
    )
