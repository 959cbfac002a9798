"""Within a test: audit a mechanism, or check a statistic, record it, and say what failed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pdpaudit.adapters.elsewhere import Made, prepared
from pdpaudit.auditing import Config, audit
from pdpaudit.auditing.candidate_pairs import networks_for
from pdpaudit.auditing.first_difference import explained_result
from pdpaudit.checks import NamedCheck, Options, as_listing, check_sop, iter_checks, name_of
from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.domains import Domain
from pdpaudit.core.network import Network
from pdpaudit.core.registry import make_sop
from pdpaudit.core.subject import Subject
from pdpaudit.core.variants import named_sop, promising, related, specified
from pdpaudit.outputs import JSON
from pdpaudit.report import findings as f
from pdpaudit.report.sources import replay_command
from pdpaudit.results.files import STATUS_WORDS, plain_fields
from pdpaudit.results.results import CheckResult, ClaimResult, Result
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
    claimed: tuple[float | None, float | None, PrivacyClaim | str | None],
    networks: Network | Sequence[Network] | None,
    max_degree: int | None,
    plan: Plan,
) -> tuple[Result, str, str]:
    """Audit within the current test, whether ε and δ are claimed or a claim of another kind."""
    samples, seed, (epsilon, delta, claim) = plan.get("samples"), plan.get("seed"), claimed
    budget = current()
    settings, marked = budget.settings, budget.claim
    made, subject, spec = specified(prepared(mechanism, plan), budget.base)
    if epsilon is None and delta is None and claim is None:
        epsilon, delta = marked.get("epsilon"), marked.get("delta")
    made = promising(made, subject, epsilon, delta, "the test", claim)
    spec = made.specification(spec)
    made = related(made, plan.get("relation"), plan.get("domain"))
    spec = made.specification(spec)
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
    words = "" if blind is None else f"{short(subject)}: {f.blind_words(blind)}"
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
    promised = f.promised_words(worst.claim)
    fields: dict[str, object] = {"claim": promised, "why": why, "replay": budget.rerun}
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
        "claim": f.promised_words(claim),
        "bound": f.bound_words(claim, 1 - one.alpha),
        "pair": f.pair_words(claim),
        "event": f.event_words(claim),
        "line": f.difference_words(claim),
        "replay": again,
    }


def _growth(budget: Budget, one: _Found) -> dict[str, object]:
    growth, baseline = one.growth, budget.settings.baseline
    assert growth is not None
    assert baseline is not None
    recorded = budget.recorded[one.key]
    losses = (growth.then, growth.then_most), (growth.now, growth.now_least)
    then, now = f.grown_words(*losses, 1 - one.alpha, None if growth.exact else growth.runs)
    return {
        "claim": f"{f.promised_words(one.claim)}: {STATUS_WORDS[one.claim.status]}",
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
        "pair": f.pair_words(claim),
        "event": f.event_words(claim),
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


# A statistic


#: Lines of a counterexample, or of the author's own traceback, that are shown.
SHOWN = 12


def judge_statistic(sop: object, options: Options | None) -> tuple[Result, str]:
    """Run the checks of a statistic; return the result, and why the test fails if it does."""
    budget, began = current(), time.monotonic()
    name, where = named_sop(sop, budget.base)
    chosen = _options(budget) if options is None else options
    checks = check_sop(make_sop(sop) if isinstance(sop, str) else sop, chosen)
    result = _result(name, where, chosen, checks, time.monotonic() - began)
    return result, _judged(budget, result, where, sop)


def checks_as_tests(
    sops: Sequence[object],
    *,
    expected_failures: Mapping[str, Mapping[str, str]] | None,
    options: Options | None,
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Return the mark that makes a test of each check."""
    import pytest

    parameters = []
    for sop in sops:
        name = name_of(sop() if isinstance(sop, type) else sop)
        # pytest judges the expected failures; the suite would turn them into skips.
        reasons = (expected_failures or {}).get(name, {})
        started: set[str] = set()
        for check in iter_checks(sop, options):
            marks = []
            if check.name in reasons:
                marks.append(pytest.mark.xfail(reason=reasons[check.name], strict=True))
            asserted = AssertCheck(check, options is None, started)
            parameters.append(pytest.param(asserted, id=f"{name}-{check.name}", marks=marks))
    return pytest.mark.parametrize("check", parameters)


@dataclass(repr=False)
class AssertCheck:
    """A check as an assertion that leaves a trace in the session's summary.

    The time for a statistic's checks starts when the first is run, not when it is collected; the
    session's limit and seed hold where the test chose none.
    """

    check: NamedCheck
    free: bool
    started: set[str]

    def __repr__(self) -> str:
        """Return its name: pytest shows a failing test's arguments."""
        return f"<check {self.check.name}>"

    def start(self, budget: Budget) -> None:
        """Start the time of all checks, if this is the first of them."""
        examination = self.check.examination
        if not self.started:
            examination.start = time.time()
            examination.options = _options(budget) if self.free else examination.options
        self.started.add(self.check.name)

    def __call__(self) -> None:
        """Raise AuditFailed for a violation, skip the test where nothing was checked."""
        __tracebackhide__ = True
        import pytest

        from pdpaudit.testing import AuditFailed

        budget, began = current(), time.monotonic()
        examination = self.check.examination
        self.start(budget)
        name, where = named_sop(examination.sop, budget.base)
        own = self.check()
        # What it rests on is shown in its place where that was not chosen, and failed.
        found = next(iter(self.check.failed_unchosen()), own)
        result = _result(name, where, examination.options, [found], time.monotonic() - began)
        broken = _judged(budget, result, where, examination.sop)
        if broken:
            raise AuditFailed(broken)
        if found.status in ("skipped", "inconclusive"):
            pytest.skip(found.detail)


def _options(budget: Budget) -> Options:
    limit = budget.settings.time_limit
    seed = budget.settings.seed
    return Options(seed=seed) if limit is None else Options(seed=seed, time_limit=limit)


def _result(
    name: str, where: str | None, options: Options, checks: Sequence[CheckResult], elapsed: float
) -> Result:
    named = tuple(check.of(where) for check in checks)
    return Result("check", where or name, options.seed, elapsed, checks=named)


def _judged(budget: Budget, result: Result, where: str | None, sop: object) -> str:
    """Record a result; return why the test fails, or nothing."""
    broken = [check for check in result.checks if check.status in ("violated", "error")]
    file = saved(budget, result, failed=bool(broken), about=sop)
    again = budget.rerun
    if where is not None and broken:
        again = f"pdpaudit check {short(where)} --select {broken[0].name} --seed {result.seed}"
    for check in result.checks:
        row = {
            "kind": "check",
            "subject": result.subject,
            "status": check.status,
            "check": check.name,
            "found": check.detail or check.scope,
            "replay": again if check in broken else "",
            "file": file,
        }
        record(budget, row)
    if not broken:
        return ""
    first = broken[0]
    lines = [f"{short(result.subject)} is not what it declares"]
    lines += labelled((check.name, check.detail) for check in broken)
    if first.witness is not None:
        trace = str(first.witness.get("traceback") or "").rstrip().splitlines()
        listing = trace[-SHOWN:] or as_listing(first.witness).splitlines()[:SHOWN]
        lines += [f"    {short(line, 120)}" for line in listing]
    return "\n".join([*lines, *labelled([("replay", again)])])
