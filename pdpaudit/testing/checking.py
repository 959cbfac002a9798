"""Check a statistic within a test: run the checks, record them, say what failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pdpaudit.checks import NamedCheck, Options, as_listing, check_sop, iter_checks, name_of
from pdpaudit.core.registry import make_sop
from pdpaudit.core.variants import named_sop
from pdpaudit.results.results import CheckResult, Result
from pdpaudit.testing.session import Budget, current
from pdpaudit.testing.summary import labelled, record, saved, short

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
    name: str,
    where: str | None,
    options: Options,
    checks: Sequence[CheckResult],
    elapsed: float,
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
