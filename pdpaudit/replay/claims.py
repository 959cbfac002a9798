"""Re-run the witness of a claim, and compare all that is shown of the claim with it.

A result is somebody else's file: nothing it shows is believed. The claim's result is built again
from its witness alone (which mechanism, which pair, which event, which samples) and every field of
it compared with the file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import stats

from pdpaudit import __version__
from pdpaudit.auditing.candidate_pairs import CandidatePair, network_candidate, recorded_pair
from pdpaudit.auditing.claim_results import AuditContext, Evidence
from pdpaudit.auditing.config import BUDGETS, SEQUENTIAL, Config, Silent
from pdpaudit.auditing.confirmation import Chosen, Confirmation, Power
from pdpaudit.auditing.exact_verdict import METHOD, exact_claim
from pdpaudit.auditing.first_difference import explained
from pdpaudit.auditing.other_claims import Weighed
from pdpaudit.auditing.sequential import Looks
from pdpaudit.auditing.side_channels import REPRESENTATION, SAMPLES, observed
from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.errors import InputError, Misbehaviour
from pdpaudit.core.network import PROTECTED
from pdpaudit.core.privacy_loss import ExactLoss, loss_for
from pdpaudit.core.protocols import Law, LawUnavailable
from pdpaudit.core.registry import Find
from pdpaudit.core.subject import Subject
from pdpaudit.core.variants import Variant, related
from pdpaudit.inference import ErrorBudget
from pdpaudit.inference.certificate import PROVED, certified, check_certificate
from pdpaudit.inference.sequential import Known, look_sizes
from pdpaudit.outputs import JSON, Event, equal_is_same, flatten
from pdpaudit.replay.trust import compared, differences, finder, made_again, of_witness
from pdpaudit.report.findings import log_ratio
from pdpaudit.results.files import STATUS_WORDS, Fields
from pdpaudit.results.pairs import NetworkPair, Pair, ReadNetwork
from pdpaudit.results.results import ClaimResult
from pdpaudit.results.witnesses import AuditWitness

#: Probability of two counts so different, drawn from one mechanism, that they count as of two.
DIFFERENT = 1e-6

#: What the event must show of the loss, up to rounding.
CLOSE = 1e-6


@dataclass(frozen=True)
class Replay:
    """Whether a witness shows again what it showed."""

    subject: str
    reproduced: bool | None
    why: str


@dataclass(frozen=True)
class Terms:
    """How the witnesses of one result are re-run."""

    seed: int
    version: str
    read: ReadNetwork
    jobs: int = 1
    find: Find = field(default_factory=lambda: finder(trust=False))
    complete: bool = True


@dataclass(frozen=True)
class _Again:
    """What a witness is about, made again."""

    context: AuditContext
    number: int
    promise: PrivacyClaim
    candidate: CandidatePair
    event: Event
    note: str


def replay_claim(claim: JSON, terms: Terms, named: Mapping[str, str] | None = None) -> Replay:
    """Re-run the witness of one claim."""
    witness, name = claim.get("witness"), str(claim.get("id", "claim"))
    if not isinstance(witness, Mapping) or witness.get("kind") != "audit":
        raise InputError(f"{name}: holds no witness of an audit, so there is nothing to replay")
    filed = ClaimResult.from_json(Fields(claim, f"{name}: is damaged", ""))
    known = filed.witness
    assert known is not None
    with of_witness(name, "audit"):
        try:
            if copied := _not_copied(filed, known):
                return Replay(name, False, copied)
            again = _again(known, terms)
            if known.event.to_json() != witness.get("event"):
                raise KeyError("event")
            if known.unseeded:
                return _drawn_anew(filed, known, again)
            exact = known.method in (METHOD, PROVED)
            rebuilt, words = (_exact if exact else _sampled)(filed, known, again, terms)
            if filed.first_difference is not None:
                runs, mechanism = filed.first_difference.runs, again.context.mechanism
                rebuilt = explained(rebuilt, mechanism, again.candidate, terms.seed, runs)
            fields = {"id": name} if named is None else named
            body = replace(rebuilt, **fields).to_json()  # type: ignore[arg-type]
        except (_Unlike, Misbehaviour, LawUnavailable) as error:
            return Replay(name, False, str(error))
    wrong = list(differences(body, dict(claim), complete=terms.complete))
    if wrong:
        return Replay(name, False, f"{words}, but {compared(wrong)}")
    return Replay(name, True, words + again.note)


class _Unlike(Exception):
    """What is not as on file, in one sentence."""


def _not_copied(claim: ClaimResult, witness: AuditWitness) -> str:
    """Say what is shown otherwise than the witness has it, before any of it is run."""
    event, counts = claim.event.definition, claim.event.counts
    same = {
        "event": event is not None and event.to_json() == witness.event.to_json(),
        "pair": claim.pair == witness.pair.shown,
        "claim.method": claim.method == witness.method,
    }
    if witness.method not in (METHOD, PROVED):
        same["claim.confidence"] = claim.confidence == witness.confidence
        if witness.method != SEQUENTIAL:
            same["event.runs_a_side"] = (counts and counts.runs_a_side) == witness.samples
    other = next((key for key, is_so in same.items() if not is_so), None)
    return f"{other} is not what the witness says" if other else ""


def _again(witness: AuditWitness, terms: Terms) -> _Again:
    """Make mechanism, pair and event of a witness again."""
    spec = witness.mechanism
    if spec is None:
        raise KeyError("mechanism")
    made, known = made_again(spec, terms.find)
    blanks = {key: None for key, value in spec.parameters.items() if value is None}
    known = replace(known, parameters={**blanks, **known.parameters})
    mechanism, note = observed(made, spec.observe), ""
    if spec.claimed is not None:
        own = f"is {mechanism.claim.statement}" if mechanism.claims_something else "is missing"
        mechanism = Variant(mechanism, claim=spec.claimed)
        given = f" by {spec.claimed.source}" if spec.claimed.source else ""
        note = f"; the claim is given{given}, the mechanism's own {own}"
    if spec.relation is not None:
        mechanism = related(mechanism, spec.relation)
    claims, number = mechanism.claims, witness.claim
    if spec.beginning:
        mechanism = mechanism.beginning()
    kept = ("observe", "claimed", "relation", "beginning")
    known = replace(known, **{key: getattr(spec, key) for key in kept})
    if not mechanism.repeatable:
        raise InputError("what is observed differs from run to run; nothing can be replayed")
    if type(number) is not int or not 1 <= number <= len(claims):
        raise IndexError(f"the mechanism makes {len(claims)} claims, none of number {number!r}")
    if witness.seed != terms.seed:
        raise _Unlike(f"witness.seed is {witness.seed!r}, the result's {terms.seed}")
    config = _config(witness, terms)
    try:
        candidate = candidate_of(witness.pair, mechanism, terms.seed, terms.read)
    except InputError:
        raise
    except ValueError as error:
        raise _Unlike(f"the witness is no neighbouring pair: {error}") from None
    context = AuditContext(mechanism, "", known, config, Silent(), witness.file)
    return _Again(context, number, claims[number - 1], candidate, witness.event, note)


def candidate_of(pair: Pair, mechanism: object, seed: int, read: ReadNetwork) -> CandidatePair:
    """Build the inputs of a witness's pair: two networks, or those the mechanism brings."""
    if isinstance(pair, NetworkPair):
        built = pair.build(seed, read)
        if built.relation != (Subject.of(mechanism).relation or PROTECTED):
            raise ValueError(f"{built.relation} is not the relation that was audited")
        return network_candidate(built)
    found = recorded_pair(Subject.of(mechanism), pair)
    # Older results call a pair by its name or number alone.
    if pair.words in (found.label, f"pair {pair.number}"):
        return replace(found, label=pair.words, there="", back="")
    return found


def _config(witness: AuditWitness, terms: Terms) -> Config:
    """Return what the audit was asked for."""
    config = Config(terms.seed, jobs=terms.jobs)
    if witness.mechanism and witness.mechanism.observe not in (None, REPRESENTATION):
        config = replace(config, default_samples=SAMPLES)
    if witness.method in (METHOD, PROVED):
        plans = (replace(config, budget=budget) for budget in BUDGETS)
        return next((plan for plan in plans if plan.size == witness.samples), config)
    if witness.confidence is None:
        raise KeyError("confidence")
    asked = ("samples", "confidence", "method", "detect")
    try:
        return replace(config, **{key: getattr(witness, key) for key in asked})
    except InputError as error:
        raise KeyError(str(error)) from None


def _exact(
    claim: ClaimResult, witness: AuditWitness, again: _Again, terms: Terms
) -> tuple[ClaimResult, str]:
    """Compute the loss again, and verify its certificate where it has one."""
    mechanism, event = again.context.mechanism, again.event
    if not mechanism.has("law"):
        raise InputError("the mechanism has no exact law any more; audit again")
    left, right = again.candidate.inputs()
    laws = mechanism.law(left), mechanism.law(right)
    loss = loss_for(*laws, again.promise)
    inside = frozenset(output for output in loss.outputs if output in event)
    chances = _chance(laws[0], inside), _chance(laws[1], inside)
    ours, theirs = chances if event.side == "left" else reversed(chances)
    shown = log_ratio(ours, theirs, again.promise.delta)
    # An event shows a part of a divergence only: what the laws say is computed again from them.
    if again.promise.approximate and shown < loss.epsilon - CLOSE * max(1.0, loss.epsilon):
        raise _Unlike(f"the event shows a loss of {shown:.6g}, the pair loses {loss.epsilon:.10g}")
    loss = replace(loss, probabilities=chances, event=inside, side=event.side)
    ends = _ends_of(witness, loss)
    evidence = Evidence(again.context, again.number, again.promise, again.candidate, event)
    rebuilt: ClaimResult = exact_claim(evidence, laws, loss, ends)
    words = f"exact loss {loss.epsilon:.10g} computed again"
    reason = claim.event.unproved
    if witness.method == PROVED:
        sides = (left, right) if event.side == "left" else (right, left)
        holds, words = check_certificate(claim, mechanism, event, inside, *sides)
        if not holds:
            raise _Unlike(words)
        if witness.certificate is not None:
            rebuilt = certified(rebuilt, witness.certificate)
    elif reason and rebuilt.status == "violated":
        rebuilt = replace(rebuilt, event=replace(rebuilt.event, unproved=reason))
    return rebuilt, words


def _ends_of(witness: AuditWitness, loss: ExactLoss) -> tuple[float, float]:
    """Return what all pairs lose at most and leave out: no less than this one does."""
    own = loss.at_most, loss.left_out
    if witness.ends is None:
        return own
    most, left_out = witness.ends
    if not (most >= own[0] - CLOSE and left_out >= own[1]):
        raise _Unlike(f"this pair alone loses up to {own[0]:.6g}, all of them {most:.6g} on file")
    return most, left_out


def _chance(law: Law, inside: frozenset[object]) -> float:
    """Return the probability of some outputs; at most, where the law leaves one of them out."""
    known: Mapping[Any, float] = law.probabilities
    if not equal_is_same([*known, *inside]):  # 1 and True are equal, and two outputs
        known = {flatten(output): chance for output, chance in known.items()}
        inside = frozenset(map(flatten, inside))
    listed = [float(known.get(output, 0.0)) for output in inside]
    whole = all(chance > 0 for chance in listed)
    return sum(listed) if whole else min(1.0, sum(listed) + law.missing)


def _recorded(claim: ClaimResult, witness: AuditWitness) -> Power:
    """Return the power on file, which only the whole audit measures again.

    No less is believed than what the best event, known in advance, would need.
    """
    recorded = witness.detectable
    if recorded is None:  # older results say it only where it is shown
        recorded = claim.detectable_epsilon

    def measure(least: float, chance: Callable[[float, float], float]) -> float:
        if recorded is None or recorded < least * (1 - CLOSE):
            raise _Unlike(f"no loss below {least:.4g} would have been found, on file {recorded}")
        return recorded

    if witness.looks is None:
        return Power(measure)
    return Power(measure, looks=Looks([*witness.looks], bool(witness.enough), witness.detect))


def _drawn_anew(claim: ClaimResult, witness: AuditWitness, again: _Again) -> Replay:
    """Draw other runs at the recorded pair and event: the verdict, and counts that could be alike.

    A violation is looked for in all runs that the audit could have taken: one that was certain
    early is as likely as not to be so at the same number of other runs.
    """
    context, name = again.context, claim.id
    if context.mechanism.seedable:
        raise _Unlike("the witness says that it has no seed, the mechanism does not")
    violated = claim.status == "violated"
    looks = look_sizes(context.config.size) if violated else list(witness.looks or ())
    planned = Looks(looks, enough=False, wanted=witness.detect) if witness.looks else None
    power = Power(lambda least, chance: math.inf, looks=planned)
    rebuilt = _confirmed(witness, again, power, spent=0)
    promised = replace(rebuilt.promise, source=claim.source)
    if (claim.statement, claim.promise) != (rebuilt.statement, promised):
        raise _Unlike("the claim is not what the mechanism says")
    shown, fresh = claim.event.counts, rebuilt.event.counts
    if shown is None or fresh is None:
        raise _Unlike("no runs were counted")
    n, m = fresh.runs_a_side, shown.runs_a_side
    pairs = (fresh.inside, shown.inside), (fresh.inside_other, shown.inside_other)
    counts = [f"{x:,} of {n:,} (on file {y:,} of {m:,})" for x, y in pairs]
    words = f"drawn anew, {' and '.join(counts)} runs fell into the event"
    if not all(_alike((x, n), (y, m)) for x, y in pairs):
        return Replay(name, False, f"{words}, which is not the same mechanism")
    if (rebuilt.status == "violated") != violated:
        return Replay(name, False, f"{words}: {STATUS_WORDS[rebuilt.status]} this time")
    return Replay(name, True, f"{words}; lower bound {rebuilt.lower_bound:.4g}{again.note}")


def _confirmed(witness: AuditWitness, again: _Again, power: Power, spent: int) -> ClaimResult:
    """Confirm the event of a witness again."""
    context = again.context
    budget = ErrorBudget(1 - context.config.confidence, len(context.mechanism.claims))
    weighed = None if witness.weighed is None else Weighed.of(witness.weighed)
    ladder = witness.ladder or ()
    chosen = Chosen(again.candidate, again.event, ladder, Known(*witness.known or ()), weighed)
    single = bool(witness.single)
    confirmation = Confirmation(context, again.number, again.promise, budget.share, spent, single)
    rebuilt = confirmation.result(chosen, power)
    if rebuilt.status == "error":
        raise _Unlike(rebuilt.method)
    return rebuilt


def _alike(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Say whether two counts could have one probability, wrongly not in one of a million."""
    table = np.array([[inside, runs - inside] for inside, runs in (one, other)])
    return float(stats.fisher_exact(table).pvalue) > DIFFERENT


def _sampled(
    claim: ClaimResult, witness: AuditWitness, again: _Again, terms: Terms
) -> tuple[ClaimResult, str]:
    """Draw again from the same streams, and bound again."""
    if terms.version != __version__:
        raise InputError(
            f"sampled by pdpaudit {terms.version}, this is {__version__}, whose samples may "
            "differ; install that version, or audit again"
        )
    spent = claim.samples["discovery"]
    rebuilt = _confirmed(witness, again, _recorded(claim, witness), spent)
    if witness.ladder is None:
        # Older results do not say which other thresholds were counted.
        rebuilt = replace(rebuilt, inference=claim.inference)
    seen = rebuilt.event.counts
    if seen is None:
        raise _Unlike(rebuilt.method)
    return rebuilt, (
        f"{seen.inside} and {seen.inside_other} of {seen.runs_a_side} runs fell into the event, "
        f"drawn again; lower bound {rebuilt.lower_bound:.6g}"
    )
