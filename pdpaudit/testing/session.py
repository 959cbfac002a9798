"""One test session: who shares the false alarms, what was found, what is written at the end."""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pdpaudit.testing.budget import AUDITS, Budget, Settings

__all__ = ["Session", "announced", "read_settings"]

if TYPE_CHECKING:
    from pdpaudit.outputs import JSON

T = TypeVar("T")
N = TypeVar("N", int, float)

LONGEST_COMMAND = 300


class Session:
    """What is common to all tests of a session."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.settings = read_settings(config)
        self.rows: list[dict[str, Any]] = []
        self.stale: set[str] = set()
        self.problems: list[str] = []
        self._audits: set[str] = set()
        self._recorded: JSON | None = None

    @property
    def recorded(self) -> JSON:
        """The baseline's entries, read when first needed."""
        if self._recorded is None:
            from pdpaudit.testing.baseline import read_baseline

            path = self.settings.baseline
            self._recorded = {} if path is None else read_baseline(path, self.settings.update)
        return self._recorded

    def collected(self, items: list[pytest.Item]) -> None:
        """Count the tests that will audit, and set their shares."""
        for item in items:
            _marked(item)
        self._audits = {_stable(item) for item in items if announced(item)}
        found, declared = len(self._audits), self.settings.audits
        if found > declared:
            raise pytest.UsageError(
                f"{found} tests audit, and the false alarms are split over {declared}: declare at "
                f"least {found}, with pdp_audits = {found} in the ini file or --pdp-audits {found}"
            )
        if self.settings.update:
            names = {_stable(item) for item in items}
            files = {name.partition("::")[0] for name in names}
            for key in self.recorded:
                name = key.partition(" #")[0]
                if name not in names and name.partition("::")[0] in files:
                    self.stale.add(key)

    def budget(self, item: pytest.Item) -> Budget:
        """Return what one test may spend."""
        name = _stable(item)
        audits = name in self._audits
        cache = getattr(self.config, "cache", None)
        return Budget(
            self.settings,
            name,
            (1 - self.settings.confidence) / self.settings.audits if audits else None,
            self.settings.audits,
            _marked(item),
            self._rerun(item),
            self.config.invocation_params.dir,
            Path(cache.mkdir("pdpaudit")) if cache is not None and audits else None,
            self.recorded if audits else {},
            properties=item.user_properties,
        )

    def _rerun(self, item: pytest.Item) -> str:
        place = os.path.relpath(item.path, self.config.invocation_params.dir)
        test = "::".join([place, *_stable(item).split("::")[1:]])
        return f"pytest {shlex.quote(test)} {self.settings.again}"

    def finish(self) -> None:
        """Write what was asked for."""
        if self.config.option.collectonly:
            return
        from pdpaudit.core.errors import InputError

        path = self.settings.baseline
        try:
            if self.settings.update and path is not None and (self.rows or self.stale):
                from pdpaudit.testing.baseline import write_baseline

                entries = {row["key"]: row["entry"] for row in self.rows if row.get("entry")}
                kept = {key: old for key, old in self.recorded.items() if key not in self.stale}
                write_baseline(path, {**kept, **entries})
            if self.settings.summary is not None and self.rows:
                from pdpaudit.testing.summary import summary_markdown

                text = summary_markdown(self.rows, self.settings)
                with self.settings.summary.open("a", encoding="utf-8") as file:
                    file.write(text)
        except (InputError, OSError) as error:
            self.problems.append(f"NOT WRITTEN: {error}")

    def summary(self) -> Iterator[str]:
        """Yield the lines for the end of the session; none where nothing was audited."""
        if self.rows or self.problems:
            from pdpaudit.testing.summary import summary_lines

            here = self.config.invocation_params.dir
            yield from summary_lines(self.rows, self.settings, here, len(self.stale))
        yield from self.problems


def announced(item: pytest.Item) -> bool:
    """Say whether a test will audit: by its marker, its fixtures, or the names in its code."""
    if item.get_closest_marker("pdp_audit") or "pdp" in getattr(item, "fixturenames", ()):
        return True
    function = getattr(item, "function", None)
    code = None if function is None else getattr(inspect.unwrap(function), "__code__", None)
    if code is not None:
        return "assert_private" in _names(code)
    examples = getattr(getattr(item, "dtest", None), "examples", ())
    return any("assert_private" in example.source for example in examples)


def _names(code: CodeType) -> set[str]:
    """Return the names that code and the functions inside it use."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names


def _stable(item: pytest.Item) -> str:
    """Return a test's name, without the group that pytest-xdist appends in its workers."""
    mark = item.get_closest_marker("xdist_group")
    if mark is None:
        return item.nodeid
    group = mark.args[0] if mark.args else mark.kwargs.get("name", "default")
    return item.nodeid.removesuffix(f"@{group}")


def _marked(item: pytest.Item) -> dict[str, object]:
    """Return what the marker says, the innermost first."""
    found: dict[str, Any] = {}
    for mark in item.iter_markers("pdp_audit"):
        unknown = sorted(set(mark.kwargs) - {"epsilon", "delta", "samples"})
        if mark.args or unknown:
            wrong = unknown[0] if unknown else repr(mark.args[0])
            raise pytest.UsageError(
                f"{item.nodeid}: pdp_audit does not take {wrong}; it takes epsilon=, delta= and "
                "samples="
            )
        for key, value in mark.kwargs.items():
            if value is not None and (
                not isinstance(value, int | float)
                or not {
                    "epsilon": value >= 0,
                    "delta": 0 <= value < 1,
                    "samples": isinstance(value, int) and value >= 1,
                }[key]
            ):
                raise pytest.UsageError(
                    f"{item.nodeid}: pdp_audit({key}={value!r}): give epsilon from 0, delta from 0 "
                    "below 1, samples from 1"
                )
        found = {**mark.kwargs, **found}
    return {key: value for key, value in found.items() if value is not None}


def read_settings(config: pytest.Config) -> Settings:
    """Return the settings of a session."""
    here, ini = config.invocation_params.dir, config.inipath
    again = []

    def given(name: str, parse: Callable[[str], T], default: T, remedy: str) -> T:
        """Return one setting; a path on the command line is relative to where that was typed."""
        text, option = config.getoption(f"pdp_{name}"), f"--pdp-{name.replace('_', '-')}"
        if text is not None and name in (
            "confidence",
            "samples",
            "time_limit",
            "tolerance",
            "audits",
            "fail_on",
        ):
            again.append(f"{option} {shlex.quote(str(text))}")
        if text is None:
            text, option = config.getini(f"pdp_{name}") or None, f"pdp_{name}"
        if text is None:
            return default
        try:
            return parse(str(text))
        except ValueError:
            raise pytest.UsageError(f"{option} {text}: {remedy}") from None

    def path(name: str) -> Path | None:
        typed = config.getoption(f"pdp_{name}") is not None
        base = here if typed or ini is None else ini.parent
        return given(name, lambda text: base / Path(text).expanduser(), None, "")

    confidence = given(
        "confidence", _between_0_and_1, 0.95, "must lie between 0 and 1, for example 0.95"
    )
    whole = "must be a whole number of at least "
    samples = given("samples", lambda text: _least(int(text), 1), None, whole + "1")
    seed = given("seed", lambda text: _least(int(text), 0), 0, whole + "0")
    audits = given("audits", lambda text: _least(int(text), 1), AUDITS, whole + "1")
    strict = given("fail_on", _inconclusive, False, "must be inconclusive")
    limit = given("time_limit", lambda text: _above(float(text)), None, "give seconds above 0")
    tolerance = given("tolerance", lambda text: _least(float(text), 0.0), 0.0, "give nats from 0")
    baseline, report, summary = path("baseline"), path("report"), path("summary")
    update: bool = config.getoption("pdp_update_baseline")
    _require_baseline(baseline, update=update)
    if summary is None and os.environ.get("GITHUB_STEP_SUMMARY"):
        summary = Path(os.environ["GITHUB_STEP_SUMMARY"])
    if baseline is not None and config.getoption("pdp_baseline") is not None:
        again.append(f"--pdp-baseline {shlex.quote(str(config.getoption('pdp_baseline')))}")
    return Settings(
        confidence,
        samples,
        seed,
        limit,
        baseline,
        update,
        tolerance,
        report,
        audits,
        strict,
        summary,
        " ".join([*again, f"--pdp-seed {seed}"]),
    )


def _require_baseline(path: Path | None, *, update: bool) -> None:
    if path is None:
        if update:
            raise pytest.UsageError("--pdp-update-baseline: say which, with --pdp-baseline FILE")
        return
    if not path.parent.is_dir():
        raise pytest.UsageError(f"{path}: the folder {path.parent} does not exist; make it first")
    if not update and not path.is_file():
        raise pytest.UsageError(
            f"{path}: there is no such baseline; record one with --pdp-update-baseline"
        )


def _inconclusive(text: str) -> bool:
    if text != "inconclusive":
        raise ValueError
    return True


def _between_0_and_1(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise ValueError
    return value


def _least(value: N, least: N) -> N:
    if not least <= value < float("inf"):
        raise ValueError
    return value


def _above(value: float) -> float:
    if not 0 < value < float("inf"):
        raise ValueError
    return value
