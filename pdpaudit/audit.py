"""The course of an audit: find a pair and an event, confirm on fresh samples, hold to the claim."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pdpaudit.contracts import LawfulMechanism, LawUnavailable, Mechanism, PrivacyClaim
from pdpaudit.describe import event_words, pair_json
from pdpaudit.discovery import (
    FINALISTS,
    Arm,
    Found,
    Watcher,
    arms_of,
    search_by_law,
    search_by_samples,
)
from pdpaudit.errors import InputError
from pdpaudit.evidence import METHODS, detectable, lower_bound
from pdpaudit.evidence.event import Event, count_inside, simplest
from pdpaudit.losses import ExactLoss
from pdpaudit.network import Network
from pdpaudit.registry import registered
from pdpaudit.results import ClaimResult, Result, Status
from pdpaudit.sampling import tally

__all__ = ["Plan", "audit", "claims_of", "verdict"]

Floats = npt.NDArray[np.float64]

#: An exact loss is computed to about 1e-10; a claim is broken by more than this.
EXACT_SLACK = 1e-9

#: How much discovery may cost, as a multiple of the confirming samples a side, where many outputs
#: are drawn at once and where each is a run of its own.
DISCOVERY = {"batched": 10, "single": 1}


class _Silent:
    def stage(self, words: str, total: int) -> None:
        """Say nothing."""

    def advance(self, done: int) -> None:
        """Say nothing."""


@dataclass(frozen=True)
class Plan:
    """What an audit may spend and how sure it must be.

    Attributes
    ----------
    seed : int
        Root of all randomness.
    samples : int, optional
        Fresh samples a side for each claim. None: use the exact law where there is one, and
        ``DEFAULT_SAMPLES`` where there is none.
    confidence : float
        That no true claim is called violated, over the whole command.
    method : str
        How ε is bounded from two counts; see :mod:`pdpaudit.evidence`.
    jobs : int
        Worker processes; never changes the result.

    Raises
    ------
    InputError
        For numbers outside their range.
    """

    seed: int
    samples: int | None = None
    confidence: float = 0.95
    method: str = "clopper-pearson"
    jobs: int = 1

    DEFAULT_SAMPLES = 100_000

    def __post_init__(self) -> None:
        """Refuse what cannot be carried out."""
        if self.samples is not None and self.samples <= 0:
            raise InputError(f"--samples {self.samples}: must be at least 1")
        if not 0 < self.confidence < 1:
            raise InputError(
                f"--confidence {self.confidence}: must lie between 0 and 1, for example 0.95"
            )
        if self.jobs == 0 or self.jobs < -1:
            raise InputError(f"--jobs {self.jobs}: give a number of processes, or -1 for all cores")

    @property
    def size(self) -> int:
        """Fresh samples a side for each claim that is sampled."""
        return self.DEFAULT_SAMPLES if self.samples is None else self.samples


@dataclass(frozen=True)
class _Context:
    mechanism: Mechanism
    subject: str
    spec: Mapping[str, Any]
    plan: Plan
    watcher: Watcher
    file: dict[str, Any] | None = field(default=None)


def claims_of(mechanism: Mechanism) -> tuple[PrivacyClaim, ...]:
    """Return everything a mechanism promises: ``claims`` where it has several, else ``claim``."""
    several: tuple[PrivacyClaim, ...] | None = getattr(mechanism, "claims", None)
    return (mechanism.claim,) if several is None else several


def audit(
    mechanism: Mechanism,
    networks: Sequence[Network],
    plan: Plan,
    *,
    subject: str,
    spec: Mapping[str, Any] | None = None,
    file: dict[str, Any] | None = None,
    watcher: Watcher | None = None,
) -> Result:
    """Try to break every claim of a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        What to audit.
    networks : sequence of Network
        Where to look for pairs; not used by a mechanism that brings pairs of its own.
    plan : Plan
        What to spend and how sure to be.
    subject : str
        What the user calls the mechanism.
    spec : mapping, optional
        How to make the mechanism again, for the witness.
    file : dict, optional
        How to read the network again, for the witness of one too large to write out.
    watcher : Watcher, optional
        Told of progress.

    Returns
    -------
    Result
        One :class:`ClaimResult` for each claim.

    Raises
    ------
    InputError
        If there is nothing to try: no pair within the degree bound.
    KeyboardInterrupt
        If interrupted before anything was confirmed; later, what was confirmed is returned.
    """
    began = time.monotonic()
    run = _Context(mechanism, subject, spec or {}, plan, watcher or _Silent(), file)
    arms = arms_of(mechanism, networks, plan.seed)
    if not arms:
        raise InputError(
            "no pair to try: nothing can be rewired within --max-degree; raise it, or give a "
            "network with protected vertices to rewire"
        )
    claims = claims_of(mechanism)
    results = None
    if plan.samples is None and isinstance(mechanism, LawfulMechanism):
        results = _by_law(run, arms, claims)
    if results is None:
        results = _by_samples(run, arms, claims)
    found, verdicts = results
    return Result(
        command="audit",
        subject=subject,
        seed=plan.seed,
        elapsed_s=time.monotonic() - began,
        claims=tuple(verdicts),
        context={
            "tried": _tried(found),
            "error_budget": _budget_words(plan, len(claims), exact=verdicts[0].exact is not None),
        },
    )


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


def _by_law(
    run: _Context, arms: Sequence[Arm], claims: Sequence[PrivacyClaim]
) -> tuple[list[Found], list[ClaimResult]] | None:
    """Compute; None where no law is available."""
    assert isinstance(run.mechanism, LawfulMechanism)
    deltas = list(dict.fromkeys(claim.delta for claim in claims))
    plan = run.plan
    try:
        found = search_by_law(
            run.mechanism,
            arms,
            deltas,
            seed=plan.seed,
            watcher=run.watcher,
        )
    except LawUnavailable:
        return None
    results = []
    for number, claim in enumerate(claims, start=1):
        worst = max(found, key=lambda one: one.losses[claim.delta].epsilon)
        loss = worst.losses[claim.delta]
        event = simplest(loss.outputs, loss.event, loss.side)
        broken = loss.epsilon > claim.epsilon + EXACT_SLACK
        results.append(
            _result(
                run,
                number,
                claim,
                worst.arm,
                event,
                status="violated" if broken else "not_rejected",
                lower_bound=loss.epsilon,
                exact=loss.epsilon,
                method="exact law",
                samples={"discovery": 0, "confirmation": 0},
                detectable_epsilon=max(claim.epsilon, EXACT_SLACK),
                counts=_exact_counts(loss),
            )
        )
    return found, results


def _by_samples(
    run: _Context, arms: Sequence[Arm], claims: Sequence[PrivacyClaim]
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
    found = search_by_samples(
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
                    statement=_statement(claim),
                    source=claim.source,
                    status="skipped",
                    claimed={"epsilon": claim.epsilon, "delta": claim.delta},
                    method="interrupted before this claim was confirmed",
                )
            )
    return found, results


def _confirm(
    run: _Context,
    number: int,
    claim: PrivacyClaim,
    arm: Arm,
    event: Event,
    alpha: float,
    spent: int,
) -> ClaimResult:
    """Draw fresh samples for one claim and bound its ε."""
    plan, size = run.plan, run.plan.size
    run.watcher.stage(f"confirming {_statement(claim)} on fresh samples", 2 * size)
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
    return _result(
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


def _result(
    run: _Context,
    number: int,
    claim: PrivacyClaim,
    arm: Arm,
    event: Event,
    *,
    status: Status,
    lower_bound: float,
    exact: float | None,
    method: str,
    samples: dict[str, int],
    detectable_epsilon: float,
    counts: dict[str, Any],
    alpha: float | None = None,
) -> ClaimResult:
    """Put together what is told of one claim."""
    name = str if arm.pair is None else arm.pair.network.name
    pair = (
        {"words": arm.label, "number": arm.number}
        if arm.pair is None
        else pair_json(arm.pair, event.side, run.file)
    )
    told = {**event.to_json(), "words": event_words(event, name), **counts}
    witness = {
        "kind": "audit",
        "mechanism": dict(run.spec),
        "claim": number,
        "pair": pair,
        "event": event.to_json(),
        "method": method,
        "seed": run.plan.seed,
        "samples": run.plan.size,
        "alpha": alpha,
    }
    return ClaimResult(
        id=f"{run.subject} #{number}",
        statement=_statement(claim),
        source=claim.source,
        status=status,
        claimed={"epsilon": claim.epsilon, "delta": claim.delta},
        lower_bound=lower_bound,
        exact=exact,
        confidence=None if exact is not None else run.plan.confidence,
        method=method,
        event=told,
        pair={key: value for key, value in pair.items() if key != "base"},
        samples=samples,
        detectable_epsilon=detectable_epsilon,
        witness=witness,
    )


def _exact_counts(loss: ExactLoss) -> dict[str, Any]:
    left, right = loss.probabilities
    ours, theirs = (left, right) if loss.side == "left" else (right, left)
    return {"probability": ours, "probability_other": theirs}


def _statement(claim: PrivacyClaim) -> str:
    """Say what is claimed, as in the field."""
    if claim.delta == 0:
        return f"{claim.epsilon:.6g}-protected DP"
    return f"({claim.epsilon:.6g}, {claim.delta:.3g})-protected DP"


def _tried(found: Sequence[Found]) -> dict[str, Any]:
    """Count what discovery looked at, by family and ground."""
    labels: dict[str, int] = {}
    for one in found:
        labels[one.arm.label] = labels.get(one.arm.label, 0) + 1
    return {"pairs": len(found), "by": labels}


def _budget_words(plan: Plan, claims: int, *, exact: bool) -> str:
    if exact:
        return "exact output laws: no sampling error"
    alpha = 1 - plan.confidence
    share = "" if claims == 1 else f", {alpha / claims:.3g} for each of {claims} claims"
    return f"chance of calling a true claim violated: at most {alpha:.3g}{share}"
