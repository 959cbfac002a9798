"""Audit a mechanism within a test: spend its share, compare with the baseline, say what failed."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pdpaudit.adapters.elsewhere import Made, prepared
from pdpaudit.auditing import Config, audit
from pdpaudit.auditing.candidate_pairs import networks_for
from pdpaudit.auditing.first_difference import explained_result
from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.domains import Domain
from pdpaudit.core.network import Network
from pdpaudit.core.subject import Subject
from pdpaudit.core.variants import promising, related, specified
from pdpaudit.outputs import JSON
from pdpaudit.report.findings import (
    blind_words,
    bound_words,
    difference_words,
    event_words,
    grown_words,
    pair_words,
    promised_words,
)
from pdpaudit.report.sources import replay_command
from pdpaudit.results.fields import STATUS_WORDS
from pdpaudit.results.files import plain_fields
from pdpaudit.results.results import ClaimResult, Result
from pdpaudit.sampling import draw_seed
from pdpaudit.testing.baseline import Growth, entry_of, measure_growth
from pdpaudit.testing.session import Budget, Turn, current
from pdpaudit.testing.summary import broken_words, labelled, record, relative, saved, short

#: Runs a side that show where a claim breaks: few, for a test is to fail soon.
EXPLAINED = 20


class Plan(Made, total=False):
    """How much an audit within a test may spend, and how its mechanism is made."""

    samples: int | None
    seed: int | None
    time_limit: float | None
    relation: str | None
    domain: Domain | Network | None


@dataclass(frozen=True)
class _Found:
    """What was found about one claim."""

    claim: ClaimResult
    alpha: float
    growth: Growth | None
    entry: JSON | None
    key: str

    @property
    def failed(self) -> bool:
        """Whether the test fails for it."""
        return self.claim.status in ("violated", "error") or self.grew

    @property
    def grew(self) -> bool:
        """Whether it leaks more than it did."""
        return self.growth is not None and self.growth.grew


def judge_mechanism(
    mechanism: object,
    *,
    epsilon: float | None,
    delta: float | None,
    claim: PrivacyClaim | str | None,
    networks: Network | Sequence[Network] | None,
    max_degree: int | None,
    plan: Plan,
) -> tuple[Result, str, str]:
    """Audit within the current test."""
    samples, seed = plan.get("samples"), plan.get("seed")
    budget = current()
    settings, marked = budget.settings, budget.claim
    made, subject, spec = specified(prepared(mechanism, plan), budget.base)
    if epsilon is None and delta is None and claim is None:
        epsilon, delta = marked.get("epsilon"), marked.get("delta")
    tested = promising(made, subject, epsilon, delta, "the test", claim)
    if tested is not made:
        # A replay of the file makes the mechanism anew, and would test its own claim.
        made, spec = tested, tested.specification(spec)
    tested = related(made, plan.get("relation"), plan.get("domain"))
    if tested is not made:
        made, spec = tested, tested.specification(spec)
    turn = budget.turn() if seed is None else replace(budget.turn(), seed=draw_seed(seed))
    # Two chances of a false alarm where there is a baseline: the claim, and the comparison.
    alpha = turn.alpha if settings.baseline is None else turn.alpha / 2
    asked, limit = (samples, marked.get("samples"), settings.samples), plan.get("time_limit")
    config = Config(
        turn.seed,
        next((one for one in asked if one is not None), None),
        1 - alpha,
        time_limit=settings.time_limit if limit is None else limit,
        default_samples=made.default_samples,
    )
    where = networks_for(made, networks, max_degree)
    until = time.monotonic() + (config.time_limit or math.inf)
    result = audit(made, where, config, subject=subject, spec=spec)
    if any(claim.status == "skipped" for claim in result.claims):
        raise KeyboardInterrupt  # the audit tells what it had; a test session stops
    result = explained_result(result, made, where, runs=EXPLAINED, until=until)
    found = [
        _compared(budget, turn, made, config.size, claim, number, alpha / len(made.claims))
        for number, claim in enumerate(result.claims, start=1)
    ]
    failed = any(one.failed for one in found)
    file = saved(budget, result, failed=failed)
    # A file is replayed by making the mechanism again; where that is not known, so is the test.
    again = replay_command(result, file) if file and spec else budget.rerun
    for one in found:
        _record(budget, subject, one, again, file, turn)
    if failed:
        return result, _broken(budget, subject, found, again), ""
    blind = next((one.claim for one in found if one.claim.status == "inconclusive"), None)
    words = "" if blind is None else f"{short(subject)}: {blind_words(blind)}"
    return (result, words, "") if settings.fail_on else (result, "", words)


def _compared(
    budget: Budget,
    turn: Turn,
    made: Subject,
    size: int,
    claim: ClaimResult,
    number: int,
    alpha: float,
) -> _Found:
    """Compare one claim with the baseline, or record it there."""
    settings, key = budget.settings, budget.nodeid
    key += f" #audit {turn.number}" if turn.number > 1 else ""
    key += f" #claim {number}" if number > 1 else ""
    entry, growth = None, None
    if settings.baseline is not None and settings.update:
        entry = entry_of(claim)
    elif settings.baseline is not None and key in budget.recorded:
        growth = measure_growth(
            budget.recorded[key],
            made,
            seed=turn.seed,
            key=("baseline", number),
            size=size,
            alpha=alpha,
            tolerance=settings.tolerance,
            recorded_in=settings.baseline,
        )
    return _Found(claim, alpha, growth, entry, key)


def _broken(budget: Budget, subject: str, found: Sequence[_Found], again: str) -> str:
    """Say why the test fails: the worst in full, what else in a line."""
    failed = [one for one in found if one.failed]
    worst = max(failed, key=_severity)
    more = [f"{one.claim.statement}: {one.claim.status}" for one in failed if one is not worst]
    status, why = worst.claim.status, worst.claim.method
    fields: dict[str, object] = {
        "claim": promised_words(worst.claim),
        "why": why,
        "replay": budget.rerun,
    }
    if status == "violated":
        fields = _violation(worst, again)
    elif worst.grew:
        status, fields = "inconclusive", _growth(budget, worst)
    head = f"{short(subject)} {broken_words(status)}"
    return "\n".join([head, *labelled(fields.items()), *labelled([("also", "; ".join(more))])])


def _severity(one: _Found) -> tuple[bool, bool, float]:
    excess = (one.claim.lower_bound or 0.0) - one.claim.promise.value
    return one.claim.status == "violated", one.grew, excess


def _violation(one: _Found, again: str) -> dict[str, object]:
    claim = one.claim
    return {
        "claim": promised_words(claim),
        "bound": bound_words(claim, 1 - one.alpha),
        "pair": pair_words(claim),
        "event": event_words(claim),
        "line": difference_words(claim),
        "replay": again,
    }


def _growth(budget: Budget, one: _Found) -> dict[str, object]:
    growth, baseline = one.growth, budget.settings.baseline
    assert growth is not None
    assert baseline is not None
    recorded = budget.recorded[one.key]
    then, now = grown_words(
        (growth.then, growth.then_most),
        (growth.now, growth.now_least),
        1 - one.alpha,
        None if growth.exact else growth.runs,
    )
    return {
        "claim": f"{promised_words(one.claim)}: {STATUS_WORDS[one.claim.status]}",
        "was": f"{then}, in {relative(baseline, budget.base)}",
        "now": now,
        "pair": recorded["pair"].get("words", ""),
        "event": recorded.get("event_words", recorded.get("words")),  # both in one, once
        "replay": budget.rerun,
        "accept": f"{budget.rerun} --pdp-update-baseline",
    }


def _record(budget: Budget, subject: str, one: _Found, again: str, file: str, turn: Turn) -> None:
    """Keep what was found, in plain values, for the summary and for JUnit."""
    claim, growth = one.claim, one.growth
    row = {
        "kind": "audit",
        "subject": subject,
        "status": claim.status,
        "claim": claim.statement,
        "epsilon": claim.promise.value,
        "delta": claim.promise.delta,
        "bound": claim.lower_bound,
        "detectable": claim.detectable_epsilon,
        "baseline": growth and growth.then,
        "now": growth and growth.now,
        "pair": pair_words(claim),
        "event": event_words(claim),
        "replay": again if one.failed else "",
        "seed": turn.seed,
        "alpha": f"{one.alpha:.6g}",
        "exact": claim.exact is not None,
        "file": file,
        "grew": one.grew,
        "compared": growth is not None,
        "recorded": one.key in budget.recorded,
        "key": one.key,
        "entry": one.entry,
    }
    record(budget, plain_fields(row))
