"""The course of an audit: gather pairs, break what can be broken, tell what was found."""

from __future__ import annotations

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
from pdpaudit.core.domains import Domain
from pdpaudit.core.errors import InputError, Misbehaviour
from pdpaudit.core.network import Network
from pdpaudit.core.protocols import LawUnavailable, SearchRound
from pdpaudit.core.subject import Subject
from pdpaudit.inference import ErrorBudget
from pdpaudit.outputs.records import JSON
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
    spec: Mapping[str, object] | None = None,
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
        asked, subject, spec or {}, config, watcher or Silent(), file, prover=prover, began=began
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
        context={
            "tried": _tried(found),
            "error_budget": budget_words(config, len(claims), exact=exactly),
            **({"law_compared": context.compared} if exact and context.compared else {}),
            **({"remarks": context.remarks} if context.remarks else {}),
            **({"network": file} if file else {}),
        },
        **origin_of(asked.origin),
    )
    until = context.until()
    return explained_result(result, asked, networks, until=until) if config.explain else result


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


def _tried(found: Sequence[MeasuredPair]) -> JSON:
    """Count what discovery looked at, by family and network."""
    labels = Counter(one.candidate.group for one in found)
    families = Counter(
        (one.candidate.group, "") if pair is None else (pair.family, pair.network.title)
        for one in found
        for pair in [one.candidate.pair]
    )
    listed = [
        {"family": family, "network": network, "pairs": pairs}
        for (family, network), pairs in families.items()
    ]
    return {"pairs": len(found), "by": dict(labels), "families": listed}


def budget_words(config: Config, claims: int, *, exact: bool) -> str:
    """Say how the probability of a false positive was spent."""
    if exact:
        return "exact output laws: no sampling error"
    return ErrorBudget(1 - config.confidence, claims).describe()
