"""The checks of a statistic: what each rests on, and how one or all of them run."""

from __future__ import annotations

import difflib
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pdpaudit.checks import properties as p
from pdpaudit.checks.evaluation import PROPERTIES, CheckFailed
from pdpaudit.checks.examination import Examination, Options
from pdpaudit.checks.graphs import GraphWitness
from pdpaudit.checks.own_network import own_network
from pdpaudit.core.errors import InputError
from pdpaudit.results.results import CheckResult
from pdpaudit.sampling.guard import TooSlow


@dataclass(frozen=True)
class Check:
    """A named check.

    What it needs has to hold first; what it heeds runs first, whether it holds or not.
    """

    name: str
    run: Callable[[Examination], CheckResult]
    needs: tuple[str, ...] = ()
    heeds: tuple[str, ...] = ()


CALLS = ("finite", "deterministic", "graph-unchanged")
FUNCTION = (*CALLS, "order-independent")

#: All checks, in the order in which they run.
CHECKS: tuple[Check, ...] = (
    Check("finite", p.finite),
    Check("deterministic", p.deterministic, ("finite",)),
    Check("graph-unchanged", p.graph_unchanged, ("finite",)),
    Check("global-random-state", p.global_random_state, ("finite",)),
    Check("order-independent", p.order_independent, CALLS),
    Check("label-independent", p.label_independent, FUNCTION),
    Check("fast-path", p.fast_path, FUNCTION),
    *(Check(of, partial(p.bound_holds, of), FUNCTION, ("fast-path",)) for of in PROPERTIES),
    Check("tightness", p.tightness, FUNCTION, ("fast-path",)),
    Check("own-network", own_network, FUNCTION, ("fast-path",)),
)


def check_names() -> tuple[str, ...]:
    """Return the names of all checks, in the order in which they run."""
    return tuple(check.name for check in CHECKS)


@dataclass(frozen=True)
class NamedCheck:
    """One check of one statistic, ready to run.

    The checks of one :func:`iter_checks` share what they work out. Those on which one rests run
    before it, chosen or not, and it is skipped if one of them fails.
    """

    check: Check
    examination: Examination

    @property
    def name(self) -> str:
        """Its name."""
        return self.check.name

    def __call__(self) -> CheckResult:
        """Run it; never raises for what the statistic does."""
        examination, name = self.examination, self.check.name
        for before in CHECKS:
            if before.name in (*self.check.needs, *self.check.heeds):
                NamedCheck(before, examination).remembered()
        blocked = [need for need in self.check.needs if need in examination.failed]
        if blocked:
            return _blocked(name, blocked[0])
        with _random_state_kept():
            result = _run(self.check, examination)
        if result.status == "violated":
            examination.failed.add(name)
        examination.results[name] = _expected(result, examination.options.expected_failures)
        return examination.results[name]

    def remembered(self) -> CheckResult:
        """Return its result, running it only if it was not run before."""
        done = self.examination.results.get(self.name)
        return self() if done is None else done

    def failed_unchosen(self) -> list[CheckResult]:
        """Return what it rests on, was run for it though not chosen, and failed."""
        chosen = self.examination.options.select or check_names()
        results = self.examination.results
        return [
            results[name]
            for name in (*self.check.needs, *self.check.heeds)
            if name not in chosen and name in results and results[name].status == "violated"
        ]


@contextmanager
def _random_state_kept() -> Iterator[None]:
    """Put the global random state back, whatever the statistic does to it."""
    kept = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])  # noqa: NPY002


def _blocked(name: str, by: str) -> CheckResult:
    return CheckResult(name, "skipped", detail=f"says nothing while {by} fails")


def _run(check: Check, examination: Examination) -> CheckResult:
    try:
        return check.run(examination)
    except TooSlow:
        seconds = examination.options.time_limit
        detail = f"nothing was completed within the time limit of {seconds:g} s"
        return CheckResult(check.name, "inconclusive", detail=detail)
    except CheckFailed as failure:
        if failure.check in examination.failed:
            return _blocked(check.name, failure.check)
        return CheckResult(
            check.name,
            "violated",
            scope=failure.scope,
            witness=GraphWitness.of(failure, examination.name).to_json(),
            detail=failure.sentence,
        )


def _expected(result: CheckResult, reasons: Mapping[str, str]) -> CheckResult:
    """Mark an expected failure, and one that did not happen."""
    reason = reasons.get(result.name)
    if reason is None:
        return result
    if result.status == "violated":
        return replace(
            result, status="skipped", detail=f"expected failure ({reason}): {result.detail}"
        )
    if result.status in ("certified", "not_rejected"):
        remark = f"expected to fail ({reason}), but it passes: take the expectation out"
        return replace(result, detail="; ".join(filter(None, (remark, result.detail))))
    return result


def iter_checks(sop: object, options: Options | None = None) -> Iterator[NamedCheck]:
    """Yield the checks of a statistic by name, ready to run."""
    options = options or Options()
    known = check_names()
    chosen = known if options.select is None else options.select
    for name in (*chosen, *options.skip, *options.expected_failures):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=2, cutoff=0.4)
            offer = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
            raise InputError(f"there is no check {name!r}; {offer}")
    examination = Examination(sop, options)
    for check in CHECKS:
        if check.name in chosen and check.name not in options.skip:
            yield NamedCheck(check, examination)


def check_sop(
    sop: object,
    options: Options | None = None,
    *,
    after: Callable[[CheckResult], None] | None = None,
) -> tuple[CheckResult, ...]:
    """Run all chosen checks of a statistic."""
    results: list[CheckResult] = []
    options = options or Options()
    ready = {check.name: check for check in iter_checks(sop, options)}
    for name in check_names():
        found: list[CheckResult] = []
        if name in ready:
            result = ready[name].remembered()
            shown = [done.name for done in results]
            found = [each for each in ready[name].failed_unchosen() if each.name not in shown]
            found.append(result)
        elif options.select is None or name in options.select:
            found.append(CheckResult(name, "skipped", detail="skipped by name"))
        results += found
        if after is not None:
            for each in found:
                after(each)
    return tuple(results)
