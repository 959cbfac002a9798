"""Use the checks in a test-suite of one's own: one test for each statistic and check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pdpaudit.checks.door import name_of
from pdpaudit.checks.options import Options
from pdpaudit.checks.suite import NamedCheck, iter_checks
from pdpaudit.checks.witness import as_listing
from pdpaudit.results.results import CheckResult

__all__ = ["AssertCheck", "parametrize_with_checks"]


class AssertCheck:
    """A check as an assertion: call it in a test."""

    def __init__(self, check: NamedCheck) -> None:
        self.check = check

    def verdict(self) -> CheckResult:
        """Run it; what it rests on stands for it where that was not chosen, and failed."""
        result = self.check()
        return next(iter(self.check.failed_unchosen()), result)

    def __call__(self) -> None:
        """Raise AssertionError for a violation, skip the test where nothing was checked."""
        import pytest

        result = self.verdict()
        if result.status == "violated":
            lines = [f"{result.name}: {result.detail}"]
            if result.witness is not None:
                lines += [as_listing(result.witness), str(result.witness.get("traceback", ""))]
            raise AssertionError("\n".join(lines).rstrip())
        if result.status in ("skipped", "inconclusive"):
            pytest.skip(result.detail)


def parametrize_with_checks(
    sops: Sequence[Any],
    *,
    expected_failures: Mapping[str, Mapping[str, str]] | None = None,
    options: Options | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Parametrise a test with every check of every statistic, as argument ``check``."""
    import pytest

    options = Options() if options is None else options
    expected_failures = {} if expected_failures is None else expected_failures
    parameters = []
    for sop in sops:
        name = name_of(sop() if isinstance(sop, type) else sop)
        reasons = expected_failures.get(name, {})
        # The reasons are judged by pytest here; a check told of them would hide its failure.
        for check in iter_checks(sop, options):
            marks = (
                [pytest.mark.xfail(reason=reasons[check.name], strict=True)]
                if check.name in reasons
                else []
            )
            identity = f"{name}-{check.name}"
            parameters.append(pytest.param(AssertCheck(check), id=identity, marks=marks))
    mark: Callable[[Callable[..., Any]], Callable[..., Any]] = pytest.mark.parametrize(
        "check", parameters
    )
    return mark
