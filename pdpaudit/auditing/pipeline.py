"""The course of an audit: gather pairs, break what can be broken, build its result.

Several audits make one table: of a search's list and its side channels, and of each relation.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from threadpoolctl import threadpool_limits

from pdpaudit.auditing.candidate_pairs import MeasuredPair, candidate_pairs
from pdpaudit.auditing.claim_results import AuditContext, Prover, unconfirmed_claim
from pdpaudit.auditing.config import SEQUENTIAL, Config, Silent, Watcher
from pdpaudit.auditing.confirmation import audit_by_samples
from pdpaudit.auditing.exact_verdict import audit_by_law, by_beginning
from pdpaudit.auditing.first_difference import explained_result
from pdpaudit.auditing.provenance import origin_of
from pdpaudit.auditing.side_channels import ALL, OBSERVABLES, SAMPLES, WORDS, Observed
from pdpaudit.core.domains import Domain
from pdpaudit.core.errors import InputError, Misbehaviour
from pdpaudit.core.network import Network
from pdpaudit.core.protocols import LawUnavailable, SearchRound
from pdpaudit.core.specification import Specification
from pdpaudit.core.subject import Subject
from pdpaudit.core.variants import related, relations_of
from pdpaudit.inference import ErrorBudget
from pdpaudit.outputs.records import JSON
from pdpaudit.results.measurements import Family, Tried
from pdpaudit.results.results import ClaimResult, Result

#: What an audit says where nothing that is random happens.
NOTHING_LEFT = (
    "nothing left to find: the components of the seeds hold every target, so the search draws no "
    "noise and shows nothing of its claim; choose seeds that leave a component of targets to be "
    "found (where all targets form one component, none do)"
)


def audit(
    mechanism: object,
    networks: Sequence[Network],
    config: Config,
    *,
    subject: str,
    spec: Specification | None = None,
    file: dict[str, object] | None = None,
    watcher: Watcher | None = None,
    prover: Prover | None = None,
) -> Result:
    """Try to break every claim of a mechanism."""
    began, asked = time.monotonic(), Subject.of(mechanism)
    if not asked.repeatable:
        if config.store is not None:
            raise InputError(
                "`store`: what is observed differs from run to run, so what was drawn before is of "
                "no use; leave it out"
            )
        config = replace(config, jobs=1)  # other workers would disturb what is measured
    context = AuditContext(
        asked, subject, spec, config, watcher or Silent(), file, prover=prover, began=began
    )
    for words in getattr(asked.origin, "remarks", ()):
        context.remark(words)
    candidates = candidate_pairs(asked, networks, config.seed)
    if not candidates:
        raise InputError(
            "no pair to try: nothing can be rewired within `max_degree`; raise it, or give a "
            "network with protected vertices to rewire"
        )
    claims = asked.claims
    exact: tuple[list[MeasuredPair], Sequence[ClaimResult | None]] | None = None
    if config.samples is None and config.method != SEQUENTIAL and asked.has("law"):
        exact = audit_by_law(context, candidates, claims)
        exact = exact or by_beginning(context, candidates, claims)
    found, judged = exact or ([], [None] * len(claims))
    exactly = None not in judged
    if exactly and len(found) == len(candidates):
        _say_where_all(context)
    if not exactly:
        # Linear algebra here is on columns: more threads only wait for each other.
        with threadpool_limits(1, user_api="blas"):
            found, sampled = audit_by_samples(context, candidates, claims)
        judged = [
            law or context.proved(sample, None) for law, sample in zip(judged, sampled, strict=True)
        ]
    verdicts = [one for one in judged if one is not None]
    if _nothing_left(asked, networks):
        verdicts = [
            unconfirmed_claim(context, i, claim, NOTHING_LEFT, status="inconclusive")
            if one.status == "not_rejected"
            else one
            for i, (claim, one) in enumerate(zip(claims, verdicts, strict=True), start=1)
        ]
    result = Result(
        command="audit",
        subject=subject,
        seed=config.seed,
        elapsed_s=time.monotonic() - began,
        claims=tuple(verdicts),
        tried=_tried(found),
        error_budget=budget_words(config, len(claims), exact=exactly),
        law_compared=context.compared[-1] if exact and context.compared else None,
        remarks=tuple(context.remarks),
        context=_read(file),
        **origin_of(asked.origin),
    )
    until = context.until()
    return explained_result(result, asked, networks, until=until) if config.explain else result


def _read(file: dict[str, object] | None) -> dict[str, object]:
    """Return what a result says of the network read."""
    return {"network": file} if file else {}


def _say_where_all(context: AuditContext) -> None:
    """Say where the pairs tried are all that a domain has under its relation."""
    domain, relation = context.mechanism.domain, context.mechanism.relation
    if relation and isinstance(domain, Domain) and domain.complete(relation):
        context.remark(f"these are all pairs of neighbours among {domain.words}")


def _nothing_left(mechanism: Subject, networks: Sequence[Network]) -> bool:
    """Whether all targets are found from the seeds before a search draws any noise."""
    if mechanism.has("pairs") or not networks:
        return False
    with suppress(InputError, Misbehaviour, LawUnavailable):
        rounds = (mechanism.ask("search_round", one.instance()) for one in networks)
        return mechanism.has("search_round") and all(
            isinstance(one, SearchRound) and len(one.targets) == 0 for one in rounds
        )
    return False


def _tried(found: Sequence[MeasuredPair]) -> Tried:
    """Count what discovery looked at, by family and network."""
    families = Counter(
        (one.candidate.group, "") if pair is None else (pair.family, pair.network.title)
        for one in found
        for pair in [one.candidate.pair]
    )
    return _counted(Counter(one.candidate.group for one in found), families)


def _counted(by: Counter[str], families: Counter[tuple[str, str]]) -> Tried:
    listed = (Family(family, network, pairs) for (family, network), pairs in families.items())
    return Tried(by.total(), dict(by), tuple(listed))


def budget_words(config: Config, claims: int, *, exact: bool) -> str:
    """Say how the probability of a false positive was spent."""
    if exact:
        return "exact output laws: no sampling error"
    return ErrorBudget(1 - config.confidence, claims).describe()


# Several audits in one table

#: The list itself, which the guarantee is about.
LIST = "list"


def audit_released(
    mechanism: object,
    networks: Sequence[Network],
    plan: Config,
    *,
    subject: str,
    spec: Specification | None = None,
    file: dict[str, object] | None = None,
    watcher: Watcher | None = None,
) -> Result:
    """Test the claims of a search on its list and on each of its side channels."""
    began, whats = time.monotonic(), [LIST, *OBSERVABLES]
    limit = None if plan.time_limit is None else plan.time_limit / len(whats)
    shared = replace(_shared(plan, len(whats)), time_limit=limit)
    results = {
        what: audit(
            mechanism if what == LIST else Observed(mechanism, what),
            networks,
            shared if what == LIST else replace(shared, default_samples=SAMPLES),
            subject=f"{subject} {what}",
            spec=spec if what == LIST else spec and replace(spec, observe=what),
            file=file,
            watcher=watcher,
        )
        for what in whats
    }
    rows = [_row(what, claim) for what, result in results.items() for claim in result.claims]
    budget, known = shares_words(plan.confidence), {"released": rows, **_read(file)}
    return _together(mechanism, subject, results, plan, began, {"observe": ALL}, budget, known)


def audit_relations(
    mechanism: object,
    networks: Sequence[Network],
    plan: Config,
    *,
    subject: str,
    spec: Specification | None = None,
    domain: Domain | Network | None = None,
    file: dict[str, object] | None = None,
    watcher: Watcher | None = None,
) -> Result:
    """Test the claims of a mechanism under each relation that its inputs know."""
    began, names = time.monotonic(), relations_of(mechanism, domain)
    ones = {name: related(mechanism, name, domain) for name in names}
    results = {
        name: audit(
            one,
            networks,
            _shared(plan, len(names)),
            subject=f"{subject} {name}",
            spec=one.specification(spec),
            file=file,
            watcher=watcher,
        )
        for name, one in ones.items()
    }
    claims = [claim for result in results.values() for claim in result.claims]
    budget = relations_budget(claims, plan.confidence, len(names))
    known = {"relations": list(names), **_read(file)}
    return _together(mechanism, subject, results, plan, began, {"relation": ALL}, budget, known)


def _shared(plan: Config, audits: int) -> Config:
    """Return what one of several audits may spend of the probability of a false positive."""
    return replace(plan, confidence=1 - ErrorBudget(1 - plan.confidence, audits).share)


def _together(
    mechanism: object,
    subject: str,
    results: Mapping[str, Result],
    plan: Config,
    began: float,
    asked: Mapping[str, str],
    error_budget: str,
    known: Mapping[str, object],
) -> Result:
    """Return one result of the claims of several."""
    remarks = [f"{name}: {words}" for name, result in results.items() for words in result.remarks]
    samples = {} if plan.samples is None else {"samples": plan.samples}
    return Result(
        command="audit",
        subject=subject,
        seed=plan.seed,
        elapsed_s=time.monotonic() - began,
        claims=tuple(claim for result in results.values() for claim in result.claims),
        tried=tried_together(list(results.values())),
        error_budget=error_budget,
        remarks=tuple(remarks),
        context={**known, "options": {**asked, "confidence": plan.confidence, **samples}},
        **origin_of(mechanism),
    )


def tried_together(results: Sequence[Result]) -> Tried:
    """Count what several audits looked at, by family and network."""
    by: Counter[str] = Counter()
    families: Counter[tuple[str, str]] = Counter()
    for tried in (result.tried for result in results if result.tried is not None):
        by.update(tried.by)
        for one in tried.families or ():
            families[one.family, one.network] += one.pairs
    return _counted(by, families)


def relations_budget(claims: Sequence[ClaimResult], confidence: float, relations: int) -> str:
    """Say how the probability of a false positive is shared among the relations."""
    if all(claim.exact is not None for claim in claims):
        return budget_words(Config(0), len(claims), exact=True)
    if relations == 1:
        return budget_words(Config(0, confidence=confidence), len(claims), exact=False)
    budget = ErrorBudget(1 - confidence, relations)
    return (
        f"false-positive rate at most {100 * budget.alpha:.4g}% over {relations} relations "
        f"together, {100 * budget.share:.4g}% each (Bonferroni)"
    )


def shares_words(confidence: float) -> str:
    """Say how the probability of a false positive is shared among the list and the observables."""
    budget = ErrorBudget(1 - confidence, 1 + len(OBSERVABLES))
    return (
        f"false-positive rate at most {100 * budget.alpha:.4g}% over the list and "
        f"{len(OBSERVABLES)} observables together, {100 * budget.share:.4g}% each (Bonferroni)"
    )


def released_rows(result: Result) -> list[JSON]:
    """Return the table of what each observable costs, from the claims of the result alone."""
    rows = []
    for claim in result.claims:
        what = claim.id.rpartition(" #")[0].removeprefix(f"{result.subject} ")
        rows.append(_row(what, claim))
    return rows


def _row(what: str, claim: ClaimResult) -> JSON:
    """Return the row of one claim on one observable."""
    return {
        "observable": what,
        "what is seen": WORDS.get(what, "the list of people found, in order"),
        "claimed ε": claim.promise.value,
        "claimed δ": claim.promise.delta,
        "measured": cost_words(claim),
        "verdict": claim.status,
    }


def cost_words(claim: ClaimResult) -> str:
    """Say what loss was measured, and how."""
    if claim.lower_bound is None:
        return "not measured"
    if claim.exact is not None:
        if math.isinf(claim.exact):
            return "∞ (exact: it happens on one side only)"
        return f"{claim.exact:.3f} (exact, on the pairs tried)"
    words = f"at least {claim.lower_bound:.3f}"
    seen = claim.event.counts
    if seen is not None and seen.inside == seen.runs_a_side and seen.inside_other == 0:
        words += (
            " (always on one side, never on the other: ∞ for all that "
            f"{seen.runs_a_side} runs show)"
        )
    return words
